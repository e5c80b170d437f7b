"""Dense generalised eigenproblems ``A v = l B v`` with ``B`` positive semi-definite and possibly singular.

In oriented PCA ``A`` and ``B`` are the covariances of signal and noise; in other linear projections both are
quadratic forms of a graph. ``B`` is scaled to a unit diagonal first, so that its numerical rank does not
depend on the units of the variables, and then decomposed: directions in its numerical null space are left
out, and the others are whitened.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from scipy import linalg

from eigenscape import _memory
from eigenscape.solvers.direct import dense_eigh
from eigenscape.solvers.pairs import canonical_signs
from eigenscape.solvers.policy import Order

_EPS = np.finfo(np.float64).eps


class Whitening(NamedTuple):
    """Whitening of the range, and basis of the null space, of a positive semi-definite matrix ``B``.

    Attributes
    ----------
    whitener : ndarray of shape (d, rank)
        ``W`` with ``W'BW = I``.
    null : ndarray of shape (d, d - rank)
        Directions with ``B n = 0`` up to rounding, orthonormal in units of ``size`` (see :func:`whiten`).
    """

    whitener: np.ndarray
    null: np.ndarray


@dataclass(frozen=True, eq=False)
class GeneralizedPairs:
    """Eigenpairs of a generalised problem.

    Attributes
    ----------
    values : ndarray of shape (r,)
        Eigenvalues in the requested order.
    vectors : ndarray of shape (d, r)
        Eigenvectors with ``v_i' B v_j = delta_ij`` and canonical signs.
    residuals : ndarray of shape (r,)
        ``|A v - l B v| / (|B| |v|)``, comparable with the eigenvalues for any scale of ``A`` and ``B``.
    rank : int
        Numerical rank of ``B``.
    n_iter : int
        Number of iterations of an iterative solver; 1 for a direct one.
    """

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    rank: int
    n_iter: int = 1


def whiten(B: np.ndarray, rank_tol: float | None = None, size: np.ndarray | None = None) -> Whitening:
    """Whiten the range of ``B`` and compute its null space.

    Parameters
    ----------
    B : ndarray of shape (d, d)
        Positive semi-definite matrix.
    rank_tol : float, optional
        Eigenvalues of the scaled matrix below ``rank_tol`` times the largest are treated as zero. If None,
        a multiple of machine precision.
    size : ndarray of shape (d,), optional
        Scale of each variable. If None, the square root of the diagonal of ``B``.
    """
    d = len(B)
    _memory.require(3 * 8.0 * d * d, f"a generalised eigen-problem of {d} variables", "use fewer variables")
    size = np.sqrt(np.maximum(np.diagonal(B), 0)) if size is None else size
    size = np.where(size > _EPS * size.max(initial=0.0), size, 1.0)
    values, vectors = linalg.eigh(_symmetric(B / size / size[:, None]))
    in_range = values > (10 * d * _EPS if rank_tol is None else rank_tol) * values[-1]
    directions = vectors / size[:, None]
    return Whitening(directions[:, in_range] / np.sqrt(values[in_range]), directions[:, ~in_range])


def generalized_eigh(
    A: np.ndarray,
    B: np.ndarray,
    count: int | None = None,
    order: Order | Literal["smallest"] = "value",
    whitener: np.ndarray | None = None,
) -> GeneralizedPairs:
    """Compute leading eigenpairs of ``A v = l B v`` on the range of ``B``.

    Parameters
    ----------
    A, B : ndarray of shape (d, d)
        Symmetric matrices, ``B`` positive semi-definite. The null space of ``B`` is ignored: use
        :func:`whiten` first if ``A`` may be nonzero there.
    count : int or None, default=None
        Number of eigenpairs. If None, or larger than the rank of ``B``, all of them.
    order : {"value", "magnitude", "smallest"}, default="value"
        Largest first, largest magnitude first, or smallest first.
    whitener : ndarray of shape (d, rank), optional
        Result of :func:`whiten`, if already computed or computed with other tolerances.

    Returns
    -------
    GeneralizedPairs
    """
    W = whiten(B).whitener if whitener is None else whitener
    rank = W.shape[1]
    if rank == 0:
        return GeneralizedPairs(np.zeros(0), np.zeros((len(B), 0)), np.zeros(0), 0)
    values, inner = dense_eigh(_symmetric(W.T @ (A @ W)), rank if count is None else min(count, rank), order)
    vectors = canonical_signs(W @ inner)
    return GeneralizedPairs(values, vectors, relative_residuals(A, B, values, vectors), rank)


def relative_residuals(A: np.ndarray, B: np.ndarray, values: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Compute ``|A v - l B v| / (|B| |v|)`` of each pair."""
    error = np.linalg.norm(A @ vectors - values * (B @ vectors), axis=0)
    return error / (np.linalg.norm(B) * np.linalg.norm(vectors, axis=0))


def _symmetric(M: np.ndarray) -> np.ndarray:
    return (M + M.T) / 2
