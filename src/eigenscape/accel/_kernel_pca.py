"""scikit-learn's KernelPCA with the kernel matrix and eigenvectors from eigenscape."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.decomposition import _kernel_pca as theirs
from sklearn.preprocessing import KernelCenterer
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from eigenscape._memory import row_blocks
from eigenscape._threads import single_blas_thread
from eigenscape.accel._loss import centered_loss, require_between
from eigenscape.accel._rebind import rebound
from eigenscape.accel._record import is_few, left, ran_here, recorded
from eigenscape.accel._solve import UnsupportedProblemError, leading

if TYPE_CHECKING:
    from eigenscape.operators import Operator

Pairs = tuple[np.ndarray, np.ndarray]
#: Kernels that are the same functions here.
_KERNELS = ("linear", "poly", "rbf", "sigmoid", "cosine")


def _eigh(K: Any, subset_by_index: tuple[int, int], given: bool) -> Pairs:
    count = subset_by_index[1] - subset_by_index[0] + 1
    return _or_theirs(
        K,
        lambda: leading(K, count, given=given),
        lambda: theirs.eigh(K, subset_by_index=subset_by_index),
    )


def _eigsh(K: Any, k: int, given: bool, **options: Any) -> Pairs:
    return _or_theirs(
        K,
        lambda: leading(K, k, step="iterative", given=given),
        lambda: theirs.eigsh(K, k, **options),
    )


def _randomized_eigsh(K: Any, n_components: int, given: bool, **options: Any) -> Pairs:
    return _or_theirs(
        K,
        lambda: leading(K, n_components, "magnitude", step="iterative", given=given),
        lambda: theirs._randomized_eigsh(K, n_components=n_components, **options),
    )


def _or_theirs(K: Any, ours: Callable[[], Pairs], original: Callable[[], Pairs]) -> Pairs:
    """Return the eigenpairs from eigenscape, or from scikit-learn's solver if there is a matrix for it."""
    try:
        return ours()
    except UnsupportedProblemError as reason:
        if not isinstance(K, np.ndarray):
            raise
        left("eigenvectors", str(reason))
        return original()


def _solving(given: bool) -> Callable[..., Any]:
    """Return scikit-learn's solution of a kernel matrix, whose symmetry is not known if it is ``given``."""
    solvers: dict[str, Callable[..., Pairs]] = {
        "eigh": _eigh,
        "eigsh": _eigsh,
        "_randomized_eigsh": _randomized_eigsh,
    }
    bound = {name: partial(solver, given=given) for name, solver in solvers.items()}
    return rebound(theirs.KernelPCA._fit_transform_in_place, **bound)


_solve, _solve_given = _solving(False), _solving(True)


class _OperatorCenterer:
    """Centring of an operator, with the interface of KernelCenterer that ``_fit_transform_in_place`` uses."""

    def fit(self, K: Operator) -> _OperatorCenterer:
        return self

    def transform(self, K: Operator, copy: bool) -> Operator:
        from eigenscape.operators import centered

        m = K.shape[0]
        return centered(K, np.full(m, 1 / m))


class KernelPCA(theirs.KernelPCA):
    """:class:`sklearn.decomposition.KernelPCA`, computed by eigenscape.

    Parameters and attributes are the same; ``loss`` measures the error of the expansion.
    """

    _centerer: Any

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> KernelPCA:
        """Fit the model, as :meth:`sklearn.decomposition.KernelPCA.fit`."""
        with recorded("KernelPCA.fit"):
            if self._is_computed_here(X):
                try:
                    return self._fit_here(X)
                except UnsupportedProblemError as reason:
                    left("eigenvectors", str(reason), instead=True)
            return super().fit(X, y)

    def _is_computed_here(self, X: Any) -> bool:
        """Return whether the kernel matrix is not formed by scikit-learn."""
        known = isinstance(self.kernel, str) and self.kernel in _KERNELS and self.n_components is not None
        return (
            known
            and getattr(X, "dtype", None) == np.float64
            and X.ndim == 2  # scikit-learn raises the error otherwise
            and not is_few(_num_samples(X), "compiled")
            and 5 * self.n_components <= _num_samples(X)
        )

    def _fit_here(self, X: Any) -> KernelPCA:
        """Fit with a kernel matrix that is stored, a product of thin matrices, or applied in blocks."""
        from eigenscape.kernels.pairwise import kernel_by_name
        from eigenscape.operators import gram

        X = validate_data(self, X, accept_sparse="csr", copy=self.copy_X)
        self.gamma_ = 1 / X.shape[1] if self.gamma is None else self.gamma
        kernel = kernel_by_name(self.kernel, gamma=self.gamma_, degree=self.degree, coef0=self.coef0)
        n = X.shape[0]
        with single_blas_thread():
            operator = gram(kernel.bind(X), n_jobs=self.n_jobs)
            means = operator.matmat(np.full((n, 1), 1 / n))[:, 0]
        if not np.isfinite(means).all():
            raise UnsupportedProblemError("kernel not finite")
        ran_here("kernel matrix")
        self._centerer = _OperatorCenterer()
        _solve(self, operator)
        centerer = KernelCenterer().set_output(transform="default")
        centerer.n_features_in_ = n
        centerer.K_fit_rows_, centerer.K_fit_all_ = means, means.mean()
        self._centerer = centerer
        if self.fit_inverse_transform:
            self._fit_inverse_transform(self.eigenvectors_ * np.sqrt(self.eigenvalues_), X)
        self.X_fit_ = X
        return self

    def _fit_transform_in_place(self, K: np.ndarray) -> Any:
        """Centre the kernel matrix in place and compute its eigenvectors."""
        given = callable(self.kernel) or self.kernel == "precomputed"
        return (_solve_given if given else _solve)(self, K)

    def loss(self, X: Any = None, between: Any = None) -> float:
        """Compute the mean squared error of the kernel's expansion in its eigenfunctions (Bengio sec. 4).

        scikit-learn has no such method.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features), optional
            Held-out points, at least 2, as for ``transform``. If None, the training points.
        between : array-like of shape (n_new, n_new), optional
            For ``kernel="precomputed"``: the kernel among the held-out points.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        center, given = self._centerer, self.kernel == "precomputed"
        with recorded("KernelPCA.loss"):
            ran_here("loss")
            if X is None:
                # scikit-learn may have centred a given matrix in place; centring it again changes nothing.
                means = self.X_fit_.mean(axis=1) if given else center.K_fit_rows_
                return centered_loss(
                    lambda block: self._kernel_of(self.X_fit_[block], self.X_fit_),
                    means,
                    means.mean(),
                    self.eigenvectors_ * np.sqrt(self.eigenvalues_),
                    training=True,
                )
            Y = validate_data(self, X, accept_sparse="csr", reset=False)
            table = require_between(between, Y.shape[0]) if given else None
            blocks = row_blocks(Y.shape[0], 16.0 * self.X_fit_.shape[0])
            means = np.concatenate([self._kernel_of(Y[rows], self.X_fit_).mean(axis=1) for rows in blocks])
            return centered_loss(
                lambda block: self._get_kernel(Y[block], Y) if table is None else table[block],
                means,
                center.K_fit_all_,
                self.transform(X),
                training=False,
            )

    def _kernel_of(self, Y: Any, X: Any) -> Any:
        """Return the kernel of some points and the training points; precomputed, it is ``Y`` itself."""
        return Y if self.kernel == "precomputed" else self._get_kernel(Y, X)
