"""Distances and nearest neighbours of any rows among all rows of the data."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._typing import is_sparse
from eigenscape.app.explore.data import Dataset
from eigenscape.app.explore.tuning import TUNING


class Distances:
    """Euclidean distances to all rows of the data, after a scaler if one is given.

    Missing values of the data are replaced by the mean of their column.
    """

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self._indices: dict[bytes, tuple[Any, Any, np.ndarray]] = {}
        self._lock = threading.Lock()

    def from_row(self, row: int, scaler: Any = None) -> np.ndarray:
        """Return the distances (n,) from a row of the data, exactly zero to itself."""
        from sklearn.metrics import euclidean_distances

        rows, *_ = self.index(scaler)
        found = euclidean_distances(rows[[row]], rows)[0]
        found[row] = 0.0
        return found

    def nearest(self, rows: np.ndarray, k: int, scaler: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the distances (n_new, k) to the nearest rows of the data and their indices."""
        return self.index(scaler)[1].nearest(self._scaled(rows, scaler), min(k, self.data.n))

    def index(self, scaler: Any = None) -> tuple[Any, Any, np.ndarray]:
        """Return the rows, their index, and sorted distances of some of them to their nearest others."""
        from eigenscape.graph.neighbors import neighbor_index

        key = b"" if scaler is None else np.asarray(scaler.scale_).tobytes()
        with self._lock:
            if key not in self._indices:
                rows = self._scaled(self.data.filled, scaler)
                some = rows[
                    np.linspace(0, self.data.n - 1, min(TUNING.usual_points, self.data.n)).astype(int)
                ]
                index = neighbor_index(rows, search="exact")
                self._indices[key] = rows, index, np.sort(index.nearest(some, 2)[0][:, 1])
            return self._indices[key]

    def _scaled(self, rows: Any, scaler: Any) -> Any:
        rows = sparse.csr_array(rows) if is_sparse(self.data.X) else np.ascontiguousarray(rows, np.float64)
        return rows if scaler is None else scaler.transform(rows)
