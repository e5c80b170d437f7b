"""Placement of points on a fixed map, between the attraction of their neighbours and the repulsion of all."""

from __future__ import annotations

import math

import numpy as np

from native.reference.splines import spline_at

#: A step is shortened at most this often; it has then reached the rounding error of the objective.
_HALVINGS = 30
#: The longest step, in widths of the repulsion, and the decrease of the energy relative to its slope.
_LONGEST, _DECREASE = 2.0, 1e-4


def energy(y, columns, weights, points, nodes, lower, step, gradient):
    """Return ``sum_j a_j log(1 + |y - x_j|^2) + R(y)`` and ``sum_j 2 a_j / (1 + |y - x_j|^2)``.

    The gradient of the first is written. ``R`` is the repulsion of all points; ``columns`` are the neighbours
    of the point and ``weights`` their attraction ``a``. The second value is the curvature of a quadratic
    function above the attraction.
    """
    total, gradient[0], gradient[1] = spline_at(nodes, lower, step, y[0], y[1])
    curvature = 0.0
    for e in range(len(columns)):
        j = columns[e]
        dx, dy = y[0] - points[j, 0], y[1] - points[j, 1]
        square = dx * dx + dy * dy
        total += weights[e] * math.log1p(square)
        pull = 2 * weights[e] / (1 + square)
        curvature += pull
        gradient[0] += pull * dx
        gradient[1] += pull * dy
    return total, curvature


def place_on_map(
    first, last, indptr, indices, weights, points, nodes, lower, step, flat, tol, max_iter, places
):
    """Write for rows ``first`` to ``last`` a minimum (n, 2) of :func:`energy`, from the best neighbour.

    BFGS with steps that are halved until the energy decreases enough. With ``flat`` the second coordinate is
    zero. Returns the number of rows that have not converged.
    """
    gradient = np.empty(2)
    n_unconverged = 0
    for i in range(first, last):
        columns, pull = indices[indptr[i] : indptr[i + 1]], weights[indptr[i] : indptr[i + 1]]
        best, y = np.inf, np.zeros(2)
        for j in columns:
            found, _ = energy(points[j], columns, pull, points, nodes, lower, step, gradient)
            if found < best:
                best = found
                y[:] = points[j]
        converged = _descend(y, columns, pull, points, nodes, lower, step, flat, tol, max_iter)
        n_unconverged += 0 if converged else 1
        places[i] = y
    return n_unconverged


def _descend(y, columns, pull, points, nodes, lower, step, flat, tol, max_iter):
    """Move ``y`` (2,) to a minimum of :func:`energy` by BFGS; return whether it has converged."""
    gradient, trial_gradient, trial = np.empty(2), np.empty(2), np.empty(2)
    move, change = np.empty(2), np.empty(2)
    best, curvature = energy(y, columns, pull, points, nodes, lower, step, gradient)
    inverse = np.eye(2) / curvature
    for _ in range(max_iter):
        if flat:
            gradient[1] = 0.0
        for c in range(2):
            move[c] = -inverse[c, 0] * gradient[0] - inverse[c, 1] * gradient[1]
        size = np.sqrt(move[0] ** 2 + move[1] ** 2)
        if size <= tol:
            return True
        if size > _LONGEST:
            move *= _LONGEST / size
        slope = move[0] * gradient[0] + move[1] * gradient[1]  # negative: the inverse is positive definite
        accepted = False
        for _ in range(_HALVINGS):
            trial[:] = y + move
            found, _ = energy(trial, columns, pull, points, nodes, lower, step, trial_gradient)
            if found <= best + _DECREASE * slope:
                accepted = True
                break
            move /= 2
            slope /= 2
        if not accepted:
            return True  # no step changes the energy by more than its rounding error
        change[:] = trial_gradient - gradient
        if flat:
            change[1] = 0.0
        _update(inverse, move, change)
        best = found
        y[:] = trial
        gradient[:] = trial_gradient
    return False


def _update(inverse, move, change):
    """Update the inverse Hessian (2, 2) of BFGS; a direction without positive curvature changes nothing."""
    product = move[0] * change[0] + move[1] * change[1]
    squared = move[0] ** 2 + move[1] ** 2
    if product <= 1e-12 * squared:
        return
    image = inverse[:, 0] * change[0] + inverse[:, 1] * change[1]
    factor = (1 + (change[0] * image[0] + change[1] * image[1]) / product) / product
    for a in range(2):
        for b in range(2):
            inverse[a, b] += factor * move[a] * move[b] - (image[a] * move[b] + move[a] * image[b]) / product
