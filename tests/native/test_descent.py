"""Gradient descent of a neighbour embedding: the loops and their references."""

import numpy as np
import pytest

from eigenscape._native import loops
from native.comparing import compare
from native.reference import descent as reference


def some_forces(rng, n, index="i4", dtype="f4"):
    """Return the arguments of `forces` without the first two."""
    points = rng.standard_normal((n, 2))
    counts = rng.integers(0, 9, n)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(index)
    indices = rng.integers(0, max(n, 1), indptr[-1]).astype(index)
    nodes = rng.standard_normal((9, 12)).astype(dtype)
    out = [np.zeros(n), np.zeros((n, 2)), np.zeros((n, 2))]
    return [points, indptr, indices, rng.random(indptr[-1]), nodes, np.array([-2.0, -3.0]), 0.6, *out]


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("index", ["i4", "i8"])
@pytest.mark.parametrize(
    ("n", "first", "last"), [(0, 0, 0), (1, 0, 1), (30, 0, 30), (30, 7, 22), (30, 30, 30)]
)
def test_forces(n, first, last, index, dtype):
    arguments = some_forces(np.random.default_rng(n), n, index, dtype)
    compare("forces", reference.forces, [first, last, *arguments])


def test_blocks_give_the_same_forces():
    arguments = some_forces(np.random.default_rng(1), 50)
    loops.forces(0, 50, *arguments)
    whole = [one.copy() for one in arguments[-3:]]
    for first in range(0, 50, 7):
        loops.forces(first, min(first + 7, 50), *arguments)
    for one, other in zip(arguments[-3:], whole, strict=True):
        np.testing.assert_array_equal(one, other)


def test_edges_to_no_point_are_refused():
    for place, value in ((1, -1), (1, 10**6), (2, -1), (2, 20), (2, 2**31 - 1)):
        arguments = some_forces(np.random.default_rng(2), 20)
        arguments[place][5] = value
        with pytest.raises(ValueError, match="out of range"):
            loops.forces(0, 20, *arguments)


@pytest.mark.parametrize(
    ("place", "shape"),
    [
        (0, (20, 3)),
        (0, (21, 2)),
        (1, 20),
        (3, 1),
        (4, (3, 9)),
        (4, (9, 3)),
        (5, 3),
        (7, 19),
        (8, (20, 1)),
        (8, (19, 2)),
        (9, (20, 3)),
        (9, (21, 2)),
    ],
)
def test_forces_of_other_sizes_are_refused(place, shape):
    arguments = some_forces(np.random.default_rng(3), 20)
    arguments[place] = np.zeros(shape, arguments[place].dtype)
    with pytest.raises(ValueError, match="do not fit"):
        loops.forces(0, 20, *arguments)


@pytest.mark.parametrize(("first", "last"), [(-1, 5), (5, 4), (0, 21), (2**62, 2**62)])
def test_forces_of_rows_that_do_not_exist_are_refused(first, last):
    with pytest.raises(ValueError, match="do not fit"):
        loops.forces(first, last, *some_forces(np.random.default_rng(4), 20))


def some_moves(rng, n, p):
    wide = [rng.integers(-2, 3, (n, 2)) * 1.0 for _ in range(2)]
    gains, moves = rng.random((n, p)), rng.integers(-1, 2, (n, p)) * 0.5
    return [rng.standard_normal((n, p)), *wide, 0.5, 0.25, 2.0, 0.8, 0.9, gains, moves]


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("n", [0, 1, 200])
def test_move(n, p):
    compare("move", reference.move, some_moves(np.random.default_rng(n), n, p))


def test_moves_of_numbers_that_are_not_finite():
    arguments = some_moves(np.random.default_rng(5), 40, 2)
    for place, value in ((0, np.nan), (1, np.inf), (2, np.nan), (8, np.inf), (9, np.nan), (9, -0.0)):
        arguments[place][place * 4 : place * 4 + 3] = value
    with np.errstate(invalid="ignore"):
        compare("move", reference.move, arguments)


@pytest.mark.parametrize(
    ("place", "shape"),
    [(0, (9, 1)), (0, (8, 3)), (1, (9, 2)), (2, (8, 3)), (2, (7, 2)), (8, (8, 1)), (9, (9, 2))],
)
def test_moves_of_other_sizes_are_refused(place, shape):
    arguments = some_moves(np.random.default_rng(6), 8, 2)
    arguments[place] = np.zeros(shape)
    with pytest.raises(ValueError, match="do not fit"):
        loops.move(*arguments)
