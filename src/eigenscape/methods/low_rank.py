"""Eigenfunctions of a kernel known through a dictionary, and the methods made of them (Ouimet sec. 3)."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import eigh

from eigenscape.dictionary.low_rank import LowRankEigenfunctions, LowRankKernel, Normalization
from eigenscape.eigenfunctions import Embedding, PlainScale, RootScale
from eigenscape.exceptions import RankError, ToleranceWarning
from eigenscape.methods.greedy import Choice, Learnt
from eigenscape.methods.kernel_pca import usable_count
from eigenscape.methods.laplacian import GeneralizedScale, UnitRows
from eigenscape.solvers import EigenPairs
from eigenscape.solvers.pairs import canonical_signs


def greedy_embedding(learnt: Learnt, choice: Choice, n_components: int | None, X: Any = None) -> Embedding:
    """Coordinates ``sqrt(l_r) v_r``, or ``sqrt(n) v_r`` without the trivial one for divisive
    normalisation."""
    functions = low_rank_eigenfunctions(learnt, choice, n_components, X)
    if choice.normalization == "divisive":
        return Embedding(functions, PlainScale(), trivial=1)
    return Embedding(functions, RootScale(np.sqrt(functions.pairs.values / functions.n_train)))


def greedy_laplacian_eigenmaps(learnt: Learnt, choice: Choice, n_components: int, X: Any = None) -> Embedding:
    """Laplacian eigenmaps (Bengio eq. 13) of the approximated kernel."""
    functions = low_rank_eigenfunctions(learnt, choice, n_components, X)
    mean_sum = functions.n_train * float(
        np.square(functions.kernel.normalization.mean).sum()
    )  # E[S(x)] = n |E[p]|^2
    return Embedding(functions, GeneralizedScale(mean_sum), trivial=1)


def greedy_spectral_map(learnt: Learnt, choice: Choice, n_components: int, X: Any = None) -> Embedding:
    """The map of spectral clustering (Bengio sec. 2.3) for the approximated kernel."""
    return Embedding(low_rank_eigenfunctions(learnt, choice, n_components - 1, X), UnitRows())


def low_rank_eigenfunctions(
    learnt: Learnt, choice: Choice, n_components: int | None, X: Any = None
) -> LowRankEigenfunctions:
    """The leading eigenfunctions of ``A M A'``, normalised; for divisive normalisation the trivial one before
    them.

    ``X`` are the training points if they are at hand. None for ``n_components`` takes all with a positive
    eigenvalue."""
    span, n = learnt.span, learnt.moments.count
    fewer = n_components is None
    n_components = span.size - (choice.normalization == "divisive") if n_components is None else n_components
    normalization = Normalization(choice.normalization, learnt.average_feature())
    if choice.normalization == "divisive":
        assert learnt.divided is not None
        moment = learnt.divided.about(np.zeros(span.size), span) / n
        if learnt.exact and choice.averages == "implicit":
            pairs = _after_trivial(moment, normalization.mean, n_components, fewer)
        else:
            pairs = _leading(moment, n_components + 1, fewer)
    else:
        moment = learnt.moments.about(normalization.center, span)
        pairs = _leading(moment, n_components, fewer)
    kernel = LowRankKernel(span, normalization, span.members if X is None else X, n)
    values = LowRankEigenfunctions(kernel, pairs, moment)(kernel.X)
    signs = np.where(np.einsum("ir,ir->r", values, canonical_signs(values)) < 0, -1.0, 1.0)
    pairs = replace(pairs, vectors=pairs.vectors * signs)
    return LowRankEigenfunctions(kernel, pairs, moment, None if X is None else values * signs)


def _leading(moment: np.ndarray, count: int, fewer: bool) -> EigenPairs:
    """Leading pairs of ``C``: in this basis Ouimet's generalised problem ``A'A u = l M^-1 u`` is an ordinary
    one, ``w = L' u``."""
    m = len(moment)
    if count > m:
        raise RankError(
            f"{count} eigenfunctions need a dictionary of at least as many points, got {m}; lower the tolerance or n_components"
        )
    values, vectors = eigh(moment, subset_by_index=(m - count, m - 1))
    return _measured(moment, values[::-1], vectors[:, ::-1], fewer)


def _after_trivial(moment: np.ndarray, mean: np.ndarray, count: int, fewer: bool) -> EigenPairs:
    """``E[p]`` is an eigenvector of the divided ``C`` with eigenvalue 1, exactly; the others are orthogonal
    to it."""
    known = mean / np.linalg.norm(mean)
    rest = moment - np.outer(known, known)
    if count == 0:
        return _measured(moment, np.ones(1), known[:, None])
    others = _leading(rest, count, fewer)
    return _measured(moment, np.append(1.0, others.values), np.column_stack([known, others.vectors]))


def _measured(moment: np.ndarray, values: np.ndarray, vectors: np.ndarray, fewer: bool = False) -> EigenPairs:
    """Pairs with residuals ``|K v - l v|`` on the training points, ``v = p w / sqrt(l)``; those without a
    root are refused."""
    usable_values = usable_count(values, "value", len(moment), float(np.abs(moment).max()))
    if usable_values == 0:
        raise RankError(
            "the normalised kernel is zero on its dictionary: the points are all alike to it; there is nothing to embed"
        )
    if fewer:
        values, vectors = values[:usable_values], vectors[:, :usable_values]
    if usable_values < len(values):
        raise RankError(
            f"the kernel has only {usable_values} positive eigenvalue(s) on its dictionary of {len(moment)} points; lower n_components"
        )
    rest = moment @ vectors - vectors * values
    residuals = np.sqrt(np.maximum(np.einsum("ir,ir->r", rest, moment @ rest), 0.0) / values)
    return EigenPairs(values, vectors, residuals, "dictionary")


def error_bound(learnt: Learnt, kind: str | None) -> float:
    """How far an entry of the approximated Gram matrix may be from the true one (Ouimet prop. 1, where it is
    true).

    ``r_t`` is what the projection leaves of a point. Without the constraint the error is ``r_t . r_u``; on
    the centred matrix it is that of the centred ``r``, constraint or not. With the constraint, or after one
    pass over a stream, the raw matrix has ``r_t . p_u`` in it as well."""
    worst, mean_root = learnt.moments.worst_error, learnt.moments.root_errors / learnt.moments.count
    if kind == "additive":
        bound = (worst**0.5 + mean_root) ** 2
        # After one pass the centre lacks what early points have in directions gained later, which need not be
        # orthogonal.
        return bound if learnt.exact else bound + 5 * mean_root * learnt.moments.longest**0.5
    if learnt.exact and not learnt.span.sum_to_one:
        return worst
    return worst + 2 * (worst * learnt.moments.longest) ** 0.5


def announce(learnt: Learnt, choice: Choice) -> None:
    """Say when a tolerance was not reached: because double precision ends before it, or because the size was
    limited."""
    size, worst = learnt.dictionary.size, learnt.moments.worst_error
    if not choice.tol or worst <= choice.tol or choice.members is not None:
        return
    if learnt.dictionary.stalled:
        why = "the other points cannot be told from their span in double precision"
    elif size == choice.size:
        why = f"dictionary_size={choice.size} allows no more"
    else:
        return  # a stream: points seen early are judged by the dictionary of that time
    warnings.warn(
        f"the tolerance {choice.tol:g} was not reached: with {size} points in the dictionary {why}; the largest projection error is"
        f" {worst:.3g}",
        ToleranceWarning,
        stacklevel=3,
    )
