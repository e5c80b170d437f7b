"""Distances of rows from the span of a map: in feature space, or from their reconstruction."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from eigenscape._memory import row_blocks
from eigenscape._typing import is_sparse
from eigenscape.estimators._rows import check_input, take_rows
from eigenscape.exceptions import UndefinedKernelError
from eigenscape.quality.span_distance import rounding_of_span, span_distances

#: Relative error of a reconstructed row, in units of the precision; 5 was measured.
_ROUNDING = 64
#: How a distance from the span is measured.
SpanKind = Literal["kernel", "inverse", "none"]


def resolve_span(embedder: Any, X: Any, wanted: str) -> SpanKind:
    """Return how the distance from the span of a fitted embedder is measured, given what is asked for.

    ``X`` are some rows, for which it is tried.

    Raises ValueError, with the reason, if it is asked for and not defined.
    """
    if wanted == "none":
        return "none"
    reasons = []
    for kind in ("kernel", "inverse") if wanted == "auto" else (wanted,):
        try:
            measure_span(embedder, X, kind)
        except (UndefinedKernelError, AttributeError, TypeError) as error:
            reasons.append(str(error))
        else:
            return kind
    if wanted == "auto":
        return "none"
    raise ValueError(
        f"span_distance={wanted!r} is not defined for {type(embedder).__name__}: {reasons[0]}; use 'auto' or"
        " 'none'"
    )


def measure_span(embedder: Any, X: Any, kind: str) -> np.ndarray:
    """Return the squared distances (n,) of rows from the span of a fitted embedder."""
    if kind == "inverse":
        return _reconstruction_errors(embedder, X)
    model = vars(embedder).get("_model_")
    if model is None or not hasattr(model, "parts"):
        raise UndefinedKernelError(f"{type(embedder).__name__} has no kernel")
    return span_distances(model, check_input(embedder, X, reset=False))


def span_rounding(embedder: Any, X: Any, kind: str) -> float:
    """Return the squared distance from the span that rounding alone may cause, given some rows."""
    if kind == "kernel":
        return rounding_of_span(embedder._model_, check_input(embedder, X, reset=False))
    rows, one = _numbers(X), take_rows(X, np.arange(1))
    eps = np.finfo(np.asarray(embedder.inverse_transform(embedder.transform(one))).dtype).eps
    squares = np.square(rows.data if is_sparse(rows) else rows).sum() / rows.shape[0]
    return float(squares) * float(_ROUNDING * eps) ** 2


def _reconstruction_errors(embedder: Any, X: Any) -> np.ndarray:
    """Return ``|x - inverse_transform(transform(x))|^2`` (n,)."""
    inverse = getattr(embedder, "inverse_transform", None)
    if inverse is None:
        raise AttributeError(f"{type(embedder).__name__} has no inverse_transform")
    coordinates = embedder.transform(X)
    rows = _numbers(X)
    parts = []
    for block in row_blocks(rows.shape[0], 64 * rows.shape[1]):
        dense = np.asarray(rows[block].toarray() if is_sparse(rows) else rows[block])
        parts.append(np.square(dense - inverse(coordinates[block])).sum(axis=1))
    return np.concatenate(parts)


def _numbers(X: Any) -> Any:
    values = X.X if hasattr(X, "obsm") else X  # of AnnData
    return values.tocsr() if is_sparse(values) else np.asarray(values, dtype=np.float64)
