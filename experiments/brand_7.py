"""A kernel eigenmap of the words of NIPS papers by their usage.

Brand sec. 5 and fig. 7: the first 1000 words and the last 200 papers of NIPS 0-12, logarithms of counts,
nearest neighbours by cosine, four random words as kernels. Words of publishing, of probability and of
locations form groups, and the lobes of the map are areas of research; this is far less obvious in the first
two dimensions of latent semantic analysis (LSA).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from eigenscape import KernelEigenmap
from eigenscape.options import LocalKernels
from eigenscape.quality import neighbor_purity
from experiments._corpus import AREAS, Corpus, corpus
from experiments._experiment import Claim, Context, Outcome
from experiments._labels import label_points
from experiments._style import COLORS, new_figure

PAPER = "Brand 2003, fig. 7"
FILES = ("nips12",)
#: Number of directions of the local projections of eq. 14, and number of typical words per area. With all 200
#: directions each word has a separate description by four kernels, and the map equals the Laplacian eigenmap.
_LOCAL, _TYPICAL = 10, 40
_KERNELS, _NEIGHBORS = 4, 30
_MIN_GAIN = 0.2  # required gain over LSA, as a fraction of the difference between LSA and a purity of 1


def run(context: Context) -> Outcome:
    """Compare kernel eigenmaps with many placements of the kernels with latent semantic analysis."""
    documents = corpus(context)
    logs = np.log2(1 + documents.counts)
    rows = logs / np.linalg.norm(
        logs, axis=1, keepdims=True
    )  # unit rows: Euclidean distances order neighbours by cosine
    placements = context.pick(full=50, quick=10, tiny=2)
    maps = [_eigenmap(rows, context.seed + i, _LOCAL) for i in range(placements)]
    U, S, _ = np.linalg.svd(logs, full_matrices=False)
    lsa = U[:, :3] * S[:3]
    typical = _typical(documents)
    scores = {
        "kernel eigenmap": np.array([_scores(Y, documents.groups, typical) for Y in maps]),
        "LSA, first two": np.array([_scores(lsa[:, :2], documents.groups, typical)]),
        "LSA, second and third": np.array([_scores(lsa[:, 1:], documents.groups, typical)]),
        "kernel eigenmap, all 200 local directions": np.array(
            [_scores(_eigenmap(rows, context.seed, None), documents.groups, typical)]
        ),
    }
    chance = _chance(documents.groups[documents.groups != ""]), _chance(typical[typical != ""])
    medians = {name: np.median(values, axis=0) for name, values in scores.items()}
    middle = maps[int(np.argsort(scores["kernel eigenmap"][:, 0])[placements // 2])]
    claims = [
        _claim(*labels, scores, medians, chance[i], i)
        for i, labels in enumerate((("coloured groups", 3), ("areas of research", 10)))
    ]
    setting = {"n_kernels": _KERNELS, "n_neighbors": _NEIGHBORS, "typical_words": _TYPICAL}
    numbers = {
        "words": len(rows),
        "placements": placements,
        **setting,
        "local_components": _LOCAL,
        "chance": chance,
        "purity": scores,
    }
    return Outcome(claims, _figure(middle, lsa[:, :2], documents, scores, chance), numbers, documents.data)


def _eigenmap(rows: np.ndarray, seed: int, local: int | None) -> np.ndarray:
    """Return the kernel eigenmap with kernels at random words."""
    return KernelEigenmap(
        2,
        n_kernels=_KERNELS,
        n_neighbors=_NEIGHBORS,
        random_state=seed,
        kernels=LocalKernels(local_components=local),
    ).fit_transform(rows)


def _typical(documents: Corpus) -> np.ndarray:
    """Return the area for which each word is typical, or "".

    The 40 words of an area with the highest frequency relative to the average are typical.
    """
    usage = np.array(
        [
            (documents.counts[:, documents.areas == area].sum(axis=1) + 1)
            / (documents.counts.sum(axis=1) + 3)
            for area in AREAS
        ]
    )
    lift = usage / usage.mean(axis=1, keepdims=True)
    typical = np.full(len(documents.words), "", dtype=object)
    for index, area in enumerate(AREAS):
        area_lift = np.where(lift.argmax(axis=0) == index, lift[index], 0)
        typical[np.argsort(area_lift)[::-1][:_TYPICAL]] = area
    return typical.astype(str)


def _scores(Y: np.ndarray, groups: np.ndarray, typical: np.ndarray) -> tuple[float, float]:
    """Return the neighbour purity of the groups (3 neighbours) and of the areas (10 neighbours).

    Coordinates are standardised, and only labelled words are considered.
    """
    Y = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    return tuple(
        neighbor_purity(Y[labels != ""], labels[labels != ""], k).value
        for labels, k in ((groups, 3), (typical, 10))
    )  # type: ignore[return-value]


def _chance(labels: np.ndarray) -> float:
    """Return the expected neighbour purity of a random map."""
    sizes = np.unique(labels, return_counts=True)[1]
    return float(np.sum(sizes * (sizes - 1)) / (len(labels) * (len(labels) - 1)))


def _claim(
    label_kind: str,
    k: int,
    scores: dict[str, np.ndarray],
    medians: dict[str, np.ndarray],
    chance: float,
    i: int,
) -> Claim:
    """Return the claim that the kernel eigenmap has a much higher purity than LSA."""
    values, lsa = scores["kernel eigenmap"][:, i], medians["LSA, first two"][i]
    share = float(np.mean(values > lsa))
    others = (
        "The second and third dimensions of LSA have a purity of"
        f" {medians['LSA, second and third'][i]:.2f}: the first dimension is the frequency of a word."
    )
    gain = (medians["kernel eigenmap"][i] - lsa) / (1 - lsa)
    return Claim(
        f"the kernel eigenmap shows the {label_kind} better than LSA",
        "far less obvious in LSA",
        f"purity of {k} neighbours {medians['kernel eigenmap'][i]:.2f} compared with {lsa:.2f} (median of"
        f" {len(values)} placements, {values.min():.2f} to {values.max():.2f}; chance {chance:.2f});"
        f" above LSA in {100 * share:.0f} % of placements",
        bool(gain > _MIN_GAIN and share > 0.9),
        criterion=f"gain above {100 * _MIN_GAIN:.0f} % of the difference between LSA and 1,"
        " and above LSA in more than 90 % of placements",
        why=f"The gain of the median is {100 * gain:.0f} % of the difference between LSA and 1. {others}"
        " Without the local projection of eq. 14 the map is the Laplacian eigenmap, with a purity of"
        f" {medians['kernel eigenmap, all 200 local directions'][i]:.2f}.",
    )


def _figure(
    Y: np.ndarray,
    lsa: np.ndarray,
    documents: Corpus,
    scores: dict[str, np.ndarray],
    chance: tuple[float, float],
) -> Figure:
    """Draw the map with its words, LSA, and the purities of all placements."""
    figure = new_figure(
        f"{len(Y)} word stems of {documents.counts.shape[1]} documents, embedded by their usage", 15, 9
    )
    grid = figure.add_gridspec(2, 2, width_ratios=[2.6, 1], height_ratios=[1.6, 1])
    left, right, below = (figure.add_subplot(part) for part in (grid[:, 0], grid[0, 1], grid[1, 1]))
    colors = {group: COLORS[i] for i, group in enumerate(("locations", "publishing", "probability"))}
    for axes, points, title in (
        (left, Y, "kernel eigenmap, four kernels"),
        (right, lsa, "latent semantic analysis"),
    ):
        axes.scatter(points[:, 0], points[:, 1], s=3, color="#cccccc")
        axes.set(title=title, xticks=[], yticks=[])
        axes.spines[:].set_visible(False)
        axes.margins(0.04)
    for name in ("kernel eigenmap", "LSA, second and third", "LSA, first two"):
        below.scatter(
            scores[name][:, 0],
            scores[name][:, 1],
            s=60 if len(scores[name]) == 1 else 14,
            label=name,
            alpha=0.8,
        )
    below.plot(*chance, marker="+", color="black", markersize=10, linestyle="", label="chance")
    below.set(xlabel="purity, coloured groups", ylabel="purity, areas", title="neighbours of the same kind")
    below.legend(fontsize=8)
    for group, color in colors.items():
        left.plot([], [], color=color, marker="s", linestyle="", label=group)
    left.legend(loc="lower right")
    coloured = np.flatnonzero(documents.groups != "")
    for axes, points, n_labels, size in ((left, Y, len(Y), 8), (right, lsa, len(coloured) + 80, 6)):
        order = np.concatenate([coloured, _outermost_first(points, documents.groups)])[:n_labels]
        shade = [colors.get(group, "#444444") for group in documents.groups[order]]
        label_points(
            axes,
            points[order],
            [documents.words[i] for i in order],
            shade,
            always=len(coloured),
            bold=len(coloured),
            size=size,
        )
    return figure


def _outermost_first(Y: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Return the indices of words without a group, sorted by decreasing distance from the centre."""
    distance: Any = np.linalg.norm((Y - np.median(Y, axis=0)) / Y.std(axis=0), axis=1)
    order = np.argsort(-distance)
    return order[groups[order] == ""]
