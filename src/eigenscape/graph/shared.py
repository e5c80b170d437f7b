"""Neighbour searches shared by several estimators: a search of the same rows is made once."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._typing import is_sparse
from eigenscape.graph.approximate import ApproximateIndex
from eigenscape.graph.blocks import BlockIndex
from eigenscape.graph.search import NeighborIndex
from eigenscape.graph.sparse_distances import nearest_entries
from eigenscape.graph.tree import TreeIndex

#: Largest total size of the results that are kept.
MAX_BYTES = 256 * 2**20


class NeighborCache:
    """Nearest neighbours of training points by rows and metric, the most recently used up to ``max_bytes``.

    Of an exact search the longest lists are kept; shorter ones are their beginning, unless distances tie
    there. Lists of an approximate search are used for the same length only, since more candidates are
    examined for longer ones. Every result therefore equals that of a new search.
    """

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self.max_bytes = max_bytes
        self.n_searches = self.n_reused = 0
        self._lock = Lock()
        self._tables: OrderedDict[tuple[Any, ...], tuple[int, sparse.csr_array]] = OrderedDict()

    def nearest_others_graph(self, index: NeighborIndex, k: int) -> sparse.csr_array:
        """Return ``index.nearest_others_graph(k)``, from an earlier search if there was one."""
        key = _key(index, k)
        if key is None:
            return index.nearest_others_graph(k)
        with self._lock:
            length, table = self._tables.get(key, (0, None))
        known = None if table is None or length < k else _shortened(table, length, k)
        if known is not None:
            with self._lock:
                self.n_reused += 1
                if key in self._tables:
                    self._tables.move_to_end(key)
            return known
        found = index.nearest_others_graph(k)
        with self._lock:
            self.n_searches += 1
            self._keep(key, k, found.copy())
        return found

    def _keep(self, key: tuple[Any, ...], k: int, table: sparse.csr_array) -> None:
        if self._tables.get(key, (0, None))[0] < k:
            self._tables[key] = (k, table)
            self._tables.move_to_end(key)
        while self._tables and sum(_n_bytes(kept) for _, kept in self._tables.values()) > self.max_bytes:
            self._tables.popitem(last=False)


def _shortened(table: sparse.csr_array, length: int, k: int) -> sparse.csr_array | None:
    """Return the ``k`` nearest of ``length`` neighbours; None if a tie leaves open which these are."""
    if length == k:
        return table.copy()
    ranked = np.sort(table.data.reshape(-1, length), axis=1)
    return None if (ranked[:, k - 1] == ranked[:, k]).any() else nearest_entries(table, k)


_active: NeighborCache | None = None
_active_lock = Lock()


@contextmanager
def shared_neighbors(max_bytes: int = MAX_BYTES) -> Iterator[NeighborCache]:
    """Share neighbour searches between all estimators that are fitted within this context.

    Estimators with the same rows, ``metric`` and ``neighbors`` search once, for the largest ``n_neighbors``
    so far. Results are the same as without it. Within another such context, that one is used.

    Parameters
    ----------
    max_bytes : int, default=268435456
        Largest total size of the neighbour lists that are kept.

    Examples
    --------
    >>> import eigenscape
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((200, 3))
    >>> with eigenscape.shared_neighbors() as cache:
    ...     isomap = eigenscape.Isomap(n_neighbors=10).fit(X)
    ...     laplacian = eigenscape.LaplacianEigenmaps(n_neighbors=8).fit(X)
    >>> cache.n_searches, cache.n_reused
    (1, 1)
    """
    global _active
    with _active_lock:
        outer = _active
        cache = outer if outer is not None else NeighborCache(max_bytes)
        _active = cache
    try:
        yield cache
    finally:
        if outer is None:
            with _active_lock:
                _active = None


def nearest_others_graph(index: NeighborIndex, k: int) -> sparse.csr_array:
    """Return the distances of every indexed point to its ``k`` nearest others, shared within a context."""
    cache = _active
    return index.nearest_others_graph(k) if cache is None else cache.nearest_others_graph(index, k)


def _key(index: NeighborIndex, k: int) -> tuple[Any, ...] | None:
    """Return what determines the result of a search; None for indexes whose searches are not shared."""
    if isinstance(index, TreeIndex):
        return ("tree", index.power, _fingerprint(index.X))
    if isinstance(index, BlockIndex) and isinstance(index.metric, str):
        params = tuple((name, np.asarray(index.params[name]).tobytes()) for name in sorted(index.params))
        return ("blocks", index.metric, params, _fingerprint(index.X))
    if isinstance(index, ApproximateIndex):
        return ("approximate", index.metric, _fingerprint(index.X), k)
    return None


def _fingerprint(X: Any) -> bytes:
    """Return a hash of the type, the shape and the values of rows."""
    digest = hashlib.blake2b(f"{type(X).__name__} {X.dtype.str} {X.shape}".encode(), digest_size=16)
    for part in (X.indptr, X.indices, X.data) if is_sparse(X) else (X,):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.digest()


def _n_bytes(table: sparse.csr_array) -> int:
    return int(table.data.nbytes + table.indices.nbytes + table.indptr.nbytes)
