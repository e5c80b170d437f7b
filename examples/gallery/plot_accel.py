"""
Scripts written for scikit-learn
================================

:func:`eigenscape.accel.accelerated` computes scikit-learn's own classes by eigenscape, with the same results; the report tells what ran
where. It pays for many rows; small problems are left to scikit-learn.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_swiss_roll

from eigenscape import accel

X, t = make_swiss_roll(2000, random_state=0)


def script():
    from sklearn.manifold import Isomap  # unchanged code

    return Isomap(n_neighbors=10).fit_transform(X)


before = script()
with accel.accelerated():
    after = script()
print(accel.report())
print(f"largest difference: {np.abs(before - after).max() / np.abs(before).max():.1e} of the map")

# %%
figure, axes = plt.subplots(1, 2, figsize=(8, 3))
for ax, Y, title in zip(axes, (before, after), ("scikit-learn", "the same script, accelerated"), strict=True):
    ax.scatter(*Y.T, c=t, s=4)
    ax.set_title(title)
plt.show()
