"""``pp.neighbors``, and neighbour graphs stored in AnnData objects by it or by scanpy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from eigenscape._parameters import check_choice, check_count
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.graph.neighbors import Neighbors, neighbor_index
from eigenscape.graph.precomputed import PrecomputedIndex
from eigenscape.graph.row_index import RowIndex
from eigenscape.graph.sparse_distances import SHORTEST, transpose, union, without_self
from eigenscape.kernels import neighbor_weights
from eigenscape.kernels.neighbor_weights import NeighborAffinity, WeightRule, edge_weights
from eigenscape.sc._data import Fields, annotates, in_memory, representation

_RUN = "run eigenscape.sc.pp.neighbors or scanpy.pp.neighbors first"


@annotates
def neighbors(
    adata: Any,
    n_neighbors: int = 15,
    n_pcs: int | None = None,
    *,
    use_rep: str | None = None,
    method: Literal["umap", "gauss"] = "umap",
    search: Neighbors = "auto",
    metric: str = "euclidean",
    metric_kwds: Mapping[str, Any] | None = None,
    random_state: int = 0,
    key_added: str | None = None,
    n_jobs: int | None = None,
    copy: bool = False,
) -> Fields:
    """Compute the graph of nearest neighbours, written as ``scanpy.pp.neighbors`` writes it.

    Parameters
    ----------
    adata : AnnData
    n_neighbors : int, default=15
        Number of neighbours of a cell, itself included (as in scanpy).
    n_pcs : int or None, default=None
        Number of columns of the representation. If None, all columns. If 0, ``X`` is used.
    use_rep : str or None, default=None
        Representation of the cells: "X" or a key of ``obsm``. If None, "X_pca" if there are more than 50
        genes, otherwise "X".
    method : {"umap", "gauss"}, default="umap"
        Weights of the edges: fuzzy sets (McInnes et al. 2018), or Gaussians with a width for each cell
        (Haghverdi et al. 2016).
    search : {"auto", "exact", "approximate"} or object, default="auto"
        How neighbours are searched, as for :class:`~eigenscape.options.KNNGraph`. The share of true
        neighbours found is written to ``uns[key]["recall"]``; it is 1 for an exact search.
    metric : str, default="euclidean"
        Metric of scikit-learn.
    metric_kwds : mapping or None, default=None
        Further arguments of the metric.
    random_state : int, default=0
        Recorded; the search does not depend on it.
    key_added : str or None, default=None
        If given, results are in ``uns[key_added]``, ``obsp[key_added + "_distances"]`` and
        ``obsp[key_added + "_connectivities"]``.
    n_jobs : int or None, default=None
        Number of threads.
    copy : bool, default=False
        Whether to return a copy with the results instead of changing ``adata``.

    Returns
    -------
    AnnData or None
        ``uns["neighbors"]`` has the keys and parameters, ``obsp["distances"]`` the distances to the
        ``n_neighbors - 1`` nearest others, ``obsp["connectivities"]`` the symmetric weights.

    Examples
    --------
    >>> import anndata, numpy as np
    >>> from eigenscape import sc
    >>> adata = anndata.AnnData(np.random.default_rng(0).standard_normal((100, 5)))
    >>> sc.pp.neighbors(adata, n_neighbors=10)
    >>> adata.obsp["distances"].nnz
    900
    """
    check_choice("method", method, ("umap", "gauss"))
    check_count("random_state", random_state, minimum=0)
    k = check_count("n_neighbors", n_neighbors, minimum=2)
    if k > adata.n_obs:
        raise ValueError(
            f"n_neighbors={k} (the cell itself included) needs at least {k} cells, got {adata.n_obs}; lower"
            " n_neighbors"
        )
    rows, _ = representation(adata, use_rep, n_pcs)
    index = neighbor_index(rows, metric, dict(metric_kwds or {}) or None, search=search)
    lists = index.nearest_others_graph(k - 1)
    weights = edge_weights(lists, *weight_rule(method, k, lists))
    prefix = f"{key_added}_" if key_added else ""
    names = {"connectivities_key": f"{prefix}connectivities", "distances_key": f"{prefix}distances"}
    params = {"n_neighbors": k, "method": method, "random_state": random_state, "metric": metric}
    optional = {"metric_kwds": dict(metric_kwds or {}) or None, "use_rep": use_rep, "n_pcs": n_pcs}
    graph = {**names, "params": {**params, **optional}, "recall": float(index.recall)}
    # types that scanpy writes: fuzzy weights in single precision, distances of 0 stored as such
    connectivities = sparse.csr_matrix(weights, dtype=np.float32 if method == "umap" else np.float64)
    connectivities.eliminate_zeros()
    lengths = np.where(lists.data <= SHORTEST, 0.0, lists.data)
    distances = sparse.csr_matrix((lengths, lists.indices, lists.indptr), shape=lists.shape)
    obsp = {f"{prefix}connectivities": connectivities, f"{prefix}distances": distances}
    return {"uns": {key_added or "neighbors": graph}, "obsp": obsp}


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
            values = {name: value for name, value in adata.uns.items() if isinstance(value, Mapping)}
            known = [name for name, value in values.items() if "connectivities_key" in value]
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
        return representation(self.adata, self.params.get("use_rep"), self.params.get("n_pcs"))[0]

    def graph(self, rows: Any) -> NeighborGraph:
        """Return the graph with an index of the cells, which finds the neighbours of new ones."""
        metric, options = self.params.get("metric", "euclidean"), self.params.get("metric_kwds")
        index = neighbor_index(rows, str(metric), dict(options or {}) or None)
        lists = self.distances()
        radii = np.maximum.reduceat(lists.data, lists.indptr[:-1])
        edges, k = union(lists, transpose(lists)), self.n_neighbors - 1
        return NeighborGraph(index, index.vertices(), lists, edges, radii, k, np.arange(len(radii)))

    def distinct_graph(self, rows: Any) -> NeighborGraph:
        """Return the graph, or raise ValueError if cells have equal rows, whose paths are ambiguous."""
        graph = self.graph(rows)
        n_distinct = len(RowIndex(rows).distinct()[0])
        if n_distinct < rows.shape[0]:
            raise ValueError(
                f"{rows.shape[0] - n_distinct} cell(s) have the same representation as another one; remove"
                " duplicate cells and compute the neighbours again"
            )
        return graph

    def affinity(self, rows: Any) -> NeighborAffinity:
        """Return the stored weights as a function of any cells."""
        graph = self.graph(rows)
        rule, parameters = weight_rule(self.method, self.n_neighbors, graph.neighbors)
        weights = self.connectivities()
        expected = edge_weights(graph.neighbors, rule, parameters)
        if abs(expected - weights).sum() > 1e-3 * weights.sum():  # scanpy's are in single precision
            raise ValueError(
                f"the connectivities differ from method={self.method!r} applied to the stored distances, so"
                " new cells cannot be weighed in the same way; run eigenscape.sc.pp.neighbors or"
                " scanpy.pp.neighbors with method='umap' or 'gauss'"
            )
        return NeighborAffinity(graph, rule, weights, parameters)


def weight_rule(method: str, n_neighbors: int, lists: sparse.csr_array) -> tuple[WeightRule, np.ndarray]:
    """Return the weights of scanpy's ``method``, "umap" or "gauss", and their parameters for each cell."""
    if method not in ("umap", "gauss"):
        raise ValueError(f"method={method!r} is not known; choose 'umap' or 'gauss'")
    lengths = neighbor_weights.sorted_lists(lists, n_neighbors - 1)
    rule: WeightRule = neighbor_weights.GaussWeights()
    if method == "umap":
        mean = float(lengths.sum() / (lengths.shape[0] * n_neighbors))
        rule = neighbor_weights.FuzzyWeights(n_neighbors, mean)
    return rule, rule.parameters(lengths)
