"""Rolled-up sheets in three dimensions."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenscape.datasets._check import check_count, check_number, check_seed

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
    rng = np.random.default_rng(check_seed(random_state))
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
    X += noise * np.random.default_rng(check_seed(random_state)).standard_normal(X.shape)
    return X, np.column_stack([u, v])


def arc_length(t: Any) -> Any:
    """Compute the arc length of the spiral ``(t cos t, t sin t)`` from its centre."""
    return (t * np.sqrt(1 + t * t) + np.arcsinh(t)) / 2
