"""Manifold Parzen windows against their definition."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.neighbors import KernelDensity

from eigenscape.methods.manifold_parzen import ParzenDensity, Tangents, choose_parameters, local_tangents


def literal(Y: np.ndarray, X: np.ndarray, k: int, d: int, noise: float) -> np.ndarray:
    """Sum the Gaussians of all samples, with their covariances written out."""
    total = np.zeros(len(Y))
    for i, x in enumerate(X):
        nearest = np.argsort(np.linalg.norm(X - x, axis=1), kind="stable")
        differences = X[nearest[nearest != i][:k]] - x
        values, vectors = np.linalg.eigh(differences.T @ differences / k)
        V = vectors[:, ::-1][:, :d]
        covariance = (V * values[::-1][:d]) @ V.T + noise * np.eye(len(x))
        total += multivariate_normal(x, covariance).pdf(Y)
    return np.log(total / len(X))


@pytest.mark.parametrize(("k", "n_features"), [(6, 3), (4, 7)])
@pytest.mark.parametrize("d", [0, 1, 3])
def test_density_is_the_mean_of_the_gaussians(k, n_features, d):
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((30, n_features)), rng.standard_normal((12, n_features))
    density = ParzenDensity(X, local_tangents(X, k, d, None), 0.3)
    np.testing.assert_allclose(density.log_density(Y), literal(Y, X, k, d, 0.3), rtol=1e-9)


def test_without_tangents_it_is_the_kernel_density():
    X = np.random.default_rng(0).standard_normal((50, 3))
    density = ParzenDensity(X, local_tangents(X, 5, 0, None), 0.25)
    np.testing.assert_allclose(
        density.log_density(X), KernelDensity(bandwidth=0.5).fit(X).score_samples(X), rtol=1e-9
    )


def test_a_row_is_not_its_own_neighbour_among_equal_rows():
    X = np.repeat(np.arange(4.0)[:, None], 3, axis=0)
    tangents = local_tangents(X, 2, 1, None)
    np.testing.assert_allclose(tangents.variances, 0)
    apart = local_tangents(X, 3, 1, None)
    np.testing.assert_allclose(apart.variances, 1 / 3)


def test_the_choice_is_that_of_literal_cross_validation():
    rng = np.random.default_rng(0)
    t = rng.uniform(0, 6, 60)
    X = np.column_stack([np.cos(t), np.sin(t)]) + 0.05 * rng.standard_normal((60, 2))
    folds = [(np.arange(30), np.arange(30, 60)), (np.arange(30, 60), np.arange(30))]
    chosen = choose_parameters(X, [3, 8], [0, 1, 2], [0.01, 0.1], folds, None)
    for k, d, noise, score in chosen.scores:
        expected = np.mean([literal(X[out], X[rows], k, d, noise).mean() for rows, out in folds])
        assert score == pytest.approx(expected)
    assert chosen.score == max(score for *_, score in chosen.scores)


def test_draws_have_the_covariance_of_a_gaussian():
    directions = np.array([[[0.6, 0.8, 0.0]]])
    density = ParzenDensity(np.zeros((1, 3)), Tangents(np.array([[4.0]]), directions), 0.25)
    drawn = density.draw(200_000, np.random.default_rng(0))
    expected = 4 * np.outer(directions[0, 0], directions[0, 0]) + 0.25 * np.eye(3)
    np.testing.assert_allclose(np.cov(drawn.T), expected, atol=0.03)
