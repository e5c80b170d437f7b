"""Label purity of the neighbourhoods of an embedding."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from eigenscape._parameters import check_count
from eigenscape._roles import missing_labels
from eigenscape.graph.neighbors import neighbor_index


class Purity(NamedTuple):
    """Result of :func:`neighbor_purity`; ``float(purity)`` is the value.

    Attributes
    ----------
    value : float
        Mean share of neighbours with the same label.
    chance : float
        Expected value for randomly permuted labels.
    per_class : dict of label to float
        The value of each class, sorted by label.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import neighbor_purity
    >>> Y, labels = np.repeat([[0.0], [9.0]], 20, axis=0), np.repeat(["a", "b"], 20)
    >>> purity = neighbor_purity(Y + np.linspace(0, 1, 40)[:, None], labels)
    >>> float(purity), purity.per_class
    (1.0, {'a': 1.0, 'b': 1.0})
    """

    value: float
    chance: float
    per_class: dict[Any, float]

    def __float__(self) -> float:
        return self.value


def neighbor_purity(embedding: ArrayLike, labels: ArrayLike, n_neighbors: int = 10) -> Purity:
    """Compute the mean share of a point's nearest neighbours that have its label.

    Parameters
    ----------
    embedding : array-like of shape (n_samples, n_components)
        Coordinates of the embedding.
    labels : array-like of shape (n_samples,)
        Class labels, numbers or strings. Points with a missing label (None, NaN) are removed.
    n_neighbors : int, default=10
        Number of neighbours. The purity of a class of ``c`` points is at most ``(c - 1) / n_neighbors``.

    Returns
    -------
    Purity
        The mean share, its value expected by chance, and the mean share of each class.

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
    embedding = np.asarray(embedding, dtype=np.float64)
    labels = np.asarray(labels)
    if labels.shape != (len(embedding),):
        raise ValueError(f"labels must have shape ({len(embedding)},), one per sample, got {labels.shape}")
    check_count("n_neighbors", n_neighbors)
    known = ~missing_labels(labels)
    points, known_labels = embedding[known], labels[known]
    n = len(points)
    if not 1 <= n_neighbors <= n - 1:
        limit = "n_samples" if known.all() else "n_labelled"
        raise ValueError(f"n_neighbors={n_neighbors} must lie between 1 and {limit} - 1 = {n - 1}")
    names, code = np.unique(
        known_labels.astype(str) if labels.dtype == object else known_labels, return_inverse=True
    )
    indices = neighbor_index(points, search="exact").nearest_others_graph(n_neighbors).indices
    share = np.mean(code[indices.reshape(n, n_neighbors)] == code[:, None], axis=1)
    sizes = np.bincount(code)
    per_class = np.bincount(code, weights=share) / sizes
    chance = float(np.sum(sizes * (sizes - 1.0)) / (n * (n - 1.0)))
    return Purity(float(share.mean()), chance, dict(zip(names.tolist(), per_class.tolist(), strict=True)))
