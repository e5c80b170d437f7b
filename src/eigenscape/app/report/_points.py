"""Validated input of a report: points of a model, their further columns, coordinates and distances."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.sparse.csgraph import shortest_path
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from eigenscape._numbers import with_small_indices
from eigenscape.app.io.table import Table
from eigenscape.app.report._columns import as_column
from eigenscape.app.report._texts import LIMITS
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._rows import is_objects
from eigenscape.options import flattened
from eigenscape.streams import as_chunks, can_repeat


class UnmeasuredError(ValueError):
    """A measure is not defined for a model or its data; the message is the reason."""


@dataclass(frozen=True, eq=False)
class Points(Table):
    """A table in the form that a model takes; :func:`as_points` has validated its columns."""

    n: int = 0
    stream: bool = False  # whether X consists of chunks of rows
    argument: str = "table_or_X"  # name of the argument, for errors

    @property
    def X(self) -> Any:
        """Rows (n, d), a pairwise matrix, objects, or chunks of rows."""
        return self.array

    @property
    def measured(self) -> Any:
        """Rows in the units of the input, before they were standardised."""
        return self.X if self.unscaled is None else self.unscaled

    @property
    def named(self) -> tuple[int, np.ndarray | None, np.ndarray | None]:
        """Number of points, ids and labels, which sentences name."""
        return self.n, self.ids, self.labels

    def take(self, rows: np.ndarray) -> Any:
        """Return some rows of ``X``, given in ascending order."""
        if not self.stream:
            return self.X[rows]
        parts, start = [], 0
        for chunk in self.X:
            in_chunk = rows[(rows >= start) & (rows < start + chunk.shape[0])] - start
            if len(in_chunk):
                parts.append(chunk[in_chunk])
            start += chunk.shape[0]
        return sparse.vstack(parts, format="csr") if sparse.issparse(parts[0]) else np.concatenate(parts)


def as_points(
    table_or_X: Any,
    labels: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    extra: Mapping[str, ArrayLike] | None = None,
    argument: str = "table_or_X",
    min_points: int = 3,
) -> Points:
    """Validate a table or an array and its further columns."""
    table = table_or_X
    if not isinstance(table, Table):
        columns = getattr(table, "columns", None)  # of a data frame
        names = () if columns is None or callable(columns) else tuple(map(str, columns))
        table = Table(table, names=names)
    chunks = None if isinstance(table.array, np.memmap) else as_chunks(table.array)
    if chunks is not None and not can_repeat(chunks):
        raise ValueError(
            f"{argument} is an iterator, which can be read only once; pass a list of chunks or a file"
        )
    X: Any = _as_array(table.array) if chunks is None else chunks
    n = X.shape[0] if chunks is None else sum(chunk.shape[0] for chunk in chunks)
    if n < min_points:
        raise ValueError(f"{argument} has {n} point(s), but a report needs at least {min_points}")
    if labels is None:
        labels = table.labels
    else:
        table = replace(table, label_name=None)
    ids = table.ids if ids is None else ids
    if ids is None and table.rows is not None:  # rows of the file were left out: number the others as it does
        ids = [f"row {row + 1}" for row in table.rows]
    further = {str(name): values for name, values in {**(table.extra or {}), **(extra or {})}.items()}
    checked = replace(
        table,
        array=X,
        ids=None if ids is None else as_column("id", ids, "id", n, "ids").values,
        labels=None if labels is None else as_column("label", labels, "label", n, "labels").values,
        extra={key: as_column(key, further[key], "extra", n, f"extra[{key!r}]").values for key in further},
    )
    return Points(**vars(checked), n=n, stream=chunks is not None, argument=argument)


def _as_array(X: Any) -> Any:
    """Return a dense or sparse array of rows, or an array of objects."""
    if sparse.issparse(X):
        return with_small_indices(sparse.csr_array(X))  # type: ignore[call-overload]
    if isinstance(X, (list, tuple)) and is_objects(X):
        objects = np.empty(len(X), dtype=object)
        objects[:] = list(X)
        return objects
    return X if isinstance(X, np.memmap) else np.asarray(X)


def check_model(model: object) -> None:
    """Raise an error unless ``model`` is a fitted transformer."""
    if not (isinstance(model, BaseEstimator) and isinstance(model, TransformerMixin)):
        raise TypeError(f"model must be a fitted estimator with transform, got {type(model).__name__}")
    check_is_fitted(model)


def is_pairwise(model: BaseEstimator) -> bool:
    """Return whether the model takes a pairwise matrix."""
    return bool(get_tags(model).input_tags.pairwise)


def pairwise_kind(model: BaseEstimator) -> str:
    """Return the meaning of a pairwise matrix: "distance", "kernel" or "affinity"."""
    return model._precomputed_kind() if isinstance(model, Estimator) else "distance"


def has_rows(model: BaseEstimator, points: Points) -> bool:
    """Return whether ``X`` contains rows of features, not pairwise values or objects."""
    return points.stream or not (is_pairwise(model) or points.X.ndim == 1)


def embed(model: BaseEstimator, points: Points) -> tuple[np.ndarray, str]:
    """Return the coordinates (n, d) of the points, and a text on how they were obtained."""
    check_model(model)
    check_columns(model, points)
    try:
        trained = model.embedding_
    except AttributeError:  # fitted to a stream, for example
        trained = None
    if trained is not None and len(trained) == points.n:
        trained = np.asarray(trained, dtype=np.float64)
        _check_training_points(model, points, trained)
        return trained, "fitted to these points"
    if points.stream:
        coordinates = np.concatenate([transform(model, chunk) for chunk in points.X])
        return coordinates, "transformed chunk by chunk"
    how = "computed by transform" if trained is None else f"fitted to {len(trained)} other points"
    return transform(model, points.X), how


def check_columns(model: BaseEstimator, points: Points) -> None:
    """Raise an error if the number of columns differs from the training data."""
    shape = np.shape(next(iter(points.X)) if points.stream else points.X)
    expected = getattr(model, "n_features_in_", None)
    if expected is not None and len(shape) == 2 and shape[1] != expected:
        raise ValueError(
            f"{points.argument} has {shape[1]} columns, but {type(model).__name__} was fitted to {expected};"
            " pass the columns of the training data"
        )


def _check_training_points(model: BaseEstimator, points: Points, trained: np.ndarray) -> None:
    """Raise an error if the points are as many as the training points, but different ones."""
    if not isinstance(model, Estimator):  # transform of training points may differ from fit_transform
        return
    rows = np.unique(np.linspace(0, points.n - 1, LIMITS.checked_points).astype(np.intp))
    with without_warnings():
        again = transform(model, points.take(rows))
    off = np.abs(again - trained[rows]).max(axis=1) > LIMITS.tolerance * np.nanmax(np.abs(trained))
    if off.any():
        raise ValueError(
            f"{points.argument} has as many rows as {type(model).__name__} was fitted to, but they are not"
            f" the training rows: row {rows[off][0]} (counted from 0) is transformed to other coordinates;"
            " pass the training rows in their order, and other rows as held_out"
        )


def transform(model: BaseEstimator, X: Any) -> np.ndarray:
    """Transform points; arrays are accepted also by a model that was fitted to a data frame."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return np.asarray(model.transform(X), dtype=np.float64)


def transform_new(model: BaseEstimator, new: Points | None) -> np.ndarray | None:
    """Transform the new points that are drawn."""
    if new is None:
        return None
    check_columns(model, new)
    try:
        return transform(model, new.take(np.arange(min(new.n, LIMITS.drawn_new))))
    except ValueError as error:
        raise ValueError(f"{new.argument} cannot be transformed: {error}") from error


# --- for all parts of a report ------------------------------------------------------------------------------


def sample_rows(n: int, max_rows: int, seed: int) -> np.ndarray:
    """Return at most ``max_rows`` of ``n`` indices, ascending."""
    if n <= max_rows:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, max_rows, replace=False))


def as_dense(X: Any) -> np.ndarray:
    """Return a dense array of floats."""
    return np.asarray(X.todense() if hasattr(X, "todense") else X, dtype=np.float64)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Ignore the warnings of further fits and transforms, since the first fit has given them already."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


# --- distances in the data ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class ReferenceData:
    """Rows and a metric, or a matrix of distances, of the points with the indices ``rows``."""

    data: Any
    metric: str | Callable[..., float]
    rows: np.ndarray
    text: str  # how distances in the data are measured

    def select(self, embedding: np.ndarray) -> np.ndarray:
        """Return the coordinates of the points of the reference."""
        return embedding if len(self.rows) == len(embedding) else embedding[self.rows]


def reference_distances(
    model: BaseEstimator, points: Points, seed: int, metric: str | None = None
) -> ReferenceData:
    """Return the reference distances; raise :class:`UnmeasuredError` if there are none.

    If ``metric`` is None, the metric of the model is used.
    """
    if not has_rows(model, points):
        return _pairwise_reference(model, points, seed)
    metric = _metric_of(model) if metric is None else metric
    name = "Euclidean" if metric == "euclidean" else metric
    text = f"distances in the data are {name} distances between rows"
    rows = sample_rows(points.n, LIMITS.streamed_rows if points.stream else points.n, seed)
    if points.stream:
        text += f", among {len(rows)} rows sampled from the stream" if len(rows) < points.n else ""
        return ReferenceData(points.take(rows), metric, rows, text)
    if not sparse.issparse(points.X) and not _all_finite(points.X):
        raise UnmeasuredError("distances between rows with missing values are undefined")
    return ReferenceData(points.X, metric, rows, text)


def _metric_of(model: BaseEstimator) -> str:
    """Return the metric of the model if it is a name without parameters, else "euclidean"."""
    parameters = flattened(model.get_params(deep=False))
    metric = parameters.get("metric", "euclidean")
    named = isinstance(metric, str) and metric != "precomputed" and not parameters.get("metric_params")
    return metric if named else "euclidean"


def _all_finite(X: np.ndarray) -> bool:
    return all(bool(np.isfinite(X[start : start + 65536]).all()) for start in range(0, len(X), 65536))


def _pairwise_reference(model: BaseEstimator, points: Points, seed: int) -> ReferenceData:
    """Return the distances of a precomputed matrix."""
    X, kind = points.X, pairwise_kind(model)
    if not is_pairwise(model):
        raise UnmeasuredError("the data are objects, whose distances are not compared")
    if X.shape[0] != X.shape[1]:
        raise UnmeasuredError("distances to landmarks do not determine the neighbours of a point")
    if kind == "distance" and not sparse.issparse(X):
        text = "distances in the data are the given ones"
        return ReferenceData(X, "precomputed", np.arange(points.n), text)
    rows = sample_rows(points.n, LIMITS.pairwise_points, seed)
    if kind == "kernel":
        distances, how = _kernel_distances(as_dense(X[rows][:, rows])), "those implied by the given kernel"
    elif isinstance(X, sparse.csr_array):
        lengths, how = X.astype(np.float64), "path lengths in the given graph"
        if kind == "affinity":
            lengths.eliminate_zeros()
            lengths.data = 1.0 / lengths.data
            how += ", with the inverse weight as the length of an edge"
        distances = _path_lengths(lengths, rows)
    else:
        block = np.asarray(X[rows][:, rows])
        distances = block.max() - block.astype(np.float64)
        np.fill_diagonal(distances, 0.0)
        how = "the given similarities, subtracted from the largest"
    among = f", among {len(rows)} randomly sampled points" if len(rows) < points.n else ""
    return ReferenceData(distances, "precomputed", rows, f"distances in the data are {how}{among}")


def _path_lengths(graph: sparse.csr_array, rows: np.ndarray) -> np.ndarray:
    """Return shortest path lengths (r, r); twice the longest if there is no path."""
    symmetric = sparse.csr_array(graph.maximum(graph.T)) if graph.nnz else graph
    blocks = np.array_split(rows, range(200, len(rows), 200))  # blocks (200, n) of all lengths
    lengths = np.concatenate(
        [shortest_path(symmetric, directed=False, indices=block)[:, rows] for block in blocks]
    )
    reached = np.isfinite(lengths)
    return np.where(reached, lengths, 2 * lengths[reached].max())


def _kernel_distances(kernel: np.ndarray) -> np.ndarray:
    """Return ``sqrt(k(x, x) + k(y, y) - 2 k(x, y))``."""
    diagonal = np.diag(kernel)
    return np.sqrt(np.maximum(diagonal[:, None] + diagonal - 2 * kernel, 0.0))
