"""Neighbour embeddings: the fast code beside literal sums, and the map as a stationary point."""

from __future__ import annotations

import numpy as np
import pytest
from cases import curve
from native.reference.layout import energy
from native.reference.splines import spline_at
from scipy.optimize import approx_fprime
from scipy.spatial.distance import cdist

from eigenscape import NeighborEmbedding
from eigenscape.kernels.affinity import MutualAffinity
from eigenscape.methods.neighbor_embedding import RepulsionGrid

RNG = np.random.default_rng(0)
POINTS = RNG.standard_normal((300, 2)) * [12.0, 5.0]


def literal_repulsion(y: np.ndarray, points: np.ndarray) -> float:
    return float(sum(1 / (1 + np.sum((y - x) ** 2)) for x in points))


def test_the_field_is_the_sum_over_all_points() -> None:
    field = RepulsionGrid(0.25, border=5.0).field(POINTS)
    places = RNG.uniform(POINTS.min(axis=0) - 4, POINTS.max(axis=0) + 4, (100, 2))
    expected = np.array([literal_repulsion(y, POINTS) for y in places])
    # Splines in four variables with step h = 0.25, each with the error h^4 / 384 times a fourth derivative
    # of at most 24: 1e-3 for each point within a width of one, of which a place has five at most.
    np.testing.assert_allclose(field(places), expected, atol=5e-3)
    assert np.abs(field(places) - expected).mean() < 5e-4


@pytest.mark.long
def test_a_grid_follows_a_map_that_grows_and_shrinks() -> None:
    grid = RepulsionGrid(0.25)
    for factor in (0.1, 1.0, 1.02, 3.0, 0.5):
        points = factor * POINTS
        kept = grid.spectrum
        expected = np.array([literal_repulsion(y, points) for y in points[:20]])
        np.testing.assert_allclose(grid.field(points)(points[:20]), expected, rtol=5e-3)
        assert (grid.spectrum is kept) == (factor == 1.02)


def test_the_field_of_a_wide_map_has_a_bounded_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eigenscape.methods.neighbor_embedding._MAX_NODES", 10_000)
    field = RepulsionGrid(0.25).field(POINTS * 10)
    assert field.nodes.size <= 1.1 * 10_000  # sizes of transforms are rounded up
    assert field.step > 0.25


def test_the_gradient_is_the_derivative() -> None:
    field = RepulsionGrid(0.25, border=5.0).field(POINTS)
    columns, weights = np.array([3, 70, 150, 299]), np.array([2.0, 1.0, 5.0, 0.5])
    gradient = np.empty(2)
    for y in RNG.uniform(-8, 8, (20, 2)):
        value, curvature = energy(y, columns, weights, POINTS, field.nodes, field.lower, field.step, gradient)
        squares = np.square(y - POINTS[columns]).sum(axis=1)
        attraction = float(weights @ np.log1p(squares))
        assert value == pytest.approx(attraction + literal_repulsion(y, POINTS), abs=5e-3)
        assert curvature == pytest.approx(float(2 * weights @ (1 / (1 + squares))))

        def total(z: np.ndarray) -> float:
            return energy(z, columns, weights, POINTS, field.nodes, field.lower, field.step, np.empty(2))[0]

        numerical = approx_fprime(y, total, 1e-6)
        np.testing.assert_allclose(gradient, numerical, atol=1e-4)


def test_points_outside_the_grid_get_the_value_of_its_border() -> None:
    field = RepulsionGrid(0.25, border=5.0).field(POINTS)
    x, y = field.lower
    near = spline_at(field.nodes, field.lower, field.step, x + 0.25, y + 0.25)  # the first place inside
    assert spline_at(field.nodes, field.lower, field.step, x - 100, y - 100) == near


@pytest.fixture(scope="module")
def fitted() -> NeighborEmbedding:
    return NeighborEmbedding(exaggeration=2.0, n_neighbors=8, max_iter=1500, tol=1e-9).fit(curve(150))


@pytest.mark.long
def test_affinities_are_the_mean_of_both_neighbour_lists(fitted: NeighborEmbedding) -> None:
    X = curve(150)
    D = cdist(X, X)
    np.fill_diagonal(D, np.inf)
    A = np.zeros_like(D)
    for i, row in enumerate(D):
        A[i, np.argsort(row)[:8]] = 1
    affinity = fitted._model_.affinity
    assert isinstance(affinity, MutualAffinity)
    np.testing.assert_array_equal(affinity.edges().toarray(), (A + A.T) / 2)
    Y = curve(20, seed=4)
    to_train = cdist(Y, X)
    listed = np.array([row <= np.sort(row)[7] for row in to_train])
    lists = to_train <= np.sort(D, axis=1)[:, 7]
    np.testing.assert_array_equal(affinity(Y).toarray(), (listed + 0.0 + lists) / 2)


def literal_gradient(W: np.ndarray, Z: np.ndarray, exaggeration: float) -> tuple[np.ndarray, np.ndarray]:
    """The gradient of t-SNE (van der Maaten and Hinton 2008, eq. 5), and its attractive part."""
    w = 1 / (1 + cdist(Z, Z, "sqeuclidean"))
    np.fill_diagonal(w, 0.0)
    P, Q = W / W.sum(), w / w.sum()
    gradient, attraction = np.zeros_like(Z), np.zeros_like(Z)
    for i in range(len(Z)):
        for j in range(len(Z)):
            attraction[i] += 4 * exaggeration * P[i, j] * w[i, j] * (Z[i] - Z[j])
            gradient[i] += 4 * (exaggeration * P[i, j] - Q[i, j]) * w[i, j] * (Z[i] - Z[j])
    return gradient, attraction


def test_the_map_is_a_stationary_point_of_the_literal_objective(fitted: NeighborEmbedding) -> None:
    W = fitted._model_.affinity.edges().toarray()
    gradient, attraction = literal_gradient(W, fitted.embedding_, 2.0)
    # Splines with step 0.5 are accurate to a few per cent of the forces.
    assert np.linalg.norm(gradient) < 0.05 * np.linalg.norm(attraction)
    start, pull = literal_gradient(W, fitted.embedding_ * 1.5, 2.0)
    assert np.linalg.norm(start) > 0.2 * np.linalg.norm(pull)


def test_the_divergence_is_the_literal_sum(fitted: NeighborEmbedding) -> None:
    W = fitted._model_.affinity.edges().toarray()
    w = 1 / (1 + cdist(fitted.embedding_, fitted.embedding_, "sqeuclidean"))
    np.fill_diagonal(w, 0.0)
    P, Q = W / W.sum(), w / w.sum()
    expected = sum(P[i, j] * np.log(P[i, j] / Q[i, j]) for i, j in zip(*np.nonzero(P), strict=True))
    assert fitted.kl_divergence_ == pytest.approx(expected, rel=1e-3)


def test_new_points_are_at_minima_of_the_literal_objective(fitted: NeighborEmbedding) -> None:
    Y, Z = curve(15, seed=5), fitted.embedding_
    placed = fitted.transform(Y)
    W = fitted._model_.affinity
    w = 1 / (1 + cdist(Z, Z, "sqeuclidean"))
    normalizer, total = w.sum() - len(Z), W.edges().sum()
    for z, weights in zip(placed, W(Y).toarray(), strict=True):

        def objective(z: np.ndarray, weights: np.ndarray = weights) -> float:
            squares = np.square(z - Z).sum(axis=1)
            return 2.0 * float(weights @ np.log1p(squares)) / total * normalizer + np.sum(1 / (1 + squares))

        best = objective(z)
        around = [objective(z + 0.1 * np.array([np.cos(a), np.sin(a)])) for a in np.arange(0, 6.3, 0.5)]
        assert best <= min(around) + 1e-3  # the accuracy of the interpolated field
        assert best <= min(objective(Z[j]) for j in np.flatnonzero(weights)) + 1e-3
