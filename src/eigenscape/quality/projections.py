"""What one-dimensional projections can show (Burges sec. 1, fig. 1.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln


def sphere_projection_density(xi: Any, dimension: int = 20) -> np.ndarray:
    r"""Density of a projection of the uniform distribution on a sphere to any line through its centre.

    For the unit sphere of ``dimension`` :math:`s` in :math:`s + 1` dimensions (Burges eq. 1.1 with :math:`s =
    n + 1`)

    .. math:: \rho(\xi) = \frac{\Gamma((s + 1)/2)}{\sqrt\pi\,\Gamma(s/2)} (1 - \xi^2)^{(s - 2)/2}, \quad -1 \le \xi \le 1,

    with variance :math:`1/(s + 1)`. Already for the 20-sphere it can hardly be told from a normal density, in
    every direction: no projection shows that the points lie on a sphere.

    Parameters
    ----------
    xi : array-like
        Where to evaluate; the density is zero outside [-1, 1].
    dimension : int, default=20
        Of the sphere itself: 1 is the circle.

    Returns
    -------
    ndarray
        Of the shape of ``xi``. On the circle the density is infinite at -1 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import sphere_projection_density
    >>> xi = np.linspace(-0.5, 0.5, 5)
    >>> normal = np.exp(-21 * xi**2 / 2) * np.sqrt(21 / (2 * np.pi))
    >>> bool(np.abs(sphere_projection_density(xi) - normal).max() < 0.04 * normal.max())
    True
    """
    if dimension < 1 or int(dimension) != dimension:
        raise ValueError(f"dimension={dimension!r} must be an integer of at least 1")
    xi = np.asarray(xi, dtype=np.float64)
    log_constant = gammaln((dimension + 1) / 2) - gammaln(dimension / 2) - np.log(np.pi) / 2
    height = np.maximum(1 - np.square(xi), 0.0)
    with np.errstate(divide="ignore"):  # the ends of the circle
        density = np.exp(log_constant) * height ** ((dimension - 2) / 2)
    return np.where(np.abs(xi) <= 1, density, 0.0)
