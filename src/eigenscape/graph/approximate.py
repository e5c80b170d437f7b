"""Approximate neighbour search for many points of high dimension, with measured recall.

The index consists of faiss's inverted lists: the points are assigned to cells around k-means centres, and a
search visits the few cells nearest to the query. Unlike graph indexes (HNSW), which are built in parallel, it
gives the same result for the same seed and any number of threads. Long rows are searched by their leading
principal components, and the candidates found are compared by their exact distances.

A neighbour is lost if its cell is not visited, or if too many candidates are nearer in the leading
components. Both are measured for a sample of points whose true neighbours are known, and each has its own
remedy: more cells, and more candidates or components.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg, sparse

from eigenscape._extras import optional_import
from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape._threads import n_threads, parallel_map, run_parallel
from eigenscape._typing import Rows
from eigenscape.graph.blocks import BlockIndex, spanning_pairs
from eigenscape.graph.search import RadiusQuery, RowSearch
from eigenscape.graph.sparse_distances import distance_table, neighbor_table

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The index is tuned until this fraction of a sample's true neighbours is found.
RECALL = 0.99
_SAMPLE, _NEIGHBORS = 400, 10
#: Fraction of the neighbours whose cells must be visited.
_CELL_RECALL = 0.997
#: Numbers of principal components that are tried, and candidates per neighbour above which more are tried.
_COMPONENTS = (64, 128, 256)
_MOST_CANDIDATES = 20
#: Number of nearest training points among which a radius search selects those whose radius is large enough.
_RADIUS_CANDIDATES = 100
#: Number of distances between components that are computed to find the shortest edges between them.
_BRIDGE_DISTANCES = 4 * 10**8


class ApproximateIndex(RowSearch):
    """Inverted lists over dense rows; ``recall`` is the measured fraction of true neighbours found."""

    X: np.ndarray

    def __init__(self, X: np.ndarray, metric: str, n_jobs: int | None) -> None:
        self.X = np.ascontiguousarray(X, dtype=np.float32 if X.dtype == np.float32 else np.float64)
        self.metric, self.n_jobs = metric, n_jobs
        self.n_points = len(self.X)
        self._rows = self._scaled(self.X)
        with stage("neighbour index"):
            self._origin, self._directions = _principal_directions(self._rows)
            self._tune()

    def _scaled(self, Y: Rows) -> np.ndarray:
        """Return rows whose Euclidean distances have the same order as those of the metric."""
        Y = np.ascontiguousarray(Y, dtype=self.X.dtype)
        if self.metric != "cosine":
            return Y
        norms = np.linalg.norm(Y, axis=1, keepdims=True)
        return Y / np.where(norms > 0, norms, 1.0)

    def _reduced(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Project rows onto the principal components; return the norms of the remainders too."""
        if self._directions is None:
            return np.ascontiguousarray(rows, dtype=np.float32), np.zeros(len(rows), dtype=np.float32)
        directions = self._directions[:, : self._n_coordinates]
        reduced = np.empty((len(rows), self._n_coordinates), dtype=np.float32)
        rest = np.empty(len(rows), dtype=np.float32)

        def project(block: slice) -> None:
            centred = rows[block] - self._origin
            part = centred @ directions
            reduced[block] = part
            squares = np.einsum("ij,ij->i", centred, centred) - np.einsum("ij,ij->i", part, part)
            rest[block] = np.sqrt(np.maximum(squares, 0.0))

        run_parallel(project, row_blocks(len(rows), 16 * rows.shape[1], 2**23), self.n_jobs)
        return reduced, rest

    def _build(self) -> None:
        """Build faiss's inverted lists."""
        faiss = _faiss()
        rows, self._rest = self._reduced(self._rows)
        n_cells = int(np.clip(2 * self.n_points**0.5, 16, 4096))
        n_cells = min(n_cells, self.n_points)
        lists = faiss.IndexIVFFlat(faiss.IndexFlatL2(rows.shape[1]), rows.shape[1], n_cells)
        lists.cp.niter, lists.cp.seed = 8, 0
        lists.cp.min_points_per_centroid, lists.cp.max_points_per_centroid = 1, 64
        with self._threads():
            lists.train(rows)
            lists.add(rows)
        self._lists = lists

    def _tune(self) -> None:
        """Choose the numbers of components, cells and candidates by the neighbours of a sample."""
        sample = np.linspace(0, self.n_points - 1, min(_SAMPLE, self.n_points)).astype(np.intp)
        k = min(_NEIGHBORS, self.n_points)
        truth = _true_neighbors(self._rows, sample, k, self.n_jobs)
        d = self._rows.shape[1]
        choices = [d] if self._directions is None else [c for c in _COMPONENTS if c < d]
        for self._n_coordinates in choices:
            self._build()
            queries = self._reduced(self._rows[sample])[0]
            self._lists.nprobe = self._cells_needed(queries, truth)
            enough, recall = self._candidates_needed(queries, truth)
            if enough <= _MOST_CANDIDATES * k and recall >= RECALL:
                break
        self._candidates = enough / k
        self.recall = recall

    def _cells_needed(self, queries: np.ndarray, truth: np.ndarray) -> int:
        """Return the number of cells that contain nearly all true neighbours of the queries."""
        lists = self._lists
        home = lists.quantizer.search(self._reduced(self._rows[truth.ravel()])[0], 1)[1].reshape(truth.shape)
        order = lists.quantizer.search(queries, lists.nlist)[1]
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.arange(lists.nlist)[None, :], axis=1)
        ranks = np.sort(np.take_along_axis(rank, home, axis=1).ravel())
        return int(ranks[int(np.ceil(_CELL_RECALL * len(ranks))) - 1]) + 1

    def _candidates_needed(self, queries: np.ndarray, truth: np.ndarray) -> tuple[int, float]:
        """Return the number of candidates that contain enough true neighbours, and the recall."""
        k = truth.shape[1]
        most = min(2 * _MOST_CANDIDATES * k, self.n_points)
        with self._threads():
            found = self._lists.search(queries, most)[1]
        place = (found[:, None, :] == truth[:, :, None]).argmax(axis=2)
        is_found = np.take_along_axis(found, place, axis=1) == truth
        places = np.sort(np.where(is_found, place, most).ravel())
        needed = places[int(np.ceil(RECALL * len(places))) - 1] + 1
        enough = int(min(max(needed, 2 * k), most))
        return enough, float(np.mean(places < enough))

    def _search(
        self, rows: np.ndarray, k: int, wanted: int, radii: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return exact distances and indices of the ``k`` nearest candidates, and of all candidates.

        Distances of candidates that are certainly farther than the ``k`` nearest, and than their own radius,
        are not computed and are infinite. The few rows with fewer than ``k`` candidates are searched exactly.
        """
        from eigenscape._compiled.select import rerank

        wanted = min(max(wanted, k), self.n_points)
        length, index = np.empty((len(rows), k)), np.empty((len(rows), k), dtype=np.intp)
        exact = np.full((len(rows), wanted), np.inf)
        counts = np.zeros(len(rows), dtype=np.int64)
        reach = np.zeros(1) if radii is None else radii**2
        reduced, rest = self._reduced(rows)
        with self._threads():
            near, proposed = self._lists.search(reduced, wanted)
            # Queries of the same cell have candidates in common, which are then in the processor's cache.
            order = np.argsort(self._lists.quantizer.search(reduced, 1)[1][:, 0], kind="stable")

        def measure(block: slice) -> None:
            rerank(
                rows, self._rows, order[block], proposed, near, rest, self._rest, reach, length, index, exact,
                counts,
            )  # fmt: skip

        run_parallel(measure, row_blocks(len(rows), 1, 256), self.n_jobs)
        short = np.flatnonzero(counts < k)
        if len(short):
            index[short] = _true_neighbors(self._rows, rows[short], k, self.n_jobs)
            length[short] = np.linalg.norm(
                rows[short, None, :].astype(np.float64) - self._rows[index[short]], axis=2
            )
        return length, index, exact, proposed

    def _wanted(self, k: int) -> int:
        return int(np.ceil(self._candidates * k)) + 8

    def _lengths(self, lengths: np.ndarray) -> np.ndarray:
        """Convert Euclidean distances of the scaled rows to distances of the metric."""
        return lengths**2 / 2 if self.metric == "cosine" else lengths  # |u - v|^2 = 2 (1 - cos)

    def nearest(self, Y: Rows, k: int) -> tuple[np.ndarray, np.ndarray]:
        length, index, _, _ = self._search(self._scaled(Y), k, self._wanted(k))
        return self._lengths(length), index

    def search_radius(self, Y: Rows, radii: np.ndarray) -> sparse.csr_array:
        return self.search_both(Y, 1, radii)[1]

    def search_both(self, Y: Rows, k: int, radii: np.ndarray) -> tuple[sparse.csr_array, sparse.csr_array]:
        wanted = max(self._wanted(k), _RADIUS_CANDIDATES)
        reach = np.sqrt(2 * radii) if self.metric == "cosine" else radii
        length, index, exact, proposed = self._search(self._scaled(Y), k, wanted, reach)
        exact = self._lengths(exact)
        row, place = np.nonzero((proposed >= 0) & (exact <= radii[proposed]))
        within = distance_table(row, proposed[row, place], exact[row, place], (len(length), self.n_points))
        return neighbor_table(self._lengths(length), index, self.n_points), within

    def radius_query(self, radii: np.ndarray) -> RadiusQuery:
        return RadiusQuery(self, radii)

    def shortest_bridges(self, group: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return short edges that connect all groups of points: rows, columns and lengths.

        The closest points of two groups are found approximately: in the leading components, among evenly
        spaced members if there are many, and then by alternating between the groups.
        """
        members = np.flatnonzero(group > 0)
        most = max(_BRIDGE_DISTANCES // self.n_points, 20 * int(group.max()))
        if len(members) > most:
            members = members[np.argsort(group[members], kind="stable")]
            members = members[np.linspace(0, len(members) - 1, most).astype(np.intp)]
            members = np.union1d(members, np.unique(group, return_index=True)[1][1:])
        leading = BlockIndex(self._reduced(self._rows)[0], "euclidean", {}, self.n_jobs)
        row, column, _ = spanning_pairs(*leading.closest_pairs(group, members))
        ends = [self._descend(group, int(i), int(j)) for i, j in zip(row, column, strict=True)]
        row, column = np.array(ends).T
        difference = self._rows[row].astype(np.float64) - self._rows[column]
        return row, column, self._lengths(np.linalg.norm(difference, axis=1))

    def _descend(self, group: np.ndarray, i: int, j: int) -> tuple[int, int]:
        """Replace the ends of an edge in turn by the point of the same group nearest to the other end."""
        sides = np.flatnonzero(group == group[i]), np.flatnonzero(group == group[j])
        ends = [i, j]
        for _ in range(6):
            before = tuple(ends)
            for side in (1, 0):
                offset = self._rows[sides[side]] - self._rows[ends[1 - side]]
                ends[side] = int(sides[side][np.argmin(np.einsum("ij,ij->i", offset, offset))])
            if tuple(ends) == before:
                break
        return ends[0], ends[1]

    def subset(self, which: np.ndarray) -> ApproximateIndex:
        return ApproximateIndex(self.X[which], self.metric, self.n_jobs)

    def over(self, Z: Rows) -> BlockIndex:
        """Return an exact index: new points are few compared with the training points."""
        return BlockIndex(Z, self.metric, {}, self.n_jobs)

    def _threads(self) -> AbstractContextManager[None]:
        return _limit_threads(n_threads(self.n_jobs))

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lists": self._lists.nprobe, "_rest": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the index; the lists are rebuilt rather than parsed from untrusted bytes by C++ code."""
        n_cells = state.pop("_lists")
        self.__dict__.update(state)
        self._build()
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


def _principal_directions(rows: np.ndarray) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Compute the mean and the leading principal directions (d, at most 256), from at most 20 000 rows.

    None for short rows, which are searched as they are.
    """
    d = rows.shape[1]
    if d <= 1.5 * _COMPONENTS[0]:
        return None, None
    some = rows[np.linspace(0, len(rows) - 1, min(len(rows), 20_000)).astype(np.intp)]
    origin = some.mean(axis=0, dtype=np.float64).astype(rows.dtype)
    some = (some - origin).astype(np.float32)
    most = min(_COMPONENTS[-1], d - 1)
    _, directions = linalg.eigh((some.T @ some).astype(np.float64), subset_by_index=(d - most, d - 1))
    return origin, np.ascontiguousarray(directions[:, ::-1].astype(rows.dtype))


def _true_neighbors(rows: np.ndarray, queries: np.ndarray, k: int, n_jobs: int | None) -> np.ndarray:
    """Return the indices (q, k) of the nearest rows to ``queries``, which are rows or their indices."""
    points = (rows[queries] if queries.ndim == 1 else queries).astype(np.float32)
    center = points.mean(axis=0)
    points = points - center

    def search(block: slice) -> tuple[np.ndarray, np.ndarray]:
        some = rows[block].astype(np.float32) - center
        rough = np.einsum("ij,ij->i", some, some) - 2 * (points @ some.T)
        best = np.argpartition(rough, min(more, rough.shape[1]) - 1, axis=1)[:, :more]
        return np.take_along_axis(rough, best, axis=1), best + block.start

    more = k + 5  # single precision does not tell near ties apart
    parts = [*parallel_map(search, row_blocks(len(rows), 8 * rows.shape[1] + 8 * len(points)), n_jobs)]
    rough, found = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
    best = np.argpartition(rough, min(more, rough.shape[1]) - 1, axis=1)[:, :more]
    found = np.sort(np.take_along_axis(found, best, axis=1), axis=1)
    exact = np.linalg.norm(
        rows[found].astype(np.float64) - (rows[queries] if queries.ndim == 1 else queries)[:, None, :], axis=2
    )
    return np.take_along_axis(found, np.argsort(exact, axis=1, kind="stable")[:, :k], axis=1)
