"""Hashes of rows: the loops and their references."""

import numpy as np
import pytest

from eigenscape._native import loops
from native.comparing import compare
from native.reference import hashing as reference


@pytest.fixture(autouse=True)
def overflow():
    with np.errstate(over="ignore"):
        yield


def some_bits(rng, shape):
    bits = rng.integers(0, 2**64, shape, dtype=np.uint64)
    bits[rng.random(shape) < 0.2] = 0
    return bits


@pytest.mark.parametrize("n", [0, 1, 9])
def test_column_multipliers(n):
    compare("column_multipliers", reference.column_multipliers, [np.empty(n, np.uint64)])


@pytest.mark.parametrize("n", [0, 1, 6])
@pytest.mark.parametrize("d", [0, 1, 6, 7, 8, 30])
def test_hash_dense(n, d):
    rng = np.random.default_rng(n + d)
    arguments = [some_bits(rng, (n, d)), some_bits(rng, d), np.empty(n, np.uint64)]
    compare("hash_dense", reference.hash_dense, arguments)


def some_rows(rng, n, index):
    indptr = np.concatenate([[0], np.cumsum(rng.integers(0, 9, n))]).astype(index)
    indices = rng.integers(0, 12, indptr[-1]).astype(index)
    return [indptr, indices, some_bits(rng, len(indices)), some_bits(rng, 12), np.empty(n, np.uint64)]


@pytest.mark.parametrize("index", ["i4", "i8"])
@pytest.mark.parametrize("n", [0, 1, 20])
def test_hash_sparse(n, index):
    compare("hash_sparse", reference.hash_sparse, some_rows(np.random.default_rng(n), n, index))


@pytest.mark.parametrize("index", ["i4", "i8"])
@pytest.mark.parametrize(("place", "value"), [(0, -1), (0, 1000), (1, -1), (1, 12)])
def test_columns_that_do_not_exist_are_refused(place, value, index):
    arguments = some_rows(np.random.default_rng(1), 20, index)
    arguments[place][7] = value
    with pytest.raises(ValueError, match="out of range"):
        loops.hash_sparse(*arguments)


def test_other_sizes_are_refused():
    bits, multipliers, hashes = np.zeros((4, 3), np.uint64), np.zeros(3, np.uint64), np.zeros(4, np.uint64)
    for arguments in ((bits, hashes, hashes), (bits, multipliers, multipliers)):
        with pytest.raises(ValueError, match="do not fit"):
            loops.hash_dense(*arguments)
    arguments = some_rows(np.random.default_rng(2), 20, "i4")
    for place in (0, 2, 4):
        wrong = [*arguments]
        wrong[place] = wrong[place][:-1]
        with pytest.raises(ValueError, match="do not fit"):
            loops.hash_sparse(*wrong)
