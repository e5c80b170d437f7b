"""Parameters and assignment of clusters, for :class:`~eigenscape.SpectralClustering`."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eigenscape._parameters import check_enough
from eigenscape._progress import stage
from eigenscape._warnings import warn
from eigenscape.dictionary.low_rank import LowRankKernel, LowRankOperator
from eigenscape.eigenfunctions import Embedding
from eigenscape.estimators._affinity import fit_affinity_dictionary
from eigenscape.estimators._base import FitResult
from eigenscape.estimators._dictionary import TrainingRows, warn_if_disconnected
from eigenscape.estimators._rows import check_input
from eigenscape.estimators._running import rowwise, running
from eigenscape.estimators._weights import DICTIONARY_WEIGHTS, refuse_weights
from eigenscape.exceptions import NotEnoughMemoryError, WeakEvidenceWarning
from eigenscape.methods.assignment import (
    NearestCenter,
    Rotation,
    Rule,
    rule_attributes,
    rule_of_centers,
    rule_of_cuts,
    rule_of_rotation,
)
from eigenscape.methods.clustering import CountEvidence, cluster_centers, normalized_cut
from eigenscape.methods.dictionary_embedding import greedy_spectral_map
from eigenscape.methods.laplacian import require_eigenfunctions
from eigenscape.operators import Operator

#: Methods that compare cuts, and need the affinity matrix.
BY_CUT = ("threshold", "recursive")


def check_clusters(estimator: Any, n_samples: int) -> None:
    """Raise ValueError for parameters of clusters that contradict each other or need more samples."""
    method, n_clusters, n_components = estimator.assign_labels, estimator.n_clusters, estimator.n_components
    if n_clusters != "auto":
        _check_counts(method, n_clusters, n_clusters if n_components is None else n_components, n_samples)
    if method == "threshold" and n_clusters != 2:
        raise ValueError(
            f"assign_labels='threshold' gives two clusters, got n_clusters={n_clusters}; use"
            " assign_labels='kmeans'"
        )
    if method in BY_CUT and estimator.approximation is not None:
        raise ValueError(
            f"assign_labels={method!r} compares all cuts, which needs all similarities; use 'kmeans' with a"
            " dictionary"
        )
    if n_clusters == "auto" and estimator.approximation is not None:
        raise ValueError(
            "n_clusters='auto' reweights all samples, and a dictionary counts every row once; set"
            " n_clusters, or leave out the dictionary"
        )
    if n_clusters == "auto" and n_samples < 4:
        raise ValueError(f"n_clusters='auto' needs at least 4 samples, got n_samples={n_samples}")
    if n_clusters == "auto" and n_components is not None:
        raise ValueError(
            f"n_components={n_components} cannot be set with n_clusters='auto', which takes as many as"
            " clusters; leave it out"
        )


def _check_counts(method: str, n_clusters: int, n_components: int, n_samples: int) -> None:
    """Raise ValueError if there cannot be so many clusters, or not with so many coordinates."""
    if method != "kmeans" and n_components != n_clusters:
        raise ValueError(
            f"assign_labels={method!r} needs as many coordinates as clusters, got n_components={n_components}"
            f" and n_clusters={n_clusters}; leave n_components out, or use assign_labels='kmeans'"
        )
    if n_components == 1 < n_clusters:
        raise ValueError(
            f"n_components=1 cannot separate n_clusters={n_clusters} clusters, because the rows of the"
            " embedding are scaled to length one; use n_components of at least 2"
        )
    for name, value in (("n_clusters", n_clusters), ("n_components", n_components)):
        check_enough(name, value, value, n_samples)


def n_coordinates(estimator: Any, n_clusters: int) -> int:
    """Return the number of coordinates from which the clusters are derived."""
    if estimator.assign_labels == "recursive":
        return max(n_clusters - 1, 1)
    if estimator.assign_labels == "threshold":
        return 1
    return n_clusters if estimator.n_components is None else int(estimator.n_components)


def chosen_count(evidence: CountEvidence, connected: bool) -> int:
    """Return the number of clusters that the evidence favours; warn if it is doubtful."""
    n_clusters = evidence.best(connected)
    if evidence.is_weak:
        warn(
            f"n_clusters='auto' chose {n_clusters}, but no number of clusters from 2 to"
            f" {evidence.n_clusters[-1]} is stable when the samples are reweighted (at best"
            f" {evidence.stability.max():.2f}, see cluster_evidence_); the data may have no clusters",
            WeakEvidenceWarning,
        )
    elif evidence.is_contradicted(n_clusters):
        largest = evidence.n_clusters[np.argmax(evidence.eigengap)]
        warn(
            f"n_clusters='auto' chose {n_clusters}, which is stable when the samples are reweighted, but the"
            f" eigengap after {largest} is more than twice as large (see cluster_evidence_)",
            WeakEvidenceWarning,
        )
    return n_clusters


def require_stored(estimator: Any, edges: Any) -> None:
    """Raise if the cut of a graph is required, and its affinity matrix does not fit in memory."""
    if estimator.assign_labels in BY_CUT and edges.storage == "blocked":
        raise NotEnoughMemoryError(
            f"assign_labels={estimator.assign_labels!r} needs the affinity matrix in memory; use"
            " assign_labels='kmeans'"
        )


def require_clusters(model: Embedding, n_components: int, n_clusters: int, whole: bool) -> None:
    """Raise an error if the map of all samples (``whole``) or of the largest component is too small."""
    if whole:
        require_eigenfunctions(model, n_components)
    elif len(model.eigenvalues) < n_components:
        raise ValueError(
            f"the largest component has {model.n_train} distinct samples and {len(model.eigenvalues)}"
            f" eigenfunctions, but n_clusters={n_clusters} needs {n_components}; lower n_clusters, or use a"
            " graph with fewer components"
        )


def assign_clusters(
    estimator: Any,
    result: FitResult,
    model: Embedding,
    edges: Operator | LowRankOperator,
    n_clusters: int,
    weights: np.ndarray | None = None,
) -> FitResult:
    """Assign samples to clusters; ``model`` and ``edges`` belong to the part that is embedded."""
    coordinates = result.coordinates()
    rule: Rule
    if estimator.assign_labels in BY_CUT:
        matrix = None if isinstance(edges, LowRankOperator) else edges.matrix()
        assert matrix is not None
        rule = rule_of_cuts(matrix, model, n_clusters, estimator.assign_labels == "recursive")
    else:
        with stage("clustering"):
            functions = model.eigenfunctions.on_training
            rule = assignment_rule(estimator, coordinates, functions, n_clusters, weights)
    return result.with_attributes(
        {
            **rule_attributes(rule),
            "labels_": rule.predict(coordinates).astype(np.int64),
            "ncut_": normalized_cut(edges, rule.predict(model.coordinates)),
        }
    )


def map_by_dictionary(estimator: Any, rows: Any) -> FitResult:
    """Return the map of training rows by a kernel in the span of a dictionary, without clusters."""
    check_clusters(estimator, rows.n_rows)
    n_components = n_coordinates(estimator, estimator.n_clusters)  # not "auto", which is refused
    state, given, attributes = fit_affinity_dictionary(estimator, rows, n_components)
    model = greedy_spectral_map(state, given, n_components, rows.stored)
    warn_if_disconnected(model, estimator.on_disconnected)
    return FitResult(model, attributes)


def cluster_by_dictionary(estimator: Any, X: Any, weights: np.ndarray | None) -> FitResult:
    """Cluster samples by the eigenfunctions of a kernel in the span of a dictionary."""
    refuse_weights(weights, "a dictionary", DICTIONARY_WEIGHTS)
    result = map_by_dictionary(estimator, TrainingRows(X))
    model = result.embedding
    assert isinstance(model, Embedding)
    assert isinstance(model.kernel, LowRankKernel)
    return assign_clusters(estimator, result, model, LowRankOperator(model.kernel), estimator.n_clusters)


def assignment_rule(
    estimator: Any,
    coordinates: np.ndarray,
    functions: np.ndarray,
    n_clusters: int,
    weights: np.ndarray | None = None,
) -> Rotation | NearestCenter:
    """Return the rule that assigns coordinates; ``functions`` are the eigenfunctions, not scaled."""
    seed, method = estimator._seed(), estimator.assign_labels
    if method != "kmeans":
        return rule_of_rotation(coordinates, functions, method == "cluster_qr", seed, weights)
    centers = cluster_centers(coordinates, n_clusters, estimator.n_init, seed, estimator.n_jobs, weights)
    return rule_of_centers(centers, coordinates, weights)


@rowwise(None, dtype=np.int64)
def predict(self: Any, X: Any) -> np.ndarray:
    """Return the cluster of each point.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_new, n_features)
        Points, as for ``transform``.

    Returns
    -------
    ndarray of shape (n_new,)
    """
    check_is_fitted(self)
    with running(self):
        X = check_input(self, X, reset=False)
        return self._rule_.predict(self._model_.transform(X)).astype(np.int64)


@rowwise("n_clusters_", dtype=np.float64)
def predict_proba(self: Any, X: Any) -> np.ndarray:
    """Return the membership of each point in each cluster.

    Memberships are functions of the eigenfunctions at a point, not calibrated probabilities. With
    "kmeans" they are memberships in Gaussians of equal width around the centres; with "discretize" and
    "cluster_qr" the squares of the rotated coordinates; with "threshold" and "recursive" they decrease
    exponentially with the distance from the thresholds that separate a point from a cluster.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_new, n_features)
        Points, as for ``transform``.

    Returns
    -------
    ndarray of shape (n_new, n_clusters)
        Rows have the sum 1, and the largest entry belongs to the cluster that ``predict`` returns.
    """
    check_is_fitted(self)
    with running(self):
        X = check_input(self, X, reset=False)
        return self._rule_.memberships(self._model_.transform(X))
