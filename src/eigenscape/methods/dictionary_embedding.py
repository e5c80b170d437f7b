"""Embeddings from the eigenfunctions of a kernel approximated by a dictionary (Ouimet sec. 3)."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from eigenscape._warnings import warn
from eigenscape.dictionary.low_rank import (
    LowRankEigenfunctions,
    LowRankKernel,
    Normalization,
    normalized_moment,
)
from eigenscape.dictionary.source import PointArray
from eigenscape.dictionary.span import MAX_ROUNDING
from eigenscape.eigenfunctions import Embedding, PlainScale, RootScale
from eigenscape.exceptions import RankError, ToleranceWarning
from eigenscape.methods.dictionary_fit import DictionaryOptions, DictionaryState
from eigenscape.methods.kernel_pca import usable_count
from eigenscape.methods.laplacian import GeneralizedScale, UnitRows
from eigenscape.solvers import EigenPairs
from eigenscape.solvers.direct import partial_eigh
from eigenscape.solvers.pairs import column_signs


def greedy_embedding(
    state: DictionaryState, options: DictionaryOptions, n_components: int | None, X: PointArray | None = None
) -> Embedding:
    """Return the coordinates ``sqrt(l_r) v_r``; if divisive, ``sqrt(n) v_r`` without the trivial one."""
    functions = low_rank_eigenfunctions(state, options, n_components, X)
    if options.normalization == "divisive":
        return Embedding(functions, PlainScale(), trivial=1)
    return Embedding(functions, RootScale(np.sqrt(functions.pairs.values / functions.n_train)))


def divided_greedy_embedding(
    state: DictionaryState, options: DictionaryOptions, n_components: int | None, X: PointArray | None = None
) -> Embedding:
    """Return ``sqrt(n) v_r`` without the trivial one for a kernel that was divided before the selection."""
    count = None if n_components is None else n_components + 1
    return Embedding(low_rank_eigenfunctions(state, options, count, X), PlainScale(), trivial=1)


def greedy_laplacian_eigenmaps(
    state: DictionaryState, options: DictionaryOptions, n_components: int, X: PointArray | None = None
) -> Embedding:
    """Return the Laplacian eigenmaps (Bengio eq. 13) of the approximated kernel."""
    functions = low_rank_eigenfunctions(state, options, n_components, X)
    mean = functions.kernel.normalization.mean
    mean_degree = functions.n_train * float(np.square(mean).sum())  # E[S(x)] = n |E[p]|^2
    return Embedding(functions, GeneralizedScale(mean_degree), trivial=1)


def greedy_spectral_map(
    state: DictionaryState, options: DictionaryOptions, n_components: int, X: PointArray | None = None
) -> Embedding:
    """Return the map of spectral clustering (Bengio sec. 2.3) for the approximated kernel."""
    return Embedding(low_rank_eigenfunctions(state, options, n_components - 1, X), UnitRows())


def low_rank_eigenfunctions(
    state: DictionaryState, options: DictionaryOptions, n_components: int | None, X: PointArray | None = None
) -> LowRankEigenfunctions:
    """Compute the leading eigenfunctions of ``A M A'``, normalised.

    For divisive normalisation the trivial eigenfunction precedes the ``n_components`` others.

    Parameters
    ----------
    state : DictionaryState
        A fitted dictionary.
    options : DictionaryOptions
        The options it was fitted with.
    n_components : int or None
        Number of eigenfunctions; None for all with a positive eigenvalue.
    X : array of shape (n_samples, n_features), optional
        The training points, if they are in memory.

    Returns
    -------
    LowRankEigenfunctions
    """
    span, n, divisive = state.span, state.moments.count, options.normalization == "divisive"
    allow_fewer = n_components is None
    n_components = span.size - divisive if n_components is None else n_components
    needed = n_components + (divisive and not (state.exact and options.averages == "implicit"))
    if needed > span.size:
        given = options.tol is None and options.size is None
        raise RankError(
            f"{needed} eigenfunctions need a dictionary of at least {needed} points that are linearly"
            f" independent in feature space, but only {span.size} "
            + (
                "of the given points are, as for points of one cluster; give points from all parts of the"
                " data, lower n_components, or use a narrower kernel (a larger gamma)"
                if given
                else "were selected; lower the tolerance or n_components"
            )
        )
    normalization = Normalization(options.normalization, state.mean_feature())
    if divisive:
        assert state.weighted_moments is not None
        if not normalization.mean.any():
            raise ValueError(
                "the kernel is zero between the dictionary and all samples; use a dictionary near the"
                " samples, or a wider kernel (a smaller gamma)"
            )
        moments = state.weighted_moments
        with np.errstate(over="ignore", invalid="ignore"):
            moment = normalized_moment(moments, normalization, span, n)
        if not np.isfinite(moment).all():
            raise ValueError(
                "the kernel between the dictionary and some samples is too small to be divided by; raise"
                " the size of the dictionary, or use a wider kernel (a smaller gamma)"
            )
        if state.exact and options.averages == "implicit":
            pairs = _pairs_after_trivial(moment, normalization.mean, n_components, allow_fewer)
        else:
            pairs = _leading_pairs(moment, n_components + 1, allow_fewer)
    else:
        moments = state.moments
        moment = normalized_moment(moments, normalization, span, n)
        pairs = _leading_pairs(moment, n_components, allow_fewer)
    kernel = LowRankKernel(span, normalization, span.members if X is None else X, n)
    values = LowRankEigenfunctions(kernel, pairs, moments)(kernel.X)
    pairs, values = _signed(pairs, values)
    return LowRankEigenfunctions(kernel, pairs, moments, None if X is None else values)


def _signed(pairs: EigenPairs, values: np.ndarray) -> tuple[EigenPairs, np.ndarray]:
    """Return the pairs and the function values (n, r) with canonical signs of the values."""
    signs = column_signs(values)
    return replace(pairs, vectors=pairs.vectors * signs), values * signs


def _leading_pairs(moment: np.ndarray, count: int, allow_fewer: bool) -> EigenPairs:
    """Return the leading eigenpairs of ``C``.

    With ``w = L' u``, Ouimet's generalised problem ``A'A u = l M^-1 u`` is the ordinary one ``C w = l w``.
    """
    m = len(moment)
    values, vectors = partial_eigh(moment, m - count, m - 1)
    return _checked_pairs(moment, values[::-1], vectors[:, ::-1], allow_fewer)


def _pairs_after_trivial(moment: np.ndarray, mean: np.ndarray, count: int, allow_fewer: bool) -> EigenPairs:
    """Return the trivial eigenpair of the divided ``C`` and ``count`` others.

    ``E[p]`` is an eigenvector with eigenvalue 1, exactly; the others are orthogonal to it.
    """
    trivial = mean / np.linalg.norm(mean)
    if count == 0:
        return _checked_pairs(moment, np.ones(1), trivial[:, None])
    others = _leading_pairs(moment - np.outer(trivial, trivial), count, allow_fewer)
    return _checked_pairs(moment, np.append(1.0, others.values), np.column_stack([trivial, others.vectors]))


def _checked_pairs(
    moment: np.ndarray, values: np.ndarray, vectors: np.ndarray, allow_fewer: bool = False
) -> EigenPairs:
    """Return eigenpairs of the kernel on the samples, with residuals; eigenvalues must be positive.

    ``moment`` is ``C = P'P`` for the features ``P`` of the samples, and ``vectors`` are eigenvectors ``w`` of
    ``C``. The eigenvectors of ``K = P P'`` are ``v = P w / sqrt(l)``, so ``|K v - l v|^2 = r'C r / l`` with
    ``r = C w - l w``.
    """
    n_positive = usable_count(values, "value", len(moment), float(np.abs(moment).max()))
    if n_positive == 0:
        raise RankError(
            "the normalised kernel is zero on the dictionary: all points are equal in feature space; there is"
            " nothing to embed"
        )
    if allow_fewer:
        values, vectors = values[:n_positive], vectors[:, :n_positive]
    if n_positive < len(values):
        raise RankError(
            f"the kernel has only {n_positive} positive eigenvalue(s) on a dictionary of {len(moment)}"
            " points; lower n_components"
        )
    r = moment @ vectors - vectors * values
    residuals = np.sqrt(np.maximum(np.einsum("ir,ir->r", r, moment @ r), 0.0) / values)
    return EigenPairs(values, vectors, residuals, "dictionary")


def gram_error_bound(state: DictionaryState, normalization: Literal["additive", "divisive"] | None) -> float:
    """Return a bound of the error of every entry of the approximated Gram matrix (Ouimet prop. 1).

    Let ``r_t`` be the residual of the projection of point ``t``. Without the constraint on the weights the
    error is ``r_t . r_u``; for the centred matrix the residuals are centred, with or without the
    constraint. With the constraint, or after a single pass over a stream, the error of the raw matrix
    contains ``r_t . p_u`` as well, which proposition 1 omits.
    """
    moments = state.moments
    worst, mean_root = moments.max_error, moments.sum_root_errors / moments.count
    if normalization == "additive":
        bound = (worst**0.5 + mean_root) ** 2
        # After a single pass the mean lacks the components of early points in directions added later, which
        # need not be orthogonal to their residuals.
        return bound if state.exact else bound + 5 * mean_root * moments.max_squared_norm**0.5
    if state.exact and not state.span.sum_to_one:
        return worst
    return worst + 2 * (worst * moments.max_squared_norm) ** 0.5


def warn_tolerance(state: DictionaryState, options: DictionaryOptions) -> None:
    """Warn if the tolerance was not reached, because of rounding or because the size is limited."""
    size, worst = state.dictionary.size, state.moments.max_error
    if not options.tol or worst <= options.tol or options.members is not None:
        return
    if state.dictionary.stalled:
        large = state.dictionary.rounding > MAX_ROUNDING
        least = MAX_ROUNDING * state.moments.max_squared_norm if large else 2 * worst
        reason = "the other points cannot be distinguished from their span in double precision"
        remedy = f" (raise it to {least:.0e} or more)"
    elif size == options.size:
        reason = f"size={options.size} is reached"
        remedy = " (raise size or tol, or use a wider kernel)"
    else:
        return  # a stream: the errors of early points refer to the dictionary at that time
    warn(
        f"the tolerance {options.tol:g} was not reached{remedy}: with {size} points in the dictionary"
        f" {reason}; the largest projection error is {worst:.3g}",
        ToleranceWarning,
    )
