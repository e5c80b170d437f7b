"""Neighbour embeddings and potential maps as estimators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from cases import curve, split
from scipy.sparse import csr_matrix
from scipy.stats import mode
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from eigenscape import LaplacianEigenmaps, NeighborEmbedding, PotentialMap
from eigenscape.exceptions import DisconnectedGraphError, DisconnectedGraphWarning
from eigenscape.methods import neighbor_embedding
from eigenscape.methods.laplacian import laplacian_eigenmaps
from eigenscape.methods.neighbor_embedding import NeighborMap, scaled_start
from eigenscape.quality import aligned_error, neighbors_kept
from eigenscape.solvers import SolverConfig

X, LABELS = load_digits(return_X_y=True)


@pytest.mark.long
@pytest.mark.parametrize(
    "make",
    [
        lambda n_jobs: NeighborEmbedding(max_iter=20, n_jobs=n_jobs),
        lambda n_jobs: PotentialMap(n_landmarks=100, n_jobs=n_jobs),
    ],
    ids=["neighbor", "potential"],
)
def test_the_number_of_threads_changes_nothing(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(neighbor_embedding, "_ROWS", 200)  # several blocks
    one, two = (make(n_jobs).fit(X[:1100]) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    np.testing.assert_array_equal(one.transform(X[1100:]), two.transform(X[1100:]))


@pytest.mark.long
@pytest.mark.parametrize("model", [NeighborEmbedding(max_iter=100), PotentialMap(n_landmarks=200)])
def test_new_rows_are_placed_as_well_as_training_rows(model: Any) -> None:
    """Neighbours on the map tell the class of a new row as often as that of a training row left out."""
    order = np.random.default_rng(0).permutation(len(X))  # files of digits are ordered by writers
    rows, labels, n_new = X[order], LABELS[order], len(X) - 600
    Z = model.fit(rows[:600]).embedding_
    classifier = KNeighborsClassifier(10).fit(Z, labels[:600])
    nearest = classifier.kneighbors(n_neighbors=10, return_distance=False)  # without the rows themselves
    expected = np.mean(mode(labels[nearest], axis=1).mode == labels[:600])
    found = classifier.score(model.transform(rows[600:]), labels[600:])
    standard_error = np.sqrt(expected * (1 - expected) * (1 / 600 + 1 / n_new))
    assert found > expected - 3 * standard_error


def test_rows_beside_training_rows_are_placed_beside_them() -> None:
    model = NeighborEmbedding(n_neighbors=8, exaggeration=2.0, max_iter=1000).fit(curve(200))
    moved = model.transform(curve(200) + 1e-9)
    distances = np.linalg.norm(moved - model.embedding_, axis=1)
    assert np.median(distances) < 0.05 * model.embedding_.std()


@pytest.mark.long
def test_strong_attraction_approaches_the_eigenmap() -> None:
    errors = []
    for exaggeration in (1.0, 4.0, 30.0):
        model = NeighborEmbedding(exaggeration=exaggeration, max_iter=300).fit(X[:300])
        affinity = model._model_.affinity
        eigenmap = laplacian_eigenmaps(affinity, 2, SolverConfig("auto", 1e-8, None, 0, 1)).coordinates
        errors.append(aligned_error(model.embedding_, eigenmap))
    assert errors[2] < errors[1] < errors[0]


@pytest.mark.long
def test_more_neighbours_are_kept_and_more_new_rows_are_right_than_by_the_eigenmap() -> None:
    eigenmap = LaplacianEigenmaps().fit(X[:500])
    model = NeighborEmbedding(max_iter=200).fit(X[:500])
    before, after = (neighbors_kept(X[:500], each.embedding_, n_neighbors=10) for each in (eigenmap, model))
    assert after.share.low > before.share.high
    right = [
        KNeighborsClassifier(10).fit(each.embedding_, LABELS[:500]).predict(each.transform(X[500:]))
        == LABELS[500:]
        for each in (eigenmap, model)
    ]
    assert np.mean(right[1]) > np.mean(right[0])


@pytest.mark.long
@pytest.mark.parametrize("exaggeration", [1.0, 4.0])
def test_the_objective_is_as_low_as_that_of_opentsne(exaggeration: float) -> None:
    """Both descend from the same start, with gradients that are approximate to about a per cent."""
    tsne = pytest.importorskip("openTSNE")
    model = NeighborEmbedding(exaggeration=exaggeration, max_iter=250, tol=1e-9).fit(X[:800])
    affinity = model._model_.affinity
    eigenmap = laplacian_eigenmaps(affinity, 2, SolverConfig("auto", 1e-6, None, 0, 1)).coordinates
    P = tsne.affinity.PrecomputedAffinities(csr_matrix(affinity.edges()))
    embedding = tsne.TSNEEmbedding(
        scaled_start(eigenmap), P, negative_gradient_method="bh", exaggeration=exaggeration, n_jobs=1
    ).optimize(250)
    points = np.array(embedding) - np.mean(embedding, axis=0)
    peer = replace(model._model_, layout=model._model_.layout._replace(points=points))
    assert objective(model._model_) < objective(peer) + 0.01 * abs(objective(peer))


def objective(model: NeighborMap) -> float:
    """The divergence that is minimised, with the exaggerated attraction, up to a constant."""
    P = model.affinity.edges().tocoo()
    squares = np.square(model.plane[P.row] - model.plane[P.col]).sum(axis=1)
    attraction = float(P.data @ np.log1p(squares)) / P.data.sum()
    return model.exaggeration * attraction + float(np.log(model.normalizer))


@pytest.mark.parametrize("n_samples", [3, 4, 5, 8])
def test_few_points_stay_together(n_samples: int) -> None:
    """Equal affinities of all pairs have no finite best map: points that jump apart never come back."""
    embedding = NeighborEmbedding().fit(np.random.default_rng(1).standard_normal((n_samples, 5))).embedding_
    assert np.abs(embedding).max() < 20  # a few of the longest steps, which are 5


def test_convergence_is_reported() -> None:
    assert not NeighborEmbedding(max_iter=50, tol=1e-12).fit(X[:100]).converged_
    model = NeighborEmbedding(max_iter=1000, tol=1e-2).fit(X[:100])
    assert model.converged_
    assert model.movement_ <= 1e-2
    assert model.n_iter_ < 1000


def test_branches_are_separate_arms() -> None:
    rng = np.random.default_rng(0)
    arms = np.repeat(np.eye(4), 60, axis=0) * rng.random((240, 1))
    model = PotentialMap().fit(arms + 0.01 * rng.standard_normal((240, 4)))
    away = np.linalg.norm(arms, axis=1) > 0.3
    directions = model.embedding_[away] - model.embedding_[~away].mean(axis=0)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    which = np.repeat(np.arange(4), 60)[away]
    within = [np.linalg.norm(directions[which == arm].mean(axis=0)) for arm in range(4)]
    assert min(within) > 0.8  # every arm has a direction of its own
    assert (
        KNeighborsClassifier(5).fit(model.embedding_[away], which).score(model.embedding_[away], which) > 0.95
    )


@pytest.mark.parametrize("cls", [NeighborEmbedding, PotentialMap])
def test_disconnected_graphs(cls: type) -> None:
    rows = split(3)[0]
    with pytest.raises(DisconnectedGraphError, match="set on_disconnected='connect'"):
        cls(n_neighbors=5, on_disconnected="raise").fit(rows)
    with pytest.warns(DisconnectedGraphWarning, match="connected by the shortest"):
        model = cls(n_neighbors=5).fit(rows)
    assert np.isfinite(model.embedding_).all()
    assert model.n_connected_components_ == 3


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (NeighborEmbedding(3), "n_components=3 must be an integer of at least 1 and below 3"),
        (NeighborEmbedding(exaggeration=0.5), "exaggeration=0.5 must be a number of at least 1"),
        (NeighborEmbedding(n_neighbors=100), "n_neighbors=100 needs at least 101 samples, got n_samples=50"),
        (NeighborEmbedding(max_iter=0), "max_iter"),
        (NeighborEmbedding(tol=0), "tol"),
        (NeighborEmbedding(on_disconnected="largest"), "on_disconnected"),
        (PotentialMap(n_landmarks=3), "n_landmarks"),
        (PotentialMap(n_steps=0), "n_steps"),
    ],
    ids=str,
)
def test_errors_name_the_parameter(model: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        model.fit(X[:50])
