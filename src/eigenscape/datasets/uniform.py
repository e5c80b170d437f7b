"""Uniformly distributed points and graph weights."""

from __future__ import annotations

import numpy as np

from eigenscape.datasets._check import check_count, check_number, check_seed


def sphere(n_samples: int = 1000, *, dimension: int = 2, random_state: int = 0) -> np.ndarray:
    r"""Generate uniform points on the unit sphere :math:`S^d \subset \mathbb{R}^{d + 1}` (Burges sec. 1.1).

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    dimension : int, default=2
        Dimension :math:`d` of the surface.
    random_state : int, default=0
        Seed.

    Returns
    -------
    ndarray of shape (n_samples, dimension + 1)

    Examples
    --------
    >>> from eigenscape.datasets import sphere
    >>> X = sphere(50, dimension=20)
    >>> X.shape, float((X**2).sum(axis=1).max().round(12))
    ((50, 21), 1.0)
    """
    n_samples, dimension = check_count("n_samples", n_samples), check_count("dimension", dimension)
    X = np.random.default_rng(check_seed(random_state)).standard_normal((n_samples, dimension + 1))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


def random_graph(n_vertices: int = 50, *, density: float = 1.0, random_state: int = 0) -> np.ndarray:
    """Generate a random graph with weights uniform in the unit interval (Brand fig. 1).

    Parameters
    ----------
    n_vertices : int, default=50
        Number of vertices.
    density : float, default=1.0
        Probability of an edge between two vertices.
    random_state : int, default=0
        Seed.

    Returns
    -------
    ndarray of shape (n_vertices, n_vertices)
        Symmetric weights with a zero diagonal.

    Examples
    --------
    >>> from eigenscape.datasets import random_graph
    >>> W = random_graph(20)
    >>> bool((W == W.T).all()), float(W.trace())
    (True, 0.0)
    """
    n_vertices = check_count("n_vertices", n_vertices)
    density = check_number("density", density, 0, 1)
    rng = np.random.default_rng(check_seed(random_state))
    shape = (n_vertices, n_vertices)
    upper = np.triu(rng.random(shape) * (rng.random(shape) < density), k=1)
    return upper + upper.T
