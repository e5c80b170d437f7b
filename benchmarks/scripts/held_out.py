"""Classify held-out digits by their neighbours on a map."""

from _data import digits
from sklearn.manifold import Isomap, LocallyLinearEmbedding
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

X, Y, x, y = train_test_split(*digits(), random_state=0)
for model in (
    Isomap(n_neighbors=10, n_components=5),
    LocallyLinearEmbedding(n_neighbors=30, n_components=5, random_state=0),
):
    print(f"{make_pipeline(model, KNeighborsClassifier()).fit(X, x).score(Y, y):.3f}")
