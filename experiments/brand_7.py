"""Words of NIPS papers, mapped by how they are used.

Brand sec. 5 and fig. 7: the first thousand words and the last two hundred papers of NIPS 0-12, log counts,
neighbours by cosine, four random words as kernels. Words of publishing, of probability and of places stand
together, and the lobes of the map are areas of research; the first two dimensions of latent semantic analysis
show far less of this."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from eigenscape import KernelEigenmap
from eigenscape.quality import neighbor_purity
from experiments._corpus import AREAS, Corpus, corpus
from experiments._experiment import Claim, Context, Outcome
from experiments._labels import label_points
from experiments._style import COLORS, new_figure

PAPER = "Brand 2003, fig. 7"
FILES = ("nips12",)
#: Directions of the optional local projections of eq. 14. With all 200, four kernels describe every word
#: apart: the map is then the Laplacian eigenmap itself.
_LOCAL, _TYPICAL = 10, 40
_KERNELS, _NEIGHBORS = 4, 30
_FAR = 0.2  # of the room that LSA leaves below a purity of 1


def run(context: Context) -> Outcome:
    """Many placements of the kernels against latent semantic analysis."""
    found = corpus(context)
    logs = np.log2(1 + found.counts)
    rows = logs / np.linalg.norm(logs, axis=1, keepdims=True)  # their distances are chords of the angles
    placements = context.pick(full=50, quick=10, tiny=3)
    maps = [_eigenmap(rows, context.seed + i, _LOCAL) for i in range(placements)]
    U, S, _ = np.linalg.svd(logs, full_matrices=False)
    lsa = U[:, :3] * S[:3]
    typical = _typical(found)
    scores = {
        "kernel eigenmap": np.array([_scores(Y, found.groups, typical) for Y in maps]),
        "LSA, first two": np.array([_scores(lsa[:, :2], found.groups, typical)]),
        "LSA, second and third": np.array([_scores(lsa[:, 1:], found.groups, typical)]),
        "kernel eigenmap, all 200 local directions": np.array(
            [_scores(_eigenmap(rows, context.seed, None), found.groups, typical)]
        ),
    }
    chance = _chance(found.groups[found.groups != ""]), _chance(typical[typical != ""])
    medians = {name: np.median(values, axis=0) for name, values in scores.items()}
    middle = maps[int(np.argsort(scores["kernel eigenmap"][:, 0])[placements // 2])]
    claims = [
        _claim(*what, scores, medians, chance[i], i)
        for i, what in enumerate((("coloured groups", 3), ("areas of research", 10)))
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
    return Outcome(claims, _figure(middle, lsa[:, :2], found, scores, chance), numbers, found.data)


def _eigenmap(rows: np.ndarray, seed: int, local: int | None) -> np.ndarray:
    return KernelEigenmap(
        2, n_kernels=_KERNELS, n_neighbors=_NEIGHBORS, local_components=local, random_state=seed
    ).fit_transform(rows)


def _typical(found: Corpus) -> np.ndarray:
    """The area, if any, whose papers use a word most above average: the first 40 words of each."""
    usage = np.array(
        [
            (found.counts[:, found.areas == area].sum(axis=1) + 1) / (found.counts.sum(axis=1) + 3)
            for area in AREAS
        ]
    )
    lift = usage / usage.mean(axis=1, keepdims=True)
    typical = np.full(len(found.words), "", dtype=object)
    for place, area in enumerate(AREAS):
        mine = np.where(lift.argmax(axis=0) == place, lift[place], 0)
        typical[np.argsort(mine)[::-1][:_TYPICAL]] = area
    return typical.astype(str)


def _scores(Y: np.ndarray, groups: np.ndarray, typical: np.ndarray) -> tuple[float, float]:
    """Neighbour purity of the groups (3 neighbours among their words) and of the areas (10), each coordinate
    in units of its spread."""
    Y = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    return tuple(
        neighbor_purity(Y[labels != ""], labels[labels != ""], k).value
        for labels, k in ((groups, 3), (typical, 10))
    )  # type: ignore[return-value]


def _chance(labels: np.ndarray) -> float:
    sizes = np.unique(labels, return_counts=True)[1]
    return float(np.sum(sizes * (sizes - 1)) / (len(labels) * (len(labels) - 1)))


def _claim(
    what: str, k: int, scores: dict[str, np.ndarray], medians: dict[str, np.ndarray], chance: float, i: int
) -> Claim:
    values, lsa = scores["kernel eigenmap"][:, i], medians["LSA, first two"][i]
    share = float(np.mean(values > lsa))
    others = f"LSA's second and third dimensions have {medians['LSA, second and third'][i]:.2f}: its first is how often a word is used."
    gain = (medians["kernel eigenmap"][i] - lsa) / (1 - lsa)
    far = gain > _FAR
    return Claim(
        f"the kernel eigenmap keeps the {what} together better than LSA",
        "far less obvious in LSA",
        f"purity of {k} neighbours {medians['kernel eigenmap'][i]:.2f} against {lsa:.2f} (median of"
        f" {len(values)} placements,"
        f" {values.min():.2f} to {values.max():.2f}; chance {chance:.2f}); above LSA in {100 * share:.0f} % of placements",
        bool(far and share > 0.9),
        criterion=f"more than {100 * _FAR:.0f} % of the way from LSA to 1, and above LSA in more than 90 % of placements",
        why=f"The median is {100 * gain:.0f} % of the way from LSA to 1. {others} Without the local projection of eq. 14 the map is the"
        f" Laplacian eigenmap itself and has {medians['kernel eigenmap, all 200 local directions'][i]:.2f}.",
    )


def _figure(
    Y: np.ndarray, lsa: np.ndarray, found: Corpus, scores: dict[str, np.ndarray], chance: tuple[float, float]
) -> Figure:
    figure = new_figure(f"{len(Y)} word roots of {found.counts.shape[1]} documents, by their usage", 15, 9)
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
    coloured = np.flatnonzero(found.groups != "")
    for axes, points, most, size in ((left, Y, len(Y), 8), (right, lsa, len(coloured) + 80, 6)):
        order = np.concatenate([coloured, _outwards(points, found.groups)])[:most]
        shade = [colors.get(group, "#444444") for group in found.groups[order]]
        label_points(
            axes,
            points[order],
            [found.words[i] for i in order],
            shade,
            always=len(coloured),
            bold=len(coloured),
            size=size,
        )
    return figure


def _outwards(Y: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """The other words, outermost first."""
    distance: Any = np.linalg.norm((Y - np.median(Y, axis=0)) / Y.std(axis=0), axis=1)
    order = np.argsort(-distance)
    return order[groups[order] == ""]
