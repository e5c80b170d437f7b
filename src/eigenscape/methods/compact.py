"""Approximation of a map by functions of few training rows, for saving it without the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from eigenscape.dictionary.landmarks import greedy_pivots
from eigenscape.kernels.bandwidth import median_distance
from eigenscape.kernels.base import as_float64, n_points, product_by_rows
from eigenscape.kernels.pairwise import BoundPairwise, Gaussian, PairwiseKernel, squared_euclidean
from eigenscape.methods.kernel_ridge import KernelRidge
from eigenscape.methods.local_affine import evenly_spaced
from eigenscape.methods.tuning import TUNING

#: Sizes of dictionaries that are tried in turn.
SIZES = (50, 100, 200, 400, 800, 1600)


@dataclass(frozen=True, eq=False)
class CompactFunctions:
    """``y(x) = sum_j a_j k(x, d_j) + b`` over the members ``d_j`` of a dictionary."""

    _shapes: ClassVar = {"members": "m ...", "coefficients": "m r", "origin": "r"}
    kernel: PairwiseKernel
    members: Any  # (m, n_features)
    coefficients: np.ndarray  # (m, n_components)
    origin: np.ndarray  # (n_components,)

    def transform(self, Y: Any) -> np.ndarray:
        """Return the coordinates (n_new, n_components) of any points."""
        return product_by_rows(BoundPairwise(self.kernel, self.members), Y, self.coefficients) + self.origin


@dataclass(frozen=True, eq=False)
class CompactApproximation:
    """A compact map, its error (see :func:`compact_functions`), and whether that is as small as requested."""

    functions: CompactFunctions
    error: float
    reached: bool

    @property
    def size(self) -> int:
        """Number of members of the dictionary."""
        return n_points(self.functions.members)


def compact_functions(
    X: Any, coordinates: np.ndarray, kernel: PairwiseKernel | None, size: int | None, n_jobs: int | None
) -> CompactApproximation:
    """Approximate the map from ``X`` to ``coordinates`` (n, p) by functions of few rows of ``X``.

    The functions are kernels around the rows chosen by pivots of a Cholesky factorisation (those that the
    rows before explain least), fitted to all rows by ridge regression with a leave-one-out choice of the
    regularisation. The kernel is the given one or the Gaussian with the least error. The error is the root
    mean square of leave-one-out residuals, relative to the spread of the coordinates. If ``size`` is None,
    the dictionary doubles until the error is below 1 %, falls by less than a fifth, or half of the rows are
    members.
    """
    X = as_float64(X)
    candidates = evenly_spaced(n_points(X), 5000)  # to choose the kernel and the dictionary from
    n = len(candidates)
    sizes = [step for step in SIZES if step == SIZES[0] or 2 * step <= n] if size is None else [size]
    best: tuple[float, PairwiseKernel, np.ndarray] | None = None
    for count in sizes:
        trial = _best_kernel(X[candidates], coordinates[candidates], kernel, min(count, n), n_jobs)
        if best is not None and count > 200 and trial[0] > 0.8 * best[0]:
            break
        best = trial if best is None or trial[0] < best[0] else best
        if best[0] <= TUNING.compact_error:
            break
    assert best is not None
    _, chosen, members = best
    ridge = KernelRidge(coordinates, X, n_jobs=n_jobs, kernel=chosen, centers=candidates[members])
    error = leave_one_out_error(ridge)
    functions = CompactFunctions(*ridge.expansion())
    return CompactApproximation(functions, error, size is not None or error <= TUNING.compact_error)


def _best_kernel(
    X: Any, coordinates: np.ndarray, kernel: PairwiseKernel | None, count: int, n_jobs: int | None
) -> tuple[float, PairwiseKernel, np.ndarray]:
    """Return the error, the kernel and the members of the best dictionary of ``count`` rows."""
    trials = []
    for candidate in _candidate_kernels(X, kernel):
        members = _pivots(candidate, X, count)
        ridge = KernelRidge(coordinates, X, n_jobs=n_jobs, kernel=candidate, centers=members)
        trials.append((leave_one_out_error(ridge), candidate, members))
    return min(trials, key=lambda trial: trial[0])


def _candidate_kernels(X: Any, kernel: PairwiseKernel | None) -> Iterator[PairwiseKernel]:
    """Yield the given kernel, if any, and Gaussian kernels of 2 to 1/8 times the median distance of rows."""
    if kernel is not None:
        yield kernel
    scale = median_distance(X, squared_euclidean)
    yield from (Gaussian(1.0 / (width**2 * scale)) for width in (2.0, 1.0, 0.5, 0.25, 0.125))


def _pivots(kernel: PairwiseKernel, X: Any, count: int) -> np.ndarray:
    """Return the indices of greedy pivots by distances in the feature space of the kernel."""
    squared_norm = kernel.diagonal(X)

    def squared_distances(i: int) -> np.ndarray:
        return np.maximum(squared_norm + squared_norm[i] - 2 * kernel.evaluate(X[i : i + 1], X)[0], 0.0)

    return np.sort(greedy_pivots(squared_distances, n_points(X), count, 0))


def leave_one_out_error(ridge: KernelRidge) -> float:
    """Return the root mean square of leave-one-out residuals, relative to the spread of the values.

    Members of the dictionary are included: the other rows explain them least, and without them the error
    would be underestimated.
    """
    values = ridge.X
    indices = evenly_spaced(len(values), 1000)
    spread = np.sqrt(np.mean(np.square(values - values.mean(axis=0)).sum(axis=1)))
    error = np.sqrt(np.mean(np.square(values[indices] - ridge.reconstruct(indices)).sum(axis=1)))
    return float(error / spread) if spread > 0 else 0.0
