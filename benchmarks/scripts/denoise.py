"""Remove noise from images of digits by kernel PCA and its inverse."""

import numpy as np
from _data import digits
from sklearn.decomposition import KernelPCA

X = digits()[0] / 16
noisy = X + np.random.RandomState(0).normal(scale=0.25, size=X.shape)
model = KernelPCA(30, kernel="rbf", gamma=0.01, fit_inverse_transform=True, alpha=5e-3, random_state=0).fit(
    noisy
)
again = model.inverse_transform(model.transform(noisy))
print(f"{np.mean((noisy - X) ** 2):.4f} {np.mean((again - X) ** 2):.4f}")
