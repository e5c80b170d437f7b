"""
Spectral clustering that predicts
=================================

Clusters of any shape, labels of new rows, and the normalised cut as a measure.
"""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from eigenscape import SpectralClustering
from eigenscape.quality import normalized_cut

X, y = make_moons(700, noise=0.06, random_state=0)
model = SpectralClustering(n_clusters=2, n_neighbors=12, on_disconnected="per_component").fit(X[:500])
means = KMeans(2, n_init=3, random_state=0).fit(X[:500])
for name, labels in (("spectral", model.labels_), ("k-means", means.labels_)):
    cut = normalized_cut(model.affinity_matrix_, labels)
    print(f"{name:9s} adjusted Rand {adjusted_rand_score(y[:500], labels):.3f}, normalised cut {cut:.3f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4))
left.scatter(*X[:500].T, c=means.labels_, cmap="coolwarm", s=8)
left.set_title("k-means")
right.scatter(*X[:500].T, c=model.labels_, cmap="coolwarm", s=8)
right.scatter(*X[500:].T, c=model.predict(X[500:]), cmap="coolwarm", s=24, marker="x", linewidths=0.8)
right.set_title("spectral; crosses are predicted")
plt.show()
