"""Densities of manifold Parzen windows."""

from __future__ import annotations

import math

import numpy as np

#: Terms of a sum of exponentials below this multiple of the largest, as a logarithm, are lost to rounding.
_NEGLIGIBLE = -45.0


def parzen_log_densities(Y, X, variances, directions, dimensions, noises, log_volumes, out):
    """Write ``log sum_i exp(-(q_i(y) + log_volumes_i) / 2)`` for all pairs of dimension and noise.

    ``q_i(y) = (|y - x_i|^2 - sum_{r < d} p_r^2 s_ir / (s_ir + noise)) / noise``, ``p_r = v_ir'(y - x_i)``.
    The ``dimensions`` ascend. ``log_volumes`` is (n, n_dimensions, n_noises), ``out`` (n_new, n_dimensions,
    n_noises).
    """
    n, n_features = X.shape
    n_dimensions, n_noises, most = len(dimensions), len(noises), variances.shape[1]
    difference, squares = np.empty(n_features), np.empty(most)
    largest, total = np.empty((n_dimensions, n_noises)), np.empty((n_dimensions, n_noises))
    for row in range(len(Y)):
        largest[:] = -np.inf
        total[:] = 0.0
        for i in range(n):
            squared = 0.0
            for f in range(n_features):
                difference[f] = Y[row, f] - X[i, f]
                squared += difference[f] * difference[f]
            for r in range(most):
                p = 0.0
                for f in range(n_features):
                    p += directions[i, r, f] * difference[f]
                squares[r] = p * p
            for w in range(n_noises):
                noise, explained, r = noises[w], 0.0, 0
                for d in range(n_dimensions):
                    while r < dimensions[d]:
                        explained += squares[r] * variances[i, r] / (variances[i, r] + noise)
                        r += 1
                    exponent = -0.5 * ((squared - explained) / noise + log_volumes[i, d, w])
                    above = exponent - largest[d, w]
                    if above > 0.0:
                        total[d, w] = total[d, w] * math.exp(-above) + 1.0
                        largest[d, w] = exponent
                    elif above > _NEGLIGIBLE:
                        total[d, w] += math.exp(above)
        for d in range(n_dimensions):
            for w in range(n_noises):
                out[row, d, w] = largest[d, w] + math.log(total[d, w])
