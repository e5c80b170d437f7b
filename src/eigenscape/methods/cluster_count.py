"""The number of clusters of a graph, by its eigengaps and by the stability of its clusters.

A number of clusters is stable if the clusters stay the same under random weights of the points, drawn from an
exponential distribution: the Bayesian bootstrap (Rubin 1981) of the empirical measure. Of the stable numbers
the one with the largest eigengap is chosen.

See docs/decisions/methods-clusters.md.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from eigenscape._progress import stage
from eigenscape.kernels.base import BoundKernel
from eigenscape.methods.clustering import cluster_centers
from eigenscape.methods.laplacian import UnitRows, divided_eigenfunctions
from eigenscape.operators import Operator
from eigenscape.solvers import SolverConfig

#: Clusters count as stable from this mean adjusted Rand index on.
STABLE = 0.9
#: Number of random reweightings, and of starts of k-means for each.
N_DRAWS, _N_INIT = 8, 4


class CountEvidence(NamedTuple):
    """Evidence for each number of clusters ``2, 3, ...``."""

    n_clusters: np.ndarray
    eigengap: np.ndarray  # l_k - l_{k+1} of the divided affinity
    stability: np.ndarray  # mean adjusted Rand index under reweighting

    @property
    def is_weak(self) -> bool:
        """Whether no number of clusters is stable."""
        return not (self.stability >= STABLE).any()

    def best(self) -> int:
        """Return the stable number with the largest eigengap; without one, the most stable number."""
        is_stable = self.stability >= STABLE
        score = self.stability if self.is_weak else np.where(is_stable, self.eigengap, -np.inf)
        return int(self.n_clusters[np.argmax(score)])


def count_evidence(
    affinity: BoundKernel,
    max_clusters: int,
    solver: SolverConfig,
    *,
    diagonal: bool = True,
    weights: Operator | None = None,
    measure: np.ndarray | None = None,
) -> CountEvidence:
    """Return the evidence for ``2, ..., max_clusters`` clusters; fewer if there are not enough eigenvectors.

    Parameters as for :func:`~eigenscape.methods.laplacian.laplacian_eigenmaps`.
    """
    functions = divided_eigenfunctions(affinity, max_clusters, solver, diagonal, weights, measure)
    values = functions.pairs.values
    counts = range(2, len(values))
    labels = [_clusters(functions.on_training[:, :k], k, measure, solver) for k in counts]
    rng = np.random.default_rng(solver.seed)
    stability = np.zeros(len(counts))
    with stage("stability of clusters", total=N_DRAWS) as advance:
        for _ in range(N_DRAWS):
            drawn = rng.exponential(size=functions.n_train) * (1.0 if measure is None else measure)
            again = divided_eigenfunctions(affinity, max_clusters, solver, True, weights, drawn)
            for place, k in enumerate(counts):
                other = _clusters(again.on_training[:, :k], k, drawn, solver)
                stability[place] += adjusted_rand_index(labels[place], other) / N_DRAWS
            advance(1)
    return CountEvidence(np.arange(2, len(values)), values[1:-1] - values[2:], stability)


def _clusters(values: np.ndarray, k: int, measure: np.ndarray | None, solver: SolverConfig) -> np.ndarray:
    """Return the clusters of rows of eigenfunctions, scaled to length one, by k-means."""
    rows = UnitRows()(values, None)
    centers = cluster_centers(rows, k, _N_INIT, solver.seed, solver.n_jobs, measure)
    return cdist(rows, centers, "sqeuclidean").argmin(axis=1)


def adjusted_rand_index(first: np.ndarray, second: np.ndarray) -> float:
    """Return the agreement of two partitions, 1 if they are equal and 0 on average if they are random."""
    table = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(table, (first, second), 1)
    together, rows, columns, total = (
        float((counts * (counts - 1)).sum() / 2)
        for counts in (table, table.sum(axis=1), table.sum(axis=0), np.array([table.sum()]))
    )
    expected, largest = rows * columns / total, (rows + columns) / 2
    return 1.0 if largest == expected else (together - expected) / (largest - expected)
