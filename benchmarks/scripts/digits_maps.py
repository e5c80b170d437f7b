"""Three maps of the digits, with a measure of each."""

from _data import digits
from sklearn.manifold import Isomap, LocallyLinearEmbedding, SpectralEmbedding, trustworthiness

X, _ = digits()
for model in (
    Isomap(n_neighbors=12),
    LocallyLinearEmbedding(n_neighbors=30, random_state=0),
    SpectralEmbedding(n_neighbors=20, random_state=0),
):
    print(type(model).__name__, f"{trustworthiness(X, model.fit_transform(X)):.4f}")
