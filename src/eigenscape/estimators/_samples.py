"""Methods that need their rows together, fitted to a collection: learnt from a sample of it, with what the
sample costs."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from eigenscape import distributed
from eigenscape.estimators._collections import collected
from eigenscape.exceptions import RankError
from eigenscape.kernels.distance import HalfSquaredDistance
from eigenscape.quality.alignment import aligned_error


class SampleLoss(NamedTuple):
    """The criterion of Bengio sec. 4 on the sample itself, and on rows that are not in it (NaN where all
    are)."""

    sample: float
    held_out: float


def fit_to_sample(estimator: Any, X: Any, spectral: bool = True) -> Any:
    """Fit to rows chosen farthest first from all partitions; every row of the collection is placed by
    ``transform``, lazily.

    The estimator then has ``sample_indices_``, ``sample_stability_`` and, where it has a kernel,
    ``sample_loss_``."""
    blocks = collected(estimator, X, reset=True)
    refuse_tables(estimator)
    wish = estimator.get_params(deep=False)
    landmarks, wanted = wish.get("landmarks"), wish.get("n_landmarks")
    _refuse_numbers(landmarks)
    distance = HalfSquaredDistance(wish.get("metric", "euclidean"), dict(wish.get("metric_params") or {}))
    size = distributed.sample_size(wanted if isinstance(wanted, int) else 2)
    sample = distributed.choose_sample(
        blocks, size, distance, "greedy" if isinstance(landmarks, str) and landmarks == "greedy" else "maxmin"
    )
    estimator.fit(sample.rows)
    collected(estimator, X, reset=True)  # fitting to an array has dropped the names of the columns
    estimator.sample_indices_ = sample.numbers
    chosen = vars(estimator).get("landmarks_")
    if chosen is not None and np.ndim(chosen) == 1:  # numbers of rows, not points
        estimator.landmarks_ = sample.numbers[chosen]
    estimator.sample_stability_ = _stability(estimator, sample)
    if spectral and "eigenvalues_" in vars(estimator):
        held_out = estimator.loss(sample.held_out) if sample.held_out.shape[0] else np.nan
        estimator.sample_loss_ = SampleLoss(estimator.loss(), held_out)
    estimator.embedding_ = estimator.transform(X)
    return estimator


def refuse_tables(estimator: Any) -> None:
    """A table of distances to all rows is no collection of rows."""
    for name, value in estimator.get_params(deep=False).items():
        if (
            name in ("affinity", "kernel", "metric")
            and isinstance(value, str)
            and value.startswith("precomputed")
        ):
            raise ValueError(
                f"{name}={value!r} needs the whole matrix in memory, and X is a dask collection; pass rows of features, or X.compute()"
            )


def _refuse_numbers(landmarks: Any) -> None:
    """Row numbers of a collection mean nothing in its sample."""
    if (
        landmarks is None
        or isinstance(landmarks, str)
        or sparse.issparse(landmarks)
        or np.ndim(landmarks) != 1
    ):
        return
    raise ValueError(
        "landmarks are given by their row numbers, and X is a dask collection, of which only a sample is at hand; give the points"
        " themselves, as in landmarks=X[numbers].compute(), or let them be chosen (n_landmarks)"
    )


def _stability(estimator: Any, sample: Any) -> float:
    """How far rows move, after alignment and over the spread of the map, when it is made of half the sample.

    Infinite where half the sample gives no map with as many coordinates.
    """
    points = sample.held_out if sample.held_out.shape[0] else sample.rows
    half = clone(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what there is to say was said of the whole sample
        try:
            before = half.fit(sample.rows[sample.half]).transform(points)
        except (RankError, ValueError):
            return np.inf
        now = estimator.transform(points)
    return aligned_error(_unit(before), _unit(now)) if before.shape == now.shape else np.inf


def _unit(Z: np.ndarray) -> np.ndarray:
    """Of unit spread: some methods scale with the number of points."""
    return Z / max(float(np.linalg.norm(Z - Z.mean(axis=0))), np.finfo(float).tiny)
