"""
From the eigenmap to t-SNE with one slider
==========================================

:class:`~eigenscape.NeighborEmbedding` starts at the Laplacian eigenmap. ``exaggeration`` is the strength of the attraction between
neighbours: 1 is t-SNE, large values approach the eigenmap. New rows (black) are placed one by one, and the map does not move.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from eigenscape import LaplacianEigenmaps, NeighborEmbedding
from eigenscape.quality import neighbor_purity, neighbors_kept

X, y = load_digits(return_X_y=True)
X_train, y_train, X_new = X[:700], y[:700], X[700:760]
models = {
    "LaplacianEigenmaps": LaplacianEigenmaps(n_neighbors=15),
    "exaggeration=30": NeighborEmbedding(exaggeration=30),
    "exaggeration=4": NeighborEmbedding(exaggeration=4),
    "exaggeration=1": NeighborEmbedding(),
}
figure, axes = plt.subplots(1, 4, figsize=(12, 3.2))
for ax, (name, model) in zip(axes, models.items(), strict=True):
    Y = model.fit_transform(X_train)
    kept, purity = neighbors_kept(X_train, Y).share.value, neighbor_purity(Y, y_train).value
    print(f"{name:18s} neighbours kept {kept:.0%}, neighbours of the same digit {purity:.1%}")
    ax.scatter(*Y.T, c=y_train, cmap="tab10", s=6, linewidths=0)
    ax.scatter(*model.transform(X_new).T, c="black", s=8, linewidths=0)
    ax.set(title=name, xticks=[], yticks=[])
plt.show()

# %%
# A small value keeps more neighbours in two coordinates. It does not make distances between the groups meaningful: use the
# picture to look, and ten or more eigenfunctions to compute with.
