"""Locality preserving projections of rows on many machines: joined to anchors where they lie, and summed
up."""

from __future__ import annotations

import numpy as np

from eigenscape.distributed.blocks import Blocks
from eigenscape.distributed.reduce import reduce_blocks
from eigenscape.distributed.signs import block_signs
from eigenscape.kernels.affinity import GraphAffinity
from eigenscape.methods.anchored_locality import EdgeSums, distortion_of_sums, edge_sums, locality_of_sums
from eigenscape.methods.locality import Projection

#: Rows that the neighbourhood graph is made of; up to so many all rows take part in it.
ANCHORS = 5_000


def locality_of_blocks(
    blocks: Blocks, affinity: GraphAffinity, n_components: int, affine: bool, loops: float
) -> tuple[Projection, float]:
    """The projection, with signs that make the largest coordinate of all rows positive, and its
    distortion."""
    d = blocks.n_features
    origin = np.asarray(affinity.X, dtype=np.float64).mean(axis=0) if affine else np.zeros(d)
    sums = reduce_blocks(edge_sums, blocks, EdgeSums.joined, affinity, origin, loops)
    found = locality_of_sums(sums, origin, n_components, affine)
    signs = block_signs(_coordinates, blocks, found)
    turned = found._replace(directions=found.directions * signs, patterns=found.patterns * signs[:, None])
    return turned, distortion_of_sums(sums, turned.directions)


def _coordinates(X: np.ndarray, found: Projection) -> np.ndarray:
    return (X - found.mean) @ found.directions
