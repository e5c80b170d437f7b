"""Measures and plots of embeddings of labelled points."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from sklearn.datasets import load_digits

from eigenscape.quality import neighbor_purity
from experiments._experiment import Claim
from experiments._style import COLORS


def digits(n_samples: int) -> tuple[np.ndarray, np.ndarray]:
    """Return images of digits and their labels, the stand-in for data that are not available."""
    bunch = load_digits()
    return bunch.data[:n_samples], bunch.target[:n_samples].astype(str)


def class_chance(labels: np.ndarray, name: str) -> float:
    """Return the expected neighbour purity of a class in a random embedding."""
    return float((np.sum(labels == name) - 1) / (len(labels) - 1))


def purity_claim(name: str, maps: dict[str, np.ndarray], labels: np.ndarray, n_neighbors: int) -> Claim:
    """Return the claim that a class has a higher purity in the first map than by chance and in the second."""
    purity, reference = (neighbor_purity(Y, labels, n_neighbors).per_class[name] for Y in maps.values())
    chance = class_chance(labels, name)
    first, second = maps
    return Claim(
        f"{name}: neighbours in the map are of the same class",
        "cluster together (picture)",
        f"{purity:.2f} of neighbours ({first}), {reference:.2f} ({second}), {chance:.2f} by chance",
        purity > 2 * chance and purity > reference,
        criterion=f"more than twice the value by chance, and more than {second}",
    )


def scatter_classes(
    axes: Axes, Y: np.ndarray, labels: np.ndarray, names: list[str], rest: str | None = None
) -> None:
    """Draw points coloured by class; points of class ``rest`` are grey and drawn below the others."""
    if rest is not None:
        axes.scatter(Y[labels == rest, 0], Y[labels == rest, 1], s=9, c="#c9ced6", label=rest, zorder=1)
    for color, name in zip(COLORS, names, strict=False):
        axes.scatter(Y[labels == name, 0], Y[labels == name, 1], s=14, c=color, label=name, zorder=2)
    axes.set(xlabel="first coordinate", ylabel="second coordinate")
