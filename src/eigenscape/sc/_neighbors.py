"""``pp.neighbors``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from scipy import sparse

from eigenscape._parameters import check_choice, check_count
from eigenscape._threads import kept_threads
from eigenscape.graph.neighbors import Neighbors, neighbor_index
from eigenscape.graph.sparse_distances import SHORTEST
from eigenscape.kernels.neighbor_weights import edge_weights
from eigenscape.sc._data import check_writable, output, representation
from eigenscape.sc._graph import weight_rule


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
) -> Any:
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
    check_writable(adata, copy)
    check_choice("method", method, ("umap", "gauss"))
    check_count("random_state", random_state, minimum=0)
    k = check_count("n_neighbors", n_neighbors, minimum=2)
    if k > adata.n_obs:
        raise ValueError(
            f"n_neighbors={k} (the cell itself included) needs at least {k} cells, got {adata.n_obs}; lower"
            " n_neighbors"
        )
    rows, _ = representation(adata, use_rep, n_pcs)
    with kept_threads(n_jobs):
        index = neighbor_index(rows, metric, dict(metric_kwds or {}) or None, n_jobs, search)
        lists = index.nearest_others_graph(k - 1)
        rule, parameters = weight_rule(method, k, lists)
        weights = edge_weights(lists, rule, parameters)
    key = "neighbors" if key_added is None else key_added
    prefix = "" if key_added is None else f"{key_added}_"
    params: dict[str, Any] = {
        "n_neighbors": k,
        "method": method,
        "random_state": random_state,
        "metric": metric,
    }
    optional = {"metric_kwds": dict(metric_kwds) if metric_kwds else None, "use_rep": use_rep, "n_pcs": n_pcs}
    params.update({name: value for name, value in optional.items() if value is not None})
    adata = output(adata, copy)
    adata.uns[key] = {
        "connectivities_key": f"{prefix}connectivities",
        "distances_key": f"{prefix}distances",
        "params": params,
        "recall": float(index.recall),
    }
    adata.obsp[f"{prefix}distances"] = _distance_matrix(lists)
    adata.obsp[f"{prefix}connectivities"] = _weight_matrix(weights, method)
    return adata if copy else None


def _distance_matrix(lists: sparse.csr_array) -> sparse.csr_matrix:
    """Return distances in the type that scanpy writes, distances of 0 stored as such."""
    data = np.where(lists.data <= SHORTEST, 0.0, lists.data)
    return sparse.csr_matrix((data, lists.indices, lists.indptr), shape=lists.shape)


def _weight_matrix(weights: sparse.csr_array, method: str) -> sparse.csr_matrix:
    """Return weights in the types that scanpy writes: fuzzy ones in single precision."""
    matrix = sparse.csr_matrix(weights, dtype=np.float32 if method == "umap" else np.float64)
    matrix.eliminate_zeros()
    return matrix
