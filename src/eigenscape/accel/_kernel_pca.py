"""scikit-learn's KernelPCA with the kernel matrix and eigenvectors from eigenscape."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import _fit_context
from sklearn.decomposition import _kernel_pca as theirs
from sklearn.preprocessing import KernelCenterer
from sklearn.utils.validation import _num_samples, validate_data

from eigenscape._threads import single_blas_thread
from eigenscape.accel._rebind import rebound
from eigenscape.accel._record import UnsupportedProblemError, recorded, replaces
from eigenscape.accel._solve import leading

if TYPE_CHECKING:
    from eigenscape.operators import Operator

Pairs = tuple[np.ndarray, np.ndarray]
#: Kernels that are the same functions here.
_KERNELS = ("linear", "poly", "rbf", "sigmoid", "cosine")


def _solving(given: bool = False, stored: bool = True) -> Callable[..., Any]:
    """Return scikit-learn's solution of a kernel matrix.

    ``given`` tells that its symmetry is not known, and ``stored`` that scikit-learn's solvers can replace
    the ones here: it is an array, not an operator.
    """

    def eigh(K: Any, subset_by_index: tuple[int, int]) -> Pairs:
        return leading(K, subset_by_index[1] - subset_by_index[0] + 1, given=given)

    def eigsh(K: Any, k: int, **_: Any) -> Pairs:
        return leading(K, k, given=given)

    def _randomized_eigsh(K: Any, n_components: int, **_: Any) -> Pairs:
        return leading(K, n_components, "magnitude", given=given)

    solvers: dict[str, Callable[..., Pairs]] = {
        ours.__name__: replaces("eigenvectors", getattr(theirs, ours.__name__))(ours) if stored else ours
        for ours in (eigh, eigsh, _randomized_eigsh)
    }
    return rebound(theirs.KernelPCA._fit_transform_in_place, **solvers)


_solve, _solve_given, _solve_operator = _solving(), _solving(given=True), _solving(stored=False)


class _OperatorCenterer:
    """Centring of an operator, with the interface of KernelCenterer that ``_fit_transform_in_place`` uses."""

    def fit(self, K: Operator) -> _OperatorCenterer:
        return self

    def transform(self, K: Operator, copy: bool) -> Operator:
        from eigenscape.operators import centered

        m = K.shape[0]
        return centered(K, np.full(m, 1 / m))


class KernelPCA(theirs.KernelPCA):
    """:class:`sklearn.decomposition.KernelPCA`, computed by eigenscape."""

    _centerer: Any

    @_fit_context(prefer_skip_nested_validation=True)
    @recorded("KernelPCA.fit")
    def fit(self, X: Any, y: Any = None) -> KernelPCA:
        """Fit the model, as :meth:`sklearn.decomposition.KernelPCA.fit`."""
        here = (
            isinstance(self.kernel, str)
            and self.kernel in _KERNELS
            and getattr(X, "dtype", None) == np.float64
            and X.ndim == 2  # scikit-learn raises the error otherwise
            and 5 * (self.n_components or _num_samples(X)) <= _num_samples(X)
        )
        return self._fit_here(X) if here else super().fit(X, y)

    @replaces("eigenvectors", theirs.KernelPCA.fit, instead=True)
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
        self._centerer = _OperatorCenterer()
        _solve_operator(self, operator)
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
