"""Order statistics of rows: the loop and its reference."""

import numpy as np
import pytest

from native.comparing import compare
from native.reference import rows as reference


def some_rows(rng, n, dtype, index):
    counts = rng.integers(0, 9, n)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(index)
    data = rng.integers(0, 6, indptr[-1]).astype(dtype)  # with ties
    return indptr, data


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("index", ["i4", "i8"])
@pytest.mark.parametrize(("n", "k"), [(0, 1), (1, 1), (40, 1), (40, 3), (40, 20)])
def test_kth_in_rows(n, k, dtype, index):
    rng = np.random.default_rng(n + k)
    indptr, data = some_rows(rng, n, dtype, index)
    compare("kth_in_rows", reference.kth_in_rows, [indptr, data, k, np.empty(n, dtype)])
