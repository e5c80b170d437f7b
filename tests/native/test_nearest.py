"""Exact nearest rows from lower bounds: the loops and their references."""

import numpy as np
import pytest

from eigenscape._native import loops
from native.comparing import compare, run
from native.reference import nearest as reference

TYPES = pytest.mark.parametrize(("dtype", "bounds"), [("f4", "f4"), ("f4", "f8"), ("f8", "f4"), ("f8", "f8")])


def some_block(b, n, d, dtype, bounds, whole=False):
    """Return rows, bounds too low by up to 2 and too high by up to the slack, their parts, and ranks.

    With ``whole`` the coordinates are small integers: sums are exact, and distances tie.
    """
    rng = np.random.default_rng(n + d)
    Y, X = rng.standard_normal((b, d)) + 1, rng.standard_normal((n, d)).astype(dtype)
    if whole:
        Y, X = np.round(2 * Y), np.round(2 * X)
    square = ((Y[:, None, :] - X.astype(float)) ** 2).sum(axis=2)
    base, slack = rng.random(b), rng.random(b)
    rough = square - base[:, None] - 2 * rng.random((b, n)) + rng.random((b, n)) * slack[:, None]
    return [Y, X, rough.astype(bounds), base, slack + 1e-4, rng.permutation(n)]


def nearest(exact, rank, k):
    """Return the columns of the ``k`` smallest values of each row, by value and then by rank."""
    return np.lexsort((np.broadcast_to(rank, exact.shape), exact), axis=1)[:, :k]


def lists(b, k):
    return np.empty((b, k)), np.empty((b, k), np.int64)


@TYPES
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize(
    ("b", "n", "d", "k"), [(0, 3, 2, 2), (1, 1, 1, 1), (3, 31, 3, 31), (4, 64, 21, 3), (5, 200, 40, 5)]
)
def test_nearest_exact(b, n, d, k, whole, dtype, bounds):
    block = some_block(b, n, d, dtype, bounds, whole)
    compare("nearest_exact", reference.nearest_exact, [*block, *lists(b, k)], rtol=0 if whole else 5e-15)
    exact = np.sqrt(((block[0][:, None, :] - block[1].astype(float)) ** 2).sum(axis=2))
    (_, copies) = run(loops.nearest_exact, [*block, *lists(b, k)])
    np.testing.assert_array_equal(copies[-1], nearest(exact, block[-1], k))


@TYPES
@pytest.mark.parametrize(("b", "n", "d", "k"), [(0, 3, 2, 2), (1, 1, 1, 1), (4, 64, 3, 3), (5, 200, 18, 5)])
def test_nearest_or_within(b, n, d, k, dtype, bounds):
    block = some_block(b, n, d, dtype, bounds, whole=True)
    radii = np.random.default_rng(0).random(n) * 2 * d**0.5
    indptr, column, near = np.zeros(b + 1, np.int64), np.zeros(b * n, np.int64), np.zeros(b * n)
    arguments = [*block, radii, k, 0, indptr, column, near]
    compare("nearest_or_within", reference.nearest_or_within, arguments)
    done, whole = run(loops.nearest_or_within, arguments)
    assert done == b
    exact = np.sqrt(((block[0][:, None, :] - block[1].astype(float)) ** 2).sum(axis=2))
    expected = exact <= radii
    np.put_along_axis(expected, nearest(exact, block[-1], k), True, axis=1)
    used = whole[-3][-1]
    np.testing.assert_array_equal(whole[-3], np.concatenate([[0], np.cumsum(expected.sum(axis=1))]))
    np.testing.assert_array_equal(whole[-2][:used], np.nonzero(expected)[1])
    np.testing.assert_array_equal(whole[-1][:used], exact[expected])
    # The same, with room for more pairs each time.
    done, size = 0, 0
    while done < b:
        size += 7
        column, near = np.resize(column[:size], size), np.resize(near[:size], size)
        some = [*block, radii, k, done, indptr, column, near]
        compare("nearest_or_within", reference.nearest_or_within, some)
        done = loops.nearest_or_within(*some)
    for one, other in zip([indptr, column[:used], near[:used]], whole[-3:], strict=True):
        np.testing.assert_array_equal(one, other[: len(one)])


@TYPES
@pytest.mark.parametrize(
    ("n", "starts"), [(1, [0]), (70, [0, 5, 5, 40, 70]), (200, [3, 33, 100]), (0, [0]), (9, [])]
)
def test_closest_to_groups(n, starts, dtype, bounds):
    count = len(starts)
    block = some_block(6, n, 5, dtype, bounds, whole=True)
    block[1] = np.concatenate([block[1], np.zeros((2, 5), dtype)])  # rows without bounds
    out = [np.zeros(count), np.zeros(count, np.int64), np.zeros(count, np.int64)]
    compare("closest_to_groups", reference.closest_to_groups, [*block[:5], np.array(starts, np.int64), *out])


@pytest.mark.parametrize("bounds", ["f4", "f8"])
def test_bounds_that_are_not_numbers_give_no_rows(bounds):
    block = some_block(3, 40, 2, "f8", bounds)
    block[2][:] = np.nan
    length, number = lists(3, 2)
    loops.nearest_exact(*block, length, number)
    assert (number == -1).all()
    assert np.isinf(length).all()
    block[2][:] = np.inf
    compare("nearest_exact", reference.nearest_exact, [*block, length, number], rtol=5e-15)


def test_arguments_that_do_not_fit_are_refused():
    block, out = some_block(4, 40, 3, "f8", "f8"), [*lists(4, 2)]
    shorter = [block[0][:3], block[1][:39], block[2][:, :39].copy(), block[3][:3], block[4][:3], block[5][:3]]
    for place in (0, 1, 3, 4, 5):
        wrong = [*block]
        wrong[place] = shorter[place]
        with pytest.raises(ValueError, match="do not fit"):
            loops.nearest_exact(*wrong, *out)
    for wrong in ([out[0][:3], out[1]], [out[0], out[1][:, :1].copy()], [*lists(4, 0)], [*lists(4, 41)]):
        with pytest.raises(ValueError, match="do not fit"):
            loops.nearest_exact(*block, *wrong)
    radii, pairs = np.ones(40), [np.zeros(5, np.int64), np.zeros(9, np.int64), np.zeros(9)]
    for wrong in (
        [radii[1:], 2, 0, *pairs],
        [radii, 0, 0, *pairs],
        [radii, 41, 0, *pairs],
        [radii, 2, 0, *pairs[:2], np.zeros(8)],
        [radii, 2, 0, pairs[0][1:], *pairs[1:]],
    ):
        with pytest.raises(ValueError, match="do not fit"):
            loops.nearest_or_within(*block, *wrong)
    for first, begin in ((-1, 0), (5, 0), (0, -1), (0, 10)):
        pairs[0][:] = begin
        with pytest.raises(ValueError, match="out of range"):
            loops.nearest_or_within(*block, radii, 2, first, *pairs)
    three = [np.zeros(2), np.zeros(2, np.int64), np.zeros(2, np.int64)]
    for starts in ([-1, 3], [5, 3], [0, 41], [2**62, 3]):
        with pytest.raises(ValueError, match="out of range"):
            loops.closest_to_groups(*block[:5], np.array(starts), *three)
    with pytest.raises(ValueError, match="do not fit"):
        loops.closest_to_groups(*block[:5], np.array([0]), *three)
