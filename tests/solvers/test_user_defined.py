"""User-defined eigensolvers: same results as the built-in ones, and verified in the same way."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from eigenscape.exceptions import NotConvergedError, NotConvergedWarning
from eigenscape.operators import as_operator
from eigenscape.solvers import EigenSolver, SemidefiniteProblem, SolverConfig, principal, smallest

M = 40


class NumpySolver:
    """Eigenpairs by numpy, in ascending order, optionally perturbed."""

    def __init__(self, noise=0.0):
        self.noise = noise

    def principal(self, operator, count, order):
        values, vectors = np.linalg.eigh(operator.matrix())
        pick = np.argsort(np.abs(values) if order == "magnitude" else values)[-count:]
        return values[pick] + self.noise, vectors[:, pick]

    def smallest(self, problem, count):
        values, vectors = np.linalg.eigh(problem.operator.matrix().toarray())
        return values[1 : count + 1] + self.noise, vectors[:, 1 : count + 1]


def returning(values, vectors):
    """A solver that returns the given arrays for every problem."""

    class Fixed:
        def principal(self, operator, count, order):
            return values, vectors

        def smallest(self, problem, count):
            return values, vectors

    return SolverConfig(Fixed())


@pytest.fixture
def matrix():
    B = np.random.default_rng(0).standard_normal((M, M))
    return (B + B.T) / 2


@pytest.fixture
def problem():
    """Laplacian of a path, whose null vector is constant."""
    W = sparse.diags_array([np.linspace(1, 2, M - 1)] * 2, offsets=[-1, 1])
    L = sparse.csr_array(sparse.diags_array(W.sum(axis=1)) - W)
    return SemidefiniteProblem(as_operator(L), np.full(M, M**-0.5), 8.0)


@pytest.mark.parametrize("order", ["value", "magnitude"])
def test_principal_agrees_with_the_built_in_solver(matrix, order):
    ours = principal(as_operator(matrix), 4, order, SolverConfig())
    theirs = principal(as_operator(matrix), 4, order, SolverConfig(NumpySolver()))
    assert_allclose(theirs.values, ours.values, rtol=1e-12)
    assert_allclose(theirs.vectors, ours.vectors, atol=1e-10)
    assert (theirs.solver, theirs.n_iter) == ("NumpySolver", 1)


def test_smallest_agrees_with_the_built_in_solver(problem):
    ours, theirs = smallest(problem, 3, SolverConfig()), smallest(problem, 3, SolverConfig(NumpySolver()))
    assert_allclose(theirs.values, ours.values, rtol=1e-10)
    assert_allclose(theirs.vectors, ours.vectors, atol=1e-8)


def test_residuals_of_a_user_defined_solver_are_checked(matrix, problem):
    with pytest.raises(NotConvergedError, match=r"residual.*NumpySolver"):
        principal(as_operator(matrix), 2, "value", SolverConfig(NumpySolver(noise=0.1)))
    with pytest.raises(NotConvergedError, match=r"residual.*NumpySolver"):
        smallest(problem, 2, SolverConfig(NumpySolver(noise=1e-3)))
    with pytest.warns(NotConvergedWarning, match=r"error of about .*e-05 .* if more digits are needed"):
        principal(as_operator(matrix), 2, "value", SolverConfig(NumpySolver(noise=1e-4)))
    principal(as_operator(matrix), 2, "value", SolverConfig(NumpySolver(noise=1e-3), tol=0.1))


def test_the_null_vector_is_not_accepted_as_an_eigenvector(problem):
    vectors = np.linalg.eigh(problem.operator.matrix().toarray())[1][:, :3]
    with pytest.raises(ValueError, match=r"Fixed.*not orthogonal to problem\.null"):
        smallest(problem, 2, returning(np.zeros(3), vectors))


@pytest.mark.parametrize(
    ("values", "vectors", "message"),
    [
        (np.ones(2), np.eye(M)[:, :3], r"shape \(3,\) and eigenvectors of shape \(40, 3\), got \(2,\)"),
        (np.ones(3), np.eye(M - 1)[:, :3], r"got \(3,\) and \(39, 3\)"),
        (np.full(3, np.nan), np.eye(M)[:, :3], "NaN or infinite"),
        (np.ones(3), 2 * np.eye(M)[:, :3], "not orthonormal"),
        (np.ones(3), np.ones((M, 3)) / M**0.5, "not orthonormal"),
    ],
)
def test_invalid_results_are_rejected(matrix, values, vectors, message):
    with pytest.raises(ValueError, match=f"eigen_solver=Fixed .*{message}"):
        principal(as_operator(matrix), 3, "value", returning(values, vectors))


def test_a_result_that_is_not_a_pair_is_rejected(matrix):
    class NoResult(NumpySolver):
        def principal(self, operator, count, order):
            return None

    with pytest.raises(ValueError, match=r"NoResult must return a tuple .*got NoneType"):
        principal(as_operator(matrix), 3, "value", SolverConfig(NoResult()))


@pytest.mark.parametrize("method", [3, None, NumpySolver, object()])
def test_objects_without_the_interface_are_rejected(method):
    with pytest.raises(ValueError, match=r"eigen_solver=.*principal\(operator, count, order\)"):
        SolverConfig(method)


def test_the_interface_can_be_tested():
    assert isinstance(NumpySolver(), EigenSolver)
    assert not isinstance("dense", EigenSolver)
