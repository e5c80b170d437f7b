"""Locality preserving projections of a dask collection: sums over the edges from rows to anchors."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenscape.distributed.blocks import Blocks
from eigenscape.distributed.dispatch import check_weight, validate_blocks
from eigenscape.distributed.reduce import reduce_blocks, sample_rows
from eigenscape.distributed.signs import projection_signs
from eigenscape.kernels.affinity import GraphAffinity
from eigenscape.methods.locality_preserving import (
    LocalityProjection,
    distortion_from_sums,
    edge_sums,
    projection_from_sums,
)

#: Maximum number of rows in the neighbourhood graph; further rows are connected to these.
ANCHORS = 5_000


def fit(estimator: Any, _: str, X: Any, y: object = None, *, graph: Any = None) -> None:  # noqa: ARG001
    """Fit a locality preserving projection: connect all rows to a graph of at most ``ANCHORS`` of them."""
    if graph is not None:
        raise TypeError("graph= is not supported for dask collections; leave it out, or pass X.compute()")
    blocks = validate_blocks(estimator, X, reset=True)
    anchors, estimator.anchor_indices_ = sample_rows(blocks, ANCHORS, seed=0)
    check_weight(len(anchors), None)
    affinity, attributes = estimator._connect(anchors)
    projection, distortion = locality_of_blocks(
        blocks, affinity, estimator.n_components, estimator.affine, float(estimator.regularization)
    )
    estimator._set_attributes(projection, {**attributes, "distortion_": distortion})
    estimator.embedding_ = estimator.transform(X)


def locality_of_blocks(
    blocks: Blocks, affinity: GraphAffinity, n_components: int, affine: bool, loops: float
) -> tuple[LocalityProjection, float]:
    """Return the locality preserving projection of all rows and its distortion.

    Signs are such that the largest entry of each coordinate over all rows is positive.
    """
    d = blocks.n_features
    origin = np.asarray(affinity.X, dtype=np.float64).mean(axis=0) if affine else np.zeros(d)
    sums = reduce_blocks(edge_sums, blocks, affinity, origin, loops)
    projection = projection_from_sums(sums, origin, n_components, affine)
    signs = projection_signs(blocks, projection.mean, projection.directions)
    projection = projection.with_signs(signs)
    return projection, distortion_from_sums(sums, projection.directions)
