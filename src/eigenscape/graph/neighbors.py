"""Neighbour search: one interface, four engines, the same for training points and new ones.

* ``TreeIndex``: scipy's k-d tree, exact, for dense rows of at most 16 features and Minkowski metrics.
* ``BlockIndex``: blocks of the distance matrix, exact, for everything else. Euclidean blocks come from a matrix product in
  single precision and are measured exactly where it matters, so that the answer does not depend on how the
  work was cut.
* ``ApproximateIndex``: instead of blocks, for more than 30 000 dense rows under a Euclidean or cosine metric, unless
  ``neighbors="exact"`` is asked for. Its recall is measured and reported.
* ``PrecomputedIndex``: distances the user computed, dense or sparse.

Ties are broken by row number. A search never looks at the other queries, so neither does its answer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from eigenscape.graph.blocks import BlockIndex, resolve_metric_params
from eigenscape.graph.precomputed import PrecomputedIndex
from eigenscape.graph.row_index import DistanceRowIndex, RowIndex
from eigenscape.graph.tree import TreeIndex

#: Above this many features a k-d tree visits most of its leaves, and blocks are faster.
TREE_FEATURES = 16
#: Above this many points ``"auto"`` searches high-dimensional rows approximately: blocks take time n^2.
EXACT_POINTS = 30_000
APPROXIMATE_METRICS = ("euclidean", "l2", "cosine")

_MINKOWSKI = {"euclidean": 2.0, "l2": 2.0, "manhattan": 1.0, "l1": 1.0, "cityblock": 1.0, "chebyshev": np.inf}


class NeighborIndex(Protocol):
    """Searches ``n_points`` indexed points, of whose true neighbours it finds the share ``recall``."""

    n_points: int
    recall: float
    known_symmetric: bool  # whether its distances are known to be symmetric

    def nearest(self, Y: Any, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Distances and numbers of the ``k`` nearest indexed points, nearest first: two arrays (n_new, k)."""
        ...

    def nearest_graph(self, Y: Any, k: int) -> sparse.csr_array:
        """The same as a sparse matrix (n_new, n_points); a sparse table of distances may hold fewer than
        ``k``."""
        ...

    def nearest_others_graph(self, k: int) -> sparse.csr_array:
        """The ``k`` nearest *others* of every indexed point, as a sparse matrix."""
        ...

    def radius_graph(self, Y: Any, radii: np.ndarray) -> sparse.csr_array:
        """Distances (n_new, n_points) where they do not exceed the indexed point's own radius."""
        ...

    def radius_query(self, radii: np.ndarray) -> Callable[[Any], sparse.csr_array]:
        """``within`` for these radii, prepared to be called often."""
        ...

    def vertices(self) -> RowIndex | DistanceRowIndex:
        """Recognises the indexed points among queries."""
        ...

    def points(self, which: np.ndarray) -> Any:
        """The indexed points ``which`` in the form that queries have."""
        ...

    def subset(self, which: np.ndarray) -> NeighborIndex:
        """An index of the points ``which`` alone."""
        ...

    def restrict(self, Y: Any, which: np.ndarray) -> Any:
        """Queries for this index rewritten for ``subset(which)``."""
        ...


def neighbor_index(
    X: Any,
    metric: str | Callable = "euclidean",
    metric_params: dict | None = None,
    n_jobs: int | None = None,
    neighbors: str = "auto",
) -> NeighborIndex:
    """The engine that suits the data (see the module's head for the rule)."""
    if metric == "precomputed":
        return PrecomputedIndex(X)
    params = resolve_metric_params(metric, metric_params, X)
    power = None if params else _MINKOWSKI.get(str(metric))
    if metric == "minkowski" and set(params) <= {"p"}:
        power = float(params.get("p", 2.0))
    few_features = power is not None and power >= 1 and not sparse.issparse(X) and X.shape[1] <= TREE_FEATURES
    able = metric in APPROXIMATE_METRICS and not params and not sparse.issparse(X)
    if neighbors == "approximate" and not able:
        raise ValueError(
            f"neighbors='approximate' knows dense rows and the metrics {', '.join(APPROXIMATE_METRICS)}, got metric={metric!r}"
        )
    if neighbors == "approximate" or (
        neighbors == "auto" and able and not few_features and X.shape[0] > EXACT_POINTS
    ):
        from eigenscape.graph.approximate import ApproximateIndex

        return ApproximateIndex(X, str(metric), n_jobs)
    return (
        TreeIndex(X, power, n_jobs)
        if few_features and power is not None
        else BlockIndex(X, metric, params, n_jobs)
    )
