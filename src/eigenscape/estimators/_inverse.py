"""``inverse_transform`` of nonlinear methods."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eigenscape.dictionary.low_rank import LowRankKernel
from eigenscape.dictionary.source import PairwiseSource, ShiftedLinear
from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._rows import given_coordinates
from eigenscape.estimators._running import available_if, rowwise, running
from eigenscape.kernels import Gaussian, Linear
from eigenscape.kernels.base import BoundKernel
from eigenscape.kernels.distance import HalfSquaredDistance
from eigenscape.kernels.pairwise import BoundPairwise
from eigenscape.methods.local_affine import Inverse, LocalAffine, relative_error, training_points
from eigenscape.normalize import CenteredKernel
from eigenscape.options import Inverse as InverseOption
from eigenscape.pieces import PiecewiseEmbedding


def _has_inverse(estimator: Any) -> bool:
    """Return True if there is an inverse; raise AttributeError with the reason otherwise."""
    name, model = type(estimator).__name__, vars(estimator).get("_model_")
    if estimator._is_precomputed():
        raise AttributeError(
            f"{name} has no inverse with {estimator._pairwise_parameter}={estimator._pairwise()!r}: it is"
            " fitted to similarities or distances, not to rows of features"
        )
    if getattr(estimator, "ordinal", False):
        raise AttributeError(
            f"{name} has no inverse with ordinal=True: an ordinal map has no kernel; set ordinal=False"
        )
    if isinstance(model, PiecewiseEmbedding):
        if len(model.pieces) > 1:
            raise AttributeError(
                f"{name} has no inverse if {len(model.pieces)} components are embedded separately: the same"
                " coordinates belong to points of several components; use on_disconnected='connect' or"
                " 'largest'"
            )
    elif model is not None and np.ndim(model.kernel.X) != 2:
        raise AttributeError(f"{name} has no inverse for objects that are not rows of numbers")
    return True


class InverseMixin:
    """``inverse_transform`` and ``inverse_error_``; the hook ``_make_inverse`` returns the inverse."""

    verbose: bool
    _match_dtype: Any
    _n_features_out: Any

    def _make_inverse(self) -> Inverse:
        """Return the inverse of the fitted model. A hook."""
        return local_inverse(self)

    @available_if(_has_inverse)
    @rowwise("n_features_in_", of="_n_features_out", ready="_fitted_inverse")
    def inverse_transform(self, X: Any) -> np.ndarray:
        """Compute rows of features for given coordinates.

        The inverse is fitted on the first call. ``inverse_error_`` is its error on training rows.

        Parameters
        ----------
        X : array-like of shape (n_new, n_components)
            Coordinates, such as those returned by ``transform``.

        Returns
        -------
        ndarray of shape (n_new, n_features)
            Dense rows, also if the training rows were sparse. A row does not depend on the other coordinates
            in ``X``.
        """
        check_is_fitted(self, "eigenvalues_")
        X = given_coordinates(self, X)
        with running(self):
            return self._match_dtype(X, self._fitted_inverse()(np.asarray(X, dtype=np.float64)))

    @property
    def inverse_error_(self) -> float:
        """Root mean square distance of training rows from their reconstructions, relative to their spread.

        Measured on at most 1000 evenly spaced rows, on first access. In a local affine inverse and in a ridge
        regression each row is left out of its own reconstruction; fixed points and linear inverses use all
        rows.
        """
        check_is_fitted(self, "n_iter_")
        _has_inverse(self)
        with running(self):
            return relative_error(self._fitted_inverse())

    def _fitted_inverse(self) -> Inverse:
        """Return the inverse; it is computed anew if ``inverse`` has changed since."""
        current = getattr(self, "inverse", None)
        used, inverse = vars(self).get("_inverse_", (None, None))
        if inverse is None or used != current:
            inverse = self._make_inverse()
            self._inverse_ = (current, inverse)
        return inverse


def local_inverse(estimator: Any) -> Inverse:
    """Return the inverse of embeddings of graphs: an affine function around every point of the map."""
    return LocalAffine(*training_points(estimator._model_), estimator.n_jobs)


def distance_inverse(estimator: Any) -> Inverse:
    """Return the inverse of embeddings of distances: PCA's if they are Euclidean, else a local one."""
    from eigenscape.methods.preimage import LinearInverse, expansion_of

    model = estimator._model_
    metric = _kernel_of(model)
    if isinstance(metric, HalfSquaredDistance) and is_euclidean_metric(metric):
        return LinearInverse(*training_points(model), expansion_of(model, model.kernel.X))
    return local_inverse(estimator)


def is_euclidean_metric(kernel: HalfSquaredDistance) -> bool:
    """Return whether the distance is the Euclidean one."""
    return kernel.metric in ("euclidean", "l2") and not kernel.metric_params


def kernel_inverse(estimator: Any) -> Inverse:
    """Return the inverse of kernel methods: pre-images, by the method that ``inverse`` names."""
    from eigenscape.methods.kernel_ridge import KernelRidge
    from eigenscape.methods.preimage import FixedPoint, LinearInverse, expansion_of

    model, kernel = estimator._model_, _kernel_of(estimator._model_)
    inverse = check_inverse(estimator, kernel)  # it may have been set after fit
    points = training_points(model)
    if inverse.method == "ridge" or not isinstance(kernel, (Gaussian, Linear, ShiftedLinear)):
        return KernelRidge(*points, inverse.gamma, inverse.alpha, estimator.n_jobs)
    by_dictionary = isinstance(model.kernel, LowRankKernel)
    expansion = expansion_of(model, model.kernel.span.members if by_dictionary else model.kernel.X)
    if not isinstance(kernel, Gaussian):  # weights that sum to one do not depend on the origin
        return LinearInverse(*points, expansion)
    assert kernel.gamma is not None
    starts = model.transform(expansion.X) if by_dictionary else points[1]
    return FixedPoint(*points, expansion, starts, kernel.gamma, estimator.n_jobs)


def check_inverse(estimator: Any, kernel: Any) -> InverseOption:
    """Return the valid parameter ``inverse`` for a pairwise kernel, or None for any other kernel."""
    given = estimator.inverse
    inverse = given if isinstance(given, InverseOption) else InverseOption(given)
    if inverse.method == "fixed-point" and not isinstance(kernel, Gaussian):
        raise ValueError(
            "inverse='fixed-point' needs kernel='rbf' and a kernel that is not divided by its row sums; use"
            " 'ridge', or 'auto' to choose by the kernel"
        )
    exact = isinstance(kernel, (Gaussian, Linear, ShiftedLinear))
    if inverse.method == "auto" and exact and (inverse.alpha is not None or inverse.gamma is not None):
        raise ValueError(
            f"{inverse!r} has a penalty or width, which the inverse of this kernel does not use; leave it"
            " out, or set inverse='ridge'"
        )
    return inverse


def pairwise_kernel(similarity: BoundKernel) -> Any:
    """Return the pairwise kernel of a bound kernel, or None if it is not one."""
    return similarity.kernel if isinstance(similarity, BoundPairwise) else None


def _kernel_of(model: Embedding) -> Any:
    """Return the pairwise kernel before centring; None for kernels that are not only centred."""
    kernel = model.kernel
    if isinstance(kernel, CenteredKernel):
        return pairwise_kernel(kernel.base)
    if (
        isinstance(kernel, LowRankKernel)
        and kernel.normalization.kind != "divisive"
        and isinstance(kernel.span.source, PairwiseSource)
    ):
        return kernel.span.source.kernel
    return None
