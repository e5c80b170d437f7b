"""Projection pursuit: planted directions, indices against their formulas, projections of spheres, errors."""

from __future__ import annotations

from math import factorial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from eigenscape import ProjectionPursuit
from eigenscape.exceptions import RankError
from eigenscape.methods.projection_pursuit import (
    INDICES,
    AnalyticObjective,
    NumericalObjective,
    friedman_tukey,
    kurtosis,
    negentropy,
)
from eigenscape.quality import sphere_projection_density


def planted(n: int = 1500, d: int = 6, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return two clusters and a skewed variable mixed with normal ones, and the first two sources."""
    rng = np.random.default_rng(seed)
    sources = rng.standard_normal((n, d))
    sources[:, 0] = rng.choice([-1, 1], n) + 0.2 * rng.standard_normal(n)
    sources[:, 1] = rng.exponential(size=n)
    return sources @ rng.standard_normal((d, d)) + rng.standard_normal(d), sources[:, :2]


def agreement(embedding: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """Return the largest correlation of each source with a coordinate."""
    k = embedding.shape[1]
    return np.abs(np.corrcoef(embedding.T, sources.T)[:k, k:]).max(axis=0)


# --- planted directions -------------------------------------------------------------------------------------


@pytest.mark.parametrize("index", ["negentropy", "kurtosis"])
def test_planted_directions_are_found(index: str) -> None:
    X, sources = planted()
    model = ProjectionPursuit(n_components=2, index=index).fit(X)
    assert (agreement(model.embedding_, sources) > 0.97).all()
    assert model.converged_.all()
    assert 1 <= model.n_iter_ <= model.max_iter


def test_clusters_are_found_by_their_density() -> None:
    X, sources = planted(d=4)
    model = ProjectionPursuit(n_components=1, index="friedman-tukey", n_init=20).fit(X)
    assert agreement(model.embedding_, sources[:, :1]) > 0.99
    assert model.index_values_[0] > 0.15


def test_any_function_of_a_projection_can_be_the_index() -> None:
    X, sources = planted(600, 5)
    model = ProjectionPursuit(n_components=1, index=lambda p: float(np.mean(p**3) ** 2), n_init=4).fit(X)
    assert agreement(model.embedding_, sources[:, 1:]) > 0.97
    np.testing.assert_allclose(model.index_values_[0], stats.skew(model.embedding_[:, 0]) ** 2, rtol=1e-8)


def test_many_rows_are_searched_on_a_subset_and_refined() -> None:
    X, sources = planted(12_000, 8)
    model = ProjectionPursuit(n_components=2).fit(X)
    assert (agreement(model.embedding_, sources) > 0.99).all()
    np.testing.assert_allclose(model.index_values_, negentropy(model.embedding_)[0], rtol=1e-9)
    assert model.converged_.all()


def test_the_result_is_a_maximum() -> None:
    X, _ = planted(500, 4)
    model = ProjectionPursuit(n_components=1).fit(X)
    Z = ProjectionPursuit(n_components=4).fit_transform(X)  # whitened, in some basis
    rng = np.random.default_rng(0)
    best = np.linalg.lstsq(Z, model.embedding_[:, 0])[0]
    for size in (1e-3, 1e-2, 0.1):
        rivals = best + size * rng.standard_normal((200, 4))
        rivals /= np.linalg.norm(rivals, axis=1, keepdims=True)
        assert negentropy(Z @ rivals.T)[0].max() <= model.index_values_[0] + 1e-12


def test_more_starts_are_never_worse_and_are_reported() -> None:
    X, _ = planted(400, 8)
    model = ProjectionPursuit(n_components=2, n_init=12).fit(X)
    assert model.start_values_.shape == (2, 12)
    assert (model.index_values_ >= model.start_values_.max(axis=1)).all()


# --- the map ------------------------------------------------------------------------------------------------


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 1000))
def test_coordinates_are_white_and_inverted(seed: int) -> None:
    X, _ = planted(120, 4, seed)
    model = ProjectionPursuit(n_components=4, n_init=2, tol=1e-3).fit(X)
    np.testing.assert_allclose(np.cov(model.embedding_.T, bias=True), np.eye(4), atol=1e-9)
    np.testing.assert_allclose(model.embedding_.mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(model.inverse_transform(model.embedding_), X, atol=1e-8)
    np.testing.assert_allclose(
        model.transform(model.inverse_transform(model.embedding_[:5])), model.embedding_[:5], atol=1e-8
    )


def test_a_linear_change_of_variables_changes_no_index() -> None:
    X, _ = planted()
    mixed = X @ np.random.default_rng(5).standard_normal((6, 6)) + 100
    first, second = ProjectionPursuit().fit(X), ProjectionPursuit().fit(mixed)
    np.testing.assert_allclose(first.index_values_, second.index_values_, rtol=1e-6)
    assert (agreement(first.embedding_, second.embedding_) > 1 - 1e-6).all()


def test_directions_without_variance_are_omitted() -> None:
    X, sources = planted(d=4)
    padded = np.column_stack([X, X[:, 0] + X[:, 1], np.ones(len(X))])
    model = ProjectionPursuit(n_components=2).fit(padded)
    assert (agreement(model.embedding_, sources) > 0.97).all()
    with pytest.raises(
        RankError, match=r"n_components=5, but the 1500 samples vary along only 4 direction\(s\)"
    ):
        ProjectionPursuit(n_components=5).fit(padded)


# --- indices ------------------------------------------------------------------------------------------------


def literal_friedman_tukey(p: np.ndarray) -> float:
    n, h = len(p), 2.576 * len(p) ** -0.2
    pairs = sum(max(0.0, 1 - abs(p[i] - p[j]) / h) for i in range(n) for j in range(n) if i != j)
    normal = integrate.quad(
        lambda u: (1 - abs(u) / h) / h * stats.norm.pdf(u, scale=np.sqrt(2)), -h, h, points=[0]
    )[0]
    return pairs / (n * (n - 1) * h) - normal


def test_indices_by_their_formulas() -> None:
    rng = np.random.default_rng(0)
    P = np.column_stack([rng.standard_normal(60), rng.exponential(size=60), rng.choice([-1.0, 1], 60)])
    P = (P - P.mean(axis=0)) / P.std(axis=0)
    np.testing.assert_allclose(friedman_tukey(P)[0], [literal_friedman_tukey(p) for p in P.T], atol=1e-12)
    np.testing.assert_allclose(kurtosis(P)[0], stats.kurtosis(P) ** 2, atol=1e-12)
    for p, value in zip(P.T, negentropy(P)[0], strict=True):
        odd, even = np.mean(p * np.exp(-(p**2) / 2)), np.mean(np.exp(-(p**2) / 2))
        expected = (
            36 / (8 * np.sqrt(3) - 9) * odd**2 + 24 / (16 * np.sqrt(3) - 27) * (even - np.sqrt(0.5)) ** 2
        )
        assert value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", INDICES)
def test_derivatives_of_indices(name: str) -> None:
    Z = np.random.default_rng(0).exponential(size=(300, 3))
    W = np.random.default_rng(1).standard_normal((4, 3))
    W /= np.linalg.norm(W, axis=1, keepdims=True)
    index = INDICES[name]
    _, exact = AnalyticObjective(index)(Z, W)
    exact -= (exact * W).sum(axis=1, keepdims=True) * W
    _, numerical = NumericalObjective(lambda p: index(p[:, None])[0][0])(Z, W)
    np.testing.assert_allclose(
        exact, numerical, atol=(1e-6 if name != "friedman-tukey" else 1e-3) * np.abs(exact).max()
    )


@pytest.mark.parametrize("name", INDICES)
def test_the_index_of_a_normal_sample_is_small(name: str) -> None:
    rng = np.random.default_rng(0)
    normal = INDICES[name](rng.standard_normal((20_000, 3)))[0]
    clumps = INDICES[name](rng.choice([-1.0, 1.0], (20_000, 1)))[0]
    assert (np.abs(normal) < 0.02).all()
    assert clumps > 0.2


# --- projections of spheres (Burges fig. 1.1) ---------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 3, 5, 19])
def test_the_density_of_a_projected_sphere(n: int) -> None:
    """Compare with Burges eq. 1.1 for odd n; the sphere has dimension n + 1."""
    double_factorial = np.prod(np.arange(n, 0, -2, dtype=float))
    C = 2 ** (-(n + 1) / 2) * double_factorial / factorial((n - 1) // 2)
    xi = np.linspace(-1, 1, 41)
    np.testing.assert_allclose(
        sphere_projection_density(xi, n + 1), C * (1 - xi**2) ** ((n - 1) / 2), rtol=1e-12, atol=1e-15
    )
    for power, expected in ((0, 1), (2, 1 / (n + 2))):
        moment = integrate.quad(lambda x, k=power: x**k * sphere_projection_density(x, n + 1), -1, 1)[0]
        assert moment == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("dimension", [1, 2, 7, 20])
def test_a_sample_of_the_sphere_has_that_density(dimension: int) -> None:
    rng = np.random.default_rng(dimension)
    points = rng.standard_normal((20_000, dimension + 1))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    line = rng.standard_normal(dimension + 1)
    projected = points @ (line / np.linalg.norm(line))
    grid = np.linspace(-1, 1, 2001)
    middle = (grid[1:] + grid[:-1]) / 2
    share = np.r_[0, np.cumsum(sphere_projection_density(middle, dimension) * np.diff(grid))]
    test = stats.kstest(projected, lambda x: np.interp(x, grid, share / share[-1]))
    assert test.pvalue > 1e-3


def test_the_density_is_zero_off_the_sphere_and_checks_its_arguments() -> None:
    np.testing.assert_array_equal(sphere_projection_density([-1.5, 1.2], 4), 0)
    assert np.isinf(sphere_projection_density(1.0, 1))
    with pytest.raises(ValueError, match="dimension=0"):
        sphere_projection_density(0.1, 0)


@pytest.mark.long
def test_projections_of_a_sphere_are_near_normal() -> None:
    """Burges fig. 1.1: more so in higher dimensions, where pursuit finds nothing, unlike on the circle."""

    def distance(dimension: int) -> float:
        xi = np.linspace(-1, 1, 20_001)[1:-1]
        normal = stats.norm.pdf(xi, scale=(dimension + 1) ** -0.5)
        return float(np.abs(sphere_projection_density(xi, dimension) - normal).sum() * (xi[1] - xi[0]))

    distances = [distance(dimension) for dimension in (2, 5, 20, 100)]
    assert (np.diff(distances) < 0).all()
    assert distances[2] < 0.04 < 0.2 < distances[0]
    rng = np.random.default_rng(0)
    most = {}
    for dimension in (2, 20):
        points = rng.standard_normal((20_000, dimension + 1))
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        most[dimension] = ProjectionPursuit(n_components=1, n_init=3).fit(points).index_values_[0]
    assert most[20] < 0.005 < 0.01 < most[2]


# --- errors -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_components": 0}, "n_components=0"),
        (
            {"n_components": 7},
            "n_components=7 needs at least 8 samples and 7 features, got n_samples=1500, n_features=6",
        ),
        (
            {"index": "entropy"},
            "index='entropy' is not known; choose one of 'negentropy', 'kurtosis', 'friedman-tukey'",
        ),
        ({"n_init": 0}, "n_init=0"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"tol": 0.0}, r"tol=0\.0"),
    ],
)
def test_invalid_parameters_raise(params: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ProjectionPursuit(**params).fit(planted()[0])


def test_a_search_that_does_not_converge_warns() -> None:
    X, _ = planted()
    with pytest.warns(
        ConvergenceWarning,
        match=r"component\(s\) 0 did not converge in max_iter=2 steps: .* radians",
    ):
        model = ProjectionPursuit(n_components=1, max_iter=2).fit(X)
    assert not model.converged_.any()
    assert model.n_iter_ == 2


def test_a_failed_fit_leaves_no_model() -> None:
    X, _ = planted(100)
    for model in (ProjectionPursuit(1).fit(X), ProjectionPursuit()):
        with pytest.raises(ValueError, match="lower n_components"):
            model.set_params(n_components=40).fit(X)
        with pytest.raises(NotFittedError):
            model.transform(X)


def test_a_constant_column_is_no_direction() -> None:
    X = np.column_stack([np.random.default_rng(0).standard_normal((300, 3)), np.full(300, 2024.1)])
    np.testing.assert_allclose(ProjectionPursuit(3).fit(X).embedding_.std(axis=0), 1.0, rtol=1e-9)
    with pytest.raises(RankError, match=r"vary along only 3 direction\(s\)"):
        ProjectionPursuit(4).fit(X)


def test_an_offset_is_no_direction_of_few_rows() -> None:
    X = np.random.default_rng(0).standard_normal((10, 20)) + 100
    embedding = ProjectionPursuit(3).fit(X).embedding_
    np.testing.assert_allclose(embedding.std(axis=0), 1.0, rtol=1e-9)
    np.testing.assert_allclose(embedding.mean(axis=0), 0.0, atol=1e-9)


def test_equal_rows_raise() -> None:
    with pytest.raises(RankError, match="all rows are equal"):
        ProjectionPursuit(1).fit(np.tile([0.1, 2024.1, 1 / 3], (7, 1)))


def test_a_small_unit_beside_a_large_offset_is_a_direction() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.standard_normal(300), rng.standard_normal(300) + 1e6, 1e-11 * rng.standard_normal(300)]
    )
    np.testing.assert_allclose(ProjectionPursuit(3).fit(X).embedding_.std(axis=0), 1.0, rtol=1e-6)


def test_an_index_must_return_a_finite_number() -> None:
    with pytest.raises(ValueError, match=r"index returned nan .* must return a finite number"):
        ProjectionPursuit(1, index=lambda _: np.nan).fit(planted(50)[0])
