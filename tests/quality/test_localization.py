"""Participation ratios in closed form, and the points that carry a coordinate."""

from __future__ import annotations

import numpy as np
import pytest

from eigenscape import PCA, DiffusionMap
from eigenscape.quality import localized_coordinates, participation_ratio


def ratio_literally(y: np.ndarray) -> float:
    deviation = [value - sum(y) / len(y) for value in y]
    return sum(value**2 for value in deviation) ** 2 / sum(value**4 for value in deviation)


def test_the_ratio_is_that_of_the_definition():
    Y = np.random.default_rng(0).standard_t(3, (50, 4))
    np.testing.assert_allclose(participation_ratio(Y), [ratio_literally(y) for y in Y.T], rtol=1e-12)


@pytest.mark.parametrize("m", [1, 3, 40])
def test_the_ratio_counts_the_points_that_are_apart(m):
    n = 10_000
    y = np.zeros(n)
    y[:m] = 5.0
    p = m / n
    closed_form = n * p * (1 - p) / (1 - 3 * p * (1 - p))
    assert participation_ratio(y[:, None])[0] == pytest.approx(closed_form, rel=1e-9)
    assert closed_form == pytest.approx(m, rel=0.02)
    assert participation_ratio(np.where(np.arange(n) < n / 2, 1.0, -1.0)[:, None])[0] == pytest.approx(n)


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_scale_and_position_do_not_matter(scale):
    y = np.random.default_rng(1).standard_normal((60, 2))
    np.testing.assert_allclose(participation_ratio(scale * (y + 3)), participation_ratio(y), rtol=1e-9)


def test_constant_coordinates_and_missing_values():
    y = np.column_stack([np.full(30, 0.1), np.arange(30.0)])
    ratios = participation_ratio(y)
    assert np.isnan(ratios[0])
    assert np.isfinite(ratios[1])
    assert localized_coordinates(y) == []
    y = np.random.default_rng(2).standard_normal((200, 2))
    y[50, 0], y[3, 1] = 1e6, np.nan
    (found,) = localized_coordinates(y)
    assert (found.coordinate, found.points.tolist()) == (0, [50])
    assert found.share > 0.9
    with pytest.raises(
        ValueError, match=r"embedding must have shape \(n_samples, n_components\), got \(3,\)"
    ):
        participation_ratio(np.zeros(3))
    assert np.isnan(participation_ratio(np.full((4, 2), np.nan))).all()


def test_points_that_carry_a_coordinate_are_found_in_order_of_their_contribution():
    y = 0.01 * np.random.default_rng(3).standard_normal((2000, 1))
    y[[11, 700, 1500], 0] = 2.0, 4.0, 3.0
    (found,) = localized_coordinates(y)
    assert found.points.tolist() == [700, 1500, 11]
    assert found.ratio < 3


def test_only_points_that_dominate_are_named_and_the_others_are_described():
    y = np.random.default_rng(0).standard_normal((400, 1))
    y[0] = 25
    (found,) = localized_coordinates(y)
    assert found.points.tolist() == [0]
    deviation = y[:, 0] - y.mean()
    assert found.share == pytest.approx(deviation[0] ** 2 / (deviation @ deviation))
    assert 0.5 < found.share < 0.7
    assert found.spread == pytest.approx(y[1:].std() / np.ptp(y))


@pytest.mark.parametrize("size", [1, 2, 4])
@pytest.mark.parametrize("n", [60, 400, 3000])
def test_points_that_carry_a_coordinate_are_as_few_as_its_ratio(n, size):
    rng = np.random.default_rng(n + size)
    for distance in (5, 10, 20, 40, 1000):
        y = rng.standard_normal((n, 1))
        y[:size] = distance
        for found in localized_coordinates(y):
            assert len(found.points) <= np.ceil(found.ratio)
            assert set(found.points.tolist()) <= set(range(size))
            assert found.share >= 0.5
    assert found.points.size == size  # far away, all are found


@pytest.mark.parametrize("n", [20, 60, 300, 5000])
def test_ordinary_coordinates_are_not_localised(n):
    rng = np.random.default_rng(n)
    groups = np.where(np.arange(n) < n / 5, 1.0, 0.0)
    Y = np.column_stack([rng.standard_normal(n), rng.random(n), rng.laplace(size=n), groups])
    assert localized_coordinates(Y) == []


def test_outliers_localise_a_diffusion_map_and_not_principal_components():
    X = np.random.default_rng(4).standard_normal((300, 5))
    X[7] += 4
    found = localized_coordinates(DiffusionMap(2, affinity="rbf").fit(X).embedding_)
    assert found[0].points.tolist() == [7]
    assert localized_coordinates(PCA(2).fit(np.delete(X, 7, axis=0)).embedding_) == []
