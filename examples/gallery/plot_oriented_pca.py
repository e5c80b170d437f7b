"""
Directions that the noise does not change
=========================================

PCA finds the largest variance, which may be noise. Oriented PCA learns the noise from distorted versions of the rows and divides by it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from eigenscape import PCA, OrientedPCA

X, y = load_digits(n_class=3, return_X_y=True)
rng = np.random.default_rng(0)


def distort(images):
    """Return the images with a brightness gradient of random direction and size."""
    x, v = np.meshgrid(np.linspace(-1, 1, 8), np.linspace(-1, 1, 8))
    size = rng.normal(0, 12, (len(images), 2))
    return images + size[:, :1] * x.ravel() + size[:, 1:] * v.ravel()


train, new = X[:400], distort(X[400:])
model = OrientedPCA(n_components=2, regularization=1e-2).fit(
    train, distorted=[distort(train) for _ in range(3)]
)

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.4))
left.scatter(*PCA(n_components=2).fit(distort(train)).transform(new).T, c=y[400:], cmap="Set1", s=10)
left.set_title("PCA: the gradient")
right.scatter(*model.transform(new).T, c=y[400:], cmap="Set1", s=10)
right.set_title("oriented PCA: the digits")
plt.show()
