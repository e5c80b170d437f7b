"""Validation of anchors."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenscape._typing import is_sparse
from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._graph import Neighborhood
from eigenscape.estimators._weights import refuse_weights
from eigenscape.graph.row_index import distinct_rows

_NOT_ROWS = "anchors need dense rows and the Euclidean metric, got"


def check_anchors(
    estimator: Any, X: Any, neighborhood: Neighborhood | None, weights: np.ndarray | None
) -> int:
    """Return the number of anchors of ``approximation``; raise ValueError if other arguments allow none.

    ``neighborhood`` is None if the samples have no graph of rows."""
    anchors, n_components = estimator.approximation, estimator.n_components
    if neighborhood is None:
        raise ValueError(
            f"anchors need a graph of rows, got affinity={estimator.affinity!r}; use"
            " affinity='nearest_neighbors', or a Dictionary for a kernel between all samples"
        )
    count, metric, on_disconnected = anchors.n, neighborhood.option.metric, estimator.on_disconnected
    if count < n_components + 1:
        raise ValueError(
            f"{anchors!r} are too few for n_components={n_components}, which need at least"
            f" {n_components + 1}; raise n"
        )
    if is_sparse(X) or X.ndim == 1:
        raise ValueError(
            f"{_NOT_ROWS} {'sparse rows' if is_sparse(X) else 'objects'}; leave out approximation"
        )
    if metric not in ("euclidean", "l2"):
        raise ValueError(f"{_NOT_ROWS} metric={metric!r}; leave out approximation")
    if on_disconnected not in ("connect", "raise"):
        raise ValueError(
            f"anchors need one graph, got on_disconnected={on_disconnected!r}; use 'connect' or 'raise'"
        )
    refuse_weights(weights, "anchors", "the map counts every sample once")
    if count > X.shape[0] or count > (n_distinct := len(distinct_rows(X)[0])):
        found = f"n_samples={X.shape[0]}" if count > X.shape[0] else f"{n_distinct} distinct ones"
        raise ValueError(f"{anchors!r} need as many samples, got {found}; lower n")
    return int(count)


def anchor_attributes(embedding: Embedding) -> dict[str, Any]:
    """Return the fitted attributes that describe the anchors."""
    return {"anchors_": embedding.kernel.weights.anchors}  # type: ignore[attr-defined]
