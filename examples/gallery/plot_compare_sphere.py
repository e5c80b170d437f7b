"""
A sphere has no flat map
========================

No two coordinates show a whole sphere without tearing it or folding it. The three first eigenfunctions of Laplacian eigenmaps are the
sphere itself; two are a disk with both halves on each other.
"""

import matplotlib.pyplot as plt
import numpy as np

from eigenscape import Isomap, LaplacianEigenmaps
from eigenscape.datasets import sphere
from eigenscape.quality import neighbors_kept

X = sphere(1200)
model = LaplacianEigenmaps(n_components=3, n_neighbors=12).fit(X)
isomap = Isomap(n_components=2, n_neighbors=12).fit(X)

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10, 3.4))
left.scatter(X[:, 0], X[:, 1], c=X[:, 2], s=6)
left.set_title("the sphere, colour is height")
middle.scatter(*model.embedding_[:, :2].T, c=X[:, 2], s=6)
middle.set_title("Laplacian eigenmaps, 2 of 3")
right.scatter(*isomap.embedding_.T, c=X[:, 2], s=6)
right.set_title("Isomap")
for ax in (left, middle, right):
    ax.set_aspect("equal")
    ax.set(xticks=[], yticks=[])
plt.show()

# %%
# Three coordinates keep most neighbours, two cannot; the radius of the three is nearly constant.
radius = np.linalg.norm(model.embedding_, axis=1)
print(f"three coordinates: {neighbors_kept(X, model.embedding_).share.value:.0%} of the neighbours kept")
print(f"two coordinates:   {neighbors_kept(X, model.embedding_[:, :2]).share.value:.0%}")
print(f"radius of the three: {radius.mean():.2f} +- {radius.std():.2f}")
