"""Nystrom method on matrices (Burges sec. 2.1, note 11) against transcriptions and dense decompositions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg

from eigenscape.exceptions import RankError
from eigenscape.nystrom import approximate_eigh, complete, exact_eigh, schur_error


def low_rank(n: int, rank: int, seed: int = 0, signs: bool = False) -> np.ndarray:
    """A random symmetric matrix of a given rank, positive semi-definite or not."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, rank))
    return (Z * np.where(np.arange(rank) % 3 == 2, -1, 1)) @ Z.T if signs else Z @ Z.T


def gaussian(n: int) -> np.ndarray:
    """A Gaussian kernel of points in a plane, in random order."""
    X = np.random.default_rng(0).uniform(size=(n, 2))
    return np.exp(-2 * np.square(X[:, None] - X).sum(axis=2))


def literal_exact(A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Burges eq. 1.24 as printed, for an ``A`` that can be inverted."""
    root = linalg.fractional_matrix_power(A, -0.5)
    Q = A + root @ B @ B.T @ root
    values, U = np.linalg.eigh(Q)
    return values, np.concatenate([A, B.T]) @ root @ U @ np.diag(values**-0.5)


def assert_decomposes(K: np.ndarray, values: np.ndarray, vectors: np.ndarray, tol: float = 1e-10) -> None:
    """The eigenpairs are the nonzero ones of a dense decomposition of ``K``."""
    dense = np.linalg.eigvalsh(K)[::-1]
    scale = np.abs(dense).max()
    nonzero = dense[np.abs(dense) > 1e-9 * scale]
    np.testing.assert_allclose(values, nonzero, rtol=0, atol=tol * scale)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=tol)
    np.testing.assert_allclose((vectors * values) @ vectors.T, K, rtol=0, atol=tol * scale)


# --- exact --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("signs", [False, True])
@pytest.mark.parametrize("rank", range(1, 25))
def test_exact_pairs_are_those_of_the_whole_matrix_for_every_rank(rank, signs):
    n = 24
    K = low_rank(n, rank, seed=rank, signs=signs)
    for q in sorted({rank + extra for extra in (2, 5) if rank + extra <= n} | {n}):  # A of full rank or not
        assert_decomposes(K, *exact_eigh(K[:q, :q], K[:q, q:]))


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 40), st.data())
def test_exact_pairs_of_random_kernels(n, draw):
    rank = draw.draw(st.integers(1, n))
    q = draw.draw(st.integers(min(rank + 2, n), n))
    K = low_rank(n, rank, seed=draw.draw(st.integers(0, 10**6)))
    assert_decomposes(K, *exact_eigh(K[:q, :q], K[:q, q:]))


def test_exact_pairs_are_burges_equation():
    K = low_rank(30, 5)
    A, B = K[:5, :5], K[:5, 5:]
    values, vectors = exact_eigh(A, B)
    printed, columns = literal_exact(A, B)
    np.testing.assert_allclose(values, printed[::-1], rtol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(vectors * columns[:, ::-1], axis=0)), 1, atol=1e-9)


def test_exact_pairs_of_a_kernel_of_full_rank_are_those_of_its_completion():
    K = gaussian(60)
    A, B = K[:12, :12], K[:12, 12:]
    completed = np.block([[A, B], [B.T, B.T @ np.linalg.solve(A, B)]])
    values, vectors = exact_eigh(A, B)
    np.testing.assert_allclose((vectors * values) @ vectors.T, completed, atol=1e-8)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(values)), atol=1e-12)


def test_rows_that_reach_beyond_their_own_span_are_refused():
    with pytest.raises(RankError, match="A has rank 1, and the columns of B are not in its span"):
        exact_eigh(np.diag([1.0, 0.0]), np.array([[1.0], [1.0]]))


# --- approximate --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rank", [1, 3, 7])
def test_approximate_vectors_are_burges_equation_and_complete_the_matrix(rank):
    K = low_rank(30, rank)
    values, vectors = approximate_eigh(K[:9, :9], K[:9, 9:])
    assert len(values) == rank
    own, U = np.linalg.eigh(K[:9, :9])
    np.testing.assert_allclose(values, own[::-1][:rank], rtol=1e-10)
    U = U[:, ::-1][:, :rank] * np.sign(np.sum(U[:, ::-1][:, :rank] * vectors[:9], axis=0))
    np.testing.assert_allclose(vectors, K[:, :9] @ U / values, atol=1e-9)  # eq. 1.25
    np.testing.assert_allclose((vectors * values) @ vectors.T, K, atol=1e-9)


def test_approximate_pairs_tend_to_the_exact_ones():
    K = gaussian(240)
    truth, V = np.linalg.eigh(K)
    truth, V = truth[::-1][:4], V[:, ::-1][:, :4]
    errors, angles = [], []
    for q in (10, 30, 90, 240):
        values, vectors = approximate_eigh(K[:q, :q], K[:q, q:], n_components=4)
        errors.append(
            np.abs(values * len(K) / q - truth).max() / truth[0]
        )  # Burges sec. 2.1.1: they scale with the points
        angles.append(linalg.subspace_angles(vectors, V).max())
    assert errors[0] > errors[1] > errors[2] > errors[3]
    assert angles[0] > angles[1] > angles[2] > angles[3]
    assert errors[3] < 1e-12
    assert angles[3] < 1e-7


# --- the Schur complement -----------------------------------------------------------------------------------


def test_schur_error_is_the_norm_of_the_complement():
    K = gaussian(80)
    A, B, C = K[:10, :10], K[:10, 10:], K[10:, 10:]
    expected = np.linalg.norm(C - B.T @ np.linalg.solve(A, B))
    error = schur_error(A, B, C)
    assert error.size == pytest.approx(expected, rel=1e-6)
    assert error.relative == pytest.approx(expected / np.linalg.norm(C), rel=1e-6)
    assert error.standard_error == 0
    assert schur_error(A, B, lambda columns: C[:, columns], n_columns=500) == pytest.approx(error, rel=1e-12)


def test_schur_error_vanishes_with_the_rank():
    K = low_rank(50, 6)
    sizes = [schur_error(K[:q, :q], K[:q, q:], K[q:, q:]).relative for q in (2, 4, 6, 8)]
    assert sizes[0] > sizes[1] > 1e-3
    assert max(sizes[2:]) < 1e-10


def test_sampled_schur_error_covers_the_true_one():
    K = gaussian(400)
    A, B, C = K[:8, :8], K[:8, 8:], K[8:, 8:]
    truth = schur_error(A, B, C).size
    within = 0
    for seed in range(40):
        error = schur_error(A, B, lambda columns: C[:, columns], n_columns=40, random_state=seed)
        assert 0 < error.standard_error < truth
        within += abs(error.size - truth) <= 2 * error.standard_error
    assert within >= 33


# --- completion ---------------------------------------------------------------------------------------------


def damaged(K: np.ndarray, n_rows: int) -> np.ndarray:
    """All but the first rows and columns missing."""
    K = K.copy()
    K[n_rows:, n_rows:] = np.nan
    return K


def test_the_accident_of_note_11():
    K = low_rank(12, 2)
    np.testing.assert_allclose(complete(damaged(K, 2), rank=2), K, atol=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.integers(4, 30), st.data())
def test_rows_that_outnumber_their_rank_grow_the_kernel_back(n, draw):
    rank = draw.draw(st.integers(1, n - 2))
    rows = draw.draw(st.integers(rank + 1, n - 1))
    K = low_rank(n, rank, seed=draw.draw(st.integers(0, 10**6)))
    order = np.random.default_rng(n).permutation(n)  # the rows that are there need not come first
    given_back = complete(damaged(K, rows)[np.ix_(order, order)])
    np.testing.assert_allclose(given_back, K[np.ix_(order, order)], atol=1e-6 * np.abs(K).max())


def test_entries_that_are_there_stay_and_one_side_suffices():
    K = low_rank(10, 2)
    torn = damaged(K, 4)
    torn[0, 5] = np.nan  # its mirror image is there
    torn[6, 7] = torn[7, 6] = K[6, 7]
    grown = complete(torn)
    assert grown[6, 7] == K[6, 7]
    np.testing.assert_allclose(grown, K, atol=1e-10)
    assert np.isnan(torn[0, 5])  # the argument is left alone


def test_a_known_diagonal_vouches_for_independent_rows():
    K = low_rank(10, 3)
    torn = damaged(K, 3)
    np.fill_diagonal(torn, K.diagonal())
    np.testing.assert_allclose(complete(torn), K, atol=1e-7)


def test_a_whole_matrix_is_returned():
    K = gaussian(6)
    np.testing.assert_array_equal(complete(K), K)


def with_nan(K: np.ndarray, i: int, j: int) -> np.ndarray:
    K = K.copy()
    K[i, j] = np.nan
    return K


def test_what_is_not_determined_is_refused_with_the_reason():
    K = low_rank(10, 3)
    with pytest.raises(RankError, match="every row of K has a missing entry"):
        complete(with_nan(K, range(10), range(10)))
    with pytest.raises(RankError, match=r"linearly independent.*pass rank=3"):
        complete(damaged(K, 3))
    with pytest.raises(RankError, match="rank=3, but the 2 complete rows have rank 2"):
        complete(damaged(K, 2), rank=3)
    with pytest.raises(RankError, match="rank=2, but the 5 complete rows have rank 3"):
        complete(damaged(K, 5), rank=2)
    wrong = damaged(K, 5)
    wrong[8, 8] = K[8, 8] + 1
    with pytest.raises(RankError, match="the kernel has a higher rank"):
        complete(wrong)
    lost = np.array([[0.0, 0, 1, 2], [0, 1, 0, 1], [1, 0, np.nan, np.nan], [2, 1, np.nan, np.nan]])
    with pytest.raises(
        RankError, match="have rank 1 among themselves, but a higher one with the other points"
    ):
        complete(lost)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: exact_eigh(np.ones((2, 3)), np.ones((2, 1))), "A must be square"),
        (lambda: exact_eigh(np.eye(2), np.ones((3, 1))), "B must have the 2 rows that A has"),
        (lambda: exact_eigh(np.array([[1.0, 2], [0, 1]]), np.ones((2, 1))), "A must be symmetric"),
        (lambda: exact_eigh(np.full((2, 2), np.nan), np.ones((2, 1))), "use complete"),
        (lambda: approximate_eigh(np.zeros((2, 2)), np.zeros((2, 1))), "A is zero"),
        (lambda: schur_error(np.eye(2), np.ones((2, 3)), np.eye(2)), r"C must have shape \(3, 3\)"),
        (
            lambda: schur_error(np.eye(2), np.ones((2, 3)), lambda c: np.eye(3)[:, c], n_columns=1),
            "n_columns=1 must be",
        ),
        (lambda: complete(np.ones((2, 3))), "K must be square"),
        (lambda: complete(np.array([[1.0, np.inf], [np.inf, 1.0]])), "mark missing ones by NaN"),
        (lambda: complete(np.array([[1.0, 2, 3], [1, 2, 3], [3, 3, np.nan]])), "must be symmetric"),
    ],
)
def test_bad_input(call, match):
    with pytest.raises(ValueError, match=match):
        call()
