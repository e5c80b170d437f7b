"""
De-noising by pre-images
========================

Project noisy images on a few components of a Gaussian kernel and take the pre-images: noise that no component describes is removed.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from eigenscape import PCA, KernelPCA

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
noisy = X[1000:1200] + rng.normal(0, 4, (200, 64))

kernel = KernelPCA(n_components=60, gamma=1 / 2000).fit(X[:1000])
linear = PCA(n_components=20).fit(X[:1000])
versions = {
    "clean": X[1000:1200],
    "noisy": noisy,
    "PCA": linear.inverse_transform(linear.transform(noisy)),
    "kernel PCA": kernel.inverse_transform(kernel.transform(noisy)),
}
figure, axes = plt.subplots(4, 10, figsize=(9, 3.8))
for row, (name, images) in zip(axes, versions.items(), strict=True):
    error = np.sqrt(np.mean((images - X[1000:1200]) ** 2))
    print(f"{name:10s} root mean square error {error:.2f}")
    for ax, image in zip(row, images, strict=False):
        ax.imshow(image.reshape(8, 8), cmap="gray_r", vmin=0, vmax=16)
        ax.set(xticks=[], yticks=[])
    row[0].set_ylabel(name, fontsize=8)
plt.show()
