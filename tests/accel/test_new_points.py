"""New points, where scikit-learn has no method for them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs, make_swiss_roll
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import rbf_kernel

from eigenscape import accel

pytestmark = pytest.mark.usefixtures("uninstalled")

ROLL = make_swiss_roll(230, random_state=0)[0]
X, Y = ROLL[:200], ROLL[200:]

EMBEDDINGS = [
    {"affinity": "nearest_neighbors", "n_neighbors": 12},
    {"affinity": "rbf", "gamma": 0.01},
]


@pytest.mark.parametrize("params", EMBEDDINGS, ids=str)
def test_training_points_keep_their_place_and_points_do_not_interact(params: dict[str, object]) -> None:
    model = accel.SpectralEmbedding(n_components=2, random_state=0, **params).fit(X)
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    placed = model.transform(Y)
    np.testing.assert_allclose(model.transform(Y[3:5]), placed[3:5], atol=1e-14)
    mixed = model.transform(np.concatenate([X[:2], Y]))
    np.testing.assert_allclose(mixed[2:], placed, atol=1e-14)


def test_formula() -> None:
    """Both rules against literal transcriptions, with eigenvalues of the dense problem."""
    k = 12
    D, new = pairwise_distances(X), pairwise_distances(Y, X)
    radii = np.sort(D, axis=1)[:, k - 1]
    nearest = np.argsort(new, axis=1)[:, : k - 1]
    graph = 0.5 * (new <= radii)
    np.add.at(graph, (np.arange(len(Y))[:, None], nearest), 0.5)
    affinities = [graph, rbf_kernel(Y, X, gamma=0.01)]
    for params, a in zip(EMBEDDINGS, affinities, strict=True):
        model = accel.SpectralEmbedding(n_components=2, random_state=0, **params).fit(X)
        A = sparse.csr_array(model.affinity_matrix_).toarray()
        np.fill_diagonal(A, 0)
        root = np.sqrt(A.sum(axis=1))
        values = np.sort(np.linalg.eigvalsh(A / root / root[:, None]))[::-1][1:3]
        expected = a @ model.embedding_ / a.sum(axis=1, keepdims=True) / values
        np.testing.assert_allclose(model.transform(Y), expected, atol=1e-9)


@pytest.mark.filterwarnings("ignore:Graph is not fully connected")
@pytest.mark.parametrize("params", [{"affinity": "nearest_neighbors"}, {"gamma": 0.5}], ids=str)
def test_predict(params: dict[str, object]) -> None:
    blobs, truth = make_blobs(160, centers=[[0, 0], [4, 0], [0, 4]], cluster_std=0.7, random_state=0)
    model = accel.SpectralClustering(3, random_state=0, **params).fit(blobs[:120])
    np.testing.assert_array_equal(model.predict(blobs[:120]), model.labels_)
    predicted = model.predict(blobs[120:])
    pairs = zip(truth[120:], predicted, strict=True)
    major = {t: np.bincount(model.labels_[truth[:120] == t]).argmax() for t in range(3)}
    assert np.mean([major[t] == p for t, p in pairs]) > 0.9
    assert predicted.dtype == model.labels_.dtype


def test_not_available_without_rows() -> None:
    assert not hasattr(accel.SpectralEmbedding(affinity="precomputed"), "transform")
    assert not hasattr(accel.SpectralClustering(affinity="precomputed"), "predict")
    assert not hasattr(accel.SpectralClustering(assign_labels="discretize"), "predict")
    model = accel.SpectralEmbedding(affinity="rbf", gamma=0.01).fit(sparse.csr_array(X))
    with pytest.raises(ValueError, match="training data are dense"):
        model.transform(X)


def test_rows_are_copied() -> None:
    rows = X.copy()
    model = accel.SpectralEmbedding(n_neighbors=12, random_state=0).fit(rows)
    clusters = accel.SpectralClustering(3, gamma=0.01, random_state=0).fit(rows)
    rows[:] = 0.0
    np.testing.assert_array_equal(model.transform(X), model.embedding_)
    np.testing.assert_array_equal(clusters.predict(X), clusters.labels_)
