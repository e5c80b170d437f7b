"""Kernel eigenmaps of many kernels: the eigenproblem by iteration (Brand sec. 6)."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse.linalg import ArpackNoConvergence
from sklearn.datasets import make_swiss_roll

from eigenscape import KernelEigenmap
from eigenscape.datasets import twisted_roll
from eigenscape.exceptions import NotConvergedError, NotEnoughMemoryError
from eigenscape.methods import graph_embedding, iterative_reduction, kernel_eigenmap
from eigenscape.methods.tuning import TUNING
from eigenscape.options import LocalKernels, Solver


@pytest.fixture(scope="module")
def roll() -> np.ndarray:
    return twisted_roll(40)[0]


@pytest.mark.long
@pytest.mark.parametrize(
    "params",
    [
        {},
        {"kernels": LocalKernels(local_components=1)},
        {"kernels": LocalKernels(covariances="full")},
        {"regularization": 1.0},
    ],
    ids=str,
)
def test_the_map_is_that_of_the_dense_solver(params: dict, roll) -> None:
    dense, iterative = (
        KernelEigenmap(2, n_kernels=150, eigen_solver=solver, **params).fit(roll)
        for solver in ("dense", "iterative")
    )
    scale = np.abs(dense.embedding_).max()
    np.testing.assert_allclose(iterative.embedding_, dense.embedding_, atol=1e-4 * scale)
    np.testing.assert_allclose(1 - iterative.eigenvalues_, 1 - dense.eigenvalues_, rtol=1e-6)
    np.testing.assert_allclose(iterative.transform(roll), iterative.embedding_, atol=1e-8 * scale)
    new = roll[::7] + 0.05
    np.testing.assert_allclose(iterative.transform(new), dense.transform(new), atol=1e-3 * scale)
    assert (iterative.residuals_ < 1e-6).all()


@pytest.mark.long
@pytest.mark.parametrize(("n", "n_kernels"), [(500, 120), (1000, 100), (1000, 200)])
def test_kernels_that_are_nearly_dependent(n: int, n_kernels: int) -> None:
    """Here the rank of ``Z`` is below the number of its columns; the residual leaves a wide margin."""
    X = make_swiss_roll(n, random_state=0)[0]
    dense, iterative = (
        KernelEigenmap(2, n_kernels=n_kernels, eigen_solver=solver).fit(X)
        for solver in ("dense", "iterative")
    )
    assert dense.rank_ < 4 * n_kernels - 1
    assert (iterative.residuals_ < 1e-7).all()
    scale = np.abs(dense.embedding_).max()
    np.testing.assert_allclose(iterative.embedding_, dense.embedding_, atol=1e-3 * scale)
    loss = [1 - model.eigenvalues_ for model in (iterative, dense)]
    np.testing.assert_allclose(*loss, rtol=5e-4)
    np.testing.assert_allclose(iterative.distortion_, loss[0].sum(), rtol=1e-6)  # of the map, not the ridge


@pytest.mark.long
def test_the_default_solves_a_large_roll() -> None:
    X = make_swiss_roll(4000, random_state=0)[0]
    model = KernelEigenmap(2, n_kernels=1000).fit(X)
    assert model.n_iter_ > 1  # by iteration
    assert (model.residuals_ < 1e-7).all()


@pytest.mark.long
def test_no_dense_matrix_of_the_size_of_the_problem(roll, monkeypatch) -> None:
    """By default for large problems; here 8 p^2 bytes are 15 MB."""
    monkeypatch.setattr(kernel_eigenmap, "TUNING", replace(TUNING, dense_kernels=1000))
    for name in ("quadratic_forms", "whiten"):
        monkeypatch.setattr(graph_embedding, name, lambda *_: pytest.fail("dense matrices were used"))
    model = KernelEigenmap(2, n_kernels=350, kernels=LocalKernels(sigma=0.4)).fit(roll)  # p = 1400
    assert model.rank_ == 1400
    tracemalloc.start()
    KernelEigenmap(2, n_kernels=350, eigen_solver="iterative", kernels=LocalKernels(sigma=0.4)).fit(roll)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * 8 * 1400**2 / 2  # the dense solver needs six such matrices


def test_kernels_that_overlap_most_others_are_solved_densely(roll, monkeypatch) -> None:
    monkeypatch.setattr(kernel_eigenmap, "TUNING", replace(TUNING, dense_kernels=100))
    monkeypatch.setattr(graph_embedding, "solve_iteratively", lambda *_: pytest.fail("iteration was used"))
    assert KernelEigenmap(2, n_kernels=40, kernels=LocalKernels(sigma=10.0)).fit(roll).rank_ < 160


@pytest.mark.long
def test_convergence_is_checked(roll, monkeypatch) -> None:
    def stopped(*_: object, **__: object) -> None:
        raise ArpackNoConvergence("", np.zeros(1), np.zeros((400, 1)))

    monkeypatch.setattr(iterative_reduction, "eigsh", stopped)
    with pytest.raises(NotConvergedError, match=r"only 1 of 3 .* max_iter=7"):
        KernelEigenmap(3, n_kernels=100, eigen_solver=Solver("iterative", max_iter=7)).fit(roll)
    monkeypatch.setattr(iterative_reduction, "eigsh", lambda A, k, **_: (None, np.eye(A.shape[0])[:, :k]))
    with pytest.raises(NotConvergedError, match=r"largest residual .* above tol=1e-06 by rounding") as caught:
        KernelEigenmap(2, n_kernels=100, eigen_solver="iterative").fit(roll)
    assert len(caught.value.residuals) == 2


def test_too_much_overlap_is_refused(roll, monkeypatch) -> None:
    monkeypatch.setattr(iterative_reduction, "TUNING", replace(TUNING, overlap_entries=1e4))
    with pytest.raises(NotEnoughMemoryError, match="lower sigma, n_kernels or local_components"):
        KernelEigenmap(2, n_kernels=100, eigen_solver="iterative").fit(roll)


@pytest.mark.parametrize(
    ("params", "match"),
    [
        (lambda: {"eigen_solver": "lanczos"}, "eigen_solver='lanczos'"),
        (lambda: {"eigen_solver": "iterative", "posterior": False}, "needs posterior=True"),
        (lambda: {"eigen_solver": Solver(tol=0.0)}, "tol=0.0"),
        (lambda: {"eigen_solver": Solver(max_iter=0)}, "max_iter=0"),
    ],
)
def test_bad_parameters(params: Callable, match: str, roll) -> None:
    with pytest.raises(ValueError, match=match):
        KernelEigenmap(2, **params()).fit(roll)
