"""Selection of the smallest values from blocks of distances: the loops and their references."""

import numpy as np
import pytest

from eigenscape._native import loops
from native.comparing import compare
from native.reference import select as reference


def some_values(rng, b, n, dtype):
    """Return values with ties, in which two rows hold values that are not numbers, or infinite."""
    values = rng.integers(0, 40, (b, n)).astype(dtype)
    values[:1, ::7], values[1:2, ::3] = np.nan, -np.inf
    return values


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(("b", "n", "k"), [(0, 3, 2), (1, 1, 1), (5, 31, 31), (6, 32, 5), (7, 150, 9)])
def test_smallest_values_in_rows(b, n, k, dtype):
    values = some_values(np.random.default_rng(n), b, n, dtype)
    compare(
        "smallest_values_in_rows",
        reference.smallest_values_in_rows,
        [values, np.empty((b, k)), np.empty((b, k), np.int64)],
    )


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(
    ("b", "n", "k", "filled"), [(0, 3, 2, 1), (1, 1, 1, 0), (4, 0, 3, 2), (5, 20, 30, 4), (6, 200, 8, 8)]
)
def test_update_smallest(b, n, k, filled, dtype):
    rng = np.random.default_rng(n)
    smallest = np.sort(rng.integers(0, 40, (b, k)).astype(float), axis=1)
    number = np.tile(np.arange(k), (b, 1))
    values = rng.integers(0, 40, (b, n)).astype(dtype)
    compare("update_smallest", reference.update_smallest, [values, 100, filled, smallest, number])


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize(("b", "n", "count"), [(0, 4, 2), (3, 0, 2), (1, 1, 1), (20, 67, 5)])
def test_closest_between_groups(b, n, count, dtype):
    rng = np.random.default_rng(n)
    lists = (
        np.full((count, count), np.inf),
        np.zeros((count, count), np.int64),
        np.zeros((count, count), np.int64),
    )
    groups = rng.integers(0, count, b), rng.integers(0, count, n)
    values = some_values(rng, b, n, dtype)
    compare(
        "closest_between_groups", reference.closest_between_groups, [values, np.arange(b), *groups, *lists]
    )


def test_arguments_that_do_not_fit_are_refused():
    values, length, number = np.zeros((3, 4)), np.zeros((3, 2)), np.zeros((3, 2), np.int64)
    for wrong in (
        [values, length[:2], number],
        [values, length, number[:2]],
        [values[:, :1].copy(), length, number],
    ):
        with pytest.raises(ValueError, match="do not fit"):
            loops.smallest_values_in_rows(*wrong)
    for first, filled in ((0, -1), (0, 3), (-1, 0), (2**63 - 1, 0)):
        with pytest.raises(ValueError, match="out of range"):
            loops.update_smallest(values, first, filled, length, number)
    with pytest.raises(ValueError, match="do not fit"):
        loops.update_smallest(values[:2], 0, 0, length, number)
    rows, group = np.arange(3), np.zeros(4, np.int64)
    pairs = [np.zeros((2, 2)), np.zeros((2, 2), np.int64), np.zeros((2, 2), np.int64)]
    with pytest.raises(ValueError, match="do not fit"):
        loops.closest_between_groups(values, rows, rows % 2, group[:3], *pairs)
    for row_group, wrong in ((rows, group), (rows - 1, group), (rows % 2, group + 2), (rows % 2, group - 1)):
        with pytest.raises(ValueError, match="out of range"):
            loops.closest_between_groups(values, rows, row_group, wrong, *pairs)
