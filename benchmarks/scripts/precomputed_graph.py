"""Isomap and spectral embedding of one precomputed graph of neighbours."""

from sklearn.datasets import load_digits
from sklearn.manifold import Isomap, SpectralEmbedding, trustworthiness
from sklearn.neighbors import KNeighborsTransformer

X = load_digits().data
graph = KNeighborsTransformer(n_neighbors=20, mode="distance").fit_transform(X)
isomap = Isomap(n_neighbors=15, metric="precomputed").fit_transform(graph)
spectral = SpectralEmbedding(affinity="precomputed_nearest_neighbors", n_neighbors=15, random_state=0)
print(f"{trustworthiness(X, isomap):.4f} {trustworthiness(X, spectral.fit_transform(graph)):.4f}")
