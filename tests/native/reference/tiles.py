"""Exponentials in place, for tiles of a symmetric matrix."""

from __future__ import annotations

import numpy as np

#: 1.5 * 2^52 + 1023: added to a small number, it leaves the nearest integer plus 1023 in the lowest bits.
_ROUND = 6755399441055744.0 + 1023
_LOG2_E = 1.4426950408889634
#: log(2) in two parts, the first with trailing zeros: a product with a small integer is exact.
_LOG_2_HIGH, _LOG_2_LOW = 0.69314718036912381649, 1.90821492927058770002e-10
#: Below this the exponential is not a normal number in double precision.
_LOWEST = -708.0


def exponential_tile(flat, stride, left, right):
    """Compute ``exp(min(x[i, j] - left[i] - right[j], 0))`` in place; 0 below ``exp(-708)``.

    Row ``i`` of the tile ``x`` begins at ``flat[i * stride]``.

    ``exp(x) = 2^k exp(r)`` with ``k`` the integer nearest to ``x / log 2``, and ``exp(r)`` by its Taylor
    series of degree 13; exact to one unit in the last place.
    """
    columns = len(right)
    power = np.empty(columns)
    bits = power.view(np.int64)
    for i in range(len(left)):
        row = flat[i * stride : i * stride + columns]
        shift = left[i]
        for j in range(columns):
            x = min(row[j] - shift - right[j], 0.0)
            k = max(x, _LOWEST) * _LOG2_E + _ROUND
            power[j] = k
            k -= _ROUND
            r = (x - k * _LOG_2_HIGH) - k * _LOG_2_LOW
            r2 = r * r
            r4 = r2 * r2
            a = (1.0 / 2.0 + r * (1.0 / 6.0)) + r2 * (1.0 / 24.0 + r * (1.0 / 120.0))
            b = (1.0 / 720.0 + r * (1.0 / 5040.0)) + r2 * (1.0 / 40320.0 + r * (1.0 / 362880.0))
            c = 1.0 / 3628800.0 + r * (1.0 / 39916800.0)
            c = c + r2 * (1.0 / 479001600.0 + r * (1.0 / 6227020800.0))
            p = 1.0 + (r + r2 * ((a + r4 * b) + (r4 * r4) * c))
            row[j] = p if x >= _LOWEST else 0.0
        for j in range(columns):
            bits[j] <<= 52
        for j in range(columns):
            row[j] *= power[j]
