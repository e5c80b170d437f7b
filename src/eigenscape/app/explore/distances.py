"""Distances from any rows to all rows of the data."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from eigenscape._typing import is_sparse
from eigenscape.app.explore.data import Dataset
from eigenscape.app.explore.tuning import TUNING

#: Number of values of a block of rows, and of a block of distances.
_BLOCK, _BLOCK_DISTANCES = 2**22, 2**23


class Distances:
    """Euclidean distances from any rows to all rows of the data, standardised or not.

    Missing values of the data are replaced by the mean of their column.
    """

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self._squares: dict[bytes, np.ndarray] = {}
        self._usual: dict[bytes, np.ndarray] = {}
        self._lock = threading.Lock()

    def between(self, rows: np.ndarray, scaler: Any = None) -> np.ndarray:
        """Return the distances (n_new, n) from rows (n_new, d) in their original units.

        With a scaler, rows are compared after division by its scale.
        """
        weights = _weights(scaler, rows.shape[1])
        squares = self._norms(weights)
        weighted = rows * weights
        products = np.asarray(self.data.filled @ weighted.T).T
        found = squares[None, :] - 2 * products + (rows * weighted).sum(axis=1)[:, None]
        return np.sqrt(np.maximum(found, 0.0))

    def to_rows(self, rows: np.ndarray, which: np.ndarray, scaler: Any = None) -> np.ndarray:
        """Return the distances (n_new, k) to the rows ``which`` of the data, (n_new, k); 0 if equal."""
        weights = _weights(scaler, rows.shape[1])
        others = self.data.rows(which.ravel(), filled=True).reshape(*which.shape, -1)  # (n_new, k, d)
        return np.sqrt(np.square(others - rows[:, None, :]) @ weights)

    def usual(self, scaler: Any = None) -> np.ndarray:
        """Return the distances of some rows to their nearest others, in ascending order."""
        key = _weights(scaler, self.data.d).tobytes()
        with self._lock:
            if key not in self._usual:
                n = self.data.n
                which = np.linspace(0, n - 1, min(TUNING.usual_points, n)).astype(np.intp)
                nearest = []
                size = block_size(n)
                for start in range(0, len(which), size):
                    some = which[start : start + size]
                    found = self.between(self.data.rows(some, filled=True), scaler)
                    found[np.arange(len(some)), some] = np.inf
                    nearest.append(found.min(axis=1))
                self._usual[key] = np.sort(np.concatenate(nearest))
            return self._usual[key]

    def _norms(self, weights: np.ndarray) -> np.ndarray:
        key = weights.tobytes()
        if key not in self._squares:
            X = self.data.filled
            if is_sparse(X):
                self._squares[key] = np.asarray(X.multiply(X) @ weights).ravel()
            else:
                parts = [np.square(X[block]) @ weights for block in row_blocks(*X.shape)]
                self._squares[key] = np.concatenate(parts)
        return self._squares[key]


def _weights(scaler: Any, d: int) -> np.ndarray:
    """Return the weight of each squared difference of columns: 1, or the inverse of the variance."""
    scale = None if scaler is None else scaler.scale_
    return np.ones(d) if scale is None else 1 / np.square(np.asarray(scale, dtype=np.float64))


def row_blocks(n: int, d: int) -> list[slice]:
    """Return slices of rows of limited size."""
    size = max(1, _BLOCK // max(1, d))
    return [slice(start, start + size) for start in range(0, n, size)]


def block_size(n: int) -> int:
    """Return the number of rows whose distances to ``n`` rows are computed at once."""
    return int(np.clip(_BLOCK_DISTANCES // max(1, n), 1, 64))
