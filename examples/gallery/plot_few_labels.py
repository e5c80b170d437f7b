"""
A classifier from fifty labels
==============================

:class:`~eigenscape.EigenfunctionClassifier` learns functions that are smooth on all rows and needs labels only to combine them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from eigenscape import EigenfunctionClassifier

X, y = load_digits(return_X_y=True)
order = np.random.default_rng(0).permutation(len(X))
X, y = X[order], y[order]
sizes = [20, 50, 100, 200]
scores = {"eigenfunctions": [], "support vectors": [], "nearest neighbour": []}
for n in sizes:
    given = np.full(1200, -1)  # -1: no label
    given[:n] = y[:n]
    scores["eigenfunctions"].append(EigenfunctionClassifier().fit(X[:1200], given).score(X[1200:], y[1200:]))
    scores["support vectors"].append(SVC().fit(X[:n], y[:n]).score(X[1200:], y[1200:]))
    scores["nearest neighbour"].append(KNeighborsClassifier(1).fit(X[:n], y[:n]).score(X[1200:], y[1200:]))

figure, ax = plt.subplots(figsize=(6, 3.8))
for name, values in scores.items():
    ax.plot(sizes, values, "o-", label=name)
    print(f"{name:18s}", *(f"{value:.3f}" for value in values))
ax.set(xscale="log", xlabel="labelled rows, of 1200", ylabel="accuracy, rows not seen")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend(frameon=False)
plt.show()
