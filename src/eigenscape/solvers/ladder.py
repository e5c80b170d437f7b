"""The ladder: which solver for which operator, and the proof that its answer is right.

Two questions are asked of a spectrum, and each has its rungs.

``principal``: the largest eigenvalues of a kernel matrix (kernel PCA, MDS, Isomap).
    Up to 500 points, or when more than a fifth of the spectrum is wanted: LAPACK. Otherwise block Krylov, whose
    products are all it needs; if it does not converge and the matrix is there, LAPACK after all.
``smallest``: the eigenvalues next to a known null vector (Laplacian eigenmaps, spectral clustering, LLE).
    Up to 500 points: LAPACK. Otherwise block Krylov on ``bound - A`` with a short budget, which is enough when the gap is
    wide (high-dimensional data, where a factorisation would fill in). Else, if sparse, one factorisation and a few steps
    on the inverse; if dense, LAPACK.

Every answer carries its residuals ``|A v - l v|``, measured afterwards with the operator itself. A pair whose residual
exceeds ``tol |l|`` (plus rounding) is refused with :class:`~eigenscape.exceptions.NotConvergedError`. At the small end ``l``
is the small eigenvalue, so the demand grows with n as the eigenvalues shrink.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import sparse

from eigenscape.exceptions import DegenerateSpectrumWarning, NotConvergedError
from eigenscape.operators import Operator
from eigenscape.solvers.direct import dense_eigh, inverse_on_complement
from eigenscape.solvers.krylov import block_krylov
from eigenscape.solvers.pairs import EigenPairs, measured

SolverName = Literal["auto", "dense", "lanczos", "shift-invert"]

#: Up to this many points LAPACK is as fast as anything.
DENSE_POINTS = 500
#: Block steps granted to Krylov where there is another rung, and where there is none.
_SHORT, _LONG = 40, 2000
#: Block steps on an inverse, where each gains several digits, and inverse steps to polish the result.
_INVERSE, _POLISH = 100, 8

_EPS = np.finfo(np.float64).eps


@dataclass(frozen=True)
class Solver:
    """The user's wishes: which rung, how good, how long, from which seed."""

    name: SolverName = "auto"
    tol: float = 1e-10
    max_iter: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.name not in ("auto", "dense", "lanczos", "shift-invert"):
            raise ValueError(f"eigen_solver={self.name!r} is not known; choose 'auto', 'dense', 'lanczos' or 'shift-invert'")
        if not self.tol >= 0:
            raise ValueError(f"tol={self.tol!r} must be at least 0")

    def steps(self, default: int) -> int:
        """Block steps to take: the user's number, or ``default``."""
        return default if self.max_iter is None else self.max_iter


def principal(operator: Operator, count: int, order: str, solver: Solver) -> EigenPairs:
    """The ``count`` largest eigenpairs by ``order`` (``"value"`` or ``"magnitude"``), largest first."""
    m = operator.shape[0]
    if solver.name == "shift-invert":
        raise ValueError("eigen_solver='shift-invert' needs a sparse graph matrix; use 'auto', 'dense' or 'lanczos' here")
    matrix = operator.matrix() if solver.name == "dense" or _is_small(m, count, solver) else None
    if matrix is None:
        steps = solver.steps(_LONG if solver.name == "lanczos" else 4 * _SHORT)
        values, vectors, good = block_krylov(operator.matmat, m, count, order=order, tol=solver.tol / 2, max_iter=steps, seed=solver.seed)
        if not good and solver.name == "auto":
            matrix = operator.matrix()
    if matrix is not None:
        values, vectors = dense_eigh(_dense(matrix), count, order)
    pairs = measured(operator, values, vectors, "lanczos" if matrix is None else "dense")
    return _accept(pairs, solver, 20 * _EPS * m**0.5 * float(np.abs(values).max()))


def smallest(operator: Operator, count: int, null: np.ndarray, bound: float, solver: Solver) -> EigenPairs:
    """The ``count`` smallest eigenpairs of a positive semi-definite operator, orthogonal to its unit null vector ``null``.

    ``bound`` is at least the largest eigenvalue. One pair more is computed, to see whether the wanted ones can be told
    from the next.
    """
    m = operator.shape[0]
    asked = min(count + 1, m - 1)
    values, vectors, name = _small_end(operator, asked, null, bound, solver)
    floor = 20 * _EPS * m**0.5 * bound
    if asked > count and values[count] <= floor:
        warnings.warn(
            f"the {asked} smallest eigenvalues are all below {floor:.1e}, where double precision cannot tell them apart, so the"
            f" {count} coordinates are not determined by the data; use more neighbours, stronger regularisation or fewer points",
            DegenerateSpectrumWarning,
            stacklevel=2,
        )
    pairs = measured(operator, values[:count], vectors[:, :count], name)
    return _accept(pairs, solver, floor)


def _small_end(operator: Operator, count: int, null: np.ndarray, bound: float, solver: Solver) -> tuple[np.ndarray, np.ndarray, str]:
    """Climb the rungs of ``smallest``: values in ascending order, vectors, and the rung's name."""
    m = operator.shape[0]
    matrix = operator.matrix()
    known = null[:, None]
    if solver.name == "dense" or (matrix is not None and _is_small(m, count, solver)):
        return (*_dense_small_end(matrix, count, null, bound), "dense")
    if solver.name in ("auto", "lanczos"):
        last = solver.name == "lanczos" or matrix is None
        values, vectors, good = block_krylov(
            lambda V: bound * V - operator.matmat(V),
            m,
            count,
            order="value",
            tol=solver.tol / 2,
            max_iter=solver.steps(_LONG) if last else _SHORT,
            seed=solver.seed,
            known=known,
            origin=bound,
        )
        if good or last:
            return bound - values, vectors, "lanczos"
    if not sparse.issparse(matrix):
        if solver.name == "shift-invert":
            raise ValueError("eigen_solver='shift-invert' needs a sparse graph matrix; use 'auto', 'dense' or 'lanczos' here")
        return (*_dense_small_end(matrix, count, null, bound), "dense")
    return (*_inverse_small_end(operator, matrix, count, null, solver), "shift-invert")


def _inverse_small_end(
    operator: Operator, matrix: sparse.csr_array, count: int, null: np.ndarray, solver: Solver
) -> tuple[np.ndarray, np.ndarray]:
    """Block Krylov on the pseudo-inverse, then inverse steps until the residuals with ``A`` itself are small or at rounding."""
    inverse = inverse_on_complement(matrix, null)
    _, vectors, _ = block_krylov(
        inverse,
        matrix.shape[0],
        count,
        order="value",
        tol=max(solver.tol, 1e-8),
        max_iter=solver.steps(_INVERSE),
        seed=solver.seed,
        known=null[:, None],
    )
    best = np.inf
    for _ in range(_POLISH):
        values, turn = np.linalg.eigh(vectors.T @ operator.matmat(vectors))  # Rayleigh-Ritz
        vectors = vectors @ turn
        residuals = np.linalg.norm(operator.matmat(vectors) - vectors * values, axis=0)
        worst = float(np.max(residuals / np.maximum(values, _EPS)))
        if worst <= solver.tol / 2 or worst > best / 2:
            break
        best = worst
        vectors, _ = np.linalg.qr(inverse(vectors))
    return values, vectors


def _dense_small_end(matrix: object, count: int, null: np.ndarray, bound: float) -> tuple[np.ndarray, np.ndarray]:
    if matrix is None:
        raise ValueError("eigen_solver='dense' needs the whole matrix in memory, and it does not fit; use 'lanczos'")
    lifted = _dense(matrix) + 2 * bound * np.outer(null, null)  # the null vector is moved out of the way
    return dense_eigh(lifted, count, "smallest")


def _is_small(m: int, count: int, solver: Solver) -> bool:
    return solver.name == "auto" and (m <= DENSE_POINTS or 5 * count > m)


def _dense(matrix: object) -> np.ndarray:
    return np.asarray(matrix.todense()) if sparse.issparse(matrix) else matrix  # type: ignore[attr-defined,return-value]


def _accept(pairs: EigenPairs, solver: Solver, floor: float) -> EigenPairs:
    """The pairs, if their residuals prove them."""
    bad = pairs.residuals > solver.tol * np.abs(pairs.values) + floor
    if bad.any():
        worst = int(np.argmax(pairs.residuals / np.maximum(np.abs(pairs.values), floor)))
        raise NotConvergedError(
            f"the eigen-solver ({pairs.solver}) did not converge: eigenvalue {worst + 1} of {len(pairs)} is"
            f" {pairs.values[worst]:.3e} with a residual of {pairs.residuals[worst]:.1e}, above tol={solver.tol:g} times it;"
            " raise max_iter, loosen tol or set eigen_solver='dense'",
            pairs.residuals,
        )
    return pairs
