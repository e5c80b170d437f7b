"""
A graph that you have already
=============================

Laplacian eigenmaps of a weighted graph: here a road-like grid with a lake, given as a sparse matrix of affinities.
"""

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

from eigenscape import LaplacianEigenmaps

side = 24
x, y = np.meshgrid(np.arange(side), np.arange(side))
land = (x - 14) ** 2 + (y - 10) ** 2 > 22
number = np.where(land, np.cumsum(land).reshape(land.shape) - 1, -1)
pairs = [
    (number[i, j], number[i + a, j + b])
    for i in range(side)
    for j in range(side)
    for a, b in ((0, 1), (1, 0))
    if i + a < side and j + b < side and land[i, j] and land[i + a, j + b]
]
first, second = np.array(pairs).T
n = land.sum()
graph = sp.csr_array((np.ones(len(pairs)), (first, second)), shape=(n, n))
graph = graph + graph.T

model = LaplacianEigenmaps(n_components=2, affinity="precomputed").fit(graph)
places = np.column_stack([x[land], y[land]])

figure, axes = plt.subplots(1, 3, figsize=(10, 3.2))
for ax, value, title in zip(axes[:2], model.embedding_.T, ("first coordinate", "second"), strict=True):
    ax.scatter(*places.T, c=value, s=14, marker="s", cmap="coolwarm")
    ax.set_title(title)
axes[2].scatter(*model.embedding_.T, c=places[:, 0], s=8)
axes[2].set_title("the map")
for ax in axes:
    ax.set(xticks=[], yticks=[])
plt.show()
