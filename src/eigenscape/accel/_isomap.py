"""scikit-learn's Isomap with neighbours, shortest paths and eigenvectors from eigenscape."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.manifold._isomap import Isomap as _Isomap
from sklearn.utils.validation import check_is_fitted

from eigenscape._memory import row_blocks
from eigenscape.accel._kernel_pca import KernelPCA
from eigenscape.accel._neighbors import kneighbors_graph, radius_neighbors_graph
from eigenscape.accel._paths import shortest_path
from eigenscape.accel._rebind import rebound
from eigenscape.accel._record import left, ran_here, recorded
from eigenscape.accel._settings import FEW, is_few
from eigenscape.graph.geodesics import extend_geodesics

_fit_transform = rebound(
    _Isomap._fit_transform,
    kneighbors_graph=kneighbors_graph,
    radius_neighbors_graph=radius_neighbors_graph,
    shortest_path=shortest_path,
    KernelPCA=KernelPCA,
)


class Isomap(_Isomap):
    """:class:`sklearn.manifold.Isomap`, computed by eigenscape; same parameters and attributes."""

    def _fit_transform(self, X: Any) -> None:
        with recorded("Isomap.fit"):
            _fit_transform(self, X)

    def transform(self, X: Any) -> Any:
        """Transform X, as :meth:`sklearn.manifold.Isomap.transform`, in blocks of rows."""
        check_is_fitted(self)
        with recorded("Isomap.transform"):
            if is_few(self.nbrs_.n_samples_fit_, compiled=True):
                left("paths of new points", FEW)
                return super().transform(X)
            if self.dist_matrix_.dtype != np.float64 or getattr(X, "dtype", None) == np.float32:
                left("paths of new points", "float32")
                return super().transform(X)
            return self._transform_in_blocks(X)

    def _transform_in_blocks(self, X: Any) -> np.ndarray:
        """Continue the paths from the neighbours of each new point, without a matrix for all new points."""
        entries = self._entry_edges(X)
        m = self.nbrs_.n_samples_fit_
        parts = []
        for rows in row_blocks(entries.shape[0], 24.0 * m):
            lengths = extend_geodesics(entries[rows], self.dist_matrix_)
            np.square(lengths, out=lengths)
            lengths *= -0.5
            parts.append(self.kernel_pca_.transform(lengths))
        ran_here("paths of new points")
        return np.concatenate(parts)

    def _entry_edges(self, X: Any) -> sparse.csr_array:
        """Return the distances (n_new, n_samples) to the neighbours of each new point."""
        if self.n_neighbors is not None:
            distances, indices = self.nbrs_.kneighbors(X)
        else:
            distances, indices = self.nbrs_.radius_neighbors(X)
        ends = np.concatenate([[0], np.cumsum([len(row) for row in indices])])
        shape = len(indices), self.nbrs_.n_samples_fit_
        return sparse.csr_array((np.concatenate(distances), np.concatenate(indices), ends), shape=shape)
