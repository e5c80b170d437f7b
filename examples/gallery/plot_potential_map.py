"""
Branching data: a potential map
===============================

Rows of a tree of ten branches in 40 columns. Two principal components lay branches on each other, and two eigenfunctions show the
slowest two splits. :class:`~eigenscape.PotentialMap` draws distances between logarithms of diffusion probabilities: all branches are
visible. They are curled, since two coordinates have no room for ten directions.
"""

import matplotlib.pyplot as plt
import numpy as np

from eigenscape import PCA, LaplacianEigenmaps, PotentialMap
from eigenscape.quality import neighbors_kept

rng = np.random.default_rng(0)
parents = [None, 0, 0, 0, 1, 1, 2, 2, 3, 3]  # the branch at whose end each branch begins
ends, rows = [], []
for parent in parents:
    begin = np.zeros(40) if parent is None else ends[parent]
    direction = rng.standard_normal(40)
    rows.append(begin + np.outer(np.sort(rng.random(80)), direction))
    ends.append(begin + direction)
X = np.concatenate(rows) + rng.normal(0, 0.08, (800, 40))
branch = np.repeat(np.arange(10), 80)

models = {
    "PCA": PCA(2),
    "LaplacianEigenmaps": LaplacianEigenmaps(n_neighbors=10),
    "PotentialMap": PotentialMap(),
}
figure, axes = plt.subplots(1, 3, figsize=(11, 3.6))
for ax, (name, model) in zip(axes, models.items(), strict=True):
    Y = model.fit_transform(X)
    print(f"{name:18s} neighbours kept {neighbors_kept(X, Y).share.value:.0%}")
    ax.scatter(*Y.T, c=branch, cmap="tab10", s=7, linewidths=0)
    ax.set(title=name, xticks=[], yticks=[])
plt.show()

# %%
# The number of steps of the random walk is the knee of its entropy, and the stress tells how well two coordinates draw the distances.
model = models["PotentialMap"]
print(f"{model.n_steps_} steps, stress {model.stress_:.2f}")
