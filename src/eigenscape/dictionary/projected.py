"""A kernel bound to landmarks, with all points projected on some of its eigenfunctions.

See docs/decisions/dictionary-anchors.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenscape._display import short_repr
from eigenscape._typing import Rows
from eigenscape.kernels.base import BoundKernel, Columns, n_points, product


@dataclass(frozen=True, eq=False)
class ProjectedKernel:
    """``p(x) . p(y)`` with features ``p(x) = T' k(x) - E[p]``, as a bound kernel of rank ``p``.

    ``k(x)`` are the values of a kernel between ``x`` and the landmarks. The columns of ``T`` are eigenvectors
    of its Gram matrix with positive eigenvalues, divided by their roots, so that ``T' k(x)`` are coordinates
    of the projection of ``x`` on the span of landmarks (Ouimet sec. 3). The mean is over all training points.
    """

    base: BoundKernel  # bound to the landmarks (q)
    directions: np.ndarray  # T (q, p)
    mean: np.ndarray  # E[p] (p,)
    X: Any  # all training points

    __repr__ = short_repr

    @property
    def n_train(self) -> int:
        return n_points(self.X)

    @property
    def size(self) -> int:
        """Number of points to which kernel values are computed for the features of a point."""
        return len(self.directions)

    def __call__(self, Y: Rows) -> np.ndarray:
        return self.features(Y) @ self.features(self.X).T

    def to(self, Z: Rows) -> Columns:
        right = self.features(Z).T
        return lambda Y, table=None: self.features(Y) @ right  # noqa: ARG005

    def features(self, Y: Rows) -> np.ndarray:
        """Return the features (n_new, p); the kernel is their inner product."""
        return product(self.base, Y, self.directions) - self.mean

    def product(self, Y: Rows, w: np.ndarray) -> np.ndarray:
        """Return ``features(Y) @ w`` (n_new, r)."""
        return product(self.base, Y, self.directions @ w) - self.mean @ w
