"""Widths of fuzzy neighbourhoods, and counts of concordant pairs."""

from __future__ import annotations

import math

import numpy as np


def fuzzy_widths(lengths, offsets, target, widths):
    """Write the root ``sigma_i`` of ``sum_j exp(-max(0, d_ij - rho_i) / sigma_i) = target``, by bisection.

    The sum increases with ``sigma``. If it exceeds ``target`` for every width, the width is 0.
    """
    n, k = lengths.shape
    for i in range(n):
        low, high, width = 0.0, np.inf, 1.0
        for _ in range(200):
            total = 0.0
            for j in range(k):
                excess = lengths[i, j] - offsets[i]
                total += math.exp(-excess / width) if excess > 0 else 1.0
            if abs(total - target) < 1e-12 * target:
                break
            if total > target:
                high = width
            else:
                low = width
            width = 2 * width if high == np.inf else (low + high) / 2
            if width > 1e200 or high < 1e-200:
                break
        widths[i] = width if high >= 1e-200 else 0.0


def concordance(first, second, start, stop, before, after):
    """Write ``sum_{j < i} s_ij`` and ``sum_{j > i} s_ij``, ``s_ij = sign((a_i - a_j) (b_i - b_j))``.

    For the elements ``start`` to ``stop``.
    """
    for i in range(start, stop):
        a, b = first[i], second[i]
        for side in range(2):
            total = 0
            for j in range(i + 1, len(first)) if side else range(i):
                product = (a - first[j]) * (b - second[j])
                total += int(product > 0) - int(product < 0)
            if side:
                after[i] = total
            else:
                before[i] = total
