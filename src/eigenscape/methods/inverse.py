"""From coordinates back to rows: what all inverses share, and the inverse that is affine around every place
of a map."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from eigenscape import _memory
from eigenscape._progress import stage
from eigenscape.dictionary.readers import ArrayReader, map_blocks
from eigenscape.eigenfunctions import Embedding
from eigenscape.graph.neighbors import NeighborIndex, neighbor_index
from eigenscape.kernels.base import as_float64
from eigenscape.pieces import PiecewiseEmbedding

#: Neighbours of a place on the map: at least so many, and so many times what an affine function of the
#: coordinates needs.
FEWEST, FOLD = 12, 4
#: Part of the coordinates' local variance that is added to it, so that directions without any do not count.
_RIDGE = 1e-2
#: The same as a part of the squared reach of the neighbourhood: a variance below it (one point far from all
#: others) gives no slope.
_FLAT = 1e-6
#: Weight of the farthest neighbour: nearly none, so that the map does not jump where neighbours change.
_FLOOR = 1e-9
#: Rows at most that one core takes at a time; fixed, so that the number of cores does not show in the last
#: digits.
_ROWS = 1024
#: The error is measured on at most this many training points.
SAMPLE = 1000


class Inverse(Protocol):
    """A function from coordinates to rows."""

    @property
    def X(self) -> Any:
        """The training rows (m, n_features) that it was made from."""
        ...

    def __call__(self, Y: np.ndarray) -> np.ndarray:
        """Rows (n_new, n_features) for coordinates ``Y`` (n_new, n_components)."""
        ...

    def again(self, which: np.ndarray) -> np.ndarray:
        """The training rows ``which`` made again from their coordinates, without their own help where that
        can be had."""
        ...


def relative_error(inverse: Inverse) -> float:
    """Root mean square distance of training rows from what the inverse makes of them, over the spread of the
    rows.

    Measured on at most 1000 evenly spaced rows. 0 is perfect; 1 is as good as the mean row for every point.
    """
    X = inverse.X
    which = evenly(X.shape[0], SAMPLE)
    rows = as_float64(X[which])
    spread = float(np.linalg.norm(dense(rows) - mean_row(X)))
    lost = float(np.linalg.norm(dense(rows) - inverse.again(which)))
    return lost / spread if spread > 0 else (0.0 if lost == 0 else np.inf)


def training_points(model: Embedding | PiecewiseEmbedding) -> tuple[Any, np.ndarray]:
    """Training rows and their coordinates: all that the model keeps, those of the embedded piece where it has
    one."""
    if isinstance(model, PiecewiseEmbedding):
        (piece,) = model.pieces
        assert piece.embedding is not None
        return training_points(piece.embedding)
    if model.landmarks is not None:
        X = model.kernel.X if model.landmarks.X is None else model.landmarks.X
        return as_float64(X), model.transform(X)
    X = as_float64(model.kernel.X)
    if model.eigenfunctions.on_training is None:  # after a stream the dictionary is all that is left
        return X, model.transform(X)
    return X, model.coordinates


def in_blocks(
    work: Callable[[np.ndarray], Any], Y: np.ndarray, bytes_per_row: float, n_jobs: int | None
) -> list[Any]:
    """``work`` on one block of rows after another, in order, on ``n_jobs`` cores."""
    size = min(_ROWS, max(1, int(_memory.BLOCK_BYTES // bytes_per_row)))
    found = []
    with stage("inverse", total=len(Y)) as advance:
        for part in map_blocks(lambda _, some: work(some), ArrayReader(Y), size, n_jobs):
            found.append(part)
            advance(size)
    return found


def evenly(n: int, most: int) -> np.ndarray:
    """At most ``most`` of ``n`` row numbers, evenly spaced: the same every time."""
    return np.arange(n) if n <= most else np.linspace(0, n - 1, most).astype(np.intp)


def mean_row(X: Any) -> np.ndarray:
    """Mean of dense or sparse rows, (n_features,)."""
    return np.asarray(X.mean(axis=0)).ravel()


def dense(rows: Any) -> np.ndarray:
    """Rows as an array."""
    return np.asarray(rows.todense()) if sparse.issparse(rows) else rows


@dataclass(frozen=True, eq=False)
class LocalAffine:
    """Around every place ``y`` of a map the rows are taken for an affine function of the coordinates.

    With weights ``w_j`` that fall to zero at the farthest of the neighbours ``y_j`` of ``y`` on the map,
    their mean ``c`` and their covariance ``C = sum_j w_j (y_j - c)(y_j - c)'``, the weighted least squares
    fit of the rows has the value

        x(y) = sum_j w_j (1 + (y - c)' C^-1 (y_j - c)) x_j

    at ``y``, with a small ridge on ``C``. It is a combination of neighbouring rows with weights that sum to
    one, changes smoothly with ``y``, and goes on almost linearly outside the map."""

    X: Any  # (m, n_features), dense or sparse
    coordinates: np.ndarray  # (m, n_components)
    n_jobs: int | None = None

    @cached_property
    def index(self) -> NeighborIndex:
        return neighbor_index(self.coordinates, n_jobs=self.n_jobs)

    @property
    def n_neighbors(self) -> int:
        """How many neighbours a place has, the farthest of which only says where the others' weights end."""
        wanted = max(FEWEST, FOLD * (self.coordinates.shape[1] + 1))
        return min(wanted + 1, len(self.coordinates))

    def __call__(self, Y: np.ndarray) -> np.ndarray:
        length, number = self.index.nearest(Y, self.n_neighbors)
        return self._combine(Y, length, number)

    def again(self, which: np.ndarray) -> np.ndarray:
        Y = self.coordinates[which]
        length, number = self.index.nearest(Y, min(self.n_neighbors + 1, len(self.coordinates)))
        own = number == which[:, None]
        own[~own.any(axis=1), -1] = (
            True  # the point itself, or where others share its place the last one, is left out
        )
        shape = (len(which), length.shape[1] - 1)
        return self._combine(Y, length[~own].reshape(shape), number[~own].reshape(shape))

    def _combine(self, Y: np.ndarray, length: np.ndarray, number: np.ndarray) -> np.ndarray:
        """The combination of neighbouring rows for each place."""
        k = number.shape[1]

        def part(some: np.ndarray) -> np.ndarray:
            weights = affine_weights(Y[some], self.coordinates[number[some]], length[some])
            pattern = (weights.ravel(), number[some].ravel(), np.arange(0, weights.size + 1, k))
            return dense(sparse.csr_array(pattern, shape=(len(some), self.X.shape[0])) @ self.X)

        bytes_per_row = 8 * (4 * k * (Y.shape[1] + 1) + 2 * self.X.shape[1])
        return np.concatenate(in_blocks(part, np.arange(len(Y)), bytes_per_row, self.n_jobs))


def affine_weights(Y: np.ndarray, neighbors: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Weights (b, k), summing to one, that give the local affine fit at ``Y`` (b, d) from its neighbours (b,
    k, d)."""
    reach = length[:, -1:]
    part = np.divide(length, reach, out=np.zeros_like(length), where=reach > 0)
    weights = np.square(1.0 - np.square(part)) + _FLOOR
    weights /= weights.sum(axis=1, keepdims=True)
    center = np.einsum("bk,bkd->bd", weights, neighbors)
    spread = neighbors - center[:, None]
    covariance = np.einsum("bk,bkd,bke->bde", weights, spread, spread)
    d = covariance.shape[1]
    trace = np.trace(covariance, axis1=1, axis2=2)
    covariance[:, np.arange(d), np.arange(d)] += np.where(
        reach > 0, _RIDGE * trace[:, None] / d + _FLAT * np.square(reach), 1.0
    )
    slope = np.linalg.solve(covariance, (Y - center)[..., None])[..., 0]  # C^-1 (y - c)
    return weights * (1.0 + np.einsum("bd,bkd->bk", slope, spread))
