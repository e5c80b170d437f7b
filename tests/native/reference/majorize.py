"""Placement of points at given distances from fixed points."""

from __future__ import annotations

import numpy as np


def place_at_distances(targets, points, places, tol, max_iter):
    """Move each row of ``places`` (n, p) to a minimum of ``sum_j (|y - x_j| - t_j)^2``.

    ``y <- mean_j (x_j + t_j (y - x_j) / |y - x_j|)`` never raises the sum (de Leeuw 1977). A row depends on
    its own targets (n, m) only. Return the number of rows that did not converge.
    """
    n_unconverged = 0
    m, p = points.shape
    new = np.empty(p)
    for i in range(places.shape[0]):
        converged = False
        for _ in range(max_iter):
            new[:] = 0.0
            for j in range(m):
                square = 0.0
                for c in range(p):
                    square += (places[i, c] - points[j, c]) ** 2
                ratio = targets[i, j] / np.sqrt(square) if square > 0.0 else 0.0
                for c in range(p):
                    new[c] += points[j, c] + ratio * (places[i, c] - points[j, c])
            moved = 0.0
            for c in range(p):
                new[c] /= m
                moved += (new[c] - places[i, c]) ** 2
                places[i, c] = new[c]
            if moved <= tol * tol:
                converged = True
                break
        n_unconverged += 0 if converged else 1
    return n_unconverged
