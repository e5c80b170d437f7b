"""Rules that assign points to clusters by their coordinates, and memberships of points in clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import softmax

from eigenscape._typing import Matrix
from eigenscape.eigenfunctions import Embedding
from eigenscape.methods.clustering import best_threshold, discretizing_rotation, pivoted_rotation
from eigenscape.methods.recursive_cuts import CutTree, recursive_cuts, side_spread


@dataclass(frozen=True)
class Threshold:
    """Assigns labels 0 and 1 by a threshold on the first coordinate."""

    value: float
    spread: float  # standard deviation within the two sides

    n_clusters = 2

    def predict(self, coordinates: np.ndarray) -> np.ndarray:
        return (coordinates[:, 0] > self.value).astype(np.int64)

    def memberships(self, coordinates: np.ndarray) -> np.ndarray:
        excess = (coordinates[:, 0] - self.value) / self.spread
        return softmax(np.column_stack([-np.maximum(excess, 0), -np.maximum(-excess, 0)]), axis=1)


@dataclass(frozen=True, eq=False)
class NearestCenter:
    """Assigns the label of the nearest centre."""

    _shapes: ClassVar = {"centers": "clusters *"}
    centers: np.ndarray  # (n_clusters, n_components)
    spread: float  # standard deviation within clusters

    @property
    def n_clusters(self) -> int:
        return len(self.centers)

    def predict(self, coordinates: np.ndarray) -> np.ndarray:
        return cdist(coordinates, self.centers, "sqeuclidean").argmin(axis=1)

    def memberships(self, coordinates: np.ndarray) -> np.ndarray:
        squares = cdist(coordinates, self.centers, "sqeuclidean")
        return softmax(-squares / (2 * self.spread**2), axis=1)


@dataclass(frozen=True, eq=False)
class Rotation:
    """Assigns points to the largest entry of their rotated coordinates."""

    _shapes: ClassVar = {"matrix": "r r"}
    matrix: np.ndarray  # (n_clusters, n_clusters)
    magnitude: bool  # whether entries are compared by their magnitude

    @property
    def n_clusters(self) -> int:
        return len(self.matrix)

    def predict(self, coordinates: np.ndarray) -> np.ndarray:
        return np.argmax(self._sizes(coordinates), axis=1)

    def _sizes(self, coordinates: np.ndarray) -> np.ndarray:
        rotated = coordinates @ self.matrix
        return np.abs(rotated) if self.magnitude else rotated

    def memberships(self, coordinates: np.ndarray) -> np.ndarray:
        sizes = self._sizes(coordinates)
        least = np.minimum(sizes.max(axis=1, keepdims=True), 0.0)  # below 0 only if all entries are
        squares = np.square(
            np.where(least < 0, sizes - sizes.min(axis=1, keepdims=True), np.maximum(sizes, 0))
        )
        total = squares.sum(axis=1, keepdims=True)
        return np.divide(squares, total, out=np.full_like(squares, 1 / self.n_clusters), where=total > 0)


Rule = Threshold | NearestCenter | Rotation | CutTree


def rule_of_cuts(matrix: Matrix, model: Embedding, n_clusters: int, recursive: bool) -> Threshold | CutTree:
    """Return the rule of the smallest normalised cuts: repeated ones, or one of the first coordinate."""
    if recursive:
        return recursive_cuts(matrix, model.coordinates, n_clusters)
    z = model.coordinates[:, 0]
    value = best_threshold(matrix, z)
    return Threshold(value, side_spread(z, value))


def rule_of_rotation(
    coordinates: np.ndarray, functions: np.ndarray, pivoted: bool, seed: int, weights: np.ndarray | None
) -> Rotation:
    """Return the rule of rotated coordinates; ``functions`` are the eigenfunctions, not scaled."""
    if pivoted:
        return Rotation(pivoted_rotation(functions), magnitude=True)
    return Rotation(discretizing_rotation(coordinates, seed, weights), magnitude=False)


def rule_of_centers(
    centers: np.ndarray, coordinates: np.ndarray, labels: np.ndarray, weights: np.ndarray | None
) -> NearestCenter:
    """Return the rule of the nearest centre, with the spread of the clusters."""
    squares = np.square(coordinates - centers[labels]).sum(axis=1)
    variance = np.average(squares, weights=weights) / max(coordinates.shape[1] - 1, 1)
    return NearestCenter(centers, max(float(np.sqrt(variance)), 1e-6))  # rows have length one


def rule_attributes(rule: Rule) -> dict[str, Any]:
    """Return the fitted attributes of an estimator that describe how points are assigned."""
    attributes: dict[str, Any] = {"_rule_": rule, "n_clusters_": rule.n_clusters}
    if isinstance(rule, CutTree):
        return {**attributes, "linkage_": rule.linkage()}
    if isinstance(rule, Threshold):
        return {**attributes, "threshold_": rule.value}
    if isinstance(rule, Rotation):
        return {**attributes, "rotation_": rule.matrix}
    return {**attributes, "cluster_centers_": rule.centers}
