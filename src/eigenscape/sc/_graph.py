"""Neighbour graphs stored in AnnData objects, by scanpy or by :func:`eigenscape.sc.pp.neighbors`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._warnings import warn
from eigenscape.exceptions import DisconnectedGraphWarning
from eigenscape.graph.components import component_labels
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.graph.precomputed import PrecomputedIndex
from eigenscape.graph.row_index import RowIndex
from eigenscape.graph.sparse_distances import transpose, union, without_self
from eigenscape.kernels.neighbor_weights import (
    FuzzyWeights,
    GaussWeights,
    NeighborAffinity,
    WeightRule,
    edge_weights,
    sorted_lists,
)
from eigenscape.sc._data import in_memory, representation

_RUN = "run eigenscape.sc.pp.neighbors or scanpy.pp.neighbors first"
#: Mean relative difference between stored weights and their formula (scanpy: single precision).
_SAME_WEIGHTS = 1e-3


@dataclass(frozen=True, eq=False)
class StoredGraph:
    """The neighbour graph of an AnnData object."""

    adata: Any
    key: str | None  # neighbors_key
    settings: Mapping[str, Any]

    @staticmethod
    def of(adata: Any, neighbors_key: str | None, name: str = "adata") -> StoredGraph:
        """Find the graph that ``neighbors_key`` names, by default "neighbors"."""
        key = "neighbors" if neighbors_key is None else neighbors_key
        if key not in adata.uns:
            known = [other for other, value in adata.uns.items() if _is_graph(value)]
            choices = f"choose neighbors_key among {', '.join(map(repr, known))}, or " if known else ""
            raise ValueError(f"{name}.uns has no neighbour graph {key!r}; {choices}{_RUN}")
        if not isinstance(adata.uns[key], Mapping):
            raise ValueError(f"{name}.uns[{key!r}] is not a neighbour graph; {_RUN}")
        return StoredGraph(adata, neighbors_key, adata.uns[key])

    @property
    def params(self) -> Mapping[str, Any]:
        return self.settings.get("params", {})

    @property
    def n_neighbors(self) -> int:
        """Number of neighbours, the cell itself included."""
        return int(self.params["n_neighbors"])

    @property
    def method(self) -> str:
        return str(self.params.get("method", "umap"))

    def _matrix(self, kind: str) -> sparse.csr_array:
        name = str(self.settings.get(f"{kind}_key", kind))
        if name not in self.adata.obsp:
            raise ValueError(f"adata.obsp has no {name!r}, which the neighbour graph refers to; {_RUN}")
        stored = in_memory(self.adata.obsp[name], f"adata.obsp[{name!r}]")
        matrix = sparse.csr_array(stored).astype(np.float64)
        matrix.sum_duplicates()
        if not np.isfinite(matrix.data).all() or (matrix.data < 0).any():
            raise ValueError(f"adata.obsp[{name!r}] has negative or infinite entries or NaN; {_RUN}")
        return matrix

    def connectivities(self) -> sparse.csr_array:
        """Return the weights of the graph, symmetric, without empty rows."""
        weights = self._matrix("connectivities")
        if abs(weights - weights.T).max() > 1e-5 * weights.max():
            raise ValueError(f"the connectivities of the neighbour graph are not symmetric; {_RUN}")
        weights.eliminate_zeros()
        empty = np.flatnonzero(np.diff(weights.indptr) == 0)
        if len(empty):
            raise ValueError(
                f"{len(empty)} cell(s) have no neighbours in the graph, the first is"
                f" {str(self.adata.obs_names[empty[0]])!r}; after cells were removed, {_RUN}"
            )
        return weights

    def distances(self) -> sparse.csr_array:
        """Return the distances of each cell to its ``n_neighbors - 1`` nearest others."""
        lists = without_self(self._matrix("distances"))
        counts, k = np.diff(lists.indptr), self.n_neighbors - 1
        if counts.min() < k:
            fewest = int(np.argmin(counts))
            raise ValueError(
                f"cell {str(self.adata.obs_names[fewest])!r} has {counts[fewest]} of {k} neighbours in the"
                f" graph; after cells were removed, {_RUN}"
            )
        return PrecomputedIndex(lists).nearest_others_graph(k) if counts.max() > k else lists

    def rows(self) -> Any:
        """Return the rows that represent the cells in this graph."""
        use_rep, n_pcs = self.params.get("use_rep"), self.params.get("n_pcs")
        rows, _ = representation(
            self.adata, None if use_rep is None else str(use_rep), None if n_pcs is None else int(n_pcs)
        )
        return rows

    def graph(self, rows: Any, n_jobs: int | None = None) -> NeighborGraph:
        """Return the graph with an index of the cells, which finds the neighbours of new ones."""
        metric, options = self.params.get("metric", "euclidean"), self.params.get("metric_kwds")
        index = neighbor_index(rows, str(metric), dict(options or {}) or None, n_jobs)
        lists = self.distances()
        radii = np.maximum.reduceat(lists.data, lists.indptr[:-1])
        return NeighborGraph(
            index,
            index.vertices(),
            lists,
            union(lists, transpose(lists, n_jobs), n_jobs),
            radii,
            self.n_neighbors - 1,
            np.arange(len(radii)),
        )

    def distinct_graph(self, rows: Any, n_jobs: int | None = None) -> NeighborGraph:
        """Return the graph, or raise ValueError if cells have equal rows, whose paths are ambiguous."""
        graph = self.graph(rows, n_jobs)
        n_distinct = len(RowIndex(rows).distinct()[0])
        if n_distinct < rows.shape[0]:
            raise ValueError(
                f"{rows.shape[0] - n_distinct} cell(s) have the same representation as another one; remove"
                " duplicate cells and compute the neighbours again"
            )
        return graph

    def affinity(self, rows: Any, n_jobs: int | None = None) -> NeighborAffinity:
        """Return the stored weights as a function of any cells."""
        graph = self.graph(rows, n_jobs)
        rule, parameters = weight_rule(self.method, self.n_neighbors, graph.neighbors)
        weights = self.connectivities()
        expected = edge_weights(graph.neighbors, rule, parameters)
        if abs(expected - weights).sum() > _SAME_WEIGHTS * weights.sum():
            raise ValueError(
                f"the connectivities differ from method={self.method!r} applied to the stored distances, so"
                " new cells cannot be weighed in the same way; run eigenscape.sc.pp.neighbors or"
                " scanpy.pp.neighbors with method='umap' or 'gauss'"
            )
        return NeighborAffinity(graph, rule, weights, parameters)


def weight_rule(method: str, n_neighbors: int, lists: sparse.csr_array) -> tuple[WeightRule, np.ndarray]:
    """Return the weights that a method of scanpy names, and the numbers of each cell that they depend on."""
    lengths = sorted_lists(lists, n_neighbors - 1)
    rule: WeightRule
    if method == "umap":
        rule = FuzzyWeights(n_neighbors, float(lengths.sum() / (lengths.shape[0] * n_neighbors)))
    elif method == "gauss":
        rule = GaussWeights()
    else:
        raise ValueError(f"method={method!r} is not known; choose 'umap' or 'gauss'")
    return rule, rule.parameters(lengths)


def warn_if_disconnected(weights: sparse.csr_array) -> None:
    """Warn if the graph has several connected components."""
    count = int(component_labels(weights).max()) + 1
    if count > 1:
        warn(
            f"the neighbour graph has {count} connected components, whose relative positions are not"
            " determined; raise n_neighbors in pp.neighbors to connect them",
            DisconnectedGraphWarning,
        )


def _is_graph(value: Any) -> bool:
    return isinstance(value, Mapping) and "connectivities_key" in value
