"""The repulsion of a map as a function of position: a sum over all its points, computed on a grid.

Sums of a smooth kernel over many points are interpolated from a grid, as in FIt-SNE (Linderman et al. 2019).
The interpolation is by cubic B-splines, whose gradient is smooth: one transform forth and one back give the
repulsion and its gradient.

See docs/decisions/methods-neighbor-embedding.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import fft

#: Nodes across a small map, whose points are dense, and the largest number of all nodes.
_NODES_ACROSS, _MAX_NODES = 100, 1 << 22
#: Nodes beyond the map, and the factor by which a grid is larger than the map, which often grows.
_MARGIN, _ROOM = 3, 1.1


@dataclass(frozen=True, eq=False)
class RepulsionField:
    """``R(y) = sum_l 1 / (1 + |y - x_l|^2)`` as a spline.

    Attributes
    ----------
    lower : ndarray of shape (2,)
        The first node.
    step : float
        Distance between nodes.
    nodes : ndarray of shape (n_x, n_y)
        Coefficients of the cubic B-splines of the nodes.
    """

    lower: np.ndarray
    step: float
    nodes: np.ndarray

    def __call__(self, points: np.ndarray) -> np.ndarray:
        """Return ``R`` at points (n, 2)."""
        from eigenscape._compiled.splines import spline_values

        return spline_values(self.nodes, self.lower, self.step, points)


class RepulsionGrid:
    """A grid for the repulsion of a map, used again while the map changes little in size.

    With the B-splines ``B`` of the nodes ``a`` the kernel ``w(x - y)`` is ``sum_ab B_a(x) c(a - b) B_b(y)``.
    It is exact if both points are nodes: the Fourier transform of ``c`` is that of ``w`` at the nodes,
    divided by the square of that of ``B``.

    Parameters
    ----------
    step : float
        Distance between nodes; the width of the kernel is one. Smaller for small maps, and larger for maps
        that would have too many nodes.
    border : float, default=0.0
        Width of the border around the map.
    dtype : type, default=float
        Type of floating point numbers on the grid.
    """

    def __init__(self, step: float, border: float = 0.0, dtype: type = np.float64) -> None:
        self.usual_step = self.step = step
        self.border, self.dtype = border, dtype
        self.mass: np.ndarray = np.empty((0, 0), dtype)  # (n_x, n_y)
        self.size: list[int] = []  # of the transforms: no point is within reach of the repetition of another
        self.spectrum: np.ndarray = np.empty((0, 0), dtype)  # of c

    def field(self, points: np.ndarray) -> RepulsionField:
        """Return the repulsion field of a map (m, 2)."""
        from eigenscape._compiled.splines import spread

        low, high = points.min(axis=0) - self.border, points.max(axis=0) + self.border
        self._fit(high - low)
        lower = (low + high) / 2 - self.step * (np.array(self.mass.shape) - 1) / 2
        spread(points, lower, self.step, self.mass)
        spectrum = fft.rfft2(self.mass, self.size)
        spectrum *= self.spectrum
        nodes = fft.irfft2(spectrum, self.size)[: self.mass.shape[0], : self.mass.shape[1]]
        return RepulsionField(lower, self.step, nodes)

    def _fit(self, extent: np.ndarray) -> None:
        """Change the grid if a map of this extent does not fit, or if half of the nodes suffice."""
        needed = _counts(extent, self.step)
        given = np.array(self.mass.shape)
        if (needed <= given).all() and 2 * needed.prod() >= given.prod():
            return
        wanted = _ROOM * extent
        self.step = min(self.usual_step, float(wanted.max()) / _NODES_ACROSS)
        while (excess := _counts(wanted, self.step).prod() / _MAX_NODES) > 1:
            self.step *= max(np.sqrt(excess), 1.01)
        self.size = [fft.next_fast_len(2 * int(count), real=True) for count in _counts(wanted, self.step)]
        self.mass = np.empty([full // 2 for full in self.size], self.dtype)
        self.spectrum = _spectrum(self.size, self.step).astype(self.dtype)


def _counts(extent: np.ndarray, step: float) -> np.ndarray:
    """Return the numbers of nodes in both directions for a map of given extent."""
    return np.ceil(extent / step).astype(np.int64) + 1 + 2 * _MARGIN


def _spectrum(size: list[int], step: float) -> np.ndarray:
    """Return the Fourier transform of ``w = 1 / (1 + x^2 + y^2)``, divided by the square of that of ``B``."""
    offsets = [np.minimum(np.arange(full), full - np.arange(full)) for full in size]
    x, y = (np.square(step * offset) for offset in offsets)
    # The B-spline of a node is 2/3 there and 1/6 at its neighbours.
    b, c = ((2 + np.cos(2 * np.pi * np.arange(full) / full)) / 3 for full in size)
    spectrum = fft.rfft2(1 / (1 + x[:, None] + y)).real  # the kernel is even
    return spectrum / np.square(b[:, None] * c[: spectrum.shape[1]])
