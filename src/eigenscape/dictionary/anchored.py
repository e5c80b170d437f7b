"""Functions that are linear in the weights of a point on its nearest anchors.

See docs/decisions/dictionary-anchors.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._display import short_repr
from eigenscape._memory import row_blocks
from eigenscape._typing import Rows
from eigenscape.exceptions import UndefinedKernelError
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.graph.search import NeighborIndex
from eigenscape.kernels.base import Columns, n_points
from eigenscape.solvers import EigenPairs


@dataclass(frozen=True, eq=False)
class AnchorWeights:
    """Weights ``a(x)`` of sum 1 of any point on its nearest anchors, sparse.

    They are ``(1 - d^2 / d_s^2)^2`` divided by their sum, with ``d_s`` the distance of the farthest anchor
    used: not negative, and continuous in ``x``.
    """

    anchors: np.ndarray  # (m, n_features)
    n_jobs: int | None = None

    __repr__ = short_repr

    @cached_property
    def _index(self) -> NeighborIndex:
        return neighbor_index(self.anchors, n_jobs=self.n_jobs, search="exact")

    def __call__(self, Y: Rows) -> sparse.csr_array:
        """Return the weights (n_new, m)."""
        Y, m = np.asarray(Y, dtype=np.float64), len(self.anchors)
        # A surface has about six anchors around a point; the last of the other weights is zero.
        count = min(8, m)
        lengths, nearest = self._index.nearest(Y, count)
        order = np.argsort(nearest, axis=1)
        entries = (
            np.take_along_axis(lengths, order, axis=1).ravel(),
            np.take_along_axis(nearest, order, axis=1).ravel(),
            np.arange(0, count * len(Y) + 1, count),
        )
        neighbors = sparse.csr_array(entries, shape=(len(Y), m))
        squares = np.square(neighbors.data).reshape(len(Y), count)
        largest = squares.max(axis=1, keepdims=True, initial=0.0)
        shares = np.divide(squares, largest, out=np.zeros_like(squares), where=largest > 0)
        values = np.square(1.0 - shares)
        total = values.sum(axis=1, keepdims=True)  # zero if all anchors are at the same distance
        values = np.where(total > 0, values / np.where(total > 0, total, 1.0), 1.0 / count)
        return sparse.csr_array((values.ravel(), neighbors.indices, neighbors.indptr), shape=neighbors.shape)

    def product(self, Y: Rows, U: np.ndarray) -> np.ndarray:
        """Return ``a(Y) @ U`` (n_new, r), by blocks of rows."""
        blocks = row_blocks(n_points(Y), 64 * 8)
        parts = [self(Y[rows]) @ U for rows in blocks]
        return np.concatenate(parts) if parts else np.zeros((0, U.shape[1]))


@dataclass(frozen=True, eq=False)
class AnchoredKernel:
    """``a(x)' H a(y)``: the operator of a graph, restricted to functions that are linear in the weights."""

    weights: AnchorWeights
    inner: np.ndarray  # H (m, m)
    X: Any  # training points

    __repr__ = short_repr

    def __call__(self, Y: Rows) -> np.ndarray:
        return self.weights(Y) @ self.inner @ self.weights(self.X).T

    def to(self, Z: Rows) -> Columns:
        raise UndefinedKernelError(
            "a kernel approximated by anchors has no information on pairs of new points beyond its own"
            " eigenfunctions, so that their error would consist of the components left out; use loss() of the"
            " training points, or quality.perturbation_stability for new points"
        )


@dataclass(frozen=True, eq=False)
class AnchoredEigenfunctions:
    """``f_r(x) = sqrt(M) a(x) . u_r`` with ``A'KA u = l A'DA u``, ``u'A'DAu = 1`` and ``M`` the sum of ``D``.

    ``D`` are the degrees of the training points. With ``H = Q^-1 A'KA Q^-1`` and ``Q = A'DA`` it is the
    Nystrom formula (Bengio eq. 20) of the kernel ``a(x)' H a(y)`` under that measure, written without the
    sum over training points.
    """

    kernel: AnchoredKernel
    pairs: EigenPairs  # vectors are the u_r (m, r)
    on_training: np.ndarray  # (n, r)
    mass: float
    squares: float  # sum of the squares of all eigenvalues

    __repr__ = short_repr

    @property
    def n_train(self) -> int:
        return n_points(self.kernel.X)

    def __call__(self, Y: Rows) -> np.ndarray:
        return np.sqrt(self.mass) * self.kernel.weights.product(Y, self.pairs.vectors)

    def training_loss(self) -> float:
        """Return the mean squared error of the expansion over all pairs of training points."""
        return max(self.squares - float(np.square(self.pairs.values).sum()), 0.0) / self.mass**2
