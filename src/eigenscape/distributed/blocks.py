"""A dask collection as blocks of rows, validated on the workers; errors name the partition and the row."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask.core import flatten
from dask.utils import ensure_dict

from eigenscape._numbers import check_numbers, is_ordinary
from eigenscape._typing import is_sparse

#: Key of a task in a dask graph: a string or a tuple.
Key = Any


@dataclass(frozen=True)
class BlockSpec:
    """Requirements that every block of a collection must satisfy."""

    name: str = "X"  # name of the collection in error messages
    n_columns: int | None = None  # None for one value per row
    allow_nan: bool = False  # whether NaN marks a missing value
    dense_only: bool = False  # whether sparse blocks are an error
    labels: bool = False  # whether values are class labels of any sortable type


@dataclass(frozen=True, eq=False)
class Blocks:
    """Rows in the order of the collection, one array (n_b, n_features) per partition.

    The number of rows of a partition may be unknown.
    """

    array: da.Array  # (n, d), or (n,); chunked along the rows only
    names: tuple[Any, ...] | None  # column names of a dataframe
    spec: BlockSpec
    partitions: slice = field(default_factory=lambda: slice(None))  # the partitions of the array included

    def partition_range(self, start: int, stop: int) -> Blocks:
        """Return the partitions ``start`` to ``stop`` (exclusive), for reductions; the graph is shared."""
        part = replace(self, partitions=slice(start, stop))
        vars(part)["tasks"] = self.tasks
        return part

    @property
    def n_features(self) -> int:
        return self.array.shape[1]

    @property
    def dtype(self) -> np.dtype:
        """The dtype of results for these rows: float32 for float32 rows, otherwise float64."""
        return np.dtype(np.float32 if self.array.dtype == np.float32 else np.float64)

    @property
    def n_blocks(self) -> int:
        return len(range(self.array.numblocks[0])[self.partitions])

    def __len__(self) -> int:
        return self.n_blocks

    @property
    def declared_lengths(self) -> np.ndarray:
        """Number of rows of each partition as declared by the collection (n_blocks,); NaN if unknown."""
        return np.array(self.array.chunks[0][self.partitions], dtype=float)

    @cached_property
    def tasks(self) -> dict[Key, Any]:
        """The optimised graph of the blocks. Optimisation drops persisted blocks, which are added again."""
        array = self.array
        tasks = dict(ensure_dict(array.__dask_optimize__(array.dask, array.__dask_keys__())))
        missing = [key for key in flatten(array.__dask_keys__()) if key not in tasks]
        if missing:
            original = ensure_dict(array.dask)
            tasks.update({key: original[key] for key in missing})
        return tasks

    @property
    def keys(self) -> list[Key]:
        """Keys of the blocks in the graph, neither computed nor validated."""
        return list(flatten(self.array.__dask_keys__()))[self.partitions]

    @property
    def expected(self) -> list[ExpectedBlock]:
        """The requirements of each block."""
        numbers = range(self.array.numblocks[0])[self.partitions]
        return [
            ExpectedBlock(number, self.spec, float(n_rows))
            for number, n_rows in zip(numbers, self.declared_lengths, strict=True)
        ]


class ExpectedBlock(NamedTuple):
    """Requirements of one block.

    The task that uses the block validates it; a separate task per block would double the scheduler's work.
    """

    partition: int
    spec: BlockSpec
    n_rows: float = np.nan  # number of rows declared by the collection; NaN if unknown

    def check(self, block: Any) -> Any:
        """Return the validated block."""
        return check_block(block, *self)


def as_blocks(X: Any, missing: bool = False, name: str = "X", dense: bool = False) -> Blocks:
    """Convert a dask array or dataframe to blocks of rows with all their columns.

    Parameters
    ----------
    X : dask array of shape (n, d) or (n,), or dask dataframe
        Columns are merged into one chunk. Row counts may be unknown. Every column of a dataframe must be
        numeric.
    missing : bool, default=False
        Whether NaN marks a missing value; otherwise it is an error when the block is used.
    name : str, default="X"
        Name of the collection in error messages.
    dense : bool, default=False
        Whether a sparse block is an error when it is used.

    Returns
    -------
    Blocks
    """
    if not isinstance(X, da.Array):
        array = _numeric_array(X)
        names = tuple(X.columns) if X.ndim == 2 else None
        return Blocks(array, names, BlockSpec(name, _n_columns(array), missing, dense))
    if X.dtype.kind not in "fiub":
        raise ValueError(
            f"{name} is a dask array of dtype {X.dtype}, which is not numeric; convert it with"
            f" {name}.astype(float)"
        )
    if X.ndim == 2:
        if np.isnan(X.shape[1]):
            raise ValueError(
                f"{name} is a dask array with an unknown number of columns; call {name}.compute_chunk_sizes()"
                " first"
            )
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    return Blocks(X, None, BlockSpec(name, _n_columns(X), missing, dense))


def label_blocks(y: Any) -> Blocks:
    """Convert a collection of class labels, numbers or strings, to blocks."""
    array = y
    if not isinstance(y, da.Array):
        array = y.map_partitions(_partition_labels, meta=np.empty(0, dtype=object))
    return Blocks(array, None, BlockSpec("y", labels=True))


def _n_columns(array: da.Array) -> int | None:
    return None if array.ndim == 1 else array.shape[1]


def _partition_labels(partition: Any) -> np.ndarray:
    return partition.to_numpy(dtype=object, na_value=None)


def _numeric_array(X: Any) -> da.Array:
    """Convert a dataframe, or one of its columns, to an array with unknown row counts."""
    dtypes = dict(X._meta.dtypes) if X.ndim == 2 else {X.name: X._meta.dtype}
    wrong = [
        str(name)
        for name, dtype in dtypes.items()
        if not getattr(dtype, "_is_numeric", dtype.kind in "fiub") or dtype.kind == "c"
    ]
    if wrong:
        raise ValueError(
            f"column(s) {', '.join(wrong)} of the dask dataframe are not numeric; drop or encode them first"
        )
    numpy_dtypes = [getattr(dtype, "numpy_dtype", dtype) for dtype in dtypes.values()]
    dtype = np.result_type(*numpy_dtypes) if numpy_dtypes else np.dtype(np.float64)
    dtype = dtype if dtype == np.float32 else np.dtype(np.float64)
    shape = (0, len(dtypes)) if X.ndim == 2 else (0,)
    return X.map_partitions(_partition_numbers, dtype.name, meta=np.empty(shape, dtype))


def _partition_numbers(partition: Any, dtype: str) -> np.ndarray:
    return partition.to_numpy(dtype=dtype, na_value=np.nan)


def check_block(block: Any, partition: int, spec: BlockSpec, n_rows: float = np.nan) -> Any:
    """Validate a block and return it as a float array, float32 or float64 as it is stored.

    The dtype of the block is used, even if the collection declares another one. ``n_rows`` is the number of
    rows declared by the collection, NaN if unknown.
    """
    where = f"partition {partition} of {spec.name}"
    block = _as_array(block, spec, where)
    wrong_width = spec.n_columns is not None and block.ndim == 2 and block.shape[1] != spec.n_columns
    if block.ndim != (1 if spec.n_columns is None else 2) or wrong_width:
        expected = "one column" if spec.n_columns is None else f"{spec.n_columns} columns"
        raise ValueError(
            f"{where} has shape {block.shape}, but the collection declares {expected}; all partitions must"
            " have the same columns"
        )
    if not np.isnan(n_rows) and block.shape[0] != n_rows:
        raise ValueError(
            f"{where} has {block.shape[0]} rows, but the collection declares {n_rows:g}; create it with the"
            " correct row counts, or with unknown ones (NaN)"
        )
    if spec.labels:
        return _check_labels(block, where)
    if block.dtype.kind not in "fiub":
        raise ValueError(f"{where} has dtype {block.dtype}, which is not numeric; convert it first")
    if block.dtype not in (np.float32, np.float64):
        block = block.astype(np.float64)
    if is_ordinary(block.data if is_sparse(block) else block):  # the common case, in one pass
        return block
    wrong = _non_finite_rows(block, spec.allow_nan)
    if len(wrong):
        what = "infinity" if spec.allow_nan else "NaN or infinity"
        raise ValueError(
            f"Input {spec.name} contains {what} in {len(wrong)} row(s) of {where}: row(s)"
            f" {_first_few(wrong)}, counted from the start of the partition; drop or impute these rows"
        )
    check_numbers(block, where, missing=spec.allow_nan)
    return block


def _as_array(block: Any, spec: BlockSpec, where: str) -> Any:
    """Return a dense array, or a CSR array if sparse blocks are allowed."""
    if is_sparse(block):
        if spec.dense_only or spec.n_columns is None:
            raise TypeError(
                f"{where} is sparse, but dense data is required; convert it with"
                f" {spec.name}.map_blocks(lambda block: block.toarray())"
            )
        return block.tocsr()
    if type(block).__module__.split(".")[0] == "sparse":  # np.asarray fails for these
        raise TypeError(
            f"{where} is a {type(block).__name__} of the package sparse; convert it to a"
            " scipy.sparse.csr_array or a dense array"
        )
    return np.asarray(block)


def _check_labels(labels: np.ndarray, where: str) -> np.ndarray:
    """Return labels without missing values; text as strings, so that partitions are comparable."""
    missing = np.array(
        [value is None or (isinstance(value, float) and np.isnan(value)) for value in labels.tolist()],
        dtype=bool,
    )
    if missing.any():
        raise ValueError(
            f"{where} has no label in row(s) {_first_few(np.flatnonzero(missing))}, counted from the start of"
            " the partition; drop or label these rows"
        )
    return labels if labels.dtype.kind in "fiub" else labels.astype(str)


def _first_few(rows: np.ndarray) -> str:
    return ", ".join(map(str, rows[:5])) + (", ..." if len(rows) > 5 else "")


def _non_finite_rows(block: Any, allow_nan: bool) -> np.ndarray:
    """Return the indices of rows with infinite values, or NaN unless ``allow_nan``."""
    values = block.data if is_sparse(block) else block
    bad = np.isinf(values) if allow_nan else ~np.isfinite(values)
    if is_sparse(block):
        return np.unique(np.searchsorted(block.indptr, np.flatnonzero(bad), side="right") - 1)
    return np.flatnonzero(bad.reshape(len(block), -1).any(axis=1))
