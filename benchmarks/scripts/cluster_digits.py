"""Spectral clustering of the digits, compared with the labels."""

from sklearn.cluster import SpectralClustering
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

X, y = load_digits(return_X_y=True)
model = SpectralClustering(10, affinity="nearest_neighbors", n_neighbors=10, random_state=0)
print(f"{adjusted_rand_score(y, model.fit_predict(X)):.4f}")
