"""The first eigenfunction over the plane, for four methods.

Bengio et al. fig. 2: 100 and 400 points of two clusters on one curve, joined by a thin bridge. Isomap's and LLE's first
eigenfunctions follow the curve; spectral clustering's takes one value on each cluster (nearly); kernel PCA's picks a small
region, and is no manifold learner. Measured by rank correlation with the place along the curve.

The paper shows the logarithm of spectral clustering's eigenfunction. As it changes its sign here, we show
``sign(f) log(1 + |f| / s)``, with ``s`` a hundredth of its largest value.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from eigenscape.datasets import two_clusters
from eigenscape.estimators import Isomap, KernelPCA, LaplacianEigenmaps, LocallyLinearEmbedding
from eigenscape.papers._experiment import Claim, Context, Outcome
from eigenscape.papers._measures import rank_correlation
from eigenscape.papers._style import new_figure

PAPER = "Bengio et al. 2004, fig. 2"
BANDWIDTH, NEIGHBORS = 0.2, 20  # as printed
GAMMA = 1 / (2 * BANDWIDTH**2)
METHODS = {
    "kernel PCA": KernelPCA(1, kernel="rbf", gamma=GAMMA),
    "spectral clustering (logarithm)": LaplacianEigenmaps(1, affinity="rbf", gamma=GAMMA),
    "Isomap": Isomap(1, n_neighbors=NEIGHBORS),
    "LLE": LocallyLinearEmbedding(1, n_neighbors=NEIGHBORS),
}
SPECTRAL = "spectral clustering (logarithm)"


def run(context: Context) -> Outcome:
    """Fit the four and evaluate them on a grid."""
    X, place, labels = two_clusters(random_state=context.seed)
    low, high = X.min(axis=0) - 0.35, X.max(axis=0) + 0.35
    columns = context.pick(full=300, quick=200, tiny=40)
    across, up = np.meshgrid(np.linspace(low[0], high[0], columns), np.linspace(low[1], high[1], columns * 2 // 3))
    grid = np.column_stack([across.ravel(), up.ravel()])
    fitted = {name: clone(method).fit(X) for name, method in METHODS.items()}
    values = {name: model.eigenfunctions(X)[:, 0] for name, model in fitted.items()}
    surfaces = {name: model.eigenfunctions(grid)[:, 0].reshape(across.shape) for name, model in fitted.items()}
    correlation = {name: rank_correlation(place, value) for name, value in values.items()}
    f = values[SPECTRAL]
    rand = float(adjusted_rand_score(labels, f > 0))
    spread = float(f[labels == 1].std() / abs(np.median(f[labels == 0]) - np.median(f[labels == 1])))
    numbers = {
        "n_samples": np.bincount(labels),
        "bandwidth": BANDWIDTH,
        "n_neighbors": NEIGHBORS,
        "eigenvalues": {name: model.eigenvalues_ for name, model in fitted.items()},
        "rank_correlation": correlation,
        "adjusted_rand": rand,
        "spread_in_larger_cluster": spread,
    }
    scale = 0.01 * abs(f).max()
    for shown in (values, surfaces):
        shown[SPECTRAL] = np.sign(shown[SPECTRAL]) * np.log1p(abs(shown[SPECTRAL]) / scale)
    return Outcome(_claims(correlation, rand, spread), _draw(X, across, up, surfaces, values, correlation), numbers, "generated")


def _claims(correlation: dict[str, float], rand: float, spread: float) -> list[Claim]:
    claims = [
        Claim(
            f"{name} follows the curve",
            "one-dimensional manifold captured",
            f"|rank correlation| {correlation[name]:.4f}",
            correlation[name] > 0.99,
        )
        for name in ("Isomap", "LLE")
    ]
    claims += [
        Claim(
            "kernel PCA does not",
            "should not be used for it",
            f"|rank correlation| {correlation['kernel PCA']:.4f}",
            correlation["kernel PCA"] < 0.9,
        ),
        Claim("spectral clustering reveals the clusters", "obvious", f"adjusted Rand index of its sign {rand:.3f}", rand > 0.9),
        Claim(
            "and has one value on almost all of the larger",
            "the same value",
            f"standard deviation there {spread:.3f} of the gap between clusters",
            spread < 0.1,
        ),
    ]
    return claims


def _draw(
    X: np.ndarray,
    across: np.ndarray,
    up: np.ndarray,
    surfaces: dict[str, np.ndarray],
    values: dict[str, np.ndarray],
    correlation: dict[str, float],
) -> Figure:
    figure = new_figure("First eigenfunctions over the plane, of 500 points on a curve", 11, 7)
    for axes, (name, surface) in zip(figure.subplots(2, 2).ravel(), surfaces.items(), strict=True):
        low, high = float(values[name].min()), float(values[name].max())  # where the points are: extrapolation goes far beyond
        shades = axes.pcolormesh(across, up, surface, vmin=low, vmax=high, cmap="viridis", shading="gouraud", rasterized=True)
        axes.scatter(X[:, 0], X[:, 1], s=7, c="white", edgecolors="black", linewidths=0.3)
        axes.set(title=f"{name}\nrank correlation with place along the curve {correlation[name]:.3f}", aspect="equal", xticks=[], yticks=[])
        figure.colorbar(shades, ax=axes, shrink=0.75, ticks=[low, high], format="%.2g")
    return figure
