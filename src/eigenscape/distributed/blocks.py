"""A dask collection as blocks of rows, each checked where it lies; what is wrong is named by its partition and row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import Delayed, delayed
from scipy import sparse


@dataclass(frozen=True, eq=False)
class Blocks:
    """Rows in the order of the collection, one array (n_b, n_features) a partition; how many rows a partition has may be unknown."""

    array: da.Array  # (n, d), or (n,); chunked by rows alone
    names: tuple[Any, ...] | None  # of the columns, for a dataframe
    missing: bool = False  # whether NaN means that a value is missing

    @property
    def n_features(self) -> int:
        return self.array.shape[1]

    @property
    def dtype(self) -> np.dtype:
        """What results for these rows have: float32 for float32 rows, else float64."""
        return np.dtype(np.float32 if self.array.dtype == np.float32 else np.float64)

    @property
    def n_blocks(self) -> int:
        return self.array.numblocks[0]

    def __len__(self) -> int:
        return self.n_blocks

    @property
    def parts(self) -> list[Delayed]:
        """One checked block of rows each, not computed yet."""
        width = None if self.array.ndim == 1 else self.n_features
        checked = delayed(check_block, pure=False)
        return [checked(part, number, width, self.missing) for number, part in enumerate(self.array.to_delayed().ravel())]


def as_blocks(X: Any, missing: bool = False) -> Blocks:
    """A dask array or dataframe as blocks of rows with all their columns.

    Parameters
    ----------
    X : dask array of shape (n, d) or (n,), or dask dataframe
        Columns are joined into one chunk. Row counts may be unknown. Every column of a dataframe must hold numbers.
    missing : bool, default=False
        Whether NaN means a missing value; otherwise it is an error where a block is used.

    Returns
    -------
    Blocks
    """
    if not isinstance(X, da.Array):
        return Blocks(_numbers(X), tuple(X.columns) if X.ndim == 2 else None, missing)
    if X.dtype.kind not in "fiub":
        raise ValueError(f"X is a dask array of dtype {X.dtype}, which holds no numbers; convert it with X.astype(float)")
    if X.ndim == 2:
        if np.isnan(X.shape[1]):
            raise ValueError("X is a dask array with an unknown number of columns; call X.compute_chunk_sizes() first")
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    return Blocks(X, None, missing)


def _numbers(X: Any) -> da.Array:
    """A dataframe, or one of its columns, as an array whose row counts are unknown."""
    types = dict(X._meta.dtypes) if X.ndim == 2 else {X.name: X._meta.dtype}
    wrong = [str(name) for name, dtype in types.items() if not getattr(dtype, "_is_numeric", dtype.kind in "fiub") or dtype.kind == "c"]
    if wrong:
        raise ValueError(f"column(s) {', '.join(wrong)} of the dask dataframe hold no numbers; drop or encode them before")
    kinds = [getattr(dtype, "numpy_dtype", dtype) for dtype in types.values()]
    dtype = np.result_type(*kinds) if kinds else np.dtype(np.float64)
    dtype = dtype if dtype == np.float32 else np.dtype(np.float64)
    shape = (0, len(types)) if X.ndim == 2 else (0,)
    return X.map_partitions(_partition_numbers, dtype.name, meta=np.empty(shape, dtype))


def _partition_numbers(partition: Any, dtype: str) -> np.ndarray:
    return partition.to_numpy(dtype=dtype, na_value=np.nan)


def check_block(block: Any, number: int, width: int | None, missing: bool) -> Any:
    """A block as floats: those it came with where they are floats, for sums are taken in double precision anyway.

    A partition whose values are of another type than the collection says is taken for what it is.
    """
    where = f"partition {number} of X"
    block = block if sparse.issparse(block) else np.asarray(block)
    if block.ndim != (1 if width is None else 2) or (width is not None and block.shape[1] != width):
        expected = "one column" if width is None else f"{width} columns"
        raise ValueError(f"{where} has shape {block.shape}, but the collection says {expected}; all partitions need the same columns")
    if block.dtype.kind not in "fiub":
        raise ValueError(f"{where} holds {block.dtype}, and must hold numbers; convert it before")
    if block.dtype not in (np.float32, np.float64):
        block = block.astype(np.float64)
    wrong = _rows_not_finite(block, missing)
    if len(wrong):
        shown = ", ".join(map(str, wrong[:5])) + (", ..." if len(wrong) > 5 else "")
        what = "infinity" if missing else "NaN or infinity"
        raise ValueError(
            f"Input X contains {what} in {len(wrong)} row(s) of {where}: row(s) {shown}, counted within it; drop or fill these rows"
        )
    return block


def _rows_not_finite(block: Any, missing: bool) -> np.ndarray:
    values = block.data if sparse.issparse(block) else block
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):  # no second look at good rows
            return np.array([], dtype=int)
    bad = np.isinf(values) if missing else ~np.isfinite(values)
    if sparse.issparse(block):
        return np.unique(np.searchsorted(block.indptr, np.flatnonzero(bad), side="right") - 1)
    return np.flatnonzero(bad.reshape(len(block), -1).any(axis=1))
