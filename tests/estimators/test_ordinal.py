"""Ordinal MDS: nothing but the order counts; stress, ties, new points."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.spatial.distance import cdist, pdist, squareform
from sklearn.exceptions import ConvergenceWarning
from sklearn.isotonic import IsotonicRegression

from eigenscape import ClassicalMDS, Isomap, OrdinalMDS
from eigenscape import _memory as memory
from eigenscape.exceptions import DisconnectedGraphWarning, NotEnoughMemoryError
from eigenscape.methods.ordinal import MonotoneRegression, smacof
from eigenscape.options import Ordinal
from eigenscape.quality import aligned_error


@pytest.fixture(scope="module")
def square() -> np.ndarray:
    return np.random.default_rng(0).random((70, 2))


def table(X: np.ndarray) -> np.ndarray:
    return squareform(pdist(X))


# Monotone regression


def test_monotone_regression_is_isotonic_regression():
    rng = np.random.default_rng(1)
    order, values = rng.random(80), rng.random(80)
    assert_allclose(
        MonotoneRegression(order, "primary")(values), IsotonicRegression().fit_transform(order, values)
    )


def test_ties_primary_and_secondary():
    """Equal dissimilarities: sorted by distance and free to differ, or averaged and equal."""
    levels, distances = np.array([1.0, 1, 1, 2, 2]), np.array([3.0, 1, 2, 5, 4])
    assert_allclose(MonotoneRegression(levels, "primary")(distances), distances)
    assert_allclose(MonotoneRegression(levels, "secondary")(distances), [2, 2, 2, 4.5, 4.5])


def test_secondary_ties_are_weighted_by_their_number():
    levels, distances = np.array([1.0, 1, 1, 2]), np.array([4.0, 4, 4, 0])
    assert_allclose(MonotoneRegression(levels, "secondary")(distances), 3)


# The map


@pytest.mark.parametrize("ties", ["primary", "secondary"])
@pytest.mark.parametrize(
    "increasing", [np.square, np.sqrt, lambda D: np.expm1(4 * D), lambda D: D**5 + 1.0 * (D > 0)]
)
def test_an_increasing_function_changes_nothing(square, increasing, ties):
    D = np.round(table(square), 2) + 0.01 * (1 - np.eye(70))  # with ties
    one = OrdinalMDS(metric="precomputed", ties=ties, n_init=2, max_iter=1000).fit(D)
    two = OrdinalMDS(metric="precomputed", ties=ties, n_init=2, max_iter=1000).fit(increasing(D))
    assert_array_equal(one.embedding_, two.embedding_)
    assert one.stress_ == two.stress_


def test_the_configuration_is_found_again_from_the_order_alone(square):
    model = OrdinalMDS(metric="precomputed", n_init=1, max_iter=3000, tol=1e-7).fit(table(square) ** 4)
    assert model.stress_ < 0.005
    assert aligned_error(model.embedding_, square * np.sqrt(1 / np.mean(pdist(square) ** 2))) < 0.02
    assert aligned_error(model.embedding_, square) < aligned_error(
        ClassicalMDS(metric="precomputed").fit_transform(table(square) ** 4), square
    )
    assert_allclose(np.mean(pdist(model.embedding_) ** 2), 1)
    assert_allclose(model.embedding_.mean(axis=0), 0, atol=1e-12)


@pytest.mark.parametrize("ties", ["primary", "secondary"])
def test_stress_is_what_it_says(ties):
    X = np.random.default_rng(2).integers(0, 11, (40, 4)).astype(float)  # whole numbers: ties are exact
    model = OrdinalMDS(metric="cityblock", ties=ties, n_init=1, max_iter=5000).fit(X)
    rows = np.unique(X, axis=0, return_index=True)[1]
    distances = pdist(model.embedding_[np.sort(rows)])
    fitted = MonotoneRegression(pdist(X[np.sort(rows)], "cityblock"), ties)(distances)
    assert model.stress_ == pytest.approx(
        np.sqrt(np.square(distances - fitted).sum() / np.square(distances).sum()), rel=1e-12
    )


def test_steps_lower_the_stress(square):
    monotone = MonotoneRegression(pdist(square) ** 2, "primary")
    start = np.random.default_rng(3).standard_normal((70, 2))
    stresses = [smacof(monotone, start, steps, 1e-15)[0].stress for steps in (0, 1, 2, 5, 20, 100)]
    assert (np.diff(stresses) < 0).all()


def test_more_starts_are_never_worse():
    X = np.random.default_rng(4).random((30, 6))
    few, many = (OrdinalMDS(n_components=1, n_init=n, max_iter=3000, tol=1e-5).fit(X) for n in (1, 6))
    assert many.stress_ <= few.stress_


def test_a_map_still_moving_is_announced(square):
    with pytest.warns(ConvergenceWarning, match="still improving after max_iter=2 steps, at a stress of"):
        OrdinalMDS(n_init=1, max_iter=2, tol=1e-12).fit(square)


# New points


def test_a_new_point_has_the_least_stress_of_its_own(square):
    new = np.random.default_rng(5).random((8, 2))
    model = OrdinalMDS(n_init=1, max_iter=2000).fit(square)
    places = model.transform(new)
    targets = np.interp(cdist(new, square), *model._model_.knots)
    for place, wanted in zip(places, targets, strict=True):

        def stress(y, wanted=wanted):
            return np.square(np.linalg.norm(y - model.embedding_, axis=1) - wanted).sum()

        assert stress(place) <= minimize(stress, place, tol=1e-12).fun * (1 + 1e-9) + 1e-14


def test_new_points_land_where_they_would_have_been(square):
    whole = OrdinalMDS(n_init=1, max_iter=3000, tol=1e-7).fit(square)
    part = OrdinalMDS(n_init=1, max_iter=3000, tol=1e-7).fit(square[:60])
    assert aligned_error(part.transform(square), whole.embedding_) < 0.05


def test_a_training_point_is_known_by_its_row(square):
    model = OrdinalMDS(metric="precomputed", n_init=1, max_iter=2000).fit(table(square))
    assert_array_equal(model.transform(table(square)[7:9]), model.embedding_[7:9])


# Refusals


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"ties": "tertiary"}, "ties='tertiary' is not known"),
        ({"n_init": 0}, "n_init=0"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"tol": 0}, "tol=0"),
        ({"n_components": 20}, "n_components=20 needs at least 21 distinct samples, got 20"),
        ({"metric_params": 3}, "metric_params=3"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        OrdinalMDS(**params).fit(np.random.default_rng(0).random((20, 2)))


@pytest.mark.parametrize("ties", ["primary", "secondary"])
def test_dissimilarities_that_are_all_tied_have_no_order(ties):
    with pytest.raises(ValueError, match=r"all dissimilarities between different points are equal \(1\)"):
        OrdinalMDS(metric="precomputed", ties=ties).fit(1.0 - np.eye(6))


def test_too_many_pairs_are_refused(monkeypatch, square):
    monkeypatch.setattr(memory, "available_bytes", lambda: 1000)
    with pytest.raises(NotEnoughMemoryError, match="ordinal MDS of 70 points"):
        OrdinalMDS().fit(square)


# Isomap


def test_ordinal_isomap_unfolds_a_roll():
    rng = np.random.default_rng(0)
    t, height = 4 + 6 * rng.random(250), 15 * rng.random(250)
    X = np.column_stack([t * np.cos(t), height, t * np.sin(t)])
    flat = np.column_stack([(t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2, height])
    model = Isomap(ordinal=Ordinal(n_init=1), n_neighbors=8).fit(X)
    assert 0 < model.stress_ < 0.1
    truth = (flat - flat.mean(axis=0)) / np.sqrt(np.mean(pdist(flat) ** 2))
    assert aligned_error(model.embedding_, truth) < 0.1
    assert np.abs(model.transform(X[:9] + 1e-3) - model.embedding_[:9]).max() < 0.2


def test_ordinal_isomap_in_pieces():
    rng = np.random.default_rng(1)
    X = np.concatenate([rng.random((40, 2)), rng.random((30, 2)) + 50])
    with pytest.warns(DisconnectedGraphWarning):
        model = Isomap(
            ordinal=Ordinal(n_init=1, max_iter=3000), n_neighbors=6, on_disconnected="per_component"
        ).fit(X)
    assert model.stress_.shape == (2,)
    assert model.embedding_.shape == (70, 2)
    assert_array_equal(model.transform(X), model.embedding_)


def test_ordinal_isomap_has_no_kernel(square):
    model = Isomap(ordinal=Ordinal(n_init=1, max_iter=3000)).fit(square)
    assert list(model.get_feature_names_out()) == ["isomap0", "isomap1"]
    for ask in (model.eigenfunctions, model.loss):
        with pytest.raises(AttributeError, match="an ordinal map has no kernel"):
            ask(square)
    for name in ("kernel_", "eigenvalues_", "is_euclidean_"):
        with pytest.raises(AttributeError):
            getattr(model, name)
    assert model.set_params(ordinal=False).fit(square).loss() >= 0


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (lambda: {"ordinal": 1}, "ordinal=1 must be an? Ordinal, True or False"),
        (lambda: {"ordinal": True, "n_landmarks": 10}, "landmarks only some"),
        (lambda: {"ordinal": Ordinal(ties="no")}, "ties='no'"),
    ],
)
def test_bad_ordinal_isomap(params, message, square):
    with pytest.raises(ValueError, match=message):
        Isomap(**params()).fit(square)
