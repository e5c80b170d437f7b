"""Rows with missing or infinite values: report, drop or keep them, or fill in the missing values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape._typing import is_sparse
from eigenscape.app.io.guards import empty_column_error
from eigenscape.app.io.table import Table, format_names
from eigenscape.exceptions import InputFileError

#: Options with which NaN is not an error.
_ACCEPTED = ("keep", "mean")
_REMEDIES = (
    ", missing='mean' (--missing mean) fills in the mean of the column, missing='keep' (--missing keep) keeps"
    " NaN for estimators that support it (ProbabilisticPCA, FactorAnalysis, MixturePPCA)"
)
#: Rows that are summed at a time: a fixed number, so that the sums do not depend on the chunks.
_SUM_ROWS = 1024


def handle_missing(table: Table, missing: str, imputation: Imputation | None = None) -> Table:
    """Apply the option ``missing`` of :func:`eigenscape.read` to a table.

    Chunks are checked when they are iterated over. With ``missing="drop"`` or ``"mean"``, all chunks are read
    once before: to find the rows to drop, or the means. ``imputation`` comes from a model, if any.
    """
    if table.is_streamed or any(map(len, nonfinite_rows(table.array))):
        table = _validate(table, missing)
    return impute(table, imputation) if missing == "mean" else table


def _validate(table: Table, missing: str) -> Table:
    """Reject or drop rows; rows of a stream when they are read, unless they are dropped."""
    whole, names = not table.is_streamed, table.names if table.kind == "rows" else ()
    chunks = ValidatedChunks(table.chunks, missing, table.source, names, whole)
    table = table if whole else replace(table, array=chunks)
    if not whole and missing != "drop":
        return table
    kept, n_dropped = chunks.kept_rows()
    if whole and len(kept) == 0:
        raise _nothing_left(table.source)
    return replace(table.select_rows(kept), rows=kept, n_dropped=n_dropped) if n_dropped else table


@dataclass(frozen=True, eq=False)
class ValidatedChunks:
    """Chunks of rows with the option ``missing`` applied to each of them; ``whole`` if there is only one."""

    chunks: Iterable[Any]
    missing: str
    source: str
    names: tuple[str, ...]
    whole: bool = False

    def __iter__(self) -> Iterator[Any]:
        n_kept = 0
        for chunk, rejected in self._checked():
            kept = chunk if len(rejected) == 0 else np.delete(chunk, rejected, axis=0)
            n_kept += len(kept)
            if len(kept):
                yield kept
        if n_kept == 0:
            raise _nothing_left(self.source)

    def kept_rows(self) -> tuple[np.ndarray, int]:
        """Return the indices of the rows that are not dropped, and the number of those that are."""
        kept, start = [], 0
        for chunk, rejected in self._checked():
            kept.append(start + np.setdiff1d(np.arange(chunk.shape[0]), rejected))
            start += chunk.shape[0]
        rows = np.concatenate([np.empty(0, dtype=np.intp), *kept])
        return rows, start - len(rows)

    def _checked(self) -> Iterator[tuple[Any, np.ndarray]]:
        """Yield each chunk with the rows to drop; raise unless they may be dropped."""
        start = 0
        for chunk in self.chunks:
            with_nan, infinite = nonfinite_rows(chunk)
            rejected = infinite if self.missing in _ACCEPTED else np.union1d(with_nan, infinite)
            if len(rejected):
                self._check_rejected(chunk, rejected, start, len(with_nan) > 0, len(infinite) > 0)
            yield chunk, rejected
            start += chunk.shape[0]

    def _check_rejected(
        self, chunk: Any, rejected: np.ndarray, start: int, has_nan: bool, has_infinite: bool
    ) -> None:
        """Raise unless rows may be dropped; the error lists the first of them, and the remedies."""
        part = chunk[rejected[:1000]]
        part = part.toarray() if isinstance(part, sparse.csr_array) else np.asarray(part)
        columns = np.flatnonzero(~np.isfinite(part).all(axis=0)) if len(self.names) == chunk.shape[1] else ()
        if self.whole and len(rejected) == chunk.shape[0] > 1:
            for column in columns:
                if np.isnan(chunk[:, [column]]).all():
                    raise empty_column_error(self.names[column], self.source)
        if self.missing == "drop":
            return
        shown = ", ".join(str(row + 1) for row in start + rejected[:5]) + (
            ", ..." if len(rejected) > 5 else ""
        )
        names = format_names([self.names[column] for column in columns], 5)
        what = "missing or infinite values" if has_nan else "an infinite value"
        raise InputFileError(
            f"{self.source} has {what if has_infinite else 'a missing value (NaN)'} in"
            f" {'' if self.whole else 'at least '}{len(rejected)} row(s): row(s) {shown}, counted from 1"
            f"{f' (column(s) {names})' if names else ''}; missing='drop' (--missing drop) drops them"
            f"{'' if has_infinite else _REMEDIES}"
        )


def nonfinite_rows(array: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of rows with NaN and of rows with an infinite value."""
    if isinstance(array, sparse.csr_array):
        row = np.repeat(np.arange(array.shape[0]), np.diff(array.indptr))
        return np.unique(row[np.isnan(array.data)]), np.unique(row[np.isinf(array.data)])
    with_nan, infinite = [], []
    for block in row_blocks(array.shape[0], 8 * max(array.shape[1], 1)):
        part = np.asarray(array[block], dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            total = part.sum()
        if np.isfinite(total):  # NaN and infinity always reach the sum
            continue
        with_nan.append(block.start + np.flatnonzero(np.isnan(part).any(axis=1)))
        infinite.append(block.start + np.flatnonzero(np.isinf(part).any(axis=1)))
    empty = np.empty(0, dtype=np.intp)
    return np.concatenate([empty, *with_nan]), np.concatenate([empty, *infinite])


def _nothing_left(source: str) -> InputFileError:
    return InputFileError(
        f"every row of {source} has a missing value; select columns, or use missing='keep' (--missing keep)"
    )


# --- values filled in ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Imputation:
    """Missing values are filled in by the means of their columns, learnt from training rows.

    Attributes
    ----------
    means : ndarray of shape (n_features,)
        Mean of the observed values of each column.
    n_values, n_rows : int
        Number of values that were filled in, and of rows with at least one of them.
    """

    means: np.ndarray
    n_values: int = 0
    n_rows: int = 0

    def __call__(self, rows: Any) -> Any:
        """Return the rows with missing values filled in; the type is kept."""
        if isinstance(rows, sparse.csr_array):
            data = np.where(np.isnan(rows.data), self.means[rows.indices], rows.data).astype(rows.dtype)
            return sparse.csr_array((data, rows.indices, rows.indptr), shape=rows.shape)
        gaps = np.isnan(rows)
        return np.where(gaps, self.means, rows).astype(rows.dtype, copy=False) if gaps.any() else rows


def impute(table: Table, known: Imputation | None = None) -> Table:
    """Fill in the missing values of a table without infinite values, whole or in chunks.

    ``known`` is the imputation of the training rows of a model, used instead of the means of this table.
    """
    if known is not None and table.is_streamed:  # what is missing is not counted
        return replace(table.with_rows(known), imputation=known)
    means, n_values, n_rows = _observed_means(table)
    if known is not None and len(known.means) != len(means):
        raise InputFileError(
            f"{table.source} has {len(means)} columns, but the model fills in missing values of"
            f" {len(known.means)}"
        )
    if known is None and np.isnan(means).any():
        raise empty_column_error(table.names[int(np.isnan(means).argmax())], table.source)
    found = Imputation(means if known is None else known.means, n_values, n_rows)
    return replace(table.with_rows(found), imputation=found)


def _fixed_blocks(chunks: Iterable[Any]) -> Iterator[np.ndarray]:
    """Yield dense blocks of ``_SUM_ROWS`` rows, the last of them shorter."""
    rest: np.ndarray | None = None
    for chunk in chunks:
        rows = chunk.toarray() if is_sparse(chunk) else np.asarray(chunk)
        rest = rows if rest is None else np.concatenate([rest, rows])
        while len(rest) >= _SUM_ROWS:
            yield rest[:_SUM_ROWS]
            rest = rest[_SUM_ROWS:]
    if rest is not None and len(rest):
        yield rest


def _observed_means(table: Table) -> tuple[np.ndarray, int, int]:
    """Return the mean of the observed values of each column, the number of missing values and of their rows.

    A column without values has the mean NaN.
    """
    array, n_gaps, n_rows = table.array, 0, 0
    chunks = array
    totals, counts = np.zeros(()), np.zeros((), dtype=np.intp)
    if hasattr(array, "shape"):
        chunks = (array[part] for part in row_blocks(array.shape[0], 8 * max(array.shape[1], 1)))
    for block in _fixed_blocks(chunks):
        gaps = np.isnan(block)
        totals = totals + np.where(gaps, 0.0, block.astype(np.float64)).sum(axis=0)
        counts = counts + len(block) - gaps.sum(axis=0)
        n_gaps, n_rows = n_gaps + int(gaps.sum()), n_rows + int(gaps.any(axis=1).sum())
    return np.where(counts > 0, totals / np.maximum(counts, 1), np.nan), n_gaps, n_rows
