"""Matrices times vectors, and Lanczos steps: the loops and their references."""

import numpy as np
import pytest

from native.comparing import compare, run_variants
from native.reference import dense_products, lanczos, products
from native.sparse_rows import DTYPES, INDICES, assert_refused, random_rows, wrong_rows

SHAPES = "do not fit together"


@DTYPES
@INDICES
@pytest.mark.parametrize(("n", "m", "columns"), [(0, 0, 3), (1, 1, 1), (5, 0, 2), (300, 40, 1), (30, 9, 0)])
def test_multiply_rows_of_few_columns(n, m, columns, dtype, index):
    rng = np.random.default_rng(n)
    rows, V = random_rows(rng, n, m, dtype, index, 12), rng.standard_normal((m, columns)).astype(dtype)
    compare("multiply_rows", products.multiply_rows, [*rows, V, 0, n, np.empty((n, columns), dtype)])


@DTYPES
@pytest.mark.parametrize("columns", range(1, 26))
def test_multiply_rows_of_any_number_of_columns(columns, dtype):
    rng = np.random.default_rng(columns)
    rows, V = random_rows(rng, 20, 30, dtype), rng.standard_normal((30, columns)).astype(dtype)
    arguments = [*rows, V, 3, 17, np.full((20, columns), 7, dtype)]
    compare("multiply_rows", products.multiply_rows, arguments)


def test_multiply_rows_of_special_values_and_parts():
    rng = np.random.default_rng(0)
    indptr, indices, data = random_rows(rng, 400, 50)
    V = rng.standard_normal((50, 7))
    V[:4, 0], data[:3] = [np.inf, np.nan, 5e-324, -0.0], [1e-310, np.inf, 0]
    whole = [indptr, indices, data, V, 0, 400, np.empty((400, 7))]
    compare("multiply_rows", products.multiply_rows, whole)
    out = np.empty((400, 7))
    for first, last in ((0, 133), (133, 134), (134, 400)):
        out = run_variants("multiply_rows", [indptr, indices, data, V, first, last, out])[1][-1]
    np.testing.assert_array_equal(out, run_variants("multiply_rows", whole)[1][-1])


@INDICES
@pytest.mark.parametrize("columns", [1, 5])
def test_multiply_rows_refuses_what_does_not_fit(columns, index):
    rng = np.random.default_rng(0)
    indptr, indices, data = random_rows(rng, 20, 6, index=index)
    V, out = np.ones((6, columns)), np.empty((20, columns))
    for wrong in wrong_rows(indptr, indices, 6):
        assert_refused("multiply_rows", [*wrong, data, V, 0, 20, out], "out of range")
    for change in (
        {1: indices[1:].copy()},
        {0: indptr[1:].copy()},
        {3: np.ones((6, columns + 1))},
        {4: -1},
        {5: 21},
        {6: np.empty((19, columns))},
    ):
        arguments = [indptr, indices, data, V, 0, 20, out]
        for place, value in change.items():
            arguments[place] = value
        assert_refused("multiply_rows", arguments, SHAPES)


@DTYPES
@pytest.mark.parametrize(("rows", "m"), [(1, 1), (2, 3), (3, 4), (5, 0), (9, 31), (12, 64)])
@pytest.mark.parametrize("vectors", [4, 12])
def test_multiply_dense(rows, m, vectors, dtype):
    rng = np.random.default_rng(m)
    K, V = rng.random((rows, m)).astype(dtype), rng.random((vectors, m))
    arguments = [K, V, 0, rows, np.zeros((vectors, rows))]
    compare("multiply_dense", dense_products.multiply_dense, arguments, rtol=5e-15)
    part = [K, V, rows // 2, rows, np.zeros((vectors, rows))]
    compare("multiply_dense", dense_products.multiply_dense, part, rtol=5e-15)
    whole = run_variants("multiply_dense", arguments)[1][-1]
    out = np.empty_like(whole)
    for i in range(rows):  # any split has the same bits
        out = run_variants("multiply_dense", [K, V, i, i + 1, out])[1][-1]
    np.testing.assert_array_equal(out, whole)


def test_multiply_dense_of_special_values_and_wrong_shapes():
    K, V = np.array([[np.inf, 1, 1, 1, 1], [5e-324, np.nan, 0, 1, 1]]), np.ones((4, 5))
    compare("multiply_dense", dense_products.multiply_dense, [K, V, 0, 2, np.empty((4, 2))])
    out = np.empty((4, 2))
    for wrong in (
        [K, np.ones((4, 4)), 0, 2, out],
        [K, np.ones((5, 5)), 0, 2, np.empty((5, 2))],
        [K, V, -1, 2, out],
        [K, V, 0, 3, out],
        [K, V, 0, 2, np.empty((8, 2))],
        [K, V, 0, 2, np.empty((4, 3))],
    ):
        assert_refused("multiply_dense", wrong, SHAPES)


@INDICES
@pytest.mark.parametrize("n", [0, 1, 4, 5, 131, 300])
@pytest.mark.parametrize("length", [0.0, 0.7])
def test_multiply_shifted(n, length, index):
    rng = np.random.default_rng(n)
    rows, V = random_rows(rng, n, n, index=index, most=12), rng.random((3, n))
    V /= max(np.sqrt(n), 1)
    arguments = [*rows, 20.0, V, 1, length, rng.random(n), np.empty(2)]
    compare("multiply_shifted", lanczos.multiply_shifted, arguments, rtol=5e-15, atol=2e-13)


@INDICES
def test_multiply_shifted_refuses_what_does_not_fit(index):
    rng = np.random.default_rng(0)
    indptr, indices, data = random_rows(rng, 9, 9, index=index)
    V, w, out = np.ones((3, 9)), np.ones(9), np.empty(2)
    for wrong in wrong_rows(indptr, indices, 9):
        assert_refused("multiply_shifted", [*wrong, data, 1.0, V, 1, 0.0, w, out], "out of range")
    for row, length in ((-1, 0.0), (3, 0.0), (0, 0.5)):
        assert_refused(
            "multiply_shifted", [indptr, indices, data, 1.0, V, row, length, w, out], "out of range"
        )
    for place, value in ((0, indptr[1:].copy()), (2, data[1:].copy()), (7, w[1:].copy()), (8, np.empty(1))):
        arguments = [indptr, indices, data, 1.0, V, 1, 0.0, w, out]
        arguments[place] = value
        assert_refused("multiply_shifted", arguments, SHAPES)


@pytest.mark.parametrize("n", [0, 1, 3, 4, 50, 203])
@pytest.mark.parametrize("count", [0, 1, 4, 6, 9])
def test_project_out(n, count):
    rng = np.random.default_rng(n)
    V = np.linalg.qr(rng.standard_normal((n, n)))[0][:9] if n > 9 else rng.random((9, n))
    arguments = [np.ascontiguousarray(V), count, rng.random(n), np.empty(count), np.empty(1)]
    compare("project_out", lanczos.project_out, arguments, rtol=5e-15, atol=1e-13)


def test_project_out_refuses_what_does_not_fit():
    V, w = np.ones((3, 5)), np.ones(5)
    for wrong in (
        [V, 4, w, np.empty(4), np.empty(1)],
        [V, -1, w, np.empty(0), np.empty(1)],
        [V, 2, np.ones(4), np.empty(2), np.empty(1)],
        [V, 2, w, np.empty(3), np.empty(1)],
        [V, 2, w, np.empty(2), np.empty(2)],
    ):
        assert_refused("project_out", wrong, SHAPES)
