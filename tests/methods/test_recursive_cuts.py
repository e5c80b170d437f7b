"""Recursive two-way cuts, memberships and the number of clusters."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.cluster.hierarchy import dendrogram, fcluster, is_valid_linkage
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from eigenscape import SpectralClustering, io
from eigenscape.exceptions import WeakEvidenceWarning
from eigenscape.methods.assignment import recursive_cuts
from eigenscape.methods.clustering import CountEvidence, adjusted_rand_index, best_cut
from eigenscape.options import Dictionary
from tests import reference as ref

ASSIGN = ("kmeans", "discretize", "cluster_qr", "recursive", "threshold")


@pytest.fixture(scope="module")
def blobs() -> tuple[np.ndarray, np.ndarray]:
    return make_blobs(200, centers=4, cluster_std=1.5, random_state=3)


def clustering(how: str, **params: Any) -> SpectralClustering:
    return SpectralClustering(2 if how == "threshold" else 4, assign_labels=how, n_init=2, **params)


@pytest.mark.parametrize("seed", range(4))
def test_cuts_are_those_of_all_thresholds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    W, Z = rng.random((14, 14)) ** 4, rng.standard_normal((14, 2))
    W = W + W.T
    tree = recursive_cuts(W, Z, 4)
    assert adjusted_rand_score(tree.predict(Z), ref.recursive_cut_labels(W, Z, 4)) == 1
    assert_array_equal(np.unique(tree.predict(Z)), np.arange(4))


def test_one_cluster_needs_no_cut() -> None:
    tree = recursive_cuts(np.ones((5, 5)), np.arange(5.0)[:, None], 1)
    assert_array_equal(tree.predict(np.arange(5.0)[:, None]), np.zeros(5))
    assert_array_equal(tree.memberships(np.arange(5.0)[:, None]), np.ones((5, 1)))


def test_equal_coordinates_cannot_be_cut() -> None:
    with pytest.raises(ValueError, match="only 2 parts are separated"):
        recursive_cuts(np.ones((4, 4)), np.array([[0.0], [0], [1], [1]]), 3)


def test_a_threshold_that_is_rounded_to_the_lower_value() -> None:
    """The mean of 1 and the next number is 1: points at the threshold are below it."""
    Z = np.repeat([1.0, np.nextafter(1, 2), 3.0], 2)[:, None]
    W = np.kron([[1, 0.01, 0.01], [0.01, 1, 0.1], [0.01, 0.1, 1]], np.ones((2, 2)))
    tree = recursive_cuts(W, Z, 3)
    assert tree.threshold[0] == 1
    assert_array_equal(tree.predict(Z), [0, 0, 1, 1, 2, 2])


@pytest.mark.parametrize("how", ASSIGN)
def test_memberships_sum_to_one_and_agree_with_predict(
    how: str, blobs: tuple[np.ndarray, np.ndarray]
) -> None:
    X, _ = blobs
    model = clustering(how).fit(X)
    new = np.concatenate([X, np.random.default_rng(0).uniform(X.min(), X.max(), (50, 2))])
    memberships = model.predict_proba(new)
    assert memberships.shape == (250, model.n_clusters_)
    assert memberships.min() >= 0
    assert_allclose(memberships.sum(axis=1), 1, rtol=1e-12)
    assert_array_equal(memberships.argmax(axis=1), model.predict(new))
    assert_array_equal(model.predict(X), model.labels_)
    assert_allclose(model.predict_proba(new[:7]), memberships[:7], atol=1e-12)


def test_the_hierarchy_is_a_linkage_matrix(blobs: tuple[np.ndarray, np.ndarray]) -> None:
    model = clustering("recursive").fit(blobs[0])
    assert is_valid_linkage(model.linkage_)
    assert sorted(dendrogram(model.linkage_, no_plot=True)["leaves"]) == [0, 1, 2, 3]
    two = fcluster(model.linkage_, 2, "maxclust")
    halves = SpectralClustering(2, assign_labels="recursive").fit(blobs[0]).labels_
    assert adjusted_rand_score(two[model.labels_], halves) == 1  # the first split is the highest
    assert model.linkage_[-1, 3] == 4


def test_recursive_cuts_of_two_parts_are_the_threshold(blobs: tuple[np.ndarray, np.ndarray]) -> None:
    by_cut = SpectralClustering(2, assign_labels="recursive").fit(blobs[0])
    by_value = SpectralClustering(2, assign_labels="threshold").fit(blobs[0])
    assert_array_equal(by_cut.labels_, by_value.labels_)
    assert_allclose(by_cut.ncut_, by_value.ncut_)


def test_the_number_of_clusters_and_its_evidence(blobs: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = blobs
    model = SpectralClustering("auto", max_clusters=7).fit(X)
    assert model.n_clusters_ == 4
    assert adjusted_rand_score(y, model.labels_) > 0.9
    evidence = model.cluster_evidence_
    assert_array_equal(evidence["n_clusters"], np.arange(2, 8))
    assert evidence["stability"][2] > 0.9 > evidence["stability"][4]
    values = SpectralClustering(8).fit(X).eigenvalues_
    assert_allclose(evidence["eigengap"], values[1:-1] - values[2:], atol=1e-8)
    again = SpectralClustering("auto", max_clusters=7, n_jobs=2).fit(X)
    assert_array_equal(again.cluster_evidence_["stability"], evidence["stability"])
    assert model.n_clusters == "auto"


def test_weak_evidence_is_reported() -> None:
    X = np.random.default_rng(0).random((200, 2))
    with pytest.warns(WeakEvidenceWarning, match="no number of clusters from 2 to 6 is stable"):
        model = SpectralClustering("auto", max_clusters=6).fit(X)
    assert model.cluster_evidence_["stability"].max() < 0.9


def test_the_choice_is_the_largest_gap_of_stable_numbers() -> None:
    counts, gaps = np.arange(2, 6), np.array([0.1, 0.2, 0.3, 0.9])
    assert CountEvidence(counts, gaps, np.array([1.0, 0.95, 0.5, 0.4])).best() == 3
    weak = CountEvidence(counts, gaps, np.array([0.6, 0.8, 0.5, 0.4]))
    assert weak.is_weak
    assert weak.best() == 3


@pytest.mark.parametrize("seed", range(3))
def test_adjusted_rand_index(seed: int) -> None:
    first, second = np.random.default_rng(seed).integers(4, size=(2, 40))
    assert_allclose(adjusted_rand_index(first, second), adjusted_rand_score(first, second))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_clusters": "many"}, "n_clusters='many'"),
        ({"n_clusters": "auto", "assign_labels": "threshold"}, "two clusters"),
        ({"n_clusters": "auto", "affinity": "rbf", "approximation": Dictionary(5)}, "dictionary"),
        ({"n_clusters": "auto", "n_components": 3}, "n_components=3"),
        ({"n_clusters": "auto", "max_clusters": 1}, "max_clusters=1"),
        (
            {"assign_labels": "recursive", "affinity": "rbf", "approximation": Dictionary(9)},
            "compares all cuts",
        ),
    ],
)
def test_invalid_parameters(
    params: dict[str, Any], message: str, blobs: tuple[np.ndarray, np.ndarray]
) -> None:
    with pytest.raises(ValueError, match=message):
        SpectralClustering(**params).fit(blobs[0])


@pytest.mark.parametrize("how", ["recursive", "kmeans"])
def test_models_are_saved(how: str, blobs: tuple[np.ndarray, np.ndarray], tmp_path: Any) -> None:
    model = SpectralClustering("auto", assign_labels=how, max_clusters=6).fit(blobs[0])
    io.save(model, tmp_path / "clusters.model")
    again = io.load(tmp_path / "clusters.model")
    assert_array_equal(again.predict_proba(blobs[0]), model.predict_proba(blobs[0]))
    assert again.n_clusters_ == model.n_clusters_


def test_weights_move_the_number_of_clusters(blobs: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = blobs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = SpectralClustering("auto", max_clusters=6).fit(X, sample_weight=np.where(y == 0, 0.0, 1.0))
    assert model.n_clusters_ == 3


@pytest.mark.parametrize("low", [1.0, np.nextafter(1.0, 2.0), 0.1, 3.0])
def test_a_threshold_between_adjacent_numbers_separates_them(low):
    high = np.nextafter(low, 10.0)
    W = sparse.csr_array(np.kron(np.eye(2), np.ones((3, 3))) + 0.01)
    threshold, _ = best_cut(W, np.array([low] * 3 + [high] * 3))
    assert low <= threshold < high
