"""Indices of projection pursuit, which measure how far a projection is from normal.

An index takes projections ``P`` (n, s), each column of mean zero and unit variance, and returns the value of
each column (s,) and its derivative with respect to every entry (n, s). All are zero for normal data, up to
sampling error.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import erf

Index = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def negentropy(P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the approximation of negentropy by Hyvarinen (1998).

    ``k1 E[p g(p)]^2 + k2 (E[g(p)] - sqrt(1/2))^2`` with ``g(p) = exp(-p^2 / 2)``. The first term measures
    asymmetry, the second peaks and heavy tails; unlike moments, neither is sensitive to outliers.
    """
    n = len(P)
    k1, k2 = 36 / (8 * np.sqrt(3) - 9), 24 / (16 * np.sqrt(3) - 27)
    bell = np.exp(-np.square(P) / 2)
    odd, even = (P * bell).mean(axis=0), bell.mean(axis=0) - np.sqrt(0.5)
    derivative = 2 * bell * (k1 * odd * (1 - np.square(P)) - k2 * even * P) / n
    return k1 * np.square(odd) + k2 * np.square(even), derivative


def kurtosis(P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the squared excess kurtosis ``(E[p^4] - 3)^2``."""
    cubes = P * P * P
    excess = (cubes * P).mean(axis=0) - 3
    return np.square(excess), 8 * excess * cubes / len(P)


def friedman_tukey(P: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Compute the mean density at the points minus that of a normal sample (Friedman and Tukey 1974).

    ``1 / (n (n-1) h) sum_ij (1 - |p_i - p_j| / h)_+`` is large if the points form clusters. They multiply
    it by the spread of the projection, which is one here. The triangular kernel has the width that is optimal
    for a normal density, and sums over it are exact after sorting.
    """
    n = len(P)
    h = 2.576 * n**-0.2
    order = np.argsort(P, axis=0, kind="stable")
    values, derivative = np.empty(P.shape[1]), np.empty_like(P)
    rank = np.arange(n)
    for column, rows in enumerate(order.T):  # searchsorted works on one column at a time
        p = P[rows, column]
        sums = np.concatenate([[0.0], np.cumsum(p)])
        first, beyond = np.searchsorted(p, p - h, side="right"), np.searchsorted(p, p + h, side="left")
        right = beyond - rank - 1
        values[column] = 2 * np.sum(right * (h + p) - (sums[beyond] - sums[rank + 1]))
        derivative[rows, column] = 2 * (right - (rank - first))
    scale = n * (n - 1) * h * h
    normal = (erf(h / 2) - 2 / (h * np.sqrt(np.pi)) * (1 - np.exp(-h * h / 4))) / h
    return values / scale - normal, derivative / scale


#: The indices by name.
INDICES: dict[str, Index] = {"negentropy": negentropy, "kurtosis": kurtosis, "friedman-tukey": friedman_tukey}
