"""Distances from a few points to all, in blocks of bounded size, for data of any kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape.graph.blocks import metric_distances, resolve_metric_params

#: Bytes for one block of distances: large enough that reading all rows once for each block costs little.
_BUDGET = 2**29


class Space:
    """``n`` points, dense or sparse rows or a matrix of distances, and the distances of any of them to all
    others.

    Dense rows are read in blocks and never copied as a whole, so they may be a :class:`numpy.memmap`.
    """

    def __init__(self, X: Any, metric: str | Callable = "euclidean") -> None:
        self.X = sparse.csr_array(X) if sparse.issparse(X) else np.asanyarray(X)
        if self.X.ndim != 2:
            raise ValueError(
                f"data and embedding must have two dimensions (points, features), got shape {self.X.shape}"
            )
        self.metric = metric
        self.n_points = self.X.shape[0]
        if metric == "precomputed":
            if self.X.shape[1] != self.n_points:
                raise ValueError(
                    f"metric='precomputed' needs a square matrix of distances, got shape {self.X.shape}"
                )
            if sparse.issparse(self.X):
                raise TypeError(
                    "metric='precomputed' needs all distances, and a sparse matrix leaves some out; pass them dense"
                )
        self._params = {} if metric == "precomputed" else resolve_metric_params(metric, None, self.X)
        self._euclidean = metric in ("euclidean", "l2") and not sparse.issparse(self.X)
        if self._euclidean:
            self._origin = self._mean()
            if not np.isfinite(self._origin).all():
                raise ValueError(
                    "data and embedding must be finite numbers, and some are NaN or infinite; leave those points out"
                )

    def _column_blocks(self) -> Iterator[slice]:
        return row_blocks(self.n_points, 8 * self.X.shape[1], budget=2**20)  # what a core has at hand

    def _mean(self) -> np.ndarray:
        return (
            sum(np.asarray(self.X[rows], dtype=np.float64).sum(axis=0) for rows in self._column_blocks())
            / self.n_points
        )

    def from_points(self, which: np.ndarray) -> np.ndarray:
        """Distances (len(which), n_points) that rank as the metric does: squared if Euclidean."""
        if self.metric == "precomputed":
            return np.array(self.X[which], dtype=np.float64)
        if not self._euclidean:
            return metric_distances(self.X[which], self.X, self.metric, self._params)
        # |y|^2 - 2 <y, x> + |x|^2 as one product, around the mean, so that an offset of the data costs no
        # digits.
        Y = np.asarray(self.X[which], dtype=np.float64) - self._origin
        left = np.column_stack([-2 * Y, np.einsum("ij,ij->i", Y, Y), np.ones(len(Y))])
        out = np.empty((len(which), self.n_points))
        for columns in self._column_blocks():
            X = np.asarray(self.X[columns], dtype=np.float64) - self._origin
            right = np.column_stack([X, np.ones(len(X)), np.einsum("ij,ij->i", X, X)])
            out[:, columns] = np.maximum(left @ right.T, 0.0)
        return out

    def distances(self, which: np.ndarray) -> np.ndarray:
        """The distances themselves; exactly 0 from a point to itself, which rounding would not leave."""
        values = self.from_points(which)
        values[np.arange(len(which)), which] = 0.0
        return np.sqrt(values, out=values) if self._euclidean else values

    def query_blocks(self, which: np.ndarray, arrays: int = 1) -> Iterator[np.ndarray]:
        """``which`` in pieces, ``arrays`` arrays of distances to all points for each of which fit in the
        budget."""
        for rows in row_blocks(len(which), 8 * arrays * self.n_points, budget=_BUDGET):
            yield which[rows]


def two_spaces(X: Any, embedding: Any, metric: str | Callable) -> tuple[Space, Space]:
    """The data and the map, of the same points."""
    data, picture = Space(X, metric), Space(embedding)
    if data.n_points != picture.n_points:
        raise ValueError(
            f"data and embedding must have the same number of rows, got {data.n_points} and {picture.n_points}"
        )
    return data, picture


def to_others(space: Space, which: np.ndarray) -> np.ndarray:
    """As ``from_points``, a point infinitely far from itself: it is not its own neighbour."""
    values = space.from_points(which)
    values[np.arange(len(which)), which] = np.inf
    return values


def nearest_others(space: Space, which: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Distances (as ``from_points`` has them) and numbers of the ``k`` nearest others of some points, nearest
    first; exact."""
    from eigenscape._compiled.select import nearest_given

    length, number = np.empty((len(which), k)), np.empty((len(which), k), dtype=np.intp)
    done = 0
    for queries in space.query_blocks(which):
        rows = slice(done, done + len(queries))
        nearest_given(to_others(space, queries), k, length[rows], number[rows])
        done = rows.stop
    return length, number
