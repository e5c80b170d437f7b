"""Rolled-up sheets in three dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenscape._parameters import check_count, check_number

#: Range of the parameter of the twisted roll: from half a turn to a turn and a quarter.
_FIRST, _LAST = np.pi, 2.5 * np.pi


def swiss_roll(
    n_samples: int = 2000, *, width: float = 21.0, noise: float = 0.0, random_state: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    r"""Generate points uniformly distributed on a Swiss roll (Belkin sec. 6.1, Bengio fig. 4).

    .. math:: x(t, h) = (t \cos t,\; h,\; t \sin t), \quad t \in [1.5 \pi, 4.5 \pi],\; h \in [0, w].

    Parameters
    ----------
    n_samples : int, default=2000
        Number of points.
    width : float, default=21.0
        Extent :math:`w` along the axis; the sheet is about 90 long.
    noise : float, default=0.0
        Standard deviation of normal noise in each of the three directions.
    random_state : int, default=0
        Seed of positions and noise.

    Returns
    -------
    X : ndarray of shape (n_samples, 3)
    parameters : ndarray of shape (n_samples, 2)
        Arc length along the spiral and height, both scaled to the unit interval.

    Examples
    --------
    >>> from eigenscape.datasets import swiss_roll
    >>> X, parameters = swiss_roll(300)
    >>> X.shape, parameters.shape
    ((300, 3), (300, 2))
    """
    n_samples = check_count("n_samples", n_samples)
    width, noise = check_number("width", width, 0), check_number("noise", noise, 0)
    rng = np.random.default_rng(check_count("random_state", random_state, 0))
    u, v = rng.random((2, n_samples))
    grid = np.linspace(1.5 * np.pi, 4.5 * np.pi, 10_001)
    lengths = arc_length(grid)
    t = np.interp(lengths[0] + (lengths[-1] - lengths[0]) * u, lengths, grid)  # uniform in arc length
    X = np.column_stack([t * np.cos(t), width * v, t * np.sin(t)])
    return X + noise * rng.standard_normal(X.shape), np.column_stack([u, v])


def twisted_roll(
    side: int = 30, *, twist: float = 1.0, noise: float = 0.05, random_state: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    r"""Generate a Swiss roll whose cross-section rotates along its axis (Brand sec. 4, fig. 2).

    .. math::

        x(t, h) = (t \cos(t + \tau h / w),\; h,\; t \sin(t + \tau h / w)),
        \quad t \in [\pi, 2.5 \pi],\; h \in [0, w],

    on a regular grid of parameters, with normal noise. The width :math:`w` is the arc length of the spiral,
    26.4: if a roll is much longer than wide, the second coordinate of a spectral map is a harmonic of the
    first.

    Parameters
    ----------
    side : int, default=30
        Number of grid points along either parameter.
    twist : float, default=1.0
        Rotation :math:`\tau` from one end of the axis to the other, in radians.
    noise : float, default=0.05
        Standard deviation of the noise in each of the three directions.
    random_state : int, default=0
        Seed of the noise.

    Returns
    -------
    X : ndarray of shape (side ** 2, 3)
    parameters : ndarray of shape (side ** 2, 2)
        ``t`` and ``h``, both scaled to the unit interval.

    Examples
    --------
    >>> from eigenscape.datasets import twisted_roll
    >>> X, parameters = twisted_roll()
    >>> X.shape, parameters.shape
    ((900, 3), (900, 2))
    """
    side = check_count("side", side, 2)
    twist, noise = check_number("twist", twist), check_number("noise", noise, 0)
    width = arc_length(_LAST) - arc_length(_FIRST)
    u, v = (grid.ravel() for grid in np.meshgrid(*2 * [np.linspace(0, 1, side)], indexing="ij"))
    t, angle = _FIRST + (_LAST - _FIRST) * u, _FIRST + (_LAST - _FIRST) * u + twist * v
    X = np.column_stack([t * np.cos(angle), width * v, t * np.sin(angle)])
    X += noise * np.random.default_rng(check_count("random_state", random_state, 0)).standard_normal(X.shape)
    return X, np.column_stack([u, v])


def arc_length(t: Any) -> Any:
    """Compute the arc length of the spiral ``(t cos t, t sin t)`` from its centre."""
    return (t * np.sqrt(1 + t * t) + np.arcsinh(t)) / 2


def spiral(
    n_samples: int = 1000, *, turns: float = 2.0, noise: float = 0.02, random_state: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    r"""Generate points near a spiral, uniform along its length (Ouimet sec. 5).

    .. math:: x(t) = (t \cos t, t \sin t) / t_1, \quad t \in [0.1 t_1, t_1].

    Parameters
    ----------
    n_samples : int, default=1000
        Number of points.
    turns : float, default=2.0
        Number of turns from the centre to the end :math:`t_1`.
    noise : float, default=0.02
        Standard deviation of the noise in both directions.
    random_state : int, default=0
        Seed of positions and noise.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    parameter : ndarray of shape (n_samples,)
        Arc length, scaled to the unit interval.

    Examples
    --------
    >>> from eigenscape.datasets import spiral
    >>> X, parameter = spiral(200)
    >>> X.shape, parameter.shape
    ((200, 2), (200,))
    """
    n_samples = check_count("n_samples", n_samples)
    turns, noise = check_number("turns", turns, 0, above=True), check_number("noise", noise, 0)
    rng = np.random.default_rng(check_count("random_state", random_state, 0))
    u = rng.random(n_samples)
    grid = 2 * np.pi * turns * np.linspace(0.1, 1, 10_001)
    lengths = arc_length(grid)
    t = np.interp(lengths[0] + (lengths[-1] - lengths[0]) * u, lengths, grid)
    X = np.column_stack([t * np.cos(t), t * np.sin(t)]) / grid[-1]
    return X + noise * rng.standard_normal(X.shape), u


def two_arcs(
    n_samples: int = 400, *, noise: float = 0.08, random_state: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Generate points near two interleaved half circles (Bengio fig. 1).

    Parameters
    ----------
    n_samples : int, default=400
        Number of points, half of them on either arc.
    noise : float, default=0.08
        Standard deviation of the noise in both directions; the circles have radius 1.
    random_state : int, default=0
        Seed of positions and noise.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    parameter : ndarray of shape (n_samples,)
        Position along the arc, in the unit interval.
    labels : ndarray of shape (n_samples,)
        Which arc, 0 or 1.

    Examples
    --------
    >>> from eigenscape.datasets import two_arcs
    >>> X, parameter, labels = two_arcs(100)
    >>> X.shape, int(labels.sum())
    ((100, 2), 50)
    """
    n_samples, noise = check_count("n_samples", n_samples, 2), check_number("noise", noise, 0)
    rng = np.random.default_rng(check_count("random_state", random_state, 0))
    u = rng.random(n_samples)
    labels = (np.arange(n_samples) >= (n_samples + 1) // 2).astype(np.int64)
    side = 1 - 2 * labels
    X = np.column_stack([labels - side * np.cos(np.pi * u), labels * 0.35 + side * np.sin(np.pi * u)])
    return X + noise * rng.standard_normal(X.shape), u, labels


def two_clusters(
    n_first: int = 100,
    n_second: int = 400,
    *,
    bridge: float = 0.06,
    noise: float = 0.05,
    random_state: int = 0,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Generate two clusters of equal shape and different density, connected by a thin bridge (Bengio fig. 2).

    The first cluster is an arch at the top left, the second the same arch rotated by half a turn at the
    bottom right. They meet where the density is low, so that all points lie near one curve.

    Parameters
    ----------
    n_first, n_second : int, default=100, 400
        Numbers of points of the clusters.
    bridge : float, default=0.06
        Fraction of each cluster in the last fifth of its arch, towards the other; 0.2 is a uniform density.
    noise : float, default=0.05
        Standard deviation of the noise in both directions; the arches are half circles of radius 1.
    random_state : int, default=0
        Seed of positions and noise.

    Returns
    -------
    X : ndarray of shape (n_first + n_second, 2)
    parameter : ndarray of shape (n_first + n_second,)
        Position along the curve: 0 to 1 in the first cluster, 1 to 2 in the second.
    labels : ndarray of shape (n_first + n_second,)
        Cluster, 0 or 1.

    Examples
    --------
    >>> from eigenscape.datasets import two_clusters
    >>> X, parameter, labels = two_clusters()
    >>> X.shape, [int((labels == cluster).sum()) for cluster in (0, 1)]
    ((500, 2), [100, 400])
    """
    n_first, n_second = check_count("n_first", n_first), check_count("n_second", n_second)
    bridge, noise = check_number("bridge", bridge, 0, 1), check_number("noise", noise, 0)
    rng = np.random.default_rng(check_count("random_state", random_state, 0))
    labels = np.repeat([0, 1], [n_first, n_second])
    # Positions along an arch, 1 at the meeting point; stratified, so that few points still cover the bridge.
    u = np.concatenate([(rng.permutation(n) + rng.random(n)) / n for n in (n_first, n_second)])
    u = np.interp(u, [0, 1 - bridge, 1], [0, 0.8, 1])
    parameter = np.where(labels == 0, u, 2 - u)
    side = 2 * labels - 1
    X = np.column_stack([side * (1 + np.cos(np.pi * parameter)), np.sin(np.pi * parameter)])
    return X + noise * rng.standard_normal(X.shape), parameter, labels


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
    rng = np.random.default_rng(check_count("random_state", random_state, 0))
    X = rng.standard_normal((n_samples, dimension + 1))
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
    rng = np.random.default_rng(check_count("random_state", random_state, 0))
    shape = (n_vertices, n_vertices)
    upper = np.triu(rng.random(shape) * (rng.random(shape) < density), k=1)
    return upper + upper.T
