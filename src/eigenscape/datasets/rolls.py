"""Rolled-up sheets in three dimensions."""

from __future__ import annotations

import numpy as np

#: The spiral's radius runs from half a turn to a turn and a quarter.
_FIRST, _LAST = np.pi, 2.5 * np.pi


def twisted_roll(side: int = 30, *, twist: float = 1.0, noise: float = 0.05, random_state: int = 0) -> tuple[np.ndarray, np.ndarray]:
    r"""A swiss roll whose cross-section turns along its axis (Brand sec. 4, fig. 2), on a regular grid of parameters.

    .. math:: x(t, h) = (t \cos(t + \tau h / w),\; h,\; t \sin(t + \tau h / w)), \quad t \in [\pi, 2.5 \pi],\; h \in [0, w],

    with normal noise. The width :math:`w` is the arc length of the spiral, 26.4: on a roll much longer than wide the second
    coordinate of any spectral map is only a harmonic of the first.

    Parameters
    ----------
    side : int, default=30
        Points along either parameter.
    twist : float, default=1.0
        The turn :math:`\tau` from one end of the axis to the other, in radians.
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
    if side < 2:
        raise ValueError(f"side={side!r} must be an integer of at least 2")
    width = _arc_length(_LAST) - _arc_length(_FIRST)
    u, v = (grid.ravel() for grid in np.meshgrid(*2 * [np.linspace(0, 1, side)], indexing="ij"))
    t, angle = _FIRST + (_LAST - _FIRST) * u, _FIRST + (_LAST - _FIRST) * u + twist * v
    X = np.column_stack([t * np.cos(angle), width * v, t * np.sin(angle)])
    return X + noise * np.random.default_rng(random_state).standard_normal(X.shape), np.column_stack([u, v])


def _arc_length(t: float) -> float:
    """Of the spiral ``(t cos t, t sin t)`` from its centre."""
    return float(t * np.sqrt(1 + t * t) + np.arcsinh(t)) / 2
