"""Widths of fuzzy neighbourhoods and concordant pairs: the loops and their references."""

import numpy as np
import pytest

from eigenscape._native import loops
from native.comparing import compare
from native.reference import fuzzy as reference


@pytest.mark.parametrize(("n", "k"), [(0, 3), (3, 0), (1, 1), (20, 2), (30, 15)])
@pytest.mark.parametrize("scale", [1.0, 1e-300, 1e-310, 1e150])
def test_fuzzy_widths(n, k, scale):
    rng = np.random.default_rng(n + k)
    lengths = scale * np.sort(rng.integers(0, 20, (n, k)) / 4.0, axis=1)  # with ties
    offsets = lengths.min(axis=1, initial=np.inf) if k else np.zeros(n)
    compare("fuzzy_widths", reference.fuzzy_widths, [lengths, offsets, np.log2(k + 1), np.empty(n)])


def test_widths_of_equal_and_of_infinite_lengths():
    lengths = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [1.0, 2.0, np.inf], [np.inf, np.inf, np.inf]])
    with np.errstate(invalid="ignore"):
        compare("fuzzy_widths", reference.fuzzy_widths, [lengths, np.array([1.0, 0, 1, 0]), 2.0, np.empty(4)])


@pytest.mark.parametrize(("offsets", "widths"), [(4, 5), (5, 4), (5, 6)])
def test_widths_of_other_sizes_are_refused(offsets, widths):
    with pytest.raises(ValueError, match="do not fit"):
        loops.fuzzy_widths(np.ones((5, 3)), np.ones(offsets), 2.0, np.empty(widths))


@pytest.mark.parametrize(("n", "start", "stop"), [(0, 0, 0), (1, 0, 1), (2, 0, 2), (40, 0, 40), (41, 5, 33)])
def test_concordance(n, start, stop):
    rng = np.random.default_rng(n)
    first, second = rng.integers(0, 12, (2, n)) * 1.0  # with ties
    first[n // 2 : n // 2 + 2] = np.inf
    with np.errstate(invalid="ignore"):
        arguments = [first, second, start, stop, np.zeros(n), np.zeros(n)]
        compare("concordance", reference.concordance, arguments)


@pytest.mark.parametrize(
    ("sizes", "start", "stop"),
    [
        ((5, 4, 5, 5), 0, 4),
        ((5, 5, 4, 5), 0, 4),
        ((5, 5, 5, 4), 0, 4),
        ((5, 5, 5, 5), -1, 4),
        ((5, 5, 5, 5), 3, 2),
        ((5, 5, 5, 5), 0, 6),
    ],
)
def test_concordance_of_other_sizes_is_refused(sizes, start, stop):
    first, second, before, after = (np.zeros(size) for size in sizes)
    with pytest.raises(ValueError, match="do not fit"):
        loops.concordance(first, second, start, stop, before, after)
