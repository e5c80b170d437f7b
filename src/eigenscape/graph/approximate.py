"""Approximate neighbour search for many points of high dimension, with its recall measured.

faiss's inverted lists: the points are sorted into cells around k-means centres, and a search looks at the few
cells nearest to it. Of the indexes that need no compiler this one gives the same answer for the same seed and
any number of threads, which graphs of nearest neighbours (HNSW), built in parallel, do not. Long rows are
searched by their 64 principal coordinates first. What the search proposes is measured exactly, in double
precision and all coordinates."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
from scipy import linalg, sparse

from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape.graph.blocks import BlockIndex
from eigenscape.graph.precomputed import RadiusQuery
from eigenscape.graph.row_index import RowIndex
from eigenscape.graph.sparse_distances import distance_table, neighbor_table, other_neighbors_table

#: More cells are searched until this share of a sample's true neighbours is found.
RECALL = 0.99
_SAMPLE = 300
_REDUCED = 64
#: Candidates for each neighbour wanted, and the neighbours for which the recall is measured.
_CANDIDATES, _NEIGHBORS = 4, 10
#: Of this many nearest training points those are taken whose own neighbourhood a new point falls into.
_REACH = 100


class ApproximateIndex:
    """Inverted lists over dense rows; ``recall`` is the measured share of true neighbours found."""

    known_symmetric = True

    def __init__(self, X: np.ndarray, metric: str, n_jobs: int | None) -> None:
        self.X = np.ascontiguousarray(X, dtype=np.float64)
        self.metric, self.n_jobs = metric, n_jobs
        self.n_points = len(self.X)
        self._rows = self._scaled(self.X)
        with stage("neighbour index"):
            self._origin, self._directions = _principal_directions(self._rows)
            self._lists = self._build()
            self.recall = self._tune()

    def _scaled(self, Y: Any) -> np.ndarray:
        """Rows whose Euclidean distances order neighbours as the metric does."""
        Y = np.ascontiguousarray(Y, dtype=np.float64)
        if self.metric != "cosine":
            return Y
        norms = np.linalg.norm(Y, axis=1, keepdims=True)
        return Y / np.where(norms > 0, norms, 1.0)

    def _reduced(self, rows: np.ndarray) -> np.ndarray:
        return np.ascontiguousarray((rows - self._origin) @ self._directions, dtype=np.float32)

    def _build(self) -> Any:
        import faiss

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
        """Search more cells until the sample's true neighbours are found."""
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
        """Euclidean distances and numbers of the nearest found, measured exactly; the few rows short of ``k``
        are searched in full."""
        from eigenscape._compiled.select import rerank

        wanted = min(_CANDIDATES * k + 8, self.n_points)
        length, number = np.empty((len(rows), k)), np.empty((len(rows), k), dtype=np.intp)
        found = np.zeros(len(rows), dtype=np.int64)

        def measure(block: slice) -> None:
            candidates = np.sort(proposed[block], axis=1)
            found[block] = rerank(rows[block], self._rows, candidates, length[block], number[block])

        with self._threads():
            _, proposed = self._lists.search(self._reduced(rows), wanted)
        blocks = row_blocks(len(rows), 8 * rows.shape[1] * wanted)
        joblib.Parallel(n_jobs=self.n_jobs, prefer="threads")(
            joblib.delayed(measure)(block) for block in blocks
        )
        short = np.flatnonzero(found < k)
        if len(short):
            length[short], number[short] = BlockIndex(self._rows, "euclidean", {}, self.n_jobs).nearest(
                rows[short], k
            )
        return length, number

    def nearest(self, Y: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        length, number = self._search(self._scaled(Y), k)
        return (length**2 / 2 if self.metric == "cosine" else length), number  # |u - v|^2 = 2 (1 - cos)

    def nearest_graph(self, Y: Any, k: int) -> sparse.csr_array:
        return neighbor_table(*self.nearest(Y, k), self.n_points)

    def nearest_others_graph(self, k: int) -> sparse.csr_array:
        return other_neighbors_table(*self.nearest(self.X, k + 1))

    def radius_graph(self, Y: Any, radii: np.ndarray) -> sparse.csr_array:
        """Those among the nearest found whose radius reaches the query."""
        length, number = self.nearest(Y, min(_REACH, self.n_points))
        row, place = np.nonzero(length <= radii[number])
        return distance_table(row, number[row, place], length[row, place], (len(length), self.n_points))

    def radius_query(self, radii: np.ndarray) -> RadiusQuery:
        return RadiusQuery(self, radii)

    def vertices(self) -> RowIndex:
        return RowIndex(self.X)

    def points(self, which: np.ndarray) -> np.ndarray:
        return self.X[which]

    def subset(self, which: np.ndarray) -> ApproximateIndex:
        return ApproximateIndex(self.X[which], self.metric, self.n_jobs)

    def restrict(self, Y: Any, which: np.ndarray) -> Any:
        return Y

    def _threads(self) -> Any:
        import faiss

        return _Threads(faiss, joblib.effective_n_jobs(self.n_jobs))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lists": self._lists.nprobe}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """The lists are made again, and are the same: a parser of foreign bytes in C++ is none to trust a
        file to."""
        n_cells = state.pop("_lists")
        self.__dict__.update(state)
        self._lists = self._build()
        self._lists.nprobe = n_cells


class _Threads:
    """Sets faiss's number of threads for a while."""

    def __init__(self, faiss: Any, count: int) -> None:
        self._faiss, self._count = faiss, count

    def __enter__(self) -> None:
        self._before = self._faiss.omp_get_max_threads()
        self._faiss.omp_set_num_threads(self._count)

    def __exit__(self, *error: object) -> None:
        self._faiss.omp_set_num_threads(self._before)


def _principal_directions(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The mean and the leading directions (d, at most 64) of the rows, from at most 20 000 of them."""
    d = rows.shape[1]
    if d <= 1.5 * _REDUCED:
        return np.zeros(d), np.eye(d)
    some = rows[np.linspace(0, len(rows) - 1, min(len(rows), 20_000)).astype(np.intp)]
    origin = some.mean(axis=0)
    some = some - origin
    _, directions = linalg.eigh(some.T @ some, subset_by_index=(d - _REDUCED, d - 1))
    return origin, directions
