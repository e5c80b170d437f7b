"""Maps that a page evaluates itself: sums of kernels over few rows, ``y(x) = sum_j a_j k(x, d_j) + b``."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from eigenscape.app.report._columns import pack, shorten
from eigenscape.app.report._points import Points, has_rows, transform
from eigenscape.app.report._tables import LIMITS
from eigenscape.dictionary.source import ShiftedLinear
from eigenscape.estimators._linear import LinearMixin
from eigenscape.estimators.compact_map import CompactMap, make_compact_map
from eigenscape.exceptions import ToleranceWarning
from eigenscape.kernels import Cosine, Gaussian, Laplace, Linear, Polynomial, Sigmoid
from eigenscape.methods.compact import CompactFunctions


def placing_data(
    model: BaseEstimator, points: Points, compact: int | bool | None
) -> tuple[dict[str, Any] | None, str]:
    """Return the functions by which the page places a row, or None, and a sentence on them.

    Linear maps are exact. A :class:`CompactMap` is itself such a sum. Of other models a compact map is made
    if ``compact`` is given.
    """
    if not has_rows(model, points) or points.stream:
        return None, ""
    scaling = _scaling(points)
    if isinstance(scaling, str):
        return None, scaling
    error = None
    if isinstance(model, LinearMixin):
        functions = _linear_functions(model)
    else:
        if not isinstance(model, CompactMap):
            if compact is None or compact is False:
                return None, ""
            model = _compact_map(model, compact)
        functions, error = model._model_, float(model.compact_error_)
    packed = None if functions is None else _pack_functions(functions)
    if packed is None:
        reason = "its map would be too large, or its kernel is not supported"
        return None, f"The page does not place rows: {reason}."
    names = [shorten(name) for name in points.names] if len(points.names) == packed["d"] else []
    return {**packed, **scaling, "names": names, "error": error}, ""


def _compact_map(model: BaseEstimator, compact: object) -> CompactMap:
    """Return the compact map of a model; its error is stated in the page, so there is no warning."""
    if isinstance(compact, bool):
        size = None
    elif isinstance(compact, (int, np.integer)) and compact >= 2:
        size = int(compact)
    else:
        raise ValueError(f"compact={compact!r} must be True or an integer of at least 2")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ToleranceWarning)
        return make_compact_map(model, size).model


def _linear_functions(model: BaseEstimator) -> CompactFunctions | None:
    """Return an affine map as a sum over its directions."""
    d = int(model.n_features_in_)
    if 8 * d * LIMITS.coordinates > LIMITS.placing_bytes or d > 5000:
        return None
    origin = transform(model, np.zeros((1, d)))[0]
    directions = (transform(model, np.eye(d)) - origin).T  # (p, d)
    return CompactFunctions(Linear(), directions, np.eye(len(directions)), origin)


def _scaling(points: Points) -> dict[str, Any] | str:
    """Return mean and scale of the columns if they were standardised, or why they are not known."""
    if points.unscaled is None:
        return {"mean": None, "scale": None}
    before = np.asarray(points.unscaled, dtype=np.float64)
    mean, scale = before.mean(axis=0), before.std(axis=0)
    scale[scale == 0] = 1.0
    sample = slice(None, None, max(1, len(before) // 100))
    if not np.allclose((before[sample] - mean) / scale, np.asarray(points.X)[sample], atol=1e-6):
        return "The page does not place rows: the scaling of the columns is not known."
    return {"mean": pack(mean, "<f8"), "scale": pack(scale, "<f8")}


def _pack_functions(functions: CompactFunctions) -> dict[str, Any] | None:
    """Return a compact map for the script; None if it is large, sparse, or of another kernel."""
    members = functions.members
    if not isinstance(members, np.ndarray) or members.ndim != 2:
        return None
    kernel = _describe_kernel(functions.kernel, members)
    coefficients = functions.coefficients[:, : LIMITS.coordinates]
    dtype = "<f4" if np.array_equal(members.astype(np.float32), members) else "<f8"
    if kernel is None or int(dtype[2]) * members.size + 8 * coefficients.size > LIMITS.placing_bytes:
        return None
    return {
        **kernel,
        "members": pack(members, dtype),
        "m": members.shape[0],
        "d": members.shape[1],
        "coefficients": pack(coefficients, "<f8"),
        "origin": functions.origin[: LIMITS.coordinates].tolist(),
    }


#: Kernels that the script knows: name and parameters.
_KERNELS: dict[type, tuple[str, tuple[str, ...]]] = {
    Linear: ("linear", ()),
    Gaussian: ("gaussian", ("gamma",)),
    Laplace: ("laplace", ("gamma",)),
    Polynomial: ("polynomial", ("gamma", "coef0", "degree")),
    Sigmoid: ("sigmoid", ("gamma", "coef0")),
    Cosine: ("cosine", ()),
}


def _describe_kernel(kernel: Any, members: np.ndarray) -> dict[str, Any] | None:
    """Return name and parameters of a kernel that the script knows, or None."""
    if isinstance(kernel, ShiftedLinear):
        return {"kernel": "linear", "shift": pack(kernel.origin, "<f8")}
    if type(kernel) not in _KERNELS:
        return None
    name, parameters = _KERNELS[type(kernel)]
    around_mean = isinstance(kernel, Linear) and kernel.around_mean
    shift = pack(members.mean(axis=0), "<f8") if around_mean else None
    return {"kernel": name, "shift": shift, **{key: getattr(kernel, key) for key in parameters}}
