"""Recursive two-way cuts (Shi and Malik 2000): a tree of thresholds on generalised eigenvectors.

Every part is cut at the threshold on one of the coordinates with the smallest normalised cut of its own
graph, and of all parts the one with the smallest cut is split next. Shi and Malik solve an eigenproblem
for every part; here all cuts use the eigenfunctions of the whole graph, so that a new point, which has them
by the Nystrom formula, descends the same tree.

See docs/decisions/methods-clusters.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import softmax

from eigenscape._display import short_repr
from eigenscape._typing import Matrix
from eigenscape.methods.clustering import best_cut


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
