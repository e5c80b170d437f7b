"""
A density along the data, and novelty
=====================================

:class:`~eigenscape.ManifoldParzen` puts a Gaussian around each row that is long along its neighbours and short across them. Low density
marks rows unlike the training rows.
"""

import matplotlib.pyplot as plt
import numpy as np

from eigenscape import ManifoldParzen
from eigenscape.datasets import spiral

X = spiral(400, noise=0.02)[0]
model = ManifoldParzen().fit(X)  # neighbours, dimension and noise by cross-validation
low, high = X.min(axis=0) - 0.5, X.max(axis=0) + 0.5
x, y = np.meshgrid(np.linspace(low[0], high[0], 120), np.linspace(low[1], high[1], 120))
density = model.score_samples(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8))
left.imshow(np.exp(density), origin="lower", extent=(*x[0, [0, -1]], *y[[0, -1], 0]), aspect="auto")
left.set_title("density")
drawn = model.sample(300)
right.scatter(*X.T, s=6, color="lightgrey")
right.scatter(*drawn.T, s=8)
right.set_title("new rows drawn from it")
plt.show()

# %%
# A threshold at the first percentile of training rows, and rows off the spiral:
limit = np.quantile(model.score_samples(X), 0.01)
far = X[:100] + np.random.default_rng(0).normal(0, 0.5, (100, 2))
print(f"{np.mean(model.score_samples(far) < limit):.0%} of the moved rows are below the first percentile")
