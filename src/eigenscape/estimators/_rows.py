"""The one door for rows: arrays, sparse matrices, tables, AnnData objects, precomputed matrices, objects.

Rows that have passed it are floating-point numbers, finite and within range, and their number of features and
its names agree with the estimator.
"""

from __future__ import annotations

import numbers
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_array, validate_data

from eigenscape._extras import optional_import
from eigenscape._numbers import (
    LARGEST,
    SMALLEST,
    check_numbers,
    check_precomputed,
    checked_sparse,
    match_dtype,
    with_small_indices,
    without_mask,
)
from eigenscape._typing import is_sparse
from eigenscape.distributed import check_in_memory, is_collection
from eigenscape.exceptions import DataRangeError
from eigenscape.graph.row_index import canonical_csr, row_hashes
from eigenscape.kernels.base import n_points

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

#: Words in the errors of NumPy for objects that are not numbers.
_CONVERSION = (
    "could not convert",
    "too large to convert",
    "Cannot cast",
    "setting an array element",
    "argument must be",
)


def check_input(
    estimator: BaseEstimator, X: Any, reset: bool, chunk: bool = False, first_row: int = 0
) -> Any:
    """Validate input data.

    Parameters
    ----------
    estimator : Estimator
        Its class attributes describe the input that it accepts.
    X : array-like, sparse matrix, table, AnnData or list of objects
    reset : bool
        Whether the estimator is being fitted.
    chunk : bool
        Whether ``X`` is a chunk of a stream, which is used at once: it is not copied, and may be one row.
    first_row : int
        Number of rows before the chunk; errors count rows from the start of the stream.

    Returns
    -------
    ndarray or csr_array
        Floating-point numbers; an array of objects if the estimator has a function of two objects.
    """
    name, precomputed, fit = type(estimator).__name__, estimator._is_precomputed(), reset and not chunk
    if isinstance(X, np.ndarray) and not X.flags.aligned:  # such as a part of a message of dask
        X = X.copy()
    if not reset and not precomputed and _is_checked(estimator, X):
        check_numbers(X, missing=estimator._missing, first_row=first_row)
        return X
    named = X
    if not isinstance(X, np.ndarray) and not sparse.issparse(X):
        X, named = _open_rows(estimator, X, reset)
    if getattr(X, "ndim", 1) == 1 and is_objects(X):
        return _check_objects(estimator, X, 2 if reset else 0)
    if sparse.issparse(X):
        if precomputed and not estimator._sparse_tables:
            raise TypeError(
                f"{name} needs all distances, but a sparse matrix omits some; pass a dense matrix, or use"
                " Isomap on the graph"
            )
        if estimator._sparse is None:
            raise TypeError(f"{name} does not accept sparse input: {estimator._no_sparse}")
    X = validate_rows(
        estimator,
        X,
        reset=reset,
        chunk=chunk,
        first_row=first_row,
        named=named,
        accept_sparse=estimator._sparse or False,
        accept_large_sparse=True,
        ensure_min_samples=2 if fit else 1,
        # A fitted model stores its training points, which must not change with the user's array.
        copy=fit and not precomputed,
    )
    if is_sparse(X):
        X = with_small_indices(canonical_csr(X))
    if precomputed:
        narrow = estimator._narrow_tables and X.shape[1] < X.shape[0]
        check_precomputed(estimator._precomputed_kind(), X, square=fit and not narrow)
    elif fit:
        equal = _equal_rows(X) if is_sparse(X) else (X[0] == X[-1]).all() and (X[0] == X).all()
        if equal:
            raise ValueError(f"all {X.shape[0]} rows are equal; there is nothing to embed")
    return X


def _is_checked(estimator: BaseEstimator, X: Any) -> bool:
    """Return whether scikit-learn's checks, slower than placing one row, would return ``X`` itself."""
    return (
        type(X) is np.ndarray
        and X.dtype in (np.float64, np.float32)
        and X.ndim == 2
        and len(X) > 0
        and X.shape[1] == getattr(estimator, "n_features_in_", None)
        and not hasattr(estimator, "feature_names_in_")
    )


def validate_rows(
    estimator: BaseEstimator,
    X: Any,
    *,
    reset: bool,
    chunk: bool = False,
    first_row: int = 0,
    named: Any = None,
    **options: Any,
) -> Any:
    """Return ``X`` as floating-point numbers, finite and within range.

    Parameters
    ----------
    estimator : Estimator
        Its attribute ``_missing`` states whether NaN is accepted as a missing value.
    X : array-like, sparse matrix, table or AnnData
    reset : bool
        Whether the number and names of the features are set, not compared.
    chunk, first_row : bool, int
        As for :func:`check_input`.
    named : object, optional
        What has the number and names of the features, if ``X`` does not.
    **options
        Options of ``sklearn.utils.validation.check_array``.
    """
    missing = bool(getattr(estimator, "_missing", False))
    if named is None:
        X, named = _open_rows(estimator, X, reset)
    if sparse.issparse(X):
        if (n_dimensions := getattr(X, "ndim", 2)) != 2:
            raise ValueError(f"X is a sparse array of {n_dimensions} dimensions; pass rows of features")
        checked_sparse(X)
    elif isinstance(X, np.ma.MaskedArray):
        X = without_mask(X, missing)
    options = {"dtype": [np.float64, np.float32], "ensure_all_finite": False, **options}
    try:
        rows = check_array(X, estimator=estimator, input_name="X", **options)
    except (TypeError, ValueError, OverflowError) as error:
        if not any(words in str(error) for words in _CONVERSION):
            raise
        text = ", ".join(map(repr, _text_columns(X)[:5]))
        remedy = f"encode or drop {text}" if text else "pass rows of numbers of equal length"
        kind = ValueError if isinstance(error, OverflowError) else type(error)
        raise kind(f"X cannot be converted to numbers ({error}); {remedy}") from error
    names = getattr(named, "columns", None)
    check_numbers(rows, missing=missing, training=reset and not chunk, first_row=first_row, names=names)
    validate_data(estimator, named, reset=reset, skip_check_array=True)  # number and names of the features
    return rows


def _open_rows(estimator: BaseEstimator, X: Any, reset: bool) -> tuple[Any, Any]:
    """Return rows in a form that scikit-learn converts, and what has the names of their features.

    scikit-learn takes pandas, polars and pyarrow tables as they are. Converted here are AnnData objects (by
    their ``X``, with the genes of training if not ``reset``), lazy frames of polars, frames of narwhals, and
    objects with the arrow stream interface (``__arrow_c_stream__``), such as the results of DuckDB.
    """
    check_in_memory(estimator, X)
    anndata = sys.modules.get("anndata")
    if anndata is not None and isinstance(X, anndata.AnnData):
        return _open_annotated(estimator, X, reset)
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):  # a lazy frame of polars or narwhals
        X = X.collect()
    if hasattr(X, "to_native"):  # of narwhals
        X = X.to_native()
    if hasattr(X, "__arrow_c_stream__") and (
        not hasattr(X, "__array__") or type(X).__name__ == "RecordBatch"
    ):
        X = optional_import("pyarrow", f"converting a {type(X).__name__} to numbers").table(X)
    if repeated := _repeated_columns(X):
        columns = ", ".join(map(repr, repeated[:5]))
        raise ValueError(f"X has several columns named {columns}; rename or drop all but one")
    if dates := _date_columns(X):
        columns = ", ".join(map(repr, dates[:5]))
        raise ValueError(f"X has dates or times, which are not numbers; convert or drop {columns}")
    return X, X


def check_matrix(
    X: Any, name: str, *, missing: bool = False, training: bool = False, **options: Any
) -> np.ndarray:
    """Return a further argument, such as ``y`` or ``centers``, as numbers, finite and within range."""
    values = check_array(
        without_mask(X, missing, name),
        input_name=name,
        ensure_all_finite=False,
        **{"dtype": np.float64, **options},
    )
    check_numbers(values, name, missing=missing, training=training, names=getattr(X, "columns", None))
    return values


def check_features(values: Any, name: str, n_features: int) -> None:
    """Raise ValueError unless a further argument has the features of ``X``."""
    if values.shape[1] != n_features:
        raise ValueError(
            f"{name} has {values.shape[1]} features, but X has {n_features}; pass the features of X"
        )


def given_coordinates(estimator: Any, X: Any) -> np.ndarray:
    """Return the argument of ``inverse_transform``."""
    Y = check_array(X, dtype=[np.float64, np.float32], input_name="X")
    if Y.shape[1] != estimator._n_features_out:
        raise ValueError(
            f"X has {Y.shape[1]} coordinates, but {type(estimator).__name__} has {estimator._n_features_out}"
            " components; pass coordinates"
        )
    return Y


def _check_objects(estimator: BaseEstimator, X: Any, min_samples: int) -> np.ndarray:
    """Return a list of objects as an array of objects."""
    name = type(estimator).__name__
    if not callable(estimator._pairwise()):
        raise ValueError(
            f"{name} cannot convert {type(next(iter(X))).__name__} to numbers; pass rows of numbers, or, if"
            " the method supports it, a function of two objects"
        )
    if not estimator._objects:
        raise TypeError(
            f"{name} does not support neighbour search in lists of objects; compute their distances and set"
            f" {estimator._pairwise_parameter}='precomputed'"
        )
    objects: np.ndarray = np.empty(len(X), dtype=np.object_)
    objects[:] = list(X)
    if len(objects) < min_samples:
        raise ValueError(f"{name} needs at least 2 samples, got n_samples={len(objects)}")
    return objects


def is_objects(X: Any) -> bool:
    """Return whether ``X`` is a sequence of objects other than rows of numbers."""
    if hasattr(X, "ndim"):
        return X.ndim == 1 and getattr(X.dtype, "kind", "O") in "OUSTM"
    if not isinstance(X, Sequence) or isinstance(X, str) or len(X) == 0:
        return False
    if all(isinstance(x, (tuple, list)) for x in X):
        return len({len(x) for x in X}) > 1
    return isinstance(X[0], (str, bytes, dict, set, frozenset)) or (
        hasattr(X[0], "__dict__") and not hasattr(X[0], "__array__")
    )


def _open_annotated(estimator: BaseEstimator, X: Any, reset: bool) -> tuple[Any, Any]:
    """Return the matrix of an AnnData object, and an empty table with the names of its genes as columns.

    Genes of new cells are brought into the order of training (unless ``reset``); genes that were not there
    are left out.
    """
    pandas = optional_import("pandas", "AnnData objects")  # a dependency of anndata
    values, names = checked_sparse(_matrix(estimator, X), "X"), X.var_names
    trained = None if reset else getattr(estimator, "feature_names_in_", None)
    if trained is None:
        check_unique(X)
    else:
        order, names = gene_positions(X, trained, reference=type(estimator).__name__), trained
        if len(order) != X.n_vars or (order != np.arange(X.n_vars)).any():
            values = (sparse.csr_array(values) if is_sparse(values) else values)[:, order]
    return values, pandas.DataFrame(columns=[str(name) for name in names], dtype=np.float64)


def _matrix(estimator: BaseEstimator, X: Any) -> Any:
    """Return ``X.X``, read from its file if necessary."""
    values = X.X
    if is_collection(values):
        raise TypeError(
            "the X of the AnnData object is a dask array; pass adata.X itself, or adata.to_memory() if it"
            " fits in memory"
        )
    if values is None or getattr(values, "dtype", np.dtype(object)).kind not in "biuf":
        known = ", ".join(f"adata.obsm[{key!r}]" for key in X.obsm) or "adata.obsm[...]"
        found = "None" if values is None else f"of the dtype {getattr(values, 'dtype', '?')}"
        raise ValueError(
            f"{type(estimator).__name__} uses the X of an AnnData object, which is {found}; pass an array of"
            f" numbers instead, such as {known} or adata.layers[...]"
        )
    if isinstance(values, np.ndarray) or sparse.issparse(values):
        return values
    return values.to_memory() if hasattr(values, "to_memory") else np.asarray(values[...])


def gene_positions(X: Any, names: Any, what: str = "X", reference: str = "the model") -> np.ndarray:
    """Return the positions of genes among the ``var_names`` of an AnnData object, or raise ValueError."""
    check_unique(X, what)
    if len(set(names)) < len(names):
        raise ValueError(f"{reference}.var_names are not unique; call var_names_make_unique()")
    positions = X.var_names.get_indexer(names)
    missing = np.flatnonzero(positions < 0)
    if len(missing):
        few = ", ".join(repr(str(names[i])) for i in missing[:5]) + (", ..." if len(missing) > 5 else "")
        raise ValueError(
            f"{what} lacks {len(missing)} of the {len(names)} genes of {reference} in its var_names: {few};"
            " use the same genes for both"
        )
    return positions


def check_unique(X: Any, what: str = "X") -> None:
    """Raise ValueError if names of genes are not unique."""
    if not X.var_names.is_unique:
        repeated = X.var_names[X.var_names.duplicated()]
        raise ValueError(
            f"{what}.var_names are not unique ({len(repeated)} repeated, such as {str(repeated[0])!r}); call"
            " var_names_make_unique()"
        )


def _repeated_columns(X: Any) -> list[str]:
    """Return the names that several columns of a table have."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    if names is None or callable(names) or len(names) == len(set(names)):
        return []
    return [str(name) for name, count in Counter(names).items() if count > 1]


def _date_columns(X: Any) -> list[str]:
    """Return the names of columns of dates, times and durations, which NumPy may convert to numbers."""
    types = getattr(getattr(X, "schema", None), "types", None)  # of pyarrow
    names = getattr(X, "column_names", getattr(X, "columns", None))
    if types is None:
        types = getattr(X, "dtypes", None)  # of pandas and polars
    if types is None or names is None or len(types) != len(names):
        return []
    return [
        str(name)
        for name, kind in zip(names, types, strict=True)
        if str(kind).lower().startswith(("date", "time", "duration"))
    ]


def _text_columns(X: Any) -> list[str]:
    """Return the names of columns of a table that are not numbers, to be named in errors; [] if unknown."""
    names = getattr(X, "column_names", getattr(X, "columns", None))
    if names is None or not hasattr(X, "__getitem__"):
        return []
    found = []
    for name in names:
        try:
            np.asarray(X[name], dtype=np.float64)
        except (TypeError, ValueError):
            found.append(str(name))
    return found


def check_pairs(estimator: BaseEstimator, X: Any, between: Any) -> tuple[Any, Any]:
    """Return validated held-out points, and what is precomputed among them; None for what is not given."""
    precomputed = estimator._is_precomputed()
    if X is None or not precomputed:
        if between is not None:
            needed = "held-out points X" if precomputed else "precomputed input"
            raise ValueError(f"between needs {needed}; leave it out")
        return None if X is None else check_input(estimator, X, reset=False), None
    X = check_input(estimator, X, reset=False)
    if between is None:
        return X, None  # the kernel raises an error
    between = checked_sparse(between, "between")
    between = check_array(between, accept_sparse="csr", dtype=[np.float64, np.float32], input_name="between")
    if between.shape != (X.shape[0], X.shape[0]):
        raise ValueError(
            f"between must have one row and one column for each of the {X.shape[0]} rows of X, got shape"
            f" {between.shape}"
        )
    check_precomputed(estimator._precomputed_kind(), between, square=False)
    return X, canonical_csr(between) if is_sparse(between) else between


def _equal_rows(X: sparse.csr_array) -> bool:
    first = row_hashes(X[:1])
    return bool((row_hashes(X[-1:]) == first).all() and (row_hashes(X) == first).all())


def check_weights(sample_weight: ArrayLike | None, X: Any, min_sum: float = 1) -> np.ndarray | None:
    """Return validated sample weights, whose sum must exceed ``min_sum``, or None."""
    if sample_weight is None:
        return None
    if isinstance(sample_weight, numbers.Real):
        sample_weight = np.full(n_points(X), float(sample_weight))
    sample_weight = without_mask(sample_weight, missing=False, name="sample_weight")
    weights = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, copy=True, input_name="sample_weight"
    )
    if weights.shape != (n_points(X),):
        raise ValueError(
            f"Sample weights must be 1D array or scalar: sample_weight.shape == {weights.shape}, expected"
            f" ({n_points(X)},)!"
        )
    if (weights < 0).any():
        raise ValueError(f"Negative values in data passed to `sample_weight`: got {weights.min():g}")
    if not weights.any():
        raise ValueError("sample weights must contain at least one non-zero number, got only zeros")
    if not SMALLEST <= weights.max() <= LARGEST:
        raise DataRangeError(
            f"the largest value of sample_weight is {weights.max():g}, not between {SMALLEST:.2g} and"
            f" {LARGEST:.2g}, where squares neither vanish nor overflow; multiply the weights by a constant"
        )
    if not weights.sum() > min_sum:
        raise ValueError(
            f"sum of sample_weight must exceed {min_sum:g}, got {weights.sum():g}; a weight of 2 is"
            " equivalent to repeating the sample, so scale the weights up"
        )
    return weights


def take_rows(X: Any, which: np.ndarray) -> Any:
    """Return some rows of data that have not been validated, in the same form."""
    if isinstance(X, list):
        return [X[i] for i in which]
    if hasattr(X, "iloc"):
        return X.iloc[which]
    if hasattr(X, "obsm"):  # AnnData
        return X[which]
    return X.tocsr()[which] if is_sparse(X) else np.asarray(X)[which]


def valid_rows(X: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows with a positive weight and their weights, which are 1 for None."""
    if weights is None:
        return X, np.ones(len(X))
    positive = weights > 0
    return X[positive], weights[positive]


def check_coordinates(X: Any, values: np.ndarray) -> np.ndarray:
    """Return the coordinates of ``X`` in its precision; an error names the first row that overflows."""
    values = match_dtype(X, values)
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values).reshape(len(values), -1).all(axis=1))[0])
        raise DataRangeError(
            f"the coordinates of row {row} of X exceed the range of {values.dtype} numbers; the row is too"
            " far from the training data, or the data must be divided by a constant"
        )
    return values


class CheckedChunks:
    """The chunks of a stream, validated one by one; empty chunks are skipped.

    ``first`` is True if the number and names of the features are taken from the first chunk.
    """

    def __init__(self, estimator: BaseEstimator, chunks: Iterable[Any], first: bool = False) -> None:
        self.estimator, self.chunks, self.first = estimator, chunks, first

    def __iter__(self) -> Iterator[Any]:
        n_seen, reset = 0, self.first
        for chunk in self.chunks:
            if getattr(chunk, "shape", (1,))[0] == 0:
                continue
            chunk = check_input(self.estimator, chunk, reset, chunk=True, first_row=n_seen)
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
        return (chunk for chunk in self.chunks or () if getattr(chunk, "shape", (1,))[0] != 0)

    def __getstate__(self) -> dict[str, Any]:
        return {"chunks": None}
