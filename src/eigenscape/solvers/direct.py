"""Direct methods: LAPACK for small matrices, factorisations for the smallest eigenvalues."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import SuperLU, splu

from eigenscape import _memory
from eigenscape._progress import stage
from eigenscape.solvers.policy import Order

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


class RootInverse:
    """``V -> A^-1 V`` on the orthogonal complement of the null vectors, for ``A = F'F``.

    ``root`` is the square sparse matrix ``F``, and ``A^-1 = F^-1 F'^-1``. ``F`` connects neighbours where
    ``A`` connects neighbours of neighbours: separators are half as thick, so the factors need a quarter of
    the memory, and the condition number is the square root of ``A``'s. The left null vector of ``F`` is
    computed by inverse iteration; a shift at rounding level keeps the last pivot from being zero.
    """

    def __init__(self, root: sparse.csr_array, null: np.ndarray) -> None:
        self._root, self._norm = root, float(abs(root).sum(axis=1).max())
        with stage("factorisation"):
            self._factor = _superlu(root + 4 * _EPS * self._norm * sparse.eye_array(root.shape[0]), pivot=0.1)
        self._right = null[:, None]
        self._left = self._iterated(1, "T")

    def __call__(self, V: np.ndarray) -> np.ndarray:
        image = self._solve(V - self._right @ (self._right.T @ V), "T")
        out = self._solve(image - self._left @ (self._left.T @ image), "N")
        return out - self._right @ (self._right.T @ out)

    def project_out(self, count: int) -> np.ndarray:
        """Project out further null vectors of ``F``, at most ``count``; return them (m, q), orthonormal.

        Each set of points that have all their neighbours among themselves has one, and points on an exact
        plane have several.
        """
        left, left_sizes = self._smallest(count + 1, self._root.T, "T")
        right, right_sizes = self._smallest(count + 1, self._root, "N")
        is_null = np.maximum(left_sizes, right_sizes) <= 1e3 * _EPS * self._norm
        known = self._right
        self._left, self._right = left[:, is_null], np.linalg.qr(np.hstack([known, right[:, is_null]]))[0]
        self._right = self._right[:, : max(self._left.shape[1], 1)]
        return self._right[:, 1:]

    def _smallest(self, count: int, matrix: sparse.sparray, side: str) -> tuple[np.ndarray, np.ndarray]:
        """Return vectors of an inverse iteration and the lengths of their images, in ascending order."""
        V = self._iterated(count, side)
        _, sizes, rotation = np.linalg.svd(matrix @ V, full_matrices=False)
        return V @ rotation[::-1].T, sizes[::-1]

    def _iterated(self, count: int, side: str) -> np.ndarray:
        V = np.random.default_rng(0).standard_normal((self._root.shape[0], count))
        for _ in range(2):
            V = np.linalg.qr(self._solve(V, side))[0]
        return V

    def _solve(self, V: np.ndarray, side: str) -> np.ndarray:
        return self._factor.solve(V, trans=side)  # type: ignore[call-overload] # scipy-stubs has no trans


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
