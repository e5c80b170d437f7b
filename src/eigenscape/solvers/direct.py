"""Direct methods: LAPACK for small matrices, a sparse factorisation for the small end of a sparse spectrum."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import splu

from eigenscape import _memory
from eigenscape._progress import stage

_EPS = np.finfo(np.float64).eps


def dense_eigh(matrix: np.ndarray, count: int, order: str) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and vectors of a dense matrix: ``"value"`` largest, ``"magnitude"`` largest absolute, ``"smallest"``."""
    m = len(matrix)
    _memory.require(3 * 8.0 * m * m, f"a dense eigen-decomposition of {m} points", "use eigen_solver='lanczos'")
    with stage("eigen-solve"):
        if order == "magnitude":
            values, vectors = linalg.eigh(matrix)
            pick = np.argsort(-np.abs(values), kind="stable")[:count]
            return values[pick], vectors[:, pick]
        wanted = (0, count - 1) if order == "smallest" else (m - count, m - 1)
        values, vectors = linalg.eigh(matrix, subset_by_index=wanted)
    return (values, vectors) if order == "smallest" else (values[::-1], vectors[:, ::-1])


def inverse_on_complement(matrix: sparse.csr_array, null: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """``V -> A^+ V`` for a positive semi-definite sparse ``A`` with ``A null = 0``, by one sparse factorisation.

    The vertex where ``null`` is largest is held at zero, which makes the rest of ``A`` regular without a shift; projecting
    the solution off ``null`` gives the pseudo-inverse. A shift at rounding level keeps further null vectors (points on an
    exact plane) from a zero pivot.
    """
    m = matrix.shape[0]
    held = int(np.argmax(np.abs(null)))
    rest = np.delete(np.arange(m), held)
    norm = float(abs(matrix).sum(axis=1).max())
    inner = matrix[rest][:, rest] + 2 * _EPS * norm * sparse.eye_array(m - 1)
    with stage("factorisation"):
        factor = splu(sparse.csc_array(inner), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})

    def apply(V: np.ndarray) -> np.ndarray:
        V = V - np.outer(null, null @ V)
        out = np.zeros_like(V)
        out[rest] = factor.solve(V[rest])
        return out - np.outer(null, null @ out)

    return apply
