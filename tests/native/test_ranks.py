"""Ranks of values in rows: the loop and its reference."""

import numpy as np
import pytest

from eigenscape._native import loops
from native.comparing import compare
from native.reference import ranks as reference


@pytest.mark.parametrize(
    ("b", "n", "k"), [(0, 4, 2), (2, 0, 3), (3, 5, 0), (1, 1, 1), (4, 39, 5), (4, 40, 7), (3, 41, 16)]
)
def test_count_below(b, n, k):
    rng = np.random.default_rng(n)
    rows, values = rng.integers(0, 9, (b, n)).astype(float), rng.integers(-1, 10, (b, k)).astype(float)
    rows[:1, ::3], rows[1:2, ::2], values[:, ::4] = np.nan, np.inf, 5e-324
    compare("count_below", reference.count_below, [rows, values, np.empty((b, k), np.int64)])


def test_sizes_that_do_not_fit_are_refused():
    rows, values, counts = np.zeros((3, 4)), np.zeros((3, 2)), np.zeros((3, 2), np.int64)
    for wrong in ([rows[:2], values, counts], [rows, values[:2], counts], [rows, values, counts[:2]]):
        with pytest.raises(ValueError, match="do not fit"):
            loops.count_below(*wrong)
