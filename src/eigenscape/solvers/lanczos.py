"""Lanczos iteration with thick restarts: the smallest eigenvalues of a sparse semi-definite matrix.

The method of Wu and Simon (2000): when the basis is full it is reduced to its leading Ritz vectors and the
last residual, which span a Krylov space again. Differences from ARPACK: residuals are compared with the small
eigenvalues that are wanted, not with eigenvalues of the shifted matrix; known eigenvectors are projected out;
the steps are compiled; and an iteration whose rate shows that it will not end in time stops early.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import sparse

from eigenscape._memory import fits
from eigenscape._native.loops import multiply_shifted, project_out

_EPS = np.finfo(np.float64).eps
#: Vectors of the Krylov space: at least this many, or this many more than twice the wanted ones.
_VECTORS, _ADDITIONAL = 40, 20
#: Largest number of vectors, to which it is doubled while all that are kept belong to eigenvalues near zero.
_MOST_VECTORS, _NEAR = 320, 5e-5
#: Part of the restarts from which the rate of convergence is estimated: it rises after the first ones.
_PATIENCE = 8
#: Steps of the search for eigenvectors that were missed.
_CHECK_STEPS = 25


class LanczosResult(NamedTuple):
    """Eigenvalues in ascending order, eigenvectors (m, count), restarts, and whether they converged."""

    values: np.ndarray
    vectors: np.ndarray
    n_iter: int
    converged: bool


def thick_restart_lanczos(
    matrix: sparse.csr_array,
    bound: float,
    count: int,
    known: np.ndarray,
    *,
    wanted: int,
    tol: float,
    max_restarts: int,
    give_up: bool,
    rng: np.random.Generator,
) -> LanczosResult:
    """Compute the smallest eigenpairs orthogonal to known ones.

    Parameters
    ----------
    matrix : csr_array of shape (m, m)
        Symmetric matrix with eigenvalues between 0 and ``bound``.
    bound : float
    count : int
        Number of eigenpairs; fewer are returned if the Krylov space is smaller.
    known : ndarray of shape (m, q)
        Orthonormal vectors to which the result is orthogonal.
    wanted : int
        Number of pairs that must converge.
    tol : float
        Largest residual, relative to the eigenvalue.
    max_restarts : int
    give_up : bool
        Whether to stop if the pairs will not converge in time at the present rate.
    rng : Generator
        Source of the starting vector.
    """
    m, n_known = known.shape
    size = min(max(_VECTORS, 2 * count + _ADDITIONAL), m - n_known - 1)
    V, T = np.empty((n_known + size + 1, m)), np.zeros((size, size))
    V[:n_known] = known.T
    V[n_known] = _orthogonal_start(known, rng)
    start = 0
    history: list[float] = []  # largest residual after each restart, relative to the allowed one
    n_restarts = n_near = 0
    while True:
        filled, length = _extend_krylov(matrix, bound, V, T, n_known, start, size)
        ritz, S = np.linalg.eigh(T[:filled, :filled])
        ritz, S = ritz[::-1], S[:, ::-1]
        values, basis = bound - ritz, V[n_known : n_known + filled]
        allowed = tol * np.abs(values[:wanted]) + 16 * _EPS * bound
        before, n_near = n_near, int(np.count_nonzero(values < _NEAR * bound))
        if n_near > before:  # vectors of nearly separate parts come one after the other, before any converges
            history.clear()
        history.append(float((length * np.abs(S[-1, :wanted]) / allowed).max()))
        n_restarts += 1
        converged = history[-1] <= 1 or filled < size
        left = max_restarts - n_restarts
        if converged or left <= 0 or (give_up and _is_too_slow(history, left, max_restarts // _PATIENCE)):
            return LanczosResult(values[:count], basis.T @ S[:, :count], n_restarts, converged)
        # A restart gains the most digits if it adds many vectors and the gap after those kept is wide.
        kept = np.arange(count, max(size - size // 4, count + 1))
        gain = (size - kept) * np.sqrt(np.maximum(values[kept] - values[wanted - 1], 0.0))
        start = int(kept[np.argmax(gain)])
        basis[:start] = S[:, :start].T @ basis
        V[n_known + start] = V[n_known + size]
        T[:start, :start] = np.diag(ritz[:start])
        is_crowded = values[start] < _NEAR * bound and 2 * size <= min(_MOST_VECTORS, m // 8)
        if is_crowded and fits(16.0 * size * m):
            size *= 2  # there are more vectors of nearly separate parts than the basis can keep
            V = np.concatenate([V[: n_known + start + 1], np.empty((size - start, m))])
            T = np.pad(T[:start, :start], (0, size - start))


def _is_too_slow(history: list[float], left: int, last: int) -> bool:
    """Return True if residuals that decrease as in the ``last`` restarts are too large after those left."""
    if len(history) <= last:
        return False
    rate = np.log(history[-1 - last] / history[-1]) / max(last, 1)
    return bool(np.log(history[-1]) > 1.5 * rate * left)


def smallest_beside(matrix: sparse.csr_array, bound: float, found: np.ndarray, seed: int) -> float:
    """Return an upper bound of the smallest eigenvalue with an eigenvector orthogonal to those ``found``.

    A short Lanczos iteration on the orthogonal complement. An infinite bound if there is no complement.
    """
    m, n_found = found.shape
    size = min(_CHECK_STEPS, m - n_found - 1)
    if size < 1:
        return np.inf
    V, T = np.empty((n_found + size + 1, m)), np.zeros((size, size))
    V[:n_found] = found.T
    V[n_found] = _orthogonal_start(found, np.random.default_rng([seed, 1]))  # another one than before
    filled, _ = _extend_krylov(matrix, bound, V, T, n_found, 0, size)
    return float(bound - np.linalg.eigvalsh(T[:filled, :filled])[-1]) * (1 + 1e-6)


def _orthogonal_start(known: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a random unit vector orthogonal to known ones."""
    start = rng.standard_normal(len(known))
    for _ in range(2):
        start -= known @ (known.T @ start)
    return start / np.linalg.norm(start)


def _extend_krylov(
    matrix: sparse.csr_array, bound: float, V: np.ndarray, T: np.ndarray, n_known: int, start: int, stop: int
) -> tuple[int, float]:
    """Extend an orthonormal basis by Lanczos steps with ``B = bound - A``, orthogonalised fully.

    The rows of ``V`` are ``n_known`` vectors, which are projected out, then the basis: ``start + 1`` vectors
    before, ``stop + 1`` after. ``T[:stop, :stop]`` becomes the projection of ``B`` on the first ``stop``.
    Returns the number of vectors with a column in ``T``, less than ``stop`` if they span an invariant space,
    and the length of the last residual.
    """
    indptr, indices, data = matrix.indptr, matrix.indices, matrix.data.astype(np.float64, copy=False)
    zero, length, w, products = 1e-14 * bound, 0.0, np.empty(V.shape[1]), np.empty(2)
    for j in range(start, stop):
        row, column = n_known + j, np.zeros(j + 1)
        # In exact arithmetic w lies in the space of the last two vectors, except after a restart. Without
        # these parts one orthogonalisation suffices.
        multiply_shifted(indptr, indices, data, bound, V, row, length, w, products)
        column[j] = products[0]
        if j > start:
            column[j - 1] = length
        length, previous = math.sqrt(products[1]), np.inf
        while zero < length < 0.5 * previous:  # repeat while most of w lies in the basis
            previous, h = length, np.empty(row + 1)
            project_out(V, row + 1, w, h, products[1:])
            column += h[n_known:]
            length = math.sqrt(products[1])
        T[: j + 1, j] = T[j, : j + 1] = column
        if length <= zero:
            return j + 1, 0.0
    V[n_known + stop] = w / length
    return stop, length
