"""Projection pursuit density estimation: a normal density with corrected projections."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate
from scipy.stats import kstest, multivariate_normal
from sklearn.base import clone
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import KernelDensity

from eigenscape import ProjectionPursuitDensity
from eigenscape.exceptions import RankError

ROTATION = np.random.default_rng(5).standard_normal((6, 6))


def draw(n: int, seed: int) -> np.ndarray:
    """Two clusters along one direction and an exponential one, mixed with four normal ones."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, 6))
    Z[:, 0] = 3 * rng.choice([-1, 1], n) + 0.6 * rng.standard_normal(n)
    Z[:, 1] = rng.exponential(size=n)
    return Z @ ROTATION


def true_log_density(X: np.ndarray) -> np.ndarray:
    Z = X @ np.linalg.inv(ROTATION)
    normal = -(np.square(Z[:, 2:]).sum(axis=1) + 4 * np.log(2 * np.pi)) / 2
    clusters = np.logaddexp(*(-np.square((Z[:, 0] - c) / 0.6) / 2 for c in (-3, 3)))
    clusters = clusters - np.log(2 * 0.6 * np.sqrt(2 * np.pi))
    exponential = np.where(Z[:, 1] > 0, -Z[:, 1], -np.inf)
    return normal + clusters + exponential - np.linalg.slogdet(ROTATION)[1]


@pytest.fixture(scope="module")
def model() -> ProjectionPursuitDensity:
    return ProjectionPursuitDensity(n_components=3).fit(draw(500, 0))


@pytest.mark.long
def test_held_out_against_mixtures_and_kernels(model) -> None:
    X, new = draw(500, 0), draw(2000, 1)
    truth, found = true_log_density(new).mean(), model.score(new)
    assert model.n_components_ == 2
    assert (model.gains_ > 0.2).all()
    normal = GaussianMixture(1).fit(X).score(new)
    assert truth - found < 0.2 * (truth - normal)
    assert found > GaussianMixture(2, random_state=0).fit(X).score(new)
    assert found > max(KernelDensity(bandwidth=h).fit(X).score(new) / 2000 for h in (0.3, 0.5, 0.8, 1.2, 2))


def test_the_formula_written_out(model) -> None:
    new = draw(50, 2)
    density, X = model._map_, draw(500, 0)
    expected = multivariate_normal.logpdf(new, X.mean(axis=0), np.cov(X.T, bias=True))
    for direction, marginal in zip(model.directions_, density.marginals, strict=True):
        for i, z in enumerate((new - density.mean) @ density.whitener):
            p = z @ direction
            phi = np.exp(-p * p / 2) / np.sqrt(2 * np.pi)
            f = np.interp(p, marginal.grid, marginal.density, left=0, right=0)
            share = marginal.normal_share
            expected[i] += np.log(((1 - share) * f + share * phi) / phi)
    np.testing.assert_allclose(model.score_samples(new), expected, rtol=1e-8)
    np.testing.assert_allclose(model.directions_ @ model.directions_.T, np.eye(2), atol=1e-10)


def test_the_integral_is_one() -> None:
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.exponential(size=300), rng.standard_normal(300)])
    model = ProjectionPursuitDensity().fit(X)
    assert model.n_components_ >= 1
    axis = np.linspace(-9, 12, 601)
    grid = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    values = np.exp(model.score_samples(grid)).reshape(601, 601)
    total = integrate.trapezoid(integrate.trapezoid(values, axis), axis)
    assert total == pytest.approx(1, abs=5e-3)


def test_samples_follow_the_density(model) -> None:
    drawn, X = model.sample(4000, random_state=0), draw(500, 0)
    np.testing.assert_allclose(drawn.mean(axis=0), X.mean(axis=0), atol=0.25 * X.std(axis=0).max())
    np.testing.assert_allclose(np.cov(drawn.T), np.cov(X.T), atol=0.15 * np.abs(np.cov(X.T)).max())
    original = np.linalg.inv(ROTATION)
    for column in (0, 1):
        assert kstest((drawn @ original)[:, column], (draw(4000, 9) @ original)[:, column]).statistic < 0.08
    np.testing.assert_array_equal(model.sample(3), model.sample(3, random_state=0))
    assert model.score(drawn) == pytest.approx(model.score(draw(4000, 8)), abs=0.3)


@pytest.mark.long
def test_normal_data_need_no_direction() -> None:
    X = np.random.default_rng(4).standard_normal((800, 4)) @ ROTATION[:4, :4]
    model = ProjectionPursuitDensity().fit(X)
    assert model.n_components_ == 0
    expected = multivariate_normal.logpdf(X, X.mean(axis=0), np.cov(X.T, bias=True))
    np.testing.assert_allclose(model.score_samples(X), expected, rtol=1e-8)


@pytest.mark.long
def test_affine_maps_change_the_volume_alone(model) -> None:
    X, new = draw(500, 0), draw(100, 6)
    scaled = clone(model).fit(X * 10 - 3)
    difference = model.score_samples(new) - scaled.score_samples(new * 10 - 3)
    np.testing.assert_allclose(difference, 6 * np.log(10), atol=1e-3)
    again = clone(model).fit(X)
    np.testing.assert_array_equal(again.score_samples(new), model.score_samples(new))


def test_far_points_have_a_finite_density(model) -> None:
    values = model.score_samples(draw(5, 7) * np.array([[1], [10], [100], [1e3], [1e4]]))
    assert np.isfinite(values).all()
    assert (np.diff(values) < 0).all()


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"n_components": 0}, "n_components=0"),
        ({"n_components": 7}, "n_components=7 needs at least 7 features"),
        ({"index": "entropy"}, "index='entropy'"),
        ({"min_gain": -0.1}, "min_gain=-0.1"),
        ({"tol": 0}, "tol=0"),
    ],
)
def test_refused(params: dict, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        ProjectionPursuitDensity(**params).fit(draw(50, 0))


def test_a_singular_density_is_refused() -> None:
    X = draw(50, 0)
    with pytest.raises(RankError, match=r"only 6 of n_features=7 .* PCA\(n_components=6\)"):
        ProjectionPursuitDensity().fit(np.column_stack([X, X[:, 0]]))
