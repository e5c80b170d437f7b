"""Other libraries as estimators: UMAP, tapkee, scanpy and snapatac2, which ``make bench`` installs.

The constructors import the library, so that an absent one raises an ImportError before anything is measured.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np


class UMAP:
    """UMAP with k neighbours besides the point itself, on all cores, which a seed would not allow."""

    def __init__(self, n_neighbors: int, n_components: int = 2) -> None:
        import umap

        self.model = umap.UMAP(n_neighbors=n_neighbors + 1, n_components=n_components, n_jobs=-1)

    def fit(self, X: Any) -> UMAP:
        """Fit and embed the rows."""
        self.model.fit(X)
        self.embedding_ = self.model.embedding_
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the coordinates of new rows."""
        return self.model.transform(X)

    @property
    def graph_(self) -> Any:
        """The graph of the training rows."""
        return self.model.graph_

    def nearest(self, X: Any) -> np.ndarray:
        """Return the training rows that ``transform`` uses for new rows (m, k + 1)."""
        if hasattr(self.model, "_knn_search_index"):
            return self.model._knn_search_index.query(X, self.model.n_neighbors, epsilon=0.12)[0]
        from sklearn.metrics import pairwise_distances  # UMAP computes all distances for few rows

        return np.argsort(pairwise_distances(X, self.model._raw_data), axis=1)[:, : self.model.n_neighbors]


class Tapkee:
    """An embedding by tapkee, which takes columns in double precision and places no new points."""

    def __init__(self, method: str, **params: Any) -> None:
        import tapkee

        self.embed = tapkee.embed
        self.method = method
        self.params = params

    def fit(self, X: Any) -> Tapkee:
        """Embed the rows."""
        columns = np.asfortranarray(np.asarray(X, dtype=np.float64).T)
        self.embedding_ = np.asarray(self.embed(columns, method=self.method, **self.params))
        return self


class ScanpyDiffusionMap:
    """Diffusion map of scanpy or a package with its functions: ``pp.neighbors`` and ``tl.diffmap``."""

    def __init__(self, n_neighbors: int, n_components: int = 2, package: str = "scanpy") -> None:
        import anndata

        self._anndata, self._package = anndata, import_module(package)
        self.n_neighbors = n_neighbors
        self.n_components = n_components

    def fit(self, X: Any) -> ScanpyDiffusionMap:
        """Build the graph and solve; the constant first component is left out."""
        cells = self._anndata.AnnData(np.asarray(X))
        self._package.pp.neighbors(cells, n_neighbors=self.n_neighbors + 1, use_rep="X")
        self._package.tl.diffmap(cells, n_comps=max(3, self.n_components + 1))
        self.embedding_ = cells.obsm["X_diffmap"][:, 1 : self.n_components + 1]
        self.graph_ = cells.obsp["connectivities"]
        self.eigenvalues_ = np.asarray(cells.uns["diffmap_evals"])[1 : self.n_components + 1]
        return self


class SnapSpectral:
    """Spectral embedding of snapatac2 by the cosine similarity, without a weight for features."""

    def __init__(self, n_components: int) -> None:
        import anndata
        import snapatac2

        self._anndata, self._snap = anndata, snapatac2
        self.n_components = n_components

    def fit(self, X: Any) -> SnapSpectral:
        """Embed the rows."""
        from scipy import sparse

        cells = self._anndata.AnnData(sparse.csr_matrix(X))
        values, vectors = self._snap.tl.spectral(
            cells, n_comps=self.n_components, features=None, weighted_by_sd=False, inplace=False
        )
        self.eigenvalues_, self.embedding_ = np.asarray(values), np.asarray(vectors)
        return self
