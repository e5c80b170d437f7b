"""scikit-learn's KernelPCA with eigenvectors from eigenscape."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.decomposition import _kernel_pca as theirs

from eigenscape.accel._rebind import rebound
from eigenscape.accel._record import left, recorded
from eigenscape.accel._solve import UnsupportedProblemError, leading

Pairs = tuple[np.ndarray, np.ndarray]


def _eigh(K: np.ndarray, subset_by_index: tuple[int, int]) -> Pairs:
    count = subset_by_index[1] - subset_by_index[0] + 1
    return _or_theirs(lambda: leading(K, count), lambda: theirs.eigh(K, subset_by_index=subset_by_index))


def _eigsh(K: np.ndarray, k: int, **options: Any) -> Pairs:
    return _or_theirs(lambda: leading(K, k), lambda: theirs.eigsh(K, k, **options))


def _randomized_eigsh(K: np.ndarray, n_components: int, **options: Any) -> Pairs:
    return _or_theirs(
        lambda: leading(K, n_components, "magnitude"),
        lambda: theirs._randomized_eigsh(K, n_components=n_components, **options),
    )


def _or_theirs(ours: Callable[[], Pairs], original: Callable[[], Pairs]) -> Pairs:
    """Return the eigenpairs from eigenscape, or from scikit-learn's solver if that is not possible."""
    try:
        return ours()
    except UnsupportedProblemError as reason:
        left("eigenvectors", str(reason))
        return original()


_solve = rebound(
    theirs.KernelPCA._fit_transform_in_place, eigh=_eigh, eigsh=_eigsh, _randomized_eigsh=_randomized_eigsh
)


class KernelPCA(theirs.KernelPCA):
    """:class:`sklearn.decomposition.KernelPCA`, computed by eigenscape; same parameters and attributes."""

    def fit(self, X: Any, y: Any = None) -> KernelPCA:
        """Fit the model, as :meth:`sklearn.decomposition.KernelPCA.fit`."""
        with recorded("KernelPCA.fit"):
            return super().fit(X, y)

    def _fit_transform_in_place(self, K: np.ndarray) -> Any:
        """Centre the kernel matrix in place and compute its eigenvectors."""
        given = callable(self.kernel) or self.kernel == "precomputed"
        if given and not _is_symmetric(K):
            left("eigenvectors", "kernel not symmetric")
            return super()._fit_transform_in_place(K)
        return _solve(self, K)


def _is_symmetric(K: np.ndarray, block: int = 1024) -> bool:
    """Return whether a matrix is symmetric up to rounding."""
    tolerance = 1e-10 * float(np.abs(K).max(initial=0.0))
    return all(
        np.abs(K[start : start + block] - K[:, start : start + block].T).max() <= tolerance
        for start in range(0, len(K), block)
    )
