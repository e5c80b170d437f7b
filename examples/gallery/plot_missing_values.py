"""
Missing values
==============

Probabilistic PCA fits and places rows with gaps, and fills them with what it expects.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from eigenscape import ProbabilisticPCA

X = load_digits().data[:600]
rng = np.random.default_rng(0)
holes = rng.random(X.shape) < 0.4
given = np.where(holes, np.nan, X)
model = ProbabilisticPCA(n_components=12).fit(given)
filled = model.impute(given)
means = np.broadcast_to(np.nanmean(given, axis=0), X.shape)
for name, guess in (("column means", means), ("probabilistic PCA", filled)):
    print(f"{name:18s} error of the hidden values {np.sqrt(np.mean((guess - X)[holes] ** 2)):.2f}")

figure, axes = plt.subplots(3, 8, figsize=(8, 3.2))
for row, images, name in zip(axes, (X, given, filled), ("true", "given", "filled"), strict=True):
    for ax, image in zip(row, images, strict=False):
        ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        ax.set_facecolor("#f4c9c9")  # gaps
        ax.set(xticks=[], yticks=[])
    row[0].set_ylabel(name)
plt.show()
