"""Ridge regression on eigenfunctions against its definition."""

from __future__ import annotations

import numpy as np
import pytest

from eigenscape.methods.eigen_ridge import RidgeGrid, fit_eigen_ridge


def literal(F: np.ndarray, Y: np.ndarray, penalty: np.ndarray, w: np.ndarray, alpha: float) -> np.ndarray:
    """Minimise the penalised sum of squares by its normal equations; the intercept is the last row."""
    A = np.column_stack([F, np.ones(len(F))])
    P = np.diag([*(alpha * w.sum() * penalty), 0.0])
    return np.linalg.solve(A.T @ (w[:, None] * A) + P, A.T @ (w[:, None] * Y))


@pytest.fixture(scope="module")
def problem() -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(0)
    F, Y = rng.standard_normal((25, 6)), rng.standard_normal((25, 2))
    return F, Y, np.array([1.0, 1.5, 2, 4, 7, 9]), rng.uniform(0.5, 2, 25)


@pytest.mark.parametrize("smoothness", [0.0, 1.0, 2.0])
def test_coefficients_solve_the_normal_equations(problem, smoothness):
    F, Y, roughness, w = problem
    fit = fit_eigen_ridge(F, Y, roughness, w, RidgeGrid([4], [0.3], [smoothness]))
    expected = literal(F[:, :4], Y, roughness[:4] ** smoothness, w, 0.3)
    np.testing.assert_allclose(fit.coefficients, expected[:-1], atol=1e-12)
    np.testing.assert_allclose(fit.intercept, expected[-1], atol=1e-12)
    np.testing.assert_allclose(fit(F), F[:, :4] @ expected[:-1] + expected[-1], atol=1e-12)


def test_left_out_values_are_those_of_fits_without_the_point(problem):
    F, Y, roughness, w = problem
    fit = fit_eigen_ridge(F, Y, roughness, w, RidgeGrid([5], [0.2], [1.0]))
    for i in range(len(F)):
        others = np.arange(len(F)) != i
        # The weight of the penalty is that of the whole fit.
        alpha = 0.2 * w.sum() / w[others].sum()
        c = literal(F[others, :5], Y[others], roughness[:5], w[others], alpha)
        np.testing.assert_allclose(fit.left_out[i], F[i, :5] @ c[:-1] + c[-1], atol=1e-10)
    error = np.average(((Y - fit.left_out) ** 2).sum(axis=1), weights=w)
    assert fit.error == pytest.approx(error)


def test_the_choice_has_the_least_error_of_the_grid(problem):
    F, Y, roughness, w = problem
    grid = RidgeGrid([2, 6], [1e-3, 0.1, 10], [0.0, 1.0])
    chosen = fit_eigen_ridge(F, Y, roughness, w, grid)
    errors = [
        fit_eigen_ridge(F, Y, roughness, w, RidgeGrid([n], [a], [s])).error
        for n in grid.n_functions
        for a in grid.alphas
        for s in grid.smoothness
    ]
    assert chosen.error == pytest.approx(min(errors))
    assert max(errors) > 1.01 * min(errors)


def test_a_weight_equals_repeated_points(problem):
    F, Y, roughness, _ = problem
    counts = np.random.default_rng(1).integers(1, 4, len(F))
    grid = RidgeGrid([6], [0.1], [1.0])
    weighted = fit_eigen_ridge(F, Y, roughness, counts.astype(float), grid)
    repeated = fit_eigen_ridge(
        np.repeat(F, counts, axis=0), np.repeat(Y, counts, axis=0), roughness, np.ones(counts.sum()), grid
    )
    np.testing.assert_allclose(weighted.coefficients, repeated.coefficients, atol=1e-12)


def test_fewer_points_than_functions_and_one_point():
    rng = np.random.default_rng(0)
    F, Y = rng.standard_normal((3, 8)), rng.standard_normal((3, 1))
    grid = RidgeGrid([8], [1e-6, 1.0], [1.0])
    assert np.isfinite(fit_eigen_ridge(F, Y, np.ones(8), np.ones(3), grid).coefficients).all()
    one = fit_eigen_ridge(F[:1], Y[:1], np.ones(8), np.ones(1), grid)
    np.testing.assert_allclose(one(F), np.full((3, 1), Y[0, 0]), atol=1e-12)
