"""Kernel PCA of 1300 images with a dictionary of 34.

Ouimet and Bengio fig. 2: kernel PCA of zeros and ones (sigma 31.6, n = 1300). With 34 dictionary points and
all other images projected on their span, the map is almost identical to that of the full Gram matrix; with 4
points it is still similar.
"""

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
    """Compare the map of the full Gram matrix with the maps of two dictionaries."""
    sample = images(context)
    n = min(context.pick(full=1300, quick=1300, tiny=300), len(sample.X))
    X, y = sample.X[:n], sample.y[:n]
    gamma = 1 / (2 * SIGMA["additive"] ** 2)
    full = KernelPCA(2, gamma=gamma).fit_transform(X)
    maps: dict[int, tuple[Any, np.ndarray]] = {}
    aligned: dict[int, Any] = {}
    for size in (34, 4):
        model = GreedySpectralEmbedding(2, gamma=gamma, tol=tolerance(X, size, gamma, True)).fit(X)
        aligned[size] = procrustes(model.embedding_, full, scale=False)
        maps[len(model.dictionary_)] = model, aligned[size].aligned
    sizes = list(maps)
    same = {
        size: [abs(float(np.corrcoef(full[:, k], aligned[size].aligned[:, k])[0, 1])) for k in range(2)]
        for size in aligned
    }
    similar = aligned[4].error < 0.5 and min(same[4]) > 0.9
    preserved = " and ".join(
        name for name, value in zip(("the first", "the second"), same[4], strict=True) if value > 0.9
    )
    approximate = (
        "The other coordinate is preserved approximately." if max(same[4]) > 0.9 > min(same[4]) > 0.5 else ""
    )
    claims = [
        Claim(
            "with about 34 dictionary points the embedding is almost identical",
            "similar pictures",
            f"m = {sizes[0]}: difference {100 * aligned[34].error:.1f} % of the spread;"
            f" correlations {same[34][0]:.4f}, {same[34][1]:.4f}",
            aligned[34].error < 0.1,
            criterion="difference below 10 % of the spread after a rigid motion",
            why=""
            if aligned[34].error < 0.1
            else f"The difference is {100 * aligned[34].error:.0f} % with {sizes[0]} points; the smallest"
            f" correlation is {min(same[34]):.4f}.",
        ),
        Claim(
            "with only 4 dictionary points it is still similar",
            "pictures similar",
            f"m = {sizes[1]}: difference {100 * aligned[4].error:.0f} % of the spread;"
            f" correlations {same[4][0]:.3f}, {same[4][1]:.3f}",
            similar,
            criterion="difference below 50 %, both correlations above 0.9",
            why=""
            if similar
            else "The coordinates with the largest variance are preserved best. Coordinates with a"
            f" correlation above 0.9: {preserved or 'none'}. {approximate}",
        ),
    ]
    numbers = {
        "n_samples": n,
        "sigma": SIGMA["additive"],
        "dictionary_sizes": sizes,
        "relative_error": {size: aligned[size].error for size in aligned},
        "correlations": same,
    }
    return Outcome(claims, _figure(full, maps, y, sample), numbers, sample.data)


def _figure(
    full: np.ndarray, maps: dict[int, tuple[Any, np.ndarray]], y: np.ndarray, sample: Images
) -> Figure:
    """Draw the three maps with the images of the dictionaries."""
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
            picture = OffsetImage(
                1 - sample.X[i].reshape(sample.shape), cmap="gray", zoom=16 / sample.shape[0]
            )
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
