"""
Is the map right? Five numbers
==============================

Residuals, neighbours kept, held-out loss, stability and outlier coordinates of one map. The
:doc:`guide </guide/is-the-map-right>` explains how to read them.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from eigenscape import Isomap, plot, quality

X, y = load_digits(n_class=5, return_X_y=True)
train, new = X[:600], X[600:]
model = Isomap(n_components=2, n_neighbors=10).fit(train)
found = quality.perturbation_stability(
    Isomap(n_components=2, n_neighbors=10), train, fraction=(0.02, 0.1, 0.3), n_repeats=2
)

print(f"largest residual         {model.residuals_.max():.1e}")
print(f"neighbours kept          {quality.neighbors_kept(train, model.embedding_).share.value:.0%}")
print(f"loss, training           {model.loss():.3g}")
print(f"loss, held out           {model.loss(new):.3g}")
print(f"mean movement            {found.per_point.mean():.3f} of the spread of the map")
print(f"localized coordinates    {quality.localized_coordinates(model.embedding_)}")

# %%
plot.stability(model, found, figure=plt.figure(figsize=(9, 3.8)))
plt.show()
