"""
Several planes instead of one
=============================

A mixture of probabilistic PCA models describes rows in groups of different orientation. The number of groups by BIC.
"""

import matplotlib.pyplot as plt
import numpy as np

from eigenscape import MixturePPCA

rng = np.random.default_rng(0)
parts = []
for angle, center in ((0.2, (0, 0)), (1.4, (4, 1)), (2.4, (1, 4))):
    along = rng.normal(0, 1.2, (150, 1)) * [np.cos(angle), np.sin(angle)]
    parts.append(along + center + 0.12 * rng.standard_normal((150, 2)))
X = np.concatenate(parts)

scores = {k: MixturePPCA(n_mixtures=k, n_components=1, n_init=3).fit(X).bic(X) for k in range(1, 6)}
best = min(scores, key=scores.get)
model = MixturePPCA(n_mixtures=best, n_components=1, n_init=3).fit(X)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
left.plot(list(scores), list(scores.values()), "o-")
left.set(xlabel="models", ylabel="BIC (smaller is better)")
right.scatter(*X.T, c=model.predict(X), cmap="Set1", s=8)
right.set_title(f"{best} models")
plt.show()
