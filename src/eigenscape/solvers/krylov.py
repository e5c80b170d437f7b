"""Block Krylov iteration with Rayleigh-Ritz: the largest eigenvalues of an operator from its products alone.

It is block Lanczos in Davidson's form: the basis grows by the residuals of the wanted pairs, both the basis ``Q`` and
``A Q`` are kept, and a full basis is compressed to its best Ritz vectors. Against ARPACK: products come in blocks (a kernel
matrix made anew for each product is made rarely), convergence is judged by the true residual ``|A v - l v|`` with a floor at
rounding level (so that a rank-deficient matrix ends), and the known eigenvectors are projected out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from eigenscape._progress import stage

_EPS = np.finfo(np.float64).eps


def block_krylov(
    product: Callable[[np.ndarray], np.ndarray],
    m: int,
    count: int,
    *,
    order: str,
    tol: float,
    max_iter: int,
    seed: int,
    known: np.ndarray | None = None,
    origin: float = 0.0,
) -> tuple[np.ndarray, np.ndarray, bool]:
    """``count`` leading eigenvalues, their vectors (m, count), and whether every residual is small enough.

    Small enough is ``tol * |l - origin|``, or rounding. ``order``: ``"value"`` for the largest, ``"magnitude"`` for the
    largest in absolute value. ``known``: orthonormal vectors (m, q) that the result must be orthogonal to.
    """
    known = np.zeros((m, 0)) if known is None else known
    room = m - known.shape[1]
    block = min(count + 4, room)  # a few more: they speed the last wanted pairs up and find multiple eigenvalues
    widest = min(max(6 * block, 60), room)
    Q = _orthonormal(np.random.default_rng(seed).standard_normal((m, block)), known)
    AQ = product(Q)
    with stage("eigen-solve", total=max_iter) as advance:
        for _ in range(max_iter):
            advance(1)
            ritz, Y = np.linalg.eigh(_symmetric(Q.T @ AQ))
            best = np.argsort(-np.abs(ritz) if order == "magnitude" else -ritz, kind="stable")
            ahead = best[:block]
            vectors = Q @ Y[:, ahead]
            residuals = AQ @ Y[:, ahead] - vectors * ritz[ahead]
            floor = 4 * _EPS * m**0.5 * np.abs(ritz).max()
            allowed = tol * np.abs(ritz[ahead] - origin) + floor
            good = bool((np.linalg.norm(residuals, axis=0) <= allowed)[:count].all())
            if good or Q.shape[1] >= room:
                break
            if Q.shape[1] + block > widest:
                keep = best[: block + count]
                Q, AQ = Q @ Y[:, keep], AQ @ Y[:, keep]
            fresh = _orthonormal(residuals, np.hstack([known, Q]))
            if fresh.shape[1] == 0:
                break
            Q, AQ = np.hstack([Q, fresh]), np.hstack([AQ, product(fresh)])
    return ritz[ahead[:count]], vectors[:, :count], good


def _orthonormal(W: np.ndarray, against: np.ndarray) -> np.ndarray:
    """An orthonormal basis of what ``W`` adds to the span of ``against``; columns that add nothing are dropped."""
    W = W / np.maximum(np.linalg.norm(W, axis=0), np.finfo(np.float64).tiny)
    for _ in range(2):
        W = W - against @ (against.T @ W)
        basis, triangle = np.linalg.qr(W)
        independent = np.abs(np.diagonal(triangle)) > 1e-10
        W = basis[:, independent]
    return W


def _symmetric(T: np.ndarray) -> np.ndarray:
    return (T + T.T) / 2
