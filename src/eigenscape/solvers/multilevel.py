"""Multilevel eigensolver for graph matrices that are too large or too wide to factorise.

Smoothed aggregation: a coarse vertex represents a group of fine ones, the interpolation is piecewise a
multiple of the null vector (which it therefore reproduces exactly) followed by one Jacobi step, and the
coarse matrix is ``P' A P``. The coarsest level is factorised.

The columns of the piecewise interpolation are orthonormal, so the eigenvectors of a coarse matrix approximate
those of the next finer one. They are computed on the coarsest level, interpolated, and corrected on every
level: a correction solves ``(A - l) z = -r`` orthogonally to the vectors by conjugate gradients,
preconditioned by a V-cycle in single precision, and is followed by Rayleigh-Ritz (Jacobi-Davidson). Residuals
are computed in double precision.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse

from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape._threads import Team, one_thread
from eigenscape.graph.union import transpose
from eigenscape.solvers.direct import inverse_on_complement

#: Size of the coarsest level, and the largest for which an inverse is stored.
COARSEST, _INVERSE_STORED = 500, 2000
_MOST_LEVELS, _FEWEST = 12, 50
#: Edges weaker than this fraction of the strongest of a vertex are not used to form groups.
_STRENGTH = 0.1
#: Eigenvectors are computed in blocks of a multiple of this many columns.
WIDTH = 4
#: Number of multiplications of a part of a loop.
_LARGE = 2_000_000
#: Number of rows of a block in products of sparse matrices.
_ROWS = 2**15
#: Number of rows of a block in operations on vectors.
_BLOCK = 2**14
#: Reduction of the residual by the conjugate gradients of one correction, and their maximum number.
_REDUCTION, _MOST_STEPS = 1e-2, 4
#: Relative residual of the eigenvectors of coarse levels, and their maximum number of steps.
_COARSE_TOL, _COARSE_STEPS = 1e-2, 40


@dataclass(frozen=True, eq=False)
class Level:
    """One level of the hierarchy."""

    A: sparse.csr_array
    null: np.ndarray  # of length one
    single: np.ndarray  # values of A in single precision
    step: np.ndarray  # inverse diagonal times the damping factor of the Jacobi step
    P: sparse.csr_array  # interpolation from the next, coarser level, in single precision
    R: sparse.csr_array  # restriction, the transpose of P


class Hierarchy:
    """Multilevel hierarchy of a positive semi-definite sparse matrix ``A`` with null vector ``null``."""

    def __init__(
        self,
        A: sparse.csr_array,
        null: np.ndarray,
        thin: bool,
        team: Team = one_thread,
        fewest: int = _FEWEST,
    ) -> None:
        self.team = team
        self.levels: list[Level] = []
        with stage("coarsening"):
            while A.shape[0] > COARSEST and len(self.levels) < _MOST_LEVELS:
                group, count = aggregate(A)
                if not fewest < count < 0.8 * A.shape[0]:
                    break
                level, A, null = _coarsen(A, null, group, count, team)
                self.levels.append(level)
        self.coarse, self.coarse_null = A, null / np.linalg.norm(null)
        self._coarse_inverse = _inverse(A, self.coarse_null, thin)

    def matrix(self, depth: int) -> tuple[sparse.csr_array, np.ndarray]:
        """Return the matrix of a level and its null vector, of length one."""
        if depth == len(self.levels):
            return self.coarse, self.coarse_null
        return self.levels[depth].A, self.levels[depth].null

    def coarse_vectors(self, count: int) -> np.ndarray:
        """Compute the lowest eigenvectors of the coarsest level by subspace iteration."""
        n = self.coarse.shape[0]
        V = np.random.default_rng(0).standard_normal((n, min(count + 4, n - 1)))
        for _ in range(8):
            V, _ = np.linalg.qr(self._coarse_inverse(V))
        _, rotation = np.linalg.eigh(V.T @ (self.coarse @ V))
        return (V @ rotation)[:, :count]

    def interpolate(self, V: np.ndarray, depth: int) -> np.ndarray:
        """Interpolate vectors of the level below ``depth`` to it."""
        P = self.levels[depth].P
        return self.product(P, P.data, V.astype(np.float32)).astype(np.float64)

    def cycle(self, B: np.ndarray, depth: int = 0, size: np.ndarray | None = None) -> np.ndarray:
        """Apply one V-cycle for ``A X = B``, in single precision, which suffices for a preconditioner.

        ``size`` is the length of the columns, if known.
        """
        from eigenscape._compiled.hierarchy import divide_columns, multiply_columns

        size = np.linalg.norm(B, axis=0) if size is None else size
        scale = np.maximum(size, np.finfo(np.float64).tiny)
        scaled, out = np.empty(B.shape, dtype=np.float32), np.empty(B.shape)
        self.sweep(lambda rows: divide_columns(B, scale, rows.start, rows.stop, scaled), len(B))
        X = self._cycle(_padded(scaled), depth)
        self.sweep(lambda rows: multiply_columns(X, scale, rows.start, rows.stop, out), len(B))
        return out

    def _cycle(self, B: np.ndarray, depth: int) -> np.ndarray:
        from eigenscape._compiled.hierarchy import correct_rows, first_residual, relax_rows

        if depth == len(self.levels):
            return self._coarse_inverse(B).astype(np.float32)
        level = self.levels[depth]
        rest = self._rows(first_residual, level.A, level.single, level.step, B)
        Y = self._cycle(self.product(level.R, level.R.data, rest), depth + 1)
        X = self._rows(correct_rows, level.P, level.P.data, level.step, B, Y)
        return self._rows(relax_rows, level.A, level.single, level.step, B, X)

    def product(self, A: sparse.csr_array, data: np.ndarray, V: np.ndarray) -> np.ndarray:
        """Compute ``A V``, with the values ``data`` of ``A`` in the type of ``V``."""
        from eigenscape._compiled.hierarchy import multiply_four

        return self._rows(multiply_four, A, data, _padded(V))[:, : V.shape[1]]

    def sweep(self, function: Callable[[slice], Any], m: int) -> Any:
        """Return the sum of ``function(rows)`` over blocks of rows that fit in the processor's cache."""
        parts = self._run(function, list(row_blocks(m, 1, _BLOCK)))
        return sum(parts[1:], start=parts[0]) if parts[0] is not None else None

    def _run(self, function: Callable[[Any], Any], items: Sequence[Any]) -> list[Any]:
        return (self.team if len(items) > 1 else one_thread)(function, items)

    def _rows(
        self, loop: Callable[..., None], A: sparse.csr_array, data: np.ndarray, *arrays: np.ndarray
    ) -> np.ndarray:
        """Return the result (rows of A, columns of the last array) of a compiled loop over rows of ``A``."""
        width = arrays[-1].shape[1]
        out = np.empty((A.shape[0], width), dtype=arrays[-1].dtype)
        parts = 1 + A.nnz * width // _LARGE
        cuts = np.searchsorted(A.indptr, np.linspace(0, A.nnz, parts + 1)[1:-1])  # of equal work
        ends = [0, *map(int, cuts), A.shape[0]]

        def work(part: int) -> None:
            loop(A.indptr, A.indices, data, *arrays, ends[part], ends[part + 1], out)

        self._run(work, range(parts))
        return out


def _padded(V: np.ndarray) -> np.ndarray:
    """Return the vectors as consecutive rows, with columns of zeros up to a multiple of ``WIDTH``."""
    missing = -V.shape[1] % WIDTH
    if missing:
        V = np.column_stack([V, np.zeros((len(V), missing), dtype=V.dtype)])
    return np.ascontiguousarray(V)


#: Sums a function of blocks of rows, see :meth:`Hierarchy.sweep`.
Sweep = Callable[[Callable[[slice], Any], int], Any]


class Eigenvectors(NamedTuple):
    """Ritz values in ascending order, vectors, number of V-cycles, and whether the wanted pairs converged."""

    values: np.ndarray
    vectors: np.ndarray
    n_iter: int
    converged: bool


def multilevel_eigenvectors(
    hierarchy: Hierarchy, wanted: int, count: int, tol: float, noise: float, max_iter: int
) -> Eigenvectors:
    """Compute the ``count`` lowest eigenvectors next to the null vector, the first ``wanted`` accurately.

    Parameters
    ----------
    hierarchy : Hierarchy
    wanted, count : int
        A pair among the first ``wanted`` has converged if its residual is at most ``tol`` times the
        eigenvalue plus ``noise``.
    tol, noise : float
    max_iter : int
        Maximum number of V-cycles on the finest level.
    """
    few = hierarchy.coarse.shape[0] - 1
    width = min(-(-(count + 2) // WIDTH) * WIDTH, few)
    vectors = hierarchy.coarse_vectors(width)
    for depth in reversed(range(1, len(hierarchy.levels))):
        vectors = hierarchy.interpolate(vectors, depth)
        vectors = _refine(hierarchy, depth, vectors, width, count, _COARSE_TOL, noise, _COARSE_STEPS).vectors
    if hierarchy.levels:
        vectors = hierarchy.interpolate(vectors, 0)
    # All vectors once, since the wanted ones converge by the accuracy of the others, then the wanted ones.
    vectors = _refine(hierarchy, 0, vectors, width, count, _COARSE_TOL, noise, 1).vectors
    corrected = min(-(-wanted // WIDTH) * WIDTH, width)
    return _refine(hierarchy, 0, vectors, corrected, wanted, tol, noise, max_iter)


def _refine(
    hierarchy: Hierarchy,
    depth: int,
    X: np.ndarray,
    corrected: int,
    wanted: int,
    tol: float,
    noise: float,
    max_iter: int,
) -> Eigenvectors:
    """Correct the first vectors of one level until the wanted ones have converged."""
    A, null = hierarchy.matrix(depth)
    sweep = hierarchy.sweep
    X = _orthonormal(sweep, X, null[:, None])
    AX = hierarchy.product(A, A.data, X)
    values, Y = np.linalg.eigh(sweep(partial(_products, X, AX), len(X)))
    known = np.column_stack([null, X])
    residual = np.empty((len(X), corrected))
    size = np.sqrt(sweep(lambda rows: _rotate(known[rows], AX[rows], Y, values, residual[rows]), len(X)))
    cycles, best = 0, np.inf
    while True:
        allowed = tol * np.abs(values[:corrected]) + noise
        worst = float((size / allowed)[:wanted].max())
        if worst <= 1 or cycles >= max_iter or worst > 0.7 * best:
            return Eigenvectors(values, known[:, 1:], cycles, worst <= 1)
        best = worst
        Z, taken = _correction(hierarchy, depth, known, values[:corrected], residual, size, allowed, wanted)
        cycles += taken
        Z = _orthonormal(sweep, Z, known)
        AZ = hierarchy.product(A, A.data, Z)
        values, size = _ritz(sweep, values, known, AX, Z, AZ, residual)


def _ritz(
    sweep: Sweep,
    values: np.ndarray,
    known: np.ndarray,
    AX: np.ndarray,
    Z: np.ndarray,
    AZ: np.ndarray,
    residual: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Replace ``X`` by the lowest Ritz vectors of ``[X Z]``; return their values and sizes of residuals.

    ``known`` is the null vector and ``X``, and ``X' A X`` is the diagonal matrix of ``values``.
    """
    width = AX.shape[1]
    cross = sweep(lambda rows: np.column_stack([known[rows, 1:], Z[rows]]).T @ AZ[rows], len(AZ))
    corner = cross[width:]
    projected = np.block([[np.diag(values), cross[:width]], [cross[:width].T, (corner + corner.T) / 2]])
    ritz, Y = linalg.eigh(projected, subset_by_index=(0, width - 1))

    def update(rows: slice) -> np.ndarray:
        return _rotate(known[rows], AX[rows], Y, ritz, residual[rows], Z[rows], AZ[rows])

    return ritz, np.sqrt(sweep(update, len(AZ)))


def _rotate(
    known: np.ndarray,
    AX: np.ndarray,
    Y: np.ndarray,
    values: np.ndarray,
    residual: np.ndarray,
    Z: np.ndarray | None = None,
    AZ: np.ndarray | None = None,
) -> np.ndarray:
    """Replace ``X`` and ``A X`` by their products with ``Y``; return the squared sizes of the residuals."""
    width, corrected = AX.shape[1], residual.shape[1]
    X, products = known[:, 1:] @ Y[:width], AX @ Y[:width]
    if Z is not None and AZ is not None:
        X += Z @ Y[width:]
        products += AZ @ Y[width:]
    known[:, 1:], AX[...] = X, products
    residual[...] = products[:, :corrected] - X[:, :corrected] * values[:corrected]
    return np.diagonal(residual.T @ residual)


def _correction(
    hierarchy: Hierarchy,
    depth: int,
    known: np.ndarray,
    values: np.ndarray,
    residual: np.ndarray,
    size: np.ndarray,
    allowed: np.ndarray,
    wanted: int,
) -> tuple[np.ndarray, int]:
    """Solve ``(A - l) z = -r`` orthogonally to ``known`` by conjugate gradients; return their number too."""
    from eigenscape._compiled import hierarchy as compiled

    A, _ = hierarchy.matrix(depth)
    m, count = residual.shape
    r, before = -residual, np.zeros_like(residual)
    x, p = np.zeros_like(r), np.zeros_like(r)
    goal = np.maximum(_REDUCTION * size, 0.1 * allowed)
    old, tiny = np.ones(count), np.finfo(np.float64).tiny

    def products(Z: np.ndarray, R: np.ndarray, S: np.ndarray, rows: slice) -> np.ndarray:
        out = np.zeros((known.shape[1] + 2, count))
        compiled.products_with(known, Z, R, S, rows.start, rows.stop, out)
        return out

    def turn(z: np.ndarray, inside: np.ndarray, forward: np.ndarray, rows: slice) -> None:
        compiled.next_direction(known, z, inside, forward, rows.start, rows.stop, p)

    def shift(q: np.ndarray, rows: slice) -> np.ndarray:
        compiled.subtract_scaled(p, values, rows.start, rows.stop, q)
        return products(q, p, p, rows)

    def advance(q: np.ndarray, inside: np.ndarray, length: np.ndarray, rows: slice) -> np.ndarray:
        out = np.zeros(count)
        compiled.advance_solution(known, p, q, inside, length, rows.start, rows.stop, x, r, before, out)
        return out

    for steps in range(1, _MOST_STEPS + 1):
        z = hierarchy.cycle(r, depth, size)
        *inside, new, overlap = hierarchy.sweep(partial(products, z, r, before), m)
        # Polak and Ribiere: the preconditioner is rounded. r is orthogonal to `known`, so z need not be here.
        forward = np.maximum((new - overlap) / old, 0.0) if steps > 1 else np.zeros(count)
        hierarchy.sweep(partial(turn, z, np.array(inside), forward), m)
        q = hierarchy.product(A, A.data, p)
        *inside, curvature, _ = hierarchy.sweep(partial(shift, q), m)
        old = np.maximum(new, tiny)
        # A direction in which the quotient is below the eigenvalue is kept for Rayleigh-Ritz as it is.
        length = np.where(curvature > tiny, old / np.maximum(curvature, tiny), float(steps == 1))
        size = np.sqrt(hierarchy.sweep(partial(advance, q, np.array(inside), length), m))
        if (size <= goal)[:wanted].all():
            break
    return x, steps


def _orthonormal(sweep: Sweep, V: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Return an orthonormal basis of the columns of ``V``, orthogonal to ``known``."""
    scale = np.sqrt(np.diagonal(sweep(partial(_products, V, V), len(V))))
    change = np.diag(1 / np.maximum(scale, np.finfo(np.float64).tiny))
    lost = np.inf
    while lost > 10:  # repeat while rounding errors were amplified
        V = V @ change
        inside = sweep(partial(_products, known, V), len(V))
        size, rotation = np.linalg.eigh(sweep(partial(_project, known, V, inside), len(V)))
        adds = size > 1e-14 * max(float(size[-1]), 1e-6)
        change = rotation[:, adds] / np.sqrt(size[adds])
        lost = 1 / np.sqrt(size[adds].min()) if adds.any() else 0.0
    return V @ change


def _products(A: np.ndarray, B: np.ndarray, rows: slice) -> np.ndarray:
    """Compute ``A'B`` of some rows."""
    return A[rows].T @ B[rows]


def _project(known: np.ndarray, V: np.ndarray, inside: np.ndarray, rows: slice) -> np.ndarray:
    """Subtract ``known inside`` from some rows of ``V``; return their ``V'V``."""
    V[rows] -= known[rows] @ inside
    return _products(V, V, rows)


def aggregate(A: sparse.csr_array) -> tuple[np.ndarray, int]:
    """Partition the vertices into groups of neighbours; return the group of each vertex and their number."""
    from eigenscape._compiled.hierarchy import group_vertices

    group = np.empty(A.shape[0], dtype=np.int32)
    return group, group_vertices(A.indptr, A.indices, A.data, _STRENGTH, group)


def _coarsen(
    A: sparse.csr_array, null: np.ndarray, group: np.ndarray, count: int, team: Team
) -> tuple[Level, sparse.csr_array, np.ndarray]:
    """Return the level of ``A``, the coarse matrix ``P' A P`` and its null vector."""
    from eigenscape._compiled.hierarchy import smooth_rows

    m = A.shape[0]
    coarse_null = np.sqrt(np.bincount(group, weights=null**2, minlength=count))
    values = null / coarse_null[group]
    piecewise = sparse.csr_array((values, group, np.arange(m + 1, dtype=A.indptr.dtype)), shape=(m, count))
    step = _damped_inverse(A)
    P = _sparse_product(A, piecewise, team)
    smooth_rows(P.indptr, P.indices, P.data, group, values, step)
    R = transpose(P, 1)
    coarse = _sparse_product(R, _sparse_product(A, P, team), team)
    level = Level(
        A,
        null / np.linalg.norm(null),
        A.data.astype(np.float32),
        step.astype(np.float32),
        P.astype(np.float32),
        R.astype(np.float32),
    )
    return level, coarse, coarse_null


def _sparse_product(A: sparse.csr_array, B: sparse.csr_array, team: Team) -> sparse.csr_array:
    """Compute ``A B``; the columns of a row are not sorted."""
    from eigenscape._compiled.hierarchy import multiply_sparse

    def rows(block: slice) -> Any:
        return multiply_sparse(
            A.indptr, A.indices, A.data, B.indptr, B.indices, B.data, B.shape[1], block.start, block.stop
        )

    count, indices, data = zip(*team(rows, row_blocks(A.shape[0], 1, _ROWS)), strict=True)
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(count))]).astype(A.indptr.dtype)
    return sparse.csr_array(
        (np.concatenate(data), np.concatenate(indices), indptr), shape=(A.shape[0], B.shape[1])
    )


def _inverse(A: sparse.csr_array, null: np.ndarray, thin: bool) -> Callable[[np.ndarray], np.ndarray]:
    """Return ``V -> A^-1 V`` on the orthogonal complement of the null vector."""
    m = A.shape[0]
    if m > _INVERSE_STORED:
        solve = inverse_on_complement(A, null, thin or m > 3 * _INVERSE_STORED)
        return lambda V: solve(V.astype(np.float64))
    outer = np.outer(null, null)
    inverse = np.linalg.inv(A.toarray() + outer) - outer
    return lambda V: inverse.astype(V.dtype) @ V


def _damped_inverse(A: sparse.csr_array) -> np.ndarray:
    """Compute ``omega / diagonal``, ``omega`` being 4/3 over a bound of the eigenvalues of ``D^-1 A``."""
    diagonal = A.diagonal()
    inverse = np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)
    x = np.random.default_rng(0).standard_normal(len(inverse))
    for _ in range(8):  # power iteration, whose estimate is raised by a tenth below
        x = inverse * (A @ (x / np.linalg.norm(x)))
    return inverse * (4 / 3) / (1.1 * np.linalg.norm(x))
