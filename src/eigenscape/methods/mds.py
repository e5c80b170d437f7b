"""Classical multidimensional scaling (Bengio sec. 2.2; Burges sec. 2.2)."""

from __future__ import annotations

from typing import Literal

import numpy as np
from scipy import linalg

from eigenscape import _memory
from eigenscape.eigenfunctions import Eigenfunctions, Embedding, root_scale
from eigenscape.kernels.base import BoundKernel, n_points
from eigenscape.methods.kernel_pca import kernel_pca, leading_pairs
from eigenscape.normalize import ClippedKernel, center, shift, uniform_weights
from eigenscape.operators import CenteredOperator, Operator, as_operator, gram
from eigenscape.operators.gram import Storage
from eigenscape.quality.spectra import lowest_eigenvalue
from eigenscape.solvers import SolverConfig

Indefinite = Literal["keep", "clip", "shift"]


def classical_mds(
    distance: BoundKernel,
    n_components: int,
    solver: SolverConfig,
    *,
    order: str = "value",
    indefinite: Indefinite = "keep",
    weights: np.ndarray | None = None,
    storage: Storage = "auto",
    fewer: bool = False,
) -> Embedding:
    """Kernel PCA of ``-d^2 / 2`` (Bengio eq. 8, 10), an indefinite kernel repaired if asked (Burges sec.
    2.2.2)."""
    if indefinite == "keep":
        return kernel_pca(
            distance, n_components, solver, order=order, weights=weights, storage=storage, fewer=fewer
        )
    m = n_points(distance.X)
    _memory.require(4 * 8.0 * m * m, f"indefinite={indefinite!r} for {m} points", "use indefinite='keep'")
    half_squares = gram(
        distance, n_jobs=solver.n_jobs
    )  # the repair needs the whole matrix, whatever `storage` says
    repair = _shifted if indefinite == "shift" else _clipped
    kernel, operator = repair(distance, half_squares, weights)
    pairs = leading_pairs(operator, n_components, order, solver, fewer)
    return Embedding(Eigenfunctions(kernel, pairs), root_scale(pairs))


def _shifted(
    distance: BoundKernel, half_squares: Operator, weights: np.ndarray | None
) -> tuple[BoundKernel, Operator]:
    """A constant on the diagonal, just large enough: every squared distance between different points grows by
    twice that."""
    lowest = lowest_eigenvalue(CenteredOperator(half_squares, uniform_weights(n_points(distance.X))))
    raised = shift(distance, -lowest)
    moved = gram(raised)
    kernel = center(raised, moved, weights)
    return kernel, CenteredOperator(moved, kernel.weights)


def _clipped(
    distance: BoundKernel, half_squares: Operator, weights: np.ndarray | None
) -> tuple[BoundKernel, Operator]:
    """The nearest positive semi-definite matrix in Frobenius norm: negative eigenvalues set to zero."""
    kernel = center(distance, half_squares, weights)
    matrix = CenteredOperator(half_squares, kernel.weights).matrix()
    values, vectors = linalg.eigh(matrix)
    negative = vectors[:, values < 0]
    return ClippedKernel(kernel, negative), as_operator(matrix - (negative * values[values < 0]) @ negative.T)
