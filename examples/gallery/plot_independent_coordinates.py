"""
Coordinates that are not harmonics of others
============================================

On a strip that is much longer than wide, the second eigenfunction is only the first one with twice the frequency. ``independent=True``
skips such coordinates.
"""

import matplotlib.pyplot as plt
import numpy as np

from eigenscape import LaplacianEigenmaps

X = np.random.default_rng(0).random((900, 2)) * [6, 1]
plain = LaplacianEigenmaps(n_components=2, n_neighbors=12).fit(X)
independent = LaplacianEigenmaps(n_components=2, n_neighbors=12, independent=True).fit(X)

figure, axes = plt.subplots(1, 3, figsize=(10, 3))
axes[0].scatter(*X.T, c=X[:, 1], s=6)
axes[0].set_title("a strip, colour is its width")
axes[1].scatter(*plain.embedding_.T, c=X[:, 1], s=6)
axes[1].set_title("the first two")
axes[2].scatter(*independent.embedding_.T, c=X[:, 1], s=6)
axes[2].set_title("the first two that are independent")
for ax in axes:
    ax.set(xticks=[], yticks=[])
plt.show()
for name, model in (("plain", plain), ("independent", independent)):
    correlation = abs(np.corrcoef(model.embedding_[:, 1], X[:, 1])[0, 1])
    print(f"{name:12s} correlation of the second with the width {correlation:.2f}")
