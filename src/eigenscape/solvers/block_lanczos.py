"""Block Lanczos iteration with thick restarts: the leading eigenvalues of a symmetric operator.

Blocks have four vectors: a product with four takes hardly longer than with one if the matrix is read from
memory, and the iteration needs a third of the products of ARPACK. Residuals are known from the projected
matrix, so neither they nor the images of the basis are stored. :mod:`~eigenscape.solvers.krylov` is for
operators with expensive products, preconditioners and eigenvalues of high multiplicity.
"""

from __future__ import annotations

import numpy as np

from eigenscape._progress import stage
from eigenscape.solvers.krylov import KrylovResult, Product
from eigenscape.solvers.policy import Order

#: Number of vectors of a block.
WIDTH = 4
#: Smallest number of vectors of the Krylov space, and the number before the first Rayleigh-Ritz step.
_CAPACITY, _FIRST = 72, 24
#: Maximum number of block products. A spectrum that needs more is left to other solvers.
_STEPS = 120
#: Relative difference below which eigenvalues count as equal.
_EQUAL = 1e-6
#: Relative length below which a vector of the next block lies in the Krylov space but for rounding.
_NEGLIGIBLE = 1e-13
#: Relative length below which it has lost digits.
_CANCELLED = 1e-4
#: Ratio of squared lengths above which rows are made orthonormal by Cholesky factorisations.
_INDEPENDENT = 1e-8


def block_lanczos(
    product: Product,
    m: int,
    count: int,
    *,
    order: Order = "value",
    tol: float,
    noise: float,
    seed: int,
    known: np.ndarray | None = None,
) -> KrylovResult:
    """Compute the ``count`` leading eigenpairs of a symmetric operator, orthogonal to the columns ``known``.

    A pair has converged if its residual is at most ``tol |l|`` plus ``noise`` times the largest Ritz value.
    The Krylov space of four vectors contains at most four eigenvectors of a multiple eigenvalue: the result
    is not converged if there may be more. Neither is it if the operator is too small, or after 120 products.
    """
    fixed = np.zeros((0, m)) if known is None else known.T
    dimension = (m - len(fixed)) // WIDTH * WIDTH
    capacity = min(max(_CAPACITY, 3 * count // WIDTH * WIDTH + 48), dimension)
    rng = np.random.default_rng(seed)
    if capacity < 2 * count + WIDTH:
        return KrylovResult(np.zeros(count), rng.standard_normal((m, count)), False, 0)
    Q, T, size = np.empty((capacity, m)), np.zeros((capacity, capacity)), 0
    block = _orthonormal(rng.standard_normal((WIDTH, m)), fixed)
    schedule = _Schedule(-(-max(_FIRST, 2 * count) // WIDTH))
    with stage("eigen-solve", total=_STEPS, bound=True) as advance:
        for step in range(1, _STEPS + 1):
            advance(1)
            new = slice(size, size + WIDTH)
            Q[new], size = block, new.stop
            block, T[:size, new] = _orthogonalized(product(block.T).T, Q[:size], fixed)
            T[new, :size] = T[:size, new].T
            block, coupling = _next_block(block, np.abs(T[:size, new]).max(), Q[:size], fixed, rng)
            if step < schedule.next_step and size < capacity and step < _STEPS:
                continue
            ritz, Y = np.linalg.eigh(T[:size, :size])
            leading = np.argsort(-np.abs(ritz) if order == "magnitude" else -ritz, kind="stable")
            ritz, Y = ritz[leading], Y[:, leading]
            residuals = np.linalg.norm(coupling @ Y[-WIDTH:, :count], axis=0)
            allowed = tol * np.abs(ritz[:count]) + noise * np.abs(ritz).max() + np.finfo(np.float64).tiny
            worst = float((residuals / allowed).max())
            if worst <= 1 or size == dimension or step == _STEPS:
                break
            schedule.record(step, worst)
            if size == capacity:
                size = capacity - (capacity - count) // (2 * WIDTH) * WIDTH
                Q[:size] = Y[:, :size].T @ Q
                T[:size, :size] = np.diag(ritz[:size])
    vectors = Q[: len(Y)].T @ Y[:, :count]
    return KrylovResult(ritz[:count], vectors, worst <= 1 and not _may_miss(ritz[:count]), step)


class _Schedule:
    """The steps with a Rayleigh-Ritz problem, which takes as long as a product for small operators.

    Residuals that decrease as between the last two of them reach the tolerance in about ``next_step``.
    """

    def __init__(self, first: int) -> None:
        self.next_step = first
        self._before: tuple[int, float] | None = None

    def record(self, step: int, worst: float) -> None:
        """Note that the residuals in a step are up to ``worst`` times too large."""
        wait = 2
        if self._before is not None:
            decrease = np.log(max(self._before[1] / worst, 1.0)) / (step - self._before[0])
            wait = int(min(max(np.log(worst) / max(decrease, 0.1), 1), 4))
        self._before = step, worst
        self.next_step = step + wait


def _orthogonalized(W: np.ndarray, Q: np.ndarray, fixed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows ``W`` without their components in ``Q`` and ``fixed``, and the former, ``Q W'``."""
    components = np.zeros((len(Q), len(W)))
    for _ in range(2):  # the second time for what rounding left
        W = W - (W @ fixed.T) @ fixed
        part = Q @ W.T
        W -= part.T @ Q
        components += part
    return W, components


def _orthonormal(W: np.ndarray, *against: np.ndarray) -> np.ndarray:
    """Return orthonormal rows with the span of random rows ``W``, orthogonal to other orthonormal rows."""
    for _ in range(2):
        for rows in against:
            W = W - (W @ rows.T) @ rows
    return np.linalg.qr(W.T)[0].T


def _next_block(
    W: np.ndarray, scale: float, Q: np.ndarray, fixed: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Return an orthonormal block and ``B`` with ``W' = block' B``.

    Vectors of length zero but for rounding (the Krylov space is invariant) are replaced by random ones.
    """
    block, coupling = _factored(W)
    lengths = np.abs(np.diagonal(coupling))
    scale = max(scale, float(np.linalg.norm(W, axis=1).max()), np.finfo(np.float64).tiny)
    if lengths.min() > _CANCELLED * scale:
        return block, coupling
    # Short vectors are differences of long ones, and their directions need not be orthogonal to Q.
    strong = lengths > _NEGLIGIBLE * scale
    columns, factor = np.linalg.qr(_orthogonalized(block[strong], Q, fixed)[0].T)
    new = _orthonormal(rng.standard_normal((int((~strong).sum()), W.shape[1])), fixed, Q, columns.T)
    coupling = np.concatenate([factor @ coupling[strong], np.zeros((len(new), WIDTH))])
    return np.concatenate([columns.T, new]), coupling


def _factored(W: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return orthonormal rows and ``R``, upper triangular, with ``W' = rows' R``.

    By two Cholesky factorisations, which take less time than reflections, unless the rows are nearly
    dependent.
    """
    rows, R = W, np.eye(len(W))
    for _ in range(2):
        gram = rows @ rows.T
        size = np.linalg.eigvalsh(gram)
        if not size[0] > _INDEPENDENT * size[-1]:
            orthonormal, R = np.linalg.qr(W.T)
            return orthonormal.T, R
        L = np.linalg.cholesky(gram)
        rows, R = np.linalg.solve(L, rows), L.T @ R
    return rows, R


def _may_miss(values: np.ndarray) -> bool:
    """Return True if four equal values come before the last one: there may be a fifth."""
    first, last = values[: -WIDTH or None], values[WIDTH - 1 : -1]
    n = min(len(first), len(last))
    return bool((np.abs(first[:n] - last[:n]) <= _EQUAL * np.abs(first[:n])).any())
