"""Principal components of rows on many machines: a mean and a scatter matrix, joined block by block."""

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
    """Mean and scatter of all rows: (d + 1) d numbers leave each block."""
    return reduce_blocks(block_moments, blocks, ScatterMoments.joined, beside=weights)


def block_moments(X: Any, weights: np.ndarray | None = None) -> ScatterMoments | None:
    """The moments of one block; None where no row has a weight."""
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
    """Axes of rows with these moments; a second pass finds the signs that one machine would give them."""
    axes = pca_of_scatter(total, n_components, solver)
    return axes.flipped(block_signs(_standing_coordinates, blocks, axes, beside=weights))


def _standing_coordinates(X: Any, *others: Any) -> np.ndarray:
    """Coordinates of the rows that have a weight."""
    *weights, axes = others
    coordinates = axes.project(as_product_operand(X))
    return coordinates[weights[0] > 0] if weights else coordinates
