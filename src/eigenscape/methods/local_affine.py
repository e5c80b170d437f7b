"""Inverses of embeddings: the common interface, and an inverse that is affine around every point of a map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy import sparse

from eigenscape import _memory
from eigenscape._progress import stage
from eigenscape.dictionary.readers import RowReader, map_blocks
from eigenscape.eigenfunctions import Embedding
from eigenscape.graph.neighbors import NeighborIndex, neighbor_index
from eigenscape.graph.search import without_own
from eigenscape.kernels.base import as_float64
from eigenscape.pieces import PiecewiseEmbedding

Result = TypeVar("Result")


class Inverse(Protocol):
    """A function from coordinates to rows of features."""

    @property
    def X(self) -> Any:
        """Training rows (m, n_features)."""

    def __call__(self, Y: np.ndarray) -> np.ndarray:
        """Return rows (n_new, n_features) for coordinates ``Y`` (n_new, n_components)."""

    def reconstruct(self, indices: np.ndarray) -> np.ndarray:
        """Return training rows computed from their coordinates, each without itself if possible."""


def relative_error(inverse: Inverse) -> float:
    """Return the root mean square error of reconstructed training rows, relative to the spread of the rows.

    It is measured on at most 1000 evenly spaced rows. 0: perfect; 1: as good as the mean row for every point.
    """
    X = inverse.X
    indices = evenly_spaced(X.shape[0], 1000)
    rows = to_dense(as_float64(X[indices]))
    spread = float(np.linalg.norm(rows - mean_row(X)))
    error = float(np.linalg.norm(rows - inverse.reconstruct(indices)))
    return error / spread if spread > 0 else (0.0 if error == 0 else np.inf)


def training_points(model: Embedding | PiecewiseEmbedding) -> tuple[Any, np.ndarray]:
    """Return the training rows that the model stores and their coordinates.

    A piecewise embedding must have a single piece; its members are returned.
    """
    if isinstance(model, PiecewiseEmbedding):
        (piece,) = model.pieces
        assert piece.embedding is not None
        return training_points(piece.embedding)
    if model.landmarks is not None:
        X = model.kernel.X if model.landmarks.X is None else model.landmarks.X
        return as_float64(X), model.transform(X)
    X = as_float64(model.kernel.X)
    if model.eigenfunctions.on_training is None:  # fitted to a stream: only the dictionary is stored
        return X, model.transform(X)
    return X, model.coordinates


def map_rows(
    function: Callable[[np.ndarray], Result], Y: np.ndarray, bytes_per_row: float, n_jobs: int | None
) -> list[Result]:
    """Return ``function`` of each block of rows of ``Y``, in order, computed by ``n_jobs`` threads."""
    # The largest size is fixed, so that the last digits do not depend on n_jobs.
    size = min(1024, max(1, int(_memory.BLOCK_BYTES // bytes_per_row)))
    results = []
    with stage("inverse", total=len(Y)) as advance:
        for result in map_blocks(lambda _, block: function(np.asarray(block)), RowReader([Y]), size, n_jobs):
            results.append(result)
            advance(size)
    return results


def evenly_spaced(n: int, max_count: int) -> np.ndarray:
    """Return at most ``max_count`` evenly spaced indices below ``n``."""
    return np.arange(n) if n <= max_count else np.linspace(0, n - 1, max_count).astype(np.intp)


def mean_row(X: Any) -> np.ndarray:
    """Return the mean (n_features,) of dense or sparse rows."""
    return np.asarray(X.mean(axis=0)).ravel()


def to_dense(rows: Any) -> np.ndarray:
    """Return dense or sparse rows as an array."""
    return rows if isinstance(rows, np.ndarray) else np.asarray(rows.todense())


@dataclass(frozen=True, eq=False)
class LocalAffine:
    """An inverse that fits the rows around every point ``y`` of a map by an affine function.

    With weights ``w_j`` that fall to zero at the farthest of the neighbours ``y_j`` of ``y`` on the map,
    their mean ``c`` and their covariance ``C = sum_j w_j (y_j - c)(y_j - c)'``, the weighted least squares
    fit of the rows has the value

        x(y) = sum_j w_j (1 + (y - c)' C^-1 (y_j - c)) x_j

    at ``y``, with a small ridge on ``C``. It is a combination of neighbouring rows with weights that sum to
    one, is a smooth function of ``y``, and continues almost linearly outside the map.
    """

    X: Any  # (m, n_features), dense or sparse
    coordinates: np.ndarray  # (m, n_components)
    n_jobs: int | None = None

    @cached_property
    def index(self) -> NeighborIndex:
        """Index of the neighbours on the map."""
        return neighbor_index(self.coordinates, n_jobs=self.n_jobs)

    @property
    def n_neighbors(self) -> int:
        """Number of neighbours: at least 12, and 4 for each coefficient of an affine function.

        The farthest is one more; its weight is almost zero.
        """
        count = max(12, 4 * (self.coordinates.shape[1] + 1))
        return min(count + 1, len(self.coordinates))

    def __call__(self, Y: np.ndarray) -> np.ndarray:
        """Return rows (n_new, n_features) for coordinates."""
        return self._combine(Y, *self.index.nearest(Y, self.n_neighbors))

    def reconstruct(self, indices: np.ndarray) -> np.ndarray:
        """Return training rows, each computed from its neighbours without itself."""
        Y = self.coordinates[indices]
        distance, neighbor = self.index.nearest(Y, min(self.n_neighbors + 1, len(self.coordinates)))
        neighbor, distance = without_own(indices, neighbor, distance)
        return self._combine(Y, distance, neighbor)

    def _combine(self, Y: np.ndarray, distance: np.ndarray, neighbor: np.ndarray) -> np.ndarray:
        """Return the affine combinations of the neighbouring rows."""
        k = neighbor.shape[1]

        def combine(rows: np.ndarray) -> np.ndarray:
            weights = affine_weights(Y[rows], self.coordinates[neighbor[rows]], distance[rows])
            entries = weights.ravel(), neighbor[rows].ravel(), np.arange(0, weights.size + 1, k)
            return to_dense(sparse.csr_array(entries, shape=(len(rows), self.X.shape[0])) @ self.X)

        bytes_per_row = 8 * (4 * k * (Y.shape[1] + 1) + 2 * self.X.shape[1])
        return np.concatenate(map_rows(combine, np.arange(len(Y)), bytes_per_row, self.n_jobs))


def affine_weights(Y: np.ndarray, neighbors: np.ndarray, distance: np.ndarray) -> np.ndarray:
    """Return weights (b, k), summing to one, of the local affine fit at ``Y`` (b, d).

    ``neighbors`` (b, k, d) are the coordinates of the neighbours, in order of their ``distance`` (b, k).
    """
    radius = distance[:, -1:]
    relative = np.divide(distance, radius, out=np.zeros_like(distance), where=radius > 0)
    # The weight of the farthest neighbour is almost zero: the map is continuous where neighbours change.
    weights = np.square(1.0 - np.square(relative)) + 1e-9
    weights /= weights.sum(axis=1, keepdims=True)
    center = np.einsum("bk,bkd->bd", weights, neighbors)
    spread = neighbors - center[:, None]
    covariance = np.einsum("bk,bkd,bke->bde", weights, spread, spread)
    d = covariance.shape[1]
    trace = np.trace(covariance, axis1=1, axis2=2)
    # A hundredth of the local variance for directions without variance, and more for isolated points.
    ridge = 1e-2 * trace[:, None] / d + 1e-6 * np.square(radius)
    covariance[:, np.arange(d), np.arange(d)] += np.where(radius > 0, ridge, 1.0)
    slope = np.linalg.solve(covariance, (Y - center)[..., None])[..., 0]  # C^-1 (y - c)
    return weights * (1.0 + np.einsum("bd,bkd->bk", slope, spread))
