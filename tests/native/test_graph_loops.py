"""Rows of graphs: the loops and their references."""

import numpy as np
import pytest
from scipy import sparse

from eigenscape._native import loops
from native.comparing import compare, run_variants
from native.reference import graphs as reference

INDICES = pytest.mark.parametrize("index", ["i4", "i8"])
SIZES = pytest.mark.parametrize(("n", "m", "share"), [(0, 3, 0.5), (1, 1, 1.0), (40, 30, 0.1), (9, 200, 0.6)])


def some_matrix(seed, n, m, share, index, dtype="f8"):
    """Return the arrays of a random matrix, sorted, with empty rows and equal values."""
    rng = np.random.default_rng(seed)
    dense = rng.integers(1, 4, (n, m)) * (rng.random((n, m)) < share) * (rng.random((n, 1)) < 0.8)
    matrix = sparse.csr_array(dense)
    return matrix.indptr.astype(index), matrix.indices.astype(index), matrix.data.astype(dtype)


def refused(name, *arguments):
    with pytest.raises(ValueError, match=f"{name}.*out of range"):
        run_variants(name, arguments)


def misfit(name, *arguments):
    with pytest.raises(ValueError, match=f"{name} do not fit together"):
        run_variants(name, arguments)


@INDICES
@pytest.mark.parametrize(("n", "k"), [(0, 3), (5, 0), (1, 1), (30, 7)])
def test_sorted_lists(n, k, index):
    rng = np.random.default_rng(n)
    length, number = rng.standard_normal((n, k)), rng.integers(0, 9, (n, k)).astype(index)
    length[::3, ::2] = np.nan
    length[1::3, ::2] = np.inf
    out = np.empty(n * k, index), np.empty(n * k)
    _, written = run_variants("sorted_lists", [length, number, 0.25, *out])
    reference.sorted_lists(length, number, 0.25, 0, n, *out)
    np.testing.assert_array_equal(written[3], out[0])
    np.testing.assert_array_equal(written[4], out[1])


def test_lists_of_other_sizes_are_refused():
    length, number = np.ones((3, 2)), np.zeros((3, 2), int)
    misfit("sorted_lists", length, number[:2].copy(), 0.0, np.empty(6, int), np.empty(6))
    misfit("sorted_lists", length, number, 0.0, np.empty(5, int), np.empty(6))
    misfit("sorted_lists", length, number, 0.0, np.empty(6, int), np.empty(5))


@SIZES
@INDICES
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_transpose_columns(n, m, share, index, dtype):
    matrix = some_matrix(m, n, m, share, index, dtype)
    counts = np.bincount(matrix[1], minlength=m)
    place = (np.cumsum(counts) - counts).astype(index)
    for first, last in [(0, m), (m // 3, m // 2), (m, m)]:
        out = np.zeros(len(matrix[1]), index), np.zeros(len(matrix[1]), dtype)
        compare("transpose_columns", reference.transpose_columns, [*matrix, first, last, place, *out])


@INDICES
def test_transposition_refuses_wrong_indices(index):
    indptr, indices, data = some_matrix(0, 20, 10, 0.5, index)
    counts = np.bincount(indices, minlength=10)
    place = (np.cumsum(counts) - counts).astype(index)
    out = np.empty(len(indices), index), np.empty(len(indices))
    for wrong in (indptr + 1, indptr - 1, indptr[::-1].copy()):
        refused("transpose_columns", wrong, indices, data, 0, 10, place, *out)
    for wrong in (place + len(indices), place - 1):
        refused("transpose_columns", indptr, indices, data, 0, 10, wrong.astype(index), *out)
    for first, last in [(-1, 3), (3, 2), (0, 11)]:
        misfit("transpose_columns", indptr, indices, data, first, last, place, *out)
    misfit("transpose_columns", indptr, indices, data[:-1].copy(), 0, 10, place, *out)
    misfit("transpose_columns", indptr, indices, data, 0, 10, place, out[0], out[1][:-1].copy())
    misfit("transpose_columns", indptr[:0].copy(), indices, data, 0, 10, place, *out)
    # Columns that are not transposed may have any number.
    assert loops.transpose_columns(indptr, indices + 100, data, 0, 10, place, *out) == 0
    assert loops.transpose_columns(indptr, indices - 100, data, 0, 10, place, *out) == 0


@SIZES
@INDICES
def test_union(n, m, share, index):
    one, two = (some_matrix(seed, n, m, share, index) for seed in (1, 2))
    one[2][::5] = np.nan
    two[2][::7] = np.nan
    for first, last in [(0, n), (n // 3, n // 2)]:
        count = np.zeros(n, index)
        compare("count_union", reference.count_union, [*one[:2], *two[:2], first, last, count])
    loops.count_union(*one[:2], *two[:2], 0, n, count)
    indptr = np.concatenate([[0], np.cumsum(count)]).astype(index)
    for first, last in [(0, n), (n // 3, n // 2)]:
        out = np.zeros(indptr[-1], index), np.zeros(indptr[-1])
        compare("merge_rows", reference.merge_rows, [*one, *two, first, last, indptr, *out])


@INDICES
def test_union_refuses_wrong_indices(index):
    one, two = (some_matrix(seed, 20, 10, 0.5, index) for seed in (1, 2))
    count, n = np.zeros(20, index), 20
    loops.count_union(*one[:2], *two[:2], 0, n, count)
    indptr = np.concatenate([[0], np.cumsum(count)]).astype(index)
    out = np.zeros(indptr[-1], index), np.zeros(indptr[-1])
    for shift in (1, -1):
        refused("count_union", one[0] + index_of(index, shift), one[1], *two[:2], 0, n, count)
        refused("count_union", *one[:2], two[0] + index_of(index, shift), two[1], 0, n, count)
        refused("merge_rows", one[0] + index_of(index, shift), *one[1:], *two, 0, n, indptr, *out)
        refused("merge_rows", *one, two[0] + index_of(index, shift), *two[1:], 0, n, indptr, *out)
        refused("merge_rows", *one, *two, 0, n, indptr + index_of(index, shift), *out)
    refused("count_union", one[0][::-1].copy(), one[1], *two[:2], 0, n, count)
    refused("merge_rows", *one, *two, 0, n, indptr // 2, *out)  # no room
    misfit("count_union", one[0][1:].copy(), one[1], *two[:2], 0, n, count)
    misfit("count_union", *one[:2], two[0][1:].copy(), two[1], 0, n, count)
    for first, last in [(-1, 3), (3, 2), (0, 21)]:
        misfit("count_union", *one[:2], *two[:2], first, last, count)
        misfit("merge_rows", *one, *two, first, last, indptr, *out)
    misfit("merge_rows", *one[:2], one[2][1:].copy(), *two, 0, n, indptr, *out)
    misfit("merge_rows", *one, *two[:2], two[2][1:].copy(), 0, n, indptr, *out)
    misfit("merge_rows", *one, *two, 0, n, indptr, out[0], out[1][1:].copy())


def index_of(index, value):
    return np.dtype(index).type(value)


@INDICES
@pytest.mark.parametrize("m", [1, 2, 50])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.05, 0.5])
def test_breadth_first(m, share, index):
    indptr, indices, _ = some_matrix(m, m, m, share, index)
    for start in (0, m - 1):
        order, depth = np.full(m, -7, "i4"), np.full(m, -1, "i4")
        found, written = run_variants(
            "breadth_first", [indptr, indices, start, order, depth, np.empty(1, "i8")]
        )
        assert (found, written[5][0]) == reference.breadth_first(indptr, indices, start, order, depth)
        np.testing.assert_array_equal(written[3], order)
        np.testing.assert_array_equal(written[4], depth)


@INDICES
def test_a_search_refuses_wrong_indices(index):
    indptr, indices, _ = some_matrix(0, 10, 10, 0.9, index)

    def arguments(indptr=indptr, indices=indices, start=0, m=10):
        return indptr, indices, start, np.empty(m, "i4"), np.full(m, -1, "i4"), np.empty(1, "i8")

    for start in (-1, 10):
        refused("breadth_first", *arguments(start=start))
    for shift in (1, -1):
        refused("breadth_first", *arguments(indptr=indptr + index_of(index, shift)))
        refused("breadth_first", *arguments(indices=indices + index_of(index, shift)))
    refused("breadth_first", *arguments(indptr=indptr[::-1].copy()))
    misfit("breadth_first", *arguments(m=9))
    misfit("breadth_first", *arguments()[:5], np.empty(2, "i8"))
