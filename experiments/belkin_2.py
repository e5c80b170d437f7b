"""Vertical and horizontal bars are two components in the Laplacian eigenmap, and mixed by PCA.

Belkin and Niyogi sec. 6.2: 1000 images of 40 x 40 pixels, half of them with a vertical bar, half with a
horizontal one. The graph is connected, and still the map shows two well defined components. Measured by the
adjusted Rand index of two groups found by k-means in the map.

The paper states neither the size of the bars nor the number of neighbours. With 14 neighbours and bars of 16
x 4 pixels both halves of the claim hold, and were chosen for that; longer bars make a graph that is not
connected, thinner ones a graph whose halves are one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from eigenscape.datasets import bars
from eigenscape.estimators import PCA, LaplacianEigenmaps
from eigenscape.exceptions import DisconnectedGraphWarning
from experiments._experiment import Claim, Context, Outcome
from experiments._style import COLORS, new_figure

PAPER = "Belkin and Niyogi 2003, fig. 2"
LENGTH, THICKNESS, NEIGHBORS = 16, 4, 14
OTHERS = [(16, 4, 10), (20, 4, 14), (14, 2, 14)]


def run(context: Context) -> Outcome:
    """Map the bars both ways, and bars of other sizes."""
    X, corners, labels = bars(length=LENGTH, thickness=THICKNESS, random_state=context.seed)
    model = _eigenmap(X, NEIGHBORS)
    projected = PCA(2).fit_transform(X)
    ours, theirs = (_groups(Y, labels, context.seed) for Y in (model.embedding_, projected))
    tried = [_try(*sizes, context.seed) for sizes in OTHERS[: context.pick(3, 3, 1)]]
    pieces = int(model.n_connected_components_)
    others = "; ".join(
        f"bars of {one['bar'][0]} x {one['bar'][1]} and {one['n_neighbors']} neighbours:"
        f" {one['components']} components,"
        f" index {one['adjusted_rand']:.2f}"
        for one in tried
    )
    chosen = f"Size of the bars ({LENGTH} x {THICKNESS}) and {NEIGHBORS} neighbours were chosen so that it may hold. Also tried: {others}."
    claims = [
        Claim(
            "the graph is connected",
            "connected",
            f"{pieces} connected component{'s' * (pieces > 1)}",
            pieces == 1,
            criterion="one",
        ),
        Claim(
            "the map shows two components",
            "two well defined components",
            f"adjusted Rand index {ours:.3f}",
            ours > 0.95,
            criterion="above 0.95",
            why=chosen,
        ),
        Claim(
            "PCA mixes them",
            "mixed (picture)",
            f"adjusted Rand index {theirs:.3f}",
            theirs < 0.3,
            criterion="below 0.3",
        ),
    ]
    numbers = {
        "images": len(X),
        "bar": [LENGTH, THICKNESS],
        "n_neighbors": NEIGHBORS,
        "components": pieces,
        "adjusted_rand": {"eigenmap": ours, "pca": theirs},
        "eigenvalues": model.eigenvalues_,
        "tried": tried,
    }
    return Outcome(
        claims,
        _draw(X, corners, labels, {"Laplacian eigenmap": model.embedding_, "PCA": projected}),
        numbers,
        "generated",
    )


def _eigenmap(X: np.ndarray, n_neighbors: int) -> LaplacianEigenmaps:
    return LaplacianEigenmaps(2, n_neighbors=n_neighbors, weights="binary").fit(X)


def _try(length: int, thickness: int, n_neighbors: int, seed: int) -> dict[str, Any]:
    X, _, labels = bars(length=length, thickness=thickness, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)  # it is what we look for
        model = _eigenmap(X, n_neighbors)
    rand = _groups(model.embedding_, labels, seed)
    return {
        "bar": [length, thickness],
        "n_neighbors": n_neighbors,
        "components": model.n_connected_components_,
        "adjusted_rand": rand,
    }


def _groups(Y: np.ndarray, labels: np.ndarray, seed: int) -> float:
    return float(adjusted_rand_score(labels, KMeans(2, n_init=10, random_state=seed).fit_predict(Y)))


def _draw(X: np.ndarray, corners: np.ndarray, labels: np.ndarray, maps: dict[str, np.ndarray]) -> Figure:
    figure = new_figure("1000 images of bars: one connected graph, two components in its map", 12.5, 4.6)
    grid = figure.add_gridspec(2, 3, width_ratios=[0.5, 1, 1])
    for row, name in enumerate(("vertical", "horizontal")):
        panel = figure.add_subplot(grid[row, 0])
        middle = np.argmin(np.abs(corners[labels == row] - 14).sum(axis=1))
        panel.imshow(X[labels == row][middle].reshape(40, 40), cmap="gray_r")
        panel.set(title=name, xticks=[], yticks=[])
        panel.title.set_color(COLORS[row])
        panel.spines[:].set_visible(True)
    for column, (name, Y) in enumerate(maps.items(), start=1):
        panel = figure.add_subplot(grid[:, column])
        for kind, marker in enumerate(("o", "+")):
            mine = labels == kind
            panel.scatter(
                Y[mine, 0],
                Y[mine, 1],
                s=(12, 34)[kind],
                c=COLORS[kind],
                marker=marker,
                linewidths=(0, 1)[kind],
            )
        panel.set(title=name, xlabel="first coordinate", ylabel="second coordinate")
    return figure
