"""The variants of locally linear embedding on an S-curve."""

import numpy as np
from _data import size
from sklearn.datasets import make_s_curve
from sklearn.manifold import LocallyLinearEmbedding

X, position = make_s_curve(size(1500), random_state=0)
for method in ("standard", "ltsa", "hessian", "modified"):
    model = LocallyLinearEmbedding(n_neighbors=12, method=method, eigen_solver="dense", random_state=0)
    Y = model.fit_transform(X)
    fit = np.linalg.lstsq(np.column_stack([Y, np.ones(len(Y))]), position, rcond=None)[1][0]
    print(method, f"{1 - fit / (len(Y) * position.var()):.4f}")
