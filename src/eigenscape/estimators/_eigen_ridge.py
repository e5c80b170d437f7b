"""What the classifier and the regressor on eigenfunctions share."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from eigenscape._numbers import checked_sparse
from eigenscape._parameters import POSITIVE, check_parameters
from eigenscape._typing import is_sparse
from eigenscape.distributed import PREFIT, check_in_memory
from eigenscape.estimators._embedder import check_embedder, copy_features, fit_embedder
from eigenscape.estimators.greedy_spectral_embedding import GreedySpectralEmbedding
from eigenscape.estimators.laplacian_eigenmaps import LaplacianEigenmaps
from eigenscape.exceptions import ToleranceWarning
from eigenscape.graph.row_index import distinct_rows
from eigenscape.kernels import Gaussian
from eigenscape.kernels.base import n_points
from eigenscape.methods.eigen_ridge import EigenRidge, RidgeGrid, fit_eigen_ridge
from eigenscape.options import Dictionary

#: Number of eigenfunctions of the default embedder: as many as labels, within these bounds.
_FEWEST_FUNCTIONS, _MOST_FUNCTIONS = 20, 100
#: Largest dictionary of the default embedder of a stream, and its tolerance.
_STREAM_SIZE, _STREAM_TOL = 500, 1e-3
#: Attributes of a model that is fitted to a stream: labelled rows and what is known of them.
_OF_STREAM = ("_kept_", "_labels_", "_values_")
#: Candidates of parameters that are "auto". Functions have unit variance, so ``alpha`` has a scale.
_COUNTS = (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300, 500)
_ALPHAS = tuple(float(alpha) for alpha in np.logspace(-6, 2, 17))
_SMOOTHNESS = (1.0, 2.0)
#: Smallest roughness, relative to the largest: functions that only tell clusters apart are not free.
_SMOOTHEST = 0.01
#: Smallest eigenvalue of a normalised graph whose function is chosen: a new row's value is a mean over its
#: neighbours, divided by the eigenvalue, so the noise of functions near 0 grows without bound.
_STABLE = 0.1


#: What an embedder must have, and its description in errors.
_EMBEDDER = (
    "_eigenvalues_below_one",
    "an estimator of eigenscape with eigenfunctions, such as LaplacianEigenmaps(100), DiffusionMap(100) or"
    " KernelPCA(100)",
)


class EigenRidgeMixin:
    """Fit of an embedder to all rows, and of a ridge regression to the labelled ones."""

    _limits: ClassVar = {"alpha": POSITIVE}

    embedder: Any
    n_functions: Any
    alpha: Any
    prefit: bool
    n_jobs: int | None
    verbose: bool
    _scale_: np.ndarray
    _ridge_: EigenRidge
    _kept_: Any  # labelled rows of a stream

    def _functions_of_rows(self, X: Any, n_labels: int) -> np.ndarray:
        """Fit the embedder to all rows, unless it is fitted; return its coordinates at unit variance."""
        check_parameters(self)
        for name in _OF_STREAM:
            vars(self).pop(name, None)
        check_embedder(self, X, *_EMBEDDER)
        if self.embedder is not None and not self.prefit and get_tags(self.embedder).target_tags.required:
            raise ValueError(
                f"embedder={self.embedder!r} has functions that depend on labels, so the leave-one-out error"
                " would be too small; set target_weight=0"
            )
        self.embedder_, functions = fit_embedder(self, X, lambda: self._default_embedder(X, n_labels))
        return self._at_unit_variance(functions)

    def _default_embedder(self, X: Any, n_labels: int) -> LaplacianEigenmaps:
        wanted = min(max(_FEWEST_FUNCTIONS, n_labels), _MOST_FUNCTIONS)
        n_components = max(1, min(wanted, _count_distinct(X) - 1))
        return LaplacianEigenmaps(n_components, n_jobs=self.n_jobs, verbose=self.verbose)

    def _functions_of_stream(self, X: Any, labelled: np.ndarray) -> np.ndarray | None:
        """Continue the embedder with a chunk and keep its labelled rows.

        Returns the functions of all rows kept, or None if there are none, or too few rows for functions.
        """
        check_parameters(self)
        if self.prefit:
            raise ValueError(
                "partial_fit continues its embedder, but prefit=True; call partial_fit of the embedder, then"
                " fit with the labelled rows, or set prefit=False"
            )
        check_embedder(self, X, *_EMBEDDER)
        embedder = self._embedder_of_stream()
        with warnings.catch_warnings():
            if self.embedder is None:  # its size is a limit, not a goal
                warnings.simplefilter("ignore", ToleranceWarning)
            embedder.partial_fit(X)
        rows: Any = (sparse.csr_array(X) if is_sparse(X) else np.asarray(X))[labelled]
        before = vars(self).get("_kept_")
        if before is not None:
            rows = (
                sparse.vstack([before, rows], format="csr") if is_sparse(rows) else np.vstack([before, rows])
            )
        self.embedder_, self._kept_ = embedder, rows
        copy_features(self, self.embedder_)
        if rows.shape[0] == 0 or "eigenvalues_" not in vars(embedder):
            return None
        return self._at_unit_variance(embedder.transform(rows))

    def _embedder_of_stream(self) -> Any:
        """Return the embedder of the previous chunks, or a new one."""
        if "_kept_" in vars(self):
            return self.embedder_
        if self.embedder is None:
            return GreedySpectralEmbedding(
                None,
                kernel=Gaussian(scale="local"),
                normalization="divisive",
                n_jobs=self.n_jobs,
                verbose=self.verbose,
                dictionary=Dictionary(_STREAM_SIZE, tol=_STREAM_TOL),
            )
        if not hasattr(self.embedder, "partial_fit"):
            raise TypeError(
                f"embedder={self.embedder!r} cannot be fitted to a stream; use GreedySpectralEmbedding"
            )
        return clone(self.embedder)

    def _at_unit_variance(self, functions: np.ndarray) -> np.ndarray:
        """Set the scale and the features of the embedder; return the functions at unit variance."""
        spread = np.asarray(functions.std(axis=0), dtype=np.float64)
        self._scale_ = np.where(spread > 0, spread, 1.0)
        copy_features(self, self.embedder_)
        return np.asarray(functions / self._scale_)

    def _fit_ridge(self, functions: np.ndarray, Y: np.ndarray, weights: np.ndarray) -> None:
        """Fit the regression to the functions and values of the labelled rows."""
        self._ridge_ = fit_eigen_ridge(
            functions,
            Y,
            _relative_roughness(self.embedder_),
            weights,
            self._grid(functions.shape[1], _count_stable(self.embedder_)),
        )
        self.n_functions_, self.alpha_ = len(self._ridge_.coefficients), self._ridge_.alpha
        self.smoothness_, self.leave_one_out_error_ = self._ridge_.smoothness, self._ridge_.error

    def _values(self, X: Any) -> np.ndarray:
        """Return the regression function (n_new, n_outputs) at any points."""
        check_is_fitted(self, "_ridge_")
        return self._ridge_(np.asarray(self.embedder_.transform(X) / self._scale_))

    def _grid(self, n_functions: int, n_stable: int = 1) -> RidgeGrid:
        """Return the values to choose from, given the number of functions of the embedder."""
        largest = min(n_functions, n_stable)
        counts = [*(count for count in _COUNTS if count < largest), largest]
        if self.n_functions != "auto":
            counts = [min(self.n_functions, n_functions)]
        return RidgeGrid(counts, _ALPHAS if self.alpha == "auto" else (float(self.alpha),), _SMOOTHNESS)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        inner = LaplacianEigenmaps() if self.embedder is None else self.embedder
        tags.input_tags = get_tags(inner).input_tags
        return tags


def count_chunk(estimator: Any, X: Any) -> int:
    """Return the number of rows of a chunk in memory."""
    check_in_memory(estimator, X, PREFIT)
    return n_points(X)


def _count_distinct(X: Any) -> int:
    """Return the number of distinct rows, or 2 for what the embedder will refuse."""
    rows = np.asarray(X) if not is_sparse(X) else sparse.csr_array(checked_sparse(X))
    if rows.ndim != 2 or rows.dtype.kind not in "buif" or 0 in rows.shape:
        return 2
    return len(distinct_rows(rows.astype(np.float64))[0])


def _count_stable(embedder: Any) -> int:
    """Return the number of leading eigenfunctions, at least 1, whose values at new rows are stable."""
    values = np.atleast_2d(np.asarray(embedder.eigenvalues_, dtype=np.float64)).min(axis=0)
    unstable = values < _STABLE if embedder._eigenvalues_below_one else np.zeros(len(values), dtype=bool)
    return max(1, int(np.argmax(unstable))) if unstable.any() else len(values)


def _relative_roughness(embedder: Any) -> np.ndarray:
    """Return the roughness of the eigenfunctions relative to the first one.

    For kernels with eigenvalues of at most 1 it is ``1 - l``, the eigenvalue of a Laplacian; for others ``1 /
    l``, whose sum of squared coefficients is the norm of the kernel's function space.
    """
    values = np.atleast_2d(np.asarray(embedder.eigenvalues_, dtype=np.float64)).max(axis=0)
    if embedder._eigenvalues_below_one:
        roughness = 1 - values
    else:
        roughness = 1 / np.maximum(np.abs(values), np.finfo(np.float64).tiny)
    roughness = np.maximum(roughness, _SMOOTHEST * roughness.max())
    return roughness / roughness[0]
