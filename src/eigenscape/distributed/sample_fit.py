"""Fits to a dask collection: to all rows by a dictionary, or to a sample of rows in memory."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin, clone

from eigenscape import distributed
from eigenscape.distributed.dispatch import validate_blocks
from eigenscape.exceptions import RankError, UndefinedKernelError
from eigenscape.kernels.distance import HalfSquaredDistance
from eigenscape.options import Dictionary, flattened
from eigenscape.quality.alignment import aligned_error

if TYPE_CHECKING:
    from eigenscape.distributed import Sample


class SampleLoss(NamedTuple):
    """The criterion of Bengio sec. 4 on the sample, and on pairs of rows that are not in the sample.

    ``held_out`` is NaN if fewer than two rows are not in the sample, or if the kernel is not defined between
    new points (LLE).
    """

    sample: float
    held_out: float


def fit_collection(estimator: Any, X: Any, sample_weight: Any, labels: Any) -> Any:
    """Fit an estimator with the hook ``_embed``: to all rows if it has a dictionary, else to a sample."""
    for name, given in (("sample_weight is", sample_weight), ("labels are", labels)):
        if given is not None:
            raise ValueError(f"{name} not supported for a dask collection; pass X.compute()")
    if not uses_dictionary(estimator):
        fit_to_sample(estimator, X)
    else:
        blocks = validate_blocks(estimator, X, reset=True)
        check_not_precomputed(estimator)
        result = estimator._embed(distributed.evenly_spaced(blocks), blocks)
        estimator._model_ = result.embedding
        vars(estimator).update(result.attributes)
        estimator.embedding_ = estimator.transform(X)
    if isinstance(estimator, ClusterMixin):
        estimator.labels_ = estimator.predict(X)
    return estimator


def fit_to_sample(estimator: BaseEstimator, X: Any, spectral: bool = True) -> Any:
    """Fit the estimator to rows selected farthest first from all partitions of a collection.

    Sets ``sample_indices_``, ``sample_stability_`` and, if the estimator has a kernel, ``sample_loss_``.
    ``embedding_`` is ``transform`` of the whole collection, evaluated lazily.
    """
    blocks = validate_blocks(estimator, X, reset=True)
    check_not_precomputed(estimator)
    params = flattened(estimator.get_params(deep=False))
    landmarks, n_landmarks = params.get("landmarks"), params.get("n_landmarks")
    _check_landmark_points(landmarks)
    distance = HalfSquaredDistance(params.get("metric", "euclidean"), dict(params.get("metric_params") or {}))
    size = distributed.sample_size(n_landmarks if isinstance(n_landmarks, int) else 2)
    greedy = isinstance(landmarks, str) and landmarks == "greedy"
    sample = distributed.choose_sample(blocks, size, distance, "greedy" if greedy else "maxmin")
    estimator.fit(sample.rows)
    validate_blocks(estimator, X, reset=True)  # fitting to an array has removed the feature names
    estimator.sample_indices_ = sample.indices
    chosen = vars(estimator).get("landmarks_")
    if chosen is not None and np.ndim(chosen) == 1:  # row indices, not points
        estimator.landmarks_ = sample.indices[chosen]
    estimator.sample_stability_ = _stability(estimator, sample)
    if spectral and "eigenvalues_" in vars(estimator):
        estimator.sample_loss_ = SampleLoss(estimator.loss(), _held_out_loss(estimator, sample))
    estimator.embedding_ = estimator.transform(X)
    return estimator


def _held_out_loss(estimator: BaseEstimator, sample: Sample) -> float:
    """Return the loss on rows that are not in the sample; NaN if there is none."""
    if sample.held_out.shape[0] < 2:
        return np.nan
    try:
        return estimator.loss(sample.held_out)
    except UndefinedKernelError:
        return np.nan


def uses_dictionary(estimator: BaseEstimator) -> bool:
    """Return whether a dictionary approximates the kernel of the estimator."""
    return isinstance(getattr(estimator, "approximation", None), Dictionary)


def check_not_precomputed(estimator: BaseEstimator) -> None:
    """Raise ValueError if the parameters require a precomputed matrix, which a collection cannot be."""
    for name, value in estimator.get_params(deep=False).items():
        precomputed = isinstance(value, str) and value.startswith("precomputed")
        if precomputed and name in ("affinity", "kernel", "metric"):
            raise ValueError(
                f"{name}={value!r} needs the whole matrix in memory, and X is a dask collection; pass rows of"
                " features, or X.compute()"
            )


def _check_landmark_points(landmarks: Any) -> None:
    """Raise ValueError for landmarks given as row indices, which do not refer to rows of the sample."""
    if (
        landmarks is None
        or isinstance(landmarks, str)
        or sparse.issparse(landmarks)
        or np.ndim(landmarks) != 1
    ):
        return
    raise ValueError(
        "landmarks are given as row indices, and only a sample of X, a dask collection, is in memory;"
        " pass the points themselves, as in landmarks=X[indices].compute(), or n_landmarks"
    )


def _stability(estimator: BaseEstimator, sample: Sample) -> float:
    """Return the movement of points, after alignment, when the map is fitted to half of the sample.

    It is relative to the spread of the map; infinite if half of the sample gives fewer coordinates.
    """
    points = sample.held_out if sample.held_out.shape[0] else sample.rows
    half = clone(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit to the whole sample has issued its warnings
        try:
            before = half.fit(sample.rows[sample.half]).transform(points)
        except (RankError, ValueError):
            return np.inf
        after = estimator.transform(points)
    return aligned_error(_unit_spread(before), _unit_spread(after)) if before.shape == after.shape else np.inf


def _unit_spread(Z: np.ndarray) -> np.ndarray:
    """Scale coordinates to unit spread, since some methods scale with the number of points."""
    return Z / max(float(np.linalg.norm(Z - Z.mean(axis=0))), np.finfo(float).tiny)
