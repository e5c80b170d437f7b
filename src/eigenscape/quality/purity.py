"""Whether neighbours on a map share a label."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eigenscape.graph.neighbors import neighbor_index
from eigenscape.quality.arguments import check_whole, missing_labels


class Purity(NamedTuple):
    """Share of neighbours with the same label: over all points, by chance, and for each class."""

    value: float
    chance: float  # what a map that knows nothing of the labels would have
    per_class: dict[Any, float]

    def __float__(self) -> float:
        return self.value


def neighbor_purity(embedding: Any, labels: Any, n_neighbors: int = 10) -> Purity:
    """Mean share of a point's ``n_neighbors`` nearest on the map that have its label.

    Parameters
    ----------
    embedding : array-like of shape (n, n_components)
        The map.
    labels : array-like of shape (n,)
        Numbers or texts. Points whose label is missing (None, NaN) are left out, as neighbours too.
    n_neighbors : int, default=10
        How many neighbours are asked. A class of ``c`` points cannot exceed ``(c - 1) / n_neighbors``.

    Returns
    -------
    Purity
        ``value``; ``chance``, that of labels handed out at random; ``per_class``, a value for each label, in
        their order.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import PCA
    >>> from eigenscape.quality import neighbor_purity
    >>> X, y = load_iris(return_X_y=True)
    >>> purity = neighbor_purity(PCA(2).fit_transform(X), y)
    >>> purity.value > 0.9 > 0.5 > purity.chance
    True
    >>> round(purity.per_class[0], 3)
    1.0
    """
    embedding, labels = np.asarray(embedding, dtype=np.float64), np.asarray(labels)
    if labels.shape != (len(embedding),):
        raise ValueError(
            f"labels must be one for each of the {len(embedding)} points, got shape {labels.shape}"
        )
    check_whole("n_neighbors", n_neighbors)
    known = ~missing_labels(labels)
    embedding, labels = embedding[known], labels[known]
    n = len(embedding)
    if not 1 <= n_neighbors <= n - 1:
        of = "n_samples" if known.all() else "n_labelled"
        raise ValueError(f"n_neighbors={n_neighbors} must lie between 1 and {of} - 1 = {n - 1}")
    names, code = np.unique(labels.astype(str) if labels.dtype == object else labels, return_inverse=True)
    number = neighbor_index(embedding, neighbors="exact").nearest(embedding, n_neighbors + 1)[1]
    share = np.mean(code[other_points(number)] == code[:, None], axis=1)
    sizes = np.bincount(code)
    per_class = np.bincount(code, weights=share) / sizes
    chance = float(np.sum(sizes * (sizes - 1.0)) / (n * (n - 1.0)))
    return Purity(float(share.mean()), chance, dict(zip(names.tolist(), per_class.tolist(), strict=True)))


def other_points(number: np.ndarray) -> np.ndarray:
    """Lists of neighbours (n, k + 1) without the point itself: (n, k)."""
    other = number != np.arange(len(number))[:, None]
    other[other.all(axis=1), -1] = False  # more than k points are in the same place
    return number[other].reshape(len(number), -1)
