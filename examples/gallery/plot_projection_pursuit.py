"""
Clusters that PCA does not see
==============================

Two groups differ along a direction of small variance. Projection pursuit looks for the least normal projection instead of the widest.
"""

import matplotlib.pyplot as plt
import numpy as np

from eigenscape import PCA, ProjectionPursuit

rng = np.random.default_rng(0)
part = rng.integers(0, 2, 600)
X = 4 * rng.standard_normal((600, 6))
X[:, 0] = 2.0 * part - 1 + 0.2 * rng.standard_normal(600)
X = X @ np.linalg.qr(rng.standard_normal((6, 6)))[0]

figure, axes = plt.subplots(1, 2, figsize=(8, 3.2))
for ax, model in zip(axes, (PCA(n_components=2), ProjectionPursuit(n_components=2)), strict=True):
    ax.scatter(*model.fit_transform(X).T, c=part, cmap="coolwarm", s=8)
    ax.set_title(type(model).__name__)
plt.show()
