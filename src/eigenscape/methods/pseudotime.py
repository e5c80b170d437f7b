r"""Diffusion pseudotime (Haghverdi, Buettner, Wolf, Buettner and Theis, Nature Methods 13, 2016).

With the symmetric transition matrix :math:`T` of a random walk and its first eigenvector :math:`\psi_0`, the
accumulated transition matrix over walks of all lengths is

.. math:: M = \sum_{t=1}^\infty (T - \psi_0 \psi_0')^t = (I - T + \psi_0 \psi_0')^{-1} - I,

and the distance of two points is the distance of their rows, :math:`|M(x, \cdot) - M(y, \cdot)|`. In the
eigenpairs of :math:`T` its square is :math:`\sum_{r \ge 1} (\lambda_r / (1 - \lambda_r))^2 (\psi_r(x) -
\psi_r(y))^2`: the Euclidean distance of coordinates. One row of distances is computed at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eigenscape._memory import row_blocks
from eigenscape._native.loops import concordance
from eigenscape._threads import run_parallel
from eigenscape.methods.tuning import TUNING


def pseudotime_coordinates(values: np.ndarray, vectors: np.ndarray, n_stationary: int) -> np.ndarray:
    """Return ``l_r / (1 - l_r) psi_r`` (n, r) without the stationary eigenvectors, one of each component."""
    values, vectors = values[n_stationary:], vectors[:, n_stationary:]
    return vectors * (values / (1 - values))


@dataclass(frozen=True, eq=False)
class PseudotimeDistances:
    """Distances of diffusion pseudotime between points; infinite between connected components."""

    coordinates: np.ndarray  # (n, r)
    labels: np.ndarray  # (n,) connected component of each point

    def __call__(self, i: int) -> np.ndarray:
        """Compute the distances (n,) of point ``i`` to all."""
        row = np.linalg.norm(self.coordinates - self.coordinates[i], axis=1)
        row[self.labels != self.labels[i]] = np.inf
        return row


def kendall_cut(
    first: np.ndarray, second: np.ndarray, fewest: int = TUNING.cut_points, n_jobs: int | None = None
) -> int:
    r"""Return the number ``t`` of leading elements with the largest difference of Kendall correlations.

    Two sequences of length ``n`` are correlated before the cut and anti-correlated after it:
    :math:`\tau(a_{1..t}, b_{1..t}) - \tau(a_{t+1..n}, b_{t+1..n})` is largest. The sums of signs over pairs
    of all leading and all trailing parts follow from the sums of each element with the elements before and
    after it, in time ``n ** 2`` and memory ``n``. Either part has at least ``fewest`` elements.
    """
    n = len(first)
    before, after = np.empty(n), np.empty(n)

    def count(rows: slice) -> None:
        concordance(first, second, rows.start, rows.stop, before, after)

    run_parallel(count, row_blocks(n, 1, 256), n_jobs)
    t = np.arange(fewest, n - fewest + 1)
    leading = np.cumsum(before)[t - 1] / (t * (t - 1) / 2)
    rest = n - t
    trailing = np.cumsum(after[::-1])[rest - 1] / (rest * (rest - 1) / 2)
    return int(t[np.argmax(leading - trailing)])


@dataclass(frozen=True, eq=False)
class Branch:
    """A group of points with its three tips, the third farthest from the first two."""

    members: np.ndarray  # (n_members,)
    tips: np.ndarray  # (3,) positions in ``members``
    rows: np.ndarray  # (3, n_members) distances from the tips
    score: float  # distances of the third tip to the others, over the distance between these

    @staticmethod
    def of(members: np.ndarray, distances: Callable[[int], np.ndarray], start: int) -> Branch:
        """Return a group whose first tip is farthest from the member at position ``start``."""
        tips, rows = [int(np.argmax(distances(members[start])[members]))], []
        for _ in range(2):
            rows.append(distances(members[tips[-1]])[members])
            tips.append(int(np.argmax(np.sum(rows, axis=0))))
        rows.append(distances(members[tips[2]])[members])
        length = rows[0][tips[1]]
        score = float(rows[0][tips[2]] + rows[1][tips[2]]) / length if length > 0 else 0.0
        return Branch(members, np.array(tips), np.array(rows), score)

    def split(self, fewest: int = TUNING.cut_points, n_jobs: int | None = None) -> list[np.ndarray]:
        """Return the points that belong to no single branch, and the points of the branch of each tip.

        Away from a tip, the distances to the other two decrease together as far as the branching, and then
        one of them increases. The branch ends at the cut of :func:`kendall_cut`.
        """
        claims = np.zeros((3, len(self.members)), dtype=bool)
        for tip in range(3):
            order = np.argsort(self.rows[tip], kind="stable")
            first, second = (self.rows[other][order] for other in range(3) if other != tip)
            claims[tip, order[: kendall_cut(first, second, fewest, n_jobs)]] = True
        single = claims.sum(axis=0) == 1
        parts = [self.members[~single], *(self.members[single & claim] for claim in claims)]
        return [part for part in parts if len(part)]


def branches(
    distances: PseudotimeDistances,
    n_branchings: int,
    root: int,
    min_size: int,
    n_jobs: int | None = None,
) -> np.ndarray:
    """Return the group (n,) of each point after at most ``n_branchings`` splits.

    The groups are the connected components at first. Each split replaces the group with the largest score
    among the groups of more than three times ``min_size`` points, the fewest before and after a cut.
    Undecided points keep its number, and branches are appended.
    """
    fewest = max(min_size, TUNING.cut_points)
    groups = [np.flatnonzero(distances.labels == label) for label in range(int(distances.labels.max()) + 1)]
    found: dict[int, Branch] = {}
    for _ in range(n_branchings):
        for number, members in enumerate(groups):
            if number not in found and len(members) > 3 * fewest:
                position = np.flatnonzero(members == root)
                found[number] = Branch.of(members, distances, int(position[0]) if len(position) else 0)
        if not found:
            break
        best = max(found, key=lambda number: found[number].score)
        groups[best], *rest = found.pop(best).split(fewest, n_jobs)
        groups += rest
    labels = np.empty(len(distances.labels), dtype=np.intp)
    for number, members in enumerate(groups):
        labels[members] = number
    return labels
