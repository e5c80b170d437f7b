"""Validation of anchors."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenscape._typing import is_sparse
from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._types import Metric
from eigenscape.estimators._weights import refuse_weights
from eigenscape.graph.row_index import distinct_rows

_NOT_ROWS = "n_anchors needs dense rows and the Euclidean metric, got"


def check_anchors(
    count: Any,  # not None
    n_components: int,
    X: Any,
    metric: Metric,
    on_disconnected: str,
    weights: np.ndarray | None,
) -> int:
    """Return the number of anchors; raise ValueError if the other arguments do not allow any."""
    if count < n_components + 1:
        raise ValueError(
            f"n_anchors={count} are too few for n_components={n_components}, which need at least"
            f" {n_components + 1}; raise n_anchors"
        )
    if is_sparse(X) or X.ndim == 1:
        raise ValueError(f"{_NOT_ROWS} {'sparse rows' if is_sparse(X) else 'objects'}; leave n_anchors None")
    if metric not in ("euclidean", "l2"):
        raise ValueError(f"{_NOT_ROWS} metric={metric!r}; leave n_anchors None")
    if on_disconnected not in ("connect", "raise"):
        raise ValueError(
            f"n_anchors needs one graph, got on_disconnected={on_disconnected!r}; use 'connect' or 'raise'"
        )
    refuse_weights(weights, "n_anchors", "the map counts every sample once")
    if count > X.shape[0] or count > (n_distinct := len(distinct_rows(X)[0])):
        found = f"n_samples={X.shape[0]}" if count > X.shape[0] else f"{n_distinct} distinct ones"
        raise ValueError(f"n_anchors={count} needs as many samples, got {found}; lower n_anchors")
    return count


def anchor_attributes(embedding: Embedding) -> dict[str, Any]:
    """Return the fitted attributes that describe the anchors."""
    return {"anchors_": embedding.kernel.weights.anchors}  # type: ignore[attr-defined]
