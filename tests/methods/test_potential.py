"""Potential maps: walks, potentials and distances beside their literal formulas."""

from __future__ import annotations

import numpy as np
import pytest
from cases import curve
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist, pdist

from eigenscape import PotentialMap
from eigenscape.methods.potential import entropy_curve, knee, landmark_cells, metric_mds, random_walk
from eigenscape.quality import aligned_error


def literal_affinities(X: np.ndarray, Y: np.ndarray, k: int) -> np.ndarray:
    """``exp(-d^2 / (s s'))`` between neighbours: the rows of ``X`` are the training points."""
    D = cdist(X, X)
    np.fill_diagonal(D, np.inf)
    radii = np.sort(D, axis=1)[:, k - 1]
    same = X is Y
    to = D if same else cdist(Y, X)
    own = radii if same else np.sort(to, axis=1)[:, k - 1]
    K = np.zeros_like(to)
    for i in range(len(to)):
        for j in range(len(X)):
            if to[i, j] <= own[i] or to[i, j] <= radii[j]:
                K[i, j] = np.exp(-(to[i, j] ** 2) / (own[i] * radii[j]))
    return K


def test_potentials_are_those_of_the_literal_walk() -> None:
    X, Y = curve(60), curve(7, seed=3)
    model = PotentialMap(n_neighbors=6, n_steps=5).fit(X)
    K = literal_affinities(X, X, 6) + np.eye(60)
    P = K / K.sum(axis=1, keepdims=True)
    expected = -np.log(np.linalg.matrix_power(P, 5) + 1e-7)
    np.testing.assert_allclose(model._model_.potentials, expected, rtol=0, atol=1e-6)
    to_train = literal_affinities(X, Y, 6)
    step = to_train / to_train.sum(axis=1, keepdims=True)
    new = -np.log(step @ np.linalg.matrix_power(P, 4) + 1e-7)
    distances = cdist(new, expected) / model._model_.scale
    for z, targets in zip(model.transform(Y), distances, strict=True):

        def stress(z: np.ndarray, targets: np.ndarray = targets) -> float:
            return float(np.square(np.linalg.norm(z - model.embedding_, axis=1) - targets).sum())

        around = [stress(z + 1e-3 * np.array([np.cos(a), np.sin(a)])) for a in np.arange(0, 6.3, 0.5)]
        assert stress(z) <= min(around)


def test_a_walk_between_cells_has_the_sums_of_affinities() -> None:
    rng = np.random.default_rng(0)
    K = rng.random((12, 12))
    K = K + K.T
    cells = np.array([0, 1, 2, 0, 1, 2, 3, 3, 3, 0, 1, 2])
    walk = random_walk(csr_array(K), cells, 3)
    Q = np.zeros((4, 4))
    for i in range(12):
        for j in range(12):
            Q[cells[i], cells[j]] += K[i, j]
    Q /= Q.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(walk.before, Q @ Q, atol=1e-12)
    np.testing.assert_allclose(walk.after, Q @ Q @ Q, atol=1e-12)
    np.testing.assert_allclose(walk.after.sum(axis=1), 1)


def test_entropy_and_its_knee() -> None:
    values = np.array([1.0, 0.9, 0.5, -0.4, 0.0])
    for t, found in enumerate(entropy_curve(values, 6), start=1):
        shares = np.array([1.0, 0.9**t, 0.5**t, 0.4**t])
        shares /= shares.sum()
        assert found == pytest.approx(-sum(share * np.log(share) for share in shares))
    x = np.arange(30)
    assert knee(np.where(x < 11, 20.0 - x, 9.5 - 0.05 * x)) in (10, 11)


def test_every_vertex_belongs_to_its_nearest_landmark_along_the_graph() -> None:
    path = np.zeros((9, 9))
    path[np.arange(8), np.arange(1, 9)] = 1.0
    cells = landmark_cells(csr_array(path + path.T), 3, seed=0)
    chosen = np.sort(np.random.default_rng(0).choice(9, 3, replace=False))
    np.testing.assert_array_equal(cells[chosen], [0, 1, 2])
    for vertex, cell in enumerate(cells):
        assert abs(vertex - chosen[cell]) == np.abs(vertex - chosen).min()
    np.testing.assert_array_equal(landmark_cells(csr_array(path + path.T), 9, seed=0), np.arange(9))


def test_metric_mds_recovers_points_and_lowers_the_stress() -> None:
    points = np.random.default_rng(1).standard_normal((50, 2))
    layout = metric_mds(pdist(points), 2, 300, 1e-9)
    scaled = points / np.sqrt(np.mean(np.square(pdist(points))))
    assert layout.stress < 1e-8
    assert aligned_error(layout.points, scaled) < 1e-6
    rng = np.random.default_rng(2)
    noisy = pdist(rng.standard_normal((50, 6)))
    first, last = metric_mds(noisy, 2, 1, 1e-9), metric_mds(noisy, 2, 300, 1e-9)
    assert last.stress < 0.95 * first.stress
