"""Experiments on statements for which the papers show no figure: formulas compared with literal ones."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from test_papers import tiny

from experiments import belkin_lle, belkin_outliers, bengio_convergence, bengio_wide, burges_normality

pytestmark = pytest.mark.pages


def test_limits_of_the_centred_minimum_kernel():
    """``sqrt(2) cos(r pi x)`` and ``1 / (r pi)^2`` solve the eigenproblem of the centred kernel on a grid."""
    x = (np.arange(2000) + 0.5) / 2000
    K = np.minimum.outer(x, x)
    K = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    f = bengio_convergence.eigenfunctions(x)
    np.testing.assert_allclose(K @ f / len(x), bengio_convergence.LIMITS * f, atol=1e-6)
    np.testing.assert_allclose(f.T @ f / len(x), np.eye(4), atol=1e-12)


def test_estimates_of_the_minimum_kernel_are_the_nystrom_formula():
    X = np.random.default_rng(0).random((30, 1))
    K = np.minimum(X, X.T)
    centred = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
    values, vectors = np.linalg.eigh(centred)
    values, vectors = values[::-1][:4], vectors[:, ::-1][:, :4]
    new = np.minimum(bengio_convergence.GRID, X.T)
    k = new - new.mean(axis=1)[:, None] - K.mean(axis=0) + K.mean()  # Bengio eq. 5
    literal = np.sqrt(30) / values * (k @ vectors)  # Bengio eq. 20
    found, functions = bengio_convergence.estimate(X)
    np.testing.assert_allclose(found, values / 30, rtol=1e-8)
    np.testing.assert_allclose(np.abs(functions), np.abs(literal), atol=1e-6)


def test_exponents_of_errors():
    errors = np.array([10.0, 100.0, 1000.0])[:, None, None] ** -0.5 * np.ones((3, 4, 2))
    values, uncertain = bengio_convergence.exponents([10, 100, 1000], errors)
    np.testing.assert_allclose(values, -0.5)
    np.testing.assert_allclose(uncertain, 0, atol=1e-7)


def test_measures_of_wide_kernels():
    assert bengio_wide.participation(np.array([1.0, -1.0, 1.0, -1.0])) == 1
    assert bengio_wide.participation(np.array([0.0, 0.0, 3.0, 0.0])) == 0.25
    linear = np.array([[1.0, 2.0], [-1.0, 0.5]])
    assert bengio_wide.difference(-linear * np.sqrt(2) / 7, linear, 7.0) == pytest.approx(0, abs=1e-15)
    assert bengio_wide.difference(2 * linear * np.sqrt(2), linear, 1.0) == pytest.approx(1)


def test_spectrum_of_lle_on_a_circle():
    """Two neighbours of equal weight: ``(I - W)'(I - W)`` has the eigenvalues ``(1 - cos(r h))^2``."""
    n = 60
    W = np.zeros((n, n))
    for i in range(n):
        W[i, (i + 1) % n] = W[i, (i - 1) % n] = 0.5
    E = (np.eye(n) - W).T @ (np.eye(n) - W)
    literal = np.linalg.eigvalsh(E)[1:9].reshape(-1, 2).mean(axis=1)
    found, angles = belkin_lle.spectrum(np.arange(n) * 2 * np.pi / n, 2)
    np.testing.assert_allclose(found, literal, rtol=1e-6)
    np.testing.assert_allclose(literal, (1 - np.cos(belkin_lle.FREQUENCIES * 2 * np.pi / n)) ** 2, rtol=1e-6)
    assert angles.max() < 1e-6


def test_the_constant_of_lle_is_a_quarter():
    claims = {claim.text: claim for claim in tiny("belkin-lle")[0].claims}
    assert not claims["the constant of proportionality is 1/2"].holds
    assert claims["the constant of proportionality is 1/2"].kind == "paper"
    assert claims["the constant of proportionality is 1/4"].holds
    assert claims["the constant of proportionality is 1/4"].kind == "check"


def test_outliers_noise_and_resolution():
    rng = np.random.default_rng(0)
    X = rng.random((200, 3)) * [1, 2, 3]
    more = belkin_outliers.with_outliers(X, 0.05, rng)
    assert len(more) == 210
    np.testing.assert_array_equal(more[:200], X)
    assert (more.min(axis=0) >= X.min(axis=0)).all()
    noise = belkin_outliers.with_noise(X, 0.1, rng) - X
    assert noise.std() == pytest.approx(0.1 * np.sqrt(X.var(axis=0).mean()), rel=0.1)
    image = np.arange(16.0).reshape(1, 16)  # 4 x 4
    np.testing.assert_array_equal(belkin_outliers.coarsened(image, 2), [[2.5, 4.5, 10.5, 12.5]])
    images, positions = belkin_outliers.moving_camera(6, 8, 0)
    assert images.shape == (6, 64)
    assert positions.shape == (6, 2)


@pytest.mark.parametrize(("world", "held"), [([0.2, 0.3, 0.1], True), ([0.2, 0.0, 0.1], False)])
def test_relatively_insensitive(world, held):
    medians = {"Laplacian eigenmaps": np.array([0.1, 0.1, 0.2]), "Isomap": np.array(world)}
    claim = belkin_outliers.relatively_insensitive("noise", [0.1, 0.2, 0.3], medians)
    assert claim.holds == held


def test_conditions_of_diaconis_and_freedman():
    X = np.random.default_rng(0).standard_normal((60, 40))
    d, epsilon = 40, burges_normality.EPSILON
    lengths = np.mean([abs(x @ x - d) > epsilon * d for x in X])
    pairs = np.mean([abs(X[i] @ X[j]) > epsilon * d for i in range(60) for j in range(i)])
    np.testing.assert_allclose(burges_normality.violations(X), [lengths, pairs])


def test_distance_of_kolmogorov_and_smirnov():
    values = np.random.default_rng(0).standard_normal((50, 3))
    found = burges_normality.statistic(values, stats.norm.cdf)
    expected = [stats.kstest(column, "norm").statistic for column in values.T]
    np.testing.assert_allclose(found, np.sqrt(50) * np.array(expected) / 1.358)
    assert stats.kstwobign.sf(burges_normality.CRITICAL) == pytest.approx(0.05, abs=1e-3)


@pytest.mark.parametrize("name", ["uniform", "exponential", "two-valued"])
def test_samples_have_unit_variance(name):
    X = burges_normality.samples(name, np.random.default_rng(0), (20000, 2))
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=0.03)
    np.testing.assert_allclose(X.var(axis=0), 1, atol=0.05)
