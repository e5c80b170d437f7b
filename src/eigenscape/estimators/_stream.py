"""Chunks of a stream, each validated before it is used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import validate_data

from eigenscape._numbers import check_numbers, checked_sparse
from eigenscape._typing import is_sparse
from eigenscape.estimators._rows import without_mask
from eigenscape.graph.row_index import canonical_csr

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def check_chunk(estimator: BaseEstimator, X: Any, reset: bool, first_row: int) -> Any:
    """Return a chunk as a float array or CSR matrix; errors give the rows by their position in the stream."""
    X = validate_data(
        estimator,
        checked_sparse(without_mask(X, missing=False)),
        reset=reset,
        accept_sparse="csr",
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
    )
    X = canonical_csr(X) if is_sparse(X) else X
    bad = _non_finite_rows(X)
    if len(bad):
        shown = ", ".join(str(first_row + row) for row in bad[:5]) + (", ..." if len(bad) > 5 else "")
        raise ValueError(
            f"Input X contains NaN or infinity in {len(bad)} row(s) of a chunk: row(s) {shown}, counted from"
            " the start of the stream. The chunk was not used, and the model of the previous chunks stays"
            " usable; drop or impute these rows and continue"
        )
    check_numbers(X, first_row=first_row)
    return X


def _non_finite_rows(X: Any) -> np.ndarray:
    if is_sparse(X):
        wrong = np.flatnonzero(~np.isfinite(X.data))
        return np.unique(np.searchsorted(X.indptr, wrong, side="right") - 1)
    return np.flatnonzero(~np.isfinite(X).all(axis=1))


class CheckedChunks:
    """The chunks of a stream, validated one by one; empty chunks are skipped.

    ``first`` is True if the number and names of the features are taken from the first chunk.
    """

    def __init__(self, estimator: BaseEstimator, chunks: Iterable[Any], first: bool = False) -> None:
        self.estimator, self.chunks, self.first = estimator, chunks, first

    def __iter__(self) -> Iterator[Any]:
        n_seen, reset = 0, self.first
        for chunk in self.chunks:
            if _is_empty(chunk):
                continue
            chunk = check_chunk(self.estimator, chunk, reset, n_seen)
            n_seen, reset = n_seen + chunk.shape[0], False
            yield chunk
        if n_seen == 0:
            raise ValueError("the stream is empty: it has no rows")


class KeptChunks:
    """A stream that a fitted model can read again, without empty chunks.

    It is not pickled with the model, since the data may exceed memory.
    """

    def __init__(self, chunks: Iterable[Any] | None) -> None:
        self.chunks = chunks

    def __bool__(self) -> bool:
        return self.chunks is not None

    def __iter__(self) -> Iterator[Any]:
        return (chunk for chunk in self.chunks or () if not _is_empty(chunk))

    def __getstate__(self) -> dict[str, Any]:
        return {"chunks": None}


def _is_empty(chunk: Any) -> bool:
    return getattr(chunk, "shape", (1,))[0] == 0
