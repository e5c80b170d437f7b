"""Kernel PCA of 1300 images with a dictionary of 34.

Ouimet and Bengio fig. 2: kernel PCA of zeros and ones (sigma 31.6, n = 1300). With 34 dictionary points and
all other images projected on their span, the map is almost identical to that of the full Gram matrix; even
with 4 points it is reasonable and similar. Sec. 3: a Gram matrix of the dictionary alone, without projecting
the other images, gives a completely different map, because its points are spread more evenly than the data.

The map of one training set depends on the few points that happen to be selected: all numbers are medians
over random training sets. Maps are compared after the best rigid motion; a map is reasonable if a line
separates the digits in it as well as in that of the full Gram matrix.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure
from matplotlib.offsetbox import AnnotationBbox, OffsetImage
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from eigenscape import GreedySpectralEmbedding, KernelPCA
from eigenscape.options import Dictionary
from eigenscape.quality import procrustes
from experiments._experiment import Claim, Context, Outcome
from experiments._ouimet import SIGMA, Images, images, tolerance
from experiments._style import COLORS, new_figure

PAPER = "Ouimet and Bengio 2005, fig. 2"
FILES = ("mnist",)
_SIZES = (34, 4)
_GAMMA = 1 / (2 * SIGMA["additive"] ** 2)
#: What is measured for each map and training set.
MEASURES = ("difference", "first correlation", "second correlation", "separation")


class _Maps(NamedTuple):
    """Maps of one training set, by the size of the dictionary."""

    y: np.ndarray
    full: np.ndarray
    projected: dict[int, np.ndarray]
    alone: dict[int, np.ndarray]
    members: dict[int, np.ndarray]


def run(context: Context) -> Outcome:
    """Compare the map of the full Gram matrix with the maps of two dictionaries, for random training sets."""
    sample = images(context)
    n = min(context.pick(full=1300, quick=1300, tiny=250), 4 * len(sample.X) // 5)
    draws = context.pick(full=48, quick=12, tiny=4)
    orders = [np.arange(len(sample.X))]
    orders += [np.random.default_rng([context.seed, i]).permutation(len(sample.X)) for i in range(1, draws)]
    every = [_maps(sample.X[order[:n]], sample.y[order[:n]]) for order in orders]
    measured = {
        kind: {m: np.array([measures(getattr(maps, kind)[m], maps) for maps in every]) for m in _SIZES}
        for kind in ("projected", "alone")
    }  # (draws, 4)
    separation = np.array([separable(maps.full, maps.y) for maps in every])
    numbers = {
        "n_samples": n,
        "draws": draws,
        "sigma": SIGMA["additive"],
        "dictionary_sizes": {m: [len(maps.members[m]) for maps in every] for m in _SIZES},
        "measures": MEASURES,
        **measured,
        "separation_of_the_full_map": separation,
    }
    claims = _claims(measured, separation)
    return Outcome(claims, _figure(every[0], orders[0], sample, measured), numbers, sample.data)


def _maps(X: np.ndarray, y: np.ndarray) -> _Maps:
    """Return the map of the full Gram matrix, and two maps of each dictionary."""
    found = _Maps(y, KernelPCA(2, gamma=_GAMMA).fit_transform(X), {}, {}, {})
    for m in _SIZES:
        model = GreedySpectralEmbedding(
            2, gamma=_GAMMA, dictionary=Dictionary(tol=tolerance(X, m, _GAMMA, True))
        ).fit(X)
        found.members[m] = model.dictionary_indices_
        alone = KernelPCA(2, gamma=_GAMMA).fit(X[model.dictionary_indices_]).transform(X)
        for maps, Y in ((found.projected, model.embedding_), (found.alone, alone)):
            maps[m] = procrustes(Y, found.full, scale=False).aligned
    return found


def measures(Y: np.ndarray, maps: _Maps) -> tuple[float, float, float, float]:
    """Return the measures of an aligned map, in the order of :data:`MEASURES`."""
    centred = maps.full - maps.full.mean(axis=0)
    difference = np.linalg.norm(Y - maps.full) / np.linalg.norm(centred)
    first, second = (abs(float(np.corrcoef(maps.full[:, k], Y[:, k])[0, 1])) for k in range(2))
    return float(difference), first, second, separable(Y, maps.y)


def separable(Y: np.ndarray, y: np.ndarray) -> float:
    """Return the fraction of images on the right side of the line of linear discriminant analysis."""
    return float(LinearDiscriminantAnalysis().fit(Y, y).score(Y, y))


def _claims(measured: dict[str, dict[int, np.ndarray]], separation: np.ndarray) -> list[Claim]:
    """Return the claims of figure 2 and of section 3."""
    medians = {
        kind: {m: np.median(values, axis=0) for m, values in one.items()} for kind, one in measured.items()
    }
    full = float(np.median(separation))
    first = {m: values[0] for m, values in measured["projected"].items()}  # of the first training set
    many, few, alone = medians["projected"][34], medians["projected"][4], medians["alone"][34]
    identical = many[0] < 0.1
    similar = few[0] < 0.5 and few[3] > full - 0.01
    another = bool(alone[0] > 5 * many[0] and min(alone[1:3]) < 0.9)
    different = bool(max(alone[1:3]) < 0.9)
    return [
        Claim(
            "with about 34 dictionary points the embedding is almost identical",
            "almost identical (pictures)",
            f"difference {100 * many[0]:.1f} % of the spread; correlations {many[1]:.4f}, {many[2]:.4f}",
            bool(identical),
            criterion="median difference below 10 % of the spread after a rigid motion",
            why="" if identical else f"The difference is {100 * many[0]:.0f} %.",
            previous=f"one training set: {100 * first[34][0]:.1f} %",
        ),
        Claim(
            "with only 4 dictionary points it is still reasonable and similar",
            "reasonable and similar (pictures)",
            f"difference {100 * few[0]:.0f} % of the spread; {100 * few[3]:.1f} % of the digits separated by"
            f" a line, {100 * full:.1f} % in the full map; correlations {few[1]:.3f}, {few[2]:.3f}",
            bool(similar),
            criterion="median difference below 50 % of the spread, digits separated as well as in the full"
            " map up to one percent",
            why=""
            if similar
            else f"The difference is {100 * few[0]:.0f} % and {100 * few[3]:.1f} % are separated.",
            previous=f"one training set, difference below 50 % and both correlations above 0.9:"
            f" {100 * first[4][0]:.0f} %, {first[4][1]:.3f}, {first[4][2]:.3f}",
        ),
        Claim(
            "the dictionary of 34 alone, without projecting the other images, gives another map",
            "completely different",
            f"difference {100 * alone[0]:.0f} % of the spread, {100 * many[0]:.1f} % with projection;"
            f" correlations {alone[1]:.3f}, {alone[2]:.3f}",
            another,
            criterion="more than 5 times as different as with projection, a correlation below 0.9",
            why=""
            if another
            else f"The difference is {alone[0] / many[0]:.1f} times as large as with projection, and the"
            f" smallest correlation is {min(alone[1:3]):.3f}.",
        ),
        Claim(
            "the map of the dictionary of 34 alone is different in both coordinates",
            "completely different",
            f"correlations {alone[1]:.3f}, {alone[2]:.3f}",
            different,
            criterion="both median correlations below 0.9",
            why=""
            if different
            else "The first coordinate separates zeros from ones and has most of the variance, in the"
            " dictionary as in the data." + " The second coordinate is another one." * another,
        ),
    ]


def _figure(
    maps: _Maps, order: np.ndarray, sample: Images, measured: dict[str, dict[int, np.ndarray]]
) -> Figure:
    """Draw the maps of the first training set with the images of the dictionaries, and all differences."""
    figure = new_figure(f"Kernel PCA of {len(maps.full)} images of zeros and ones ({sample.data})", 17, 4.6)
    panels = [(f"all {len(maps.full)} images", maps.full, np.array([], dtype=int))]
    panels += [
        (f"a dictionary of {len(maps.members[m])}", Y, maps.members[m]) for m, Y in maps.projected.items()
    ]
    panels.append((f"the {len(maps.members[34])} alone", maps.alone[34], maps.members[34]))
    ends = np.array([(Y.min(axis=0), Y.max(axis=0)) for _, Y, _ in panels])  # (panels, 2, 2)
    low, high = ends[:, 0].min(axis=0), ends[:, 1].max(axis=0)
    limits = np.column_stack([low - 0.08 * (high - low), high + 0.08 * (high - low)])
    *all_axes, last = figure.subplots(1, 5, width_ratios=(1, 1, 1, 1, 0.8))
    for axes, (title, Y, members) in zip(all_axes, panels, strict=True):
        for digit, marker in ((0, "+"), (1, "x")):
            axes.scatter(
                *Y[maps.y == digit].T,
                marker=marker,
                s=14,
                linewidth=0.7,
                color=COLORS[digit],
                alpha=0.6,
                label=f"digit {digit}",
            )
        for i in members:
            picture = OffsetImage(
                1 - sample.X[order[i]].reshape(sample.shape), cmap="gray", zoom=16 / sample.shape[0]
            )
            box = {"edgecolor": COLORS[maps.y[i]], "linewidth": 0.8}
            axes.add_artist(AnnotationBbox(picture, Y[i], pad=0.08, bboxprops=box))
        axes.set(title=title, xlabel="first coordinate")
        axes.set(xlim=limits[0], ylim=limits[1])
        axes.locator_params(axis="x", nbins=4)
    all_axes[0].set_ylabel("second coordinate")
    all_axes[0].legend(loc="best")
    boxes = {
        "34": measured["projected"][34],
        "4": measured["projected"][4],
        "34\nalone": measured["alone"][34],
        "4\nalone": measured["alone"][4],
    }
    drawn = last.boxplot([values[:, 0] for values in boxes.values()], widths=0.6, patch_artist=True)
    for box, color in zip(drawn["boxes"], COLORS, strict=False):
        box.set(facecolor=color, alpha=0.6)
    last.set_xticks(range(1, 5), boxes)
    last.set(
        title=f"difference, {len(boxes['34'])} training sets", ylabel="relative to the spread", ylim=(0, None)
    )
    return figure
