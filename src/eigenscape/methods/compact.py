"""A map in terms of few training rows: what it comes to when most of them are to be left behind."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenscape.dictionary.landmarks import greedy_pivots
from eigenscape.kernels.bandwidth import median_distance
from eigenscape.kernels.base import as_float64, n_points, product_by_rows
from eigenscape.kernels.pairwise import BoundPairwise, Gaussian, PairwiseKernel, squared_euclidean
from eigenscape.methods.inverse import evenly
from eigenscape.methods.preimage import Ridge

#: Root mean square error, relative to the map's spread, that is small enough.
GOAL = 0.01
#: Dictionaries to try, one after the other.
SIZES = (50, 100, 200, 400, 800, 1600)
#: Twice the rows are worth their room if the error falls to this part.
_WORTHWHILE = 0.8
#: That is asked of dictionaries larger than this.
_AT_LEAST = 200
#: The dictionary, its size and its kernel are chosen with no more than this many rows; all rows determine the
#: functions.
_ROWS = 5000
#: The error is measured on at most this many rows.
_MEASURED = 1000
#: Widths of a Gaussian, in units of the median distance between rows, for maps that have no kernel of two
#: points.
_WIDTHS = (2.0, 1.0, 0.5, 0.25, 0.125)


@dataclass(frozen=True, eq=False)
class CompactFunctions:
    """``y(x) = sum_j a_j k(x, d_j) + b`` over the members ``d_j`` of a dictionary."""

    kernel: PairwiseKernel
    members: Any  # (m, n_features)
    coefficients: np.ndarray  # (m, n_components)
    origin: np.ndarray  # (n_components,)

    def transform(self, Y: Any) -> np.ndarray:
        return product_by_rows(BoundPairwise(self.kernel, self.members), Y, self.coefficients) + self.origin


@dataclass(frozen=True, eq=False)
class Compacted:
    """A compact map, the error it costs (see :func:`compact_functions`), and whether that is what was asked
    for."""

    functions: CompactFunctions
    error: float
    reached: bool

    @property
    def size(self) -> int:
        return n_points(self.functions.members)


def compact_functions(
    X: Any, coordinates: np.ndarray, own: PairwiseKernel | None, size: int | None, n_jobs: int | None
) -> Compacted:
    """Functions of few rows of ``X`` that take the values ``coordinates`` (n, p) on all of them, as nearly as
    they can.

    Least squares over all rows, with a ridge chosen by leave-one-out error, of kernels around the rows that
    pivots of a Cholesky factorisation choose (those which the rows before explain least). The kernel is the
    map's own, or the Gaussian that predicts best. The error is the root mean square of what is lost on rows,
    each predicted without itself, over the spread of the coordinates. Without a ``size`` the dictionary
    doubles until that is below 1 %, or falls by less than a fifth, or half of the rows are in it."""
    X = as_float64(X)
    some = evenly(n_points(X), _ROWS)
    best: tuple[float, PairwiseKernel, np.ndarray] | None = None
    for count in (
        [min(size, len(some))]
        if size is not None
        else [step for step in SIZES if step == SIZES[0] or 2 * step <= len(some)]
    ):
        found = _best_kernel(X[some], coordinates[some], own, min(count, len(some)), n_jobs)
        if best is not None and count > _AT_LEAST and found[0] > _WORTHWHILE * best[0]:
            break
        best = found if best is None or found[0] < best[0] else best
        if best[0] <= GOAL:
            break
    assert best is not None
    _, kernel, members = best
    ridge = Ridge(coordinates, X, n_jobs=n_jobs, kernel=kernel, centers=some[members])
    error = left_out_error(ridge)
    return Compacted(CompactFunctions(*ridge.expansion()), error, size is not None or error <= GOAL)


def _best_kernel(
    X: Any, coordinates: np.ndarray, own: PairwiseKernel | None, count: int, n_jobs: int | None
) -> tuple[float, PairwiseKernel, np.ndarray]:
    """The error, the kernel and the members of the best dictionary of so many rows."""
    found = []
    for kernel in _kernels(X, own):
        members = _pivots(kernel, X, count)
        found.append(
            (
                left_out_error(Ridge(coordinates, X, n_jobs=n_jobs, kernel=kernel, centers=members)),
                kernel,
                members,
            )
        )
    return min(found, key=lambda one: one[0])


def _kernels(X: Any, own: PairwiseKernel | None) -> Iterator[PairwiseKernel]:
    if own is not None:
        yield own
    scale = median_distance(X, squared_euclidean)
    yield from (Gaussian(1.0 / (width**2 * scale)) for width in _WIDTHS)


def _pivots(kernel: PairwiseKernel, X: Any, count: int) -> np.ndarray:
    """Rows that explain the others best, by the distances that the kernel has in its feature space."""
    length = kernel.diagonal(X)

    def squared_distances(i: int) -> np.ndarray:
        return np.maximum(length + length[i] - 2 * kernel.evaluate(X[i : i + 1], X)[0], 0.0)

    return np.sort(greedy_pivots(squared_distances, n_points(X), count, 0))


def left_out_error(ridge: Ridge) -> float:
    """What is lost on rows, each predicted without itself, relative to their spread.

    Rows of the dictionary count too: they are the ones that the others explain least, and without them the
    error would flatter."""
    values = ridge.X
    which = evenly(len(values), _MEASURED)
    spread = np.sqrt(np.mean(np.square(values - values.mean(axis=0)).sum(axis=1)))
    lost = np.sqrt(np.mean(np.square(values[which] - ridge.again(which)).sum(axis=1)))
    return float(lost / spread) if spread > 0 else 0.0
