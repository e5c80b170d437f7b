"""Validation of input data and parameters, with errors that are raised before any long computation."""

from __future__ import annotations

import numbers
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils.validation import check_array

from eigenscape._numbers import LARGEST, SMALLEST, checked_sparse
from eigenscape._typing import is_sparse
from eigenscape.estimators._annotated import NamedRows, named_rows
from eigenscape.estimators._collections import check_in_memory
from eigenscape.estimators._rows import validate_rows, without_mask
from eigenscape.exceptions import DataRangeError
from eigenscape.graph.row_index import canonical_csr, row_hashes
from eigenscape.kernels.base import n_points

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

#: Relative asymmetry of a matrix that is attributed to rounding.
_ROUNDING = 1e-8
#: Smallest sum of affinities relative to the largest. Eigenvectors are proportional to the roots of the sums.
_SMALLEST_SUM = 1e-20

#: Eigensolvers of scikit-learn with the equivalents here, the closest first.
SOLVERS: Mapping[str, Sequence[str]] = {
    "arpack": ("shift-invert", "lanczos"),
    "lobpcg": ("lanczos",),
    "amg": ("multilevel", "lanczos"),
    "randomized": ("lanczos",),
}


def check_input(estimator: BaseEstimator, X: Any, reset: bool, chunk: bool = False) -> Any:
    """Validate input data.

    Parameters
    ----------
    estimator : Estimator
        Its class attributes describe the input that it accepts.
    X : array-like, sparse matrix, AnnData or list of objects
    reset : bool
        Whether the estimator is being fitted.
    chunk : bool
        Whether ``X`` is a chunk of a stream, which is used at once: it is not copied, and may be one row.

    Returns
    -------
    ndarray or csr_array
        Floating-point numbers; an array of objects if the estimator has a function of two objects.
    """
    check_in_memory(estimator, X)
    name, parameter = type(estimator).__name__, estimator._pairwise_parameter
    X = named_rows(estimator, X, reset)
    is_sparse_input = sparse.issparse(X.values if isinstance(X, NamedRows) else X)
    if callable(getattr(estimator, parameter, None) if parameter else None) and is_objects(X):
        return _check_objects(estimator, X, 2 if reset else 0)
    if is_sparse_input and estimator._is_precomputed() and not estimator._sparse_tables:
        raise TypeError(
            f"{name} needs all distances, but a sparse matrix omits some; pass a dense matrix, or use Isomap"
            " on the graph"
        )
    if estimator._sparse is None and is_sparse_input:
        raise TypeError(f"{name} does not accept sparse input: {estimator._no_sparse}")
    if is_objects(X):
        raise ValueError(
            f"{name} cannot convert {type(next(iter(X))).__name__} to numbers; pass rows of numbers, or, if"
            " the method supports it, a function of two objects"
        )
    X = validate_rows(
        estimator,
        X,
        reset=reset,
        chunk=chunk,
        accept_sparse=estimator._sparse or False,
        accept_large_sparse=True,
        ensure_min_samples=2 if reset and not chunk else 1,
        # A fitted model stores its training points, which must not change with the user's array.
        copy=reset and not chunk and not estimator._is_precomputed(),
    )
    if is_sparse(X):
        X = with_small_indices(canonical_csr(X))
    if estimator._is_precomputed():
        narrow = estimator._narrow_tables and X.shape[1] < X.shape[0]
        check_precomputed(estimator._precomputed_kind(), X, square=reset and not narrow)
    elif reset and not chunk and _all_equal(X):
        raise ValueError(f"all {X.shape[0]} rows are equal; there is nothing to embed")
    return X


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


def _check_objects(estimator: BaseEstimator, X: Any, min_samples: int) -> np.ndarray:
    """Return a list of objects as an array of objects."""
    name = type(estimator).__name__
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


def match_dtype(X: Any, values: np.ndarray) -> np.ndarray:
    """Return ``values`` in single precision if ``X`` is, otherwise in double precision."""
    dtype = np.float32 if getattr(X, "dtype", None) == np.float32 else np.float64
    with np.errstate(over="ignore"):  # refused by check_coordinates
        return values.astype(dtype, copy=False)


def as_contiguous_float64(X: Any) -> Any:
    """Return rows in double precision, dense ones contiguous, as compiled code requires."""
    return X.astype(np.float64) if is_sparse(X) else np.ascontiguousarray(X, dtype=np.float64)


def with_small_indices(X: sparse.csr_array) -> sparse.csr_array:
    """Return the matrix with 32-bit indices if they suffice: some metrics, and paths of SciPy 1.13,
    support no others."""
    if (X.indices.dtype == np.int32 and X.indptr.dtype == np.int32) or max(*X.shape, X.nnz) >= 2**31:
        return X
    return sparse.csr_array((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)


def _all_equal(X: Any) -> bool:
    if is_sparse(X):
        first = row_hashes(X[:1])
        return bool((row_hashes(X[-1:]) == first).all() and (row_hashes(X) == first).all())
    return bool((X[0] == X[-1]).all() and (X[0] == X).all())


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


def check_precomputed(kind: str, X: Any, square: bool) -> None:
    """Check a precomputed matrix of kind "distance", "affinity" or "kernel".

    With ``square`` it must be square and symmetric. Distances and affinities must not be negative."""
    if square and X.shape[0] != X.shape[1]:
        raise ValueError(
            f"a precomputed matrix must be square (n_samples, n_samples), got shape {X.shape}; did you pass"
            " the data themselves?"
        )
    values = X.data if is_sparse(X) else X
    if kind in ("distance", "affinity") and values.size and values.min() < 0:
        raise ValueError(
            f"Negative values in data: a precomputed {kind} must not be negative, got {values.min():g}"
        )
    if not square:
        return
    if kind == "distance":
        check_zero_diagonal(X)
        if is_sparse(X):  # neighbour graphs may be asymmetric
            return
    check_symmetric(X, kind)
    if kind == "affinity":
        _check_row_sums(X)
    if kind == "distance" and X.max() == 0:
        raise ValueError(
            f"all {X.shape[0]} samples are equal (at distance 0 from each other); there is nothing to embed"
        )


def check_zero_diagonal(D: Any) -> None:
    """Raise ValueError unless the diagonal of a matrix of distances is zero: if sparse, exactly.

    A row of a sparse matrix is recognised as a sample by its distance 0.
    """
    diagonal = np.abs(D.diagonal())
    if diagonal.max() > (0 if is_sparse(D) else _ROUNDING * float(D.max())):
        i = int(np.argmax(diagonal))
        remedy = "; call setdiag(0) if this is rounding" if is_sparse(D) else ""
        raise ValueError(
            f"a distance matrix must have a zero diagonal, got {D[i, i]:g} for sample {i}; are these"
            f" similarities?{remedy}"
        )


def _check_row_sums(A: Any) -> None:
    """Raise an error if sums of affinities are so different that rounding removes the smaller ones."""
    sums = np.asarray(A.sum(axis=1)).ravel()
    least, most = (
        int(which(np.where(sums > 0, sums, other))) for which, other in ((np.argmin, np.inf), (np.argmax, 0))
    )
    if 0 < sums[least] < _SMALLEST_SUM * sums[most]:
        raise DataRangeError(
            f"the precomputed affinities of sample {most} sum to {sums[most]:g}, those of sample {least} to"
            f" {sums[least]:g}, which is lost to rounding beside it; reduce the largest affinities, or drop"
            " the sample"
        )


def check_symmetric(K: Any, name: str) -> None:
    """Raise ValueError unless a dense or sparse matrix is symmetric up to rounding."""
    worst = float(abs(K - K.T).max())
    tolerance = _ROUNDING if K.dtype == np.float64 else 1e-4
    if worst > tolerance * float(abs(K).max()):
        raise ValueError(
            f"the precomputed {name} matrix must be symmetric, but entries (i, j) and (j, i) differ by up to"
            f" {worst:g}"
        )


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


def valid_rows(X: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows with a positive weight and their weights, which are 1 for None."""
    if weights is None:
        return X, np.ones(len(X))
    positive = weights > 0
    return X[positive], weights[positive]


def check_flag(name: str, value: object) -> None:
    """Raise ValueError unless ``value`` is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name}={value!r} must be True or False")


def check_count(name: str, value: object, minimum: int = 1) -> int:
    """Return an integer of at least ``minimum``, or raise ValueError."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or int(value) < minimum:
        raise ValueError(f"{name}={value!r} must be an integer of at least {minimum}")
    return int(value)


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise ValueError unless ``value`` is one of the strings ``choices``."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name}={value!r} is not known; choose one of {', '.join(map(repr, choices))}")


def as_number(value: object) -> float | None:
    """Return a finite real number as a float, None for any other value."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    return float(value) if np.isfinite(float(value)) else None


def check_positive(name: str, value: object, optional: bool = False) -> None:
    """Raise ValueError unless ``value`` is a positive finite number, or None if ``optional``."""
    if value is None and optional:
        return
    number = as_number(value)
    if number is None or number <= 0:
        raise ValueError(f"{name}={value!r} must be a positive number" + (" or None" if optional else ""))


def check_not_negative(name: str, value: object) -> None:
    """Raise ValueError unless ``value`` is a finite number of at least 0."""
    number = as_number(value)
    if number is None or number < 0:
        raise ValueError(f"{name}={value!r} must be a number of at least 0")


def check_number(name: str, value: object) -> None:
    """Raise ValueError unless ``value`` is a finite number."""
    if as_number(value) is None:
        raise ValueError(f"{name}={value!r} must be a number")


def check_gamma(kernel: object, gamma: object) -> None:
    """Check a kernel width: positive, but any number for "poly" and "sigmoid"."""
    if not (kernel in ("poly", "polynomial", "sigmoid") and as_number(gamma) is not None):
        check_positive("gamma", gamma, optional=True)


def check_metric_params(metric_params: object) -> None:
    """Raise ValueError unless ``metric_params`` is a dict or None."""
    if metric_params is not None and not isinstance(metric_params, dict):
        raise ValueError(f"metric_params={metric_params!r} must be a dict of the metric's arguments, or None")


def check_jobs(n_jobs: object) -> None:
    """Raise ValueError unless ``n_jobs`` is a nonzero integer or None."""
    if n_jobs is not None and (
        isinstance(n_jobs, bool) or not isinstance(n_jobs, numbers.Integral) or int(n_jobs) == 0
    ):
        raise ValueError(f"n_jobs={n_jobs!r} must be a nonzero integer or None")


def check_solver(value: object, accepted: Sequence[str]) -> None:
    """Raise ValueError if ``value`` is the name of an eigensolver of scikit-learn only, naming ours."""
    for ours in SOLVERS.get(value, ()) if isinstance(value, str) else ():
        if ours in accepted and value not in accepted:
            raise ValueError(
                f"eigen_solver={value!r} is scikit-learn's name; the equivalent here is {ours!r}, or use"
                " eigenscape.accel for scikit-learn's own interface"
            )


def check_regularization(value: object) -> None:
    """Raise ValueError unless ``value`` is "auto" or a number of at least 0."""
    if isinstance(value, str):
        check_choice("regularization", value, ("auto",))
        return
    number = as_number(value)
    if number is None or number < 0:
        raise ValueError(f"regularization={value!r} must be 'auto' or a number of at least 0")


def check_kernel_parameters(estimator: BaseEstimator) -> None:
    """Check the parameters of a kernel eigenmap, except those of its graph."""
    check_count("n_components", estimator.n_components)
    check_jobs(estimator.n_jobs)
    check_choice("correction", estimator.correction, ("reweighted", "stochastic", "affine", "raw"))
    check_choice("basis", estimator.basis, ("kernels", "features"))
    check_choice("inverse", estimator.inverse, ("refined", "blocks"))
    check_choice("eigen_solver", estimator.eigen_solver, ("auto", "dense", "iterative"))
    check_positive("tol", estimator.tol)
    if estimator.max_iter is not None:
        check_count("max_iter", estimator.max_iter)
    if not isinstance(estimator.posterior, bool):
        raise ValueError(f"posterior={estimator.posterior!r} must be True or False")
    if estimator.eigen_solver == "iterative" and not estimator.posterior:
        raise ValueError("eigen_solver='iterative' needs posterior=True; use eigen_solver='dense'")
    if isinstance(estimator.centers, str):
        check_choice("centers", estimator.centers, ("random", "kmeans", "maxmin", "greedy"))
    elif np.ndim(estimator.centers) != 2:
        raise ValueError(
            f"centers={estimator.centers!r} must be 'random', 'kmeans', 'maxmin', 'greedy' or an array of"
            " shape (n_kernels, n_features)"
        )
    elif estimator.n_kernels not in (None, len(estimator.centers)):
        raise ValueError(
            f"n_kernels={estimator.n_kernels!r}, but centers has {len(estimator.centers)} rows; leave"
            " n_kernels=None"
        )
    if isinstance(estimator.n_kernels, str):
        check_choice("n_kernels", estimator.n_kernels, ("auto",))
    elif estimator.n_kernels is not None:
        check_count("n_kernels", estimator.n_kernels)
    if isinstance(estimator.sigma, str):
        check_choice("sigma", estimator.sigma, ("auto",))
    else:
        check_positive("sigma", estimator.sigma)
    _check_covariances(estimator)
    if estimator.local_components is not None:
        check_count("local_components", estimator.local_components, minimum=0)


def _check_covariances(estimator: BaseEstimator) -> None:
    """Check the parameter ``covariances`` of a kernel eigenmap."""
    covariances = estimator.covariances
    if isinstance(covariances, str):
        check_choice("covariances", covariances, ("spherical", "full"))
    elif np.ndim(covariances) not in (2, 3):
        raise ValueError(
            f"covariances={covariances!r} must be 'spherical', 'full' or an array of shape (n_features,"
            " n_features) or (n_kernels, n_features, n_features)"
        )
    elif np.ndim(covariances) == 3 and isinstance(estimator.centers, str):
        raise ValueError(
            f"covariances of {len(covariances)} kernels need their centers; pass an array of shape"
            f" ({len(covariances)}, n_features) as centers"
        )
