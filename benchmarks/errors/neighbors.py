"""Recall of neighbours: the part of the true nearest neighbours of some rows that a model found.

Neighbours as near as the tenth are not counted, since any of several equally near ones is right.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from benchmarks.cases.model import NEIGHBORS

#: Number of rows of the sample.
SAMPLE = 300


def of_graph(graph: Any, X: np.ndarray) -> float | None:
    """Return the recall of the edges of a graph (n, n), or None if equal rows share a vertex."""
    if graph.shape[0] != len(X):
        return None
    some = np.linspace(0, len(X) - 1, min(SAMPLE, len(X))).astype(int)
    chosen = sparse.csr_array(graph)[some]
    return _recall([chosen.indices[a:b] for a, b in _bounds(chosen)], X[some], X, some)


def of_lists(lists: np.ndarray, X: np.ndarray) -> float:
    """Return the recall of lists of neighbours (n, k)."""
    some = np.linspace(0, len(X) - 1, min(SAMPLE, len(X))).astype(int)
    return _recall(list(lists[some]), X[some], X, some)


def of_model(model: Any, X: np.ndarray, new: np.ndarray) -> float | None:
    """Return the recall of the training rows that place new ones, or None if the model does not show them."""
    if sparse.issparse(X):
        return None
    some = new[:SAMPLE]
    if hasattr(model, "nearest"):
        return _recall(list(model.nearest(some)), some, X, None)
    base = getattr(getattr(model, "kernel_", None), "base", None)
    if base is None or model.kernel_.X.shape[0] != len(X):
        return None
    weights = base(some)
    if not sparse.issparse(weights):
        return None
    weights = sparse.csr_array(weights)
    return _recall([weights.indices[a:b] for a, b in _bounds(weights)], some, X, None)


def _bounds(matrix: Any) -> list[tuple[int, int]]:
    """Return beginning and end of each row of a CSR array."""
    return list(zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True))


def _recall(found: list[np.ndarray], rows: np.ndarray, X: np.ndarray, own: np.ndarray | None) -> float:
    """Return the recall for rows, whose own numbers among ``X`` are ``own``."""
    kept = total = 0
    for start in range(0, len(rows), 50):
        distances = cdist(rows[start : start + 50].astype(np.float64), X.astype(np.float64))
        for i, row in enumerate(distances, start):
            if own is not None:
                row[own[i]] = np.inf
            limit = np.partition(row, NEIGHBORS - 1)[NEIGHBORS - 1]
            true = np.flatnonzero(row < limit * (1 - 1e-6))
            kept += np.isin(true, found[i]).sum()
            total += len(true)
    return float(kept / max(total, 1))
