"""What the user wishes for landmarks, checked before any work."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from eigenscape.dictionary.landmarks import NAMES, choose_points
from eigenscape.estimators._graph import Neighborhood
from eigenscape.estimators._validation import (
    check_choice,
    check_count,
    check_positive,
    check_symmetric,
    check_zero_diagonal,
)
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.graph.row_index import RowIndex, distinct_rows
from eigenscape.graph.sparse_distances import with_self
from eigenscape.kernels.base import BoundKernel, n_points
from eigenscape.kernels.distance import squared_distance_rows
from eigenscape.methods.landmark_mds import LandmarkSearch


@dataclass(frozen=True)
class LandmarkWish:
    """How many landmarks, and which: chosen by ``how``, or given as samples or as points."""

    count: int | None  # None: as many as it takes
    how: str | None
    samples: np.ndarray | None = None
    points: Any = None

    @property
    def reason(self) -> str:
        """Why there are so many, where they are not sought."""
        return (
            f"n_landmarks={self.count} was asked for"
            if self.how is not None
            else f"{self.count} landmarks were given"
        )


def check_landmarks(
    n_landmarks: Any, landmarks: Any, tol: Any, n_components: int, X: Any, rows: bool
) -> LandmarkWish:
    """The wish behind ``n_landmarks`` and ``landmarks``; ``rows``: whether ``X`` are rows of features (or
    else a table, or objects)."""
    check_positive("landmark_tol", tol)
    n = n_points(X)
    if isinstance(landmarks, str):
        check_choice("landmarks", landmarks, NAMES)
        if landmarks == "kmeans" and not rows:
            raise ValueError(
                "landmarks='kmeans' needs rows of features to average; use 'maxmin', 'greedy' or 'random' for distances"
            )
        wish = LandmarkWish(None if n_landmarks == "auto" else _check_number(n_landmarks, n), landmarks)
    else:
        wish = _given(landmarks, X, rows)
        if n_landmarks not in (None, "auto") and check_count("n_landmarks", n_landmarks) != wish.count:
            raise ValueError(
                f"n_landmarks={n_landmarks}, but landmarks gives {wish.count}; leave n_landmarks out"
            )
    least = n_components + 1
    if wish.count is not None and wish.count < least:
        name = "n_landmarks" if wish.how is not None else "len(landmarks)"
        raise ValueError(
            f"{name}={wish.count} are too few for n_components={n_components}, which need at least {least}; take more landmarks, or lower"
            " n_components"
        )
    return wish


def _check_number(n_landmarks: Any, n: int) -> int:
    if isinstance(n_landmarks, bool) or not isinstance(n_landmarks, numbers.Integral) or n_landmarks < 1:
        raise ValueError(f"n_landmarks={n_landmarks!r} must be an integer of at least 1, or 'auto'")
    if n_landmarks > n:
        raise ValueError(
            f"n_landmarks={n_landmarks} needs as many samples, got n_samples={n}; lower n_landmarks"
        )
    return int(n_landmarks)


def _given(landmarks: Any, X: Any, rows: bool) -> LandmarkWish:
    """Sample numbers, or points like those of ``X``."""
    given = landmarks if sparse.issparse(landmarks) else np.asarray(landmarks)
    if given.ndim == 1 and given.dtype.kind in "iu":
        return LandmarkWish(len(given), None, samples=_check_samples(given, X))
    if X.ndim == 1 and given.ndim == 1 and given.dtype.kind in "OUS":  # objects
        points = np.empty(len(given), dtype=object)
        points[:] = list(landmarks)
    elif rows and given.ndim == 2 and given.dtype.kind in "fiu":
        points = (
            sparse.csr_array(given, dtype=np.float64) if sparse.issparse(given) else given.astype(np.float64)
        )
        if points.shape[1] != X.shape[1]:
            raise ValueError(
                f"landmarks given as points have {points.shape[1]} features, but the samples have {X.shape[1]}"
            )
        if not np.isfinite(points.data if sparse.issparse(points) else points).all():
            raise ValueError("landmarks given as points must be finite")
    else:
        kinds = ", ".join(map(repr, NAMES))
        raise ValueError(
            f"landmarks must be one of {kinds}, a list of sample numbers, or points like the samples; got an array of shape"
            f" {given.shape} and type {given.dtype}"
        )
    if n_points(points) == 0:
        raise ValueError("landmarks is empty; give at least n_components + 1")
    twin = RowIndex(points).find(points) != np.arange(n_points(points))
    if twin.any():
        second = int(np.argmax(twin))
        raise ValueError(
            f"landmarks must be different points, but number {second} is equal to an earlier one; leave it out"
        )
    return LandmarkWish(n_points(points), None, points=points)


def _check_samples(samples: np.ndarray, X: Any) -> np.ndarray:
    n = n_points(X)
    outside = samples[(samples < 0) | (samples >= n)]
    if len(outside):
        raise ValueError(f"landmarks must be numbers of samples, 0 to {n - 1}, got {outside[0]}")
    found = np.array([], dtype=np.intp) if len(samples) == 0 else RowIndex(X[samples]).find(X[samples])
    once = len(np.unique(samples)) == len(samples)
    if (once and len(samples) == n) or (
        found == np.arange(len(samples))
    ).all():  # all samples may be landmarks, equal or not
        return samples.astype(np.intp)
    second = int(np.argmax(found != np.arange(len(samples))))
    raise ValueError(
        f"landmarks must be different points, but samples {samples[found[second]]} and {samples[second]} are the same; leave one out"
    )


def check_narrow(X: np.ndarray, wish: LandmarkWish) -> None:
    """A precomputed matrix with a column for each landmark only."""
    if wish.samples is None or len(wish.samples) != X.shape[1]:
        raise ValueError(
            f"a precomputed matrix must be square (n_samples, n_samples), or have one column for each landmark given as a sample number;"
            f" got shape {X.shape}; did you pass the data themselves?"
        )
    own = X[wish.samples]
    check_symmetric(own, "distance")
    check_zero_diagonal(own)


def different_samples(X: Any, wish: LandmarkWish) -> np.ndarray:
    """The samples to choose landmarks from: of equal ones the first."""
    first = distinct_rows(X)[0]
    if wish.count is not None and len(first) < wish.count < n_points(X):
        raise ValueError(
            f"n_landmarks={wish.count} needs as many different samples, got {len(first)}; lower n_landmarks"
        )
    return first


def choose_samples(
    distance: BoundKernel, X: Any, candidates: np.ndarray, how: str, count: int, seed: int
) -> np.ndarray:
    """``count`` of the ``candidates``, or all samples where so many are wanted."""
    if count == n_points(X):
        return np.arange(count)
    row = squared_distance_rows(distance)
    whole = len(candidates) == n_points(X)
    points = X if whole else X[candidates]
    among = choose_points(
        points, row if whole else lambda i: row(candidates[i])[candidates], how, count, seed
    )
    return candidates[among]


def given_vertices(X: Any, wish: LandmarkWish, neighborhood: Neighborhood) -> np.ndarray | None:
    """The samples given for landmarks, of equal ones the first; for points their nearest samples."""
    if wish.how is not None:
        return None
    given = wish.samples
    if given is None:
        index = neighbor_index(
            X, neighborhood.metric, neighborhood.metric_params, neighborhood.n_jobs, "exact"
        )
        given = index.nearest(wish.points, 1)[1][:, 0]
        if len(np.unique(given)) < len(given):
            raise ValueError(
                "two of the points given for landmarks have the same nearest sample; leave one out"
            )
    rows = with_self(X) if neighborhood.metric == "precomputed" and sparse.issparse(X) else X
    return np.unique(RowIndex(rows).find(rows[given]))


def landmark_attributes(
    wish: LandmarkWish, which: np.ndarray | None, searches: Sequence[LandmarkSearch] = ()
) -> dict[str, Any]:
    """What a fitted estimator tells about its landmarks."""
    landmarks = wish.points if which is None else which
    return {
        "landmarks_": landmarks,
        "n_landmarks_": n_points(landmarks),
        "landmark_steps_": [step for search in searches for step in search.steps],
        "landmark_reason_": "; ".join(search.reason for search in searches) or wish.reason,
    }
