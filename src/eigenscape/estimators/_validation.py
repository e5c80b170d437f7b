"""Bad input gets a clear error here, before any long work."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _check_sample_weight, validate_data

from eigenscape.estimators._collections import check_in_memory
from eigenscape.graph.row_index import canonical_csr, row_hashes

#: Relative asymmetry that rounding explains.
_ROUNDING = 1e-8


def check_input(estimator: Any, X: Any, reset: bool, chunk: bool = False) -> Any:
    """Numbers as a float array or CSR matrix; objects as they are where a function of two objects was given.

    A ``chunk`` is used up at once: it is not copied, and may be a single row.
    """
    check_in_memory(estimator, X)
    chosen = (
        getattr(estimator, estimator._pairwise_parameter, None) if estimator._pairwise_parameter else None
    )
    if callable(chosen) and is_objects(X):
        if not estimator._objects:
            raise TypeError(
                f"{type(estimator).__name__} does not search lists of objects for neighbours; compute their distances and set"
                f" {estimator._pairwise_parameter}='precomputed'"
            )
        objects = np.empty(len(X), dtype=object)
        objects[:] = list(X)
        if reset and len(objects) < 2:
            raise ValueError(
                f"{type(estimator).__name__} needs at least 2 samples, got n_samples={len(objects)}"
            )
        return objects
    if sparse.issparse(X) and estimator._is_precomputed() and not estimator._sparse_tables:
        raise TypeError(
            f"{type(estimator).__name__} needs all distances, and a sparse matrix leaves some out; pass them dense, or use Isomap on"
            " the graph"
        )
    if estimator._sparse is None and sparse.issparse(X):
        raise TypeError(f"{type(estimator).__name__} does not accept sparse input: {estimator._no_sparse}")
    if is_objects(X):
        raise ValueError(
            f"{type(estimator).__name__} cannot convert {type(next(iter(X))).__name__} to numbers; pass rows of numbers, or"
            " where the method takes one a function of two objects"
        )
    X = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse=estimator._sparse or False,
        accept_large_sparse=True,
        dtype=[np.float64, np.float32],
        ensure_all_finite="allow-nan" if estimator._missing else True,
        ensure_min_samples=2 if reset and not chunk else 1,
        copy=reset
        and not chunk
        and not estimator._is_precomputed(),  # a fitted model keeps its points, whatever becomes of the user's array
    )
    if sparse.issparse(X):
        X = _small_indices(canonical_csr(X))
    if estimator._is_precomputed():
        narrow = estimator._narrow_tables and X.shape[1] < X.shape[0]
        check_precomputed(estimator._precomputed_kind(), X, square=reset and not narrow)
    elif reset and not chunk and _all_equal(X):
        raise ValueError(f"all {X.shape[0]} rows are equal; there is nothing to embed")
    return X


def like(X: Any, values: np.ndarray) -> np.ndarray:
    """float32 out where float32 came in; the work in between is done in double precision."""
    return values.astype(np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64, copy=False)


def double(X: Any) -> Any:
    """Rows in double precision, dense ones as compiled code wants them."""
    return X.astype(np.float64) if sparse.issparse(X) else np.ascontiguousarray(X, dtype=np.float64)


def _small_indices(X: sparse.csr_array) -> sparse.csr_array:
    """32-bit indices where they suffice: some metrics know no others."""
    if (X.indices.dtype == np.int32 and X.indptr.dtype == np.int32) or max(*X.shape, X.nnz) >= 2**31:
        return X
    return sparse.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def _all_equal(X: Any) -> bool:
    if sparse.issparse(X):
        first = row_hashes(X[:1])
        return bool((row_hashes(X[-1:]) == first).all() and (row_hashes(X) == first).all())
    return bool((X[0] == X[-1]).all() and (X[0] == X).all())


def is_objects(X: Any) -> bool:
    """Whether ``X`` is a sequence of things that are no rows of numbers."""
    if hasattr(X, "ndim"):
        return X.ndim == 1 and getattr(X.dtype, "kind", "O") in "OUSTM"
    if not isinstance(X, Sequence) or isinstance(X, str) or len(X) == 0:
        return False
    if all(isinstance(x, (tuple, list)) for x in X):
        return len({len(x) for x in X}) > 1
    return isinstance(X[0], (str, bytes, dict, set, frozenset)) or (
        hasattr(X[0], "__dict__") and not hasattr(X[0], "__array__")
    )


def check_precomputed(kind: str, X: Any, square: bool) -> None:
    """A precomputed matrix: square and symmetric in ``fit``; distances, and affinities, not negative."""
    if square and X.shape[0] != X.shape[1]:
        raise ValueError(
            f"a precomputed matrix must be square (n_samples, n_samples), got shape {X.shape}; did you pass the data themselves?"
        )
    values = X.data if sparse.issparse(X) else X
    if kind in ("distance", "affinity") and values.size and values.min() < 0:
        raise ValueError(
            f"Negative values in data: a precomputed {kind} must not be negative, got {values.min():g}"
        )
    if not square or (
        kind == "distance" and sparse.issparse(X)
    ):  # a graph of nearest neighbours need not be symmetric
        return
    check_symmetric(X, kind)
    if kind == "distance":
        check_zero_diagonal(X)
        if X.max() == 0:
            raise ValueError(
                f"all {X.shape[0]} samples are equal (at distance 0 from each other); there is nothing to embed"
            )


def check_zero_diagonal(D: np.ndarray) -> None:
    """The distance of a point to itself is zero."""
    own = np.abs(np.diagonal(D))
    if own.max() > _ROUNDING * float(D.max()):
        i = int(np.argmax(own))
        raise ValueError(
            f"a distance matrix has zeros on its diagonal, got {D[i, i]:g} for sample {i}; are these similarities?"
        )


def check_weights(sample_weight: Any, X: Any, least: float = 1) -> np.ndarray | None:
    """One weight a sample, which counts how often it stands; None for one each."""
    if sample_weight is None:
        return None
    weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True, copy=True)
    if not weights.sum() > least:
        raise ValueError(
            f"sample_weight sums to {weights.sum():g}, and must sum to more than {least:g}: a weight counts how often its row"
            " stands; scale them up"
        )
    return weights


def standing_rows(X: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """The rows that have a weight, and the weights, ones for None: a row of weight zero is not there."""
    if weights is None:
        return X, np.ones(len(X))
    standing = weights > 0
    return X[standing], weights[standing]


def check_flag(name: str, value: Any) -> None:
    """True or False; a text or a number would pass for one."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name}={value!r} must be True or False")


def check_symmetric(K: Any, name: str) -> None:
    """Symmetric up to rounding, dense or sparse."""
    difference = abs(K - K.T)
    worst = float(difference.max())
    scale = float(abs(K).max())
    tolerance = _ROUNDING if K.dtype == np.float64 else 1e-4
    if worst > tolerance * scale:
        raise ValueError(
            f"the precomputed {name} matrix must be symmetric, but entries (i, j) and (j, i) differ by up to {worst:g}"
        )


def check_count(name: str, value: Any, least: int = 1) -> int:
    """A whole number at least ``least``."""
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, numbers.Integral) or value < least:
        raise ValueError(f"{name}={value!r} must be an integer of at least {least}")
    return int(value)


def check_choice(name: str, value: Any, choices: Sequence[str]) -> None:
    """One of the names a parameter knows."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r} is not known; choose one of {', '.join(map(repr, choices))}")


def check_positive(name: str, value: Any, optional: bool = False) -> None:
    """A positive finite number, or None where that means "choose for me"."""
    if value is None and optional:
        return
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not 0 < value < np.inf:
        raise ValueError(f"{name}={value!r} must be a positive number" + (" or None" if optional else ""))


def check_gamma(kernel: Any, gamma: Any) -> None:
    """A width: positive for the kernels that fall off with distance, any number for the others."""
    if kernel in ("poly", "polynomial", "sigmoid") and isinstance(gamma, numbers.Real) and np.isfinite(gamma):
        return
    check_positive("gamma", gamma, optional=True)


def check_metric_params(metric_params: Any) -> None:
    """Arguments of a metric, by name."""
    if metric_params is not None and not isinstance(metric_params, dict):
        raise ValueError(f"metric_params={metric_params!r} must be a dict of the metric's arguments, or None")


def check_number(name: str, value: Any) -> None:
    """A finite number."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real) or not np.isfinite(value):
        raise ValueError(f"{name}={value!r} must be a number")


def check_jobs(n_jobs: Any) -> None:
    """A number of cores, counted from the last where negative."""
    if n_jobs is not None and (
        isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral) or n_jobs == 0
    ):
        raise ValueError(f"n_jobs={n_jobs!r} must be a nonzero integer or None")


def check_regularization(value: Any) -> None:
    """What is added to a diagonal: "auto", or a number that is not negative."""
    if isinstance(value, str):
        check_choice("regularization", value, ("auto",))
    elif isinstance(value, bool) or not isinstance(value, numbers.Real) or not 0 <= value < np.inf:
        raise ValueError(f"regularization={value!r} must be 'auto' or a number of at least 0")


def check_kernel_parameters(estimator: Any) -> None:
    """All parameters of a kernel eigenmap that do not concern its graph."""
    check_count("n_components", estimator.n_components)
    check_jobs(estimator.n_jobs)
    check_choice("correction", estimator.correction, ("reweighted", "stochastic", "affine", "raw"))
    check_choice("basis", estimator.basis, ("kernels", "features"))
    check_choice("inverse", estimator.inverse, ("refined", "blocks"))
    if not isinstance(estimator.posterior, bool):
        raise ValueError(f"posterior={estimator.posterior!r} must be True or False")
    if isinstance(estimator.centers, str):
        check_choice("centers", estimator.centers, ("random", "kmeans", "maxmin", "greedy"))
    elif np.ndim(estimator.centers) != 2:
        raise ValueError(
            f"centers={estimator.centers!r} must be 'random', 'kmeans', 'maxmin', 'greedy' or an array of shape (n_kernels, n_features)"
        )
    elif estimator.n_kernels not in (None, len(estimator.centers)):
        raise ValueError(
            f"n_kernels={estimator.n_kernels!r}, but centers has {len(estimator.centers)} rows; leave n_kernels=None"
        )
    if isinstance(estimator.n_kernels, str):
        check_choice("n_kernels", estimator.n_kernels, ("auto",))
    elif estimator.n_kernels is not None:
        check_count("n_kernels", estimator.n_kernels)
    if isinstance(estimator.sigma, str):
        check_choice("sigma", estimator.sigma, ("auto",))
    else:
        check_positive("sigma", estimator.sigma)
    if estimator.local_components is not None:
        check_count("local_components", estimator.local_components, least=0)
