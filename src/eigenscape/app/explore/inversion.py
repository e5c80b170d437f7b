"""Rows under the cursor: the inverse of a map, with its error, or the reason why there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import cKDTree
from sklearn.pipeline import Pipeline

from eigenscape.app.errors import CommandError
from eigenscape.app.explore.data import Dataset
from eigenscape.app.explore.tuning import TUNING

#: The inverse is refused farther from the nearest point than this share of the diagonal of the map, and than
#: this multiple of the distances between nearest points.
_MAX_SHARE, _MAX_MULTIPLE = 0.05, 4.0


def split_model(model: Any) -> tuple[Any, Any]:
    """Return the estimator of a model and its scaler, or None."""
    return (model.steps[-1][1], model.steps[0][1]) if isinstance(model, Pipeline) else (model, None)


def inverse_reason(estimator: Any) -> str | None:
    """Return why an estimator has no inverse; None if it has one."""
    if not hasattr(type(estimator), "inverse_transform"):
        return f"{type(estimator).__name__} has no inverse; PCA, Isomap and LaplacianEigenmaps have one"
    try:
        return None if callable(estimator.inverse_transform) else "it has no inverse_transform"
    except AttributeError as error:
        return str(error)


def inverse_error(estimator: Any, scaler: Any, X: Any) -> float:
    """Return the root mean square error of reconstructed training rows, relative to their spread."""
    reason = inverse_reason(estimator)
    if reason is not None:
        raise ValueError(reason)
    if hasattr(type(estimator), "inverse_error_"):
        return float(estimator.inverse_error_)
    rows = X[np.linspace(0, X.shape[0] - 1, min(TUNING.inverted_rows, X.shape[0])).astype(np.intp)]
    rows = np.asarray(rows.todense()) if hasattr(rows, "todense") else np.asarray(rows, dtype=np.float64)
    rows = rows if scaler is None else scaler.transform(rows)
    again = np.asarray(estimator.inverse_transform(estimator.transform(rows)))
    spread = float(np.linalg.norm(rows - rows.mean(axis=0)))
    error = float(np.linalg.norm(rows - again))
    return error / spread if spread > 0 else 0.0


class PlaneIndex:
    """Nearest points in two (or more) coordinates of a map, and the distance up to which data are near."""

    def __init__(self, coordinates: np.ndarray, components: tuple[int, ...]) -> None:
        self.points = np.ascontiguousarray(coordinates[:, list(components)])
        self.tree = cKDTree(self.points, balanced_tree=False)
        low, high = np.quantile(self.points, [0.005, 0.995], axis=0)
        sample = self.points[
            np.linspace(0, len(self.points) - 1, min(2000, len(self.points))).astype(np.intp)
        ]
        lengths = np.asarray(self.tree.query(sample, k=min(2, len(self.points)))[0])
        typical = lengths.reshape(len(sample), -1)[:, -1]
        self.limit = max(
            _MAX_SHARE * float(np.linalg.norm(high - low)), _MAX_MULTIPLE * float(np.quantile(typical, 0.99))
        )

    def nearest(self, point: np.ndarray) -> tuple[int, float]:
        """Return the nearest point and its distance."""
        distance, row = self.tree.query(point)
        return int(row), float(distance)


def invert(entry: Any, data: Dataset, point: list[float], components: list[int]) -> dict[str, Any]:
    """Return the row at a point of a map, or the reason why it is refused."""
    if len(set(components)) != len(components) or not set(components) <= set(range(entry.n_components)):
        raise CommandError(
            f"components must be different integers from 0 to {entry.n_components - 1}, got {components[:9]}"
        )
    if len(point) != len(components):
        raise CommandError(f"point must have {len(components)} finite numbers, got {len(point)}")
    if entry.inverse_reason is not None:
        return {"refused": entry.inverse_reason}
    index = entry.plane_index(tuple(components))
    row, distance = index.nearest(np.array(point))
    if distance > index.limit:
        return {
            "refused": f"no data are near: the nearest point is {distance:.3g} away, and the inverse is"
            f" shown up to {index.limit:.3g}",
            "nearest": row,
            "distance": distance,
        }
    full = entry.coordinates[row].copy()
    full[components] = point
    found = np.asarray(entry.estimator.inverse_transform(full[None, :]), dtype=np.float64)
    found = found if entry.scaler is None else entry.scaler.inverse_transform(found)
    is_image = data.image_shape is not None
    return {
        "image": data.to_pixels(found[0]) if is_image else None,
        "columns": [] if is_image else profile(found[0], data),
        "error": entry.measures.get("inverse_error"),
        "nearest": row,
        "distance": distance,
    }


def profile(values: np.ndarray, data: Dataset) -> list[dict[str, Any]]:
    """Return a row and the mean, the largest standardised deviations first if there are many columns."""
    mean, deviation = data.moments
    scaled = np.abs(values - mean) / np.where(deviation > 0, deviation, 1.0)
    shown = np.arange(len(values))
    if len(values) > TUNING.max_shown:
        shown = np.argsort(-scaled, kind="stable")[: TUNING.max_shown]
    return [
        {"name": data.names[j], "value": values[j], "mean": mean[j], "deviation": deviation[j]} for j in shown
    ]
