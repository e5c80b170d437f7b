"""
Sample weights: rows that count more than once
==============================================

A survey has five times as many rows of one group as of another. Weights restore the shares of the population without repeating rows:
an integer weight equals as many copies of the row.
"""

import matplotlib.pyplot as plt
import numpy as np

from eigenscape import KernelPCA

rng = np.random.default_rng(0)
common = rng.normal([0, 0], [1.0, 0.25], (250, 2))
rare = rng.normal([0, 2.2], [0.25, 0.9], (50, 2))
X = np.concatenate([common, rare])
weight = np.repeat([1, 5], [250, 50])

plain = KernelPCA(1, gamma=0.3).fit(X)
weighted = KernelPCA(1, gamma=0.3).fit(X, sample_weight=weight)
repeated = KernelPCA(1, gamma=0.3).fit(np.repeat(X, weight, axis=0))
error = abs(weighted.transform(X) - repeated.transform(X)).max()
print(f"largest difference between weighted and repeated rows: {error:.1e}")

# %%
# The first coordinate as a function of the plane. Without weights the larger group determines it: the coordinate varies along that group.
# With weights it separates the two groups.
x, y = np.meshgrid(np.linspace(-3, 3, 80), np.linspace(-1.5, 5, 80))
grid = np.column_stack([x.ravel(), y.ravel()])
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6))
for ax, model, title in (
    (axes[0], plain, "without weights"),
    (axes[1], weighted, "rare rows count five times"),
):
    values = model.transform(grid).reshape(x.shape)
    limit = abs(values).max()
    ax.contourf(x, y, values, levels=np.linspace(-limit, limit, 21), cmap="coolwarm")
    ax.contour(x, y, values, levels=[0], colors="black")
    ax.scatter(*X.T, s=4 * weight, color="black", alpha=0.5, linewidths=0)
    ax.set(title=title, xticks=[], yticks=[], xlim=(-3, 3), ylim=(-1.5, 5))
plt.show()
