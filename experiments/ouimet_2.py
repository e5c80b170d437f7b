"""Thirty-four images stand for thirteen hundred.

Ouimet and Bengio fig. 2: kernel PCA of zeros and ones (sigma 31.6, n = 1300). With 34 dictionary points, all
other images projected on their span, the map is almost identical to the one of the full Gram matrix; with 4
points it is still similar."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnnotationBbox, OffsetImage

from eigenscape import GreedySpectralEmbedding, KernelPCA
from eigenscape.quality import procrustes
from experiments._experiment import Claim, Context, Outcome
from experiments._ouimet import SIGMA, Images, images, tolerance
from experiments._style import COLORS, new_figure

PAPER = "Ouimet and Bengio 2005, fig. 2"
FILES = ("mnist",)


def run(context: Context) -> Outcome:
    """One full map and two with dictionaries, laid over it."""
    found = images(context)
    n = min(context.pick(full=1300, quick=1300, tiny=300), len(found.X))
    X, y = found.X[:n], found.y[:n]
    gamma = 1 / (2 * SIGMA["additive"] ** 2)
    full = KernelPCA(2, gamma=gamma).fit_transform(X)
    maps: dict[int, tuple[Any, np.ndarray]] = {}
    laid: dict[int, Any] = {}
    for size in (34, 4):
        model = GreedySpectralEmbedding(2, gamma=gamma, tol=tolerance(X, size, gamma, True)).fit(X)
        laid[size] = procrustes(model.embedding_, full, scale=False)
        maps[len(model.dictionary_)] = model, laid[size].aligned
    sizes = list(maps)
    same = {
        size: [abs(float(np.corrcoef(full[:, k], laid[size].aligned[:, k])[0, 1])) for k in range(2)]
        for size in laid
    }
    similar = laid[4].error < 0.5 and min(same[4]) > 0.9
    kept = " and ".join(
        name for name, value in zip(("the first", "the second"), same[4], strict=True) if value > 0.9
    )
    roughly = (
        "The digits' places along the other are kept roughly."
        if max(same[4]) > 0.9 > min(same[4]) > 0.5
        else ""
    )
    claims = [
        Claim(
            "with about 34 dictionary points the embedding is almost identical",
            "pictures alike",
            f"m = {sizes[0]}: {100 * laid[34].error:.1f} % of the spread apart; correlations {same[34][0]:.4f}, {same[34][1]:.4f}",
            laid[34].error < 0.1,
            criterion="less than 10 % of the spread apart, after a rigid motion",
            why=""
            if laid[34].error < 0.1
            else f"Apart by {100 * laid[34].error:.0f} % with {sizes[0]} points; the least correlation is {min(same[34]):.4f}.",
        ),
        Claim(
            "with only 4 it is still similar",
            "pictures similar",
            f"m = {sizes[1]}: {100 * laid[4].error:.0f} % of the spread apart; correlations {same[4][0]:.3f}, {same[4][1]:.3f}",
            similar,
            criterion="less than 50 % apart, both correlations above 0.9",
            why=""
            if similar
            else f"The coordinates of most variance are kept first: {kept or 'neither'} above 0.9. {roughly}",
        ),
    ]
    numbers = {
        "n_samples": n,
        "sigma": SIGMA["additive"],
        "dictionary_sizes": sizes,
        "relative_error": {size: laid[size].error for size in laid},
        "correlations": same,
    }
    return Outcome(claims, _figure(full, maps, y, found), numbers, found.data)


def _figure(
    full: np.ndarray, maps: dict[int, tuple[Any, np.ndarray]], y: np.ndarray, found: Images
) -> Figure:
    figure = new_figure(f"Kernel PCA of {len(full)} images of zeros and ones", 13, 4.8)
    panels = [(f"all {len(full)} images", full, np.array([], dtype=int))]
    panels += [(f"a dictionary of {size}", Y, model.dictionary_indices_) for size, (model, Y) in maps.items()]
    all_axes = figure.subplots(1, 3, sharex=True, sharey=True)
    for axes, (title, Y, members) in zip(all_axes, panels, strict=True):
        for digit, marker in ((0, "+"), (1, "x")):
            axes.scatter(
                *Y[y == digit].T,
                marker=marker,
                s=14,
                linewidth=0.7,
                color=COLORS[digit],
                alpha=0.6,
                label=f"digit {digit}",
            )
        for i in members:
            picture = OffsetImage(1 - found.X[i].reshape(found.shape), cmap="gray", zoom=16 / found.shape[0])
            axes.add_artist(
                AnnotationBbox(
                    picture, Y[i], pad=0.08, bboxprops={"edgecolor": COLORS[y[i]], "linewidth": 0.8}
                )
            )
        axes.set(title=title, xlabel="first coordinate")
        axes.locator_params(axis="x", nbins=5)
    all_axes[0].set_ylabel("second coordinate")
    all_axes[0].legend(loc="best")
    return figure
