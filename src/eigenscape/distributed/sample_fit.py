"""Fits to a dask collection: to all rows by a dictionary, or to a sample of rows in memory."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin, clone

from eigenscape.distributed.blocks import Blocks
from eigenscape.distributed.dictionary import training_rows
from eigenscape.distributed.dispatch import check_not_precomputed, validate_blocks
from eigenscape.distributed.reduce import reduce_blocks
from eigenscape.distributed.sample import Sample, choose_sample, evenly_spaced, sample_size
from eigenscape.exceptions import RankError, UndefinedKernelError
from eigenscape.kernels.distance import HalfSquaredDistance
from eigenscape.methods.assignment import rule_attributes
from eigenscape.methods.clustering import cluster_sums, low_rank_cut
from eigenscape.options import Dictionary, flattened
from eigenscape.quality.alignment import aligned_error

#: Number of rows that k-means clusters if a dictionary is fitted to a collection.
_CLUSTERED_ROWS = 50_000


class SampleLoss(NamedTuple):
    """The criterion of Bengio sec. 4 on the sample, and on pairs of rows that are not in the sample.

    ``held_out`` is NaN if fewer than two rows are not in the sample, or if the kernel is not defined between
    new points (LLE).
    """

    sample: float
    held_out: float


def fit(estimator: Any, X: Any, sample_weight: Any, labels: Any) -> None:
    """Fit an estimator with the hook ``_embed``: to all rows if it has a dictionary, else to a sample."""
    for name, given in (("sample_weight is", sample_weight), ("labels are", labels)):
        if given is not None:
            raise ValueError(f"{name} not supported for a dask collection; pass X.compute()")
    if not isinstance(getattr(estimator, "approximation", None), Dictionary):
        fit_to_sample(estimator, X)
    else:
        rows = training_rows(estimator, X)
        result = estimator._embed_dictionary(rows)
        estimator._model_ = result.embedding
        vars(estimator).update(result.fitted())
        estimator.embedding_ = estimator.transform(X)
        if isinstance(estimator, ClusterMixin):
            _cluster(estimator, rows.blocks)
    if isinstance(estimator, ClusterMixin):
        estimator.labels_ = estimator.predict(X)


def _cluster(estimator: Any, blocks: Blocks) -> None:
    """Cluster evenly spaced rows; compute the cut by sums over all rows."""
    model, rows = estimator._model_, evenly_spaced(blocks, _CLUSTERED_ROWS)
    rule = estimator._rule(model.transform(rows), model.functions(rows), estimator.n_clusters)
    sums = reduce_blocks(cluster_sums, blocks, model, rule)
    estimator.ncut_ = low_rank_cut(model.kernel.span.from_values(sums))
    vars(estimator).update(rule_attributes(rule))


def fit_without_graph(estimator: Any, _: str, X: Any, y: object = None, *, graph: Any = None) -> None:  # noqa: ARG001
    """Fit an estimator to a sample; a given graph is refused."""
    if graph is not None:
        raise TypeError("graph= is not supported for dask collections; leave it out, or pass X.compute()")
    fit_to_sample(estimator, X)


def fit_to_sample(estimator: BaseEstimator, X: Any) -> None:
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
    size = sample_size(n_landmarks if isinstance(n_landmarks, int) else 2)
    greedy = isinstance(landmarks, str) and landmarks == "greedy"
    sample = choose_sample(blocks, size, distance, "greedy" if greedy else "maxmin")
    estimator.fit(sample.rows)
    validate_blocks(estimator, X, reset=True)  # fitting to an array has removed the feature names
    estimator.sample_indices_ = sample.indices
    chosen = vars(estimator).get("landmarks_")
    if chosen is not None and np.ndim(chosen) == 1:  # row indices, not points
        estimator.landmarks_ = sample.indices[chosen]
    estimator.sample_stability_ = _stability(estimator, sample)
    if hasattr(estimator, "loss") and "eigenvalues_" in vars(estimator):
        estimator.sample_loss_ = SampleLoss(estimator.loss(), _held_out_loss(estimator, sample))
    estimator.embedding_ = estimator.transform(X)


def _held_out_loss(estimator: BaseEstimator, sample: Sample) -> float:
    """Return the loss on rows that are not in the sample; NaN if there is none."""
    if sample.held_out.shape[0] < 2:
        return np.nan
    try:
        return estimator.loss(sample.held_out)
    except UndefinedKernelError:
        return np.nan


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
        " pass the points themselves, as in Landmarks(None, X[indices].compute()), or n_landmarks"
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
