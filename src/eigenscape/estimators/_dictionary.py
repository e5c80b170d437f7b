"""Dictionary options of kernel methods, and the attributes of models with a dictionary."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from eigenscape._numbers import check_numbers, checked_sparse
from eigenscape._typing import is_sparse
from eigenscape._warnings import warn
from eigenscape.dictionary.landmarks import choose_points
from eigenscape.dictionary.low_rank import LowRankEigenfunctions, LowRankKernel
from eigenscape.dictionary.readers import RowReader, read_blocks
from eigenscape.dictionary.selection import empty_dictionary, select_by_random_pivots
from eigenscape.dictionary.source import (
    KernelSource,
    MatrixColumnSource,
    PairwiseSource,
    PointArray,
    ShiftedLinear,
    kernel_source,
)
from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._rows import check_features, check_input
from eigenscape.estimators._running import available_if, rowwise, running
from eigenscape.exceptions import DisconnectedGraphError, DisconnectedGraphWarning
from eigenscape.graph.row_index import row_hashes
from eigenscape.kernels import Gaussian, Laplace, Linear
from eigenscape.kernels.base import BoundKernel, Kernel, as_float64, n_points
from eigenscape.kernels.pairwise import PairwiseKernel
from eigenscape.methods.dictionary_embedding import gram_error_bound, warn_tolerance
from eigenscape.methods.dictionary_fit import DictionaryOptions, DictionaryState, check_size, fit_dictionary
from eigenscape.options import Dictionary

#: A second eigenvalue closer to 1 than this means that the kernel vanishes between groups of points.
_EIGENVALUE_GAP = 1e-8
#: Rows in which distinct points are counted first.
_FIRST_ROWS = 8192


def _has_dictionary(estimator: Any) -> bool:
    check_is_fitted(estimator, "eigenvalues_")
    if not isinstance(estimator.kernel_, LowRankKernel):
        raise AttributeError(
            f"{type(estimator).__name__} has a projection error only with approximation=Dictionary(...)"
        )
    return True


@available_if(_has_dictionary)
@rowwise(None, dtype=np.float64)
def projection_error(self: Any, X: Any) -> np.ndarray:
    """Return the squared distance of points from the span of the dictionary in feature space.

    Parameters
    ----------
    X : array-like of shape (n_new, n_features)
        The points.

    Returns
    -------
    ndarray of shape (n_new,)
        ``delta`` of Ouimet eq. 8: a novelty score between 0 (in the span of the dictionary) and about
        ``k(x, x)`` (orthogonal to it).
    """
    with running(self):
        X = check_input(self, X, reset=False)
        span = self.kernel_.span
        return np.concatenate([span.project(Y).error for _, Y in read_blocks(RowReader([X]), 8192)])


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows in memory from which a dictionary is learnt; rows elsewhere have the same methods."""

    X: PointArray

    @property
    def stored(self) -> PointArray:
        return self.X

    @property
    def n_rows(self) -> int:
        return n_points(self.X)

    def take(self, indices: np.ndarray) -> PointArray:
        return self.X[indices]

    def bind(self, kernel: Kernel) -> BoundKernel:
        return kernel.bind(self.X)

    def fit(self, source: KernelSource, options: DictionaryOptions) -> DictionaryState:
        if options.tol is None:
            check_n_distinct(options.size, self.X)
        return fit_dictionary(source, RowReader([self.X]), options)


def dictionary_options(
    estimator: Any, normalization: Literal["additive", "divisive"] | None
) -> DictionaryOptions:
    """Return the options of the fit of the dictionary ``approximation``."""
    dictionary = estimator.approximation
    if dictionary.size is None and dictionary.tol is None and dictionary.points is None:
        raise ValueError(
            "approximation=Dictionary() needs size, tol or points, such as approximation=Dictionary(200)"
        )
    if not isinstance(dictionary.selection, str) or dictionary.selection != "greedy":
        raise ValueError(
            f"selection={dictionary.selection!r} is for GreedySpectralEmbedding; leave it 'greedy', or"
            " pass points"
        )
    return DictionaryOptions(
        dictionary.tol,
        dictionary.size,
        normalization=normalization,
        sum_to_one=normalization == "additive",  # invariant to translation in feature space, as centring is
        seed=estimator._seed(),
        n_jobs=estimator.n_jobs,
    )


def given_members(dictionary: Any, similarity: BoundKernel, X: PointArray) -> tuple[PointArray, np.ndarray]:
    """Validate a given dictionary: a fitted model that has one, or points (m, n_features).

    Returns the points, in the format of ``X``, and their row indices, which are -1.
    """
    source = kernel_source(similarity)
    if isinstance(source, MatrixColumnSource) or X.ndim == 1:
        raise ValueError(
            "points need a kernel of two rows of features; the points of a precomputed kernel, or arbitrary"
            " objects, cannot be given"
        )
    if isinstance(dictionary, type):
        raise ValueError(f"points must be a fitted model, got the class {dictionary.__name__}")
    if hasattr(dictionary, "get_params"):
        assert isinstance(source, PairwiseSource)
        dictionary = _points_of_model(dictionary, source.kernel)
    checked_sparse(dictionary, "points")
    points = sparse.csr_array(dictionary) if is_sparse(dictionary) else np.asarray(dictionary)
    if points.ndim != 2 or points.dtype.kind not in "fiu" or points.shape[0] == 0:
        raise ValueError(
            "points must be a fitted model with a dictionary, or points of shape (m, n_features), got"
            f" {dictionary!r}"
        )
    check_features(points, "points", X.shape[1])
    points = as_float64(points)
    check_numbers(points, "points")
    if is_sparse(X):
        points = sparse.csr_array(points)
    elif is_sparse(points):
        points = points.toarray()
    return points, np.full(points.shape[0], -1, dtype=np.int64)


def _points_of_model(model: Any, kernel: PairwiseKernel) -> PointArray:
    """Return the dictionary of a fitted model whose kernel is ``kernel``."""
    label = type(model).__name__
    source = getattr(getattr(getattr(model, "kernel_", None), "span", None), "source", None)
    if source is None or not hasattr(model, "dictionary_"):
        raise ValueError(
            f"points is a {label} without a dictionary; fit a GreedySpectralEmbedding, or a model with"
            " approximation=Dictionary(...), first"
        )
    if not isinstance(source, PairwiseSource):
        raise ValueError(f"points is a {label} with a precomputed kernel, whose dictionary has no points")
    if _comparable(source.kernel) != _comparable(kernel):
        raise ValueError(
            f"points is a {label} with the kernel {source.kernel!r}, and this kernel is {kernel!r}; set the"
            " same kernel parameters, or pass its points, points=model.dictionary_"
        )
    return model.dictionary_


def _comparable(kernel: PairwiseKernel) -> PairwiseKernel:
    """Return the kernel without settings that do not change a dictionary once its width is known."""
    if isinstance(kernel, (Linear, ShiftedLinear)):
        return Linear()
    return replace(kernel, scale="median") if isinstance(kernel, (Gaussian, Laplace)) else kernel


def check_n_distinct(size: int | None, X: PointArray) -> None:
    """Raise ValueError if there are fewer than ``size`` distinct points; the first rows usually suffice."""
    if size is None or X.ndim == 1:
        return
    for rows in (X[: max(_FIRST_ROWS, 4 * size)], X):
        n_distinct = n_points(rows) if size > n_points(rows) else len(np.unique(row_hashes(rows)))
        if size <= n_distinct:
            return
    raise ValueError(
        f"size={size} of the dictionary, but there are only {n_distinct} distinct points; lower size"
    )


def select_members(
    dictionary: Dictionary,
    similarity: BoundKernel,
    rows: Any,
    options: DictionaryOptions,
    source: KernelSource,
) -> tuple[PointArray, np.ndarray]:
    """Select the points of a dictionary that is not greedy; ``source`` has the kernel to approximate.

    Returns the points and their row indices, -1 for points that are not rows.
    """
    X, selection, size = rows.X, dictionary.selection, dictionary.size
    if dictionary.points is not None:
        return given_members(dictionary.points, similarity, X)
    if not isinstance(selection, str):
        indices = np.asarray(selection)
        check_row_indices(indices, rows.n_rows)
        return rows.take(indices), indices.astype(np.int64)
    assert size is not None
    check_n_distinct(size, X)
    if selection == "rpcholesky":
        empty = empty_dictionary(source, X, options.sum_to_one, options.n_jobs)
        indices = select_by_random_pivots(empty, X, size, options.seed).indices
        check_size(len(indices), size)
        return X[indices], indices
    source = kernel_source(similarity)
    if selection == "kmeans" and (isinstance(source, MatrixColumnSource) or X.ndim == 1):
        raise ValueError("selection='kmeans' needs rows of features; use 'maxmin' or 'random'")
    diagonal = source.diagonal(X, np.arange(n_points(X)))

    def squared_distances(i: int) -> np.ndarray:
        values = source.values(X, source.members(X[i : i + 1], np.array([i])))[:, 0]
        return diagonal + diagonal[i] - 2 * values

    indices = choose_points(X, squared_distances, selection, size, options.seed)
    return X[indices], indices


def check_row_indices(given: np.ndarray, n: int) -> None:
    """Raise ValueError unless all row indices are in the range 0 to ``n - 1``."""
    if len(given) == 0 or given.min() < 0 or given.max() >= n:
        raise ValueError(
            f"selection contains {given[(given < 0) | (given >= n)][:1]} as a row index, but X has rows 0 to"
            f" {n - 1}; leave out others"
        )


def fit_by_dictionary(
    estimator: Any, similarity: BoundKernel, rows: Any, options: DictionaryOptions
) -> DictionaryState:
    """Fit the dictionary ``approximation`` to training rows: the given points, or selected ones."""
    points = estimator.approximation.points
    if points is not None:
        options = replace(options, members=given_members(points, similarity, rows.X))
    return rows.fit(kernel_source(similarity), options)


def dictionary_attributes(
    state: DictionaryState, options: DictionaryOptions, X: PointArray | None = None
) -> dict[str, Any]:
    """Return the fitted attributes that describe the dictionary; warn if the tolerance was not reached."""
    warn_tolerance(state, options)
    span, indices = state.span, state.dictionary.indices
    points = span.members
    if X is not None and isinstance(span.source, MatrixColumnSource):  # whose members are row indices
        points = X[indices]
    return {
        "dictionary_": points,
        "dictionary_indices_": indices,
        "gram_error_bound_": gram_error_bound(state, options.normalization),
    }


def warn_if_disconnected(model: Embedding, on_disconnected: str) -> None:
    """Warn, or raise, if a divided kernel is nearly zero between groups of points.

    Its second eigenvalue is then 1 as well.
    """
    assert isinstance(model.eigenfunctions, LowRankEigenfunctions)
    values = model.eigenfunctions.pairs.values
    if len(values) < 2 or values[1] < 1 - _EIGENVALUE_GAP:
        return
    n_groups = int((values >= 1 - _EIGENVALUE_GAP).sum())
    message = f"the kernel vanishes between {n_groups} or more groups of points (eigenvalues of 1)"
    if on_disconnected == "raise":
        raise DisconnectedGraphError(
            f"{message}; use a wider kernel (a smaller gamma), or another on_disconnected"
        )
    warn(
        f"{message}; coordinates of different groups are not comparable; use a wider kernel (a smaller gamma)"
        " to connect them",
        DisconnectedGraphWarning,
    )
