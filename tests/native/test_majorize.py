"""Placement at given distances: the loop and its reference."""

import numpy as np
import pytest

from eigenscape._native import loops
from native.comparing import compare
from native.reference import majorize as reference


def some_targets(rng, n, m, p):
    points, places = rng.standard_normal((m, p)), rng.standard_normal((n, p))
    places[: min(n, m) // 2] = points[: min(n, m) // 2]  # at a distance of 0
    return [rng.random((n, m)), points, places]


@pytest.mark.parametrize("p", [0, 1, 2, 3, 5])
@pytest.mark.parametrize(("n", "m"), [(0, 4), (1, 1), (4, 20)])
@pytest.mark.parametrize("max_iter", [-1, 0, 1, 40])
def test_place_at_distances(n, m, p, max_iter):
    arguments = some_targets(np.random.default_rng(n + p), n, m, p)
    compare("place_at_distances", reference.place_at_distances, [*arguments, 1e-3, max_iter])


def test_coordinates_that_are_not_finite_end():
    targets, points, places = some_targets(np.random.default_rng(0), 5, 9, 2)
    targets[0, 3], places[1, 0], points[2] = np.nan, np.inf, 1e300
    with np.errstate(all="ignore"):
        compare("place_at_distances", reference.place_at_distances, [targets, points, places, 1e-6, 20])


@pytest.mark.parametrize(
    ("targets", "points", "places", "max_iter"),
    [
        ((4, 7), (6, 2), (4, 2), 9),
        ((3, 6), (6, 2), (4, 2), 9),
        ((4, 6), (6, 3), (4, 2), 9),
        ((4, 6), (6, 2), (4, 2), 2**40),
        ((4, 0), (0, 2), (4, 2), 9),
    ],
)
def test_other_sizes_are_refused(targets, points, places, max_iter):
    with pytest.raises(ValueError, match="do not fit"):
        loops.place_at_distances(np.zeros(targets), np.zeros(points), np.zeros(places), 1e-6, max_iter)
