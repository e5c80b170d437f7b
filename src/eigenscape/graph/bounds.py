"""Lower bounds of the Euclidean distances between dense rows, by matrix products in single precision.

With orthonormal directions ``Q`` and the length ``r(x)`` of the remainder of a row,

    ``|x - y|^2 >= |Q'x - Q'y|^2 + (r(x) - r(y))^2``,

which is the squared distance of ``(Q'x, r(x))`` and ``(Q'y, r(y))``. A few principal directions of images and
other correlated features leave little more than the true neighbours as candidates, at a tenth of the
operations. Without directions the bound is the squared distance itself.
"""

from __future__ import annotations

import numpy as np

from eigenscape._memory import row_blocks
from eigenscape._threads import run_parallel
from eigenscape.graph.tuning import TUNING


class DistanceBounds:
    """Lower bounds of the squared distances to the rows ``X`` (n, d)."""

    def __init__(self, X: np.ndarray, n_jobs: int | None = None) -> None:
        n, d = X.shape
        # Subtract the mean to avoid cancellation: products of vectors far from the origin lose precision.
        self._origin = X.mean(axis=0, dtype=np.float64)
        self._directions = None
        if n >= TUNING.least_rows and d >= TUNING.least_features:
            self._directions = _choose_directions(X[:: -(-n // TUNING.direction_rows)] - self._origin, n)
        #: Whether all pairs are best computed at once: a symmetric product has half the operations.
        self.at_once = n < TUNING.least_rows and d >= TUNING.least_features
        #: Number of rows of a block; bounds are selected from while they are in the processor's cache.
        self.block_rows = max(TUNING.least_block, TUNING.cached_bounds // n)
        width = d if self._directions is None else self._directions.shape[1] + 1
        self.norms, right = np.empty(n), np.empty((n, width + 1))

        def prepare(rows: slice) -> None:
            right[rows, :-1], self.norms[rows] = self._reduce(X[rows])
            right[rows, -1] = self.norms[rows]

        run_parallel(prepare, row_blocks(n, 8 * d, TUNING.bound_bytes), n_jobs)
        # Single precision suffices to select candidates, at twice the speed, unless it would overflow.
        self._largest = self.norms.max()
        self._precision = np.float32 if 1e-30 < self._largest < 1e30 else np.float64
        self._right = right.astype(self._precision, copy=False)
        #: Relative error of a product, to which the slack is proportional.
        self._error = 8 * np.finfo(self._precision).eps * (width + 1) ** 0.5

    def __call__(
        self, Y: np.ndarray, columns: slice = slice(None)
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return ``rough`` (b, n), ``base`` (b,) and ``slack`` (b,) for any rows ``Y`` (b, d).

        ``rough + base`` is a lower bound of the squared distances, with an error of at most ``slack``.
        """
        return self._multiply(*self._reduce(Y), columns)

    def between(
        self, rows: slice | np.ndarray, columns: slice = slice(None)
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the same for rows of ``X``."""
        return self._multiply(self._right[rows, :-1], self.norms[rows], columns)

    def all_pairs(self, n_jobs: int | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the same for all rows of ``X``; ``rough`` (n, n) is symmetric."""
        n = len(self.norms)
        rough = np.empty((n, n), dtype=self._precision)
        right = np.column_stack([self._right, np.ones(n, dtype=self._precision)])
        left = right * self._precision(-2)
        left[:, -2], left[:, -1] = 1, self._right[:, -1]

        def multiply(start: int) -> None:
            rows, later = slice(start, start + TUNING.bound_tile), slice(start + TUNING.bound_tile, n)
            rough[rows, start:] = left[rows] @ right[start:].T
            rough[later, rows] = rough[rows, later].T

        run_parallel(multiply, range(0, n, TUNING.bound_tile), n_jobs)
        return rough, np.zeros(n), self._error * (self.norms + self._largest)

    def _multiply(
        self, reduced: np.ndarray, base: np.ndarray, columns: slice
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        # Rows far away would overflow in single precision; all points are then candidates, by the slack.
        precision = self._precision if base.max(initial=0.0) < 1e30 else np.float64
        left = np.empty((len(reduced), self._right.shape[1]), dtype=precision)
        np.multiply(reduced, -2, out=left[:, :-1], casting="same_kind")
        left[:, -1] = 1
        return left @ self._right[columns].T, base, self._error * (base + self._largest)

    def subset(self, order: np.ndarray) -> DistanceBounds:
        """Return the bounds for the rows ``X[order]``."""
        other = object.__new__(DistanceBounds)
        vars(other).update(vars(self), norms=self.norms[order], _right=self._right[order])
        return other

    def _reduce(self, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return shorter rows, no farther apart than the rows of ``X``, and the squared norms of ``X``."""
        centred = X - self._origin
        norms = squared_norms(centred)
        if self._directions is None:
            return centred, norms
        leading = centred @ self._directions
        return _with_rest(leading, norms), norms


def _choose_directions(sample: np.ndarray, n_points: int) -> np.ndarray | None:
    """Return the directions (d, q) that make a search of ``n_points`` points fastest, or None if none do.

    They are judged by the number of rows of the sample that they leave as candidates.
    """
    d = sample.shape[1]
    size = max(float(np.abs(sample).max()), np.finfo(np.float64).tiny)
    sample = (sample / size).astype(np.float32)  # directions do not depend on the scale
    directions = principal_directions(sample, TUNING.directions[-1])
    norms, leading = squared_norms(sample), sample @ directions.astype(np.float32)
    queries = slice(None, None, -(-len(sample) // TUNING.direction_queries))
    k = max(1, round(TUNING.direction_neighbors * len(sample) / n_points))
    kth = np.partition(_squared_differences(sample[queries], sample), k, axis=1)[:, k, None]
    best, chosen = 0.8 * d, None
    for q in TUNING.directions:
        reduced = _with_rest(leading[:, :q], norms)
        cost = q + TUNING.candidate_cost * d * float(
            (_squared_differences(reduced[queries], reduced) <= kth).mean()
        )
        if cost < best:
            best, chosen = cost, directions[:, :q]
    return chosen


def _with_rest(leading: np.ndarray, norms: np.ndarray) -> np.ndarray:
    """Return ``(Q'x, r(x))`` of each row, given ``Q'x`` and ``|x|^2``."""
    return np.column_stack([leading, np.sqrt(np.maximum(norms - squared_norms(leading), 0.0))])


def principal_directions(rows: np.ndarray, count: int) -> np.ndarray:
    """Return nearly principal directions (d, count), orthonormal, by one step of a randomised iteration."""
    start = np.random.default_rng(0).standard_normal((rows.shape[1], count), dtype=np.float32)
    basis, _ = np.linalg.qr((rows.T @ (rows @ start)).astype(np.float64))
    image = rows @ basis.astype(np.float32)
    _, rotation = np.linalg.eigh((image.T @ image).astype(np.float64))
    return np.ascontiguousarray(basis @ rotation[:, ::-1])


def squared_norms(X: np.ndarray) -> np.ndarray:
    """Return ``|x|^2`` of each row."""
    return np.einsum("ij,ij->i", X, X)


def _squared_differences(Y: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return ``|y - x|^2`` of all pairs, with the rounding errors of a matrix product."""
    return squared_norms(Y)[:, None] + squared_norms(X) - 2 * (Y @ X.T)
