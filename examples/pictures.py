"""The slider of NeighborEmbedding from the Laplacian eigenmap to t-SNE, and a potential map, of digits.

Run it with ``python examples/pictures.py [FIGURE]``. New images are black; they were placed on the fixed map.
"""

from __future__ import annotations

import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from eigenscape import LaplacianEigenmaps, NeighborEmbedding, PotentialMap

N_TRAIN = 1600
MAPS = {
    "LaplacianEigenmaps": LaplacianEigenmaps(n_neighbors=15),
    "NeighborEmbedding(exaggeration=30)": NeighborEmbedding(exaggeration=30),
    "NeighborEmbedding(exaggeration=4)": NeighborEmbedding(exaggeration=4),
    "NeighborEmbedding(exaggeration=2)": NeighborEmbedding(exaggeration=2),
    "NeighborEmbedding()": NeighborEmbedding(),
    "PotentialMap()": PotentialMap(),
}


def main(figure: str = "pictures.png") -> None:
    images, digit = load_digits(return_X_y=True)
    drawing, axes = plt.subplots(2, 3, figsize=(12, 8), layout="constrained")
    for axis, (title, model) in zip(axes.flat, MAPS.items(), strict=True):
        model.fit(images[:N_TRAIN])
        new = model.transform(images[N_TRAIN:])
        axis.scatter(*model.embedding_.T, c=digit[:N_TRAIN], cmap="tab10", s=5, linewidths=0)
        axis.scatter(*new.T, c="black", s=5, linewidths=0)
        axis.set(title=title, xticks=[], yticks=[], aspect="equal")
    drawing.savefig(figure, dpi=80)


if __name__ == "__main__":
    main(*sys.argv[1:])
