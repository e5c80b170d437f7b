"""Multilevel eigensolver for graph matrices that are too large or too wide to factorise.

The columns of the piecewise interpolation between levels are orthonormal, so the eigenvectors of a coarse
matrix approximate the eigenvectors of the next finer one. They are computed on the coarsest level,
interpolated, and corrected on every level: a correction solves ``(A - l) z = -r`` orthogonally to the vectors
by conjugate gradients, preconditioned by a V-cycle in single precision, and is followed by Rayleigh-Ritz
(Jacobi-Davidson). Residuals are computed in double precision.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import linalg

from eigenscape.solvers.hierarchy import WIDTH, Hierarchy
from eigenscape.solvers.krylov import Sweep, conjugate_gradients

#: Reduction of the residual by the conjugate gradients of one correction, and their maximum number.
_REDUCTION, _MOST_STEPS = 1e-2, 4
#: Relative residual of the eigenvectors of coarse levels, and their maximum number of steps.
_COARSE_TOL, _COARSE_STEPS = 1e-2, 40


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
    product, sweep = partial(hierarchy.product, A, A.data), hierarchy.sweep
    X = _orthonormal(sweep, X, null[:, None])
    AX = product(X)
    values, Y = np.linalg.eigh(sweep(partial(_products, X, AX), len(X)))
    known = np.column_stack([null, X])
    del X
    residual = np.empty((len(known), corrected))
    size = np.sqrt(sweep(lambda rows: _rotate(known[rows], AX[rows], Y, values, residual[rows]), len(known)))
    cycles, best = 0, np.inf
    while True:
        allowed = tol * np.abs(values[:corrected]) + noise
        worst = float((size / allowed)[:wanted].max())
        if worst <= 1 or cycles >= max_iter or worst > 0.7 * best:
            return Eigenvectors(values, known[:, 1:], cycles, worst <= 1)
        best = worst
        Z = np.empty_like(residual)
        for first in range(0, corrected, WIDTH):  # few at a time, to save memory
            some = slice(first, min(first + WIDTH, corrected))
            Z[:, some], taken = conjugate_gradients(
                product,
                values[some],
                residual[:, some],
                np.maximum(_REDUCTION * size[some], 0.1 * allowed[some]),
                known,
                _MOST_STEPS,
                partial(hierarchy.cycle, depth=depth),
                sweep,
            )
            cycles += taken
        Z = _orthonormal(sweep, Z, known)
        AZ = product(Z)
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
