"""Columns and points that dominate a map, for reports, the command line and the explorer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from eigenscape._roles import missing_labels
from eigenscape.app.report._texts import LIMITS, TABLES, fill, shorten
from eigenscape.estimators._affinity import GRAPHS
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._method import described
from eigenscape.kernels import Gaussian, Laplace, Linear, Polynomial, Sigmoid, VariableGaussian
from eigenscape.options import flattened
from eigenscape.quality import LocalizedCoordinate, dominant_columns

#: Metrics that add differences of columns. Others are free of the columns' scale, or unknown.
_METRICS = ("euclidean", "l2", "sqeuclidean", "manhattan", "cityblock", "l1", "minkowski", "chebyshev")
#: Kernels of such differences, or of inner products.
_KERNELS = ("rbf", "gaussian", "laplacian", "laplace", "linear", "poly", "polynomial", "sigmoid")
_KERNEL_TYPES = (Gaussian, Laplace, Linear, Polynomial, Sigmoid, VariableGaussian)


@dataclass(frozen=True, eq=False)
class Dominance:
    """Columns that have most of the total variance, the largest share first."""

    names: tuple[str, ...]
    shares: np.ndarray
    n_columns: int  # number of columns that are not constant
    named: bool = True  # whether the table has names; if not, they are "column 1", ...
    correlation: float | None = None  # of the first coordinate and the first column

    @property
    def share(self) -> float:
        """Share of all these columns."""
        return float(self.shares.sum())

    @property
    def quoted(self) -> list[str]:
        """Names in quotation marks, or numbers."""
        return [f"“{shorten(name)}”" if self.named else name.removeprefix("column ") for name in self.names]

    @property
    def subject(self) -> str:
        """The columns and their share, as the beginning of a sentence."""
        return self.text("subject")

    @property
    def extent(self) -> str:
        """How much of the distances the columns are: "almost this column alone" or "mostly these columns"."""
        return self.text("extent")

    def text(self, name: str) -> str:
        """Return a text of the table ``dominance``."""
        return fill(TABLES["dominance"][name], {"found": self, "limits": LIMITS})


def depends_on_scales(model: BaseEstimator) -> bool:
    """Return whether a method's distances or inner products add up columns as they are scaled."""
    if not isinstance(model, Estimator):
        return False
    method = described(model)
    if method is not None and method.scale_free:
        return False
    parameters = flattened(model.get_params(deep=False))
    kernel = parameters.get("kernel", parameters.get("affinity"))
    if kernel is not None and not (isinstance(kernel, str) and kernel in GRAPHS):
        return kernel in _KERNELS if isinstance(kernel, str) else isinstance(kernel, _KERNEL_TYPES)
    if kernel == "precomputed_nearest_neighbors":
        return False
    metric = parameters.get("metric", "euclidean")
    return isinstance(metric, str) and metric in _METRICS and not parameters.get("metric_params")


def find_dominance(
    model: BaseEstimator, X: Any, names: Sequence[str], embedding: np.ndarray | None = None
) -> Dominance | None:
    """Return the columns of the rows ``X`` that dominate a method's distances, or None."""
    return _find_columns(X, names, embedding) if depends_on_scales(model) else None


def find_reference_dominance(
    model: BaseEstimator, metric: Any, X: Any, names: Sequence[str]
) -> Dominance | None:
    """Return the columns of ``X`` that dominate the distances by ``metric``, if a method does not use these.

    Of other packages' models it is not known.
    """
    if not isinstance(model, Estimator) or depends_on_scales(model):
        return None
    return _find_columns(X, names) if isinstance(metric, str) and metric in _METRICS else None


def _find_columns(X: Any, names: Sequence[str], embedding: np.ndarray | None = None) -> Dominance | None:
    found = dominant_columns(X) if getattr(X, "ndim", 0) == 2 else None
    if found is None:
        return None
    named = len(names) == X.shape[1]
    chosen = tuple(names[j] if named else f"column {j + 1}" for j in found.columns)
    correlation = None if embedding is None else _correlation(X[:, [found.columns[0]]], embedding[:, 0])
    return Dominance(chosen, found.shares, found.n_columns, named, correlation)


def _correlation(column: Any, coordinate: np.ndarray) -> float | None:
    """Return the correlation of a column (n, 1) and a coordinate (n,); None if one is constant."""
    values = np.asarray(column.todense() if hasattr(column, "todense") else column, dtype=np.float64).ravel()
    known = np.isfinite(values) & np.isfinite(coordinate)
    pair = np.stack([values[known], coordinate[known]])
    first, second = pair - pair.mean(axis=1, keepdims=True) if known.any() else pair
    size = float(np.linalg.norm(first) * np.linalg.norm(second))
    return float(first @ second) / size if size > 0 else None


# --- coordinates that few points determine ------------------------------------------------------------------


def few_points_sentences(
    localized: Sequence[LocalizedCoordinate], n: int, ids: np.ndarray | None, labels: np.ndarray | None
) -> list[str]:
    """Return a sentence for each set of points that carries coordinates of a map of ``n`` points."""
    groups: dict[tuple[int, ...], list[LocalizedCoordinate]] = {}
    for found in localized:
        groups.setdefault(tuple(sorted(found.points.tolist())), []).append(found)
    return [_sentence(group, n, ids, labels) for group in groups.values()]


def point_name(index: int, ids: np.ndarray | None) -> str:
    """Return the id of a point, or the number of its row, counted from 1."""
    return shorten(ids[index]) if ids is not None else f"row {index + 1}"


def _sentence(
    group: list[LocalizedCoordinate], n: int, ids: np.ndarray | None, labels: np.ndarray | None
) -> str:
    points = group[0].points
    who = ", ".join(point_name(int(i), ids) for i in points[: LIMITS.named])
    names = {"group": group, "n": n, "count": len(points), "who": who, "label": _label(points, labels)}
    return fill(TABLES["few_points"], {**names, "limits": LIMITS})


def _label(points: np.ndarray, labels: np.ndarray | None) -> str:
    """Return the label that all points share, if they do."""
    if labels is None or missing_labels(labels[points]).any():
        return ""
    shared = {str(label) for label in labels[points]}
    return shorten(shared.pop()) if len(shared) == 1 else ""
