"""Classical scaling of two metrics, as kernel PCA of the squared distances."""

import numpy as np
from _data import digits
from sklearn.decomposition import KernelPCA
from sklearn.metrics import pairwise_distances

X, _ = digits(1500)
for metric in ("euclidean", "cityblock"):
    model = KernelPCA(2, kernel="precomputed").fit(-0.5 * pairwise_distances(X, metric=metric) ** 2)
    print(metric, *np.round(model.eigenvalues_ / 1000, 2))
