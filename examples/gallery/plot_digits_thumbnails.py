"""
Digits with thumbnails
======================

A map of images is easier to read with the images in it.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from eigenscape import Isomap, plot

X, y = load_digits(n_class=6, return_X_y=True)
model = Isomap(n_components=2, n_neighbors=10).fit(X[:800])

figure, ax = plt.subplots(figsize=(8, 6))
plot.scatter(model, y[:800], images=X[:800].reshape(-1, 8, 8), n_thumbnails=70, thumbnail_size=20, ax=ax)
plt.show()
