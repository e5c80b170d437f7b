"""
Eigenfunctions over the plane
=============================

A map is a set of functions, defined at every point. Here the first one of four methods, as grey levels, with the rows it was learnt from
(after Bengio, figure 2).
"""

import matplotlib.pyplot as plt

from eigenscape import Isomap, KernelPCA, LaplacianEigenmaps, LocallyLinearEmbedding, plot
from eigenscape.datasets import two_arcs

X = two_arcs(300)[0]
models = {
    "Isomap": Isomap(n_components=1, n_neighbors=10),
    "LLE": LocallyLinearEmbedding(n_components=1, n_neighbors=10),
    "Kernel PCA": KernelPCA(n_components=1),
    "Laplacian eigenmaps": LaplacianEigenmaps(n_components=1, affinity="rbf"),
}
figure, axes = plt.subplots(2, 2, figsize=(8, 6))
for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
    plot.eigenfunction(model.fit(X), X=X, resolution=60, title=name, ax=ax)
plt.show()
