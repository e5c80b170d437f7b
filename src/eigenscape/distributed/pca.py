"""Principal components of a dask collection: a mean and a scatter matrix, merged over the blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eigenscape.distributed.blocks import Blocks
from eigenscape.distributed.reduce import reduce_blocks
from eigenscape.distributed.signs import block_signs
from eigenscape.methods.component_count import NComponents
from eigenscape.methods.pca import PrincipalAxes, pca_of_scatter
from eigenscape.methods.scatter import ScatterMoments, scatter_moments
from eigenscape.operators import CenteredRows, weighted_mean
from eigenscape.operators.centered_rows import as_product_operand
from eigenscape.solvers import SolverConfig


def gather_moments(blocks: Blocks, weights: Sequence[Blocks] = ()) -> ScatterMoments:
    """Return the mean and scatter matrix of all rows; each block sends (d + 1) d numbers."""
    return reduce_blocks(block_moments, blocks, ScatterMoments.merge, aligned=weights)


def block_moments(X: Any, weights: np.ndarray | None = None) -> ScatterMoments | None:
    """Return the moments of one block; None if all weights are zero."""
    X = as_product_operand(X)
    if weights is not None:
        if not weights.min() >= 0:
            raise ValueError(
                f"Negative values in data: sample_weight must not be negative, got {weights.min():g}"
            )
        X, weights = X[weights > 0], weights[weights > 0]
        if len(weights) == 0:
            return None
    return scatter_moments(CenteredRows(X, weighted_mean(X, weights), weights))


def pca_of_blocks(
    total: ScatterMoments,
    blocks: Blocks,
    weights: Sequence[Blocks],
    n_components: NComponents,
    solver: SolverConfig,
) -> PrincipalAxes:
    """Return the principal axes for these moments; a second pass determines their signs."""
    axes = pca_of_scatter(total, n_components, solver)
    return axes.with_signs(block_signs(_weighted_coordinates, blocks, axes, aligned=weights))


def _weighted_coordinates(X: Any, *others: Any) -> np.ndarray:
    """Return the coordinates of the rows with a positive weight; ``others`` are weights, if any, and axes."""
    *weights, axes = others
    coordinates = axes.project(as_product_operand(X))
    return coordinates[weights[0] > 0] if weights else coordinates
