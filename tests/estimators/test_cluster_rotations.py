"""``assign_labels="discretize"`` and ``"cluster_qr"``, and ``n_components`` of spectral clustering."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.cluster._spectral import cluster_qr, discretize
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import adjusted_rand_score

from eigenscape import SpectralClustering
from eigenscape.methods.clustering import discretizing_rotation, pivoted_rotation

pytestmark = pytest.mark.filterwarnings("ignore:the graph has 4 connected components")

BLOBS, TRUTH = make_blobs(240, centers=4, n_features=3, cluster_std=0.8, random_state=1)
DIGITS = load_digits().data[:300]


@pytest.fixture(scope="module")
def vectors() -> np.ndarray:
    model = SpectralClustering(6, n_neighbors=12).fit(DIGITS)
    return np.linalg.qr(model._model_.eigenfunctions.on_training)[0]


def test_pivots_give_the_labels_of_scikit_learn(vectors: np.ndarray) -> None:
    R = pivoted_rotation(vectors)
    np.testing.assert_allclose(R.T @ R, np.eye(6), atol=1e-12)
    np.testing.assert_array_equal(np.argmax(np.abs(vectors @ R), axis=1), cluster_qr(vectors))


def test_discretisation_is_a_fixed_point_at_least_as_good_as_that_of_scikit_learn(
    vectors: np.ndarray,
) -> None:
    Z = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def quality(labels: np.ndarray) -> float:
        """The trace that Yu and Shi maximise, eq. 27, for the best rotation."""
        return float(np.linalg.svd(np.eye(6)[labels].T @ Z)[1].sum())

    best = 0.0
    for seed in range(5):
        R = discretizing_rotation(Z, seed)
        np.testing.assert_allclose(R.T @ R, np.eye(6), atol=1e-12)
        labels = np.argmax(Z @ R, axis=1)
        U, _, V = np.linalg.svd(np.eye(6)[labels].T @ Z)
        np.testing.assert_array_equal(np.argmax(Z @ (U @ V).T, axis=1), labels)
        best = max(best, quality(labels))
    theirs = max(quality(discretize(vectors, random_state=seed)) for seed in range(5))
    assert best >= theirs * (1 - 1e-6)


@pytest.mark.parametrize("rule", ["discretize", "cluster_qr"])
def test_clusters_and_new_points(rule: str) -> None:
    model = SpectralClustering(4, assign_labels=rule, on_disconnected="per_component").fit(BLOBS[:200])
    assert adjusted_rand_score(TRUTH[:200], model.labels_) > 0.95
    assert adjusted_rand_score(TRUTH[200:], model.predict(BLOBS[200:])) > 0.9
    np.testing.assert_array_equal(model.predict(BLOBS[:200]), model.labels_)
    assert model.rotation_.shape == (4, 4)
    assert not hasattr(model, "cluster_centers_")
    with pytest.raises(ValueError, match="as many coordinates as clusters"):
        SpectralClustering(4, assign_labels=rule, n_components=3).fit(BLOBS)


def test_number_of_eigenfunctions() -> None:
    model = SpectralClustering(4, n_components=6, n_neighbors=30).fit(BLOBS)
    assert model.embedding_.shape == (240, 6)
    assert model.cluster_centers_.shape == (4, 6)
    np.testing.assert_array_equal(
        SpectralClustering(4, n_components=4).fit(BLOBS).labels_, SpectralClustering(4).fit(BLOBS).labels_
    )
    with pytest.raises(ValueError, match="n_components=300 needs at least 300 samples"):
        SpectralClustering(4, n_components=300).fit(BLOBS)
    with pytest.raises(ValueError, match="use n_components of at least 2"):
        SpectralClustering(4, n_components=1).fit(BLOBS)
