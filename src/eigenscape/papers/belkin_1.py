"""Laplacian eigenmaps unroll the swiss roll, PCA does not.

Belkin and Niyogi sec. 6.1: the map of the graph "manages to unroll the swiss roll", while projections cannot. Measured by
the rank correlation of the first coordinate with arc length along the spiral.
"""

from __future__ import annotations

from scipy.stats import spearmanr

from eigenscape import PCA, LaplacianEigenmaps
from eigenscape.datasets import swiss_roll
from eigenscape.papers._experiment import Claim, Context, Outcome
from eigenscape.papers._style import new_figure

PAPER = "Belkin and Niyogi 2003, fig. 1"


def run(context: Context) -> Outcome:
    """Map one roll both ways."""
    n_samples = context.pick(full=2000, quick=1000, tiny=500)
    X, parameters = swiss_roll(n_samples, random_state=context.seed)
    arc = parameters[:, 0]
    maps = {
        "Laplacian eigenmap (10 neighbours, 0/1 weights)": LaplacianEigenmaps(2, n_neighbors=10, weights="binary").fit_transform(X),
        "PCA": PCA(2).fit_transform(X),
    }
    unrolled, projected = (abs(spearmanr(Y[:, 0], arc).statistic) for Y in maps.values())
    claims = [
        Claim(
            "the first coordinate of the eigenmap follows the roll",
            "unrolled (picture)",
            f"|rank correlation| with arc length {unrolled:.4f}",
            unrolled > 0.99,
        ),
        Claim("PCA cannot unroll it", "not unrolled (picture)", f"|rank correlation| with arc length {projected:.4f}", projected < 0.8),
    ]
    figure = new_figure("A swiss roll, and two maps of it", 12, 4.4)
    left = figure.add_subplot(1, 3, 1, projection="3d")
    left.scatter(*X.T, c=arc, cmap="Spectral", s=6)
    left.set(title=f"{n_samples} points", xticks=[], yticks=[], zticks=[])
    left.view_init(8, -75)
    for place, (name, Y) in enumerate(maps.items(), start=2):
        axes = figure.add_subplot(1, 3, place)
        dots = axes.scatter(Y[:, 0], Y[:, 1], c=arc, cmap="Spectral", s=8)
        axes.set(title=name, xlabel="first coordinate", ylabel="second coordinate")
    figure.colorbar(dots, ax=figure.axes, label="place along the roll", fraction=0.02)
    numbers = {"n_samples": n_samples, "n_neighbors": 10, "rank_correlation": {"eigenmap": unrolled, "pca": projected}}
    return Outcome(claims, figure, numbers, "generated")
