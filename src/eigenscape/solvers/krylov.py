"""Block Krylov iteration with Rayleigh-Ritz: the largest eigenvalues of an operator from its products.

This is block Lanczos in Davidson's form: the basis grows by the residuals of the wanted pairs, preconditioned
if a preconditioner is given; both the basis ``Q`` and ``A Q`` are stored, and a full basis is compressed to
its leading Ritz vectors. Differences from ARPACK: products are with blocks of vectors (a kernel matrix that
is recomputed for each product is recomputed rarely); convergence is judged by the true residual
``|A v - l v|`` with a floor at rounding level (so that the iteration ends for a rank-deficient matrix); known
eigenvectors are projected out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from eigenscape._native.loops import advance_solution, next_direction, products_with, subtract_scaled
from eigenscape._progress import stage
from eigenscape.solvers.policy import Order

_EPS = np.finfo(np.float64).eps

Product = Callable[[np.ndarray], np.ndarray]
#: Sums a function of slices of rows, see :meth:`eigenscape.solvers.hierarchy.Hierarchy.sweep`.
Sweep = Callable[[Callable[[slice], Any], int], Any]


class KrylovResult(NamedTuple):
    """Eigenvalues, eigenvectors (m, count), whether all wanted pairs converged, and the block iterations."""

    values: np.ndarray
    vectors: np.ndarray
    converged: bool
    n_iter: int


def block_krylov(
    product: Product,
    m: int,
    count: int,
    *,
    order: Order = "value",
    tol: float = 1e-10,
    max_iter: int = 1000,
    seed: int = 0,
    origin: float = 0.0,
    noise: float = 16 * _EPS,
    guard: int = 4,
    blocks: int = 12,
    patience: int = 1000,
    head_start: int = 0,
    wanted: int | None = None,
    known: np.ndarray | None = None,
    start: np.ndarray | None = None,
    precondition: Product | None = None,
) -> KrylovResult:
    """Compute the ``count`` leading eigenpairs of a symmetric operator.

    Parameters
    ----------
    product : callable
        ``V -> A V`` for ``V`` of shape (m, any).
    m : int
        Size of the operator.
    count : int
        Number of eigenpairs.
    order : {"value", "magnitude"}, default="value"
        Whether the eigenvalues of largest value or of largest magnitude are wanted.
    tol : float, default=1e-10
        A pair has converged if its residual is at most ``tol * |l - origin|``, plus ``noise`` times the
        largest Ritz value.
    max_iter : int, default=1000
        Maximum number of block iterations.
    seed : int, default=0
        Seed of the starting vectors.
    origin, noise : float
        See ``tol``.
    guard : int, default=4
        Number of additional pairs that are iterated. They speed up the convergence of the last wanted pairs
        and help to find multiple eigenvalues.
    blocks : int, default=12
        Maximum number of blocks in the basis: many for expensive products.
    patience : int, default=1000
        Number of iterations without progress after which the iteration stops.
    head_start : int, default=0
        Number of iterations before the first Rayleigh-Ritz step. They extend the basis by the newest block of
        ``A Q``, which has the same span as the residuals and costs less. For iterations without a
        preconditioner.
    wanted : int, optional
        Number of leading pairs that must converge. All, if None.
    known : ndarray of shape (m, q), optional
        Orthonormal vectors to which the result is orthogonal.
    start : ndarray of shape (m, any), optional
        Starting vectors.
    precondition : callable, optional
        Applied to the residuals before they extend the basis.
    """
    wanted = count if wanted is None else wanted
    known = np.zeros((m, 0)) if known is None else known
    dimension = m - known.shape[1]
    block = min(count + guard, dimension)
    basis = _Basis(m, min(blocks * block + 12, dimension), known, product)
    guess = np.random.default_rng(seed).standard_normal((m, block))
    if start is not None:
        guess[:, : start.shape[1]] = start[:, :block]
    basis.grow(guess)
    best, stalled = np.inf, 0
    with stage("eigen-solve", total=max_iter, bound=True) as advance:
        step = 0
        while step < max_iter:
            step += 1
            advance(1)
            is_early = step <= min(head_start, max_iter - 1)
            if is_early and basis.size + block < basis.capacity and basis.grow(basis.newest):
                continue
            ritz, Y = basis.ritz(order)
            vectors = basis.Q @ Y[:, :block]
            residuals = basis.AQ @ Y[:, :block] - vectors * ritz[:block]
            allowed = (
                tol * np.abs(ritz[:block] - origin) + noise * np.abs(ritz).max() + np.finfo(np.float64).tiny
            )
            size = np.linalg.norm(residuals, axis=0)
            converged = bool((size <= allowed)[:wanted].all())
            worst = float((size / allowed)[:wanted].max())
            best, stalled = (worst, 0) if worst < 0.7 * best else (best, stalled + 1)
            if converged or stalled > patience or basis.size >= dimension:
                break
            if basis.size + block > basis.capacity:
                basis.compress(Y[:, : block + count])
            directions = residuals[:, size > allowed]
            if precondition is not None:  # rounding errors along small eigenvectors would be amplified
                directions = precondition(directions - basis.Q @ (basis.Q.T @ directions))
            if not basis.grow(directions):
                break
    return KrylovResult(ritz[:count], vectors[:, :count], converged, step)


class _Basis:
    """Orthonormal basis ``Q`` with ``A Q``, both extended and compressed in place.

    ``newest`` are the columns of ``A Q`` that were added last.
    """

    def __init__(self, m: int, capacity: int, known: np.ndarray, product: Product) -> None:
        self.capacity, self._restarts = capacity, 0
        self._known, self._product = known, product
        self._Q = np.empty((m, capacity), order="F")
        self._AQ = np.empty((m, capacity), order="F")
        self._T = np.zeros((capacity, capacity))  # Q' A Q
        self._resize(0)

    def _resize(self, size: int) -> None:
        self.size, self.Q, self.AQ = size, self._Q[:, :size], self._AQ[:, :size]

    def ritz(self, order: Order) -> tuple[np.ndarray, np.ndarray]:
        """Compute the Ritz values in the wanted order, and their vectors in coordinates of the basis."""
        values, Y = np.linalg.eigh(self._T[: self.size, : self.size])
        best = np.argsort(-np.abs(values) if order == "magnitude" else -values, kind="stable")
        return values[best], Y[:, best]

    def grow(self, W: np.ndarray) -> bool:
        """Extend the basis by the span of ``W``; return False if ``W`` lies in the span of the basis."""
        W = W / np.maximum(np.linalg.norm(W, axis=0), np.finfo(np.float64).tiny)
        lost = np.inf
        # Repeat while most of W lies in the basis or its columns are nearly parallel, as rounding dominates.
        while lost > 10:
            for against in (self._known, self.Q):
                W = W - against @ (against.T @ W)
            size, rotation = np.linalg.eigh(W.T @ W)
            adds = size > 1e-14 * max(float(size[-1]), 1e-6)
            W = W @ (rotation[:, adds] / np.sqrt(size[adds]))
            lost = 1 / np.sqrt(size[adds].min()) if adds.any() else 0.0
        W = W[:, : self.capacity - self.size]
        if W.shape[1] == 0:
            return False
        old, new = slice(0, self.size), slice(self.size, self.size + W.shape[1])
        self._Q[:, new] = W
        self._AQ[:, new] = self._product(W)
        self._resize(new.stop)
        self.newest = self._AQ[:, new]
        cross = self.Q.T @ self._AQ[:, new]
        self._T[: self.size, new] = cross
        self._T[new, old] = cross[old].T
        corner = cross[new]
        self._T[new, new] = (corner + corner.T) / 2
        return True

    def compress(self, Y: np.ndarray) -> None:
        """Reduce the basis to the span of ``Q Y``."""
        k = Y.shape[1]
        T = Y.T @ self._T[: self.size, : self.size] @ Y
        for array in (self._Q, self._AQ):
            array[:, :k] = array[:, : self.size] @ Y
        self._resize(k)
        self._T[:k, :k] = (T + T.T) / 2
        self._restarts += 1
        if self._restarts % 8 == 0:  # recompute A Q for the same span, before rounding errors accumulate
            span = self.Q.copy()
            self._resize(0)
            self.grow(span)


def conjugate_gradients(
    product: Product,
    values: np.ndarray,
    residual: np.ndarray,
    goal: np.ndarray,
    known: np.ndarray,
    most_steps: int,
    precondition: Product,
    sweep: Sweep,
) -> tuple[np.ndarray, int]:
    """Solve ``(A - l) z = -r`` orthogonally to ``known`` for all columns at once; return the steps, too.

    Parameters
    ----------
    product, precondition : callable
        ``V -> A V`` and an approximate inverse.
    values : ndarray of shape (c,)
        The shift ``l`` of each column.
    residual : ndarray of shape (m, c)
        Orthogonal to ``known``.
    goal : ndarray of shape (c,)
        Lengths of the residuals at which the iteration ends.
    known : ndarray of shape (m, q)
    most_steps : int
    sweep : callable
        Sums a function of slices of rows.
    """
    m, count = residual.shape
    r, before = -residual, np.zeros_like(residual)
    x, p = np.zeros_like(r), np.zeros_like(r)
    tiny = np.finfo(np.float64).tiny
    old = np.full(count, tiny)

    def products(Z: np.ndarray, R: np.ndarray, S: np.ndarray, rows: slice) -> np.ndarray:
        out = np.zeros((known.shape[1] + 2, count))
        products_with(known, Z, R, S, rows.start, rows.stop, out)
        return out

    def overlaps(rows: slice) -> np.ndarray:
        return products(z, r, before, rows)

    def turn(rows: slice) -> None:
        next_direction(known, z, np.array(inside), forward, rows.start, rows.stop, p)

    def shift(rows: slice) -> np.ndarray:
        subtract_scaled(p, values, rows.start, rows.stop, q)
        return products(q, p, p, rows)

    def advance(rows: slice) -> np.ndarray:
        out = np.zeros(count)
        advance_solution(known, p, q, np.array(inside), length, rows.start, rows.stop, x, r, before, out)
        return out

    for steps in range(1, most_steps + 1):
        z = precondition(r)
        *inside, new, overlap = sweep(overlaps, m)
        # Polak and Ribiere: the preconditioner is rounded. r is orthogonal to `known`, so z need not be here.
        forward = np.divide(new - overlap, old, out=np.zeros(count), where=(new > overlap) & (old > tiny))
        sweep(turn, m)
        q = product(p)
        *inside, curvature, _ = sweep(shift, m)
        old = np.maximum(new, tiny)
        # A direction in which the quotient is below the eigenvalue is kept for Rayleigh-Ritz as it is.
        kept = np.full(count, float(steps == 1))
        length = np.divide(old, curvature, out=kept, where=curvature > tiny * np.maximum(old, 1.0))
        if (np.sqrt(sweep(advance, m)) <= goal).all():
            break
    return x, steps
