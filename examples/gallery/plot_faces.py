"""
Heads in varying pose and light
===============================

Images of 32 x 32 pixels are points in 1024 dimensions, but only three numbers change: two angles of the head and one of the light. Isomap
finds coordinates that follow them.
"""

import matplotlib.pyplot as plt
import numpy as np

from eigenscape import Isomap, plot
from eigenscape.datasets import heads

X, pose = heads(400)
model = Isomap(n_components=3, n_neighbors=8).fit(X)

figure, ax = plt.subplots(figsize=(8, 5.5))
plot.scatter(model, images=X.reshape(-1, 32, 32), n_thumbnails=50, thumbnail_size=30, ax=ax)
plt.show()

# %%
# Each angle is nearly a function of the three coordinates: the share of its variance that a regression explains.
from sklearn.neighbors import KNeighborsRegressor

for name, angle in zip(("pan", "tilt", "light"), np.asarray(pose).T, strict=True):
    knn = KNeighborsRegressor(8).fit(model.embedding_[:300], angle[:300])
    print(f"{name:5s} R2 = {knn.score(model.embedding_[300:], angle[300:]):.2f}")
