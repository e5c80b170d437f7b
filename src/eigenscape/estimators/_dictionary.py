"""The dictionary options that kernel methods share, and what a model with a dictionary tells."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from eigenscape import distributed
from eigenscape._progress import reporting
from eigenscape.dictionary.landmarks import choose_points
from eigenscape.dictionary.low_rank import LowRankEigenfunctions, LowRankKernel
from eigenscape.dictionary.rows import ArrayRows
from eigenscape.dictionary.source import Columns, Source, source_of
from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._base import FitResult, spectral_result
from eigenscape.estimators._collections import rowwise
from eigenscape.estimators._validation import check_count, check_input, check_jobs
from eigenscape.exceptions import DisconnectedGraphError, DisconnectedGraphWarning
from eigenscape.graph.row_index import row_hashes
from eigenscape.kernels.base import BoundKernel, Kernel, n_points
from eigenscape.methods.greedy import Choice, Learnt, learn
from eigenscape.methods.low_rank import announce, error_bound

#: A second eigenvalue nearer to one than this says that the kernel vanishes between groups of points.
_APART = 1e-8
#: Rows among which distinct ones are sought first.
_FEW = 8192


def _has_dictionary(estimator: Any) -> bool:
    check_is_fitted(estimator, "eigenvalues_")
    if not isinstance(estimator.kernel_, LowRankKernel):
        raise AttributeError(
            f"{type(estimator).__name__} has a projection error only with dictionary_size or dictionary_tol"
        )
    return True


class DictionaryMixin:
    """``projection_error`` for models whose kernel is known through a dictionary."""

    @available_if(_has_dictionary)
    @rowwise(None, dtype=np.float64)
    def projection_error(self, X: Any) -> np.ndarray:
        """How far points are from anything seen: their squared distance from the dictionary's span in feature
        space.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)

        Returns
        -------
        ndarray of shape (n_new,)
            ``delta`` of Ouimet eq. 8, between 0 (explained by the dictionary) and about ``k(x, x)`` (like
            nothing seen): a score of novelty.
        """
        with reporting(self.verbose):
            X = check_input(self, X, reset=False)
            span = self.kernel_.span
            blocks = ArrayRows(X).blocks(None, lambda: 8192)
            return np.concatenate([span.project(Y).error for _, Y in blocks])


def bind(kernel: Kernel, X: Any, blocks: Any) -> BoundKernel:
    """The kernel bound to ``X``, or to the blocks of a collection of which ``X`` are a few rows."""
    return kernel.bind(X) if blocks is None else distributed.bind_blocks(kernel, X, blocks)


def check_dictionary(size: Any, tol: Any, tol_name: str = "dictionary_tol") -> bool:
    """Whether a dictionary is asked for, in a way that makes sense."""
    if size is not None:
        check_count("dictionary_size", size)
    if tol is not None and (
        isinstance(tol, bool) or not isinstance(tol, numbers.Real) or not 0 <= tol < np.inf
    ):
        raise ValueError(
            f"{tol_name}={tol!r} must be a number that is not negative: the squared distance allowed in feature space"
        )
    return size is not None or tol is not None


def choice_of(estimator: Any, normalization: str | None) -> Choice:
    """What ``dictionary_size`` and ``dictionary_tol`` of a method ask for."""
    check_jobs(estimator.n_jobs)
    seed = int(check_random_state(estimator.random_state).randint(2**31 - 1))
    sum_to_one = (
        normalization == "additive"
    )  # the constraint makes the projection blind to translation, as centring is
    return Choice(
        estimator.dictionary_tol,
        estimator.dictionary_size,
        None,
        normalization,
        "implicit",
        sum_to_one,
        seed,
        estimator.n_jobs,
    )


def check_size(size: int | None, X: Any) -> None:
    """A dictionary larger than the number of distinct points is refused before any work; the first rows
    nearly always tell."""
    if size is None or X.ndim == 1:
        return
    for some in (X[: max(_FEW, 4 * size)], X):
        distinct = n_points(some) if size > n_points(some) else len(np.unique(row_hashes(some)))
        if size <= distinct:
            return
    raise ValueError(
        f"dictionary_size={size}, but there are only {distinct} distinct points; lower dictionary_size"
    )


def choose_members(
    selection: Any, size: int | None, source: Source, X: Any, seed: int
) -> tuple[Any, np.ndarray]:
    """A dictionary chosen otherwise than greedily: its points, and their numbers among the rows of ``X`` (-1
    for others)."""
    if isinstance(selection, str):
        assert size is not None
        check_size(size, X)
        if selection == "kmeans" and (isinstance(source, Columns) or X.ndim == 1):
            raise ValueError("selection='kmeans' needs rows of features to average; use 'maxmin' or 'random'")
        own = source.own(X, np.arange(n_points(X)))

        def squared_distances(i: int) -> np.ndarray:
            return own + own[i] - 2 * source.values(X, source.members(X[i : i + 1], np.array([i])))[:, 0]

        numbers = choose_points(X, squared_distances, selection, size, seed)
        return X[numbers], numbers
    given = np.asarray(selection)
    if given.ndim == 1 and given.dtype.kind in "iu":
        check_row_numbers(given, n_points(X))
        return X[given], given.astype(np.int64)
    if isinstance(source, Columns) or X.ndim == 1:
        given = np.empty(0)  # no points that could stand beside the rows
    return given_points(given, X)


def check_row_numbers(given: np.ndarray, n: int) -> None:
    """Numbers of rows that there are."""
    if len(given) == 0 or given.min() < 0 or given.max() >= n:
        raise ValueError(
            f"selection holds row numbers from {given.min(initial=0)} to {given.max(initial=0)}, but X has rows 0 to {n - 1}"
        )


def members_of_blocks(selection: Any, blocks: Any, few: Any) -> tuple[Any, np.ndarray]:
    """The same for a collection, of which ``few`` are some rows: rows by their numbers, fetched, or
    points."""
    given = np.asarray(selection)
    if given.ndim != 1 or given.dtype.kind not in "iu":
        return given_points(selection, few)
    lengths = distributed.count_rows(blocks)
    check_row_numbers(given, int(lengths.sum()))
    numbers, places = np.unique(given, return_inverse=True)
    return distributed.take_rows(blocks, numbers, lengths)[places], given.astype(np.int64)


def given_points(selection: Any, X: Any) -> tuple[np.ndarray, np.ndarray]:
    """Points like the rows of ``X``, and numbers that say that they are none."""
    given = np.asarray(selection)
    if given.ndim != 2 or given.dtype.kind not in "fiu":
        raise ValueError(
            f"selection must be one of 'greedy', 'random', 'maxmin', 'kmeans', row numbers, or points (m, n_features), got {selection!r}"
        )
    if given.shape[1] != X.shape[1] or not np.isfinite(given).all():
        raise ValueError(
            f"selection holds points of shape {given.shape}, which must be finite and have {X.shape[1]} features"
        )
    return given.astype(np.float64), np.full(len(given), -1, dtype=np.int64)


def embed_by_dictionary(
    similarity: BoundKernel,
    X: Any,
    choice: Choice,
    n_components: int | None,
    make: Callable[[Learnt, Choice, int | None, Any], Embedding],
    blocks: Any = None,
) -> FitResult:
    """Learn a dictionary from ``X``, or from the blocks of a collection, and make the embedding that a method
    wants of it."""
    if blocks is not None:
        learnt = distributed.learn_blocks(source_of(similarity), blocks, choice, X)
        return spectral_result(
            make(learnt, choice, n_components, None), attributes=dictionary_attributes(learnt, choice)
        )
    if choice.tol is None:
        check_size(choice.size, X)
    learnt = learn(source_of(similarity), ArrayRows(X), choice)
    return spectral_result(
        make(learnt, choice, n_components, X), attributes=dictionary_attributes(learnt, choice, X)
    )


def dictionary_attributes(learnt: Learnt, choice: Choice, X: Any = None) -> dict[str, Any]:
    """What a fitted model says about its dictionary."""
    announce(learnt, choice)
    span, numbers = learnt.span, learnt.dictionary.numbers
    by_number = isinstance(span.source, Columns) and X is not None
    return {
        "dictionary_": X[numbers] if by_number else span.members,
        "dictionary_indices_": numbers,
        "gram_error_bound_": error_bound(learnt, choice.normalization),
    }


def warn_if_apart(model: Embedding, on_disconnected: str) -> None:
    """Say when a divided kernel is (nearly) zero between groups of points: its second eigenvalue is one as
    well."""
    assert isinstance(model.eigenfunctions, LowRankEigenfunctions)
    values = model.eigenfunctions.pairs.values
    if len(values) < 2 or values[1] < 1 - _APART:
        return
    groups = int((values >= 1 - _APART).sum())
    message = f"the kernel vanishes between {groups} or more groups of points (eigenvalues of 1)"
    if on_disconnected == "raise":
        raise DisconnectedGraphError(
            f"{message}; use a wider kernel (a smaller gamma), or another on_disconnected"
        )
    warnings.warn(
        f"{message}; each keeps its own eigenvectors, so that coordinates of different groups do not compare; use a wider kernel (a"
        " smaller gamma) if they should",
        DisconnectedGraphWarning,
        stacklevel=2,
    )
