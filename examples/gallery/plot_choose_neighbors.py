"""
How many neighbours? Stability
==============================

Exchange a tenth of the rows and see how far the others move: a good number of neighbours gives a map that stays.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_swiss_roll

from eigenscape import Isomap
from eigenscape.quality import choose_n_neighbors

X, t = make_swiss_roll(1000, noise=0.2, random_state=0)
candidates = [4, 6, 10, 20, 40]
choice = choose_n_neighbors(Isomap(n_components=2), X, candidates=candidates)
for k, score in zip(candidates, choice.scores, strict=True):
    print(f"{k:3d} neighbours: movement {score.value:.3f} ({score.low:.3f} to {score.high:.3f})")

# %%
figure, axes = plt.subplots(1, 3, figsize=(9, 3))
for ax, k in zip(axes, (4, choice.best, 40), strict=True):
    ax.scatter(*Isomap(n_neighbors=k).fit_transform(X).T, c=t, s=8)
    ax.set_title(f"{k} neighbours" + (": chosen" if k == choice.best else ""))
    ax.set(xticks=[], yticks=[])
plt.show()

# %%
# Stability alone is not enough: 40 neighbours are stable, too, since their short cuts are in every sample. The search
# takes the smallest number that is as stable as the best one before the first unstable one. Look at the maps.
