"""
A parametric map and the Nyström formula
========================================

The Nyström formula places new rows by the training rows. :class:`~eigenscape.ParametricMap` regresses the coordinates on random
features instead: smaller and without training rows, at the price of a larger held-out loss.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
from sklearn.datasets import make_swiss_roll

from eigenscape import Isomap, ParametricMap, save

X, t = make_swiss_roll(3000, noise=0.1, random_state=0)
X_train, X_new, t_new = X[:1500], X[1500:], t[1500:]
model = ParametricMap(Isomap(2, n_neighbors=10), n_features=300).fit(X_train)
nystrom = model.embedder_

print(f"leave-one-out errors of the coordinates: {model.leave_one_out_errors_.round(3)} of their spread")
print(f"loss on new rows: regression {model.loss(X_new[:500]):.3g}, Nyström {nystrom.loss(X_new[:500]):.3g}")
with tempfile.TemporaryDirectory() as folder:
    small, large = Path(folder) / "small.eigenscape", Path(folder) / "large.eigenscape"
    save(model, small, compact=True)
    save(nystrom, large)
    print(
        f"files: regression {small.stat().st_size / 1e3:.0f} kB, Nyström {large.stat().st_size / 1e3:.0f} kB"
    )

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4))
for ax, Y, title in (
    (axes[0], nystrom.transform(X_new), "Nyström formula"),
    (axes[1], model.transform(X_new), "regression on 300 random features"),
):
    ax.scatter(*Y.T, c=t_new, s=6, linewidths=0)
    ax.set(title=title, xticks=[], yticks=[])
plt.show()
