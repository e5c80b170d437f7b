"""
From coordinates back to images
===============================

``inverse_transform`` of a grid over the map shows what each place of it means.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from eigenscape import Isomap

X, y = load_digits(n_class=4, return_X_y=True)
model = Isomap(n_components=2, n_neighbors=10).fit(X)
low, high = np.quantile(model.embedding_, [0.02, 0.98], axis=0)
columns, rows = np.linspace(low[0], high[0], 12), np.linspace(high[1], low[1], 8)
grid = np.array([[c, r] for r in rows for c in columns])
images = model.inverse_transform(grid).reshape(8, 12, 8, 8).swapaxes(1, 2).reshape(64, 96)

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), width_ratios=(1, 1.3))
left.scatter(*model.embedding_.T, c=y, cmap="Set1", s=8)
left.set_title("the map")
right.imshow(images, cmap="gray_r", vmin=0, vmax=16)
right.set_title("rows that belong to a grid over it")
right.set(xticks=[], yticks=[])
plt.show()

# %%
# How good is it? Relative error of rows that were left out. Two coordinates forget most of an image.
print(f"inverse error: {model.inverse_error_:.2f}")
