"""Curves in the plane."""

from __future__ import annotations

import numpy as np

from eigenscape.datasets._check import check_count, check_number, check_seed
from eigenscape.datasets.rolls import arc_length


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
    rng = np.random.default_rng(check_seed(random_state))
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
    rng = np.random.default_rng(check_seed(random_state))
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
    rng = np.random.default_rng(check_seed(random_state))
    labels = np.repeat([0, 1], [n_first, n_second])
    # Positions along an arch, 1 at the meeting point; stratified, so that few points still cover the bridge.
    u = np.concatenate([(rng.permutation(n) + rng.random(n)) / n for n in (n_first, n_second)])
    u = np.interp(u, [0, 1 - bridge, 1], [0, 0.8, 1])
    parameter = np.where(labels == 0, u, 2 - u)
    side = 2 * labels - 1
    X = np.column_stack([side * (1 + np.cos(np.pi * parameter)), np.sin(np.pi * parameter)])
    return X + noise * rng.standard_normal(X.shape), parameter, labels
