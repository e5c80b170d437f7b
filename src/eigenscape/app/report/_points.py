"""Validated input of a report: the points of a model and their further columns."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from eigenscape._numbers import with_small_indices
from eigenscape.app.io import Table
from eigenscape.app.report._columns import Column, as_column
from eigenscape.app.report._tuning import TUNING
from eigenscape.estimators._base import Estimator
from eigenscape.estimators._rows import is_objects
from eigenscape.streams import as_chunks, can_repeat


@dataclass(frozen=True, eq=False)
class Points:
    """Points in the form that a model takes, with ids, labels and further columns."""

    X: Any  # (n, d) rows, a pairwise matrix, objects, or chunks of rows
    n: int
    ids: np.ndarray | None = None
    labels: np.ndarray | None = None
    extra: dict[str, np.ndarray] = field(default_factory=dict)
    names: tuple[str, ...] = ()  # of the columns of X
    source: str = ""
    stream: bool = False
    argument: str = "table_or_X"  # name of the argument, for errors
    unscaled: Any = None  # X before it was standardised, if it was
    image_shape: tuple[int, ...] | None = None  # of rows that are pixels

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
    X, names, source = table_or_X, _column_names(table_or_X), ""
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
        X, n = chunks, sum(chunk.shape[0] for chunk in chunks)
    else:
        X = _as_array(X)
        n = X.shape[0]
    if n < min_points:
        raise ValueError(f"{argument} has {n} point(s), but a report needs at least {min_points}")
    columns = {
        str(name): as_column(name, values, "extra", n, f"extra[{name!r}]").values
        for name, values in (extra or {}).items()
    }
    return Points(
        X,
        n,
        None if ids is None else as_column("id", ids, "id", n, "ids").values,
        None if labels is None else as_column("label", labels, "label", n, "labels").values,
        columns,
        names,
        source,
        chunks is not None,
        argument,
        table_or_X.unscaled if isinstance(table_or_X, Table) else None,
        table_or_X.image_shape if isinstance(table_or_X, Table) else None,
    )


def _as_array(X: Any) -> Any:
    """Return a dense or sparse array of rows, or an array of objects."""
    if sparse.issparse(X):
        return with_small_indices(sparse.csr_array(X))  # type: ignore[call-overload]
    if isinstance(X, (list, tuple)) and is_objects(X):
        objects = np.empty(len(X), dtype=object)
        objects[:] = list(X)
        return objects
    return X if isinstance(X, np.memmap) else np.asarray(X)


def _column_names(X: Any) -> tuple[str, ...]:
    """Return the column names of a data frame."""
    columns = getattr(X, "columns", None)
    return () if columns is None or callable(columns) else tuple(str(name) for name in columns)


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


def pairwise_function(model: BaseEstimator) -> tuple[str, Any]:
    """Return the parameter that may be a function of two objects, and its value."""
    if not isinstance(model, Estimator):
        return "", None
    return model._pairwise_parameter or "", model._pairwise()


def has_rows(model: BaseEstimator, points: Points) -> bool:
    """Return whether ``X`` contains rows of features, not pairwise values or objects."""
    return points.stream or not (is_pairwise(model) or points.X.ndim == 1)


def embed(model: BaseEstimator, points: Points) -> tuple[np.ndarray, str]:
    """Return the coordinates (n, d) of the points, and a text on how they were obtained."""
    check_model(model)
    check_columns(model, points)
    trained = _training_coordinates(model)
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
    rows = np.unique(np.linspace(0, points.n - 1, TUNING.checked_points).astype(np.intp))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = transform(model, points.take(rows))
    off = np.abs(again - trained[rows]).max(axis=1) > TUNING.tolerance * np.nanmax(np.abs(trained))
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


def transform_new(model: BaseEstimator, new: Points | None, max_points: int) -> np.ndarray | None:
    """Transform the first ``max_points`` of the new points."""
    if new is None:
        return None
    check_columns(model, new)
    try:
        return transform(model, new.take(np.arange(min(new.n, max_points))))
    except ValueError as error:
        raise ValueError(f"{new.argument} cannot be transformed: {error}") from error


def _training_coordinates(model: BaseEstimator) -> np.ndarray | None:
    """Return ``embedding_``, or None if the model has none (fitted to a stream, for example)."""
    try:
        return model.embedding_
    except AttributeError:
        return None


def given_columns(points: Points) -> list[Column]:
    """Return the labels and the further columns."""
    columns = [] if points.labels is None else [Column("label", points.labels, "label")]
    return columns + [Column(name, values, "extra") for name, values in points.extra.items()]
