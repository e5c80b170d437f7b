"""Infinitives, prepositions and modal verbs are neighbours in a map of words.

Belkin and Niyogi sec. 6.3, fig. 3 and 4: the 300 most frequent words of the Brown corpus, each described by
the counts of these words directly before and after it. Regions of the Laplacian eigenmap contain
infinitives, prepositions, or modal and auxiliary verbs. Measured by the fraction of a word's 5 nearest
neighbours in the map that belong to its group, compared with chance and with PCA.

The paper does not state the number of neighbours, nor how punctuation was counted; the counts of adjacent
words are used without change. A further map uses square roots of relative frequencies instead of counts, so
that frequent words are not separated by their frequency.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from eigenscape.estimators import PCA, LaplacianEigenmaps
from eigenscape.options import KNNGraph
from eigenscape.quality import neighbor_purity
from experiments._classes import class_chance, digits, purity_claim, scatter_classes
from experiments._experiment import Context, Outcome
from experiments._labels import label_points
from experiments._style import COLORS, new_figure

PAPER = "Belkin and Niyogi 2003, fig. 3 and 4"
FILES = ("brown_bigrams",)
NEIGHBORS, PURITY_NEIGHBORS = 14, 5
GROUPS = {"infinitives": ("VB",), "prepositions": ("IN",), "modals and auxiliaries": ("MD", "BE", "DO", "HV")}
REST = "other words"


def run(context: Context) -> Outcome:
    """Embed the words by Laplacian eigenmaps (of counts and of frequencies) and by PCA."""
    arrays = context.load("brown_bigrams")
    if arrays is None:
        X, words = digits(context.pick(600, 600, 300))
        groups = np.where(np.isin(words, ["0", "1", "2"]), words, REST)
        names, data = ["0", "1", "2"], "stand-in: digits"
    else:
        X, words = arrays["X"].astype(np.float64), arrays["words"]
        groups, names, data = _group(arrays["tag"]), list(GROUPS), "Brown corpus"
    frequencies = np.sqrt(X / X.sum(axis=1, keepdims=True))
    maps = {
        "eigenmap": _eigenmap(X),
        "PCA": PCA(2).fit_transform(X),
        "eigenmap of frequencies": _eigenmap(frequencies),
    }
    compared = {name: maps[name] for name in ("eigenmap", "PCA")}
    purity = {name: neighbor_purity(Y, groups, PURITY_NEIGHBORS).per_class for name, Y in maps.items()}
    numbers = {
        "words": len(X),
        "n_neighbors": NEIGHBORS,
        "purity_neighbors": PURITY_NEIGHBORS,
        "purity": purity,
        "chance": {name: class_chance(groups, name) for name in names},
    }
    claims = [purity_claim(name, compared, groups, PURITY_NEIGHBORS) for name in names]
    return Outcome(claims, _draw(maps, words, groups, names), numbers, data)


def _eigenmap(X: np.ndarray) -> np.ndarray:
    """Return the Laplacian eigenmap with binary weights."""
    return LaplacianEigenmaps(2, affinity=KNNGraph(NEIGHBORS, weights="binary")).fit_transform(X)


def _group(tags: np.ndarray) -> np.ndarray:
    """Return the group of each word by its part-of-speech tag.

    Infinitives and prepositions have one tag each, modals and auxiliaries all tags with certain prefixes.
    """
    groups = np.full(len(tags), REST, dtype="<U40")
    for name, group_tags in GROUPS.items():
        exact = name != "modals and auxiliaries"
        groups[[tag in group_tags if exact else tag.startswith(group_tags) for tag in tags]] = name
    return groups


def _draw(maps: dict[str, np.ndarray], words: np.ndarray, groups: np.ndarray, names: list[str]) -> Figure:
    """Draw the three maps; words are written in the largest."""
    figure = new_figure(
        "Maps of words by the words next to them" if len(words) == 300 else "Digits as a stand-in for words",
        13,
        7.4,
    )
    grid = figure.add_gridspec(2, 2, width_ratios=[2, 1])
    panels = [figure.add_subplot(cell) for cell in (grid[:, 0], grid[0, 1], grid[1, 1])]
    for axes, name in zip(panels, ("eigenmap of frequencies", "eigenmap", "PCA"), strict=True):
        scatter_classes(axes, maps[name], groups, names, REST)
        axes.set(
            title={"eigenmap of frequencies": "Laplacian eigenmap, square roots of frequencies"}.get(
                name, f"{name} of counts"
            )
        )
    panels[0].legend(loc="upper right", markerscale=1.6)
    order = np.argsort(groups == REST, kind="stable")  # words of the groups first
    shades = [COLORS[names.index(group)] if group != REST else "#8a919c" for group in groups[order]]
    label_points(
        panels[0],
        maps["eigenmap of frequencies"][order],
        [str(word) for word in words[order]],
        shades,
        size=7.5,
        beside=True,
    )
    return figure
