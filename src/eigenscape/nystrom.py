r"""The Nystrom method on matrices: a kernel matrix with some known rows (Burges sec. 2.1).

A symmetric matrix of low rank is determined by the rows ``[A B]`` of a few points that span it,

.. math:: K = \begin{bmatrix} A & B \\ B' & C \end{bmatrix}, \qquad C = B' A^{-1} B,

and so are its eigenvectors. :func:`exact_eigh` computes them, :func:`approximate_eigh` approximations that do
not depend on the number of other points, :func:`schur_error` the difference between ``K`` and such a matrix,
and :func:`complete` missing entries.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg

from eigenscape._parameters import check_count
from eigenscape.exceptions import RankError
from eigenscape.solvers.pairs import canonical_signs

__all__ = ["SchurError", "approximate_eigh", "complete", "exact_eigh", "schur_error"]


def exact_eigh(A: ArrayLike, B: ArrayLike, tol: float = 1e-12) -> tuple[np.ndarray, np.ndarray]:
    r"""Compute eigenvalues and eigenvectors of the completed matrix ``[A B; B' B'A^-1 B]``.

    Burges eq. 1.20-1.24. With ``A = U L U'`` the matrix is ``G S G'``, ``G = [A B]' U |L|^-1/2``, ``S`` the
    signs of ``L``, so its eigenvectors follow from a matrix of the size of ``A``. Burges uses the symmetric
    root of ``A`` and diagonalises ``Q = G'G``; here ``G`` is factorised by QR first, which keeps the vectors
    orthogonal up to rounding.

    Parameters
    ----------
    A : array-like of shape (q, q)
        Symmetric, of any rank; it may be indefinite, as for distances that are not Euclidean.
    B : array-like of shape (q, n)
        The same rows at the other points, in the span of the columns of ``A``.
    tol : float, default=1e-12
        Eigenvalues of ``A`` below this fraction of the largest magnitude are treated as zero.

    Returns
    -------
    values : ndarray of shape (r,)
        The nonzero eigenvalues, largest first; ``r`` is the rank of the completed matrix.
    vectors : ndarray of shape (q + n, r)
        Orthonormal, the points of ``A`` first, each column with its largest entry positive.

    Raises
    ------
    RankError
        If the columns of ``B`` are not in the span of ``A``.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.nystrom import exact_eigh
    >>> Z = np.random.default_rng(0).standard_normal((30, 2))
    >>> K = Z @ Z.T
    >>> values, vectors = exact_eigh(K[:4, :4], K[:4, 4:])
    >>> np.allclose((vectors * values) @ vectors.T, K)
    True
    """
    A, B = _rows(A, B)
    values, U = _nonzero_eigh(A, tol)
    outside = float(np.abs(B - U @ (U.T @ B)).max(initial=0.0))
    if outside > 1e-7 * float(np.abs(B).max(initial=0.0)):
        raise RankError(
            f"A has rank {len(values)}, and the columns of B are not in its span (by up to {outside:.1e}), so"
            " A and B do not determine the matrix; include more points in A"
        )
    G = np.concatenate([A, B.T]) @ (U / np.sqrt(np.abs(values)))  # (q + n, r)
    Q, R = np.linalg.qr(G)
    found, W = linalg.eigh((R * np.sign(values)) @ R.T)
    keep = np.flatnonzero(np.abs(found) > tol * np.abs(found).max())[::-1]
    return found[keep], canonical_signs(Q @ W[:, keep])


def approximate_eigh(
    A: ArrayLike, B: ArrayLike, n_components: int | None = None, tol: float = 1e-12
) -> tuple[np.ndarray, np.ndarray]:
    """Compute eigenvalues of ``A`` and its eigenvectors extended to the other points, ``[A B]' U L^-1``.

    Burges eq. 1.23, 1.25. Unlike the results of :func:`exact_eigh` they do not depend on further points, as a
    ``transform`` requires, but they are orthonormal on the points of ``A`` only. ``V diag(values) V'`` is the
    completed matrix if all nonzero eigenvalues are kept.

    Parameters
    ----------
    A : array-like of shape (q, q)
        Symmetric, of any rank.
    B : array-like of shape (q, n)
        The same rows at the other points.
    n_components : int or None, default=None
        Number of eigenpairs, largest eigenvalue first. If None, all that are not zero.
    tol : float, default=1e-12
        Eigenvalues of ``A`` below this fraction of the largest magnitude are treated as zero.

    Returns
    -------
    values : ndarray of shape (r,)
        Eigenvalues of ``A``. The eigenvalues of the whole matrix are about ``(q + n) / q`` times as
        large (Burges sec. 2.1.1).
    vectors : ndarray of shape (q + n, r)

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.nystrom import approximate_eigh
    >>> Z = np.random.default_rng(0).standard_normal((30, 2))
    >>> K = Z @ Z.T
    >>> values, vectors = approximate_eigh(K[:4, :4], K[:4, 4:])
    >>> np.allclose((vectors * values) @ vectors.T, K), np.allclose(vectors.T @ vectors, np.eye(2))
    (True, False)
    """
    A, B = _rows(A, B)
    values, U = _nonzero_eigh(A, tol)
    values, U = values[:n_components], canonical_signs(U[:, :n_components])
    return values, np.concatenate([U, B.T @ (U / values)])


class SchurError(NamedTuple):
    """Norm of ``C - B'A^-1 B``, the same relative to ``C``, and the standard error of the first.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.nystrom import schur_error
    >>> K = np.outer([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])  # of rank 1: one row determines all
    >>> error = schur_error(K[:1, :1], K[:1, 1:], K[1:, 1:])
    >>> bool(error.relative < 1e-12), error.standard_error
    (True, 0.0)
    """

    size: float
    relative: float
    standard_error: float


def schur_error(
    A: ArrayLike,
    B: ArrayLike,
    C: ArrayLike | Callable[[np.ndarray], ArrayLike],
    n_columns: int = 64,
    random_state: int = 0,
    tol: float = 1e-12,
) -> SchurError:
    """Compute the Frobenius norm of the Schur complement ``C - B'A^-1 B`` (Burges sec. 2.1.3).

    It measures the part of a kernel matrix that is not determined by the rows ``[A B]``.

    Parameters
    ----------
    A : array-like of shape (q, q)
        Symmetric, of any rank.
    B : array-like of shape (q, n)
        The same rows at the other points.
    C : array-like of shape (n, n), or callable
        The rest of the matrix, or a function that returns the columns (n, c) of the given indices (c,), which
        is called with a random sample of columns.
    n_columns : int, default=64
        Number of columns to sample if ``C`` is callable.
    random_state : int, default=0
        Seed of the sample.
    tol : float, default=1e-12
        Eigenvalues of ``A`` below this fraction of the largest magnitude are treated as zero.

    Returns
    -------
    SchurError
        ``size``, ``relative`` and ``standard_error``, which is 0 if every column was used.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.nystrom import schur_error
    >>> x = np.linspace(0, 1, 200)[:, None]
    >>> K = np.exp(-np.square(x - x.T))
    >>> order = np.argsort(np.arange(200) % 20, kind="stable")  # ten evenly spaced points first
    >>> K = K[np.ix_(order, order)]
    >>> schur_error(K[:10, :10], K[:10, 10:], K[10:, 10:]).relative < 1e-6
    True
    """
    A, B = _rows(A, B)
    n = B.shape[1]
    columns = np.arange(n)
    if callable(C):
        check_count("n_columns", n_columns, 2)
        if n_columns < n:
            columns = np.sort(np.random.default_rng(random_state).choice(n, int(n_columns), replace=False))
    given = np.asarray(C(columns) if callable(C) else C, dtype=np.float64)  # (n, c)
    if given.shape != (n, len(columns)):
        raise ValueError(f"C must have shape ({n}, {len(columns)}), as B has {n} columns, got {given.shape}")
    values, U = _nonzero_eigh(A, tol)
    projected = U.T @ B
    rest = np.square(given - projected.T @ (projected[:, columns] / values[:, None])).sum(axis=0)  # (c,)
    c = len(columns)
    size = float(np.sqrt(n * rest.mean()))
    whole = float(np.sqrt(n * np.square(given).sum(axis=0).mean()))
    # The size is the square root of n times a mean over columns drawn without replacement.
    error = n * rest.std(ddof=1) * np.sqrt((1 - c / n) / c) if 1 < c < n else 0.0
    return SchurError(
        size, size / whole if whole > 0 else 0.0, float(error / (2 * size)) if size > 0 else 0.0
    )


def complete(K: ArrayLike, rank: int | None = None, tol: float = 1e-8) -> np.ndarray:
    """Compute the missing entries of a low-rank kernel matrix from its complete rows (Burges note 11).

    If ``[A B]`` are the complete rows, the rest is ``C = B'A^-1 B``, provided that no other row adds to their
    rank. One of the following must show this: there are more complete rows than their rank (points in general
    position would have a higher one); or the whole diagonal is known and agrees (a positive semi-definite
    remainder with a zero diagonal is zero); or ``rank`` is given.

    Parameters
    ----------
    K : array-like of shape (n, n)
        Symmetric matrix with NaN for missing entries; an entry missing on one side of the diagonal is taken
        from the other.
    rank : int or None, default=None
        The rank of the whole matrix, if known.
    tol : float, default=1e-8
        Eigenvalues, and differences from known entries, below this fraction of the largest are treated as
        zero.

    Returns
    -------
    ndarray of shape (n, n)
        The completed matrix; known entries are unchanged.

    Raises
    ------
    RankError
        If the complete rows do not determine the matrix; the message gives the reason.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.nystrom import complete
    >>> Z = np.random.default_rng(0).standard_normal((8, 2))
    >>> K = Z @ Z.T
    >>> damaged = K.copy()
    >>> damaged[2:, 2:] = np.nan  # the accident of Burges note 11
    >>> np.allclose(complete(damaged, rank=2), K)
    True
    """
    K = np.array(K, dtype=np.float64)
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise ValueError(f"K must be square, got shape {K.shape}")
    if np.isinf(K).any():
        raise ValueError("K has infinite entries; mark missing ones by NaN")
    K = np.where(np.isnan(K), K.T, K)
    missing = np.isnan(K)
    scale = float(np.abs(K[~missing]).max(initial=0.0))
    if float(np.abs(K - K.T)[~missing].max(initial=0.0)) > tol * scale:
        raise ValueError("K must be symmetric, but known entries (i, j) and (j, i) differ")
    full = ~missing.any(axis=1)
    if full.all():
        return K
    if not full.any():
        raise RankError("every row of K has a missing entry; at least one complete row is needed")
    A, B = K[np.ix_(full, full)], K[np.ix_(full, ~full)]
    found, U = _nonzero_eigh(A, tol)
    outside = float(np.abs(B - U @ (U.T @ B)).max())
    if outside > np.sqrt(tol) * scale:
        raise RankError(
            f"the {len(A)} complete rows have rank {len(found)} among themselves, but a higher one with the"
            f" other points (by up to {outside:.1e}): the missing entries are not determined; more complete"
            " rows are needed"
        )
    projected = U.T @ B
    C = projected.T @ (projected / found[:, None])  # Burges eq. 1.22
    block = K[np.ix_(~full, ~full)]
    known = ~np.isnan(block)
    worst = float(np.abs(C - block)[known].max(initial=0.0))
    if worst > np.sqrt(tol) * scale:
        raise RankError(
            f"the {len(A)} complete rows have rank {len(found)}, but known entries outside them differ from"
            f" those that this rank implies by up to {worst:.1e}: the kernel has a higher rank, so the"
            " missing entries are not determined; more complete rows are needed"
        )
    # A known diagonal is conclusive for a positive semi-definite matrix only; equal rows count once.
    conclusive = bool(known.diagonal().all()) and bool(found.min() > 0)
    _check_determined(len(found), _n_distinct(np.hstack([A, B]), tol), rank, conclusive)
    K[np.ix_(~full, ~full)] = np.where(known, block, (C + C.T) / 2)
    return K


def _n_distinct(rows: np.ndarray, tol: float) -> int:
    """Return the number of distinct rows, as duplicates are no evidence for the rank."""
    apart = np.abs(rows[:, None, :] - rows).max(axis=2)
    return int(np.sum(~np.tril(apart <= tol * np.abs(rows).max(), -1).any(axis=1)))


def _check_determined(found_rank: int, n_rows: int, rank: int | None, diagonal: bool) -> None:
    """Raise RankError if the complete rows do not determine the missing entries."""
    if rank is not None and rank != found_rank:
        remedy = "more complete rows are needed" if rank > found_rank else f"pass rank={found_rank} or None"
        raise RankError(f"rank={rank}, but the {n_rows} complete rows have rank {found_rank}; {remedy}")
    if rank is None and found_rank >= n_rows and not diagonal:
        raise RankError(
            f"the {n_rows} distinct complete rows are linearly independent, so the kernel may have a higher"
            f" rank; pass rank={found_rank} if it is known, or more complete rows"
        )


def _rows(A: ArrayLike, B: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the known rows as arrays, or raise ValueError."""
    A, B = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
    if A.ndim != 2 or A.shape[0] != A.shape[1] or A.shape[0] == 0:
        raise ValueError(f"A must be square, got shape {A.shape}")
    if B.ndim != 2 or B.shape[0] != A.shape[0]:
        raise ValueError(f"B must have the {A.shape[0]} rows that A has, got shape {B.shape}")
    if not (np.isfinite(A).all() and np.isfinite(B).all()):
        raise ValueError("A and B must be finite; use complete for a matrix with missing entries")
    if float(np.abs(A - A.T).max()) > 1e-8 * float(np.abs(A).max()):
        worst = float(np.abs(A - A.T).max())
        raise ValueError(f"A must be symmetric, but entries (i, j) and (j, i) differ by up to {worst:g}")
    return (A + A.T) / 2, B


def _nonzero_eigh(A: np.ndarray, tol: float) -> tuple[np.ndarray, np.ndarray]:
    """Compute the eigenpairs of ``A`` with nonzero eigenvalues, largest first."""
    values, U = linalg.eigh((A + A.T) / 2)
    keep = np.flatnonzero(
        np.abs(values) > max(tol, len(A) * np.finfo(np.float64).eps) * np.abs(values).max()
    )[::-1]
    if len(keep) == 0:
        raise RankError("A is zero, so its points do not span the kernel; choose other points")
    return values[keep], U[:, keep]
