"""Infinitives, prepositions and modal verbs are neighbours in a map of words.

Belkin and Niyogi sec. 6.3, fig. 3 and 4: the 300 commonest words of the Brown corpus, each described by how
often each of them stands before and after it. Regions of the Laplacian eigenmap hold infinitives,
prepositions, or modal and auxiliary verbs. Measured by the share of a word's 5 nearest on the map that are of
its group, against chance and against PCA.

The paper does not state the number of neighbours, nor how punctuation was counted; counts of adjacent words
are taken as they are. Beside this, a map of the same counts as roots of shares, in which frequent words do
not stand apart by their frequency."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from eigenscape.estimators import PCA, LaplacianEigenmaps
from eigenscape.quality import neighbor_purity
from experiments._classes import class_chance, digits, purity_claim, scatter_classes
from experiments._experiment import Context, Outcome
from experiments._labels import label_points
from experiments._style import COLORS, new_figure

PAPER = "Belkin and Niyogi 2003, fig. 3 and 4"
FILES = ("brown_bigrams",)
NEIGHBORS, ASKED = 14, 5
GROUPS = {"infinitives": ("VB",), "prepositions": ("IN",), "modals and auxiliaries": ("MD", "BE", "DO", "HV")}
REST = "other words"


def run(context: Context) -> Outcome:
    """Map the words both ways, and once more by shares."""
    arrays = context.load("brown_bigrams")
    if arrays is None:
        X, words = digits(context.pick(600, 600, 300))
        groups = np.where(np.isin(words, ["0", "1", "2"]), words, REST)
        names, data = ["0", "1", "2"], "stand-in: digits"
    else:
        X, words = arrays["X"].astype(np.float64), arrays["words"]
        groups, names, data = _group(arrays["tag"]), list(GROUPS), "Brown corpus"
    shares = np.sqrt(X / X.sum(axis=1, keepdims=True))
    maps = {"eigenmap": _eigenmap(X), "PCA": PCA(2).fit_transform(X), "eigenmap of shares": _eigenmap(shares)}
    compared = {name: maps[name] for name in ("eigenmap", "PCA")}
    purity = {name: neighbor_purity(Y, groups, ASKED).per_class for name, Y in maps.items()}
    numbers = {
        "words": len(X),
        "n_neighbors": NEIGHBORS,
        "asked": ASKED,
        "purity": purity,
        "chance": {name: class_chance(groups, name) for name in names},
    }
    claims = [purity_claim(name, compared, groups, ASKED) for name in names]
    return Outcome(claims, _draw(maps, words, groups, names), numbers, data)


def _eigenmap(X: np.ndarray) -> np.ndarray:
    return LaplacianEigenmaps(2, n_neighbors=NEIGHBORS, weights="binary").fit_transform(X)


def _group(tags: np.ndarray) -> np.ndarray:
    """By the beginning of the tag, but for verbs, of which only the infinitive is meant."""
    found = np.full(len(tags), REST, dtype="<U40")
    for name, beginnings in GROUPS.items():
        exact = name != "modals and auxiliaries"
        found[[tag in beginnings if exact else tag.startswith(beginnings) for tag in tags]] = name
    return found


def _draw(maps: dict[str, np.ndarray], words: np.ndarray, groups: np.ndarray, names: list[str]) -> Figure:
    figure = new_figure(
        "Words beside words that are used alike" if len(words) == 300 else "Digits in the place of words",
        13,
        7.4,
    )
    grid = figure.add_gridspec(2, 2, width_ratios=[2, 1])
    panels = [figure.add_subplot(place) for place in (grid[:, 0], grid[0, 1], grid[1, 1])]
    for axes, name in zip(panels, ("eigenmap of shares", "eigenmap", "PCA"), strict=True):
        scatter_classes(axes, maps[name], groups, names, REST)
        axes.set(
            title={"eigenmap of shares": "Laplacian eigenmap, counts as roots of shares"}.get(
                name, f"{name} of counts"
            )
        )
    panels[0].legend(loc="upper right", markerscale=1.6)
    order = np.argsort(groups == REST, kind="stable")  # words of the groups first
    shades = [COLORS[names.index(group)] if group != REST else "#8a919c" for group in groups[order]]
    label_points(
        panels[0],
        maps["eigenmap of shares"][order],
        [str(word) for word in words[order]],
        shades,
        size=7.5,
        beside=True,
    )
    return figure
