"""Distribution of one-dimensional projections (Burges sec. 1, fig. 1.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln


def sphere_projection_density(xi: ArrayLike, dimension: int = 20) -> np.ndarray:
    r"""Compute the density of a projection of the uniform distribution on a sphere to a line.

    For the unit sphere of ``dimension`` :math:`s` in :math:`s + 1` dimensions, and any line through its
    centre (Burges eq. 1.1 with :math:`s = n + 1`),

    .. math:: \rho(\xi) = \frac{\Gamma((s + 1)/2)}{\sqrt\pi\,\Gamma(s/2)} (1 - \xi^2)^{(s - 2)/2},
              \quad -1 \le \xi \le 1,

    with variance :math:`1/(s + 1)`. For the 20-sphere it is already close to a normal density, so no
    one-dimensional projection reveals that the points lie on a sphere.

    Parameters
    ----------
    xi : array-like
        Positions at which the density is evaluated. It is zero outside [-1, 1].
    dimension : int, default=20
        Dimension of the sphere itself; 1 is the circle.

    Returns
    -------
    ndarray
        The density, with the shape of ``xi``. For the circle it is infinite at -1 and 1.

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
    base = np.maximum(1 - np.square(xi), 0.0)
    with np.errstate(divide="ignore"):  # the circle at -1 and 1
        density = np.exp(log_constant) * base ** ((dimension - 2) / 2)
    return np.where(np.abs(xi) <= 1, density, 0.0)
