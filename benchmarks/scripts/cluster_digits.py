"""Spectral clustering of the digits, compared with the labels."""

from _data import digits
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score

X, y = digits()
model = SpectralClustering(10, affinity="nearest_neighbors", n_neighbors=10, random_state=0)
print(f"{adjusted_rand_score(y, model.fit_predict(X)):.4f}")
