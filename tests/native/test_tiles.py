"""Exponentials of tiles: the loop and its reference."""

import numpy as np
import pytest

from native.comparing import compare
from native.reference import tiles
from native.sparse_rows import assert_refused


@pytest.mark.parametrize(
    ("rows", "columns", "stride"), [(1, 1, 1), (3, 4, 4), (5, 7, 11), (2, 130, 130), (3, 2, 9)]
)
def test_exponential_tile(rows, columns, stride):
    rng = np.random.default_rng(columns)
    values = rng.standard_normal((rows - 1) * stride + columns) * 10.0 ** rng.integers(
        -12, 3, columns + (rows - 1) * stride
    )
    left, right = rng.random(rows), rng.random(columns)
    compare("exponential_tile", tiles.exponential_tile, [values, stride, left, right])


@pytest.mark.filterwarnings("ignore:.*encountered:RuntimeWarning")
def test_exponential_tile_of_special_values():
    values = np.array(
        [np.nan, np.inf, -np.inf, -0.0, 5e-324, -5e-324, -708, np.nextafter(-708, -709), -1e308, 1e308]
    )
    compare("exponential_tile", tiles.exponential_tile, [values, 10, np.zeros(1), np.zeros(10)])
    compare("exponential_tile", tiles.exponential_tile, [values, 10, np.zeros(1), np.full(10, np.inf)])


def test_exponential_tile_of_empty_tiles_and_wrong_shapes():
    compare("exponential_tile", tiles.exponential_tile, [np.ones(3), 3, np.zeros(0), np.zeros(3)])
    compare("exponential_tile", tiles.exponential_tile, [np.ones(0), 0, np.zeros(3), np.zeros(0)])
    for stride, rows, columns in ((4, 3, 4), (3, 2, 4), (-5, 2, 4), (0, 2, 4), (20, 1, 12), (2**62, 3, 4)):
        wrong = [np.ones(11), stride, np.zeros(rows), np.zeros(columns)]
        assert_refused("exponential_tile", wrong, "do not fit together")
