"""Placement on a fixed map: the loop and its reference."""

import numpy as np
import pytest

from eigenscape._native import loops
from native.comparing import compare
from native.reference import layout as reference


def some_rows(rng, n, index="i4", flat=False):
    """Return the arguments of `place_on_map` without the first two."""
    points = rng.standard_normal((40, 2)) * 3
    if flat:
        points[:, 1] = 0.0
    counts = rng.integers(1, 9, n)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(index)
    indices = rng.integers(0, 40, indptr[-1]).astype(index)
    lower, step = points.min(axis=0) - 3, float((np.ptp(points, axis=0).max() + 6) / 25)
    nodes = rng.random((28, 28))
    return [
        indptr,
        indices,
        5 * rng.random(indptr[-1]),
        points,
        nodes,
        lower,
        step,
        flat,
        1e-6,
        200,
        np.zeros((n, 2)),
    ]


@pytest.mark.parametrize("index", ["i4", "i8"])
@pytest.mark.parametrize("flat", [False, True])
@pytest.mark.parametrize(("n", "first", "last"), [(0, 0, 0), (1, 0, 1), (12, 0, 12), (12, 3, 8)])
def test_place_on_map(n, first, last, flat, index):
    arguments = some_rows(np.random.default_rng(n), n, index, flat)
    compare("place_on_map", reference.place_on_map, [first, last, *arguments])


@pytest.mark.parametrize("max_iter", [-1, 0, 1, 2])
def test_rows_that_have_not_converged_are_counted(max_iter):
    arguments = some_rows(np.random.default_rng(1), 10)
    arguments[9] = max_iter
    compare("place_on_map", reference.place_on_map, [0, 10, *arguments])


def test_rows_without_neighbours_or_of_weight_zero_end():
    arguments = some_rows(np.random.default_rng(2), 10)
    arguments[0][5:] = arguments[0][4]  # no neighbours
    arguments[2][:3] = 0.0
    with np.errstate(all="ignore"):
        assert loops.place_on_map(0, 10, *arguments) >= 0
    assert (arguments[-1][5:] == 0).all()


@pytest.mark.parametrize(("place", "value"), [(0, -1), (0, 1000), (1, -1), (1, 40), (1, 2**31 - 1)])
def test_neighbours_that_do_not_exist_are_refused(place, value):
    arguments = some_rows(np.random.default_rng(3), 10)
    arguments[place][4] = value
    with pytest.raises(ValueError, match="out of range"):
        loops.place_on_map(0, 10, *arguments)


def test_rows_in_disorder_are_refused():
    arguments = some_rows(np.random.default_rng(4), 10)
    arguments[0][4], arguments[0][5] = arguments[0][5] + 1, arguments[0][4]
    with pytest.raises(ValueError, match="out of range"):
        loops.place_on_map(0, 10, *arguments)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        (0, np.zeros(10, "i4")),
        (2, np.zeros(1)),
        (3, np.zeros((40, 3))),
        (4, np.zeros((3, 9))),
        (4, np.zeros((9, 3))),
        (5, np.zeros(1)),
        (9, 2**40),
        (10, np.zeros((10, 3))),
        (10, np.zeros((11, 2))),
    ],
)
def test_arguments_of_other_sizes_are_refused(place, value):
    arguments = some_rows(np.random.default_rng(5), 10)
    arguments[place] = value
    with pytest.raises(ValueError, match="do not fit"):
        loops.place_on_map(0, 10, *arguments)


@pytest.mark.parametrize(("first", "last"), [(-1, 5), (5, 4), (0, 11)])
def test_rows_that_do_not_exist_are_refused(first, last):
    with pytest.raises(ValueError, match="do not fit"):
        loops.place_on_map(first, last, *some_rows(np.random.default_rng(6), 10))
