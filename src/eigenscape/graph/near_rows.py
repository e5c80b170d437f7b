"""Rows that are recognised in spite of rounding errors, where there is no graph that recognises them."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from eigenscape._typing import Rows
from eigenscape.graph.neighborhood import NeighborGraph, nearest_neighbor_graph
from eigenscape.graph.row_index import RowIndex


class NearRowIndex(RowIndex):
    """Index that finds rows of ``X`` by value, or within the tolerance of a graph of their neighbours.

    Objects are found by value only.
    """

    @cached_property
    def _distinct(self) -> tuple[np.ndarray, NeighborGraph | None]:
        """The first of each group of equal rows, and the graph of the nearest neighbours of these."""
        from eigenscape.graph.neighbors import neighbor_index  # most fits need no search

        first, _ = self.distinct()
        if self.X.ndim == 1 or len(first) == 1:
            return first, None
        return first, nearest_neighbor_graph(neighbor_index(self.X[first]), 1)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_distinct"}

    def find(self, Y: Rows, hashes: np.ndarray | None = None) -> np.ndarray:
        found = super().find(Y, hashes)
        new = np.flatnonzero(found < 0)
        if len(new) == 0:
            return found
        first, graph = self._distinct
        if graph is not None:
            near = graph.find(Y[new])
            found[new] = np.where(near >= 0, first[near], -1)
        return found
