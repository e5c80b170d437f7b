"""Densities of manifold Parzen windows: the loop and its reference."""

import numpy as np
import pytest

from eigenscape._native import loops
from native.comparing import compare
from native.reference import parzen as reference


def some_windows(rng, n_new=4, n=12, n_features=3, q=2, dimensions=(0, 1, 2), noises=(0.1, 2.0)):
    numbers = [
        rng.standard_normal((n_new, n_features)),
        rng.standard_normal((n, n_features)),
        rng.random((n, q)),
    ]
    volumes = rng.standard_normal((n, len(dimensions), len(noises)))
    out = np.empty((n_new, len(dimensions), len(noises)))
    directions = rng.standard_normal((n, q, n_features))
    return [*numbers, directions, np.array(dimensions, dtype=np.int64), np.array(noises), volumes, out]


@pytest.mark.parametrize(
    "sizes",
    [
        {},
        {"n_new": 0},
        {"n": 1, "n_new": 1},
        {"n_features": 9, "q": 6, "dimensions": (0, 3, 5, 6)},
        {"q": 4, "dimensions": (4,), "noises": (0.5,)},
        {"q": 0, "dimensions": (0,)},
        {"dimensions": ()},
        {"noises": (1e-300, 1e3)},
    ],
)
def test_parzen_log_densities(sizes):
    arguments = some_windows(np.random.default_rng(0), **sizes)
    arguments[0][:1] = arguments[1][:1]  # a point at the centre of a window
    with np.errstate(all="ignore"):
        compare("parzen_log_densities", reference.parzen_log_densities, arguments)


def test_dimensions_that_do_not_exist_are_refused():
    with pytest.raises(ValueError, match="out of range"):
        loops.parzen_log_densities(*some_windows(np.random.default_rng(1), dimensions=(0, 3)))


def test_no_windows_have_no_density():
    arguments = some_windows(np.random.default_rng(2), n=0)
    loops.parzen_log_densities(*arguments)
    assert np.isneginf(arguments[-1]).all()


@pytest.mark.parametrize(
    ("place", "shape"),
    [
        (0, (4, 2)),
        (1, (11, 3)),
        (2, (11, 2)),
        (2, (12, 3)),
        (3, (12, 2, 2)),
        (4, 2),
        (5, 3),
        (6, (11, 3, 2)),
        (7, (5, 3, 2)),
        (7, (4, 2, 2)),
        (7, (4, 3, 3)),
    ],
)
def test_other_sizes_are_refused(place, shape):
    arguments = some_windows(np.random.default_rng(3))
    arguments[place] = np.zeros(shape, arguments[place].dtype)
    with pytest.raises(ValueError, match="do not fit"):
        loops.parzen_log_densities(*arguments)
