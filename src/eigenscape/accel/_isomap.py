"""scikit-learn's Isomap with neighbours, shortest paths and eigenvectors from eigenscape."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from sklearn.manifold._isomap import Isomap as _Isomap
from sklearn.utils.validation import check_is_fitted

from eigenscape._memory import row_blocks
from eigenscape.accel._kernel_pca import KernelPCA
from eigenscape.accel._neighbors import kneighbors_graph, radius_neighbors_graph
from eigenscape.accel._rebind import method
from eigenscape.accel._record import UnsupportedProblemError, recorded, replaces


@replaces("shortest paths", csgraph.shortest_path)
def _shortest_path(graph: Any, method: Any = "auto", directed: bool = False) -> np.ndarray:  # noqa: ARG001
    """Return ``scipy.sparse.csgraph.shortest_path`` of an undirected graph, for any ``method``."""
    if directed or not sparse.issparse(graph):
        raise UnsupportedProblemError("directed or dense graph")
    from eigenscape.graph.geodesics import geodesics

    return geodesics(_undirected(graph))


def _undirected(graph: Any) -> sparse.csr_array:
    """Return the graph with each edge in both directions; of two lengths the shorter is kept."""
    edges = sparse.coo_array(graph)
    row, column = np.concatenate([edges.row, edges.col]), np.concatenate([edges.col, edges.row])
    length = np.concatenate([edges.data, edges.data]).astype(np.float64)
    order = np.argsort(length, kind="stable")
    _, first = np.unique((graph.shape[0] * row.astype(np.int64) + column)[order], return_index=True)
    kept = order[first]
    kept = kept[row[kept] != column[kept]]
    return sparse.csr_array((length[kept], (row[kept], column[kept])), shape=graph.shape)


class Isomap(_Isomap):
    """:class:`sklearn.manifold.Isomap`, computed by eigenscape."""

    _fit_transform = method(
        "Isomap.fit",
        _Isomap._fit_transform,
        kneighbors_graph=kneighbors_graph,
        radius_neighbors_graph=radius_neighbors_graph,
        shortest_path=_shortest_path,
        KernelPCA=KernelPCA,
    )

    @recorded("Isomap.transform")
    @replaces("paths of new points", _Isomap.transform)
    def transform(self, X: Any) -> Any:
        """Transform X, as :meth:`sklearn.manifold.Isomap.transform`, in blocks of rows.

        The paths of each new point are continued from its neighbours, without a matrix for all new points.
        """
        check_is_fitted(self)
        m = self.nbrs_.n_samples_fit_
        if self.dist_matrix_.dtype != np.float64 or getattr(X, "dtype", None) == np.float32:
            raise UnsupportedProblemError("float32")
        from eigenscape.graph.geodesics import extend_geodesics, half_squares

        nearest = self.n_neighbors is not None
        search = self.nbrs_.kneighbors_graph if nearest else self.nbrs_.radius_neighbors_graph
        entries = sparse.csr_array(search(X, mode="distance"))  # (n_new, m)
        parts = []
        for rows in row_blocks(entries.shape[0], 24.0 * m):
            lengths = extend_geodesics(entries[rows], self.dist_matrix_)
            parts.append(self.kernel_pca_.transform(half_squares(lengths)))
        return np.concatenate(parts)
