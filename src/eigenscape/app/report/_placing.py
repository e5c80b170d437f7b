"""Maps that a page evaluates itself: sums of kernels over few rows, ``y(x) = sum_j a_j k(x, d_j) + b``."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from eigenscape.app.report._columns import pack
from eigenscape.app.report._points import Points, UnmeasuredError, has_rows, transform
from eigenscape.app.report._texts import LIMITS, shorten
from eigenscape.dictionary.source import ShiftedLinear
from eigenscape.estimators._linear import LinearMixin
from eigenscape.estimators.compact_map import CompactMap, make_compact_map
from eigenscape.exceptions import ToleranceWarning
from eigenscape.kernels import Cosine, Gaussian, Laplace, Linear, Polynomial, Sigmoid
from eigenscape.methods.compact import CompactFunctions

_UNSUPPORTED = "its map would be too large, or its kernel is not supported"


def placing_data(
    model: BaseEstimator, points: Points, compact: int | bool | None
) -> tuple[dict[str, Any] | None, str]:
    """Return the functions by which the page places a row, or None, and a sentence on them.

    Linear maps are exact. A :class:`CompactMap` is itself such a sum. Of other models a compact map is made
    if ``compact`` is given.
    """
    exact = isinstance(model, LinearMixin)
    if not has_rows(model, points) or points.stream:
        return None, ""
    try:
        scaling = _scaling(points)
        if not exact and not isinstance(model, CompactMap):
            if compact is None or compact is False:
                return None, ""
            model = _compact_map(model, compact)
        packed = _pack_functions(_linear_functions(model) if exact else model._model_)
    except UnmeasuredError as reason:
        return None, f"The page does not place rows: {reason}."
    names = [shorten(name) for name in points.names] if len(points.names) == packed["d"] else []
    error = None if exact else float(model.compact_error_)
    return {**packed, **scaling, "names": names, "error": error}, ""


def _compact_map(model: BaseEstimator, compact: object) -> CompactMap:
    """Return the compact map of a model; its error is stated in the page, so there is no warning."""
    if not isinstance(compact, (int, np.integer)) or (compact is not True and compact < 2):
        raise ValueError(f"compact={compact!r} must be True or an integer of at least 2")
    size = None if compact is True else int(compact)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ToleranceWarning)
        return make_compact_map(model, size).model


def _linear_functions(model: BaseEstimator) -> CompactFunctions:
    """Return an affine map as a sum over its directions."""
    d = int(model.n_features_in_)
    if 8 * d * LIMITS.coordinates > LIMITS.placing_bytes or d > 5000:
        raise UnmeasuredError(_UNSUPPORTED)
    origin = transform(model, np.zeros((1, d)))[0]
    directions = (transform(model, np.eye(d)) - origin).T  # (p, d)
    return CompactFunctions(Linear(), directions, np.eye(len(directions)), origin)


def _scaling(points: Points) -> dict[str, Any]:
    """Return mean and scale of the columns if they were standardised."""
    if points.unscaled is None:
        return {"mean": None, "scale": None}
    before = np.asarray(points.unscaled, dtype=np.float64)
    mean, scale = before.mean(axis=0), before.std(axis=0)
    scale[scale == 0] = 1.0
    sample = slice(None, None, max(1, len(before) // 100))
    if not np.allclose((before[sample] - mean) / scale, np.asarray(points.X)[sample], atol=1e-6):
        raise UnmeasuredError("the scaling of the columns is not known")
    return {"mean": pack(mean, "<f8"), "scale": pack(scale, "<f8")}


def _pack_functions(functions: CompactFunctions) -> dict[str, Any]:
    """Return a compact map for the script, unless it is large, sparse, or of another kernel."""
    members, coefficients = functions.members, functions.coefficients[:, : LIMITS.coordinates]
    if not isinstance(members, np.ndarray) or members.ndim != 2:
        raise UnmeasuredError(_UNSUPPORTED)
    dtype = "<f4" if np.array_equal(members.astype(np.float32), members) else "<f8"
    if int(dtype[2]) * members.size + 8 * coefficients.size > LIMITS.placing_bytes:
        raise UnmeasuredError(_UNSUPPORTED)
    return {
        **_describe_kernel(functions.kernel, members),
        "members": pack(members, dtype),
        "m": members.shape[0],
        "d": members.shape[1],
        "coefficients": pack(coefficients, "<f8"),
        "origin": functions.origin[: LIMITS.coordinates].tolist(),
    }


#: Kernels that the script knows by their names, and their parameters.
_KERNELS = (Linear, Gaussian, Laplace, Polynomial, Sigmoid, Cosine)
_PARAMETERS = ("gamma", "coef0", "degree")


def _describe_kernel(kernel: Any, members: np.ndarray) -> dict[str, Any]:
    """Return name and parameters of a kernel that the script knows."""
    if isinstance(kernel, ShiftedLinear):
        return {"kernel": "linear", "shift": pack(kernel.origin, "<f8")}
    if type(kernel) not in _KERNELS:
        raise UnmeasuredError(_UNSUPPORTED)
    around_mean = isinstance(kernel, Linear) and kernel.around_mean
    shift = pack(members.mean(axis=0), "<f8") if around_mean else None
    parameters = {key: value for key, value in vars(kernel).items() if key in _PARAMETERS}
    return {"kernel": type(kernel).__name__.lower(), "shift": shift, **parameters}
