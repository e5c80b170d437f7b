"""The ladder: which solver for which operator, and the proof that its answer is right.

Two questions are asked of a spectrum, and each has its rungs.

``principal``: the largest eigenvalues of a kernel matrix (kernel PCA, MDS, Isomap).
    Up to 500 points, or when more than a fifth of the spectrum is wanted: LAPACK. Otherwise block Krylov, whose
    products are all it needs; if it does not converge and the matrix is there, LAPACK after all.
``smallest``: the eigenvalues next to a known null vector (Laplacian eigenmaps, spectral clustering, LLE).
    Up to 500 points: LAPACK. A thin sparse graph (curves, surfaces): one sparse factorisation and a few block steps on the
    inverse; for more than 400 000 points of a Laplacian, multilevel instead. A wide sparse graph (high-dimensional data, where a
    factorisation would fill in): block Krylov, which is fast when the gap is wide; if it is not, multilevel for Laplacians
    and a dense factorisation for the rest. A dense matrix: block Krylov, else LAPACK.

Every answer carries its residuals ``|A v - l v|``, measured afterwards with the operator itself. A pair whose residual
exceeds ``tol |l|`` (plus rounding) is refused with :class:`~eigenscape.exceptions.NotConvergedError`. At the small end ``l``
is the small eigenvalue, so the demand grows with n as the eigenvalues shrink.
"""

from __future__ import annotations

import numbers
import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse

from eigenscape.exceptions import DegenerateSpectrumWarning, NotConvergedError
from eigenscape.operators import Operator
from eigenscape.solvers.direct import dense_eigh, inverse_on_complement
from eigenscape.solvers.krylov import KrylovOptions, Product, block_krylov
from eigenscape.solvers.multilevel import Hierarchy
from eigenscape.solvers.pairs import EigenPairs, measured
from eigenscape.solvers.width import is_thin

SolverName = Literal["auto", "dense", "lanczos", "shift-invert", "multilevel"]
NAMES = ("auto", "dense", "lanczos", "shift-invert", "multilevel")

#: Up to this many points LAPACK is as fast as anything.
DENSE_POINTS = 500
#: Up to this many points a factor of a thin Laplacian is cheaper than a hierarchy; a dense factor of a wide matrix is affordable.
_FACTOR_POINTS, _DENSE_FACTOR_POINTS = 400_000, 12_000
#: Block steps granted to Krylov where there is another rung, where there is none, and with a preconditioner.
_SHORT, _LONG, _PRECONDITIONED = 60, 2000, 80

_EPS = np.finfo(np.float64).eps


@dataclass(frozen=True)
class Solver:
    """The user's wishes: which rung, how good, how long, from which seed."""

    name: SolverName = "auto"
    tol: float = 1e-10
    max_iter: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.name not in NAMES:
            raise ValueError(f"eigen_solver={self.name!r} is not known; choose one of {', '.join(map(repr, NAMES))}")
        if isinstance(self.tol, bool) or not isinstance(self.tol, numbers.Real) or not 0 <= self.tol < np.inf:
            raise ValueError(f"tol={self.tol!r} must be a number of at least 0")
        if self.max_iter is not None and (
            isinstance(self.max_iter, bool) or not isinstance(self.max_iter, numbers.Integral) or self.max_iter < 1
        ):
            raise ValueError(f"max_iter={self.max_iter!r} must be an integer of at least 1, or None")

    def steps(self, default: int) -> int:
        """Block steps to take: the user's number, or ``default``."""
        return default if self.max_iter is None else self.max_iter


def principal(operator: Operator, count: int, order: str, solver: Solver) -> EigenPairs:
    """The ``count`` largest eigenpairs by ``order`` (``"value"`` or ``"magnitude"``), largest first."""
    m = operator.shape[0]
    if solver.name in ("shift-invert", "multilevel"):
        raise ValueError(f"eigen_solver={solver.name!r} needs a sparse graph matrix; use 'auto', 'dense' or 'lanczos' here")
    noise = 4 * _EPS * m**0.5
    matrix = operator.matrix() if solver.name == "dense" or _is_small(m, count, solver) else None
    if matrix is None:
        steps = solver.steps(_LONG if solver.name == "lanczos" else 2 * _SHORT)
        options = KrylovOptions(order=order, tol=solver.tol / 2, max_iter=steps, seed=solver.seed, noise=noise)
        values, vectors, good = block_krylov(operator.matmat, m, count, options)
        if not good and solver.name == "auto":
            matrix = operator.matrix()
    if matrix is not None:
        values, vectors = dense_eigh(_dense(matrix), count, order)
    pairs = measured(operator, values, vectors, "lanczos" if matrix is None else "dense")
    return _accept(pairs, solver, 5 * noise * max(float(np.abs(values).max()), operator.magnitude()))


@dataclass(frozen=True, eq=False)
class SmallEnd:
    """The small end of a positive semi-definite operator: ``null`` its unit null vector, ``bound`` at least its largest eigenvalue.

    ``factor`` is a matrix ``F`` with ``A = F'F`` if there is one: ``|F v|^2`` resolves eigenvalues that ``v'A v`` cannot.
    ``laplacian``: whether ``A`` is a graph Laplacian, for which the multilevel method is made.
    """

    operator: Operator
    null: np.ndarray
    bound: float
    factor: sparse.csr_array | None = None
    laplacian: bool = True

    def ritz(self, vectors: np.ndarray) -> np.ndarray:
        """``V'A V``."""
        if self.factor is None:
            return vectors.T @ self.operator.matmat(vectors)
        image = self.factor @ vectors
        return image.T @ image


def smallest(end: SmallEnd, count: int, solver: Solver) -> EigenPairs:
    """The ``count`` smallest eigenpairs orthogonal to the null vector, smallest first.

    One pair more is computed, to see whether the wanted ones can be told from the next.
    """
    m = end.operator.shape[0]
    asked = min(count + 1, m - 1)
    matrix = end.operator.matrix()
    values, vectors, name = _climb(end, matrix, asked, solver)
    terms = matrix.nnz / m if matrix is not None and sparse.issparse(matrix) else m
    floor = 4 * _EPS * terms**0.5 * end.bound
    if asked > count and values[count] <= floor:
        warnings.warn(
            f"the {asked} smallest eigenvalues are all below {floor:.1e}, where double precision cannot tell them apart, so the"
            f" {count} coordinates are not determined by the data; use more neighbours, stronger regularisation or fewer points",
            DegenerateSpectrumWarning,
            stacklevel=2,
        )
    pairs = measured(end.operator, values[:count], vectors[:, :count], name)
    return _accept(pairs, solver, 5 * floor)


def _climb(end: SmallEnd, matrix: object, count: int, solver: Solver) -> tuple[np.ndarray, np.ndarray, str]:
    """Values in ascending order, vectors, and the name of the rung that found them."""
    m = end.operator.shape[0]
    if matrix is not None and (solver.name == "dense" or _is_small(m, count, solver)):
        return (*_by_lapack(end, matrix, count), "dense")
    if not sparse.issparse(matrix):
        return _climb_dense(end, matrix, count, solver)
    if solver.name == "shift-invert":
        return (*_by_inverse(end, matrix, count, solver, is_thin(matrix) or m > _DENSE_FACTOR_POINTS), "shift-invert")
    if solver.name == "multilevel":
        return (*_by_levels(end, matrix, count, solver), "multilevel")
    if solver.name == "auto" and is_thin(matrix) and (m <= _FACTOR_POINTS or not end.laplacian):
        return (*_by_inverse(end, matrix, count, solver, True), "shift-invert")
    thin_and_large = solver.name == "auto" and end.laplacian and m > _FACTOR_POINTS and is_thin(matrix)
    if not thin_and_large:
        steps = solver.steps(_LONG) if solver.name == "lanczos" else _SHORT
        values, vectors, good = _by_krylov(end, count, solver, steps)
        if good or solver.name == "lanczos":
            return values, vectors, "lanczos"
    if end.laplacian and m > _DENSE_FACTOR_POINTS:
        return (*_by_levels(end, matrix, count, solver), "multilevel")
    return (*_by_inverse(end, matrix, count, solver, m > _DENSE_FACTOR_POINTS), "shift-invert")


def _climb_dense(end: SmallEnd, matrix: object, count: int, solver: Solver) -> tuple[np.ndarray, np.ndarray, str]:
    if solver.name in ("shift-invert", "multilevel"):
        raise ValueError(f"eigen_solver={solver.name!r} needs a sparse graph matrix; use 'auto', 'dense' or 'lanczos' here")
    if solver.name == "dense":
        raise ValueError("eigen_solver='dense' needs the whole matrix in memory, and it does not fit; use 'lanczos'")
    last = solver.name == "lanczos" or matrix is None
    values, vectors, good = _by_krylov(end, count, solver, solver.steps(_LONG) if last else 2 * _SHORT)
    if good or last:
        return values, vectors, "lanczos"
    return (*_by_lapack(end, matrix, count), "dense")


def _by_lapack(end: SmallEnd, matrix: object, count: int) -> tuple[np.ndarray, np.ndarray]:
    lifted = _dense(matrix) + 2 * end.bound * np.outer(end.null, end.null)  # the null vector is moved out of the way
    return dense_eigh(lifted, count, "smallest")


def _by_krylov(end: SmallEnd, count: int, solver: Solver, steps: int) -> tuple[np.ndarray, np.ndarray, bool]:
    """Block Krylov on ``bound - A``, judged by the small eigenvalue."""
    options = KrylovOptions(tol=solver.tol / 2, max_iter=steps, seed=solver.seed, origin=end.bound)
    product = _turned(end)
    values, vectors, good = block_krylov(product, len(end.null), count, options, known=end.null[:, None])
    return end.bound - values, vectors, good


def _by_levels(end: SmallEnd, matrix: sparse.csr_array, count: int, solver: Solver) -> tuple[np.ndarray, np.ndarray]:
    """Preconditioned by a multilevel cycle, with a first guess from the coarsest level."""
    hierarchy = Hierarchy(matrix, end.null, solver.seed)
    return _preconditioned(end, count, solver, hierarchy.cycle, hierarchy.guess(count + 2))


def _by_inverse(end: SmallEnd, matrix: sparse.csr_array, count: int, solver: Solver, thin: bool) -> tuple[np.ndarray, np.ndarray]:
    """Preconditioned by the factorised matrix, with a first guess from three inverse steps."""
    inverse = inverse_on_complement(matrix, end.null, thin)
    guess = np.random.default_rng(solver.seed).standard_normal((len(end.null), min(count + 2, len(end.null) - 1)))
    for _ in range(3):
        guess, _ = np.linalg.qr(inverse(guess))
    return _preconditioned(end, count, solver, inverse, guess)


def _preconditioned(end: SmallEnd, count: int, solver: Solver, precondition: Product, guess: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Block Krylov on ``bound - A`` until the residuals are small or no longer shrink, then Rayleigh-Ritz with the factor.

    An inverse known to few digits does no harm here: it only proposes directions, and the products are with ``A``.
    """
    options = KrylovOptions(
        tol=solver.tol / 2, max_iter=solver.steps(_PRECONDITIONED), seed=solver.seed, origin=end.bound, guard=0, patience=6
    )
    _, vectors, _ = block_krylov(
        _turned(end), len(end.null), guess.shape[1], options, wanted=count, known=end.null[:, None], start=guess, precondition=precondition
    )
    values, turn = np.linalg.eigh(end.ritz(vectors))
    return values[:count], (vectors @ turn)[:, :count]


def _turned(end: SmallEnd) -> Product:
    return lambda V: end.bound * V - end.operator.matmat(V)


def _is_small(m: int, count: int, solver: Solver) -> bool:
    return solver.name == "auto" and (m <= DENSE_POINTS or 5 * count > m)


def _dense(matrix: object) -> np.ndarray:
    return np.asarray(matrix.todense()) if sparse.issparse(matrix) else matrix  # type: ignore[attr-defined,return-value]


def _accept(pairs: EigenPairs, solver: Solver, floor: float) -> EigenPairs:
    """The pairs, if their residuals prove them."""
    bad = pairs.residuals > solver.tol * np.abs(pairs.values) + floor
    if bad.any():
        worst = int(np.argmax(pairs.residuals / np.maximum(np.abs(pairs.values), max(floor, np.finfo(np.float64).tiny))))
        remedy = "loosen tol" if pairs.solver == "dense" else "raise max_iter, loosen tol or set eigen_solver='dense'"
        raise NotConvergedError(
            f"the eigen-solver ({pairs.solver}) did not converge: eigenvalue {worst + 1} of {len(pairs)} is"
            f" {pairs.values[worst]:.3e} with a residual of {pairs.residuals[worst]:.1e}, above tol={solver.tol:g} times it;"
            f" {remedy}",
            pairs.residuals,
        )
    return pairs
