"""Unroll the Swiss roll: correlation of the first coordinate with the position along the roll."""

import numpy as np
from _data import size
from sklearn import manifold
from sklearn.datasets import make_swiss_roll

X, position = make_swiss_roll(size(2000), random_state=0)
for model in (
    manifold.Isomap(n_neighbors=10),
    manifold.LocallyLinearEmbedding(n_neighbors=12, random_state=0),
):
    first = model.fit_transform(X)[:, 0]
    print(type(model).__name__, f"{abs(np.corrcoef(first, position)[0, 1]):.4f}")
