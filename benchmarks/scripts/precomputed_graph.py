"""Isomap and spectral embedding of one precomputed graph of neighbours."""

from _data import digits
from sklearn.manifold import Isomap, SpectralEmbedding, trustworthiness
from sklearn.neighbors import KNeighborsTransformer

X, _ = digits()
graph = KNeighborsTransformer(n_neighbors=20, mode="distance").fit_transform(X)
isomap = Isomap(n_neighbors=15, metric="precomputed").fit_transform(graph)
spectral = SpectralEmbedding(affinity="precomputed_nearest_neighbors", n_neighbors=15, random_state=0)
print(f"{trustworthiness(X, isomap):.4f} {trustworthiness(X, spectral.fit_transform(graph)):.4f}")
