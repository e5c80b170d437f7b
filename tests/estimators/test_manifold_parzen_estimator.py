"""The ManifoldParzen estimator."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_swiss_roll
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KernelDensity
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigenscape import ManifoldParzen
from eigenscape.io import load, save


@pytest.mark.suite
@parametrize_with_checks([ManifoldParzen(), ManifoldParzen(3, 1, 0.5)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def roll():
    X, _ = make_swiss_roll(800, noise=0.1, random_state=0)
    return X[:600], X[600:]


@pytest.fixture(scope="module")
def model(roll):
    return ManifoldParzen().fit(roll[0])


@pytest.mark.long
def test_new_points_of_a_surface_are_likelier_than_under_any_kernel_density(roll, model):
    best = max(
        KernelDensity(bandwidth=width).fit(roll[0]).score(roll[1]) / len(roll[1])
        for width in np.geomspace(0.2, 3, 15)
    )
    assert model.score(roll[1]) > best + 0.5
    assert model.n_components_ == 2
    assert model.cv_score_ == model.cv_scores_[:, 3].max()


@pytest.mark.long
def test_a_point_does_not_depend_on_others_nor_on_the_number_of_threads(roll, model):
    together = model.score_samples(roll[1])
    alone = np.concatenate([model.score_samples(row[None]) for row in roll[1][:20]])
    np.testing.assert_allclose(together[:20], alone, rtol=1e-10)
    again = ManifoldParzen(n_jobs=1).fit(roll[0])
    np.testing.assert_array_equal(again.score_samples(roll[1]), together)


@pytest.mark.long
def test_samples_lie_near_the_surface(roll, model):
    drawn = model.sample(300, random_state=0)
    assert drawn.shape == (300, 3)
    np.testing.assert_array_equal(drawn, model.sample(300, random_state=0))
    assert model.score(drawn) == pytest.approx(model.score(roll[1]), abs=0.5)


def test_tangents_are_orthonormal_and_those_of_the_surface(roll, model):
    directions = model.tangents(roll[1])
    gram = directions @ np.swapaxes(directions, 1, 2)
    np.testing.assert_allclose(gram, np.broadcast_to(np.eye(2), gram.shape), atol=1e-10)
    t = np.arctan2(roll[1][:, 2], roll[1][:, 0])  # the normal of a roll is nearly the radius
    radius = np.column_stack([np.cos(t), np.zeros(len(t)), np.sin(t)])
    along = np.abs(np.einsum("ndf,nf->nd", directions, radius))
    assert np.median(along.max(axis=1)) < 0.35


def test_a_saved_model_gives_the_same_density(roll, model, tmp_path):
    save(model, tmp_path / "density.eigenscape")
    again = load(tmp_path / "density.eigenscape")
    np.testing.assert_array_equal(again.score_samples(roll[1]), model.score_samples(roll[1]))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0"),
        ({"n_neighbors": 600}, "needs at least 601 samples, got n_samples=600"),
        ({"n_components": -1}, "n_components=-1"),
        ({"noise": 0}, "noise=0"),
        ({"cv": 1}, "cv=1"),
    ],
)
def test_bad_parameters(roll, params, message):
    with pytest.raises(ValueError, match=message):
        ManifoldParzen(**params).fit(roll[0])


@pytest.mark.parametrize(("n_samples", "cv"), [(2, 3), (3, 2)])
def test_too_few_samples_for_a_choice(n_samples, cv):
    X = np.arange(2.0 * n_samples).reshape(n_samples, 2)
    with pytest.raises(
        ValueError, match=f"cv={cv} needs more samples .* n_samples={n_samples}; pass n_neighbors"
    ):
        ManifoldParzen(cv=cv).fit(X)
    assert np.isfinite(ManifoldParzen(1, 0, 1.0).fit(X).score(X))


def test_bad_data():
    with pytest.raises(ValueError, match="all samples are equal"):
        ManifoldParzen().fit(np.ones((20, 2)))
    with pytest.raises(NotFittedError):
        ManifoldParzen().score_samples(np.ones((2, 2)))
