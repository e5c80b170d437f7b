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
