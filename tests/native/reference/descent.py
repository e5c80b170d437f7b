"""Gradient descent of a map whose points attract their neighbours and repel each other."""

from __future__ import annotations

import numpy as np

from native.reference.splines import spline_at

#: Change of a gain whose coordinate moves steadily or back and forth, and its least value (Jacobs 1988).
_FASTER, _SLOWER, _LEAST_GAIN = 0.2, 0.8, 0.01


def forces(first, last, points, indptr, indices, weights, nodes, lower, step, repulsion, slopes, pulls):
    """Write for the points ``first, ..., last - 1`` the repulsion, its gradient and the attraction.

    The repulsion (n,) is a spline. The attraction (n, 2) is ``sum_j W_ij (x_i - x_j) / (1 + |x_i - x_j|^2)``.
    """
    for i in range(first, last):
        x, y = points[i, 0], points[i, 1]
        repulsion[i], slopes[i, 0], slopes[i, 1] = spline_at(nodes, lower, step, x, y)
        pull_x, pull_y = 0.0, 0.0
        for e in range(indptr[i], indptr[i + 1]):
            j = indices[e]
            dx, dy = x - points[j, 0], y - points[j, 1]
            weight = weights[e] / (1 + dx * dx + dy * dy)
            pull_x += weight * dx
            pull_y += weight * dy
        pulls[i, 0], pulls[i, 1] = pull_x, pull_y


def move(points, slopes, pulls, push, pull, rate, momentum, longest, gains, moves):
    """Move points (n, p) against the gradient ``pull * pulls + push * slopes``, in place.

    Gradient descent with momentum and gains: a coordinate is faster while the signs of its gradient and of
    its last move differ, and slower otherwise (Jacobs 1988; van der Maaten and Hinton 2008). No point moves
    by more than ``longest``.
    """
    n, n_components = points.shape
    for i in range(n):
        square = 0.0
        for c in range(n_components):
            gradient = pull * pulls[i, c] + push * slopes[i, c]
            if np.sign(gradient) != np.sign(moves[i, c]):
                gains[i, c] += _FASTER
            else:
                gains[i, c] = _SLOWER * gains[i, c] + _LEAST_GAIN
            moves[i, c] = momentum * moves[i, c] - rate * gains[i, c] * gradient
            square += moves[i, c] ** 2
        shorter = longest / np.sqrt(square) if square > longest**2 else 1.0
        for c in range(n_components):
            moves[i, c] *= shorter
            points[i, c] += moves[i, c]
