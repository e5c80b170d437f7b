"""Neighbour embeddings and potential maps as estimators."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from cases import curve, split
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from eigenscape import LaplacianEigenmaps, NeighborEmbedding, PotentialMap
from eigenscape.exceptions import DisconnectedGraphError, DisconnectedGraphWarning, MissingDependencyError
from eigenscape.methods.laplacian import laplacian_eigenmaps
from eigenscape.quality import aligned_error
from eigenscape.solvers import SolverConfig

X, LABELS = load_digits(return_X_y=True)


@pytest.mark.parametrize(
    "make",
    [
        lambda n_jobs: NeighborEmbedding(max_iter=20, n_jobs=n_jobs),  # Barnes-Hut trees
        lambda n_jobs: NeighborEmbedding(exaggeration=4.0, max_iter=20, n_jobs=n_jobs),  # interpolation
        lambda n_jobs: PotentialMap(n_landmarks=100, n_jobs=n_jobs),
    ],
    ids=["trees", "interpolation", "potential"],
)
def test_the_number_of_threads_changes_nothing(make: Any) -> None:
    one, two = (make(n_jobs).fit(X[:1100]) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    np.testing.assert_array_equal(one.transform(X[1100:]), two.transform(X[1100:]))


@pytest.mark.parametrize("model", [NeighborEmbedding(max_iter=100), PotentialMap(n_landmarks=200)])
def test_new_rows_are_placed_among_their_class(model: Any) -> None:
    model.fit(X[:600])
    classifier = KNeighborsClassifier(10).fit(model.embedding_, LABELS[:600])
    accuracy = classifier.score(model.transform(X[600:900]), LABELS[600:900])
    assert accuracy > (0.85 if isinstance(model, NeighborEmbedding) else 0.75)


def test_rows_beside_training_rows_are_placed_beside_them() -> None:
    model = NeighborEmbedding(n_neighbors=8, exaggeration=2.0, max_iter=1000).fit(curve(200))
    moved = model.transform(curve(200) + 1e-9)
    distances = np.linalg.norm(moved - model.embedding_, axis=1)
    assert np.median(distances) < 0.05 * model.embedding_.std()


def test_strong_attraction_approaches_the_eigenmap() -> None:
    errors = []
    for exaggeration in (1.0, 4.0, 30.0):
        model = NeighborEmbedding(exaggeration=exaggeration, max_iter=300).fit(X[:300])
        affinity = model._model_.affinity
        eigenmap = laplacian_eigenmaps(affinity, 2, SolverConfig("auto", 1e-8, None, 0, 1)).coordinates
        errors.append(aligned_error(model.embedding_, eigenmap))
    assert errors[2] < errors[1] < errors[0]


def test_more_neighbours_are_kept_than_by_the_eigenmap() -> None:
    from eigenscape.quality import neighbors_kept

    eigenmap = LaplacianEigenmaps().fit(X[:500]).embedding_
    model = NeighborEmbedding(max_iter=200).fit(X[:500])
    kept = [neighbors_kept(X[:500], Z, n_neighbors=10) for Z in (eigenmap, model.embedding_)]
    assert float(kept[1]) > float(kept[0]) + 0.1


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
        (NeighborEmbedding(3), "n_components=3.*1 or 2 coordinates"),
        (NeighborEmbedding(exaggeration=0.5), "exaggeration=0.5 must be at least 1"),
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


def test_the_missing_engine_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openTSNE", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "eigenscape\[neighbor\]"'):
        NeighborEmbedding().fit(X[:50])
