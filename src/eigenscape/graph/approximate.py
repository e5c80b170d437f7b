"""Approximate neighbour search for many points of high dimension, with measured recall.

The points are assigned to cells around k-means centres, and a search visits the few cells nearest to the
query (an inverted file). Unlike graph indexes (HNSW), which are built in parallel, it gives the same result
for the same seed and any number of threads. Queries that visit the same cell are compared with its points by
one matrix product. Long rows are searched by their leading principal components, and the candidates found are
compared by their exact distances.

A neighbour is lost if its cell is not visited, or if too many candidates seem nearer by the leading
components. Both are measured for a sample of points whose true neighbours are known, and each has its own
remedy: more cells, and more candidates or components.

See docs/decisions/graph-approximate-search.md.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape._native.loops import rerank, update_smallest
from eigenscape._progress import stage
from eigenscape._threads import parallel_map, run_parallel
from eigenscape._typing import Rows
from eigenscape.exceptions import DataRangeError
from eigenscape.graph.blocks import BlockIndex, of_unit_magnitude, spanning_pairs
from eigenscape.graph.bounds import principal_directions
from eigenscape.graph.inverted_file import Cells, Projection, build_cells, nearest_center
from eigenscape.graph.row_index import RowIndex
from eigenscape.graph.search import RowSearch
from eigenscape.graph.sparse_distances import distance_table, table_of_rows
from eigenscape.graph.tuning import TUNING


class Reach(NamedTuple):
    """Radii of the indexed points, prepared for a search."""

    radii: np.ndarray  # (n,)
    squares: np.ndarray  # (n,) squares of the radii, as Euclidean distances
    #: Norms of the remainders minus the squares, by place in the cells: small for the points whose radius is
    #: large compared with the expected distance, if remainders are uncorrelated.
    offsets: np.ndarray  # (n,)


class ApproximateIndex(RowSearch):
    """Cells of dense rows; ``recall`` is the measured fraction of true neighbours found."""

    X: np.ndarray

    def __init__(self, X: np.ndarray, metric: str, n_jobs: int | None, rows: RowIndex | None = None) -> None:
        self.X = np.ascontiguousarray(X, dtype=np.float32 if X.dtype == np.float32 else np.float64)
        self.metric, self.n_jobs = metric, n_jobs
        if rows is not None and rows.X.shape[0] == len(self.X):  # they are distinct, and hashed already
            self.rows = rows
        self.n_points = len(self.X)
        # Distances are compared in single precision, in units of `_unit`.
        magnitude = int(np.frexp(_largest(self.X))[1])
        self._unit = 1.0 if metric == "cosine" or abs(magnitude) <= TUNING.single_exponent else 2.0**magnitude
        self._rows = self._scaled(self.X)
        with stage("neighbour index"):
            self._origin, self._directions = _leading_directions(self._rows, self._order)
            self._tune()

    @cached_property
    def _order(self) -> np.ndarray:
        """Order (n,) of the rows by which samples are drawn; it does not depend on their unit."""
        return RowIndex(self._rows).order if self.metric == "cosine" else self.rows.order

    def _scaled(self, Y: Rows) -> np.ndarray:
        """Return rows whose Euclidean distances have the same order as the distances of the metric."""
        if self.metric != "cosine":
            self._check_near(np.asarray(Y))
            Y = np.ascontiguousarray(Y, dtype=self.X.dtype)
            return Y if self._unit == 1 else Y / self.X.dtype.type(self._unit)
        # Before it is rounded to single precision, where large rows would be infinite.
        Y = np.ascontiguousarray(of_unit_magnitude(np.asarray(Y)), dtype=self.X.dtype)
        norms = np.linalg.norm(Y, axis=1, keepdims=True)
        return Y / np.where(norms > 0, norms, 1.0)

    def _check_near(self, Y: np.ndarray) -> None:
        """Raise DataRangeError for rows whose squared distances overflow in single precision."""
        limit = self._unit * 2.0 ** (TUNING.single_exponent + 10)
        if _largest(Y) > limit:
            row = int(np.flatnonzero((np.abs(Y) > limit).any(axis=1))[0])
            raise DataRangeError(
                f"row {row} of X has values beyond +-{limit:.2g}, too far from the training points for"
                " approximate neighbours, which are searched in single precision; use search='exact'"
            )

    def _project(self, rows: np.ndarray, order: np.ndarray | None = None) -> Projection:
        """Project rows onto the principal components, in an ``order`` on which rounding errors may depend."""
        n_rows = len(rows)
        if self._directions is None:
            none = np.zeros(n_rows, dtype=np.float32)
            return Projection(np.ascontiguousarray(rows - self._origin, dtype=np.float32), none, none)
        directions = self._directions[:, : self._n_coordinates]
        points = np.empty((n_rows, self._n_coordinates), dtype=np.float32)
        rest, doubt = np.empty(n_rows, dtype=np.float32), np.empty(n_rows, dtype=np.float32)

        def project(block: slice) -> None:
            some = block if order is None else order[block]
            centred = rows[some] - self._origin
            part = centred @ directions
            points[some] = part
            whole = np.einsum("ij,ij->i", centred, centred)
            rest[some] = np.sqrt(np.maximum(whole - np.einsum("ij,ij->i", part, part), 0.0))
            doubt[some] = TUNING.remainder_error * np.sqrt(whole)

        run_parallel(project, row_blocks(n_rows, rows.itemsize * rows.shape[1], 2**20), self.n_jobs)
        return Projection(points, rest, doubt)

    @cached_property
    def _points(self) -> Projection:
        """The projections of all points."""
        return self._project(self._rows, self._order)

    @cached_property
    def _cells(self) -> Cells:
        """The cells of all points; built anew in a loaded model, as compiled code must not trust a file."""
        n_cells = min(int(np.clip(2 * self.n_points**0.5, 16, 4096)), self.n_points)
        return build_cells(self._points.points, self._order, n_cells, self.n_jobs)

    def _use_components(self, count: int) -> None:
        """Set the number of components, for which cells are built anew."""
        self._n_coordinates = count
        for name in ("_points", "_cells"):
            self.__dict__.pop(name, None)

    def _tune(self) -> None:
        """Choose the numbers of components, cells and candidates by the neighbours of a sample."""
        places = np.linspace(0, self.n_points - 1, min(TUNING.recall_points, self.n_points)).astype(np.intp)
        sample = self._order[places]
        k = min(TUNING.recall_neighbors, self.n_points)
        truth = self._true_neighbors(self._rows[sample], k)
        d = self._rows.shape[1]
        choices = [d] if self._directions is None else [c for c in TUNING.components if c < d]
        for count in choices:
            self._use_components(count)
            self._visits = self._visits_needed(sample, truth)
            enough, recall = self._candidates_needed(sample, truth)
            if enough <= TUNING.most_candidates * k and recall >= TUNING.recall:
                break
        self._candidates = enough / k
        self.recall = recall

    def _visits_needed(self, sample: np.ndarray, truth: np.ndarray) -> int:
        """Return the number of cells that contain nearly all true neighbours of the sample."""
        centers = self._cells.centers
        cell = np.empty(self.n_points, dtype=np.intp)
        cell[self._cells.order] = np.repeat(np.arange(len(centers)), np.diff(self._cells.start))
        rough = np.einsum("ij,ij->i", centers, centers) - 2 * (self._points.points[sample] @ centers.T)
        own = np.take_along_axis(rough, cell[truth], axis=1)  # (sample, k)
        ranks = np.sort((rough[:, None, :] < own[:, :, None]).sum(axis=2), axis=None)
        return int(ranks[int(np.ceil(TUNING.cell_recall * len(ranks))) - 1]) + 1

    def _candidates_needed(self, sample: np.ndarray, truth: np.ndarray) -> tuple[int, float]:
        """Return the number of candidates that contain enough true neighbours, and the recall."""
        k = truth.shape[1]
        most = min(2 * TUNING.most_candidates * k, self.n_points)
        found = self._cells.candidates(self._points.points[sample], self._visits, most)[1]
        place = (found[:, None, :] == truth[:, :, None]).argmax(axis=2)
        is_found = np.take_along_axis(found, place, axis=1) == truth
        places = np.sort(np.where(is_found, place, most).ravel())
        needed = places[int(np.ceil(TUNING.recall * len(places))) - 1] + 1
        enough = int(min(max(needed, 2 * k), most))
        return enough, float(np.mean(places < enough))

    def _search(
        self, rows: np.ndarray, queries: Projection, k: int, reach: Reach | None = None
    ) -> tuple[np.ndarray, np.ndarray, list[tuple[np.ndarray, ...]]]:
        """Return exact distances and indices (b, k) of the nearest candidates, and of all within ``reach``.

        The latter are tuples (rows, indexed points, squared distances), for the indexed points that are not
        farther than their own reach. The few rows with fewer than ``k`` candidates are searched exactly.
        """
        wanted = min(int(np.ceil(self._candidates * k)) + 8, self.n_points)
        length, index = np.empty((len(rows), k)), np.empty((len(rows), k), dtype=np.int64)
        counts = np.zeros(len(rows), dtype=np.int64)
        points, cells, ranks = self._points, self._cells, self.ranks
        visits = self._visits
        squares, offsets, others = np.empty(0), None, 0
        if reach is not None:
            squares, offsets = reach.squares, reach.offsets
            visits = int(np.ceil(TUNING.radius_visits * visits))
            others = min(TUNING.radius_candidates, self.n_points)
        own = np.arange(len(rows))
        if len(rows) > TUNING.approximate_queries:
            # Queries of the same cell have candidates in common, which are then in the processor's cache.
            own = np.argsort(nearest_center(queries.points, cells.centers, self.n_jobs), kind="stable")

        def measure(block: slice) -> tuple[np.ndarray, ...]:
            some = own[block]
            near, found = cells.candidates(
                queries.points[some], min(visits, cells.n_cells), wanted, offsets, others
            )
            size = found.size if len(squares) else 0
            row, column, within = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size)
            used = rerank(
                rows, self._rows, some, found, near, wanted, queries.rest, points.rest, queries.doubt,
                points.doubt, squares, ranks, length, index, counts, row, column, within,
            )  # fmt: skip
            return tuple(part[:used].copy() for part in (row, column, within))

        within = [*parallel_map(measure, row_blocks(len(rows), 1, TUNING.approximate_queries), self.n_jobs)]
        short = np.flatnonzero(counts < k)
        if len(short):
            index[short] = self._true_neighbors(rows[short], k)
            length[short] = np.linalg.norm(
                rows[short, None, :].astype(np.float64) - self._rows[index[short]], axis=2
            )
        return length, index, within

    def _true_neighbors(self, queries: np.ndarray, k: int) -> np.ndarray:
        """Return the indices (q, k) of the nearest rows to ``queries``; ties by rank."""
        rows, order = self._rows, self._order
        center = queries.mean(axis=0, dtype=np.float64).astype(rows.dtype)
        points = (queries - center).astype(np.float32)
        more = min(k + 5, len(rows))  # single precision does not tell near ties apart

        def search(part: slice) -> tuple[np.ndarray, np.ndarray]:
            rough = np.full((len(points), more), np.inf)
            place, filled = np.zeros((len(points), more), dtype=np.int64), 0
            for block in row_blocks(part.stop - part.start, 8 * rows.shape[1] + 4 * len(points), 2**21):
                first = part.start + block.start
                some = (rows[order[first : part.start + block.stop]] - center).astype(np.float32, copy=False)
                values = np.einsum("ij,ij->i", some, some) - 2 * (points @ some.T)
                filled = update_smallest(values, first, filled, rough, place)
            return rough, place

        parts = [*parallel_map(search, row_blocks(len(rows), 1, TUNING.compared_rows), self.n_jobs)]
        rough, found = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
        best = np.argsort(rough, axis=1, kind="stable")[:, :more]
        found = order[np.sort(np.take_along_axis(found, best, axis=1), axis=1)]
        exact = np.linalg.norm(rows[found].astype(np.float64) - queries[:, None, :], axis=2)
        return np.take_along_axis(found, np.argsort(exact, axis=1, kind="stable")[:, :k], axis=1)

    def _lengths(self, lengths: np.ndarray) -> np.ndarray:
        """Convert Euclidean distances of the scaled rows to distances of the metric."""
        return lengths**2 / 2 if self.metric == "cosine" else lengths * self._unit  # |u - v|^2 = 2 (1 - cos)

    def nearest(self, Y: Rows, k: int) -> tuple[np.ndarray, np.ndarray]:
        rows = self._scaled(Y)
        length, index, _ = self._search(rows, self._project(rows), k)
        return self._lengths(length), index

    def nearest_all(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        length, index, _ = self._search(self._rows, self._points, k)
        return self._lengths(length), index

    def search_radius(self, Y: Rows, reach: Reach) -> sparse.csr_array:
        _, _, pairs = self._nearest_and_within(Y, 1, reach)
        return distance_table(*pairs, (Y.shape[0], self.n_points))

    def search_edges(self, Y: Rows, k: int, reach: Reach) -> sparse.csr_array:
        length, index, (row, column, near) = self._nearest_and_within(Y, k, reach)
        own = np.arange(index.size) // k
        # Pairs in the order of row and column, and only the first of those that are equal.
        pair, first = np.unique(
            np.concatenate([own, row]) * self.n_points + np.concatenate([index.ravel(), column]),
            return_index=True,
        )
        row, column = np.divmod(pair, self.n_points)
        near = np.concatenate([length.ravel(), near])[first]
        return table_of_rows(np.bincount(row, minlength=Y.shape[0]), column, near, self.n_points)

    def _nearest_and_within(
        self, Y: Rows, k: int, reach: Reach
    ) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Return ``nearest(Y, k)``, and the rows, columns and distances of the pairs within the radii."""
        rows = self._scaled(Y)
        length, index, parts = self._search(rows, self._project(rows), k, reach)
        row, column, squares = (np.concatenate(part) for part in zip(*parts, strict=True))
        near = self._lengths(np.sqrt(squares))
        keep = near <= reach.radii[column]
        return self._lengths(length), index, (row[keep], column[keep], near[keep])

    def prepare(self, radii: np.ndarray) -> Reach:
        reach = np.sqrt(2 * radii) if self.metric == "cosine" else radii / self._unit
        # Slightly more than the radii, to which the distances are compared after rounding.
        squares = (reach * (1 + 1e-12)) ** 2
        offsets = np.square(self._points.rest, dtype=np.float64) - squares
        return Reach(radii, squares, offsets[self._cells.order])

    def shortest_bridges(self, group: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return short edges that connect all groups of points: rows, columns and lengths.

        The closest points of two groups are found approximately: in the leading components, among evenly
        spaced members if there are many, and then by alternating between the groups.
        """
        members = np.flatnonzero(group > 0)
        most = max(TUNING.bridge_distances // self.n_points, 20 * int(group.max()))
        if len(members) > most:
            members = members[np.lexsort((self.ranks[members], group[members]))]
            members = members[np.linspace(0, len(members) - 1, most).astype(np.intp)]
            members = np.union1d(members, np.unique(group, return_index=True)[1][1:])
        leading = BlockIndex(self._points.points, "euclidean", {}, self.n_jobs)
        row, column, _ = spanning_pairs(*leading.closest_between(group, members), self.ranks)
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

    def __getstate__(self) -> dict[str, Any]:
        return {
            name: value for name, value in vars(self).items() if name not in ("_cells", "_points", "_order")
        }


def _largest(Y: np.ndarray) -> float:
    """Return the largest absolute value, without a copy of the rows."""
    return max(float(Y.max(initial=0.0)), -float(Y.min(initial=0.0)))


def _leading_directions(rows: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Compute the mean and the leading principal directions (d, at most 256), from at most 20 000 rows.

    No directions for short rows, which are searched as they are.
    """
    d = rows.shape[1]
    some = rows[order[np.linspace(0, len(rows) - 1, min(len(rows), 20_000)).astype(np.intp)]]
    origin = some.mean(axis=0, dtype=np.float64).astype(rows.dtype)
    if d <= 1.5 * TUNING.components[0]:
        return origin, None
    some = (some - origin).astype(np.float32)
    directions = principal_directions(some, min(TUNING.components[-1], d - 1))
    return origin, directions.astype(rows.dtype)
