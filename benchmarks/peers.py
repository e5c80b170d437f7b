"""Reference estimators that are composed of parts of a library or measure the speed of the machine."""

from __future__ import annotations

from typing import Any

import numpy as np


class MatrixProducts:
    """Matrix products with the operations of a dictionary of ``m`` members, ``2 n m^2 + 2 n m d``."""

    def __init__(self, m: int, size: int = 2048) -> None:
        self.m = m
        self.size = size

    def fit(self, X: Any) -> MatrixProducts:
        """Multiply square matrices until the number of operations is reached."""
        n, d = X.shape
        left = np.random.default_rng(0).standard_normal((self.size, self.size))
        out = np.empty_like(left)
        for _ in range(max(1, round(2 * n * self.m * (self.m + d) / (2 * self.size**3)))):
            np.matmul(left, left, out=out)
        return self


class NystroemPCA:
    """Approximate kernel PCA with ``m`` random landmarks: scikit-learn's ``Nystroem`` followed by ``PCA``."""

    def __init__(self, m: int, gamma: float, n_components: int) -> None:
        self.m = m
        self.gamma = gamma
        self.n_components = n_components

    def fit(self, X: Any) -> NystroemPCA:
        """Fit the pipeline and embed the training points."""
        from sklearn.decomposition import PCA
        from sklearn.kernel_approximation import Nystroem
        from sklearn.pipeline import make_pipeline

        features = Nystroem(
            kernel="rbf", gamma=self.gamma, n_components=min(self.m, len(X)), random_state=0, n_jobs=-1
        )
        self.pipeline_ = make_pipeline(features, PCA(self.n_components, random_state=0))
        self.embedding_ = self.pipeline_.fit_transform(X)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the coordinates of points."""
        return self.pipeline_.transform(X)


class NeighborSearch:
    """Neighbour search by SciPy's k-d tree, as a reference: k neighbours of each point besides itself."""

    def __init__(self, n_neighbors: int) -> None:
        self.n_neighbors = n_neighbors

    def fit(self, X: Any) -> NeighborSearch:
        """Build the tree and search the neighbours of all points, on all cores."""
        from scipy.spatial import KDTree

        self.neighbors_ = KDTree(X).query(X, k=self.n_neighbors + 1, workers=-1)[1]
        return self


class FlatSearch:
    """Exact neighbour search by faiss (``IndexFlatL2``): k neighbours of each point besides itself."""

    def __init__(self, n_neighbors: int) -> None:
        import faiss

        self.n_neighbors = n_neighbors
        self._faiss = faiss

    def fit(self, X: Any) -> FlatSearch:
        """Search the neighbours of all points, on all cores."""
        rows = np.ascontiguousarray(X, dtype=np.float32)
        index = self._faiss.IndexFlatL2(rows.shape[1])
        index.add(rows)
        self.neighbors_ = index.search(rows, self.n_neighbors + 1)[1]
        return self


class PCAWithEmbedding:
    """PCA of scikit-learn with the embedding of the training rows, which eigenscape's ``fit`` computes."""

    def __init__(self, **params: Any) -> None:
        self.params = params

    def fit(self, X: Any) -> PCAWithEmbedding:
        """Fit and transform."""
        from sklearn.decomposition import PCA

        self.model_ = PCA(**self.params)
        self.embedding_ = self.model_.fit_transform(X)
        self.components_ = self.model_.components_
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Return the coordinates of points."""
        return self.model_.transform(X)


class ChainedImputer:
    """Imputer of scikit-learn by regression of each feature on the others."""

    def __init__(self, **params: Any) -> None:
        self.params = params

    def fit(self, X: Any) -> ChainedImputer:
        """Fit and impute."""
        from sklearn.experimental import enable_iterative_imputer  # noqa: F401
        from sklearn.impute import IterativeImputer

        self.filled_ = IterativeImputer(**self.params).fit_transform(X)
        return self


class ClusteringOfPCA:
    """PCA of scikit-learn and k-means of its coordinates, for comparison with spectral clustering."""

    def __init__(self, n_clusters: int) -> None:
        self.n_clusters = n_clusters

    def fit(self, X: Any) -> ClusteringOfPCA:
        """Fit both, with as many coordinates as clusters."""
        from sklearn.cluster import KMeans
        from sklearn.decomposition import PCA

        self.embedding_ = PCA(self.n_clusters, random_state=0).fit_transform(X)
        self.labels_ = KMeans(self.n_clusters, n_init=10, random_state=0).fit_predict(self.embedding_)
        return self
