"""Direct methods: LAPACK for small matrices, factorisations for the smallest eigenvalues."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import SuperLU, splu

from eigenscape import _memory
from eigenscape._progress import stage
from eigenscape.solvers.config import Order

_EPS = np.finfo(np.float64).eps


def dense_eigh(
    matrix: np.ndarray, count: int, order: Order | Literal["smallest"]
) -> tuple[np.ndarray, np.ndarray]:
    """Compute ``count`` eigenpairs of a dense symmetric matrix.

    ``order`` is ``"value"`` (largest first), ``"magnitude"`` (largest magnitude first) or ``"smallest"``.
    """
    m = len(matrix)
    _memory.require(
        3 * 8.0 * m * m, f"a dense eigen-decomposition of {m} points", "use eigen_solver='lanczos'"
    )
    with stage("eigen-solve"):
        if order == "magnitude":
            values, vectors = linalg.eigh(matrix)
            pick = np.argsort(-np.abs(values), kind="stable")[:count]
            return values[pick], vectors[:, pick]
        wanted = (0, count - 1) if order == "smallest" else (m - count, m - 1)
        values, vectors = partial_eigh(matrix, *wanted)
    return (values, vectors) if order == "smallest" else (values[::-1], vectors[:, ::-1])


def partial_eigh(matrix: np.ndarray, first: int, last: int) -> tuple[np.ndarray, np.ndarray]:
    """Compute the eigenpairs ``first`` to ``last``, in ascending order, of a dense symmetric matrix."""
    values, vectors = linalg.eigh(matrix, subset_by_index=(first, last))
    if len(values) <= last - first:  # LAPACK's partial driver may miss some of many equal eigenvalues
        values, vectors = linalg.eigh(matrix, driver="evd")
        values, vectors = values[first : last + 1], vectors[:, first : last + 1]
    return values, vectors


def inverse_on_complement(
    matrix: sparse.csr_array, null: np.ndarray, thin: bool = True, dtype: type = np.float64
) -> Callable[[np.ndarray], np.ndarray]:
    """Return ``V -> (A + s)^-1 V`` on the orthogonal complement of the unit vector ``null``.

    ``A`` is sparse and positive semi-definite with ``A null = 0``. The shift ``s`` is slightly above rounding
    level: eigenvalues of LLE are not much larger, and points on an exact plane have several zero eigenvalues.
    The null vector is projected out of the solution. Matrices that are not ``thin`` would fill in, and are
    factorised as dense matrices of type ``dtype``.
    """
    norm = float(abs(matrix).sum(axis=1).max())
    shifted = matrix + 64 * np.finfo(dtype).eps * norm * sparse.eye_array(matrix.shape[0])
    with stage("factorisation"):
        solve = _superlu(shifted, pivot=0.0).solve if thin else _dense_solver(shifted.astype(dtype))

    def apply(V: np.ndarray) -> np.ndarray:
        out = solve(V - np.outer(null, null @ V))
        return out - np.outer(null, null @ out)

    return apply


def inverse_by_root(root: sparse.csr_array, null: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return ``V -> A^-1 V`` on the orthogonal complement of ``null``, for ``A = F'F`` and ``F null = 0``.

    ``root`` is the square sparse matrix ``F``, and ``A^-1 = F^-1 F'^-1``. ``F`` connects neighbours where
    ``A`` connects neighbours of neighbours: separators are half as thick, so the factors need a quarter of
    the memory, and the condition number is the square root of that of ``A``. The left null vector of ``F`` is
    computed by inverse iteration; a shift at rounding level keeps the last pivot from being zero.
    """
    shift = 4 * _EPS * float(abs(root).sum(axis=1).max())
    with stage("factorisation"):
        factor = _superlu(root + shift * sparse.eye_array(root.shape[0]), pivot=0.1)
    left = np.random.default_rng(0).standard_normal(len(null))
    for _ in range(2):
        left = factor.solve(left, trans="T")  # type: ignore[call-overload] # scipy-stubs has no trans
        left /= np.linalg.norm(left)

    def apply(V: np.ndarray) -> np.ndarray:
        rhs = V - np.outer(null, null @ V)
        image = factor.solve(rhs, trans="T")  # type: ignore[call-overload] # scipy-stubs has no trans
        out = factor.solve(image - np.outer(left, left @ image))
        return out - np.outer(null, null @ out)

    return apply


def factorize_symmetric(matrix: sparse.csc_array) -> Callable[[np.ndarray], np.ndarray]:
    """Return ``V -> A^-1 V`` by a sparse factorisation of a positive definite matrix."""
    return _superlu(sparse.csr_array(matrix), 1e-3).solve


def _superlu(matrix: sparse.csr_array, pivot: float) -> SuperLU:
    """Factorise in symmetric mode, with a minimum-degree ordering of the pattern.

    Diagonal pivots are used if they are at least ``pivot`` times the largest entry of their column.
    """
    return splu(
        sparse.csc_array(matrix),
        permc_spec="MMD_AT_PLUS_A",
        diag_pivot_thresh=pivot,
        options={"SymmetricMode": True},
    )


def _dense_solver(matrix: sparse.csr_array) -> Callable[[np.ndarray], np.ndarray]:
    """Return ``V -> A^-1 V`` by a dense Cholesky or LU factorisation."""
    m, size = matrix.shape[0], matrix.dtype.itemsize
    _memory.require(
        1.05 * size * m * m, f"a dense factorisation for {m} points", "use eigen_solver='lanczos'"
    )
    try:
        factor = linalg.cho_factor(
            matrix.toarray(order="F"), lower=True, overwrite_a=True, check_finite=False
        )
    except linalg.LinAlgError:  # a pivot is negative by rounding: use LU with pivoting
        plain = linalg.lu_factor(matrix.toarray(order="F"), overwrite_a=True, check_finite=False)
        return lambda V: linalg.lu_solve(plain, V.astype(matrix.dtype), check_finite=False)
    return lambda V: linalg.cho_solve(factor, V.astype(matrix.dtype), check_finite=False)
