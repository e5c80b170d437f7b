"""Cubic B-splines on a grid: points are spread to nodes, and a function on the nodes is interpolated."""

from __future__ import annotations


def _values(t):
    """Return the B-splines of four nodes at ``t`` between the second and the third of them, at 0 and 1."""
    u = 1 - t
    return u * u * u / 6, (4 - 3 * t * t * (2 - t)) / 6, (4 - 3 * u * u * (2 - u)) / 6, t * t * t / 6


def _slopes(t):
    """Return the derivatives of :func:`_values`."""
    u = 1 - t
    return -u * u / 2, t * (3 * t - 4) / 2, u * (4 - 3 * u) / 2, t * t / 2


def _locate(place, count):
    """Return the first of the four nodes around a place, and the place after the second of them.

    Places outside the grid are moved to its border."""
    place = min(max(place, 1.0), count - 2.0)
    second = min(int(place), count - 3)
    return second - 1, place - second


def spread(points, lower, step, mass):
    """Write the sums of the B-splines of points (n, 2) at the nodes (n_x, n_y)."""
    mass[:] = 0
    for i in range(len(points)):
        a, t = _locate((points[i, 0] - lower[0]) / step, mass.shape[0])
        b, u = _locate((points[i, 1] - lower[1]) / step, mass.shape[1])
        x, y = _values(t), _values(u)
        for i_x in range(4):
            for i_y in range(4):
                mass[a + i_x, b + i_y] = float(mass[a + i_x, b + i_y]) + x[i_x] * y[i_y]


def spline_at(nodes, lower, step, x, y):
    """Return the value of a spline with coefficients (n_x, n_y) at a point, and its two derivatives."""
    a, t = _locate((x - lower[0]) / step, nodes.shape[0])
    b, u = _locate((y - lower[1]) / step, nodes.shape[1])
    x_values, x_slopes = _values(t), _slopes(t)
    y_values, y_slopes = _values(u), _slopes(u)
    value, along_x, along_y = 0.0, 0.0, 0.0
    for i_x in range(4):
        sums, slopes = 0.0, 0.0
        for i_y in range(4):
            node = float(nodes[a + i_x, b + i_y])
            sums += y_values[i_y] * node
            slopes += y_slopes[i_y] * node
        value += x_values[i_x] * sums
        along_x += x_slopes[i_x] * sums
        along_y += x_values[i_x] * slopes
    return value, along_x / step, along_y / step


def spline_values(nodes, lower, step, points, values):
    """Write the values of a spline at points (n, 2)."""
    for i in range(len(points)):
        values[i] = spline_at(nodes, lower, step, points[i, 0], points[i, 1])[0]
