"""
A continuous map and its inverse
================================

:class:`~eigenscape.KernelEigenmap` is a smooth mixture of affine maps: defined everywhere, with derivatives, and with an inverse.
"""

import matplotlib.pyplot as plt
import numpy as np

from eigenscape import KernelEigenmap
from eigenscape.datasets import twisted_roll

X, place = twisted_roll()
model = KernelEigenmap(n_components=2).fit(X)
Y = model.transform(X)
again = model.inverse_transform(Y)
print(f"error of the inverse: {np.sqrt(np.mean((again - X) ** 2)) / X.std():.4f} of the spread")
print("derivatives:", model.jacobian(X[:3]).shape)

color = np.asarray(place)[:, 0]
figure = plt.figure(figsize=(10, 3.4))
for number, points, title in ((1, X, "rows"), (3, again, "map and back")):
    ax = figure.add_subplot(1, 3, number, projection="3d")
    ax.scatter(*points.T, c=color, s=5)
    ax.set_title(title)
    ax.set(xticks=[], yticks=[], zticks=[])
ax = figure.add_subplot(1, 3, 2)
ax.scatter(*Y.T, c=color, s=5)
ax.set_title("the map")
plt.show()
