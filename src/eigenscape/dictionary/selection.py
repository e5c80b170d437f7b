"""Greedy selection of a dictionary (Ouimet sec. 3, algorithms 1 and 2), with candidates taken in blocks.

Members may also be selected by randomly pivoted Cholesky (Chen et al. 2022).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import numpy as np
from scipy.linalg import solve_triangular

from eigenscape._display import short_repr
from eigenscape._progress import stage
from eigenscape.dictionary.readers import RowReader, read_blocks
from eigenscape.dictionary.source import KernelSource, PointArray, stack_rows
from eigenscape.dictionary.span import MAX_ROUNDING, RESOLUTION, Span, SpanProjection, rounding_of_weights
from eigenscape.kernels.base import n_points


@dataclass(frozen=True, eq=False)
class Dictionary:
    """The span of the members, and their indices among the points seen."""

    _shapes: ClassVar = {"span.members": "m ...", "indices": "m"}
    span: Span
    indices: np.ndarray  # (m,)
    stalled: bool = False  # whether the tolerance is below the resolution of double precision
    rounding: float = 0.0  # largest squared distance, relative to the norm, that is not resolved

    __repr__ = short_repr

    @property
    def size(self) -> int:
        return self.span.size

    @property
    def block_size(self) -> int:
        """Number of candidates per block: small while most are selected, large when few are."""
        return min(max(256, 8 * self.size), 8192)


def empty_dictionary(
    source: KernelSource, Y: PointArray, sum_to_one: bool, n_jobs: int | None = None
) -> Dictionary:
    """Return a dictionary without members; ``Y`` is a sample of the points."""
    sample = Y[:256]
    indices = np.arange(n_points(sample))
    scale = float(np.mean(source.diagonal(sample, indices)))
    members = source.members(sample, indices)[:0]
    shift = (scale if scale > 0 else 1.0) if sum_to_one else 0.0
    span = Span(source, members, np.empty((0, 0), order="F"), shift, sum_to_one, n_jobs)
    return Dictionary(span, np.empty(0, dtype=np.int64))


def extend(
    dictionary: Dictionary,
    Y: PointArray,
    indices: np.ndarray,
    tol: float | np.ndarray,
    max_size: float = np.inf,
) -> tuple[Dictionary, SpanProjection]:
    """Apply algorithm 1 to one block of candidates, in order, up to ``max_size`` members.

    ``tol`` is one tolerance, or one for each candidate (b,). The result is the same as testing one candidate
    after another: each selected point adds one coordinate to all candidates of the block. Returns the
    extended dictionary and the projection of the block on it.
    """
    block = _Block(dictionary, Y, indices)
    tolerances = np.broadcast_to(tol, indices.shape)
    stalled, rounding, position = dictionary.stalled, dictionary.rounding, 0
    while dictionary.size + block.n_selected < max_size:
        beyond = np.flatnonzero(block.error[position:] > tolerances[position:])
        if len(beyond) == 0:
            break
        position += int(beyond[0])
        if block.is_resolved(position):
            block.select(position)
        else:
            stalled = True
            rounding = max(rounding, float(block.residual[position] / block.squared_norm[position]))
        position += 1
    extended, projection = block.dictionary(), block.projection()
    extended.span.check_positive_semidefinite(
        projection.Z, projection.residual, projection.squared_norm, indices
    )
    norms = np.where(projection.squared_norm > 0, projection.squared_norm, np.inf)
    rounding = max(rounding, float((-projection.residual / norms).max(initial=0.0)))
    return replace(extended, stalled=stalled, rounding=rounding), projection


class _Block:
    """State of algorithm 1 within a block of candidates."""

    def __init__(self, dictionary: Dictionary, Y: PointArray, indices: np.ndarray) -> None:
        span = dictionary.span
        projection = span.project(Y, indices)
        self.start, self.Y, self.indices = dictionary, Y, indices
        self.Z, self.squared_norm = projection.Z, projection.squared_norm
        self.residual, self.error = projection.residual.copy(), projection.error.copy()
        self.rows = np.empty(
            (8, n_points(Y))
        )  # new coordinates, one row per selected point; grows by doubling
        self.selected: list[int] = []
        pivots = np.diagonal(span.factor)
        self.smallest_pivot = float(np.square(pivots).min(initial=np.inf))
        ones = span.ones if span.sum_to_one and span.size else np.empty(0)
        self.ones, self.beta = list(ones), float(ones @ ones)
        self.alpha = 1.0 - self.Z @ ones if span.sum_to_one else None

    @property
    def n_selected(self) -> int:
        return len(self.selected)

    def is_resolved(self, position: int) -> bool:
        """Return whether the squared distance of a candidate from the span exceeds its rounding error."""
        residual, norm = float(self.residual[position]), float(self.squared_norm[position])
        if residual <= RESOLUTION * norm:
            return False
        if min(residual, self.smallest_pivot) > 1e-4 * norm:  # rounding is negligible
            return True
        a, span = self.n_selected, self.start.span
        own = self.rows[:a, position]  # coordinates in the directions of the points selected in this block
        later = own[:0]
        if a:
            factor = np.tril(self.rows[:a, self.selected].T)
            later = solve_triangular(factor, own, lower=True, trans="T", check_finite=False)
        earlier = span.solve_transposed(
            self.Z[position] - later @ self.Z[self.selected] if a else self.Z[position]
        )
        weights = float(np.abs(earlier).sum() + np.abs(later).sum())
        # The estimate adds the errors of all weights without their signs; the typical error is much smaller.
        return residual > 1e-3 * float(rounding_of_weights(np.array(weights), np.array(norm)))

    def select(self, position: int) -> None:
        """Add a candidate: a new row of ``L``, with the square root of its residual on the diagonal."""
        a, m, span = self.n_selected, self.start.size, self.start.span
        if a == len(self.rows):
            self.rows = np.concatenate([self.rows, np.empty_like(self.rows)])
        coordinates = np.concatenate([self.Z[position], self.rows[:a, position]])  # its coordinates, (m + a,)
        pivot = np.sqrt(self.residual[position])
        which = slice(position, position + 1)
        values = span.source.values(self.Y, span.source.members(self.Y[which], self.indices[which]))[:, 0]
        new = (values + span.shift - self.Z @ coordinates[:m] - self.rows[:a].T @ coordinates[m:]) / pivot
        new[position] = pivot
        self.rows[a] = new
        self.smallest_pivot = min(self.smallest_pivot, float(self.residual[position]))
        self.selected.append(position)
        self.residual -= new**2
        self.residual[position] = 0.0
        self.error = self.residual
        if self.alpha is not None:
            one = (1.0 - coordinates @ np.asarray(self.ones)) / pivot
            self.ones.append(one)
            self.beta += one * one
            self.alpha -= one * new
            self.alpha[position] = 0.0
            self.error = self.residual + self.alpha**2 / self.beta

    def dictionary(self) -> Dictionary:
        """Return the dictionary with the selected candidates."""
        if not self.selected:
            return self.start
        span, m, a = self.start.span, self.start.size, self.n_selected
        factor = np.zeros((m + a, m + a), order="F")
        factor[:m, :m] = span.factor
        factor[m:, :m] = self.Z[self.selected]
        factor[m:, m:] = np.tril(self.rows[:a, self.selected].T)
        indices = self.indices[self.selected]
        members = span.source.members(self.Y[np.asarray(self.selected)], indices)
        span = replace(span, factor=factor, members=stack_rows(span.members, members) if m else members)
        return Dictionary(span, np.concatenate([self.start.indices, indices]))

    def projection(self) -> SpanProjection:
        """Return the projection of the block on the span of the extended dictionary."""
        Z = np.concatenate([self.Z, self.rows[: self.n_selected].T], axis=1) if self.selected else self.Z
        return SpanProjection(Z, self.squared_norm, self.residual, np.maximum(self.error, 0.0))


def screen_and_extend(
    dictionary: Dictionary, Y: PointArray, indices: np.ndarray, tol: float, max_size: float = np.inf
) -> tuple[Dictionary, np.ndarray]:
    """Return the dictionary of :func:`extend` and upper bounds (n,) of the projection errors.

    A point within ``tol`` of the span of the first members is within ``tol`` of any larger span, and most
    points are: only the others are projected on all members.
    """
    bounds = dictionary.span.error_bounds(Y, indices, tol)
    beyond = np.flatnonzero(bounds > tol)
    if len(beyond):
        dictionary, projection = extend(dictionary, Y[beyond], indices[beyond], tol, max_size)
        bounds[beyond] = projection.error
    return dictionary, bounds


def select_by_tolerance(dictionary: Dictionary, reader: RowReader, tol: float, max_size: float) -> Dictionary:
    """Apply algorithm 1 to all points.

    With a pivot ``p`` the rounding errors of distances grow as ``eps / p^2``, which exceeds ``p^2`` below
    ``sqrt(eps)``. If they become large, the selection is repeated with a tolerance of that size.
    """
    with stage("dictionary") as advance:
        found = _select(dictionary, reader, tol, max_size, advance)
        scale = float(np.square(np.diagonal(found.span.factor)).max(initial=0.0))
        if found.rounding > MAX_ROUNDING and tol < MAX_ROUNDING * scale:
            rounding = found.rounding
            found = _select(dictionary, reader, MAX_ROUNDING * scale, max_size, advance)
            found = replace(found, stalled=True, rounding=rounding)
    return found


def _select(
    dictionary: Dictionary, reader: RowReader, tol: float, max_size: float, advance: Callable[[int], None]
) -> Dictionary:
    """Apply algorithm 1 to the points, until rounding errors are large if the tolerance is small."""
    cursor = reader.cursor()
    while (block := cursor.read(dictionary.block_size)) is not None:
        indices, Y = block
        dictionary = screen_and_extend(dictionary, Y, indices, tol, max_size)[0]
        advance(len(indices))
        if dictionary.size >= max_size:
            break
        if dictionary.rounding > MAX_ROUNDING and tol < MAX_ROUNDING * dictionary.span.factor[0, 0] ** 2:
            break
    return dictionary


def extend_from_rows(
    dictionary: Dictionary, reader: RowReader, bounds: np.ndarray, tol: float, max_size: float, stop: bool
) -> tuple[Dictionary, np.ndarray] | None:
    """Apply algorithm 1 to the rows whose error ``bounds`` (n_rows,) exceed ``tol``.

    Returns the dictionary and the new bounds; None for more than ``max_size`` members, unless ``stop``, with
    which the selection ends at ``max_size``.
    """
    bounds, cursor = bounds.copy(), reader.cursor(bounds > tol)
    limit = max_size if stop else max_size + 1
    while (block := cursor.read(dictionary.block_size)) is not None:
        indices, Y = block
        dictionary, bounds[reader.positions(indices)] = screen_and_extend(dictionary, Y, indices, tol, limit)
        if dictionary.size > max_size:
            return None
        if stop and dictionary.size == max_size:
            break
    return dictionary, bounds


class CandidateScan(Protocol):
    """Points to which algorithm 1 is applied repeatedly, with different tolerances."""

    def extend(
        self, dictionary: Dictionary, tol: float, max_size: float, next_tol: float = 0.0, stop: bool = False
    ) -> Dictionary | None:
        """Apply algorithm 1 to all points.

        Returns None as soon as there are more than ``max_size`` members; with ``stop`` the selection ends at
        ``max_size`` instead. Errors are stored for the dictionary that is returned, so the next call must
        extend that dictionary. ``next_tol`` is a lower bound, usually met, of the tolerances of later calls.
        """


class RowScan:
    """Rows that can be read locally.

    The error of a point can only decrease as the dictionary grows, so a point once within the tolerance is
    not tested again: ``bounds`` holds the last known error of each point.
    """

    def __init__(self, reader: RowReader) -> None:
        self.reader, self.bounds = reader, np.full(reader.n_rows, np.inf)

    def extend(
        self, dictionary: Dictionary, tol: float, max_size: float, next_tol: float = 0.0, stop: bool = False
    ) -> Dictionary | None:
        extended = extend_from_rows(dictionary, self.reader, self.bounds, tol, max_size, stop)
        if extended is None:
            return None
        dictionary, self.bounds = extended
        return dictionary


def select_by_size(dictionary: Dictionary, scan: CandidateScan, size: int, first_tol: float) -> Dictionary:
    """Apply algorithm 2: select ``size`` members with a nearly minimal error.

    Returns fewer members if there are fewer linearly (or affinely) independent points.
    """
    below, above = 0.0, first_tol  # epsilon+ and epsilon-
    with stage("dictionary", total=size) as advance:
        while (extended := scan.extend(dictionary, above, size)) is None:
            below, above = above, 10 * above
        while True:
            for _ in range(40):
                if extended is not None:
                    advance(extended.size - dictionary.size)
                    dictionary = extended
                    if dictionary.size == size:
                        return dictionary
                middle = below + (above - below) / 2
                extended = scan.extend(dictionary, middle, size, below)
                below, above = (middle, above) if extended is None else (below, middle)
            dictionary = dictionary if extended is None else extended
            last = scan.extend(dictionary, below, size, below, stop=True)
            assert last is not None
            if last.size == size or below == 0.0:
                return last
            # Step 25 assumes that epsilon+ leads to more than `size` members, but that was tested with a
            # smaller dictionary; members added since may have reduced the number. Bisect again from 0.
            extended, below, above = last, 0.0, below


#: Proposals of the first block after the errors were computed, and of the largest; sizes double in between.
FIRST_BLOCK, LAST_BLOCK = 256, 8192


def select_by_random_pivots(dictionary: Dictionary, X: PointArray, size: int, seed: int) -> Dictionary:
    """Select ``size`` members, each with a probability proportional to its projection error.

    The result is the same as drawing one member at a time and updating the errors of all points after each: a
    point is proposed with a probability proportional to its error for an earlier dictionary, and accepted
    with probability (present error) / (earlier error), which is at most 1 (rejection sampling, Epperly et al.
    2024). Only proposals are projected; the errors of all points are computed again when that costs no more
    than the proposals made with the earlier ones.

    Parameters
    ----------
    dictionary : Dictionary
        A dictionary without members.
    X : array of shape (n_samples, n_features)
        The points.
    size : int
        Number of members; fewer are returned if fewer points are independent.
    seed : int
        Seed of the proposals.

    Returns
    -------
    Dictionary
    """
    n, random = n_points(X), np.random.default_rng(seed)
    indices = np.arange(n)
    norms = dictionary.span.source.diagonal(X, indices)
    errors = np.maximum(norms, 0.0)  # of the empty dictionary; the errors of an affine hull may be larger
    least = RESOLUTION * float(errors.sum())
    with stage("dictionary", total=size) as advance:
        while dictionary.size < size and errors.sum() > least:
            before, proposed, block = dictionary.size, 0, 1 if dictionary.size == 0 else FIRST_BLOCK
            cumulative = np.cumsum(errors)
            while dictionary.size < size and proposed < n:
                draws = random.random((block, 2))
                chosen = np.searchsorted(cumulative, draws[:, 0] * cumulative[-1], side="right")
                chosen = np.minimum(chosen, n - 1)  # a product rounded up to the sum
                thresholds = draws[:, 1] * errors[chosen]
                dictionary = extend(dictionary, X[chosen], chosen, thresholds, size)[0]
                proposed, block = proposed + block, min(2 * block, LAST_BLOCK)
                if before == 0:  # one member: from here on errors decrease
                    break
            advance(dictionary.size - before)
            if dictionary.size == before:
                break
            if dictionary.size < size:
                errors = _errors(dictionary.span, X)
                errors[dictionary.indices] = 0.0
    return dictionary


def _errors(span: Span, X: PointArray) -> np.ndarray:
    """Return the projection errors (n,) of all points (Ouimet eq. 8)."""
    blocks = read_blocks(RowReader([X]), LAST_BLOCK)
    return np.concatenate([span.project(Y, rows).error for rows, Y in blocks])
