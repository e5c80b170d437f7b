"""Rules that assign points to clusters by their coordinates, and memberships of points in clusters.

Recursive two-way cuts (Shi and Malik 2000) are a tree of thresholds on generalised eigenvectors: every part
is cut at the threshold on one of the coordinates with the smallest normalised cut of its own graph, and the
part with the smallest cut is split next. Shi and Malik solve an eigenproblem for every part; here all cuts
use the eigenfunctions of the whole graph, so that a new point, which has them by the Nystrom formula,
descends the same tree.

See docs/decisions/methods-clusters.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.spatial.distance import cdist
from scipy.special import softmax

from eigenscape._display import short_repr
from eigenscape._typing import Matrix
from eigenscape.eigenfunctions import Embedding
from eigenscape.methods.clustering import best_cut, best_threshold, discretizing_rotation, pivoted_rotation


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


@dataclass(frozen=True, eq=False)
class CutTree:
    """A binary tree whose leaves are clusters, numbered from left to right.

    A child is the index of a further split, or ``-1 - label`` for a leaf.
    """

    coordinate: np.ndarray  # (k - 1,) coordinate that each split compares
    threshold: np.ndarray  # (k - 1,)
    below: np.ndarray  # (k - 1,) child of points at or below the threshold
    above: np.ndarray  # (k - 1,) child of points above it
    spread: np.ndarray  # (k - 1,) standard deviation of the coordinate within the two sides
    cut: np.ndarray  # (k - 1,) normalised cut of each split, within its part

    __repr__ = short_repr

    @property
    def n_clusters(self) -> int:
        return len(self.cut) + 1

    def predict(self, coordinates: np.ndarray) -> np.ndarray:
        """Return the leaf of each row of coordinates."""
        node = np.full(len(coordinates), 0 if len(self.cut) else -1)
        while (active := np.flatnonzero(node >= 0)).size:
            split = node[active]
            is_above = coordinates[active, self.coordinate[split]] > self.threshold[split]
            node[active] = np.where(is_above, self.above[split], self.below[split])
        return -1 - node

    def memberships(self, coordinates: np.ndarray) -> np.ndarray:
        """Return ``exp(-distance)`` of each row to the leaves, scaled to sum 1.

        The distance is the sum over the splits above a leaf of how far the row is on the other side of the
        threshold, in units of the spread; 0 for the leaf of the row alone.
        """
        penalty = np.zeros((len(coordinates), self.n_clusters))

        def descend(node: int, total: np.ndarray) -> None:
            if node < 0:
                penalty[:, -1 - node] = total
                return
            excess = (coordinates[:, self.coordinate[node]] - self.threshold[node]) / self.spread[node]
            descend(int(self.below[node]), total + np.maximum(excess, 0))
            descend(int(self.above[node]), total + np.maximum(-excess, 0))

        descend(0 if len(self.cut) else -1, np.zeros(len(coordinates)))
        return softmax(-penalty, axis=1)

    def linkage(self) -> np.ndarray:
        """Return the tree as a linkage matrix of SciPy (k - 1, 4), whose observations are the clusters.

        The height of a split is ``2 - cut``, raised to the height of the splits below it where it is lower.
        """
        k = self.n_clusters
        height, count, depth = 2 - self.cut, np.zeros(k - 1), np.zeros(k - 1, dtype=int)
        for split in range(k - 1):  # a split comes after the one above it
            for child in self._splits_of(split):
                depth[child] = depth[split] + 1
        for split in range(k - 2, -1, -1):
            children = self._splits_of(split)
            height[split] = max([height[split], *height[children]])
            count[split] = sum(count[children]) + 2 - len(children)
        order = np.lexsort((-depth, height))
        number = np.empty(k - 1, dtype=int)
        number[order] = k + np.arange(k - 1)
        sides = [
            np.where(side < 0, -1 - side, number[np.maximum(side, 0)]) for side in (self.below, self.above)
        ]
        return np.column_stack([np.sort(np.column_stack(sides), axis=1), height, count]).astype(float)[order]

    def _splits_of(self, split: int) -> list[int]:
        return [int(child) for child in (self.below[split], self.above[split]) if child >= 0]


class _Split(NamedTuple):
    """The best cut of a part."""

    members: np.ndarray
    coordinate: int
    threshold: float
    cut: float


def recursive_cuts(weights: Any, coordinates: np.ndarray, n_clusters: int) -> CutTree:
    """Split the graph with edge weights (m, m) into ``n_clusters`` parts, by the smallest cut first."""
    parts = [_best_split(weights, coordinates, np.arange(len(coordinates)))]
    splits: list[_Split] = []
    sides: list[list[int]] = []  # children of each split: indices in `parts`
    part_of: list[int] = [0]  # parts that are leaves now
    split_of: dict[int, int] = {}  # the split of each part that is not
    while len(part_of) < n_clusters:
        chosen = min(part_of, key=lambda part: parts[part].cut)
        best = parts[chosen]
        if not np.isfinite(best.cut):
            raise ValueError(
                f"only {len(part_of)} parts are separated by thresholds on the eigenvectors, got"
                f" n_clusters={n_clusters}; lower n_clusters or use assign_labels='kmeans'"
            )
        is_above = coordinates[best.members, best.coordinate] > best.threshold
        split_of[chosen] = len(splits)
        splits.append(best)
        part_of.remove(chosen)
        sides.append([len(parts), len(parts) + 1])
        part_of += sides[-1]
        parts += [_best_split(weights, coordinates, best.members[side]) for side in (~is_above, is_above)]
    labels: dict[int, int] = {}
    _number_leaves(0, sides, split_of, labels)
    children = np.array(
        [[split_of[side] if side in split_of else -1 - labels[side] for side in pair] for pair in sides],
        dtype=np.int64,
    ).reshape(-1, 2)
    return CutTree(
        np.array([split.coordinate for split in splits], dtype=np.int64),
        np.array([split.threshold for split in splits]),
        children[:, 0],
        children[:, 1],
        np.array(
            [side_spread(coordinates[split.members, split.coordinate], split.threshold) for split in splits]
        ),
        np.array([split.cut for split in splits]),
    )


def _number_leaves(
    part: int, sides: list[list[int]], split_of: dict[int, int], labels: dict[int, int]
) -> None:
    """Number the parts that are not split from left to right."""
    if part not in split_of:
        labels[part] = len(labels)
        return
    for side in sides[split_of[part]]:
        _number_leaves(side, sides, split_of, labels)


def _best_split(weights: Matrix, coordinates: np.ndarray, members: np.ndarray) -> _Split:
    """Return the best of the cuts along the coordinates; its cut is infinite if there is none."""
    part = weights[members][:, members]
    found = [best_cut(part, column) for column in coordinates[members].T]
    best = int(np.argmin([cut for _, cut in found]))
    return _Split(members, best, *found[best])


def side_spread(z: np.ndarray, threshold: float) -> float:
    """Return the standard deviation within the two sides of a threshold, or else half their distance."""
    is_above = z > threshold
    low, high = z[~is_above], z[is_above]
    within = np.concatenate([low - low.mean(), high - high.mean()])
    spread = float(np.sqrt(np.square(within).mean()))
    return spread if spread > 1e-9 * np.ptp(z) else float(high.mean() - low.mean()) / 2


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
    centers: np.ndarray, coordinates: np.ndarray, weights: np.ndarray | None
) -> NearestCenter:
    """Return the rule of the nearest centre, with the spread of the clusters."""
    squares = cdist(coordinates, centers, "sqeuclidean").min(axis=1)
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
