"""Rows in parts that are asked what is far from a dictionary: the literal algorithms of Ouimet, and no row
lost."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
import reference
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist

from eigenscape.dictionary.greedy import RowScan, by_size, empty
from eigenscape.dictionary.rows import ArrayRows
from eigenscape.dictionary.source import Points
from eigenscape.dictionary.survey import PartScan, Pool, Question, head_size, pool_size, survey
from eigenscape.kernels import Gaussian

X = np.random.default_rng(0).random((300, 2)) * 3
K = np.exp(-0.7 * cdist(X, X, "sqeuclidean"))
SOURCE = Points(Gaussian(gamma=0.7))


class LocalParts:
    """Parts that lie here."""

    def __init__(self, ends):
        self.ends = np.asarray(ends)
        self.starts = np.concatenate([[0], self.ends[:-1]])
        self.kept = [None] * len(self.ends)
        self.found = list(self.kept)
        self.looks = 0

    def ask(self, dictionary, question, first, last):
        pool = None
        for part in range(first, last):
            self.looks += 1
            if self.starts[part] == self.ends[part]:
                continue
            rows = X[self.starts[part] : self.ends[part]]
            self.found[part] = survey(
                self.found[part], rows, int(self.starts[part]), dictionary.span, question
            )
            pool = (
                self.found[part].pool
                if pool is None
                else pool.beside(self.found[part].pool).thinned(question)
            )
        return pool

    def remember(self):
        self.kept = list(self.found)

    def forget(self):
        self.found = list(self.kept)


def scanned(ends, head, most):
    parts = LocalParts([*sorted(ends), len(X)])
    return PartScan(parts, ArrayRows(X[:head]), most)


@cache
def literal(tol, sum_to_one):
    return reference.greedy_dictionary(K, tol, sum_to_one)[0]


@cache
def of_size(size, sum_to_one):
    """By rows at hand, which another test holds against the literal algorithm."""
    return by_size(empty(SOURCE, X, sum_to_one), RowScan(ArrayRows(X)), size, 1.0).numbers


cuts = st.lists(st.integers(1, len(X)), max_size=8)


@settings(max_examples=40, deadline=None)
@given(cuts, st.integers(1, 100), st.integers(1, 300), st.sampled_from([0.3, 1e-2, 1e-4]), st.booleans())
def test_algorithm_1(ends, head, most, tol, sum_to_one):
    found = scanned(ends, head, most).run(empty(SOURCE, X, sum_to_one), tol, np.inf, tol, stop=True)
    assert_array_equal(found.numbers, literal(tol, sum_to_one))


@settings(max_examples=25, deadline=None)
@given(cuts, st.integers(1, 100), st.integers(1, 300), st.sampled_from([1, 7, 25, 60]), st.booleans())
def test_algorithm_2(ends, head, most, size, sum_to_one):
    found = by_size(empty(SOURCE, X, sum_to_one), scanned(ends, head, most), size, 1.0)
    assert_array_equal(found.numbers, of_size(size, sum_to_one))


@settings(max_examples=60, deadline=None)
@example(levels=[0.1, 0.1, 0.1], cut=1, most=1, least=0.0)
@given(
    st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, np.inf]), min_size=1, max_size=60),
    st.integers(0, 60),
    st.integers(1, 30),
    st.sampled_from([0.0, 0.1, 0.3]),
)
def test_no_row_is_lost(levels, cut, most, least):
    """All rows farther than the floor, up to the end; where too many are beyond the tolerance the first of
    them; never too many."""
    level, numbers = np.array(levels), np.arange(len(levels))
    question = Question(tol=0.4, least=least, most=most, share=10**6, members=np.empty(0, dtype=int))
    pools = [
        Pool(numbers[some][:, None], numbers[some], level[some], least).thinned(question)
        for some in (numbers < cut, numbers >= cut)
    ]
    pool = pools[0].beside(pools[1]).thinned(question)
    expected = np.flatnonzero((level > pool.floor) & (numbers < pool.end))
    assert_array_equal(pool.numbers, expected)
    assert_array_equal(pool.points[:, 0], expected)
    assert pool.floor <= question.tol
    assert len(expected) <= most or (level[expected] > question.tol).sum() <= most
    if (level > question.tol).sum() <= most:
        assert pool.end == np.inf
    else:
        assert_array_equal(expected, np.flatnonzero(level > question.tol)[:most])


def test_joined_pools_keep_no_row_at_the_larger_floor():
    """Found by a random search: the later pool's floor is 0.1, and the first one's only row lies at it."""
    question = Question(tol=0.4, least=0.0, most=1, share=10**6, members=np.empty(0, dtype=int))
    first, later = (
        Pool(np.array(some)[:, None], np.array(some), np.full(len(some), 0.1), 0.0).thinned(question)
        for some in ([0], [1, 2])
    )
    assert (first.floor, later.floor) == (0.0, 0.1)
    joined = first.beside(later)
    assert len(joined.numbers) == 0
    assert joined.floor == 0.1


def test_rows_that_were_near_are_not_looked_at_again():
    looked = []

    class Counting(Gaussian):
        def diagonal(self, Y):
            looked.append(len(Y))
            return super().diagonal(Y)

    start = empty(Points(Counting(gamma=0.7)), X, False)
    dictionary = PartScan(LocalParts([300]), ArrayRows(X), 300).run(start, 0.1, np.inf, stop=True)
    looked.clear()
    answer = survey(None, X, 0, dictionary.span, Question(0.1, 0.05, 300, 300, dictionary.numbers))
    first, near = sum(looked), int((answer.level <= 0.05).sum())
    assert near > 50
    looked.clear()
    survey(answer, X, 0, dictionary.span, Question(0.1, 0.05, 300, 300, dictionary.numbers))
    assert (first, sum(looked)) == (300 - dictionary.size, 300 - near)


def test_how_much_comes_together():
    assert pool_size(np.zeros((10, 1000))) == 2**22 // 8016
    assert pool_size(np.zeros((10, 10**7), dtype=np.int8)) == 256
    assert head_size(5000, 20_000) == 5000  # all of them
    assert head_size(50_000, 20_000) == 8192
    assert head_size(10**7, 200_000) == 10**7 // 64
    assert head_size(10**9, 200_000) == 200_000
    assert head_size(10**9, 300) == 300


@pytest.mark.parametrize("most", [1, 5])
def test_all_rows_equal(most):
    twins = np.ones((50, 2))
    parts = LocalParts([20, 50])
    parts.ask = lambda d, q, a, b: survey(None, twins[20 * a : 20 + 30 * (b - 1)], 20 * a, d.span, q).pool
    found = PartScan(parts, ArrayRows(twins[:3]), most).run(
        empty(SOURCE, twins, True), 0.1, np.inf, 0.1, stop=True
    )
    assert_array_equal(found.numbers, [0])
