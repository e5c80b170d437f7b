"""
A spectral map as the start of t-SNE
====================================

t-SNE and UMAP separate many groups in two dimensions, and a spectral map does not: it needs about as many coordinates as there are groups. A
spectral start keeps the large-scale shape, and it is the same in every run.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.manifold import TSNE

from eigenscape import LaplacianEigenmaps
from eigenscape.quality import neighbor_purity, neighbors_kept

X, y = load_digits(return_X_y=True)
X, y = X[:700], y[:700]
spectral = LaplacianEigenmaps(n_components=10, n_neighbors=10).fit_transform(X)
start = 1e-4 * spectral[:, :2] / spectral[:, 0].std()
picture = TSNE(init=start, max_iter=500, random_state=0).fit_transform(X)

maps = {"two coordinates": spectral[:, :2], "t-SNE from there": picture, "ten coordinates": spectral}
for name, Y in maps.items():
    kept, purity = neighbors_kept(X, Y).share.value, neighbor_purity(Y, y).value
    print(f"{name:17s} neighbours kept {kept:.0%}, neighbours of the same digit {purity:.1%}")

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 4))
for ax, name in zip(axes, ("two coordinates", "t-SNE from there"), strict=True):
    ax.scatter(*maps[name].T, c=y, cmap="tab10", s=8)
    ax.set_title(name)
    ax.set(xticks=[], yticks=[])
plt.show()
