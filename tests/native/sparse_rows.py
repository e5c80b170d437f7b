"""Random sparse matrices and index arrays that are wrong, for loops over rows."""

import numpy as np
import pytest

from eigenscape._native import loops

DTYPES = pytest.mark.parametrize("dtype", ["f4", "f8"])
INDICES = pytest.mark.parametrize("index", ["i4", "i8"])


def random_rows(rng, n, columns, dtype="f8", index="i8", most=7):
    """Return (indptr, indices, data) with empty rows and repeated, unsorted columns."""
    counts = rng.integers(0, most, n) if columns else np.zeros(n, dtype=int)
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(index)
    indices = rng.integers(0, max(columns, 1), indptr[-1]).astype(index)
    return indptr, indices, rng.standard_normal(indptr[-1]).astype(dtype)


def wrong_rows(indptr, indices, columns):
    """Yield (indptr, indices) in which one number is out of range."""
    for wrong in (-1, columns, 2**31 - 1, -(2**31)):
        for place in (0, len(indices) - 1):
            other = indices.copy()
            other[place] = wrong
            yield indptr, other
    for place, wrong in (
        (0, -1),
        (-1, len(indices) + 1),
        (1, len(indices) + 9),
        (1, -(2**31)),
        (0, 2**31 - 1),
    ):
        other = indptr.copy()
        other[place] = wrong
        yield other, indices


def assert_refused(name, arguments, words):
    """Assert that a loop raises ValueError for the arguments, in all its variants."""
    before = loops.select(loops.variants[0])
    try:
        for variant in loops.variants:
            loops.select(variant)
            with pytest.raises(ValueError, match=words):
                getattr(loops, name)(*arguments)
    finally:
        loops.select(before)
