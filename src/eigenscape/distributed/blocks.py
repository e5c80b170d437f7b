"""A dask collection as blocks of rows, each checked where it lies; what is wrong is named by its partition
and row."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
from dask.core import flatten
from dask.utils import ensure_dict
from scipy import sparse


@dataclass(frozen=True)
class Form:
    """What every block of a collection must be."""

    name: str = "X"  # what the collection is called
    width: int | None = None  # columns; None for a single value a row
    missing: bool = False  # whether NaN means that a value is missing
    dense: bool = False  # whether sparse blocks are refused
    labels: bool = False  # whether values are names, of any kind that can be sorted


@dataclass(frozen=True, eq=False)
class Blocks:
    """Rows in the order of the collection, one array (n_b, n_features) a partition; how many rows a partition
    has may be unknown."""

    array: da.Array  # (n, d), or (n,); chunked by rows alone
    names: tuple[Any, ...] | None  # of the columns, for a dataframe
    form: Form
    which: slice = field(default_factory=lambda: slice(None))  # partitions of the array that are meant

    def between(self, first: int, last: int) -> Blocks:
        """The partitions from one to another, the last one excluded, for sums over them; in the same
        graph."""
        part = replace(self, which=slice(first, last))
        vars(part)["tasks"] = self.tasks
        return part

    @property
    def n_features(self) -> int:
        return self.array.shape[1]

    @property
    def dtype(self) -> np.dtype:
        """What results for these rows have: float32 for float32 rows, else float64."""
        return np.dtype(np.float32 if self.array.dtype == np.float32 else np.float64)

    @property
    def n_blocks(self) -> int:
        return len(range(self.array.numblocks[0])[self.which])

    def __len__(self) -> int:
        return self.n_blocks

    @property
    def declared(self) -> np.ndarray:
        """How many rows the collection says that each partition has (n_blocks,); NaN where it does not
        know."""
        return np.array(self.array.chunks[0][self.which], dtype=float)

    @cached_property
    def tasks(self) -> dict[Any, Any]:
        """The graph that makes the blocks, optimised. What lies with workers already is missing from such a
        graph, and added."""
        array = self.array
        tasks = dict(ensure_dict(array.__dask_optimize__(array.dask, array.__dask_keys__())))
        missing = [key for key in flatten(array.__dask_keys__()) if key not in tasks]
        if missing:
            before = ensure_dict(array.dask)
            tasks.update({key: before[key] for key in missing})
        return tasks

    @property
    def keys(self) -> list[Any]:
        """Names in the graph, one for each block of rows, not computed and not checked yet."""
        return list(flatten(self.array.__dask_keys__()))[self.which]

    @property
    def expected(self) -> list[Expected]:
        """What each block must be."""
        numbers = range(self.array.numblocks[0])[self.which]
        return [
            Expected(number, self.form, float(rows))
            for number, rows in zip(numbers, self.declared, strict=True)
        ]


class Expected(NamedTuple):
    """What a block must be; whoever uses it on a worker checks it there, for a task of its own would cost the
    scheduler more."""

    number: int  # of the partition
    form: Form
    declared: float = np.nan  # rows that the collection says it has; NaN where it does not know

    def checked(self, block: Any) -> Any:
        """The block, if it is what it must be."""
        return check_block(block, *self)


def as_blocks(X: Any, missing: bool = False, name: str = "X", dense: bool = False) -> Blocks:
    """A dask array or dataframe as blocks of rows with all their columns.

    Parameters
    ----------
    X : dask array of shape (n, d) or (n,), or dask dataframe
        Columns are joined into one chunk. Row counts may be unknown. Every column of a dataframe must hold
        numbers.
    missing : bool, default=False
        Whether NaN means a missing value; otherwise it is an error where a block is used.
    name : str, default="X"
        What errors call the collection.
    dense : bool, default=False
        Whether a sparse block is an error where it is used.

    Returns
    -------
    Blocks
    """
    if not isinstance(X, da.Array):
        array = _numbers(X)
        return Blocks(
            array, tuple(X.columns) if X.ndim == 2 else None, Form(name, _width(array), missing, dense)
        )
    if X.dtype.kind not in "fiub":
        raise ValueError(
            f"{name} is a dask array of dtype {X.dtype}, which holds no numbers; convert it with {name}.astype(float)"
        )
    if X.ndim == 2:
        if np.isnan(X.shape[1]):
            raise ValueError(
                f"{name} is a dask array with an unknown number of columns; call {name}.compute_chunk_sizes() first"
            )
        X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    return Blocks(X, None, Form(name, _width(X), missing, dense))


def label_blocks(y: Any, name: str = "y") -> Blocks:
    """The blocks of a collection of names, one for each row: numbers or text."""
    array = (
        y if isinstance(y, da.Array) else y.map_partitions(_partition_labels, meta=np.empty(0, dtype=object))
    )
    return Blocks(array, None, Form(name, labels=True))


def _width(array: da.Array) -> int | None:
    return None if array.ndim == 1 else array.shape[1]


def _partition_labels(partition: Any) -> np.ndarray:
    return partition.to_numpy(dtype=object, na_value=None)


def _numbers(X: Any) -> da.Array:
    """A dataframe, or one of its columns, as an array whose row counts are unknown."""
    types = dict(X._meta.dtypes) if X.ndim == 2 else {X.name: X._meta.dtype}
    wrong = [
        str(name)
        for name, dtype in types.items()
        if not getattr(dtype, "_is_numeric", dtype.kind in "fiub") or dtype.kind == "c"
    ]
    if wrong:
        raise ValueError(
            f"column(s) {', '.join(wrong)} of the dask dataframe hold no numbers; drop or encode them before"
        )
    kinds = [getattr(dtype, "numpy_dtype", dtype) for dtype in types.values()]
    dtype = np.result_type(*kinds) if kinds else np.dtype(np.float64)
    dtype = dtype if dtype == np.float32 else np.dtype(np.float64)
    shape = (0, len(types)) if X.ndim == 2 else (0,)
    return X.map_partitions(_partition_numbers, dtype.name, meta=np.empty(shape, dtype))


def _partition_numbers(partition: Any, dtype: str) -> np.ndarray:
    return partition.to_numpy(dtype=dtype, na_value=np.nan)


def check_block(block: Any, number: int, form: Form, declared: float = np.nan) -> Any:
    """A block as floats: those it came with where they are floats, for sums are taken in double precision
    anyway.

    A partition whose values are of another type than the collection says is taken for what it is.
    ``declared`` is the number of rows that the collection says it has, NaN where that is unknown."""
    where = f"partition {number} of {form.name}"
    block = _array(block, form, where)
    if block.ndim != (1 if form.width is None else 2) or (
        form.width is not None and block.shape[1] != form.width
    ):
        expected = "one column" if form.width is None else f"{form.width} columns"
        raise ValueError(
            f"{where} has shape {block.shape}, but the collection says {expected}; all partitions need the same columns"
        )
    if not np.isnan(declared) and block.shape[0] != declared:
        raise ValueError(
            f"{where} has {block.shape[0]} rows, but the collection says {declared:g}; make it with the row counts it has, or with unknown"
            " ones (NaN)"
        )
    if form.labels:
        return _checked_labels(block, where)
    if block.dtype.kind not in "fiub":
        raise ValueError(f"{where} holds {block.dtype}, and must hold numbers; convert it before")
    if block.dtype not in (np.float32, np.float64):
        block = block.astype(np.float64)
    wrong = _rows_not_finite(block, form.missing)
    if len(wrong):
        what = "infinity" if form.missing else "NaN or infinity"
        raise ValueError(
            f"Input {form.name} contains {what} in {len(wrong)} row(s) of {where}: row(s) {_shown(wrong)}, counted within it; drop or fill"
            " these rows"
        )
    return block


def _array(block: Any, form: Form, where: str) -> Any:
    """Dense, or CSR where sparse blocks are taken."""
    if sparse.issparse(block):
        if form.dense or form.width is None:
            raise TypeError(
                f"{where} is sparse, but dense data is required; convert it with {form.name}.map_blocks(lambda block: block.toarray())"
            )
        return block.tocsr()
    if type(block).__module__.split(".")[0] == "sparse":  # which refuses to become an array
        raise TypeError(
            f"{where} is a {type(block).__name__} of the package sparse; make it a scipy.sparse.csr_array, or dense"
        )
    return np.asarray(block)


def _checked_labels(labels: np.ndarray, where: str) -> np.ndarray:
    """Names that are there; text as text, so that partitions compare."""
    values = labels.tolist()
    absent = np.array(
        [value is None or (isinstance(value, float) and np.isnan(value)) for value in values], dtype=bool
    )
    if absent.any():
        raise ValueError(
            f"{where} has no label in row(s) {_shown(np.flatnonzero(absent))}, counted within it; drop or name these rows"
        )
    return labels if labels.dtype.kind in "fiub" else labels.astype(str)


def _shown(rows: np.ndarray) -> str:
    return ", ".join(map(str, rows[:5])) + (", ..." if len(rows) > 5 else "")


def _rows_not_finite(block: Any, missing: bool) -> np.ndarray:
    values = block.data if sparse.issparse(block) else block
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum()):  # no second look at good rows
            return np.array([], dtype=int)
    bad = np.isinf(values) if missing else ~np.isfinite(values)
    if sparse.issparse(block):
        return np.unique(np.searchsorted(block.indptr, np.flatnonzero(bad), side="right") - 1)
    return np.flatnonzero(bad.reshape(len(block), -1).any(axis=1))
