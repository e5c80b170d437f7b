"""What a report is about: a fitted model, its points, and what is known of them beside their coordinates."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from eigenscape.app.io import Table
from eigenscape.app.report._columns import Column, as_column
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._validation import is_objects
from eigenscape.streams import as_chunks, can_repeat

#: So many rows are placed again, to see that they are those which the model has seen.
_COMPARED = 10
#: Coordinates of the same row agree to this share of the largest; rows of lower precision are placed by it
#: too.
_SAME = 1e-3


@dataclass(frozen=True, eq=False)
class Points:
    """Points in the form that models take them, and what is said of them."""

    X: Any  # (n, d) rows, a table of distances or similarities, objects, or chunks of rows
    n: int
    ids: np.ndarray | None = None
    labels: np.ndarray | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    names: tuple[str, ...] = ()  # of the columns of X
    source: str = ""
    stream: bool = False
    argument: str = "table_or_X"  # by which they were given

    def take(self, rows: np.ndarray) -> Any:
        """Some rows of ``X``, in ascending order."""
        if not self.stream:
            return self.X[rows]
        parts, start = [], 0
        for chunk in self.X:
            mine = rows[(rows >= start) & (rows < start + chunk.shape[0])] - start
            if len(mine):
                parts.append(chunk[mine])
            start += chunk.shape[0]
        return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)


def points_of(
    table_or_X: Any,
    labels: Any = None,
    ids: Any = None,
    extra: Mapping[str, Any] | None = None,
    argument: str = "table_or_X",
    least: int = 3,
) -> Points:
    """A table that was read, or an array, with what else is given of its rows."""
    X, names, source = table_or_X, _names_of(table_or_X), ""
    if isinstance(table_or_X, Table):
        X, names, source = table_or_X.array, tuple(table_or_X.names), str(table_or_X.source)
        labels = table_or_X.labels if labels is None else labels
        ids = table_or_X.ids if ids is None else ids
        extra = {**(table_or_X.extra or {}), **(extra or {})}
    chunks = None if isinstance(X, np.memmap) else as_chunks(X)
    if chunks is not None:
        if not can_repeat(chunks):
            raise ValueError(
                f"{argument} is an iterator, which can be read only once; pass a list of chunks or a file"
            )
        X, n = chunks, _count(chunks)
    else:
        X = _as_points(X)
        n = X.shape[0]
    if n < least:
        raise ValueError(f"{argument} has {n} point(s); a report needs at least {least}")
    given = {
        str(name): as_column(name, values, "extra", n, f"extra[{name!r}]").values
        for name, values in (extra or {}).items()
    }
    return Points(
        X,
        n,
        None if ids is None else as_column("id", ids, "id", n, "ids").values,
        None if labels is None else as_column("label", labels, "label", n, "labels").values,
        given,
        names,
        source,
        chunks is not None,
        argument,
    )


def _as_points(X: Any) -> Any:
    """An array of rows, a sparse one, or an array of objects."""
    if sparse.issparse(X):
        return sparse.csr_array(X)
    if isinstance(X, (list, tuple)) and is_objects(X):
        objects = np.empty(len(X), dtype=object)
        objects[:] = list(X)
        return objects
    return X if isinstance(X, np.memmap) else np.asarray(X)


def _names_of(X: Any) -> tuple[str, ...]:
    """Column names of a data frame."""
    columns = getattr(X, "columns", None)
    return () if columns is None or callable(columns) else tuple(str(name) for name in columns)


def _count(chunks: Iterable[Any]) -> int:
    return sum(chunk.shape[0] for chunk in chunks)


def check_model(model: Any) -> None:
    """Refuse what is no fitted map of points."""
    if not (isinstance(model, BaseEstimator) and isinstance(model, TransformerMixin)):
        raise TypeError(
            f"model must be a fitted estimator that maps rows to points, got {type(model).__name__}"
        )
    check_is_fitted(model)


def is_pairwise(model: Any) -> bool:
    """Whether the model was given values of pairs of points."""
    return bool(get_tags(model).input_tags.pairwise)


def pairwise_kind(model: Any) -> str:
    """What such values mean: "distance", "kernel" or "affinity"."""
    return model._precomputed_kind() if isinstance(model, Estimator) else "distance"


def pairwise_function(model: Any) -> tuple[str, Any]:
    """The parameter that may hold a function of two objects, and its value."""
    name = model._pairwise_parameter if isinstance(model, Estimator) else None
    return name or "", getattr(model, name) if name else None


def coordinates_of(model: Any, points: Points) -> tuple[np.ndarray, str]:
    """Coordinates (n, d) of the points on a model's map, and in words where they come from."""
    check_model(model)
    check_columns(model, points)
    learnt = learnt_coordinates(model)
    if learnt is not None and len(learnt) == points.n:
        learnt = np.asarray(learnt, dtype=np.float64)
        _check_same_points(model, points, learnt)
        return learnt, "from these points"
    if points.stream:
        return np.concatenate(
            [placed(model, chunk) for chunk in points.X]
        ), "which places them chunk by chunk"
    where = "which places them by its transform" if learnt is None else f"from {len(learnt)} other points"
    return placed(model, points.X), where


def check_columns(model: Any, points: Points) -> None:
    """Refuse rows that have other columns than those which the model was fitted to."""
    shape = np.shape(next(iter(points.X)) if points.stream else points.X)
    expected = getattr(model, "n_features_in_", None)
    if expected is not None and len(shape) == 2 and shape[1] != expected:
        raise ValueError(
            f"{points.argument} has {shape[1]} columns, and {type(model).__name__} was fitted to {expected}; pass the columns that it knows"
        )


def _check_same_points(model: Any, points: Points, learnt: np.ndarray) -> None:
    """Refuse as many points as the model has seen that are not those: each would be shown where another one
    is."""
    if not isinstance(model, Estimator):  # transform of others need not put a training point where fit did
        return
    rows = np.unique(np.linspace(0, points.n - 1, _COMPARED).astype(np.intp))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = placed(model, points.take(rows))
    off = np.abs(again - learnt[rows]).max(axis=1) > _SAME * np.nanmax(np.abs(learnt))
    if off.any():
        raise ValueError(
            f"{points.argument} has as many rows as {type(model).__name__} was fitted to, but they are not those: the model places row"
            f" {rows[off][0]} (counted from 0) elsewhere; pass the training rows in their order, and these as held_out"
        )


def placed(model: Any, X: Any) -> np.ndarray:
    """Coordinates of any points. Rows are arrays here, also for a model that was fitted to a data frame."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return np.asarray(model.transform(X), dtype=np.float64)


def placed_new(model: Any, others: Points | None, most: int) -> np.ndarray | None:
    """Where the model puts the first of the new points."""
    if others is None:
        return None
    check_columns(model, others)
    try:
        return placed(model, others.take(np.arange(min(others.n, most))))
    except ValueError as error:
        raise ValueError(f"{others.argument} cannot be placed: {error}") from error


def learnt_coordinates(model: Any) -> np.ndarray | None:
    """``embedding_``, where the model has it; a stream that cannot be read again leaves none."""
    try:
        return model.embedding_
    except AttributeError:
        return None


def given_columns(points: Points) -> list[Column]:
    """Labels and further columns, as they were given."""
    columns = [] if points.labels is None else [Column("label", points.labels, "label")]
    return columns + [Column(name, values, "extra") for name, values in points.extra.items()]


def has_rows(model: Any, points: Points) -> bool:
    """Whether ``X`` holds rows of features, not pairwise values or objects."""
    X = points.X
    return points.stream or not (is_pairwise(model) or X.ndim == 1)
