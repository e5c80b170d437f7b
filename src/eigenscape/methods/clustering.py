"""Centres and number of clusters, and cuts of a weighted graph (Belkin sec. 4; Burges sec. 2.5.2).

A number of clusters is stable if the clusters stay the same under random weights of the points, drawn from an
exponential distribution: the Bayesian bootstrap (Rubin 1981) of the empirical measure. The stable number with
the largest eigengap is chosen.

See docs/decisions/methods-clusters.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, sparse
from scipy.spatial.distance import cdist

from eigenscape._memory import row_blocks
from eigenscape._native.loops import improve_centers, seed_centers
from eigenscape._progress import stage
from eigenscape._threads import parallel_map
from eigenscape._typing import Matrix
from eigenscape.dictionary.low_rank import LowRankOperator
from eigenscape.kernels.base import BoundKernel, n_points
from eigenscape.methods.laplacian import UnitRows, divided_eigenfunctions
from eigenscape.methods.tuning import TUNING
from eigenscape.operators import Operator
from eigenscape.quality.cuts import cut_of_sums
from eigenscape.solvers import SolverConfig


def cluster_centers(
    X: np.ndarray,
    n_clusters: int,
    n_init: int,
    seed: int,
    n_jobs: int | None = None,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Return the best of ``n_init`` runs of k-means, (n_clusters, d), each from its own random numbers.

    A run ends when no row changes its cluster, or after 100 iterations. ``weights`` (n,) are the weights of
    the rows; None if all are 1."""
    X = np.ascontiguousarray(X, dtype=np.float64)
    weights = np.ones(len(X)) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
    draws = np.random.default_rng(seed).random((n_init, n_clusters, 2 + int(np.log(n_clusters))))

    def run(uniform: np.ndarray) -> tuple[float, np.ndarray]:
        centers, inertia = np.empty((n_clusters, X.shape[1])), np.empty(1)
        seed_centers(X, weights, uniform, centers)
        improve_centers(X, weights, centers, 100, 0.0, inertia)
        return float(inertia[0]), centers

    return min(parallel_map(run, draws, n_jobs), key=lambda found: found[0])[1]


def discretizing_rotation(Z: np.ndarray, seed: int, weights: np.ndarray | None = None) -> np.ndarray:
    """Return the rotation (k, k) that brings unit rows ``Z`` (n, k) nearest to indicators (Yu and Shi 2003).

    It alternates between the nearest indicators ``X`` of ``Z R`` (their eq. 24: the largest entry of each
    row) and the nearest rotation ``R = V U'`` with ``X' Z = U S V'`` (eq. 25 to 27), until the trace of ``S``
    stays the same. The first rotation consists of rows of ``Z`` that are nearly orthogonal. ``weights`` (n,)
    are the weights of the rows; None if all are 1.
    """
    n, k = Z.shape
    mass = np.cumsum(np.ones(n) if weights is None else weights)
    rng, R = np.random.default_rng(seed), np.empty((k, k))
    R[:, 0] = Z[rng.integers(n) if weights is None else np.searchsorted(mass, rng.random() * mass[-1])]
    overlap = np.zeros(n)
    for column in range(1, k):
        overlap += np.abs(Z @ R[:, column - 1])
        R[:, column] = Z[np.argmin(overlap)]
    last = -np.inf
    for _ in range(100):
        labels = np.argmax(Z @ R, axis=1)
        sums = np.zeros((k, k))
        np.add.at(sums, labels, Z if weights is None else weights[:, None] * Z)  # X' Z
        U, S, V = linalg.svd(sums)
        R = V.T @ U.T
        if S.sum() - last <= 1e-12 * mass[-1]:
            break
        last = S.sum()
    return R


def pivoted_rotation(V: np.ndarray) -> np.ndarray:
    """Return the rotation (k, k) of eigenvectors ``V`` (n, k) by ``k`` pivots (Damle et al. 2019).

    The pivots of a QR decomposition of ``V'`` are points of ``k`` clusters, and the orthogonal polar factor
    of their columns rotates each of them to an axis: a point belongs to the largest magnitude in its row of
    ``V R``.
    """
    k = V.shape[1]
    pivots = linalg.qr(V.T, mode="r", pivoting=True)[1][:k]
    return linalg.polar(V[pivots].T)[0]


def normalized_cut(weights: Operator | LowRankOperator, labels: np.ndarray) -> float:
    """Return ``sum_a cut(a, rest) / assoc(a, all)`` of a partition; 0 for a single cluster."""
    indicator = np.eye(labels.max() + 1)[labels]  # (m, n_clusters)
    product = weights.matmat(indicator)
    return cut_of_sums(np.einsum("ij,ij->j", indicator, product), indicator.T @ product.sum(axis=1))


def cluster_sums(Y: Any, model: Any, rule: Any) -> np.ndarray:
    """Return the kernel values to the members of a dictionary, summed over each cluster (n_clusters, m).

    Features without the constraint of Ouimet eq. 7 are linear in these values, so the cut can be computed
    from the sums."""
    span, sums = model.kernel.span, 0.0
    for rows in row_blocks(n_points(Y), 24 * span.size):
        labels = rule.predict(model.transform(Y[rows]))
        sums = sums + np.eye(rule.n_clusters)[labels].T @ span.values(Y[rows])
    return np.asarray(sums)


def low_rank_cut(features: np.ndarray) -> float:
    """Return the normalised cut, given the summed features (n_clusters, m) of each cluster."""
    return cut_of_sums(np.einsum("cm,cm->c", features, features), features @ features.sum(axis=0))


def best_threshold(weights: Matrix, z: np.ndarray) -> float:
    """Return the threshold on ``z`` with the smallest normalised cut (Shi and Malik)."""
    threshold, cut = best_cut(weights, z)
    if not np.isfinite(cut):
        raise ValueError(
            "the second eigenvector is constant, so no threshold splits it; use assign_labels='kmeans'"
        )
    return threshold


def best_cut(weights: Matrix, z: np.ndarray) -> tuple[float, float]:
    """Return the threshold on ``z`` with the smallest normalised cut, and this cut, or infinity without one.

    All thresholds are evaluated at once: moving the next vertex across changes the cut by its degree minus
    twice its weight to the vertices already there.
    """
    order = np.argsort(z, kind="stable")
    rank = np.argsort(order, kind="stable")
    before = np.empty(len(z))
    for rows in row_blocks(len(z), 24 * len(z)):
        some = weights[order[rows]]
        entries = sparse.coo_array(some)
        earlier = rank[entries.col] < entries.row + rows.start
        before[rows] = np.bincount(
            entries.row[earlier], weights=entries.data[earlier], minlength=some.shape[0]
        )
    degree = np.asarray(weights.sum(axis=1)).ravel()[order]
    diagonal = weights.diagonal()[order]
    cut = np.cumsum(degree - diagonal - 2 * before)[:-1]
    left = np.cumsum(degree)[:-1]
    right = degree.sum() - left
    ranked = z[order]
    distinct = np.diff(ranked) > 0
    if not distinct.any():
        return 0.0, np.inf
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(distinct, cut / left + cut / right, np.inf)
    value[np.isnan(value)] = np.inf  # a side without edges has no volume
    best = int(np.argmin(value))
    # The mean of two adjacent numbers may be rounded to the upper one, which is to be above the threshold.
    middle = (ranked[best] + ranked[best + 1]) / 2
    return float(middle if middle < ranked[best + 1] else ranked[best]), float(value[best])


class CountEvidence(NamedTuple):
    """Evidence for each number of clusters ``2, 3, ...``."""

    n_clusters: np.ndarray
    eigengap: np.ndarray  # l_k - l_{k+1} of the divided affinity
    stability: np.ndarray  # mean adjusted Rand index under reweighting

    @property
    def is_weak(self) -> bool:
        """Whether no number of clusters is stable."""
        return not (self.stability >= TUNING.stable_clusters).any()

    def is_contradicted(self, n_clusters: int) -> bool:
        """Whether another number of clusters has an eigengap of more than twice the size."""
        own = self.eigengap[self.n_clusters == n_clusters]
        return bool((own < TUNING.clear_eigengap * self.eigengap.max()).any())

    def best(self, connected: bool = False) -> int:
        """Return the stable number with the largest eigengap; without one, the most stable number.

        If the graph is ``connected`` and the most stable number is not nearly stable, it is 1."""
        if connected and self.stability.max() < TUNING.single_cluster:
            return 1
        is_stable = self.stability >= TUNING.stable_clusters
        score = self.stability if self.is_weak else np.where(is_stable, self.eigengap, -np.inf)
        return int(self.n_clusters[np.argmax(score)])


def count_evidence(
    affinity: BoundKernel,
    max_clusters: int,
    solver: SolverConfig,
    *,
    diagonal: bool = True,
    operator: Operator | None = None,
    measure: np.ndarray | None = None,
) -> CountEvidence:
    """Return the evidence for ``2, ..., max_clusters`` clusters; fewer if there are not enough eigenvectors.

    Parameters as for :func:`~eigenscape.methods.laplacian.laplacian_eigenmaps`.
    """
    functions = divided_eigenfunctions(affinity, max_clusters, solver, diagonal, operator, measure)
    values = functions.pairs.values
    counts = range(2, len(values))
    labels = [_clusters(functions.on_training[:, :k], k, measure, solver) for k in counts]
    rng = np.random.default_rng(solver.seed)
    stability, n_draws = np.zeros(len(counts)), 8
    with stage("stability of clusters", total=n_draws) as advance:
        for _ in range(n_draws):
            drawn = rng.exponential(size=functions.n_train) * (1.0 if measure is None else measure)
            again = divided_eigenfunctions(affinity, max_clusters, solver, True, operator, drawn)
            for place, k in enumerate(counts):
                other = _clusters(again.on_training[:, :k], k, drawn, solver)
                stability[place] += adjusted_rand_index(labels[place], other) / n_draws
            advance(1)
    return CountEvidence(np.arange(2, len(values)), values[1:-1] - values[2:], stability)


def _clusters(values: np.ndarray, k: int, measure: np.ndarray | None, solver: SolverConfig) -> np.ndarray:
    """Return the clusters of rows of eigenfunctions, scaled to length one, by k-means."""
    rows = UnitRows()(values, None)
    centers = cluster_centers(rows, k, 4, solver.seed, solver.n_jobs, measure)
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
