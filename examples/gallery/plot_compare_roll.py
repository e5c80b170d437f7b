"""
Six methods on a swiss roll
===========================

The roll has two coordinates: the way along it (colour) and its height. Which methods find them?
"""

import matplotlib.pyplot as plt
import numpy as np

from eigenscape import PCA, DiffusionMap, Isomap, KernelPCA, LaplacianEigenmaps, LocallyLinearEmbedding
from eigenscape.datasets import swiss_roll
from eigenscape.quality import trustworthiness

X, place = swiss_roll(1000)
t = place[:, 0]
models = {
    "PCA": PCA(n_components=2),
    "Kernel PCA": KernelPCA(n_components=2, gamma=0.02),
    "Isomap": Isomap(n_neighbors=10),
    "LLE (modified)": LocallyLinearEmbedding(n_neighbors=10, method="modified"),
    "Laplacian eigenmaps": LaplacianEigenmaps(n_neighbors=10),
    "Diffusion map": DiffusionMap(n_neighbors=10),
}
figure, axes = plt.subplots(2, 3, figsize=(9, 5.6))
for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
    Y = model.fit_transform(X)
    ax.scatter(*Y.T, c=t, s=6)
    ax.set_title(f"{name}, trust {trustworthiness(X, Y):.3f}")
    ax.set(xticks=[], yticks=[])
plt.show()

# %%
# Linear and kernel PCA put turns on each other. Isomap and modified LLE unroll it; the coordinates of Laplacian
# eigenmaps and diffusion maps are the first one and its harmonic, as the roll is longer than wide. The first coordinate and the way along the roll:
for name, model in models.items():
    first = model.embedding_ if hasattr(model, "embedding_") else model.transform(X)
    ranks = np.corrcoef(np.argsort(np.argsort(first[:, 0])), np.argsort(np.argsort(t)))[0, 1]
    print(f"{name:20s} rank correlation {abs(ranks):.3f}")
