"""
Labels in the map
=================

``target_weight`` mixes the classes of labelled rows into the neighbourhood graph of :class:`~eigenscape.LaplacianEigenmaps`. New rows
have no label: they are placed by their neighbours alone, so the accuracy on rows not seen is an honest measure of the map.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from eigenscape import LaplacianEigenmaps

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(X))
X, y = X[order], y[order]

figure, axes = plt.subplots(1, 3, figsize=(10, 3.6))
for ax, weight in zip(axes, (0.0, 0.5, 0.9), strict=True):
    model = LaplacianEigenmaps(n_components=2, target_weight=weight).fit(X[:1200], y[:1200])  # -1: no label
    Z = model.transform(X[1200:])
    score = KNeighborsClassifier(10).fit(model.embedding_, y[:1200]).score(Z, y[1200:])
    ax.scatter(*Z.T, c=y[1200:], cmap="tab10", s=6)
    ax.set_title(f"target_weight={weight}: {100 * score:.0f} %")
    ax.set_xticks([])
    ax.set_yticks([])
    print(f"target_weight={weight}: accuracy of rows not seen {score:.3f}")
figure.tight_layout()
plt.show()
