"""
Coordinates of a handful of rows
================================

A few rows far from all others get coordinates of their own. ``localized_coordinates`` names the coordinate and the rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from eigenscape import DiffusionMap
from eigenscape.quality import localized_coordinates, participation_ratio

angle = 2 * np.pi * (np.arange(400) + 0.5) / 400
circle = np.column_stack([np.cos(angle), np.sin(angle)])
rows = np.concatenate([circle, [[1.6, 0.0], [1.85, 0.0], [-1.7, 0.3]]])
model = DiffusionMap(n_components=4, affinity="rbf", gamma=60.0).fit(rows)
for found in localized_coordinates(model.embedding_):
    print(f"coordinate {found.coordinate}: rows {found.points} have {found.share:.0%} of its variance")
print("effective number of rows of each coordinate:", participation_ratio(model.embedding_).round(1))

figure, axes = plt.subplots(1, 3, figsize=(10, 3.2))
panels = {
    "three rows far away": rows,
    "coordinates 0 and 1": model.embedding_,
    "2 and 3": model.embedding_[:, 2:],
}
for ax, (title, points) in zip(axes, panels.items(), strict=True):
    ax.scatter(*points[:400, :2].T, c=angle, cmap="twilight", s=8)
    ax.scatter(*points[400:, :2].T, s=40, facecolors="none", edgecolors="red")
    ax.set_title(title)
    ax.set(xticks=[], yticks=[])
plt.show()
