"""Classical multidimensional scaling (Bengio sec. 2.2; Burges sec. 2.2)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import linalg

from eigenscape import _memory
from eigenscape._progress import stage
from eigenscape.eigenfunctions import Embedding, RootScale, measured_eigenfunctions
from eigenscape.kernels.base import BoundKernel, n_points
from eigenscape.methods.kernel_pca import kernel_pca, leading_pairs
from eigenscape.normalize import ClippedKernel, center, shift, uniform_weights
from eigenscape.operators import CenteredOperator, Operator, as_operator, gram, weighted
from eigenscape.quality.spectra import lowest_eigenvalue
from eigenscape.solvers import Order, SolverConfig

Indefinite = Literal["keep", "clip", "shift"]


def classical_mds(
    distance: BoundKernel,
    n_components: int,
    solver: SolverConfig,
    *,
    order: Order = "value",
    indefinite: Indefinite = "keep",
    centering: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> Embedding:
    """Return the kernel PCA of ``-d^2 / 2`` (Bengio eq. 8, 10), with at most ``n_components`` coordinates.

    An indefinite kernel is kept, clipped or shifted (Burges sec. 2.2.2). ``centering`` and ``weights`` are as
    for :func:`~eigenscape.methods.kernel_pca.kernel_pca`.
    """
    if indefinite == "keep":
        return kernel_pca(distance, n_components, solver, order=order, centering=centering, weights=weights)
    m = n_points(distance.X)
    _memory.require(4 * 8.0 * m * m, f"indefinite={indefinite!r} for {m} points", "use indefinite='keep'")
    half_squares = gram(distance, n_jobs=solver.n_jobs)  # both repairs need the whole matrix: not blocked
    if centering is None and weights is not None:
        centering = weights / weights.sum()
    repair = _shifted if indefinite == "shift" else _clipped
    kernel, operator = repair(distance, half_squares, centering, weights)
    pairs = leading_pairs(operator, n_components, order, solver)
    functions = measured_eigenfunctions(kernel, pairs, weights)
    return Embedding(functions, RootScale(np.sqrt(np.abs(pairs.values) / functions.mass)))


def _shifted(
    distance: BoundKernel, half_squares: Operator, centering: np.ndarray | None, weights: np.ndarray | None
) -> tuple[BoundKernel, Operator]:
    """Add the smallest sufficient constant to the diagonal, that is twice it to all squared distances."""
    means = uniform_weights(n_points(distance.X)) if weights is None else weights / weights.sum()
    lowest = lowest_eigenvalue(_measured(CenteredOperator(half_squares, means), weights))
    shifted = shift(distance, -lowest)
    shifted_squares = gram(shifted)
    kernel = center(shifted, shifted_squares, centering)
    return kernel, _measured(CenteredOperator(shifted_squares, kernel.weights), weights)


def _clipped(
    distance: BoundKernel, half_squares: Operator, centering: np.ndarray | None, weights: np.ndarray | None
) -> tuple[BoundKernel, Operator]:
    """Set negative eigenvalues to zero: the nearest positive semi-definite matrix in Frobenius norm."""
    kernel = center(distance, half_squares, centering)
    matrix = _measured(CenteredOperator(half_squares, kernel.weights), weights).matrix()
    with stage("eigen-solve"):
        values, vectors = linalg.eigh(matrix)
    below = values < -10 * len(values) * np.finfo(np.float64).eps * np.abs(values).max()  # not by rounding
    negative = vectors[:, below]
    clipped = ClippedKernel(kernel, negative, values[below], weights)
    return clipped, as_operator(matrix - (negative * values[below]) @ negative.T)


def _measured(operator: Operator, weights: np.ndarray | None) -> Operator:
    """Return the operator under the weighted measure."""
    return operator if weights is None else weighted(operator, weights)
