"""Neighbour indexes of other libraries, recognised by their methods: pynndescent's and faiss's."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenscape._memory import row_blocks
from eigenscape._typing import Rows, is_sparse

#: faiss's numbers of metrics, and the names of those whose values are distances.
_INNER_PRODUCT, _FAISS_METRICS = 0, {1: "euclidean", 2: "manhattan", 3: "chebyshev"}
_ALIASES = {"l2": "euclidean", "l1": "manhattan", "cityblock": "manhattan"}


class DescentSearcher:
    """``kneighbors`` of an index with the interface of ``pynndescent.NNDescent``."""

    #: Metric by which distances are computed again in double precision; the index has single precision.
    recompute: str | None

    def __init__(self, index: Any, metric: Any) -> None:
        self._index = index
        lists = index.neighbor_graph
        if lists is None:
            raise ValueError("neighbors=NNDescent has no neighbor_graph; build it without compressed=True")
        self.lists: tuple[np.ndarray, np.ndarray] = (np.asarray(lists[0]), np.asarray(lists[1]))
        self.n_samples_fit_ = len(self.lists[0])
        _check_metric("NNDescent", getattr(index, "metric", metric), metric)
        own = _ALIASES.get(metric, metric)
        self.recompute = own if own in ("euclidean", "cosine") else None

    def kneighbors(self, X: Rows, n_neighbors: int) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and indices of the nearest points."""
        indices, distances = self._index.query(X, k=n_neighbors)
        _check_complete("NNDescent", np.asarray(indices), "raise n_neighbors")
        return np.asarray(distances), np.asarray(indices)


class FaissSearcher:
    """``kneighbors`` of an index with the interface of faiss, whose Euclidean distances are squared."""

    #: Metric by which distances are computed again in double precision; the index has single precision.
    recompute: str | None

    def __init__(self, index: Any, metric: Any, X: Rows) -> None:
        self._index, self.n_samples_fit_ = index, int(index.ntotal)
        self._cosine = index.metric_type == _INNER_PRODUCT
        if index.d != X.shape[1]:
            raise ValueError(
                f"neighbors={_name(index)} indexes rows of {index.d} features, but X has {X.shape[1]}"
            )
        if is_sparse(X):
            raise ValueError(f"neighbors={_name(index)} searches dense rows, but X is sparse")
        if self._cosine and metric != "cosine":
            raise ValueError(
                f"neighbors={_name(index)} searches by inner products, which are not distances; use"
                " METRIC_L2, or unit rows with metric='cosine'"
            )
        if not self._cosine:
            own = _FAISS_METRICS.get(index.metric_type)
            if own is None:
                raise ValueError(
                    f"neighbors={_name(index)} has the metric_type {index.metric_type}, which is not known;"
                    " use METRIC_L2, METRIC_L1 or METRIC_Linf"
                )
            _check_metric(_name(index), own, metric)
        self._squared = index.metric_type == 1
        self.recompute = "cosine" if self._cosine else "euclidean" if self._squared else None

    def kneighbors(self, X: Rows, n_neighbors: int) -> tuple[np.ndarray, np.ndarray]:
        """Return distances and indices of the nearest points."""
        rows = np.ascontiguousarray(_unit_rows(X) if self._cosine else X, dtype=np.float32)
        values, indices = self._index.search(rows, n_neighbors)
        _check_complete(_name(self._index), indices, "raise nprobe or efSearch")
        lengths = np.asarray(values, dtype=np.float64)
        if not self._cosine:
            lengths = np.maximum(lengths, 0.0)
            return (np.sqrt(lengths) if self._squared else lengths), indices
        if lengths.max(initial=0.0) > 1.001:
            raise ValueError(
                f"neighbors={_name(self._index)} contains rows whose norm is not 1; divide the rows by"
                " their norms before adding them, for metric='cosine'"
            )
        return np.maximum(1.0 - lengths, 0.0), indices


def foreign_searcher(neighbors: Any, metric: Any, X: Rows) -> DescentSearcher | FaissSearcher | None:
    """Return a searcher for an index of pynndescent or faiss; None for other objects."""
    if all(hasattr(neighbors, name) for name in ("neighbor_graph", "query")):
        return DescentSearcher(neighbors, metric)
    if all(hasattr(neighbors, name) for name in ("search", "ntotal", "metric_type", "d")):
        return FaissSearcher(neighbors, metric, X)
    return None


def exact_lengths(Y: Rows, X: Rows, indices: np.ndarray, metric: str) -> np.ndarray:
    """Return the distances (n, k) from each row of ``Y`` to the rows ``indices`` (n, k) of ``X``."""
    if metric == "cosine":  # |u - v|^2 = 2 (1 - cos)
        return exact_lengths(_unit_rows(Y), _unit_rows(X), indices, "euclidean") ** 2 / 2
    lengths, rows = np.empty(indices.shape), np.asarray(X)
    for block in row_blocks(len(indices), 16 * indices.shape[1] * rows.shape[1]):
        apart = rows[indices[block]].astype(np.float64) - np.asarray(Y)[block, None, :]
        lengths[block] = np.sqrt(np.einsum("ijk,ijk->ij", apart, apart))
    return lengths


def _unit_rows(X: Rows) -> np.ndarray:
    rows = np.asarray(X, dtype=np.float64)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(norms > 0, norms, 1.0)


def _name(index: Any) -> str:
    return type(index).__name__


def _check_metric(name: str, own: Any, metric: Any) -> None:
    """Raise ValueError if an index has another metric than the estimator."""
    if isinstance(own, str) and _ALIASES.get(own, own) != _ALIASES.get(metric, metric):
        raise ValueError(
            f"neighbors={name} was built with metric={own!r}, but metric={metric!r}; set metric={own!r}"
        )


def _check_complete(name: str, indices: np.ndarray, remedy: str) -> None:
    """Raise ValueError if lists are shorter than requested, which indexes mark by the index -1."""
    short = np.flatnonzero((indices < 0).any(axis=1))
    if len(short):
        raise ValueError(
            f"neighbors={name} found fewer than {indices.shape[1]} neighbours for {len(short)} row(s), the"
            f" first of which is row {short[0]}; {remedy} of the index"
        )
