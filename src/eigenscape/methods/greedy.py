"""Greedy spectral embedding (Ouimet): the eigenfunctions of a kernel known through a dictionary."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import eigh

from eigenscape._progress import stage
from eigenscape.dictionary.greedy import Dictionary, by_size, by_tolerance, empty, grown
from eigenscape.dictionary.low_rank import LowRankEigenfunctions, LowRankKernel, Normalization, usable
from eigenscape.dictionary.moments import Moments
from eigenscape.dictionary.rows import ArrayRows, Rows
from eigenscape.dictionary.source import Source
from eigenscape.dictionary.span import Projected, Span
from eigenscape.exceptions import RankError, ToleranceWarning
from eigenscape.kernels.base import n_points
from eigenscape.methods.kernel_pca import usable_count
from eigenscape.solvers import EigenPairs
from eigenscape.solvers.pairs import canonical_signs

#: Rows in a block once the dictionary is chosen.
_BLOCK = 8192
#: Points of a random subset that averages are taken over.
_SAMPLE = 1000


@dataclass(frozen=True, eq=False)
class Choice:
    """How a dictionary is chosen, and what is made of it."""

    tol: float | None = None  # algorithm 1, or
    size: int | None = None  # algorithm 2, or both: algorithm 1 up to a size
    members: tuple[Any, np.ndarray] | None = None  # or points chosen otherwise, with their numbers
    normalization: str | None = "additive"  # or "divisive"
    averages: str = "implicit"  # over all points; "dictionary"; "random"
    sum_to_one: bool = True
    seed: int = 0
    n_jobs: int | None = None


@dataclass(frozen=True, eq=False)
class Learnt:
    """What has been learnt from the points seen so far: enough to solve, and enough to go on."""

    dictionary: Dictionary
    moments: Moments
    divided: Moments | None = None  # with weights 1 / E(x), for divisive normalisation
    mean: np.ndarray | None = None  # E[p] over the points that ``averages`` names; None: over all, by the moments
    exact: bool = False  # whether every point was seen by the final dictionary

    @property
    def span(self) -> Span:
        return self.dictionary.span

    def average_feature(self) -> np.ndarray:
        return self.moments.mean(self.span) if self.mean is None else self.mean


# --- two passes over points that are at hand --------------------------------------------------------------------------------


def learn(source: Source, rows: Rows, choice: Choice) -> Learnt:
    """Choose a dictionary, then sum over all points what it makes of them."""
    late = _SinceGrowth() if choice.normalization != "divisive" else None
    dictionary = select(source, rows, choice, late)
    if dictionary.size == 0:
        raise RankError("the kernel is zero on all points; there is nothing to embed")
    return gather(dictionary, rows, choice, late)


def select(source: Source, rows: Rows, choice: Choice, late: _SinceGrowth | None = None) -> Dictionary:
    """The dictionary that ``choice`` asks for (Ouimet algorithms 1 and 2)."""
    numbers, Y = next(rows.blocks(None, lambda: 256))
    start = empty(source, Y, choice.sum_to_one, choice.n_jobs)
    if choice.members is not None:
        return grown(start, *choice.members, tol=0.0)[0]
    if choice.tol is not None:
        return by_tolerance(start, rows.blocks, choice.tol, choice.size or np.inf, late.see if late is not None else None)
    assert choice.size is not None
    scale = float(source.own(Y, numbers).max())
    dictionary = by_size(start, rows.blocks, rows.count, choice.size, scale if scale > 0 else 1.0)
    if dictionary.size < choice.size:
        raise ValueError(
            f"dictionary_size={choice.size}, but only {dictionary.size} of the points are independent in feature space (equal rows count"
            " once); lower dictionary_size"
        )
    return dictionary


class _SinceGrowth:
    """Moments of the rows that came after the dictionary's last growth: they need no second look."""

    def __init__(self) -> None:
        self.moments: Moments | None = None
        self.first = self.size = 0

    def see(self, dictionary: Dictionary, numbers: np.ndarray, seen: Projected) -> None:
        if dictionary.size != self.size or self.moments is None:
            self.size, self.first = dictionary.size, int(numbers[0])
            self.moments = Moments.about_mean_of(seen.Z)
        self.moments = self.moments.add(seen)


def gather(dictionary: Dictionary, rows: Rows, choice: Choice, late: _SinceGrowth | None = None) -> Learnt:
    """Moments of all rows, for a dictionary that grows no more."""
    span = dictionary.span
    mean = _average_feature(dictionary, rows, choice)
    if choice.normalization == "divisive":
        mean = _mean_of_all(span, rows) if mean is None else mean
        unweighted, divided = _divided_moments(span, rows, mean)
        return Learnt(dictionary, unweighted, divided, mean, exact=True)
    known = late.moments if late is not None else None
    moments = known if known is not None else Moments(np.zeros(span.size))
    end = late.first if late is not None and known is not None else None
    with stage("second pass", total=end or rows.count) as advance:
        for numbers, Y in rows.blocks(None, lambda: _BLOCK):
            if end is not None and numbers[0] >= end:
                break
            stop = None if end is None else end - numbers[0]
            seen = span.project(Y[:stop], numbers[:stop])
            if moments.count == 0:
                moments = Moments.about_mean_of(seen.Z)
            moments = moments.add(seen)
            advance(len(numbers))
    return Learnt(dictionary, moments, None, mean, exact=True)


def _average_feature(dictionary: Dictionary, rows: Rows, choice: Choice) -> np.ndarray | None:
    """``E[p]`` over a part of the points; None where it is over all of them."""
    span = dictionary.span
    if choice.averages == "dictionary":
        return span.features(span.factor).mean(axis=0)  # a member's coordinates are its row of L
    if choice.averages == "random":
        chosen = np.random.default_rng(choice.seed).permutation(rows.count)[:_SAMPLE]
        mask = np.isin(np.arange(rows.count), chosen)
        parts = [span.features(span.coordinates(Y)) for _, Y in rows.blocks(mask, lambda: _BLOCK)]
        return np.concatenate(parts).mean(axis=0)
    return None


def _mean_of_all(span: Span, rows: Rows) -> np.ndarray:
    """``E[p]`` over all points: it is linear in the kernel values, so their sums are enough."""
    total, count = np.zeros(span.size), 0
    with stage("averages", total=rows.count) as advance:
        for _, Y in rows.blocks(None, lambda: _BLOCK):
            total += span.values(Y).sum(axis=0)
            count += n_points(Y)
            advance(n_points(Y))
    return span.features(span.from_values(total[None] / count))[0]


def _divided_moments(span: Span, rows: Rows, mean: np.ndarray) -> tuple[Moments, Moments]:
    plain = divided = Moments(np.zeros(span.size))
    with stage("second pass", total=rows.count) as advance:
        for numbers, Y in rows.blocks(None, lambda: _BLOCK):
            seen = span.project(Y, numbers)
            divided = divided.add(seen, _weights(span.features(seen.Z) @ mean))
            plain = plain.counted(seen)
            advance(len(numbers))
    return plain, divided


def _weights(averages: np.ndarray) -> np.ndarray:
    """``1 / E(x)``, zero for points that have no place."""
    return np.divide(1.0, averages, out=np.zeros_like(averages), where=usable(averages))


# --- one pass over a stream -------------------------------------------------------------------------------------------------


def begin(source: Source, Y: Any, choice: Choice) -> Learnt:
    """Nothing learnt yet; ``Y`` are some of the points to come."""
    nothing = Moments(np.empty(0))
    return Learnt(empty(source, Y, choice.sum_to_one, choice.n_jobs), nothing, nothing if choice.normalization == "divisive" else None)


def absorb(learnt: Learnt, Y: Any, choice: Choice) -> Learnt:
    """Go on with more points. Those seen before the dictionary grew are taken to have no part in the directions it gained.

    For divisive normalisation a point is weighted by the averages over all points until then. A second pass (:func:`gather`)
    mends both.
    """
    assert choice.tol is not None
    for numbers, some in ArrayRows(Y, learnt.moments.count).blocks(None, lambda: learnt.dictionary.block_rows):
        dictionary, seen = grown(learnt.dictionary, some, numbers, choice.tol, choice.size or np.inf)
        first = learnt.moments.count == 0
        moments = Moments.about_mean_of(seen.Z) if first else learnt.moments.padded(dictionary.size)
        copy = replace(seen, Z=seen.Z.copy()) if learnt.divided is not None else seen
        moments = moments.add(copy)
        mean = None if choice.averages == "implicit" else dictionary.span.features(dictionary.span.factor).mean(axis=0)
        learnt = replace(learnt, dictionary=dictionary, moments=moments, mean=mean, exact=False)
        if learnt.divided is not None:
            weights = _weights(dictionary.span.features(seen.Z) @ learnt.average_feature())
            learnt = replace(learnt, divided=learnt.divided.padded(dictionary.size).add(seen, weights))
    return learnt


# --- the small eigenproblem -------------------------------------------------------------------------------------------------


def low_rank_eigenfunctions(learnt: Learnt, choice: Choice, n_components: int, X: Any = None) -> LowRankEigenfunctions:
    """The leading eigenfunctions of ``A M A'``, normalised; for divisive normalisation the trivial one before them.

    ``X`` are the training points if they are at hand.
    """
    span, n = learnt.span, learnt.moments.count
    normalization = Normalization(choice.normalization, learnt.average_feature())
    if choice.normalization == "divisive":
        assert learnt.divided is not None
        moment = learnt.divided.about(np.zeros(span.size), span) / n
        if learnt.exact and choice.averages == "implicit":
            pairs = _after_trivial(moment, normalization.mean, n_components)
        else:
            pairs = _leading(moment, n_components + 1)
    else:
        moment = learnt.moments.about(normalization.center, span)
        pairs = _leading(moment, n_components)
    kernel = LowRankKernel(span, normalization, span.members if X is None else X, n)
    values = LowRankEigenfunctions(kernel, pairs, moment)(kernel.X)
    signs = np.where(np.einsum("ir,ir->r", values, canonical_signs(values)) < 0, -1.0, 1.0)
    pairs = replace(pairs, vectors=pairs.vectors * signs)
    return LowRankEigenfunctions(kernel, pairs, moment, None if X is None else values * signs)


def _leading(moment: np.ndarray, count: int) -> EigenPairs:
    """Leading pairs of ``C``: in this basis Ouimet's generalised problem ``A'A u = l M^-1 u`` is an ordinary one, ``w = L' u``."""
    m = len(moment)
    if count > m:
        raise RankError(f"{count} eigenfunctions need a dictionary of at least as many points, got {m}; lower the tolerance or n_components")
    values, vectors = eigh(moment, subset_by_index=(m - count, m - 1))
    return _measured(moment, values[::-1], vectors[:, ::-1])


def _after_trivial(moment: np.ndarray, mean: np.ndarray, count: int) -> EigenPairs:
    """``E[p]`` is an eigenvector of the divided ``C`` with eigenvalue 1, exactly; the others are orthogonal to it."""
    known = mean / np.linalg.norm(mean)
    rest = moment - np.outer(known, known)
    if count == 0:
        return _measured(moment, np.ones(1), known[:, None])
    others = _leading(rest, count)
    return _measured(moment, np.append(1.0, others.values), np.column_stack([known, others.vectors]))


def _measured(moment: np.ndarray, values: np.ndarray, vectors: np.ndarray) -> EigenPairs:
    """Pairs with residuals ``|K v - l v|`` on the training points, ``v = p w / sqrt(l)``; those without a root are refused."""
    usable_values = usable_count(values, "value", len(moment), float(np.abs(moment).max()))
    if usable_values < len(values):
        raise RankError(f"the kernel has only {usable_values} positive eigenvalue(s) on its dictionary of {len(moment)} points; lower n_components")
    rest = moment @ vectors - vectors * values
    residuals = np.sqrt(np.maximum(np.einsum("ir,ir->r", rest, moment @ rest), 0.0) / values)
    return EigenPairs(values, vectors, residuals, "dictionary")


def error_bound(learnt: Learnt, kind: str | None) -> float:
    """How far an entry of the approximated Gram matrix may be from the true one (Ouimet prop. 1, where it is true).

    ``r_t`` is what the projection leaves of a point. Without the constraint the error is ``r_t . r_u``; on the centred matrix
    it is that of the centred ``r``, constraint or not. With the constraint the raw matrix has ``r_t . p_u`` in it as well.
    """
    worst, mean_root = learnt.moments.worst_error, learnt.moments.root_errors / learnt.moments.count
    if kind == "additive":
        return (worst**0.5 + mean_root) ** 2
    if not learnt.span.sum_to_one:
        return worst
    return worst + 2 * (worst * learnt.moments.longest) ** 0.5


def announce(dictionary: Dictionary, tol: float | None, learnt: Learnt) -> None:
    """Say when a tolerance was not reached because double precision ends before it."""
    if tol and dictionary.stalled:
        warnings.warn(
            f"tol={tol:g} was not reached: with {dictionary.size} points in the dictionary the others cannot be told from their span in"
            f" double precision; the largest projection error left is {learnt.moments.worst_error:.3g}; raise tol",
            ToleranceWarning,
            stacklevel=2,
        )
