"""
New points on a fitted map
==========================

Fit on some rows and place others. Training rows keep their places, and a new row gets the same place whatever batch it comes in.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_swiss_roll

from eigenscape import Isomap

X, t = make_swiss_roll(1000, random_state=0)
model = Isomap(n_components=2, n_neighbors=10).fit(X[:800])
placed = model.transform(X[800:])

# %%
# The three properties that every map here has:
print("training rows keep their places:", np.allclose(model.transform(X[:800]), model.embedding_))
print("one row alone has the same place:", np.allclose(model.transform(X[800:801]), placed[:1]))
print(f"loss of training rows {model.loss():.3g}, of new rows {model.loss(X[800:]):.3g}")

# %%
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6))
left.scatter(X[:800, 0], X[:800, 2], c=t[:800], s=8)
left.scatter(X[800:, 0], X[800:, 2], s=18, facecolors="none", edgecolors="black")
left.set_title("rows from the side; rings are new")
right.scatter(*model.embedding_.T, c=t[:800], s=8)
right.scatter(*placed.T, s=18, facecolors="none", edgecolors="black")
right.set_title("the map, and the new rows on it")
plt.show()
