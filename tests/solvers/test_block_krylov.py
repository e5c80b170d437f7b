"""Block Krylov iteration: restarts, multiple eigenvalues and invariant spaces."""

from __future__ import annotations

import numpy as np
import pytest

from eigenscape.operators import DenseOperator
from eigenscape.solvers import SolverConfig, principal
from eigenscape.solvers.krylov import block_krylov


def matrix_of(spectrum):
    """Return a symmetric matrix with the given eigenvalues."""
    basis = np.linalg.qr(np.random.default_rng(0).standard_normal((len(spectrum), len(spectrum))))[0]
    A = (basis * spectrum) @ basis.T
    return (A + A.T) / 2


def solve(A, count, **options):
    given = {"tol": 1e-11, "noise": 1e-15, "guard": 3, "head_start": 7, **options}
    return block_krylov(lambda V: A @ V, len(A), count, **given)


@pytest.mark.parametrize("count", [1, 4, 7, 20])
def test_leading_pairs_after_restarts(count):
    spectrum = np.linspace(1, 0, 600) ** 2
    result = solve(matrix_of(spectrum), count)
    assert result.converged
    assert result.n_iter > 18  # more than the Krylov space holds
    np.testing.assert_allclose(result.values, spectrum[:count], rtol=1e-12)
    np.testing.assert_allclose(result.vectors.T @ result.vectors, np.eye(count), atol=1e-12)


def test_order_by_magnitude():
    spectrum = np.concatenate([[-9.0, 8.0, -7.0], np.linspace(1, -1, 297)])
    np.testing.assert_allclose(solve(matrix_of(spectrum), 3, order="magnitude").values, [-9, 8, -7])
    np.testing.assert_allclose(solve(matrix_of(spectrum), 2).values, [8, 1], rtol=1e-10)


def test_more_equal_eigenvalues_than_a_block_is_wide():
    spectrum = np.concatenate([[9.0] * 12, [5.0, 4.0, 3.0], np.linspace(1, 0, 285)])
    pairs = principal(DenseOperator(matrix_of(spectrum)), 8, "value", SolverConfig())
    np.testing.assert_allclose(pairs.values, spectrum[:8], rtol=1e-12)
    pairs = principal(DenseOperator(matrix_of(spectrum)), 15, "value", SolverConfig())
    np.testing.assert_allclose(pairs.values, spectrum[:15], rtol=1e-12)


def test_an_invariant_space_is_left():
    """A matrix of rank three: the second block has one direction, the third has none."""
    rows = np.random.default_rng(0).standard_normal((400, 3))
    A = rows @ rows.T
    result = solve(A, 5, noise=1e-13)
    expected = np.linalg.eigvalsh(rows.T @ rows)[::-1]
    np.testing.assert_allclose(result.values[:3], expected, rtol=1e-12)
    np.testing.assert_allclose(result.values[3:], 0, atol=1e-12 * expected[0])
    np.testing.assert_allclose(result.vectors.T @ result.vectors, np.eye(5), atol=1e-12)


@pytest.mark.parametrize("rank", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("seed", range(5))
def test_a_matrix_of_low_rank_is_solved_at_once(rank, seed):
    """Blocks of a low rank have vectors that are rounding errors, whose directions were kept."""
    factor = np.random.default_rng(seed).standard_normal((400, rank)) * np.linspace(50, 10, rank)
    K = factor @ factor.T
    for product in (K.__matmul__, lambda V: np.ascontiguousarray(V.T @ K).T):  # rounded in different ways
        count = min(rank, 3)
        found = block_krylov(product, 400, count, tol=1e-11, noise=1e-14, seed=seed, guard=3, head_start=7)
        assert found.converged
        assert found.n_iter <= 8  # the first time that is looked, or the next
        np.testing.assert_allclose(found.values, np.linalg.eigvalsh(K)[::-1][:count], rtol=1e-12)
