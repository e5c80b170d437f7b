"""Kernels whose unspecified parameters are computed from the rows of a collection."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from eigenscape._memory import row_blocks
from eigenscape.dictionary.source import PointArray
from eigenscape.distributed.blocks import Blocks
from eigenscape.distributed.reduce import reduce_blocks
from eigenscape.kernels import Gaussian, Laplace
from eigenscape.kernels.bandwidth import local_median, nearest_distances, smallest_values
from eigenscape.kernels.base import BoundKernel, Kernel, as_float64, n_points
from eigenscape.kernels.pairwise import Polynomial, Sigmoid, gamma_from_norms, squared_norms

#: The neighbour, the point itself included, whose distance is the local scale
#: (:func:`eigenscape.kernels.bandwidth.local_distance`).
_NEIGHBORS = 11


def bind_blocks(kernel: Kernel, sample: PointArray, blocks: Blocks) -> BoundKernel:
    """Bind a kernel to ``sample``, evenly spaced rows of the collection, with the bandwidth of all rows.

    A median distance comes from the sample, as on one machine. A local scale uses the neighbours of the
    sample among all rows, and a mean norm uses all rows.
    """
    if isinstance(kernel, (Polynomial, Sigmoid)) and kernel.gamma is None:
        count, total = reduce_blocks(_sum_of_norms, blocks)
        kernel = replace(kernel, gamma=gamma_from_norms(total / count))
    if isinstance(kernel, (Gaussian, Laplace)) and kernel.gamma is None and kernel.scale == "local":
        sample = as_float64(sample)
        nearest = reduce_blocks(_nearest, blocks, sample, kernel.distance, combine=_merge_nearest)
        kernel = replace(kernel, gamma=1.0 / local_median(nearest))
    return kernel.bind(sample)


def _nearest(Y: PointArray, sample: PointArray, distance: Any) -> np.ndarray:
    """Return the smallest distances of each sample row to the rows of a block."""
    blocks = [as_float64(Y[rows]) for rows in row_blocks(n_points(Y), 24 * n_points(sample))]
    distances = [nearest_distances(sample, block, distance, _NEIGHBORS) for block in blocks]
    return smallest_values(np.concatenate(distances, axis=1), _NEIGHBORS)


def _sum_of_norms(Y: PointArray) -> tuple[int, float]:
    """Return the number of rows and the sum of their squared norms."""
    blocks = row_blocks(n_points(Y), 8 * Y.shape[1])
    return n_points(Y), float(sum(squared_norms(as_float64(Y[rows])).sum() for rows in blocks))


def _merge_nearest(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return smallest_values(np.concatenate([first, second], axis=1), _NEIGHBORS)
