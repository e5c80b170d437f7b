"""Order statistics of the rows of a sparse matrix."""

from __future__ import annotations

import numpy as np


def kth_in_rows(indptr, data, k, kth):
    """Write the ``k``-th smallest stored value of each row to ``kth``, or the largest if there are fewer."""
    best = np.empty(k)
    for i in range(len(indptr) - 1):
        filled = 0
        for t in range(indptr[i], indptr[i + 1]):
            value = data[t]
            if filled < k:
                place = filled
                filled += 1
            elif value < best[k - 1]:
                place = k - 1
            else:
                continue
            while place > 0 and best[place - 1] > value:
                best[place] = best[place - 1]
                place -= 1
            best[place] = value
        kth[i] = best[filled - 1] if filled > 0 else 0.0
