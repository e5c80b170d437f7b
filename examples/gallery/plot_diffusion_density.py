"""
Diffusion maps and the density of the rows
==========================================

A circle with ten times as many rows on one side. The exponent ``alpha`` divides the density out of the affinities.
"""

import matplotlib.pyplot as plt
import numpy as np

from eigenscape import DiffusionMap

u = 2 * np.pi * (np.arange(300) + 0.5) / 300
angle = u + 0.8 * np.sin(u)
circle = np.column_stack([np.cos(angle), np.sin(angle)])

figure, axes = plt.subplots(1, 4, figsize=(11, 2.8))
axes[0].scatter(*circle.T, c=angle, cmap="twilight", s=6)
axes[0].set_title("rows")
for ax, alpha in zip(axes[1:], (0, 0.5, 1), strict=True):
    Y = DiffusionMap(affinity="rbf", gamma=100.0, alpha=alpha).fit_transform(circle)
    radius = np.linalg.norm(Y, axis=1)
    ax.scatter(*Y.T, c=angle, cmap="twilight", s=6)
    ax.set_title(f"alpha={alpha}")
    print(f"alpha={alpha}: largest radius / smallest {radius.max() / radius.min():.2f}")
for ax in axes:
    ax.set_aspect("equal", "datalim")
    ax.set(xticks=[], yticks=[])
plt.show()
