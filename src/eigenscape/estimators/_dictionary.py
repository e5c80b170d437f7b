"""Dictionary options of kernel methods, and the attributes of models with a dictionary."""

from __future__ import annotations

import numbers
import warnings
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from eigenscape import distributed
from eigenscape._progress import reporting
from eigenscape.dictionary.landmarks import choose_points
from eigenscape.dictionary.low_rank import LowRankEigenfunctions, LowRankKernel
from eigenscape.dictionary.readers import ArrayReader, read_blocks
from eigenscape.dictionary.source import ColumnSource, KernelSource, PointArray, kernel_source
from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._collections import rowwise
from eigenscape.estimators._validation import check_count, check_input, check_jobs
from eigenscape.exceptions import DisconnectedGraphError, DisconnectedGraphWarning
from eigenscape.graph.row_index import row_hashes
from eigenscape.kernels.base import BoundKernel, Kernel, n_points
from eigenscape.methods.dictionary_embedding import gram_error_bound, warn_tolerance
from eigenscape.methods.dictionary_fit import DictionaryOptions, DictionaryState, fit_dictionary

if TYPE_CHECKING:
    from eigenscape.distributed import Blocks

#: A second eigenvalue closer to 1 than this means that the kernel vanishes between groups of points.
_EIGENVALUE_GAP = 1e-8
#: Rows in which distinct points are counted first.
_FIRST_ROWS = 8192


def _has_dictionary(estimator: Any) -> bool:
    check_is_fitted(estimator, "eigenvalues_")
    if not isinstance(estimator.kernel_, LowRankKernel):
        raise AttributeError(
            f"{type(estimator).__name__} has a projection error only with dictionary_size or dictionary_tol"
        )
    return True


class DictionaryMixin:
    """``projection_error`` for models whose kernel is approximated by a dictionary."""

    @available_if(_has_dictionary)
    @rowwise(None, dtype=np.float64)
    def projection_error(self, X: Any) -> np.ndarray:
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
        with reporting(self.verbose):
            X = check_input(self, X, reset=False)
            span = self.kernel_.span
            return np.concatenate([span.project(Y).error for _, Y in read_blocks(ArrayReader(X), 8192)])


def bind(kernel: Kernel, X: PointArray, blocks: Blocks | None) -> BoundKernel:
    """Bind the kernel to ``X``, or to the blocks of a collection of which ``X`` is a sample."""
    return kernel.bind(X) if blocks is None else distributed.bind_blocks(kernel, X, blocks)


def check_dictionary(size: Any, tol: Any, tol_name: str = "dictionary_tol") -> bool:
    """Validate the size and the tolerance of a dictionary; return whether either is given."""
    if size is not None:
        check_count("dictionary_size", size)
    if tol is not None and (
        isinstance(tol, bool) or not isinstance(tol, numbers.Real) or not 0 <= tol < np.inf
    ):
        raise ValueError(
            f"{tol_name}={tol!r} must be a non-negative finite number: the squared distance allowed in"
            " feature space"
        )
    return size is not None or tol is not None


def dictionary_options(
    estimator: Any, normalization: Literal["additive", "divisive"] | None
) -> DictionaryOptions:
    """Return the dictionary options of an estimator with dictionary_size and dictionary_tol."""
    check_jobs(estimator.n_jobs)
    return DictionaryOptions(
        estimator.dictionary_tol,
        estimator.dictionary_size,
        normalization=normalization,
        sum_to_one=normalization == "additive",  # invariant to translation in feature space, as centring is
        seed=int(check_random_state(estimator.random_state).randint(2**31 - 1)),
        n_jobs=estimator.n_jobs,
    )


def check_size(size: int | None, X: PointArray) -> None:
    """Raise ValueError if there are fewer than ``size`` distinct points; the first rows usually suffice."""
    if size is None or X.ndim == 1:
        return
    for rows in (X[: max(_FIRST_ROWS, 4 * size)], X):
        n_distinct = n_points(rows) if size > n_points(rows) else len(np.unique(row_hashes(rows)))
        if size <= n_distinct:
            return
    raise ValueError(
        f"dictionary_size={size}, but there are only {n_distinct} distinct points; lower dictionary_size"
    )


def select_members(
    selection: Any, size: int | None, source: KernelSource, X: PointArray, seed: int
) -> tuple[PointArray, np.ndarray]:
    """Select a dictionary by a non-greedy ``selection``.

    Returns the points and their row indices in ``X``, -1 for points that are not rows of ``X``.
    """
    if isinstance(selection, str):
        assert size is not None
        check_size(size, X)
        if selection == "kmeans" and (isinstance(source, ColumnSource) or X.ndim == 1):
            raise ValueError("selection='kmeans' needs rows of features; use 'maxmin' or 'random'")
        diagonal = source.diagonal(X, np.arange(n_points(X)))

        def squared_distances(i: int) -> np.ndarray:
            values = source.values(X, source.members(X[i : i + 1], np.array([i])))[:, 0]
            return diagonal + diagonal[i] - 2 * values

        indices = choose_points(X, squared_distances, selection, size, seed)
        return X[indices], indices
    given = np.asarray(selection)
    if given.ndim == 1 and given.dtype.kind in "iu":
        check_row_indices(given, n_points(X))
        return X[given], given.astype(np.int64)
    if isinstance(source, ColumnSource) or X.ndim == 1:
        given = np.empty(0)  # points cannot be added to a precomputed kernel or to objects
    return check_points(given, X)


def check_row_indices(given: np.ndarray, n: int) -> None:
    """Raise ValueError unless all row indices are in the range 0 to ``n - 1``."""
    if len(given) == 0 or given.min() < 0 or given.max() >= n:
        raise ValueError(
            f"selection contains row indices from {given.min(initial=0)} to {given.max(initial=0)}, but X has"
            f" rows 0 to {n - 1}"
        )


def select_members_of_blocks(
    selection: Any, blocks: Blocks, sample: PointArray
) -> tuple[PointArray, np.ndarray]:
    """Return the given points, or the rows of a collection with the given indices.

    ``sample`` are some rows of the collection.
    """
    given = np.asarray(selection)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        return check_points(selection, sample)
    lengths = distributed.count_rows(blocks)
    check_row_indices(given, int(lengths.sum()))
    indices, inverse = np.unique(given, return_inverse=True)
    return distributed.take_rows(blocks, indices, lengths)[inverse], given.astype(np.int64)


def check_points(selection: Any, X: PointArray) -> tuple[np.ndarray, np.ndarray]:
    """Validate points given as a dictionary for rows such as those of ``X``; their row indices are -1."""
    given = np.asarray(selection)
    if given.ndim != 2 or given.dtype.kind not in "fiu":
        raise ValueError(
            "selection must be one of 'greedy', 'random', 'maxmin', 'kmeans', row indices, or points of shape"
            f" (m, n_features), got {selection!r}"
        )
    if given.shape[1] != X.shape[1] or not np.isfinite(given).all():
        raise ValueError(
            f"selection contains points of shape {given.shape}, which must be finite and have {X.shape[1]}"
            " features"
        )
    return given.astype(np.float64), np.full(len(given), -1, dtype=np.int64)


def fit_by_dictionary(
    similarity: BoundKernel, X: PointArray, options: DictionaryOptions, blocks: Blocks | None = None
) -> DictionaryState:
    """Fit a dictionary to ``X``, or to the blocks of a collection of which ``X`` is a sample."""
    source = kernel_source(similarity)
    if blocks is not None:
        return distributed.fit_dictionary_blocks(source, blocks, options, X)
    if options.tol is None:
        check_size(options.size, X)
    return fit_dictionary(source, ArrayReader(X), options)


def dictionary_attributes(
    state: DictionaryState, options: DictionaryOptions, X: PointArray | None = None
) -> dict[str, Any]:
    """Return the fitted attributes that describe the dictionary; warn if the tolerance was not reached."""
    warn_tolerance(state, options)
    span, indices = state.span, state.dictionary.indices
    by_index = isinstance(span.source, ColumnSource) and X is not None
    return {
        "dictionary_": X[indices] if by_index else span.members,
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
    warnings.warn(
        f"{message}; coordinates of different groups are not comparable; use a wider kernel (a smaller gamma)"
        " to connect them",
        DisconnectedGraphWarning,
        stacklevel=2,
    )
