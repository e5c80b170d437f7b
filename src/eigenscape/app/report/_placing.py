"""Maps that a page evaluates itself: sums of kernels over few rows, ``y(x) = sum_j a_j k(x, d_j) + b``."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.preprocessing import StandardScaler

from eigenscape._parameters import check_count
from eigenscape.app.report._columns import pack
from eigenscape.app.report._points import Points, UnmeasuredError, has_rows, transform
from eigenscape.app.report._texts import LIMITS, shorten
from eigenscape.dictionary.source import ShiftedLinear
from eigenscape.estimators._linear import LinearMixin
from eigenscape.estimators.compact_map import CompactMap, make_compact_map
from eigenscape.exceptions import ToleranceWarning
from eigenscape.kernels import Cosine, Gaussian, Laplace, Linear, Polynomial, Sigmoid
from eigenscape.methods.compact import CompactFunctions

#: Kernels that the script knows by their names.
_KERNELS = (Linear, ShiftedLinear, Gaussian, Laplace, Polynomial, Sigmoid, Cosine)
#: Columns of a linear map, whose directions are found by transforming a unit matrix.
_MAX_COLUMNS = 5000
_UNSUPPORTED = "its map would be too large, or its kernel is not supported"


def placing_data(
    model: BaseEstimator, points: Points, compact: int | bool | None
) -> tuple[dict[str, Any] | None, str]:
    """Return the functions by which the page places a row, or None, and a sentence on them.

    Linear maps are exact. A :class:`CompactMap` is itself such a sum. Of other models a compact map is made
    if ``compact`` is given.
    """
    places = isinstance(model, LinearMixin | CompactMap) or (compact is not None and compact is not False)
    if not places or not has_rows(model, points) or points.stream:
        return None, ""
    try:
        functions, error = _functions(model, compact)
        packed = _pack_functions(functions, *_scaling(points, functions.members.shape[-1]))
    except UnmeasuredError as reason:
        return None, f"The page does not place rows: {reason}."
    names = [shorten(name) for name in points.names] if len(points.names) == packed["d"] else []
    return {**packed, "names": names, "error": error}, ""


def _functions(model: Any, compact: Any) -> tuple[CompactFunctions, float | None]:
    """Return a model as a sum of kernels, and its error, which the page states; None if it is exact."""
    if isinstance(model, LinearMixin):
        if model.n_features_in_ > _MAX_COLUMNS:
            raise UnmeasuredError(_UNSUPPORTED)
        directions = np.eye(model.n_features_in_)
        origin = transform(model, 0 * directions[:1])[0]
        weights = (transform(model, directions) - origin).T  # (p, d)
        return CompactFunctions(Linear(), weights, np.eye(len(weights)), origin), None
    if not isinstance(model, CompactMap):
        size = None if compact is True else check_count("compact", compact, 2)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ToleranceWarning)
            model = make_compact_map(model, size).model
    return model._model_, float(model.compact_error_)


def _scaling(points: Points, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and scale of the columns, 0 and 1 if they were not standardised."""
    if points.unscaled is None:
        return np.zeros(d), np.ones(d)
    before = np.asarray(points.unscaled, dtype=np.float64)
    scaler, sample = StandardScaler().fit(before), slice(None, None, max(1, len(before) // 100))
    if not np.allclose(scaler.transform(before[sample]), points.X[sample], atol=1e-6):
        raise UnmeasuredError("the scaling of the columns is not known")
    return scaler.mean_, scaler.scale_


def _pack_functions(functions: CompactFunctions, mean: np.ndarray, scale: np.ndarray) -> dict[str, Any]:
    """Return a compact map for the script, unless it is large, sparse, or of another kernel."""
    kernel, members, coefficients = functions.kernel, functions.members, functions.coefficients
    coefficients = coefficients[:, : LIMITS.coordinates]
    known = type(kernel) in _KERNELS and isinstance(members, np.ndarray)
    if not known or 8 * (members.size + coefficients.size) > LIMITS.placing_bytes:
        raise UnmeasuredError(_UNSUPPORTED)
    name = type(kernel).__name__.lower()
    if isinstance(kernel, Linear) and kernel.around_mean:
        kernel = ShiftedLinear(members.mean(axis=0))
    if isinstance(kernel, ShiftedLinear):  # linear, in rows from which the origin is subtracted
        name, members, mean = "linear", members - kernel.origin, mean + scale * kernel.origin
    return {
        "kernel": name,
        **{key: value for key, value in vars(kernel).items() if isinstance(value, int | float)},
        "mean": pack(mean, "<f8"),
        "scale": pack(scale, "<f8"),
        "members": pack(members, "<f8"),
        "m": members.shape[0],
        "d": members.shape[1],
        "coefficients": pack(coefficients, "<f8"),
        "origin": functions.origin[: LIMITS.coordinates].tolist(),
    }
