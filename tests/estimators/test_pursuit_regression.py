"""Projection pursuit regression: sums of smooth functions of projections."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from covering import PRODUCT
from sklearn.base import clone
from sklearn.datasets import make_swiss_roll
from sklearn.linear_model import LinearRegression

from eigenscape import ProjectionPursuitRegressor
from eigenscape.methods.pursuit_regression import smooth


def product(X: np.ndarray) -> np.ndarray:
    return X[:, 0] * X[:, 1]


def two_ridges(X: np.ndarray) -> np.ndarray:
    return np.sin(3 * X @ [0.6, 0.8, 0, 0, 0]) + np.square(X @ [0, 0, 0.5, 0.5, 0.7])


def linear(X: np.ndarray) -> np.ndarray:
    return X @ [1.0, -2.0, 0.5, 0.0, 1.0]


def problem(truth, n: int = 250, noise: float = 0.1) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    X, new = rng.uniform(-1, 1, (n, 5)), rng.uniform(-1, 1, (1000, 5))
    return X, truth(X) + noise * rng.standard_normal(n), new, truth(new)


def test_many_features_are_reduced_to_the_span_of_the_rows() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12, 2000))
    X[:, 0] = 1.0
    y = np.sin(X @ rng.standard_normal(2000) / 40)
    tracemalloc.start()
    model = ProjectionPursuitRegressor(1, cv=None, n_init=1, max_iter=3).fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 2000**2 / 4  # no matrix between all pairs of features
    direction, rows = model.directions_[0], np.delete(X - X.mean(axis=0), 0, axis=1) / X[:, 1:].std(axis=0)
    inside = np.linalg.lstsq(rows.T, direction[1:], rcond=None)[0] @ rows
    np.testing.assert_allclose(inside, direction[1:], atol=1e-12)
    assert abs(direction[0]) < 1e-12
    assert model.score(X, y) > 0.95


@pytest.fixture(scope="module")
def ridges() -> tuple[ProjectionPursuitRegressor, tuple[np.ndarray, ...]]:
    data = problem(two_ridges)
    return ProjectionPursuitRegressor(cv=2, n_init=2).fit(*data[:2]), data


@pytest.mark.long
@pytest.mark.parametrize(("truth", "n_terms", "linear_below"), [(product, 2, 0.05), (linear, 1, 1.0)])
def test_held_out_against_a_linear_model(truth, n_terms: int, linear_below: float) -> None:
    X, y, new, values = problem(truth)
    model = ProjectionPursuitRegressor(cv=2, n_init=2).fit(X, y)
    assert model.n_terms_ == n_terms
    assert model.score(new, values) > 0.98
    assert LinearRegression().fit(X, y).score(new, values) <= linear_below


@pytest.mark.long
def test_directions_of_two_ridges(ridges) -> None:
    model, (X, y, new, values) = ridges
    assert model.n_terms_ == 2
    truth = np.array([[0.6, 0.8, 0, 0, 0], [0, 0, 0.5, 0.5, 0.7]])
    truth = truth * X.std(axis=0)  # in the standardised features
    truth /= np.linalg.norm(truth, axis=1, keepdims=True)
    np.testing.assert_allclose(np.abs(model.directions_ @ truth.T), np.eye(2), atol=0.1)
    np.testing.assert_allclose(np.linalg.norm(model.directions_, axis=1), 1)
    assert model.score(new, values) > 0.99 > 0.5 > LinearRegression().fit(X, y).score(new, values)


@pytest.mark.long
def test_the_share_that_is_not_explained(ridges) -> None:
    model, (X, y, _, _) = ridges
    assert model.unexplained_.shape == (3,)
    assert 1 <= model.n_iter_ <= model.max_iter
    assert (np.diff(model.unexplained_) < -model.min_gain).all()
    assert 1 - model.score(X, y) == pytest.approx(model.unexplained_[-1])


def test_prediction_is_the_sum_of_the_terms(ridges) -> None:
    model, (X, y, new, _) = ridges
    Z = (new - X.mean(axis=0)) / X.std(axis=0)
    values = np.full(len(new), y.mean())
    for term in model._map_.terms:
        values = values + term(Z)
    np.testing.assert_allclose(model.predict(new), values, atol=1e-12)
    np.testing.assert_allclose(model.predict(new[:3]), model.predict(new)[:3], atol=1e-13)


def test_terms_continue_linearly(ridges) -> None:
    model, _ = ridges
    steps = 20.0 + np.arange(5.0)
    values = model.predict(steps[:, None] * np.array([[0.3, 0.4, 0.2, 0.2, 0.5]]))
    np.testing.assert_allclose(np.diff(values, 2), 0, atol=1e-9)


@pytest.mark.long
def test_units_do_not_matter_and_the_seed_decides(ridges) -> None:
    model, (X, y, new, _) = ridges
    scale, shift = np.array([1e3, 1, 1e-3, 5, 2]), np.arange(5.0)
    other = clone(model).fit(X * scale + shift, 10 * y + 3)
    np.testing.assert_allclose(other.predict(new * scale + shift), 10 * model.predict(new) + 3, atol=1e-3)
    small = [clone(model).set_params(n_terms=1).fit(X[:100], y[:100]).predict(new) for _ in range(2)]
    np.testing.assert_array_equal(*small)


def noisy(truth: float, seed: int) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(seed)
    X, new = rng.standard_normal((200, 10)), rng.standard_normal((1000, 10))
    return X, truth * X[:, 0] + rng.standard_normal(200), new, truth * new[:, 0] + rng.standard_normal(1000)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4 if PRODUCT else 2))
def test_noise_has_no_terms(seed: int) -> None:
    X, y, new, _ = noisy(0.0, seed)
    model = ProjectionPursuitRegressor(n_init=2).fit(X, y)
    assert model.n_terms_ == 0
    assert model.directions_.shape == (0, 10)
    assert np.ptp(model.predict(new)) == 0
    if seed == 0:  # the training values tell nothing
        assert ProjectionPursuitRegressor(n_terms=1, n_init=2, cv=None).fit(X, y).n_terms_ == 1


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3 if PRODUCT else 1))
def test_linear_truth_with_much_noise(seed: int) -> None:
    X, y, new, values = noisy(1.0, seed)
    model = ProjectionPursuitRegressor(n_init=2).fit(X, y)
    assert model.n_terms_ == 1
    assert model.score(new, values) > LinearRegression().fit(X, y).score(new, values) - 0.06


@pytest.mark.long
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("n", [2, 3, 4, 5, 8])
def test_few_samples(n: int) -> None:
    X, y = make_swiss_roll(20, random_state=0)
    for cv in (None, 5):
        assert np.isfinite(ProjectionPursuitRegressor(cv=cv, n_init=1).fit(X[:n], y[:n]).predict(X)).all()


@pytest.mark.long
def test_constant_columns_and_values_have_no_part() -> None:
    X, y, _, _ = problem(linear, 60)
    X[:, 3] = 7.0
    model = ProjectionPursuitRegressor(n_terms=1).fit(X, y)
    assert model.directions_[0, 3] == pytest.approx(0, abs=1e-12)
    assert ProjectionPursuitRegressor().fit(X, np.ones(60)).n_terms_ == 0


def test_few_values_are_joined_by_a_line() -> None:
    Z = np.array([[0.0], [0.0], [1.0], [2.0]])
    term = smooth(Z, np.array([0.0, 2.0, 3.0, 5.0]), np.ones(1))
    expected = np.polynomial.Polynomial.fit(Z[:, 0], [0.0, 2.0, 3.0, 5.0], 1)
    np.testing.assert_allclose(term(np.array([[-1.0], [0.5], [4.0]])), expected(np.array([-1.0, 0.5, 4.0])))


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"n_terms": 0}, "n_terms=0"),
        ({"cv": 1}, "cv=1"),
        ({"min_gain": -1}, "min_gain=-1"),
        ({"min_gain": "auto"}, "min_gain='auto'"),
        ({"n_init": -1}, "n_init=-1"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"tol": 0}, "tol=0"),
    ],
)
def test_refused(params: dict, match: str) -> None:
    X, y, _, _ = problem(linear, 20)
    with pytest.raises(ValueError, match=match):
        ProjectionPursuitRegressor(**params).fit(X, y)
