"""Selection from partitions: the members of the literal algorithms of Ouimet, and no row omitted."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import reference
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist

from eigenscape.dictionary.partitions import (
    CandidatePool,
    PartitionScan,
    PoolRequest,
    head_size,
    pool_size,
    screen_partition,
)
from eigenscape.dictionary.readers import RowReader
from eigenscape.dictionary.selection import RowScan, empty_dictionary, select_by_size
from eigenscape.dictionary.source import PairwiseSource
from eigenscape.kernels import Gaussian

X = np.random.default_rng(0).random((300, 2)) * 3
K = np.exp(-0.7 * cdist(X, X, "sqeuclidean"))
SOURCE = PairwiseSource(Gaussian(gamma=0.7))


class LocalPartitions:
    """Partitions in memory."""

    def __init__(self, ends):
        self.ends = np.asarray(ends)
        self.starts = np.concatenate([[0], self.ends[:-1]])
        self.committed = [None] * len(self.ends)
        self.latest = list(self.committed)
        self.n_screened = 0

    def screen(self, dictionary, request, start, stop):
        pool = None
        for number in range(start, stop):
            self.n_screened += 1
            if self.starts[number] == self.ends[number]:
                continue
            rows = X[self.starts[number] : self.ends[number]]
            self.latest[number] = screen_partition(
                self.latest[number], rows, int(self.starts[number]), dictionary.span, request
            )
            pool = (
                self.latest[number].pool
                if pool is None
                else pool.merge(self.latest[number].pool).truncate(request)
            )
        return pool

    def commit(self):
        self.committed = list(self.latest)

    def rollback(self):
        self.latest = list(self.committed)


def local_scan(ends, head, max_rows):
    partitions = LocalPartitions([*sorted(ends), len(X)])
    return PartitionScan(partitions, RowReader([X[:head]]), max_rows)


@cache
def literal(tol, sum_to_one):
    return reference.greedy_dictionary(K, tol, sum_to_one)[0]


@cache
def of_size(size, sum_to_one):
    """Select from an array, which test_dictionary.py compares with the literal algorithm."""
    return select_by_size(empty_dictionary(SOURCE, X, sum_to_one), RowScan(RowReader([X])), size, 1.0).indices


cuts = st.lists(st.integers(1, len(X)), max_size=8)


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(cuts, st.integers(1, 100), st.integers(1, 300), st.sampled_from([0.3, 1e-2, 1e-4]), st.booleans())
def test_algorithm_1(ends, head, max_rows, tol, sum_to_one):
    dictionary = local_scan(ends, head, max_rows).extend(
        empty_dictionary(SOURCE, X, sum_to_one), tol, np.inf, tol, stop=True
    )
    assert_array_equal(dictionary.indices, literal(tol, sum_to_one))


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(cuts, st.integers(1, 100), st.integers(1, 300), st.sampled_from([1, 7, 25, 60]), st.booleans())
def test_algorithm_2(ends, head, max_rows, size, sum_to_one):
    dictionary = select_by_size(
        empty_dictionary(SOURCE, X, sum_to_one), local_scan(ends, head, max_rows), size, 1.0
    )
    assert_array_equal(dictionary.indices, of_size(size, sum_to_one))


@settings(max_examples=60, deadline=None)
@example(errors=[0.1, 0.1, 0.1], cut=1, max_rows=1, min_error=0.0)
@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, np.inf]), min_size=1, max_size=60),
    st.integers(0, 60),
    st.integers(1, 30),
    st.sampled_from([0.0, 0.1, 0.3]),
)
def test_no_row_is_omitted(errors, cut, max_rows, min_error):
    """A pool has all rows above its floor before its end: the first ones if too many exceed the tolerance."""
    bounds, indices = np.array(errors), np.arange(len(errors))
    request = PoolRequest(
        tol=0.4, min_error=min_error, max_rows=max_rows, max_extra=10**6, members=np.empty(0, dtype=int)
    )
    pools = [
        CandidatePool(indices[some][:, None], indices[some], bounds[some], min_error).truncate(request)
        for some in (indices < cut, indices >= cut)
    ]
    pool = pools[0].merge(pools[1]).truncate(request)
    expected = np.flatnonzero((bounds > pool.floor) & (indices < pool.end))
    assert_array_equal(pool.indices, expected)
    assert_array_equal(pool.points[:, 0], expected)
    assert pool.floor <= request.tol
    assert len(expected) <= max_rows or (bounds[expected] > request.tol).sum() <= max_rows
    if (bounds > request.tol).sum() <= max_rows:
        assert pool.end == np.inf
    else:
        assert_array_equal(expected, np.flatnonzero(bounds > request.tol)[:max_rows])


def test_merged_pools_keep_no_row_at_the_larger_floor():
    """A regression: the floor of the later pool is 0.1, and so is the error of the only row of the first."""
    request = PoolRequest(tol=0.4, min_error=0.0, max_rows=1, max_extra=10**6, members=np.empty(0, dtype=int))
    first, later = (
        CandidatePool(np.array(some)[:, None], np.array(some), np.full(len(some), 0.1), 0.0).truncate(request)
        for some in ([0], [1, 2])
    )
    assert (first.floor, later.floor) == (0.0, 0.1)
    merged = first.merge(later)
    assert len(merged.indices) == 0
    assert merged.floor == 0.1


def test_rows_within_the_requested_error_are_not_projected_again():
    evaluated = []

    class Counting(Gaussian):
        def diagonal(self, Y):
            evaluated.append(len(Y))
            return super().diagonal(Y)

    start = empty_dictionary(PairwiseSource(Counting(gamma=0.7)), X, False)
    dictionary = PartitionScan(LocalPartitions([300]), RowReader([X]), 300).extend(
        start, 0.1, np.inf, stop=True
    )
    evaluated.clear()
    screened = screen_partition(
        None, X, 0, dictionary.span, PoolRequest(0.1, 0.05, 300, 300, dictionary.indices)
    )
    first, near = sum(evaluated), int((screened.bounds <= 0.05).sum())
    assert near > 50
    evaluated.clear()
    screen_partition(screened, X, 0, dictionary.span, PoolRequest(0.1, 0.05, 300, 300, dictionary.indices))
    assert (first, sum(evaluated)) == (300 - dictionary.size, 300 - near)


def test_pool_and_head_sizes():
    assert pool_size(np.zeros((10, 1000))) == 2**22 // 8016
    assert pool_size(np.zeros((10, 10**7), dtype=np.int8)) == 256
    assert head_size(5000, 20_000) == 5000  # all of them
    assert head_size(50_000, 20_000) == 8192
    assert head_size(10**7, 200_000) == 10**7 // 64
    assert head_size(10**9, 200_000) == 200_000
    assert head_size(10**9, 300) == 300


@pytest.mark.parametrize("max_rows", [1, 5])
def test_equal_rows_give_one_member(max_rows):
    twins = np.ones((50, 2))
    partitions = LocalPartitions([20, 50])
    partitions.screen = lambda d, q, a, b: (
        screen_partition(None, twins[20 * a : 20 + 30 * (b - 1)], 20 * a, d.span, q).pool
    )
    dictionary = PartitionScan(partitions, RowReader([twins[:3]]), max_rows).extend(
        empty_dictionary(SOURCE, twins, True), 0.1, np.inf, 0.1, stop=True
    )
    assert_array_equal(dictionary.indices, [0])
