"""
Disconnected graphs
===================

Groups that are far apart have no path between them. Four ways to treat them.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from eigenscape import LaplacianEigenmaps
from eigenscape.exceptions import DisconnectedGraphWarning

X, part = make_moons(300, noise=0.05, random_state=0)
X = X + 3 * part[:, None]

figure, axes = plt.subplots(1, 4, figsize=(11, 2.8))
axes[0].scatter(*X.T, c=part, cmap="coolwarm", s=8)
axes[0].set_title("rows")
for ax, choice in zip(axes[1:], ("connect", "per_component", "largest"), strict=True):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        model = LaplacianEigenmaps(n_neighbors=8, on_disconnected=choice).fit(X)
    ax.scatter(*model.embedding_.T, c=part, cmap="coolwarm", s=8)
    ax.set_title(f'"{choice}"')
plt.show()

# %%
print(model.n_connected_components_, "components of", np.bincount(model.component_labels_), "rows")
