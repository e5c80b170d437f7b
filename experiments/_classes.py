"""Maps of points with classes: how pure neighbourhoods are in them."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from sklearn.datasets import load_digits

from eigenscape.quality import neighbor_purity
from experiments._experiment import Claim
from experiments._style import COLORS


def digits(n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Images of digits and their names, where the data of an experiment are not at hand."""
    bunch = load_digits()
    return bunch.data[:n_samples], bunch.target[:n_samples].astype(str)


def class_chance(labels: np.ndarray, name: str) -> float:
    """Purity of one class on a map that knows nothing of the classes."""
    return float((np.sum(labels == name) - 1) / (len(labels) - 1))


def purity_claim(name: str, maps: dict[str, np.ndarray], labels: np.ndarray, n_neighbors: int) -> Claim:
    """Points of one class are neighbours in the first map, more than by chance and more than in the
    second."""
    ours, theirs = (neighbor_purity(Y, labels, n_neighbors).per_class[name] for Y in maps.values())
    chance = class_chance(labels, name)
    first, second = maps
    return Claim(
        f"{name}: neighbours in the map are alike",
        "cluster together (picture)",
        f"{ours:.2f} of neighbours ({first}), {theirs:.2f} ({second}), {chance:.2f} by chance",
        ours > 2 * chance and ours > theirs,
        criterion=f"more than twice chance, and more than {second}",
    )


def scatter_classes(
    axes: Axes, Y: np.ndarray, labels: np.ndarray, names: list[str], rest: str | None = None
) -> None:
    """Points coloured by class; those of class ``rest`` are grey and behind."""
    if rest is not None:
        axes.scatter(Y[labels == rest, 0], Y[labels == rest, 1], s=9, c="#c9ced6", label=rest, zorder=1)
    for color, name in zip(COLORS, names, strict=False):
        axes.scatter(Y[labels == name, 0], Y[labels == name, 1], s=14, c=color, label=name, zorder=2)
    axes.set(xlabel="first coordinate", ylabel="second coordinate")
