"""Principal components of a dask collection: a mean and a scatter matrix, merged over the blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eigenscape._parameters import check_parameters
from eigenscape.distributed.blocks import Blocks
from eigenscape.distributed.dispatch import check_weight, validate_blocks, weight_blocks
from eigenscape.distributed.reduce import reduce_blocks
from eigenscape.methods.pca import ScatterMoments, scatter_moments
from eigenscape.operators import CenteredRows, weighted_mean
from eigenscape.operators.centered_rows import as_product_operand


def fit(estimator: Any, _: str, X: Any, y: object = None, sample_weight: Any = None) -> None:  # noqa: ARG001
    """Fit PCA to a collection by its moments; no rows are stored, and ``embedding_`` is lazy."""
    moments = gather_moments(validate_blocks(estimator, X, reset=True), weight_blocks(sample_weight))
    check_weight(moments.weight, sample_weight)
    estimator._fit_moments(moments)
    estimator.embedding_ = estimator.transform(X)


def partial_fit(estimator: Any, _: str, X: Any, y: object = None, sample_weight: Any = None) -> None:  # noqa: ARG001
    """Update PCA with the rows of a collection."""
    check_parameters(estimator)
    blocks = validate_blocks(estimator, X, reset="n_samples_seen_" not in vars(estimator))
    estimator._add_moments(gather_moments(blocks, weight_blocks(sample_weight)))


def gather_moments(blocks: Blocks, weights: Sequence[Blocks] = ()) -> ScatterMoments:
    """Return the mean and scatter matrix of all rows; each block sends (d + 1) d numbers."""
    return reduce_blocks(block_moments, blocks, aligned=weights)


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
