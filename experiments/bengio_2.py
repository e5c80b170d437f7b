"""The first eigenfunction over the plane, for four methods.

Bengio et al. fig. 2: 100 and 400 points of two clusters on one curve, joined by a thin bridge. Isomap's and
LLE's first eigenfunctions follow the curve; spectral clustering's takes one value on each cluster (nearly);
kernel PCA's is large in a small region only and does not learn the manifold. Measured by the rank
correlation with the position along the curve.

The paper shows the logarithm of spectral clustering's eigenfunction. Here the eigenfunction changes its
sign; the figure shows the logarithm of its absolute value, multiplied by the sign.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

from eigenscape.datasets import two_clusters
from eigenscape.estimators import Isomap, KernelPCA, LaplacianEigenmaps, LocallyLinearEmbedding
from eigenscape.plot import eigenfunction
from experiments._experiment import Claim, Context, Outcome
from experiments._measures import rank_correlation
from experiments._style import new_figure

PAPER = "Bengio et al. 2004, fig. 2"
BANDWIDTH, NEIGHBORS = 0.2, 20  # as printed
GAMMA = 1 / BANDWIDTH**2  # eq. 4: exp(-d^2 / sigma^2)
METHODS = {
    "kernel PCA": KernelPCA(1, kernel="rbf", gamma=GAMMA),
    "spectral clustering (logarithm)": LaplacianEigenmaps(1, affinity="rbf", gamma=GAMMA),
    "Isomap": Isomap(1, n_neighbors=NEIGHBORS),
    "LLE": LocallyLinearEmbedding(1, n_neighbors=NEIGHBORS),
}
SPECTRAL = "spectral clustering (logarithm)"


def run(context: Context) -> Outcome:
    """Fit the four methods and evaluate their first eigenfunctions on a grid."""
    X, position, labels = two_clusters(random_state=context.seed)
    fitted = {name: clone(method).fit(X) for name, method in METHODS.items()}
    values = {name: model.eigenfunctions(X)[:, 0] for name, model in fitted.items()}
    correlation = {name: rank_correlation(position, value) for name, value in values.items()}
    f = values[SPECTRAL]
    rand, spread = _clusters(f, labels)
    former = _former_numbers(X, position, labels)
    numbers = {
        "n_samples": np.bincount(labels),
        "bandwidth": BANDWIDTH,
        "n_neighbors": NEIGHBORS,
        "eigenvalues": {name: model.eigenvalues_ for name, model in fitted.items()},
        "rank_correlation": correlation,
        "adjusted_rand": rand,
        "spread_in_larger_cluster": spread,
        "with_2_sigma_squared": former,
    }
    return Outcome(
        _claims(correlation, rand, spread, former),
        _draw(X, fitted, correlation, context.pick(full=300, quick=200, tiny=40)),
        numbers,
        "generated",
    )


def _clusters(f: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """Return the Rand index of the sign of a function, and its spread in the larger cluster."""
    rand = float(adjusted_rand_score(labels, f > 0))
    return rand, float(f[labels == 1].std() / abs(np.median(f[labels == 0]) - np.median(f[labels == 1])))


def _former_numbers(X: np.ndarray, position: np.ndarray, labels: np.ndarray) -> dict[str, float]:
    """Return the numbers of the two Gaussian kernels for ``exp(-d^2 / (2 sigma^2))``, used before."""
    pca, spectral = (
        clone(METHODS[name]).set_params(gamma=GAMMA / 2).fit(X).eigenfunctions(X)[:, 0]
        for name in ("kernel PCA", SPECTRAL)
    )
    rand, spread = _clusters(spectral, labels)
    return {"rank_correlation": rank_correlation(position, pca), "adjusted_rand": rand, "spread": spread}


def _claims(
    correlation: dict[str, float], rand: float, spread: float, former: dict[str, float]
) -> list[Claim]:
    """Return the claims on the four eigenfunctions."""
    previous = "exp(-d^2 / (2 sigma^2)): "
    claims = [
        Claim(
            f"{name} follows the curve",
            "one-dimensional manifold captured",
            f"|rank correlation| {correlation[name]:.4f}",
            correlation[name] > 0.99,
            criterion="above 0.99",
        )
        for name in ("Isomap", "LLE")
    ]
    claims += [
        Claim(
            "kernel PCA does not follow the curve",
            "should not be used for manifold learning",
            f"|rank correlation| {correlation['kernel PCA']:.4f}",
            correlation["kernel PCA"] < 0.9,
            criterion="below 0.9",
            previous=f"{previous}{former['rank_correlation']:.4f}",
        ),
        Claim(
            "spectral clustering reveals the clusters",
            "obvious",
            f"adjusted Rand index of its sign {rand:.3f}",
            rand > 0.9,
            criterion="above 0.9",
            previous=f"{previous}{former['adjusted_rand']:.3f}",
        ),
        Claim(
            "spectral clustering takes one value on almost all of the larger cluster",
            "the same value",
            f"standard deviation {spread:.3f} of the difference between clusters",
            spread < 0.1,
            criterion="below 0.1",
            previous=f"{previous}{former['spread']:.3f}",
        ),
    ]
    return claims


def _draw(X: np.ndarray, fitted: dict[str, Any], correlation: dict[str, float], resolution: int) -> Figure:
    """Draw the eigenfunction of each method over the plane."""
    figure = new_figure("First eigenfunctions over the plane, of 500 points on a curve", 11, 7)
    low, high = X.min(axis=0) - 0.35, X.max(axis=0) + 0.35
    limits = (low[0], high[0], low[1], high[1])
    for axes, (name, model) in zip(figure.subplots(2, 2).ravel(), fitted.items(), strict=True):
        title = f"{name}\nrank correlation with position along the curve {correlation[name]:.3f}"
        eigenfunction(
            model, X=X, limits=limits, resolution=resolution, log=name == SPECTRAL, title=title, ax=axes
        )
        axes.set(xlabel="", ylabel="", xticks=[], yticks=[])
    return figure
