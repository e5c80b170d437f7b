"""The repulsion of a fixed map as a function of position: a sum over all its points, tabulated once.

Sums of a smooth kernel over many points are interpolated from a grid, as in FIt-SNE (Linderman et al. 2019).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import fft

#: Distance of the nodes, a fraction of the width of the kernel, which is one; more for maps of many nodes.
_STEP, _MAX_NODES = 0.25, 768
#: Width of the border around the map, absolute and relative to its size.
_BORDER, _RELATIVE_BORDER = 5.0, 0.1


@dataclass(frozen=True, eq=False)
class RepulsionField:
    """``R(y) = sum_l 1 / (1 + |y - x_l|^2)`` on a grid, with its derivatives.

    Attributes
    ----------
    lower : ndarray of shape (2,)
        The first node.
    step : float
        Distance between nodes.
    nodes : ndarray of shape (4, n_x, n_y)
        ``R``, its derivatives in both directions and the mixed derivative at the nodes.
    """

    lower: np.ndarray
    step: float
    nodes: np.ndarray

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Return ``R`` at points (n, 2)."""
        from eigenscape._compiled.layout import field_values

        return field_values(self.nodes, self.lower, self.step, points)


def repulsion_field(points: np.ndarray) -> RepulsionField:
    """Return the repulsion field of a map (m, 2)."""
    low, high = points.min(axis=0), points.max(axis=0)
    extent = float((high - low).max())
    border = max(_BORDER, _RELATIVE_BORDER * extent)
    step = max(_STEP, (extent + 2 * border) / _MAX_NODES)
    lower = low - border
    shape = tuple((np.ceil((high - low + 2 * border) / step) + 1).astype(int))
    mass = _deposit((points - lower) / step, shape)
    size = [fft.next_fast_len(2 * count - 1, real=True) for count in shape]
    spectrum = fft.rfft2(mass, size)
    nodes = np.empty((4, *shape))
    for which, kernel in enumerate(_kernels(shape, size, step)):
        nodes[which] = fft.irfft2(spectrum * fft.rfft2(kernel), size)[: shape[0], : shape[1]]
    return RepulsionField(lower, step, nodes)


def _deposit(places: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Distribute points (m, 2), in units of the grid, to the nodes around them by cubic interpolation."""
    first = np.floor(places).astype(np.intp)
    t = places - first
    weights = np.stack(
        [
            -t * (t - 1) * (t - 2) / 6,
            (t + 1) * (t - 1) * (t - 2) / 2,
            -(t + 1) * t * (t - 2) / 2,
            (t + 1) * t * (t - 1) / 6,
        ]
    )  # (4, m, 2): the Lagrange polynomials of the nodes -1, 0, 1, 2
    mass = np.zeros(shape[0] * shape[1])
    for a in range(4):
        for b in range(4):
            node = (first[:, 0] + a - 1) * shape[1] + first[:, 1] + b - 1
            mass += np.bincount(node, weights[a, :, 0] * weights[b, :, 1], len(mass))
    return mass.reshape(shape)


def _kernels(shape: tuple[int, ...], size: list[int], step: float) -> list[np.ndarray]:
    """Return ``w = 1 / (1 + x^2 + y^2)`` and its derivatives at differences of nodes, in circular order."""
    x, y = (step * np.r_[0:half, half - full : 0] for half, full in zip(shape, size, strict=True))
    x, y = x[:, None], y[None, :]
    w = 1 / (1 + x * x + y * y)
    return [w, -2 * x * w * w, -2 * y * w * w, 8 * x * y * w**3]
