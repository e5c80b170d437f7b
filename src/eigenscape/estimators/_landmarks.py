"""Validation and choice of landmarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigenscape._numbers import check_numbers, check_symmetric, check_zero_diagonal, checked_sparse
from eigenscape._parameters import check_enough
from eigenscape._typing import is_sparse
from eigenscape.dictionary.landmarks import NAMES, choose_points
from eigenscape.estimators._base import FitResult
from eigenscape.estimators._distances import DistanceSpectrum
from eigenscape.estimators._graph import Neighborhood, given_neighborhood, neighborhood_graph
from eigenscape.estimators._rows import check_features
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.graph.row_index import RowIndex, distinct_rows
from eigenscape.graph.sparse_distances import with_self
from eigenscape.kernels.base import BoundKernel, n_points
from eigenscape.kernels.distance import squared_distance_rows
from eigenscape.methods.isomap import landmark_isomap, require_landmark_memory
from eigenscape.methods.landmark_mds import LandmarkSearch
from eigenscape.options import Landmarks
from eigenscape.pieces import split_graph


@dataclass(frozen=True)
class LandmarkChoice:
    """Number and choice of landmarks.

    Parameters
    ----------
    count : int or None
        Number of landmarks; None if a sufficient number is searched for.
    method : str or None
        Name of the method that chooses them; None if they are given.
    samples : ndarray or None
        Indices of the samples that are given as landmarks.
    points : array or None
        Points that are given as landmarks.
    """

    count: int | None
    method: str | None
    samples: np.ndarray | None = None
    points: Any = None

    @property
    def reason(self) -> str:
        """Explanation of the number of landmarks, unless it is searched for."""
        return (
            f"{self.count} landmarks were given"
            if self.method is None
            else f"n_landmarks={self.count} is fixed"
        )


def given_landmarks(estimator: Any, default: Landmarks) -> Landmarks:
    """Return the landmarks that the parameters describe, ``default`` for those that are None."""
    n_landmarks, approximation = estimator.n_landmarks, estimator.approximation
    if n_landmarks is not None and approximation is not None:
        raise ValueError(
            f"n_landmarks={n_landmarks!r} is not used with approximation={approximation!r}; set one of them"
        )
    return approximation or (default if n_landmarks is None else default.set_params(n=n_landmarks))


def check_landmarks(landmarks: Landmarks, n_components: int, X: Any, rows: bool) -> LandmarkChoice:
    """Return the choice that the option describes.

    ``rows`` is True if ``X`` contains rows of features, False for a table of distances or objects."""
    if isinstance(landmarks.selection, str):
        if landmarks.selection == "kmeans" and not rows:
            raise ValueError(
                "selection='kmeans' needs rows of features to average; use 'maxmin', 'greedy' or 'random' for"
                " distances"
            )
        if isinstance(landmarks.n, int):
            check_enough("n_landmarks", landmarks.n, landmarks.n, n_points(X))
        choice = LandmarkChoice(None if landmarks.n == "auto" else landmarks.n, landmarks.selection)
    else:
        choice = _check_given(landmarks.selection, X, rows)
        if landmarks.n not in (None, "auto", choice.count):
            raise ValueError(f"n={landmarks.n}, but selection contains {choice.count}; leave n out")
    minimum = n_components + 1
    if choice.count is not None and choice.count < minimum:
        name = "len(selection)" if choice.method is None else "n_landmarks"
        raise ValueError(
            f"{name}={choice.count} are too few for n_components={n_components}, which need at least"
            f" {minimum}; use more landmarks, or lower n_components"
        )
    return choice


def _check_given(landmarks: Any, X: Any, rows: bool) -> LandmarkChoice:
    """Return landmarks given as sample indices or as points."""
    given = checked_sparse(landmarks, "selection") if is_sparse(landmarks) else np.asarray(landmarks)
    if isinstance(given, np.ndarray) and given.ndim == 1 and given.dtype.kind in "iu":
        return LandmarkChoice(len(given), None, samples=_check_samples(given, X))
    points: Any
    if X.ndim == 1 and given.ndim == 1 and given.dtype.kind in "OUS":  # objects
        points = np.empty(len(landmarks), dtype=np.object_)
        points[:] = list(landmarks)
    elif rows and given.ndim == 2 and given.dtype.kind in "fiu":
        points = given.tocsr().astype(np.float64) if is_sparse(given) else given.astype(np.float64)
        check_features(points, "selection", X.shape[1])
        check_numbers(points, "selection")
    else:
        raise ValueError(
            f"selection must be one of {', '.join(map(repr, NAMES))}, an array of sample indices, or points"
            f" like the samples; got an array of shape {given.shape} and type {given.dtype}"
        )
    if n_points(points) == 0:
        raise ValueError("selection is empty; give at least n_components + 1")
    duplicate = RowIndex(points).find(points) != np.arange(n_points(points))
    if duplicate.any():
        second = int(np.argmax(duplicate))
        raise ValueError(
            f"landmarks must be different points, but point {second} is equal to an earlier one; leave it out"
        )
    return LandmarkChoice(n_points(points), None, points=points)


def _check_samples(samples: np.ndarray, X: Any) -> np.ndarray:
    """Return valid indices of different samples; all samples may be landmarks, equal or not."""
    n = n_points(X)
    outside = samples[(samples < 0) | (samples >= n)]
    if len(outside):
        raise ValueError(f"landmarks must be sample indices from 0 to {n - 1}, got {outside[0]}")
    found = np.array([], dtype=np.intp) if len(samples) == 0 else RowIndex(X[samples]).find(X[samples])
    is_permutation = len(samples) == n and len(np.unique(samples)) == n
    if is_permutation or (found == np.arange(len(samples))).all():
        return samples.astype(np.intp)
    second = int(np.argmax(found != np.arange(len(samples))))
    raise ValueError(
        f"landmarks must be different points, but samples {samples[found[second]]} and {samples[second]} are"
        " the same; leave one out"
    )


def check_landmark_distances(X: np.ndarray, choice: LandmarkChoice) -> None:
    """Check a precomputed matrix of the distances to landmarks, (n_samples, n_landmarks)."""
    if choice.samples is None or len(choice.samples) != X.shape[1]:
        raise ValueError(
            "a precomputed matrix must be square (n_samples, n_samples), or have one column for each landmark"
            f" given as a sample index; got shape {X.shape}; did you pass the data themselves?"
        )
    between_landmarks = X[choice.samples]
    check_symmetric(between_landmarks, "distance")
    check_zero_diagonal(between_landmarks)


def distinct_samples(X: Any, choice: LandmarkChoice) -> np.ndarray:
    """Return the indices of the distinct samples, from which landmarks are chosen."""
    first = distinct_rows(X)[0]
    if choice.count is not None and choice.count < n_points(X):
        check_enough("n_landmarks", choice.count, choice.count, len(first), "distinct samples")
    return first


def landmark_samples(
    distance: BoundKernel,
    X: Any,
    choice: LandmarkChoice,
    seed: int,
    candidates: np.ndarray | None = None,
    count: int | None = None,
) -> np.ndarray:
    """Return the indices of the given landmarks, or of ``count`` chosen among ``candidates`` or all samples.

    Without ``count`` and ``candidates`` they are those of ``choice``."""
    if choice.samples is not None:
        return choice.samples
    candidates = distinct_samples(X, choice) if candidates is None else candidates
    count = choice.count if count is None else count
    assert choice.method is not None
    assert count is not None
    if count == n_points(X):
        return np.arange(count)
    row, method = squared_distance_rows(distance), choice.method
    if len(candidates) == n_points(X):
        return candidates[choose_points(X, row, method, count, seed)]
    chosen = choose_points(X[candidates], lambda i: row(candidates[i])[candidates], method, count, seed)
    return candidates[chosen]


def given_vertices(X: Any, choice: LandmarkChoice, neighborhood: Neighborhood) -> np.ndarray | None:
    """Return the sample indices of the landmarks given by the user; None if they are to be chosen.

    Landmarks given as points are replaced by their nearest samples, and duplicate samples by the first one.
    """
    if choice.method is not None:
        return None
    given = choice.samples
    if given is None:
        graph = neighborhood.option
        index = neighbor_index(X, graph.metric, graph.metric_params, neighborhood.n_jobs, "exact")
        given = index.nearest(choice.points, 1)[1][:, 0]
        if len(np.unique(given)) < len(given):
            raise ValueError(
                "two of the points given as landmarks have the same nearest sample; leave one out"
            )
    rows = with_self(X) if neighborhood.option.metric == "precomputed" and is_sparse(X) else X
    return np.unique(RowIndex(rows).find(rows[given]))


def landmark_attributes(
    choice: LandmarkChoice, which: np.ndarray | None, searches: Sequence[LandmarkSearch] = ()
) -> dict[str, Any]:
    """Return the fitted attributes that describe the landmarks."""
    landmarks = choice.points if which is None else which
    return {
        "landmarks_": landmarks,
        "n_landmarks_": n_points(landmarks),
        "landmark_steps_": [step for search in searches for step in search.steps],
        "landmark_reason_": "; ".join(search.reason for search in searches) or choice.reason,
    }


def landmark_isomap_result(estimator: Any, X: Any) -> FitResult:
    """Fit landmark Isomap to validated data; ``estimator`` has the parameters of :class:`Isomap`."""
    n, solver, option = estimator.n_components, estimator._solver(), given_landmarks(estimator, Landmarks())
    choice = check_landmarks(option, n, X, not estimator._is_precomputed())
    dtype = np.float32 if X.dtype == np.float32 else np.float64
    require_landmark_memory(X.shape[0], choice.count or n + 1, dtype)
    neighborhood = given_neighborhood(estimator)
    landmarks: dict[str, Any] = {
        "method": choice.method,
        "count": choice.count,
        "given": given_vertices(X, choice, neighborhood),
        "tol": option.tol,
    }
    graph = neighborhood_graph(X, neighborhood, n)
    split = split_graph(graph.graph, estimator.on_disconnected)
    options: dict[str, Any] = {"dtype": dtype, "order": estimator.order, "indefinite": estimator.indefinite}
    results = []
    for number, part in enumerate(split.parts):
        least = min(n, part.n_vertices - 1) if split.is_whole else 1
        results.append(landmark_isomap(part, n, least, solver, piece=number, **landmarks, **options))
    result = graph.result([each.embedding for each in results], split, n)
    which = result.embedding.columns
    if result.vertex is not None:
        which = np.unique(result.vertex, return_index=True)[1][which]
    searches = [each.search for each in results if each.search is not None]
    spectrum = DistanceSpectrum(results[0].distances) if len(results) == 1 else None
    return result.with_attributes({**landmark_attributes(choice, which, searches), "_spectrum_": spectrum})
