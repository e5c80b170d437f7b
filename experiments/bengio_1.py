"""Spectral clustering separates two curved clusters, k-means does not.

Bengio et al. fig. 1: the first two eigenvectors of the divisively normalised Gaussian kernel, with the
coordinates of each point scaled to length one, show both the clusters and the order of the points in them.
Measured by the adjusted Rand index of k-means in the map and on the data and, for each cluster, by the rank
correlation of the angle in the map with the position along the curve.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from eigenscape.datasets import two_arcs
from eigenscape.estimators import SpectralClustering
from experiments._experiment import Claim, Context, Outcome
from experiments._measures import rank_correlation
from experiments._style import COLORS, new_figure

PAPER = "Bengio et al. 2004, fig. 1"
BANDWIDTH = 0.2  # the value of fig. 2; none is stated for fig. 1


def run(context: Context) -> Outcome:
    """Cluster the points by spectral clustering and by k-means."""
    X, position, labels = two_arcs(context.pick(full=400, quick=400, tiny=300), random_state=context.seed)
    model = SpectralClustering(
        2, affinity="rbf", gamma=1 / (2 * BANDWIDTH**2), random_state=context.seed
    ).fit(X)
    plain = KMeans(2, n_init=10, random_state=context.seed).fit_predict(X)
    rand, rand_kmeans = (
        float(adjusted_rand_score(labels, predicted)) for predicted in (model.labels_, plain)
    )
    angle = np.arctan2(model.embedding_[:, 1], model.embedding_[:, 0])
    inner = [rank_correlation(angle[labels == cluster], position[labels == cluster]) for cluster in (0, 1)]
    claims = [
        Claim(
            "the map separates the clusters",
            "separated (picture)",
            f"adjusted Rand index {rand:.3f}",
            rand > 0.99,
            criterion="above 0.99",
        ),
        Claim(
            "k-means on the points fails",
            "would fail miserably",
            f"adjusted Rand index {rand_kmeans:.3f}",
            rand_kmeans < 0.5,
            criterion="below 0.5",
        ),
        Claim(
            "the map shows the structure inside the clusters",
            "points in order (picture)",
            f"|rank correlation| of angle and position {inner[0]:.3f}, {inner[1]:.3f}",
            min(inner) > 0.9,
            criterion="both above 0.9",
        ),
    ]
    numbers = {
        "n_samples": len(X),
        "bandwidth": BANDWIDTH,
        "eigenvalues": model.eigenvalues_,
        "adjusted_rand": {"spectral clustering": rand, "k-means": rand_kmeans},
        "rank_correlation_inside": inner,
    }
    return Outcome(claims, _draw(X, position, labels, plain, model.embedding_), numbers, "generated")


def _draw(
    X: np.ndarray, position: np.ndarray, labels: np.ndarray, plain: np.ndarray, Y: np.ndarray
) -> Figure:
    """Draw the data, the clusters of k-means and the map of spectral clustering."""
    figure = new_figure("Two curved clusters and the map that separates them", 13, 4)
    axes = figure.subplots(1, 3, width_ratios=[2.4, 2.4, 1.3])
    for Z, panel in ((X, axes[0]), (Y, axes[2])):
        for cluster, (shades, marker) in enumerate((("Blues", "o"), ("Oranges", "X"))):
            mask = labels == cluster
            panel.scatter(
                Z[mask, 0],
                Z[mask, 1],
                c=0.3 + position[mask],
                cmap=shades,
                vmin=0,
                vmax=1.3,
                marker=marker,
                s=26,
                linewidths=0,
            )
    axes[1].scatter(X[:, 0], X[:, 1], c=np.array(COLORS)[plain + 2], s=14)
    axes[2].add_patch(Circle((0, 0), 1, fill=False, color="#bbbbbb", lw=0.8, zorder=0))
    axes[2].set(
        title="the map of spectral clustering",
        xlim=(-0.05, 1.08),
        ylim=(-1.05, 1.05),
        xlabel="first coordinate",
        ylabel="second coordinate",
    )
    axes[0].set(title="the data; light to dark along each curve")
    axes[1].set(title="clusters found by k-means")
    for panel in axes:
        panel.set_aspect("equal")
    return figure
