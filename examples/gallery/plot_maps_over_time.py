"""
Aligned maps over time
======================

Four weeks of measurements: half of the rows of each week are measured again in the next one, and the last week has a new column. Maps of
each week alone have axes of their own. :class:`~eigenscape.AlignedSpectralMaps` links the rows in common and gives all weeks one map, in which
the same row has nearly the same place every week.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from eigenscape import AlignedSpectralMaps, LaplacianEigenmaps

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
ids = {f"week {w + 1}": np.arange(300 * w, 300 * w + 600) for w in range(4)}
tables = {week: X[rows] + rng.normal(0, 2, (600, 64)) for week, rows in ids.items()}
tables["week 4"] = np.column_stack(
    [tables["week 4"], rng.normal(0, 2, 600)]
)  # a column that others do not have

model = AlignedSpectralMaps().fit(tables, links=ids)
print(f"{model.n_links_} links, coupling {model.coupling_:g}, their loss {model.link_loss_:.3f}")

figure, axes = plt.subplots(2, 4, figsize=(11, 5.4), sharex="row", sharey="row")
for column, (week, rows) in enumerate(ids.items()):
    alone = LaplacianEigenmaps().fit_transform(tables[week])
    for ax, Y, title in (
        (axes[0, column], alone, "alone"),
        (axes[1, column], model.embeddings_[week], "aligned"),
    ):
        ax.scatter(*Y.T, c=y[rows], cmap="tab10", s=5, linewidths=0)
        ax.set(title=f"{week}, {title}", xticks=[], yticks=[])
plt.show()

# %%
# New rows are placed on the map of their week, and land where the same rows of another week do.
new = X[1500:1600]
first, second = (
    model.transform(new + rng.normal(0, 2, new.shape), view=week) for week in ("week 1", "week 2")
)
spread = np.sqrt(2 * np.concatenate(list(model.embeddings_.values())).var(axis=0).sum())
print(
    f"distance of new rows in two weeks: {np.sqrt(np.square(first - second).sum(axis=1).mean()) / spread:.2f} of the spread"
)
