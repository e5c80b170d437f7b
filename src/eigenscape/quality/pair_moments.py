"""Mean squares over pairs of points, for kernels that are scalar products of few features."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import reduce
from operator import add

import numpy as np


@dataclass(frozen=True, eq=False)
class PairMoments:
    """Sums over points from which the loss over all their pairs follows; the sums of two sets add.

    A point has features ``(c, e)``: ``c`` (r,) along the eigenfunctions, in order, and ``e`` (d,) orthogonal
    to them. Its kernel with another point is ``c.c' + e.e'``. The first ``N`` eigenfunctions give
    ``c_1 c_1' + ... + c_N c_N'``. With ``q`` the features without the first ``N``, the sum of the squared
    errors over all ordered pairs of different points is ``|Q'Q|^2 - sum_i |q_i|^4``: no pair is formed.
    """

    count: int
    kept: np.ndarray  # (r, r) sum of c c'
    cross: np.ndarray  # (r, d) sum of c e'
    rest: np.ndarray  # (d, d) sum of e e'
    fourths: np.ndarray  # (r + 1,) sum of |q|^4 for N = 0, ..., r

    @staticmethod
    def of(c: np.ndarray, e: np.ndarray) -> PairMoments:
        """Return the sums over points of features ``c`` (n, r) and ``e`` (n, d)."""
        squares = np.concatenate([np.square(c), np.square(e).sum(axis=1, keepdims=True)], axis=1)
        tails = np.cumsum(squares[:, ::-1], axis=1)[:, ::-1]  # (n, r + 1): |q|^2 for each N
        return PairMoments(len(c), c.T @ c, c.T @ e, e.T @ e, np.square(tails).sum(axis=0))

    def __add__(self, other: PairMoments) -> PairMoments:
        return PairMoments(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    def mean_squares(self) -> np.ndarray:
        """Return the mean squared error over pairs of different points for ``N = 0, ..., r``, (r + 1,)."""
        n_kept = len(self.kept)
        squares = np.array(
            [
                np.square(self.kept[n:, n:]).sum()
                + 2 * np.square(self.cross[n:]).sum()
                + np.square(self.rest).sum()
                for n in range(n_kept + 1)
            ]
        )
        return np.maximum(squares - self.fourths, 0.0) / n_pairs(self.count)


def add_moments(parts: Iterable[PairMoments]) -> PairMoments:
    """Return the sums over all points of several sets."""
    return reduce(add, parts)


def n_pairs(n: int) -> int:
    """Return the number of ordered pairs of different points; raise ValueError if there is none."""
    if n < 2:
        raise ValueError(
            f"the held-out loss is a mean over pairs of new points, but X has {n}; pass 2 or more"
        )
    return n * (n - 1)
