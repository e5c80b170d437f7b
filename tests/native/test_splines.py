"""Splines on a grid: the loops and their references."""

import numpy as np
import pytest

from eigenscape._native import loops
from native.comparing import compare
from native.reference import splines as reference

LOWER, STEP = np.array([-1.0, 2.0]), 0.25


def some_places(rng, n, shape):
    """Return places on, between and beyond the nodes of a grid."""
    places = LOWER + STEP * rng.uniform(-3, np.add(shape, 3), (n, 2))
    places[: n // 3] = LOWER + STEP * rng.integers(-1, np.add(shape, 1), (n // 3, 2))
    return places


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(4, 4), (5, 9), (40, 30)])
@pytest.mark.parametrize("n", [0, 1, 60])
def test_spread(n, shape, dtype):
    rng = np.random.default_rng(n)
    arguments = [some_places(rng, n, shape), LOWER, STEP, np.full(shape, np.nan, dtype)]
    compare("spread", reference.spread, arguments)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(4, 4), (5, 9), (40, 30)])
@pytest.mark.parametrize("n", [0, 1, 60])
def test_spline_values(n, shape, dtype):
    rng = np.random.default_rng(n)
    nodes = rng.standard_normal(shape).astype(dtype)
    arguments = [nodes, LOWER, STEP, some_places(rng, n, shape), np.empty(n)]
    compare("spline_values", reference.spline_values, arguments)


@pytest.mark.parametrize("step", [STEP, 0.0, 1e-320, np.nan, np.inf])
def test_no_place_is_outside_the_grid(step):
    places = np.array([[np.nan, 0.0], [np.inf, -np.inf], [-1e300, 1e300], [0.0, np.nan]])
    values, mass = np.empty(4), np.empty((5, 6))
    loops.spread(places, LOWER, step, mass)
    loops.spline_values(np.ones((5, 6)), LOWER, step, places, values)
    assert np.isnan(values[[0, 3]]).all()
    if step == STEP:
        np.testing.assert_allclose(values[[1, 2]], 1.0)


@pytest.mark.parametrize(
    ("points", "lower", "mass"),
    [((3, 3), 2, (4, 4)), ((3, 2), 3, (4, 4)), ((3, 2), 2, (3, 4)), ((3, 2), 2, (4, 3))],
)
def test_sizes_that_do_not_fit_are_refused(points, lower, mass):
    points, lower, mass = np.zeros(points), np.zeros(lower), np.zeros(mass)
    with pytest.raises(ValueError, match="do not fit"):
        loops.spread(points, lower, STEP, mass)
    with pytest.raises(ValueError, match="do not fit"):
        loops.spline_values(mass, lower, STEP, points, np.empty(3))


def test_values_of_other_points_are_refused():
    with pytest.raises(ValueError, match="do not fit"):
        loops.spline_values(np.ones((4, 4)), LOWER, STEP, np.zeros((3, 2)), np.empty(2))
