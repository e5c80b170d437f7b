"""Multilevel hierarchy and block conjugate gradients: the loops and their references."""

import numpy as np
import pytest

from native.comparing import compare, run_variants
from native.reference import gradients, hierarchy
from native.sparse_rows import DTYPES, INDICES, assert_refused, random_rows, wrong_rows

SHAPES = "do not fit together"


def changed(arguments, place, value):
    return [*arguments[:place], value, *arguments[place + 1 :]]


def reordering(rng, n, dtype="f8", index="i8"):
    """Return the arguments of ``reorder_rows``, without the bounds of the rows."""
    indptr, indices, data = random_rows(rng, n, n, dtype, index)
    order = rng.permutation(n).astype(index)
    rank = np.argsort(order).astype(index)
    out_indptr = np.concatenate([[0], np.cumsum(np.diff(indptr)[order])]).astype(index)
    return [indptr, indices, data, order, rank, 0, n, out_indptr, np.zeros_like(indices), np.zeros_like(data)]


@DTYPES
@INDICES
@pytest.mark.parametrize("n", [0, 1, 30])
def test_reorder_rows(n, dtype, index):
    arguments = reordering(np.random.default_rng(n), n, dtype, index)
    compare("reorder_rows", hierarchy.reorder_rows, arguments)
    compare("reorder_rows", hierarchy.reorder_rows, changed(arguments, 6, n // 2))


@INDICES
def test_reorder_rows_refuses_what_does_not_fit(index):
    arguments = reordering(np.random.default_rng(0), 12, index=index)
    indptr, indices, _, order, _, _, _, out_indptr, *_ = arguments
    for wrong in wrong_rows(indptr, indices, 12):
        assert_refused("reorder_rows", [*wrong, *arguments[2:]], "out of range")
    for place, one in ((3, order), (7, out_indptr)):
        for value in (-1, 2**31 - 1):
            other = one.copy()
            other[0] = value
            assert_refused("reorder_rows", changed(arguments, place, other), "out of range")
    for place in (0, 1, 2, 4, 7, 8, 9):
        assert_refused("reorder_rows", changed(arguments, place, arguments[place][1:].copy()), SHAPES)
    for place, value in ((5, -1), (6, 13)):
        assert_refused("reorder_rows", changed(arguments, place, value), SHAPES)


@DTYPES
@INDICES
@pytest.mark.parametrize("n", [0, 1, 2, 60])
@pytest.mark.parametrize("strength", [0.0, 0.1, 0.9])
def test_group_vertices(n, strength, dtype, index):
    rng = np.random.default_rng(n)
    indptr, indices, data = random_rows(rng, n, n, dtype, index)
    for values in (data, np.round(data), np.ones_like(data)):  # with ties, and all equal
        group = np.empty(n, dtype=np.int32)
        compare("group_vertices", hierarchy.group_vertices, [indptr, indices, values, strength, group])


@INDICES
def test_group_vertices_refuses_what_does_not_fit(index):
    indptr, indices, data = random_rows(np.random.default_rng(0), 12, 12, index=index)
    group = np.empty(12, dtype=np.int32)
    for wrong in wrong_rows(indptr, indices, 12):
        assert_refused("group_vertices", [*wrong, data, 0.1, group], "out of range")
    assert_refused("group_vertices", [indptr, indices, data, 0.1, group[1:].copy()], SHAPES)
    assert_refused("group_vertices", [indptr, indices, data[1:].copy(), 0.1, group], SHAPES)


@INDICES
@pytest.mark.parametrize(("n", "m", "columns"), [(0, 0, 0), (1, 1, 1), (30, 12, 9), (30, 12, 200)])
def test_multiply_sparse(n, m, columns, index):
    rng = np.random.default_rng(n)
    A, B = random_rows(rng, n, m, index=index), random_rows(rng, m, columns, index=index)
    for first, last in ((0, n), (n // 3, n // 2)):
        size = run_variants("product_size", [*A[:2], B[0], first, last])[0]
        compare("product_size", hierarchy.product_size, [*A[:2], B[0], first, last])
        out = [np.empty(last - first, dtype="i8"), np.zeros(size, dtype=index), np.zeros(size)]
        compare("multiply_sparse", hierarchy.multiply_sparse, [*A, *B, columns, first, last, *out])


@INDICES
def test_multiply_sparse_refuses_what_does_not_fit(index):
    rng = np.random.default_rng(0)
    A, B = random_rows(rng, 20, 8, index=index), random_rows(rng, 8, 6, index=index)
    A[1][:8] = np.arange(8)  # all rows of B are used
    size = run_variants("product_size", [*A[:2], B[0], 0, 20])[0]
    out = [np.empty(20, dtype="i8"), np.empty(size, dtype=index), np.empty(size)]
    for wrong in wrong_rows(*A[:2], 8):
        assert_refused("multiply_sparse", [*wrong, A[2], *B, 6, 0, 20, *out], "out of range")
    for wrong in list(wrong_rows(*A[:2], 8))[:8]:
        assert_refused("product_size", [*wrong, B[0], 0, 20], "out of range")
    for wrong in wrong_rows(*B[:2], 6):
        assert_refused("multiply_sparse", [*A, *wrong, B[2], 6, 0, 20, *out], "out of range")
    few = [out[0], np.empty(3, dtype=index), np.empty(3)]
    assert_refused("multiply_sparse", [*A, *B, 6, 0, 20, *few], SHAPES)
    arguments = [*A, *B, 6, 0, 20, *out]
    for place, value in (
        (2, A[2][1:].copy()),
        (5, B[2][1:].copy()),
        (6, -1),
        (7, -1),
        (8, 21),
        (9, out[0][1:].copy()),
    ):
        assert_refused("multiply_sparse", changed(arguments, place, value), SHAPES)
    for first, last in ((-1, 3), (3, 2), (0, 21)):
        assert_refused("product_size", [*A[:2], B[0], first, last], SHAPES)
    huge = np.array([0, 2**62, 2**62], dtype="i8")
    rows = np.array([0, 3], dtype="i8"), np.zeros(3, dtype="i8")
    assert_refused("product_size", [*rows, huge, 0, 1], "out of range")


@INDICES
@pytest.mark.parametrize("n", [0, 1, 40])
def test_smooth_rows(n, index):
    rng = np.random.default_rng(n)
    rows, group = random_rows(rng, n, 5, index=index), rng.integers(0, 5, n, dtype=np.int32)
    arguments = [*rows, group, rng.random(n), rng.random(n)]
    compare("smooth_rows", hierarchy.smooth_rows, arguments)
    if n > 1:
        for place in range(6):
            assert_refused("smooth_rows", changed(arguments, place, arguments[place][1:].copy()), SHAPES)
        for wrong in (rows[0] - 1, rows[0] + 1, rows[0] * 1000):
            assert_refused("smooth_rows", [wrong.astype(index), *arguments[1:]], "out of range")


def smoothing(rng, name, n, columns, dtype, index):
    """Return the arguments of a loop over rows with a block of vectors."""
    coarse = 7 if name == "correct_rows" and n else n
    blocks = [rng.standard_normal((m, columns)).astype(dtype) for m in (n, coarse)]
    if name == "first_residual":
        blocks = blocks[:1]
    step, out = rng.random(n).astype(dtype), np.zeros((n, columns), dtype)
    return [*random_rows(rng, n, coarse, dtype, index), step, *blocks, 0, n, out]


@DTYPES
@INDICES
@pytest.mark.parametrize(("n", "columns"), [(0, 4), (1, 4), (40, 0), (40, 4), (40, 12)])
@pytest.mark.parametrize("name", ["first_residual", "correct_rows", "relax_rows"])
def test_smoothing(name, n, columns, dtype, index):
    arguments = smoothing(np.random.default_rng(n), name, n, columns, dtype, index)
    compare(name, getattr(hierarchy, name), arguments)
    compare(name, getattr(hierarchy, name), changed(changed(arguments, -3, n // 3), -2, n // 2))


@INDICES
@pytest.mark.parametrize("name", ["first_residual", "correct_rows", "relax_rows"])
def test_smoothing_refuses_what_does_not_fit(name, index):
    arguments = smoothing(np.random.default_rng(0), name, 12, 4, "f8", index)
    for wrong in wrong_rows(*arguments[:2], 7 if name == "correct_rows" else 12):
        assert_refused(name, [*wrong, *arguments[2:]], "out of range")
    for place in (0, 1, 2, 3, 4, -1, *((5,) if name == "relax_rows" else ())):
        assert_refused(name, changed(arguments, place % len(arguments), arguments[place][1:].copy()), SHAPES)
    for place, value in ((-3, -1), (-2, 13)):
        assert_refused(name, changed(arguments, len(arguments) + place, value), SHAPES)
    odd = [one[:, :3].copy() if getattr(one, "ndim", 1) == 2 else one for one in arguments]
    assert_refused(name, odd, SHAPES)


def gradient_arguments(rng, name, n, known, columns):
    def block():
        return rng.standard_normal((n, columns))

    K, inside, row = (
        rng.standard_normal((n, known)),
        rng.standard_normal((known, columns)),
        rng.random(columns),
    )
    return {
        "products_with": [K, block(), block(), block(), 0, n, rng.random((known + 2, columns))],
        "next_direction": [K, block(), inside, row, 0, n, block()],
        "subtract_scaled": [block(), row, 0, n, block()],
        "advance_solution": [K, block(), block(), inside, row, 0, n, block(), block(), block(), row.copy()],
        "divide_columns": [block(), row + 0.1, 0, n, np.empty((n, columns), dtype="f4")],
        "multiply_columns": [block().astype("f4"), row, 0, n, np.empty((n, columns))],
    }[name]


GRADIENTS = pytest.mark.parametrize(
    "name",
    [
        "products_with",
        "next_direction",
        "subtract_scaled",
        "advance_solution",
        "divide_columns",
        "multiply_columns",
    ],
)


@GRADIENTS
@pytest.mark.parametrize("columns", [0, 1, 3, 4, 5])
@pytest.mark.parametrize(("n", "known"), [(0, 3), (1, 0), (7, 1), (140, 9)])
def test_gradients(name, n, known, columns):
    arguments = gradient_arguments(np.random.default_rng(n), name, n, known, columns)
    compare(name, getattr(gradients, name), arguments)


@GRADIENTS
def test_gradients_refuse_what_does_not_fit(name):
    arguments = gradient_arguments(np.random.default_rng(0), name, 9, 3, 4)
    numbers = [place for place, one in enumerate(arguments) if not isinstance(one, np.ndarray)]
    for place, value in zip(numbers, (-1, 10), strict=True):
        assert_refused(name, changed(arguments, place, value), SHAPES)
    for place, one in enumerate(arguments):
        if isinstance(one, np.ndarray):
            assert_refused(name, changed(arguments, place, np.concatenate([one, one])), SHAPES)


def test_multiply_columns_of_fewer_columns():
    rng = np.random.default_rng(0)
    arguments = [rng.random((9, 4)).astype("f4"), rng.random(3), 2, 8, np.zeros((9, 3))]
    compare("multiply_columns", gradients.multiply_columns, arguments)
    assert_refused("multiply_columns", [np.ones((9, 2), "f4"), *arguments[1:]], SHAPES)
