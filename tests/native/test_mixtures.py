"""Mixtures of affine maps: the loops and their references."""

import numpy as np
import pytest

from eigenscape._native import loops
from native.comparing import compare
from native.reference import mixtures as reference

THRESHOLD = 1e-6


def some_exponents(rng, n, n_kernels):
    exponents = -60 * rng.random((n, n_kernels)).round(2)  # with ties
    exponents[::3] -= 1e17
    return exponents


def counted(exponents):
    """Return the arguments of `fill_members`."""
    n = len(exponents)
    top, total, counts = np.empty(n), np.empty(n), np.empty(n, np.int64)
    loops.count_members(exponents, THRESHOLD, top, total, counts)
    indptr = np.concatenate([[0], np.cumsum(counts)])
    columns, shares = np.zeros(indptr[-1], np.int32), np.zeros(indptr[-1])
    return [exponents, THRESHOLD, top, total, indptr, columns, shares, np.zeros(n)]


@pytest.mark.parametrize(("n", "n_kernels"), [(0, 3), (1, 1), (30, 1), (30, 13)])
def test_members(n, n_kernels):
    exponents = some_exponents(np.random.default_rng(n), n, n_kernels)
    out = [np.empty(n), np.empty(n), np.empty(n, np.int64)]
    compare("count_members", reference.count_members, [exponents, THRESHOLD, *out])
    compare("fill_members", reference.fill_members, counted(exponents))


@pytest.mark.parametrize(("place", "value"), [(5, 10**6), (0, -1), (4, 0)])
def test_members_beyond_their_row_are_refused(place, value):
    arguments = counted(some_exponents(np.random.default_rng(1), 9, 5))
    arguments[4][place] = value
    with pytest.raises(ValueError, match="out of range"):
        loops.fill_members(*arguments)


def test_members_that_were_not_counted_are_refused():
    arguments = counted(some_exponents(np.random.default_rng(2), 9, 5))
    arguments[0][:] = 1.0
    arguments[2][:] = 1.0
    with pytest.raises(ValueError, match="out of range"):
        loops.fill_members(*arguments)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_exponents_that_are_not_finite_end(value):
    exponents = some_exponents(np.random.default_rng(3), 9, 5)
    exponents[2], exponents[4, 1] = value, value
    try:
        loops.fill_members(*counted(exponents))
    except ValueError as error:
        assert "out of range" in str(error)  # noqa: PT017 - either outcome is right


def some_members(rng, n, n_kernels, index):
    """Return the members of kernels: indptr, columns, shares."""
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, n_kernels, n))]).astype(index)
    columns = rng.integers(0, n_kernels, indptr[-1]).astype(index)
    return [indptr, columns, rng.random(len(columns))]


def some_affine(rng, n, n_kernels, d, c, index="i4"):
    maps = [rng.standard_normal(shape) for shape in ((n_kernels, d), (n_kernels, d, c), (n_kernels, c))]
    return [rng.standard_normal((n, d)), *some_members(rng, n, n_kernels, index), *maps, np.empty((n, c))]


@pytest.mark.parametrize("index", ["i4", "i8"])
@pytest.mark.parametrize("c", [0, 1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize(("n", "d"), [(0, 3), (1, 0), (20, 1), (20, 7)])
def test_mix_affine(n, d, c, index):
    compare("mix_affine", reference.mix_affine, some_affine(np.random.default_rng(n + c), n, 6, d, c, index))


def test_kernels_that_do_not_exist_are_refused():
    for place, value in ((1, -1), (1, 10**6), (2, -1), (2, 6)):
        arguments = some_affine(np.random.default_rng(4), 20, 6, 3, 2)
        arguments[place][3] = value
        with pytest.raises(ValueError, match="out of range"):
            loops.mix_affine(*arguments)


@pytest.mark.parametrize(
    ("place", "shape"),
    [
        (0, (19, 3)),
        (0, (20, 4)),
        (1, 20),
        (3, 1),
        (4, (5, 3)),
        (4, (6, 2)),
        (5, (6, 2, 2)),
        (5, (6, 3, 3)),
        (5, (5, 3, 2)),
        (6, (5, 2)),
        (7, (20, 3)),
        (7, (21, 2)),
    ],
)
def test_affine_maps_of_other_sizes_are_refused(place, shape):
    arguments = some_affine(np.random.default_rng(5), 20, 6, 3, 2)
    arguments[place] = np.zeros(shape, arguments[place].dtype)
    with pytest.raises(ValueError, match="do not fit"):
        loops.mix_affine(*arguments)


def some_local(rng, plain, index="i4", n=20, n_kernels=6, d=5):
    """Return the arguments of `local_coordinates`."""
    rows, members = rng.permutation(n)[: n // 2], some_members(rng, n, n_kernels, index)
    marked = np.zeros(n_kernels, dtype=bool)
    loops.mark_members(rows, members[0], members[1], marked)
    q = d if plain else 3
    projections = np.empty((0, 0, 0)) if plain else rng.standard_normal((n_kernels, q, d))
    out = np.full((len(rows), marked.sum(), q + 1), np.nan)
    X, centers = rng.standard_normal((n, d)), rng.standard_normal((n_kernels, d))
    return [rows, X, *members, centers, projections, plain, np.cumsum(marked) - 1, out]


@pytest.mark.parametrize("index", ["i4", "i8"])
@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(("n", "d"), [(2, 1), (20, 5), (20, 8)])
def test_local_coordinates(n, d, plain, index):
    arguments = some_local(np.random.default_rng(n + d), plain, index, n=n, d=d)
    marked = [arguments[0], arguments[2], arguments[3], np.zeros(6, dtype=bool)]
    compare("mark_members", reference.mark_members, marked)
    compare("local_coordinates", reference.local_coordinates, arguments)


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(
    ("place", "value"), [(0, -1), (0, 20), (2, -1), (2, 10**6), (3, -1), (3, 6), (8, -1), (8, 9)]
)
def test_members_that_do_not_exist_are_refused(place, value, plain):
    arguments = some_local(np.random.default_rng(6), plain)
    arguments[place][:] = value
    with pytest.raises(ValueError, match="out of range"):
        loops.local_coordinates(*arguments)
    if place in (0, 2, 3):
        with pytest.raises(ValueError, match="out of range"):
            loops.mark_members(arguments[0], arguments[2], arguments[3], np.zeros(6, dtype=bool))


@pytest.mark.parametrize("plain", [False, True])
@pytest.mark.parametrize(
    ("place", "shape"),
    [(0, 9), (1, (19, 5)), (1, (20, 4)), (2, 20), (4, 1), (5, (6, 4)), (8, 5), (9, (10, 6, 0))],
)
def test_local_coordinates_of_other_sizes_are_refused(place, shape, plain):
    arguments = some_local(np.random.default_rng(7), plain)
    arguments[place] = np.zeros(shape, arguments[place].dtype)
    with pytest.raises(ValueError, match="do not fit"):
        loops.local_coordinates(*arguments)


def test_projections_of_other_sizes_and_no_rows_are_refused():
    arguments = some_local(np.random.default_rng(8), False)
    for shape in ((5, 3, 5), (6, 2, 5), (6, 3, 4), (0, 0, 0)):
        with pytest.raises(ValueError, match="do not fit"):
            loops.local_coordinates(*arguments[:6], np.zeros(shape), *arguments[7:])
    with pytest.raises(ValueError, match="do not fit"):
        loops.mark_members(
            np.array([2**60]), np.empty(0, np.int32), np.empty(0, np.int32), np.zeros(6, dtype=bool)
        )
    with pytest.raises(ValueError, match="do not fit"):
        loops.count_members(np.empty((3, 0)), 0.1, np.empty(3), np.empty(3), np.empty(3, np.int64))
    wrong = counted(some_exponents(np.random.default_rng(9), 9, 5))
    for place in (2, 3, 4, 5, 6, 7):
        with pytest.raises(ValueError, match="do not fit"):
            loops.fill_members(*wrong[:place], wrong[place][:-1], *wrong[place + 1 :])
