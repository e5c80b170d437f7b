"""``inverse_transform`` for the nonlinear methods: which inverse a fitted model has, made when it is first
asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_array, check_is_fitted

from eigenscape._progress import reporting
from eigenscape.dictionary.low_rank import LowRankKernel
from eigenscape.dictionary.source import PairwiseSource, ShiftedLinear
from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._collections import rowwise
from eigenscape.estimators._validation import check_choice, check_positive
from eigenscape.kernels import Gaussian, Linear
from eigenscape.kernels.base import BoundKernel
from eigenscape.kernels.distance import HalfSquaredDistance
from eigenscape.kernels.pairwise import BoundPairwise
from eigenscape.methods.inverse import Inverse, LocalAffine, relative_error, training_points
from eigenscape.methods.kernel_ridge import KernelRidge
from eigenscape.methods.preimage import FixedPoint, LinearInverse, expansion_of
from eigenscape.normalize import CenteredKernel
from eigenscape.pieces import PiecewiseEmbedding


def _has_inverse(estimator: Any) -> bool:
    """Whether there are rows to go back to; an error that says why not."""
    name, model = type(estimator).__name__, vars(estimator).get("_model_")
    if estimator._is_precomputed():
        raise AttributeError(
            f"{name} has no inverse with {estimator._pairwise_parameter}={getattr(estimator, estimator._pairwise_parameter)!r}: it has"
            " seen similarities or distances only, and no rows to make new ones from"
        )
    if getattr(estimator, "ordinal", False):
        raise AttributeError(
            f"{name} has no inverse with ordinal=True: an ordinal map has no kernel; set ordinal=False"
        )
    if isinstance(model, PiecewiseEmbedding):
        if len(model.pieces) > 1:
            raise AttributeError(
                f"{name} has no inverse where {len(model.pieces)} components were embedded each by itself: the same coordinates belong to"
                " points of several; use on_disconnected='connect' or 'largest'"
            )
    elif model is not None and np.ndim(model.kernel.X) != 2:
        raise AttributeError(
            f"{name} has no inverse for objects that are no rows of numbers: it cannot make new ones"
        )
    return True


class InverseMixin:
    """``inverse_transform`` and ``inverse_error_``. Subclasses name the function that makes the inverse of a
    fitted estimator."""

    _make_inverse: Callable[[Any], Inverse]

    @available_if(_has_inverse)
    @rowwise("n_features_in_", of="_n_features_out", ready="_ready_inverse")
    def inverse_transform(self, X: Any) -> np.ndarray:
        """Rows that have the given coordinates, as nearly as the method can tell.

        The inverse is made at the first call and kept. A point's row does not depend on the other points of
        ``X``. How far the training points are from what becomes of their own coordinates is told by
        ``inverse_error_``.

        Parameters
        ----------
        X : array-like of shape (n_new, n_components)
            Coordinates, such as ``transform`` gives.

        Returns
        -------
        ndarray of shape (n_new, n_features)
            Dense, also where the training rows were sparse.
        """
        check_is_fitted(self, "eigenvalues_")
        X = check_array(X, dtype=[np.float64, np.float32], input_name="X")
        if X.shape[1] != self._n_features_out:
            raise ValueError(
                f"X has {X.shape[1]} coordinates, but {type(self).__name__} has {self._n_features_out} components; pass coordinates"
            )
        with reporting(self.verbose):
            return self._like(X, self._ready_inverse()(np.asarray(X, dtype=np.float64)))

    @property
    def inverse_error_(self) -> float:
        """How well training rows are made again from their coordinates: root mean square distance over the
        rows' spread.

        Measured on at most 1000 evenly spaced rows when asked for. In a local affine inverse and in a ridge
        regression each row is left out when it is made again; pre-images by fixed points and linear inverses
        have no such help to leave out."""
        check_is_fitted(self, "n_iter_")
        _has_inverse(self)
        with reporting(self.verbose):
            return relative_error(self._ready_inverse())

    def _ready_inverse(self) -> Inverse:
        """The inverse, made if there is none yet or if it was made by other parameters. ``_adopt`` drops it
        with its model."""
        wish = {
            name: value for name, value in self.get_params(deep=False).items() if name.startswith("inverse")
        }
        made, inverse = vars(self).get("_inverse_", (None, None))
        if inverse is None or made != wish:
            inverse = type(self)._make_inverse(self)
            self._inverse_ = (wish, inverse)
        return inverse


def local_inverse(estimator: Any) -> Inverse:
    """For maps of graphs: affine around every place."""
    return LocalAffine(*training_points(estimator._model_), estimator.n_jobs)


def distance_inverse(estimator: Any) -> Inverse:
    """For maps of distances: that of PCA where the distances are Euclidean, else affine around every
    place."""
    model = estimator._model_
    metric = _kernel_of(model)
    if (
        isinstance(metric, HalfSquaredDistance)
        and metric.metric in ("euclidean", "l2")
        and not metric.metric_params
    ):
        return LinearInverse(*training_points(model), expansion_of(model, model.kernel.X))
    return local_inverse(estimator)


def kernel_inverse(estimator: Any) -> Inverse:
    """For kernel methods: pre-images, by the way that suits the kernel or that ``inverse`` names."""
    model, kernel = estimator._model_, _kernel_of(estimator._model_)
    check_inverse(estimator, kernel)  # again: parameters may have been set after fit
    points = training_points(model)
    if estimator.inverse == "ridge" or not isinstance(kernel, (Gaussian, Linear, ShiftedLinear)):
        return KernelRidge(*points, estimator.inverse_gamma, estimator.inverse_alpha, estimator.n_jobs)
    by_dictionary = isinstance(model.kernel, LowRankKernel)
    expansion = expansion_of(model, model.kernel.span.members if by_dictionary else model.kernel.X)
    if isinstance(
        kernel, (Linear, ShiftedLinear)
    ):  # combinations whose weights sum to one do not see the origin
        return LinearInverse(*points, expansion)
    starts = model.transform(expansion.X) if by_dictionary else points[1]
    return FixedPoint(*points, expansion, starts, kernel.gamma, estimator.n_jobs)


def check_inverse(estimator: Any, kernel: Any) -> None:
    """The parameters ``inverse``, ``inverse_alpha`` and ``inverse_gamma`` for a kernel of two points (None
    for any other)."""
    check_choice("inverse", estimator.inverse, ("auto", "fixed-point", "ridge"))
    check_positive("inverse_alpha", estimator.inverse_alpha, optional=True)
    check_positive("inverse_gamma", estimator.inverse_gamma, optional=True)
    if estimator.inverse == "fixed-point" and not isinstance(kernel, Gaussian):
        raise ValueError(
            "inverse='fixed-point' needs kernel='rbf' and a kernel that is not divided by its row sums; use 'ridge', or 'auto' for what"
            " suits the kernel"
        )


def pairwise_kernel(similarity: BoundKernel) -> Any:
    """The kernel of two points that a similarity is, or None."""
    return similarity.kernel if isinstance(similarity, BoundPairwise) else None


def _kernel_of(model: Embedding) -> Any:
    """The kernel of two points before it was centred; None where it is no such kernel, or was repaired or
    divided."""
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
