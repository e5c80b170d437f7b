"""The reduced eigenproblem of many kernels by iteration (Brand sec. 6), without a dense matrix of its size.

``Z`` (n, p) is stored sparse, one entry for each kernel and local coordinate of a vertex. The smallest
``1 - l`` of ``Z'(D - W)Z v = (1 - l) Z'DZ v`` are found as the largest ``t`` of ``Z'DZ v = t M v`` with
``M = Z'(D - W)Z + s Z'DZ + r I``, so that ``1 - l = 1/t - s``: a shifted inverse iteration, by ARPACK. The
columns have unit norm in ``D``; the small ``r`` damps directions that ``Z'DZ`` does not determine, which the
rank guard of the dense solver leaves out: where there are such directions, the two maps differ slightly.
``M`` is sparse if each kernel overlaps few others, and is factorised as such; it is too ill-conditioned for
an iteration without a factorisation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from eigenscape import _memory
from eigenscape._progress import stage
from eigenscape.exceptions import NotConvergedError, NotEnoughMemoryError
from eigenscape.methods.tuning import TUNING
from eigenscape.quality.edge_distortion import laplacian_form, remove_loops
from eigenscape.solvers import generalized_eigh
from eigenscape.solvers.direct import factorize_symmetric
from eigenscape.solvers.generalized import GeneralizedPairs

if TYPE_CHECKING:
    from eigenscape.methods.kernel_eigenmap import KernelBasis

#: The shift ``s`` and the ridge ``r``, about the rank tolerance of the dense solver for some 1000 columns.
_SHIFT, _RIDGE = 1e-3, 1e-11


class IterativeOptions(NamedTuple):
    """Largest accepted residual, maximum number of restarts (None: 300), and seed of the starting vector."""

    tol: float = 1e-6
    max_iter: int | None = None
    seed: int = 0


@dataclass(frozen=True, eq=False)
class _Problem:
    """Products of the reduced eigenproblem, the columns of ``Z`` scaled to unit norm in ``D``."""

    Z: sparse.csr_array  # (n, p)
    edges: sparse.csr_array  # W without loops
    degree: np.ndarray

    def laplacian(self, V: np.ndarray) -> np.ndarray:
        """Return ``Z'(D - W)Z V``."""
        Y = self.Z @ V
        return self.Z.T @ ((self.edges.sum(axis=1) * Y.T).T - self.edges @ Y)

    def size(self, V: np.ndarray) -> np.ndarray:
        """Return ``Z'DZ V`` without the D-mean of ``Z V``."""
        Y = self.Z @ V
        Y = Y - self.degree @ Y / self.degree.sum()
        return self.Z.T @ (self.degree * Y.T).T

    def shifted(self, V: np.ndarray) -> np.ndarray:
        """Return ``M V``."""
        Y = self.Z @ V
        smooth = ((self.edges.sum(axis=1) + _SHIFT * self.degree) * Y.T).T - self.edges @ Y
        return self.Z.T @ smooth + _RIDGE * V


def is_sparse(basis: KernelBasis, W: sparse.csr_array, p: int) -> bool:
    """Return whether the eigenproblem of ``p`` columns is sparse enough for :func:`solve_iteratively`.

    The iteration pays if at most a quarter of the entries of ``M`` are not zero.
    """
    return basis.n_overlaps(W) <= min(0.25 * p * p, TUNING.overlap_entries)


def solve_iteratively(
    basis: KernelBasis,
    W: sparse.csr_array,
    degree: np.ndarray,
    count: int,
    options: IterativeOptions,
) -> GeneralizedPairs:
    """Return the ``count`` smoothest directions of the reduced eigenproblem next to the constant.

    The constant must be in the span of ``Z``; ``M`` determines the part of a direction along it.
    The residual of a pair is the norm of ``Z'(D - W)Z v - (1 - l) Z'DZ v`` over the norm of ``M v``, both
    in the norm of the inverse of ``M``: the error of ``1 - l`` relative to ``1 - l + s`` is about its square.
    """
    n_entries = basis.n_overlaps(W)
    if n_entries > TUNING.overlap_entries:
        raise NotEnoughMemoryError(
            f"kernels overlap so many others that the sparse eigenproblem has {n_entries:.2g} entries,"
            f" more than {TUNING.overlap_entries:.2g}; lower sigma, n_kernels or local_components, or use"
            " eigen_solver='dense'"
        )
    _memory.require(
        4 * 12.0 * basis.n_entries + 12 * 12.0 * n_entries,
        f"the sparse eigenproblem of {n_entries:.2g} entries",
        "lower sigma, n_kernels or local_components",
    )
    Z = basis.matrix()
    size = np.sqrt(degree @ Z.multiply(Z))
    scale = 1 / np.where(size > 0, size, 1.0)
    problem = _Problem(sparse.csr_array(Z.multiply(scale)), sparse.csr_array(remove_loops(W)), degree)
    p, kept = Z.shape[1], min(count, Z.shape[1] - 1)
    with stage("eigen-solve"):
        inverse = _inverse(problem)
        vectors, n_iter = _iterate(problem, inverse, kept, options)
        pairs = _ritz_pairs(problem, vectors, W, kept)
    V = pairs.vectors
    error = problem.laplacian(V) + _RIDGE * V - pairs.values * problem.size(V)
    M_size = np.einsum("ij,ij->j", V, problem.shifted(V))
    residuals = np.sqrt(np.maximum(np.einsum("ij,ij->j", error, inverse(error)), 0) / M_size)
    if not (residuals <= options.tol).all():
        raise NotConvergedError(
            f"the largest residual of the eigenproblem of {p} local coordinates is"
            f" {residuals.max():.2g}, above tol={options.tol:g} by rounding, which more iterations do not"
            " lower; raise tol, lower n_kernels or local_components, or use eigen_solver='dense'",
            residuals,
        )
    values = pairs.values - _RIDGE * np.square(V).sum(axis=0)  # the distortion of the map itself; V'BV = 1
    return GeneralizedPairs(values, V * scale[:, None], residuals, p, n_iter)


def _iterate(
    problem: _Problem, inverse: Callable[[np.ndarray], np.ndarray], count: int, options: IterativeOptions
) -> tuple[np.ndarray, int]:
    """Return the eigenvectors of the largest ``t`` (p, count), and the number of restarts."""
    p, products = problem.Z.shape[1], 0

    def solve(V: np.ndarray) -> np.ndarray:
        nonlocal products
        products += 1
        return inverse(V)

    operators = [
        LinearOperator((p, p), product, dtype=np.float64)
        for product in (problem.size, problem.shifted, solve)
    ]
    n_vectors = min(p, 2 * count + 20)
    max_iter = 300 if options.max_iter is None else options.max_iter
    start = inverse(problem.size(np.random.default_rng(options.seed).standard_normal(p)))
    try:
        _, vectors = eigsh(
            operators[0],
            count,
            M=operators[1],
            Minv=operators[2],
            which="LA",
            v0=start,
            ncv=n_vectors,
            maxiter=max_iter,
            tol=1e-2 * options.tol,
        )
    except ArpackNoConvergence as error:
        raise NotConvergedError(
            f"only {len(error.eigenvalues)} of {count} eigenpairs of {p} local coordinates converged in"
            f" max_iter={max_iter} restarts; raise max_iter or tol, lower n_kernels, or use"
            " eigen_solver='dense'"
        ) from error
    return vectors, max(1, -(-products // (n_vectors - count)))


def _ritz_pairs(problem: _Problem, vectors: np.ndarray, W: sparse.csr_array, count: int) -> GeneralizedPairs:
    """Solve the small eigenproblem in the coordinates of the vertices, and return its pairs in ``Z``.

    With the ridge, like the large one: without it the pairs would be rotated by about ``r v'v``, which
    exceeds the tolerance where ``Z'DZ`` is nearly singular.
    """
    Y = problem.Z @ vectors
    Y = Y - problem.degree @ Y / problem.degree.sum()
    ridged = laplacian_form(Y, W) + _RIDGE * vectors.T @ vectors
    small = generalized_eigh(ridged, Y.T @ (problem.degree[:, None] * Y), count, "smallest")
    return GeneralizedPairs(small.values, vectors @ small.vectors, small.residuals, small.rank)


def _inverse(problem: _Problem) -> Callable[[np.ndarray], np.ndarray]:
    """Return ``V -> M^-1 V`` by a sparse factorisation and one step of iterative refinement."""
    Z, p = problem.Z, problem.Z.shape[1]
    weight = sparse.diags_array(problem.edges.sum(axis=1) + _SHIFT * problem.degree)
    M = sparse.csc_array(Z.T @ (sparse.csr_array(weight - problem.edges) @ Z))
    factor = factorize_symmetric(M + _RIDGE * sparse.eye_array(p, format="csc"))

    def solve(V: np.ndarray) -> np.ndarray:
        solution = factor(V)
        return solution + factor(V - problem.shifted(solution))

    return solve
