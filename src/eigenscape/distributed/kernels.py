"""Kernels whose open parameters are taken from the rows of a collection."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from eigenscape._memory import row_blocks
from eigenscape.distributed.blocks import Blocks
from eigenscape.distributed.reduce import reduce_blocks
from eigenscape.kernels import Gaussian, Laplace
from eigenscape.kernels.bandwidth import local_median, nearest_distances, smallest_values
from eigenscape.kernels.base import BoundKernel, Kernel, as_float64, n_points
from eigenscape.kernels.pairwise import Polynomial, Sigmoid, gamma_from_norms, squared_norms

#: The neighbour whose distance is a local scale, itself counted
#: (:func:`eigenscape.kernels.bandwidth.local_distance`).
_NEIGHBORS = 11


def bind_blocks(kernel: Kernel, few: Any, blocks: Blocks) -> BoundKernel:
    """The kernel bound to ``few``, the evenly spaced rows of the collection, with its width taken from all
    rows where one machine would.

    A median distance is that between ``few`` in either case; a local one asks for their neighbours among all
    rows, a norm is averaged over all of them."""
    if isinstance(kernel, (Polynomial, Sigmoid)) and kernel.gamma is None:
        count, total = reduce_blocks(_norms, blocks, _added)
        kernel = replace(kernel, gamma=gamma_from_norms(total / count))
    if isinstance(kernel, (Gaussian, Laplace)) and kernel.gamma is None and kernel.scale == "local":
        few = as_float64(few)
        nearest = reduce_blocks(_nearest, blocks, _joined, few, kernel.distance)
        kernel = replace(kernel, gamma=1.0 / local_median(nearest))
    return kernel.bind(few)


def _nearest(Y: Any, few: np.ndarray, distance: Any) -> np.ndarray:
    blocks = [as_float64(Y[rows]) for rows in row_blocks(n_points(Y), 24 * n_points(few))]
    return smallest_values(
        np.concatenate([nearest_distances(few, some, distance, _NEIGHBORS) for some in blocks], axis=1),
        _NEIGHBORS,
    )


def _norms(Y: Any) -> tuple[int, float]:
    return n_points(Y), float(
        sum(squared_norms(as_float64(Y[rows])).sum() for rows in row_blocks(n_points(Y), 8 * Y.shape[1]))
    )


def _added(first: tuple[int, float], second: tuple[int, float]) -> tuple[int, float]:
    return first[0] + second[0], first[1] + second[1]


def _joined(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return smallest_values(np.concatenate([first, second], axis=1), _NEIGHBORS)
