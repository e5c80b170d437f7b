"""Places of new points in spectral embeddings, and their loss, for which scikit-learn has no methods.

The embedding solves ``A z = (1 - s) D z``, ``A`` the affinities without the diagonal and ``D`` their sums. A
new point ``x`` is placed by the same equation, its Nystrom formula (Bengio eq. 20):

    ``z(x) = sum_j a(x, x_j) z_j / ((1 - s) sum_j a(x, x_j))``

It joins the graph by the rule that built it, without changing the neighbours of training points.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.metrics import pairwise_distances

from eigenscape._memory import row_blocks
from eigenscape._threads import single_blas_thread
from eigenscape.accel._loss import Rows, pair_loss
from eigenscape.exceptions import RankError

if TYPE_CHECKING:
    from eigenscape.graph.search import NeighborIndex

#: Eigenvalues ``1 - s`` below this are rounding errors of zero.
_ZERO = 1e-9


def place(Y: np.ndarray, X: np.ndarray, affinities: Any, A: Any, Z: np.ndarray) -> np.ndarray:
    """Return the coordinates (n_new, r) of the points ``Y``; training points get rows of ``Z``.

    Parameters
    ----------
    Y : ndarray of shape (n_new, n_features)
    X : ndarray of shape (n, n_features)
        Training points.
    affinities : callable
        Returns the affinities (b, n) of some new points.
    A : ndarray or sparse matrix of shape (n, n)
        Affinities of the training points.
    Z : ndarray of shape (n, r)
        Their coordinates.
    """
    from eigenscape.graph.row_index import RowIndex

    out = np.empty((len(Y), Z.shape[1]))
    train = RowIndex(X).find(Y)
    known, new = np.flatnonzero(train >= 0), np.flatnonzero(train < 0)
    out[known] = Z[train[known]]
    values = _eigenvalues(A, Z)
    if len(new) and (np.abs(values) < _ZERO).any():
        raise RankError(
            "an eigenvalue of the affinities is zero, so its coordinate has no value at new points; lower"
            " n_components"
        )
    for block in row_blocks(len(new), 16.0 * len(X)):
        rows = affinities(Y[new[block]])
        sums = np.asarray(rows.sum(axis=1)).ravel()
        weighted = (rows @ Z) / values
        out[new[block]] = np.divide(
            weighted, sums[:, None], out=np.zeros_like(weighted), where=sums[:, None] > 0
        )
    return out


def _eigenvalues(A: Any, Z: np.ndarray) -> np.ndarray:
    """Return ``1 - s`` of each column: Rayleigh quotients of the affinities without their diagonal."""
    products = np.asarray(A @ Z) - A.diagonal()[:, None] * Z
    return (Z * products).sum(axis=0) / (_degrees(A)[:, None] * Z**2).sum(axis=0)


def _degrees(A: Any) -> np.ndarray:
    """Return the sums (n,) of the affinities of each point without its own."""
    return np.asarray(A.sum(axis=0)).ravel() - A.diagonal()


@dataclass(frozen=True, eq=False)
class KernelAffinities:
    """Affinities of new points by a function of two sets of rows."""

    rows: np.ndarray
    function: Callable[[np.ndarray, np.ndarray], np.ndarray]

    def __call__(self, Y: np.ndarray) -> np.ndarray:
        return self.function(Y, self.rows)

    def between(self, Y: np.ndarray) -> Rows:
        """Return the affinities (b, n_new) of a block of new points and all of them."""
        return lambda block: self.function(Y[block], Y)


@dataclass(frozen=True, eq=False)
class NeighborAffinities:
    """Affinities of new points in a graph of ``k`` neighbours, each point being the first of its own.

    An edge has weight 1/2 for each of its ends that is among the nearest neighbours of the other.
    """

    index: NeighborIndex
    radii: np.ndarray  # (n,) distance of each training point to the last of its neighbours
    k: int

    @staticmethod
    def of(rows: np.ndarray, k: int, n_jobs: int | None) -> NeighborAffinities:
        from eigenscape.graph.neighbors import neighbor_index

        index = neighbor_index(rows, n_jobs=n_jobs, neighbors="exact")
        with single_blas_thread():
            return NeighborAffinities(index, index.nearest(rows, k)[0][:, -1], k)

    def __call__(self, Y: np.ndarray) -> sparse.csr_array:
        with single_blas_thread():
            near = self.index.nearest_graph(Y, max(self.k - 1, 1))
            within = self.index.radius_graph(Y, self.radii)
        for graph in (near, within):
            graph.data[:] = 0.5
        return sparse.csr_array(near + within)

    def between(self, Y: np.ndarray) -> Rows:
        """Return the affinities (b, n_new) of a block of new points and all of them."""
        with single_blas_thread():
            reach = self.index.nearest(Y, max(self.k - 1, 1))[0][:, -1]

        def rows(block: slice) -> np.ndarray:
            distances = pairwise_distances(Y[block], Y)
            return 0.5 * (distances <= reach[block, None]) + 0.5 * (distances <= reach)

        return rows


def training_loss(A: Any, Z: np.ndarray) -> float:
    """Return the loss of the divided affinities (Bengio eq. 11) on all pairs of training points.

    ``Z`` (n, r) are the solutions ``z`` with ``z' D z = 1``, the constant one included.
    """
    degrees = _degrees(A)
    root = np.sqrt(np.where(degrees > 0, degrees, 1.0))
    divided = sparse.csr_array(A)
    divided = sparse.csr_array(divided.multiply(1 / root[:, None]).multiply(1 / root))
    divided.setdiag(0.0)
    kept = np.square(_eigenvalues(A, Z)).sum()
    return max(float(np.square(divided.data).sum() - kept), 0.0) / len(Z) ** 2


def new_loss(Y: np.ndarray, X: np.ndarray, affinities: Any, A: Any, Z: np.ndarray) -> float:
    """Return the loss of the divided affinities on pairs of two different new points ``Y``."""
    blocks = row_blocks(len(Y), 16.0 * len(X))
    sums = np.concatenate([np.asarray(affinities(Y[rows]).sum(axis=1)).ravel() for rows in blocks])
    root = np.sqrt(np.where(sums > 0, sums, 1.0))
    functions = place(Y, X, affinities, A, Z) * root[:, None]
    between = affinities.between(Y)
    return pair_loss(
        lambda block: between(block) / root[block, None] / root,
        functions * _eigenvalues(A, Z),
        functions,
        training=False,
    )


def with_constant(A: Any, Z: np.ndarray) -> np.ndarray:
    """Return the solutions with the constant one, which an embedding does not contain, first."""
    return np.column_stack([np.full(len(Z), 1 / np.sqrt(_degrees(A).sum())), Z])


def training_rows(X: Any) -> np.ndarray | None:
    """Return training points to keep for :func:`place`: rows in double precision, or None if sparse.

    They are copied: the array may change after the fit.
    """
    return None if sparse.issparse(X) else np.array(X, dtype=np.float64)


def require_rows(rows: np.ndarray | None) -> np.ndarray:
    """Return the training points, or raise ValueError if they were sparse."""
    if rows is None:
        raise ValueError(
            "new points can be placed only if the training data are dense rows, not sparse or precomputed"
        )
    return rows
