"""Rows with missing or infinite values: report, drop or keep them, or fill in the missing values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape.app.io.imputation import Imputation, impute
from eigenscape.app.io.table import Table, format_names
from eigenscape.exceptions import InputFileError

#: Options with which NaN is not an error.
_ACCEPTED = ("keep", "mean", "ppca")


def handle_missing(table: Table, missing: str, imputation: Imputation | None = None) -> Table:
    """Apply the option ``missing`` of :func:`eigenscape.read` to a table.

    Chunks are checked when they are iterated over. With ``missing="drop"`` or ``"mean"``, all chunks are read
    once before: to find the rows to drop, or the means. ``imputation`` comes from a model, if any.
    """
    if not hasattr(table.array, "shape"):
        table = _handle_missing_chunks(table, missing)
    else:
        with_nan, infinite = nonfinite_rows(table.array)
        rejected = infinite if missing in _ACCEPTED else np.union1d(with_nan, infinite)
        if len(rejected):
            table = _drop_rows(table, missing, with_nan, infinite, rejected)
    return impute(table, missing, imputation) if missing in ("mean", "ppca") else table


def _drop_rows(
    table: Table, missing: str, with_nan: np.ndarray, infinite: np.ndarray, rejected: np.ndarray
) -> Table:
    """Drop the rows with values that are not accepted, or raise an error that names them."""
    n_samples, n_columns = table.array.shape
    columns: list[str] = []
    if table.kind == "rows" and len(table.names) == n_columns:
        columns = [table.names[i] for i in _nonfinite_columns(table.array, rejected)]
    if len(rejected) == n_samples > 1:
        _reject_empty_columns(table, columns)
    if missing != "drop":
        raise _nonfinite_error(table.source, with_nan, infinite, rejected, columns)
    keep = np.setdiff1d(np.arange(n_samples), rejected)
    if len(keep) == 0:
        raise _nothing_left(table.source)
    return replace(table.select_rows(keep), rows=keep, n_dropped=len(rejected))


@dataclass(frozen=True, eq=False)
class ValidatedChunks:
    """Chunks of rows with the option ``missing`` applied to each of them."""

    chunks: Iterable[Any]
    missing: str
    source: str
    names: tuple[str, ...]

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
            kept.append(start + np.setdiff1d(np.arange(len(chunk)), rejected))
            start += len(chunk)
        rows = np.concatenate([np.empty(0, dtype=np.intp), *kept])
        return rows, start - len(rows)

    def _checked(self) -> Iterator[tuple[Any, np.ndarray]]:
        """Yield each chunk with the rows to drop; raise unless they may be dropped."""
        start = 0
        for chunk in self.chunks:
            with_nan, infinite = nonfinite_rows(chunk)
            rejected = infinite if self.missing in _ACCEPTED else np.union1d(with_nan, infinite)
            if len(rejected) and self.missing != "drop":
                named = len(self.names) == chunk.shape[1]
                columns = [self.names[i] for i in _nonfinite_columns(chunk, rejected)] if named else []
                raise _nonfinite_error(
                    self.source, with_nan, infinite, start + rejected, columns, quantifier="at least "
                )
            yield chunk, rejected
            start += len(chunk)


def _handle_missing_chunks(table: Table, missing: str) -> Table:
    chunks = ValidatedChunks(table.array, missing, table.source, table.names)
    table = replace(table, array=chunks)
    if missing != "drop":
        return table
    kept, n_dropped = chunks.kept_rows()
    return replace(table.select_rows(kept), rows=kept, n_dropped=n_dropped) if n_dropped else table


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


def _nonfinite_columns(array: Any, rows: np.ndarray) -> np.ndarray:
    """Return the indices of columns that are not finite in the first 1000 of ``rows``."""
    part = array[rows[:1000]]
    part = part.toarray() if isinstance(part, sparse.csr_array) else np.asarray(part)
    return np.flatnonzero(~np.isfinite(part).all(axis=0))


def _reject_empty_columns(table: Table, columns: Sequence[str]) -> None:
    """Raise if one of the columns has no value at all."""
    names = list(table.names)
    for name in columns:
        if np.isnan(table.array[:, [names.index(name)]]).all():
            raise empty_column_error(name, table.source)


def empty_column_error(name: str, source: str) -> InputFileError:
    """Return the error for a column without any value."""
    return InputFileError(
        f"column {name!r} of {source} is empty; exclude it with exclude=[{name!r}] (--exclude {name})"
    )


def _nothing_left(source: str) -> InputFileError:
    return InputFileError(
        f"every row of {source} has a missing value; select columns, or use missing='keep' (--missing keep)"
    )


def _nonfinite_error(
    source: str,
    with_nan: np.ndarray,
    infinite: np.ndarray,
    rejected: np.ndarray,
    columns: Sequence[str],
    quantifier: str = "",
) -> InputFileError:
    """Return the error that lists the first of the ``rejected`` rows and the remedies."""
    shown = ", ".join(str(row + 1) for row in rejected[:5]) + (", ..." if len(rejected) > 5 else "")
    where = f" (column(s) {format_names(tuple(columns), 5)})" if columns else ""
    if len(infinite) == 0:
        what = "a missing value (NaN)"
    else:
        what = "an infinite value" if len(with_nan) == 0 else "missing or infinite values"
    remedy = "missing='drop' (--missing drop) drops them"
    if len(infinite) == 0:
        remedy += (
            ", missing='mean' (--missing mean) or missing='ppca' (--missing ppca) fills them in,"
            " missing='keep' (--missing keep) keeps NaN for estimators that support it"
            " (ProbabilisticPCA, FactorAnalysis, MixturePPCA)"
        )
    return InputFileError(
        f"{source} has {what} in {quantifier}{len(rejected)} row(s): row(s) {shown}, counted from 1{where};"
        f" {remedy}"
    )
