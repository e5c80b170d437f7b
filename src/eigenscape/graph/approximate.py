"""Approximate neighbour search for many points of high dimension, with measured recall.

The index consists of faiss's inverted lists: the points are assigned to cells around k-means centres, and a
search visits the few cells nearest to the query. Unlike graph indexes (HNSW), which are built in parallel, it
gives the same result for the same seed and any number of threads. Long rows are searched by their first 64
principal components. The candidates are then compared by their exact distances, in double precision.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from scipy import linalg, sparse

from eigenscape._extras import optional_import
from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape._typing import Rows
from eigenscape.graph.blocks import BlockIndex
from eigenscape.graph.search import RadiusQuery, RowSearch
from eigenscape.graph.sparse_distances import distance_table

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The number of visited cells is raised until this fraction of a sample's true neighbours is found.
RECALL = 0.99
_SAMPLE = 300
_REDUCED = 64
#: Candidates per wanted neighbour, and number of neighbours for which the recall is measured.
_CANDIDATES, _NEIGHBORS = 4, 10
#: Number of nearest training points among which a radius search selects those whose radius is large enough.
_RADIUS_CANDIDATES = 100


class ApproximateIndex(RowSearch):
    """Inverted lists over dense rows; ``recall`` is the measured fraction of true neighbours found."""

    X: np.ndarray

    def __init__(self, X: np.ndarray, metric: str, n_jobs: int | None) -> None:
        self.X = np.ascontiguousarray(X, dtype=np.float64)
        self.metric, self.n_jobs = metric, n_jobs
        self.n_points = len(self.X)
        self._rows = self._scaled(self.X)
        with stage("neighbour index"):
            self._origin, self._directions = _principal_directions(self._rows)
            self._lists = self._build()
            self.recall = self._tune()

    def _scaled(self, Y: Rows) -> np.ndarray:
        """Return rows whose Euclidean distances have the same order as those of the metric."""
        Y = np.ascontiguousarray(Y, dtype=np.float64)
        if self.metric != "cosine":
            return Y
        norms = np.linalg.norm(Y, axis=1, keepdims=True)
        return Y / np.where(norms > 0, norms, 1.0)

    def _reduced(self, rows: np.ndarray) -> np.ndarray:
        """Project rows onto the principal components."""
        return np.ascontiguousarray((rows - self._origin) @ self._directions, dtype=np.float32)

    def _build(self) -> Any:
        """Build faiss's inverted lists."""
        faiss = _faiss()
        rows = self._reduced(self._rows)
        n_cells = int(np.clip(2 * self.n_points**0.5, 16, 4096))
        lists = faiss.IndexIVFFlat(faiss.IndexFlatL2(rows.shape[1]), rows.shape[1], n_cells)
        lists.cp.niter, lists.cp.seed = 8, 0
        lists.cp.min_points_per_centroid, lists.cp.max_points_per_centroid = 1, 64
        with self._threads():
            lists.train(rows)
            lists.add(rows)
        return lists

    def _tune(self) -> float:
        """Raise the number of visited cells until the recall suffices; return the recall."""
        sample = np.linspace(0, self.n_points - 1, min(_SAMPLE, self.n_points)).astype(np.intp)
        k = min(_NEIGHBORS, self.n_points)
        truth = BlockIndex(self._rows, "euclidean", {}, self.n_jobs).nearest(self._rows[sample], k)[0][:, -1]
        self._lists.nprobe = 4
        while True:
            length, _ = self._search(self._rows[sample], k)
            recall = float(np.mean(length <= truth[:, None] * (1 + 1e-9)))
            if recall >= RECALL or self._lists.nprobe >= self._lists.nlist:
                return recall
            self._lists.nprobe = min(2 * self._lists.nprobe, self._lists.nlist)

    def _search(self, rows: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Return exact Euclidean distances and indices of the nearest candidates.

        The few rows with less than ``k`` candidates are searched exactly.
        """
        from eigenscape._compiled.select import rerank

        wanted = min(_CANDIDATES * k + 8, self.n_points)
        length, index = np.empty((len(rows), k)), np.empty((len(rows), k), dtype=np.intp)
        counts = np.zeros(len(rows), dtype=np.int64)

        def measure(block: slice) -> None:
            candidates = np.sort(proposed[block], axis=1)
            counts[block] = rerank(rows[block], self._rows, candidates, length[block], index[block])

        with self._threads():
            _, proposed = self._lists.search(self._reduced(rows), wanted)
        blocks = row_blocks(len(rows), 8 * rows.shape[1] * wanted)
        joblib.Parallel(n_jobs=self.n_jobs, prefer="threads")(
            joblib.delayed(measure)(block) for block in blocks
        )
        short = np.flatnonzero(counts < k)
        if len(short):
            exact = BlockIndex(self._rows, "euclidean", {}, self.n_jobs)
            length[short], index[short] = exact.nearest(rows[short], k)
        return length, index

    def nearest(self, Y: Rows, k: int) -> tuple[np.ndarray, np.ndarray]:
        length, index = self._search(self._scaled(Y), k)
        return (length**2 / 2 if self.metric == "cosine" else length), index  # |u - v|^2 = 2 (1 - cos)

    def search_radius(self, Y: Rows, radii: np.ndarray) -> sparse.csr_array:
        length, index = self.nearest(Y, min(_RADIUS_CANDIDATES, self.n_points))
        row, place = np.nonzero(length <= radii[index])
        return distance_table(row, index[row, place], length[row, place], (len(length), self.n_points))

    def radius_query(self, radii: np.ndarray) -> RadiusQuery:
        return RadiusQuery(self, radii)

    def subset(self, which: np.ndarray) -> ApproximateIndex:
        return ApproximateIndex(self.X[which], self.metric, self.n_jobs)

    def _threads(self) -> AbstractContextManager[None]:
        return _limit_threads(joblib.effective_n_jobs(self.n_jobs))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lists": self._lists.nprobe}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the index; the lists are rebuilt rather than parsed from untrusted bytes by C++ code."""
        n_cells = state.pop("_lists")
        self.__dict__.update(state)
        self._lists = self._build()
        self._lists.nprobe = n_cells


def _faiss() -> Any:
    return optional_import("faiss", "approximate neighbour search")


@contextmanager
def _limit_threads(count: int) -> Iterator[None]:
    """Set faiss's number of threads within a block."""
    faiss = _faiss()
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(count)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def _principal_directions(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the mean and the leading principal directions (d, at most 64), from at most 20 000 rows."""
    d = rows.shape[1]
    if d <= 1.5 * _REDUCED:
        return np.zeros(d), np.eye(d)
    some = rows[np.linspace(0, len(rows) - 1, min(len(rows), 20_000)).astype(np.intp)]
    origin = some.mean(axis=0)
    some = some - origin
    _, directions = linalg.eigh(some.T @ some, subset_by_index=(d - _REDUCED, d - 1))
    return origin, directions
