"""Embed digits by six methods: fit on a part, transform the rest, and measure time and quality.

Run it with ``make demo``. It prints one line per method and writes ``demo.png``.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.lines import Line2D
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import train_test_split

from eigenscape import (
    ClassicalMDS,
    Isomap,
    KernelPCA,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    SpectralClustering,
)
from eigenscape.exceptions import DisconnectedGraphWarning, UndefinedKernelError
from eigenscape.quality import trustworthiness

METHODS = {
    "Kernel PCA (Gaussian)": KernelPCA(n_components=2),
    "Classical MDS": ClassicalMDS(n_components=2),
    "Isomap": Isomap(n_components=2, n_neighbors=10),
    "Laplacian eigenmaps": LaplacianEigenmaps(n_components=2, n_neighbors=10),
    "LLE (modified)": LocallyLinearEmbedding(n_components=2, n_neighbors=12, method="modified"),
    "Spectral clustering": SpectralClustering(n_clusters=6, n_neighbors=10),
}
FIGURE = Path("demo.png")


def main() -> None:
    """Fit all methods, print a table and draw the maps."""
    images, digit = load_digits(n_class=6, return_X_y=True)
    train, new, train_digit, new_digit = train_test_split(
        images, digit, test_size=0.25, random_state=0, stratify=digit
    )
    console = Console()
    console.print(
        f"[bold]{len(train)}[/] training images of the digits 0 to 5, [bold]{len(new)}[/] held-out images"
        " that are embedded afterwards.\n"
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("method", no_wrap=True)
    for heading in ("fit", "transform", "loss", "held out", "trust", "held out"):
        table.add_column(heading, justify="right", no_wrap=True)
    maps = {}
    for name, model in METHODS.items():
        fit_seconds = timed(model.fit, train)
        transform_seconds = timed(model.transform, new)
        maps[name] = model.embedding_, model.transform(new)
        table.add_row(
            name,
            f"{fit_seconds:.2f} s",
            f"{transform_seconds:.2f} s",
            f"{model.loss():.3g}",
            held_out_loss(model, new),
            f"{trustworthiness(train, maps[name][0]):.3f}",
            f"{trustworthiness(new, maps[name][1]):.3f}",
        )
    console.print(table)
    console.print(
        "\nloss: mean squared error of the approximation of the kernel by its eigenfunctions, over pairs of"
        " training and of held-out images (not comparable between methods; LLE has none for the latter)"
    )
    console.print("trust: trustworthiness, 1 if all neighbours in the map are neighbours in the data")
    clusters = METHODS["Spectral clustering"]
    agreement = (
        adjusted_rand_score(train_digit, clusters.labels_),
        adjusted_rand_score(new_digit, clusters.predict(new)),
    )
    console.print(
        "\nAgreement of spectral clustering with the digits, which it does not use: adjusted Rand index"
        f" {agreement[0]:.2f} on training, {agreement[1]:.2f} on held-out images."
    )
    draw(maps, train_digit, new_digit)
    console.print(
        f"\nWrote the maps to [bold]{FIGURE}[/]: dots are training images, rings are held-out images."
    )


def held_out_loss(model: Any, new: np.ndarray) -> str:
    """Return the loss over pairs of new images; the kernel of LLE is not defined between them."""
    try:
        return f"{model.loss(new):.3g}"
    except UndefinedKernelError:
        return "-"


def timed(function, argument) -> float:
    """Call a function and return the time in seconds."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        function(argument)
    return time.perf_counter() - start


def draw(maps: dict, train_digit: np.ndarray, new_digit: np.ndarray) -> None:
    """Draw the maps of all methods."""
    colours = plt.get_cmap("tab10")
    figure, axes = plt.subplots(2, 3, figsize=(13, 8.8), layout="constrained")
    for axis, (name, (known, embedded)) in zip(axes.flat, maps.items(), strict=True):
        first, second = best_plane(known)
        axis.scatter(known[:, first], known[:, second], c=colours(train_digit), s=9, alpha=0.35, linewidths=0)
        axis.scatter(
            embedded[:, first],
            embedded[:, second],
            s=24,
            facecolors="none",
            edgecolors=colours(new_digit),
            linewidths=1.0,
        )
        axis.set_title(name, fontsize=13)
        axis.set_xticks([])
        axis.set_yticks([])
        for spine in axis.spines.values():
            spine.set_color("0.8")
    marks = [Line2D([], [], marker="o", linestyle="", color=colours(d), label=str(d)) for d in range(6)]
    marks.append(Line2D([], [], marker="o", linestyle="", color="0.4", markersize=4, label="training"))
    marks.append(
        Line2D([], [], marker="o", linestyle="", markerfacecolor="none", color="0.4", label="held out")
    )
    figure.legend(handles=marks, loc="outside lower center", ncols=8, frameon=False, fontsize=12)
    figure.suptitle("Out-of-sample embedding of new points by six methods", fontsize=16)
    figure.savefig(FIGURE, dpi=130)


def best_plane(coordinates: np.ndarray) -> tuple[int, int]:
    """Return the indices of the two coordinates with the largest variance."""
    order = np.argsort(-coordinates.var(axis=0), kind="stable")
    return int(order[0]), int(order[1])


if __name__ == "__main__":
    main()
