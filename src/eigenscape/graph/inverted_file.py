"""Inverted-file index: points grouped by k-means in cells; a query searches the nearest cells.

See docs/decisions/graph-approximate-search.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape._native import loops
from eigenscape._threads import run_parallel
from eigenscape.graph.tuning import TUNING


class Projection(NamedTuple):
    """Rows projected on orthonormal directions, in single precision."""

    points: np.ndarray  # (n, c)
    rest: np.ndarray  # (n,) norm of the remainder
    doubt: np.ndarray  # (n,) bound of the rounding error of `rest`


@dataclass(frozen=True, eq=False)
class Cells:
    """Points, stored cell by cell.

    Attributes
    ----------
    centers : ndarray of shape (n_cells, c)
    start : ndarray of shape (n_cells + 1,)
        Place of the first point of each cell.
    order : ndarray of shape (n,)
        Row number of the point at each place.
    points : ndarray of shape (n, c)
        The points, by place.
    sizes : ndarray of shape (n_cells,)
        Largest norm of the points of each cell.
    """

    centers: np.ndarray
    start: np.ndarray
    order: np.ndarray
    points: np.ndarray
    sizes: np.ndarray

    @property
    def n_cells(self) -> int:
        return len(self.centers)

    def candidates(
        self, queries: np.ndarray, visits: int, count: int, offsets: np.ndarray | None = None, others: int = 0
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the ``count`` nearest points in the ``visits`` nearest cells of each query.

        Parameters
        ----------
        queries : ndarray of shape (b, c)
        visits, count : int
        offsets : ndarray of shape (n,), optional
            Offsets of the points, by place.
        others : int
            Number of points with the smallest squared distance plus offset. They follow the nearest points,
            without those that are among them.

        Returns
        -------
        near : ndarray of shape (b, count + others)
            Squared distances; the first ``count`` of a row ascend.
        number : ndarray of shape (b, count + others)
            Row numbers, -1 if there are fewer.
        """
        _set_blas()
        near = np.empty((len(queries), count + others))
        place = np.empty((len(queries), count + others), dtype=np.int64)
        offsets = np.empty(0) if offsets is None else offsets
        loops.find_candidates(
            queries, self.centers, self.start, self.points, self.sizes, offsets, visits, count, near, place
        )
        return near, np.where(place >= 0, self.order[place], -1)


@cache
def _set_blas() -> None:
    """Let the loops multiply matrices with SciPy's BLAS, which is imported when it is first needed."""
    from scipy.linalg import cython_blas

    loops.set_blas(cython_blas.__pyx_capi__["sgemm"])


def build_cells(points: np.ndarray, order: np.ndarray, n_cells: int, n_jobs: int | None) -> Cells:
    """Assign points (n, c) in single precision to ``n_cells`` cells by k-means.

    All is computed in an ``order`` (n,) that does not depend on the row numbers.
    """
    points = points[order]
    centers = _kmeans_centers(points, n_cells, n_jobs)
    cell = nearest_center(points, centers, n_jobs)
    by_cell = np.argsort(cell, kind="stable")
    start = np.searchsorted(cell[by_cell], np.arange(n_cells + 1))
    sizes = np.zeros(n_cells)
    np.maximum.at(sizes, cell, np.linalg.norm(points, axis=1))
    return Cells(centers, start, order[by_cell], points[by_cell], sizes)


def _kmeans_centers(points: np.ndarray, n_cells: int, n_jobs: int | None) -> np.ndarray:
    """Return the centres (n_cells, c) of Lloyd's algorithm on a random sample of the points."""
    rng = np.random.default_rng(0)
    sample = points[np.sort(rng.permutation(len(points))[: TUNING.kmeans_points * n_cells])]
    centers = sample[rng.permutation(len(sample))[:n_cells]]
    for _ in range(TUNING.kmeans_iterations):
        cell = nearest_center(sample, centers, n_jobs)
        members = sparse.csr_array(
            (np.ones(len(cell), dtype=np.float32), (cell, np.arange(len(cell)))), shape=(n_cells, len(cell))
        )
        count = np.diff(members.indptr)
        # A centre without points stays where it is.
        centers = np.where(count[:, None] > 0, members @ sample / np.maximum(count, 1)[:, None], centers)
        centers = centers.astype(np.float32)
    return centers


def nearest_center(points: np.ndarray, centers: np.ndarray, n_jobs: int | None) -> np.ndarray:
    """Return the number of the nearest centre of each point."""
    norms = np.einsum("ij,ij->i", centers, centers)
    cell = np.empty(len(points), dtype=np.intp)

    def assign(block: slice) -> None:
        rough = points[block] @ (-2 * centers.T)
        rough += norms
        np.argmin(rough, axis=1, out=cell[block])

    run_parallel(assign, row_blocks(len(points), 4 * len(centers), 2**20), n_jobs)
    return cell
