"""k-means against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans

from eigenscape.methods.clustering import cluster_centers


def blobs(n: int, k: int, d: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) + 4 * rng.standard_normal((k, d))[rng.integers(k, size=n)]


@pytest.mark.parametrize(("n", "k", "d"), [(400, 6, 3), (90, 2, 1), (50, 1, 4), (12, 12, 2)])
def test_as_good_as_scikit_learn(n, k, d):
    X = blobs(n, k, d)
    centers = cluster_centers(X, k, 10, seed=0)
    found = np.square(X[:, None] - centers).sum(axis=2).min(axis=1).sum()
    best = KMeans(k, n_init=10, random_state=0).fit(X).inertia_
    assert found <= best * (1 + 1e-3) + 1e-9


def test_same_result_for_any_number_of_threads():
    X = blobs(300, 5, 4)
    assert_array_equal(cluster_centers(X, 5, 8, 3, n_jobs=1), cluster_centers(X, 5, 8, 3, n_jobs=2))


def test_fewer_distinct_points_than_clusters():
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 5, axis=0)
    centers = cluster_centers(X, 3, 2, seed=0)
    assert_allclose(np.square(X[:, None] - centers).sum(axis=2).min(axis=1), 0)
