"""Block Krylov iteration with Rayleigh-Ritz: the largest eigenvalues of an operator from its products alone.

It is block Lanczos in Davidson's form: the basis grows by the residuals of the wanted pairs, preconditioned
if there is a preconditioner; both the basis ``Q`` and ``A Q`` are kept, and a full basis is compressed to its
best Ritz vectors. Against ARPACK: products come in blocks (a kernel matrix made anew for each product is made
rarely), convergence is judged by the true residual ``|A v - l v|`` with a floor at rounding level (so that a
rank-deficient matrix ends), and the known eigenvectors are projected out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from eigenscape._progress import stage

_EPS = np.finfo(np.float64).eps

Product = Callable[[np.ndarray], np.ndarray]

#: Blocks of the basis: many where a product is dear, few where it is cheaper than keeping the basis
#: orthogonal.
DENSE_BLOCKS, SPARSE_BLOCKS = 12, 6


@dataclass(frozen=True)
class KrylovOptions:
    """``order``: ``"value"`` for the largest, ``"magnitude"`` for the largest in absolute value. A residual
    is small enough at ``tol * |l - origin|``, or at ``noise`` times the largest Ritz value. After
    ``patience`` steps without progress the iteration gives up. The basis holds up to ``blocks`` blocks.
    ``guard`` more pairs than wanted go along: they speed the last wanted ones up and find multiple
    eigenvalues."""

    order: str = "value"
    tol: float = 1e-10
    max_iter: int = 1000
    seed: int = 0
    origin: float = 0.0
    noise: float = 16 * _EPS
    guard: int = 4
    blocks: int = DENSE_BLOCKS
    patience: int = 1000


class KrylovResult(NamedTuple):
    """Values, vectors (m, count), whether every wanted residual is small enough, and the number of block
    steps."""

    values: np.ndarray
    vectors: np.ndarray
    converged: bool
    steps: int


def block_krylov(
    product: Product,
    m: int,
    count: int,
    options: KrylovOptions,
    *,
    wanted: int | None = None,
    known: np.ndarray | None = None,
    start: np.ndarray | None = None,
    precondition: Product | None = None,
) -> KrylovResult:
    """``count`` leading eigenpairs.

    Only the first ``wanted`` (all, if None) have to be good. ``known``: orthonormal vectors (m, q) that the
    result must be orthogonal to. ``start``: a first guess (m, any)."""
    wanted = count if wanted is None else wanted
    known = np.zeros((m, 0)) if known is None else known
    room = m - known.shape[1]
    block = min(count + options.guard, room)
    basis = _Basis(m, min(options.blocks * block + 12, room), known, product)
    guess = np.random.default_rng(options.seed).standard_normal((m, block))
    if start is not None:
        guess[:, : start.shape[1]] = start[:, :block]
    basis.grow(guess)
    best, idle = np.inf, 0
    with stage("eigen-solve", total=options.max_iter) as advance:
        step = 0
        while step < options.max_iter:
            step += 1
            advance(1)
            ritz, Y = basis.ritz(options.order)
            vectors = basis.Q @ Y[:, :block]
            residuals = basis.AQ @ Y[:, :block] - vectors * ritz[:block]
            allowed = (
                options.tol * np.abs(ritz[:block] - options.origin)
                + options.noise * np.abs(ritz).max()
                + np.finfo(np.float64).tiny
            )
            size = np.linalg.norm(residuals, axis=0)
            converged = bool((size <= allowed)[:wanted].all())
            worst = float((size / allowed)[:wanted].max())
            best, idle = (worst, 0) if worst < 0.7 * best else (best, idle + 1)
            if converged or idle > options.patience or basis.size >= room:
                break
            if basis.size + block > basis.capacity:
                basis.compress(Y[:, : block + count])
            open_ = residuals[:, size > allowed]
            if not basis.grow(open_ if precondition is None else precondition(open_)):
                break
    return KrylovResult(ritz[:count], vectors[:, :count], converged, step)


class _Basis:
    """An orthonormal basis ``Q`` that grows and shrinks in place, with ``A Q`` beside it."""

    def __init__(self, m: int, capacity: int, known: np.ndarray, product: Product) -> None:
        self.capacity, self.size, self._restarts = capacity, 0, 0
        self._known, self._product = known, product
        self._Q = np.empty((m, capacity), order="F")
        self._AQ = np.empty((m, capacity), order="F")
        self._T = np.zeros((capacity, capacity))  # Q' A Q

    @property
    def Q(self) -> np.ndarray:
        return self._Q[:, : self.size]

    @property
    def AQ(self) -> np.ndarray:
        return self._AQ[:, : self.size]

    def ritz(self, order: str) -> tuple[np.ndarray, np.ndarray]:
        """Ritz values, wanted first, and their coordinates in the basis."""
        values, Y = np.linalg.eigh(self._T[: self.size, : self.size])
        best = np.argsort(-np.abs(values) if order == "magnitude" else -values, kind="stable")
        return values[best], Y[:, best]

    def grow(self, W: np.ndarray) -> bool:
        """Add what ``W`` has that the basis has not; columns that add nothing are dropped. False if nothing
        is left."""
        W = W / np.maximum(np.linalg.norm(W, axis=0), np.finfo(np.float64).tiny)
        lost = np.inf
        while (
            lost > 10
        ):  # again while much of W lay in the basis, or its columns were nearly parallel: rounding shows
            for against in (self._known, self.Q):
                W = W - against @ (against.T @ W)
            size, turn = np.linalg.eigh(W.T @ W)
            adds = size > 1e-14 * max(float(size[-1]), 1e-6)
            W = W @ (turn[:, adds] / np.sqrt(size[adds]))
            lost = 1 / np.sqrt(size[adds].min()) if adds.any() else 0.0
        W = W[:, : self.capacity - self.size]
        if W.shape[1] == 0:
            return False
        old, new = slice(0, self.size), slice(self.size, self.size + W.shape[1])
        self._Q[:, new] = W
        self._AQ[:, new] = self._product(W)
        self.size = new.stop
        cross = self.Q.T @ self._AQ[:, new]
        self._T[: self.size, new] = cross
        self._T[new, old] = cross[old].T
        corner = cross[new]
        self._T[new, new] = (corner + corner.T) / 2
        return True

    def compress(self, Y: np.ndarray) -> None:
        """Keep the span of ``Q Y`` only."""
        k = Y.shape[1]
        T = Y.T @ self._T[: self.size, : self.size] @ Y
        for array in (self._Q, self._AQ):
            array[:, :k] = array[:, : self.size] @ Y
        self.size = k
        self._T[:k, :k] = (T + T.T) / 2
        self._restarts += 1
        if self._restarts % 8 == 0:  # start afresh from the same span, before rounding adds up
            span = self.Q.copy()
            self.size = 0
            self.grow(span)
