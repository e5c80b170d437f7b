"""The small end of a positive semi-definite spectrum, next to a known null vector: four ways to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from eigenscape.kernels.base import Matrix
from eigenscape.operators import Operator, SparseOperator
from eigenscape.solvers.direct import dense_eigh, inverse_by_root, inverse_on_complement
from eigenscape.solvers.krylov import DENSE_BLOCKS, SPARSE_BLOCKS, KrylovOptions, Product, block_krylov
from eigenscape.solvers.multilevel import Hierarchy
from eigenscape.solvers.wishes import Solver

#: Block steps granted with a preconditioner.
_PRECONDITIONED = 80


@dataclass(frozen=True, eq=False)
class SmallEnd:
    """A positive semi-definite operator ``A``, its unit ``null`` vector, and a ``bound`` at least as large as
    its eigenvalues.

    ``factor`` is a matrix ``F`` with ``A = F'F`` if there is one: ``|F v|^2`` resolves eigenvalues that ``v'A
    v`` cannot. ``laplacian``: whether ``A`` is a graph Laplacian, for which the multilevel method is made.
    """

    operator: Operator
    null: np.ndarray
    bound: float
    factor: sparse.csr_array | None = None
    laplacian: bool = True

    @property
    def n_points(self) -> int:
        return len(self.null)

    def ritz(self, vectors: np.ndarray) -> np.ndarray:
        """``V'A V``."""
        if self.factor is None:
            return vectors.T @ self.operator.matmat(vectors)
        image = self.factor @ vectors
        return image.T @ image

    def turned(self, V: np.ndarray) -> np.ndarray:
        """``(bound - A) V``: the smallest eigenvalues become the largest."""
        return self.bound * V - self.operator.matmat(V)


class Found(NamedTuple):
    """Eigenvalues in ascending order, vectors, the rung that found them, its steps, and whether it thinks
    them good."""

    values: np.ndarray
    vectors: np.ndarray
    solver: str
    n_iter: int = 1
    good: bool = True


def by_lapack(end: SmallEnd, matrix: Matrix, count: int) -> Found:
    """All at once; the null vector is moved out of the way."""
    lifted = as_dense(matrix) + 2 * end.bound * np.outer(end.null, end.null)
    return Found(*dense_eigh(lifted, count, "smallest"), "dense")


def by_krylov(end: SmallEnd, count: int, solver: Solver, steps: int, patience: int = 1000) -> Found:
    """Block Krylov on ``bound - A``, judged by the small eigenvalue. The last pair only has to show that it
    is another."""
    blocks = SPARSE_BLOCKS if end.operator.storage == "sparse" else DENSE_BLOCKS
    options = KrylovOptions(
        tol=solver.tol / 2,
        max_iter=steps,
        seed=solver.seed,
        origin=end.bound,
        patience=patience,
        blocks=blocks,
    )
    result = block_krylov(
        end.turned, end.n_points, count, options, wanted=max(count - 1, 1), known=end.null[:, None]
    )
    return Found(end.bound - result.values, result.vectors, "lanczos", result.steps, result.good)


def by_levels(end: SmallEnd, matrix: sparse.csr_array, count: int, solver: Solver, thin: bool) -> Found:
    """Preconditioned by a multilevel cycle, with a first guess from the coarsest level.

    The points are renumbered first, so that neighbours are near in memory.
    """
    order = reverse_cuthill_mckee(matrix, symmetric_mode=True)
    matrix = sparse.csr_array(matrix[order][:, order])
    matrix.sort_indices()
    near = SmallEnd(SparseOperator(matrix, solver.n_jobs), end.null[order], end.bound)
    hierarchy = Hierarchy(matrix, near.null, solver.seed, thin, solver.n_jobs)
    found = _preconditioned(near, count, solver, hierarchy.cycle, hierarchy.guess(count), "multilevel")
    vectors = np.empty_like(found.vectors)
    vectors[order] = found.vectors
    return found._replace(vectors=vectors)


def by_inverse(end: SmallEnd, matrix: sparse.csr_array, count: int, solver: Solver, thin: bool) -> Found:
    """Preconditioned by the factorised matrix, with a first guess from three inverse steps."""
    guess = np.random.default_rng(solver.seed).standard_normal(
        (end.n_points, min(count + 2, end.n_points - 1))
    )
    inverse, guess = _inverse_steps(end, matrix, thin, guess)
    return _preconditioned(end, count, solver, inverse, guess, "shift-invert")


def _inverse_steps(
    end: SmallEnd, matrix: sparse.csr_array, thin: bool, guess: np.ndarray
) -> tuple[Product, np.ndarray]:
    """The inverse, and ``guess`` after three steps with it.

    Two cheaper inverses propose directions as well as that of the matrix in double precision, unless the Ritz
    values of the guess say otherwise: the root of a thin matrix, unless a second null vector (points on an
    exact plane) drowns all others in its rounding; and a dense factor in single precision, at half the time
    and memory, unless the smallest eigenvalue is hidden by its rounding."""

    def steps(inverse: Product) -> tuple[Product, np.ndarray]:
        V = guess
        for _ in range(3):
            V, _ = np.linalg.qr(inverse(V))
        return inverse, V

    if thin and end.factor is not None and end.factor.shape[0] == end.factor.shape[1]:
        cheap = steps(inverse_by_root(end.factor, end.null))
        ritz = np.linalg.eigvalsh(end.ritz(cheap[1]))
        if ritz[0] > 1e3 * np.finfo(np.float64).eps * ritz[-1]:
            return cheap
        del cheap
    elif not thin:
        cheap = steps(inverse_on_complement(matrix, end.null, thin, np.float32))
        if np.linalg.eigvalsh(end.ritz(cheap[1]))[0] > 8 * np.finfo(np.float32).eps * end.bound:
            return cheap
        del cheap
    return steps(inverse_on_complement(matrix, end.null, thin))


def _preconditioned(
    end: SmallEnd, count: int, solver: Solver, precondition: Product, guess: np.ndarray, name: str
) -> Found:
    """Block Krylov on ``bound - A`` until the residuals are small or no longer shrink, then Rayleigh-Ritz
    with the factor.

    An inverse known to few digits does no harm here: it only proposes directions, and the products are with
    ``A``."""
    steps = solver.steps(_PRECONDITIONED)
    options = KrylovOptions(
        tol=solver.tol / 2, max_iter=steps, seed=solver.seed, origin=end.bound, guard=0, patience=6, blocks=3
    )
    result = block_krylov(
        end.turned,
        end.n_points,
        guess.shape[1],
        options,
        wanted=max(count - 1, 1),  # the last one only has to show that it is another
        known=end.null[:, None],
        start=guess,
        precondition=precondition,
    )
    values, turn = np.linalg.eigh(end.ritz(result.vectors))
    return Found(values[:count], (result.vectors @ turn)[:, :count], name, result.steps, result.good)


def as_dense(matrix: Matrix) -> np.ndarray:
    """The matrix as a dense array."""
    return np.asarray(matrix.todense()) if sparse.issparse(matrix) else matrix
