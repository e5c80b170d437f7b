"""An affine term improves locality preserving projections.

Brand sec. 4, fig. 6: LPP is the raw approximation with ``Z = X``. The affine map always has less distortion
and shows more of the structure of the roll, but no affine projection of this roll is free of folds.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import special_ortho_group

from eigenscape import LocalityPreservingProjection
from eigenscape.datasets import random_graph, twisted_roll
from eigenscape.quality import linear_alignment
from experiments._experiment import Claim, Context, Outcome
from experiments._roll import draw_grid, draw_roll, fold_fraction
from experiments._style import COLORS, new_figure

PAPER = "Brand 2003, fig. 6"


def run(context: Context) -> Outcome:
    """Compare both maps on a roll and on random graphs, and count folds of random projections."""
    side = context.pick(full=30, quick=30, tiny=20)
    X, parameters = twisted_roll(side, random_state=context.seed)
    models = {
        name: LocalityPreservingProjection(2, affine=name == "affine").fit(X) for name in ("LPP", "affine")
    }
    stretch = {name: model.distortion_ for name, model in models.items()}
    left = {name: linear_alignment(model.embedding_, parameters).error for name, model in models.items()}
    folds = {name: fold_fraction(model.embedding_, side) for name, model in models.items()}
    pairs = np.array([_pair(context.seed + i) for i in range(context.pick(full=2000, quick=300, tiny=30))])
    views = special_ortho_group.rvs(
        3, size=context.pick(full=20_000, quick=4000, tiny=300), random_state=context.seed
    )
    least_folded = min(fold_fraction(X @ view[:, :2], side) for view in views)
    more = int(np.sum(pairs[:, 1] > pairs[:, 0] * (1 + 1e-9) + 1e-12))
    claims = [
        Claim(
            "the affine map always has less distortion",
            "always",
            f"roll: {stretch['affine']:.6f} compared with {stretch['LPP']:.6f} of LPP; higher in {more} of"
            f" {len(pairs)} random graphs (median ratio of LPP to affine"
            f" {np.median(pairs[:, 0] / pairs[:, 1]):.2f})",
            bool(stretch["affine"] < stretch["LPP"] and more == 0),
            criterion="lower on the roll, and higher in none of the graphs",
        ),
        Claim(
            "the affine map captures more of the structure",
            "more (picture)",
            f"error of the parameters after affine regression {left['affine']:.3f},"
            f" compared with {left['LPP']:.3f} of LPP",
            left["affine"] < left["LPP"],
            criterion="lower error than LPP",
            why=""
            if left["affine"] < left["LPP"]
            else "A lower distortion of the edges does not imply a lower error of the parameters: both maps"
            " are linear projections of the roll, and the smoother one does not separate its turns better.",
        ),
        Claim(
            "no affine projection is free of folds",
            "none",
            f"LPP {100 * folds['LPP']:.0f} %, affine {100 * folds['affine']:.0f} % of the grid folded;"
            f" the best of {len(views)} random projections {100 * least_folded:.0f} %",
            least_folded > 0.01,
            criterion="more than 1 % folded in every projection",
        ),
    ]
    figure = new_figure("Linear projections of a twisted roll", 14, 4.4)
    draw_roll(figure.add_subplot(1, 4, 1, projection="3d"), X, side)
    for panel, (name, model) in enumerate(models.items(), start=2):
        title = "LPP" if name == "LPP" else "affine map"
        draw_grid(
            figure.add_subplot(1, 4, panel),
            model.embedding_,
            side,
            f"{title}: distortion {stretch[name]:.6f}",
        )
    axes = figure.add_subplot(1, 4, 4)
    axes.scatter(pairs[:, 0], pairs[:, 1], s=6, color=COLORS[0], alpha=0.4)
    ends = [0.9 * pairs.min(), 1.05 * pairs.max()]
    axes.plot(ends, ends, color="#777777", linewidth=1)
    axes.set(
        title=f"{len(pairs)} random graphs", xlabel="distortion of LPP", ylabel="distortion of the affine map"
    )
    numbers = {
        "side": side,
        "distortion": stretch,
        "error": left,
        "folded": folds,
        "least_folded_view": least_folded,
        "random_graphs": pairs,
    }
    return Outcome(claims, figure, numbers, "generated")


def _pair(seed: int) -> tuple[float, float]:
    """Return the distortions of LPP and of the affine map on a random graph with random features."""
    rng = np.random.default_rng(seed)
    W = random_graph(30, density=0.5, random_state=seed)
    X = rng.standard_normal((30, 4)) + rng.standard_normal(4)
    linear, affine = (
        LocalityPreservingProjection(2, affine=how).fit(X, graph=W).distortion_ for how in (False, True)
    )
    return linear, affine
