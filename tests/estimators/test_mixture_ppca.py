"""Mixtures of probabilistic PCA: planted planes, likelihood, degenerate planes, missing values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.linalg import subspace_angles
from scipy.optimize import linear_sum_assignment
from scipy.special import logsumexp
from scipy.stats import multivariate_normal
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from test_probabilistic_pca import low_rank, with_gaps

from eigenscape import MixturePPCA, ProbabilisticPCA
from eigenscape.exceptions import NoiseFloorWarning, NotConvergedWarning
from eigenscape.methods.mixture_ppca import (
    MixtureOptions,
    WeightedMixtureSamples,
    membership,
    mixture_from_labels,
    run_mixture_em,
)
from eigenscape.methods.observed_data import observed_data
from eigenscape.methods.ppca_fit import WeightedSamples
from eigenscape.solvers import SolverConfig


def planes(
    n: int, apart: float, noise: float = 0.05, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """Return samples near three planes in ten dimensions, their labels, and orthonormal bases (10, 2)."""
    rng = np.random.default_rng(seed)
    bases = [np.linalg.qr(rng.standard_normal((10, 2)))[0] for _ in range(3)]
    centres = apart * np.linalg.qr(rng.standard_normal((10, 3)))[0].T
    labels = np.arange(n) % 3
    X = np.stack(
        [bases[k] @ rng.standard_normal(2) * 2 + centres[k] for k in labels]
    ) + noise * rng.standard_normal((n, 10))
    return X, labels, bases


def worst_angle(model: MixturePPCA, bases: list[np.ndarray]) -> float:
    """Return the largest angle in degrees between a planted plane and its match."""
    angles = np.array(
        [[np.degrees(subspace_angles(found.T, basis)[0]) for basis in bases] for found in model.components_]
    )
    return float(angles[linear_sum_assignment(angles)].max())


@pytest.mark.long
@pytest.mark.parametrize("apart", [4.0, 1.0])
def test_planted_planes_are_found(apart: float) -> None:
    X, labels, bases = planes(600, apart)
    model = MixturePPCA(3, 2).fit(X)
    assert worst_angle(model, bases) < 2
    assert adjusted_rand_score(labels, model.predict(X)) > 0.95
    assert_allclose(model.noise_variances_, 0.05**2, rtol=0.2)
    assert_allclose(model.weights_, 1 / 3, atol=0.03)
    assert not model.degenerate_.any()
    assert_allclose(
        model.components_ @ model.components_.transpose(0, 2, 1),
        np.broadcast_to(np.eye(2), (3, 2, 2)),
        atol=1e-10,
    )


@pytest.mark.long
def test_planes_through_one_point_are_found_from_several_starts() -> None:
    X, labels, bases = planes(600, 0.0)
    model = MixturePPCA(3, 2, n_init=10).fit(X)
    assert worst_angle(model, bases) < 2
    assert adjusted_rand_score(labels, model.predict(X)) > 0.8


@pytest.mark.long
def test_planted_planes_are_found_with_values_missing() -> None:
    X, labels, bases = planes(900, 4.0)
    gaps = with_gaps(X, 0.2)
    model = MixturePPCA(3, 2).fit(gaps)
    assert worst_angle(model, bases) < 2
    assert adjusted_rand_score(labels, model.predict(gaps)) > 0.9
    missing = np.isnan(gaps)
    error = np.sqrt(np.mean(np.square(model.impute(gaps) - X)[missing]))
    assert error < np.sqrt(np.mean(np.square(np.nanmean(gaps, axis=0) - X)[missing])) / 3
    one = ProbabilisticPCA(2).fit(gaps)
    assert error < np.sqrt(np.mean(np.square(one.impute(gaps) - X)[missing])) / 2  # one plane is not three


# --- literal transcription of the equations -----------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_densities_and_responsibilities(share: float) -> None:
    X = planes(90, 2.0, 0.3)[0]
    X = with_gaps(X, share) if share else X
    model = MixturePPCA(3, 2).fit(X)
    joint = np.empty((len(X), 3))
    for k in range(3):
        C = model.loadings_[k] @ model.loadings_[k].T + model.noise_variances_[k] * np.eye(10)
        for i, x in enumerate(X):
            o = ~np.isnan(x)
            joint[i, k] = np.log(model.weights_[k]) + multivariate_normal(
                model.means_[k][o], C[np.ix_(o, o)]
            ).logpdf(x[o])
    assert_allclose(model.score_samples(X), logsumexp(joint, axis=1), rtol=1e-9)
    assert_allclose(model.predict_proba(X), np.exp(joint - logsumexp(joint, axis=1)[:, None]), atol=1e-9)
    assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    parameters = 2 + 3 * (10 + 19 + 1)  # shares; means, planes up to rotation, noises
    assert model.bic(X) == pytest.approx(-2 * logsumexp(joint, axis=1).sum() + parameters * np.log(90))
    assert model.aic(X) == pytest.approx(-2 * logsumexp(joint, axis=1).sum() + 2 * parameters)


def test_distant_points_do_not_underflow() -> None:
    X = planes(90, 3.0)[0]
    model = MixturePPCA(3, 2).fit(X)
    far = X[:5] + 1e6
    assert np.isfinite(model.score_samples(far)).all()
    assert_allclose(model.predict_proba(far).sum(axis=1), 1)


def test_a_mixture_of_one_is_probabilistic_pca() -> None:
    X = low_rank(100, 6, 2, 0.3)
    one, model = MixturePPCA(1, 2, n_init=1).fit(X), ProbabilisticPCA(2).fit(X)
    assert one.noise_variances_[0] == pytest.approx(model.noise_variance_, rel=1e-10)
    assert_allclose(one.transform(X), model.transform(X), atol=1e-9)
    assert_allclose(one.score_samples(X), model.score_samples(X), rtol=1e-10)


@pytest.mark.long
@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.3]), st.integers(1, 4))
def test_em_never_lowers_the_likelihood(seed: int, share: float, parts: int) -> None:
    X = planes(80, 1.0, 0.3, seed)[0]
    X = with_gaps(X, share, seed)
    rng = np.random.default_rng(seed)
    data, weights = observed_data(X, True), rng.integers(1, 3, 80).astype(float)
    options = MixtureOptions(1e-8, 3.0, 1e-300, 40, SolverConfig())
    samples = WeightedSamples(data, weights)
    start = mixture_from_labels(samples, rng.integers(parts, size=80), parts, 2, options)
    history = np.array(run_mixture_em(start, WeightedMixtureSamples(samples), options).log_likelihoods)
    assert (np.diff(history) >= -1e-10 * np.abs(history[1:])).all()


@pytest.mark.long
def test_the_information_criterion_finds_the_number_of_planes() -> None:
    X = planes(450, 3.0, 0.2)[0]
    values = [MixturePPCA(k, 2).fit(X).bic(X) for k in (1, 2, 3, 4)]
    assert np.argmin(values) == 2


# --- degenerate planes --------------------------------------------------------------------------------------


def test_a_plane_that_fits_few_points_exactly_warns() -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((60, 5)), 50 + 0.1 * rng.standard_normal((3, 5))])
    with pytest.warns(
        NoiseFloorWarning, match=r"plane\(s\) 1 of the mixture .*lower n_mixtures or n_components"
    ):
        model = MixturePPCA(2, 2).fit(X)
    assert model.degenerate_.tolist() == [False, True]
    assert model.noise_variances_.min() > 0
    assert np.isfinite(model.score_samples(X)).all()
    assert np.isfinite(model.transform(X)).all()


def test_more_planes_than_distinct_rows() -> None:
    X = np.repeat(np.arange(12.0).reshape(3, 4) ** 2, 8, axis=0)
    with pytest.warns(NoiseFloorWarning):
        model = MixturePPCA(4, 1).fit(X)
    assert np.isfinite(model.score_samples(X)).all()


def test_a_model_without_samples_is_not_updated() -> None:
    X = planes(60, 3.0)[0]
    data, ones = observed_data(X, True), np.ones(60)
    options = MixtureOptions(1e-6, 3.0, 1e-9, 50, SolverConfig())
    labels = np.arange(60) % 2  # no sample is in part 2
    samples = WeightedSamples(data, ones)
    start = mixture_from_labels(samples, labels, 3, 2, options)
    found = run_mixture_em(start, WeightedMixtureSamples(samples), options).model
    assert found.proportions[2] == 0
    assert np.isfinite(membership(found, data).log_likelihood).all()


def test_em_that_does_not_converge_warns() -> None:
    with pytest.warns(NotConvergedWarning, match=r"max_iter=2 steps: .* raise max_iter or tol"):
        model = MixturePPCA(3, 2, max_iter=2, n_init=1).fit(planes(200, 0.0, 0.5)[0])
    assert not model.converged_


# --- sampling, weights, errors ------------------------------------------------------------------------------


def test_samples_follow_the_model() -> None:
    X = planes(300, 4.0)[0]
    model = MixturePPCA(3, 2).fit(X)
    drawn, labels = model.sample(30_000)
    assert_allclose(np.bincount(labels) / 30_000, model.weights_, atol=0.02)
    assert (model.predict(drawn) == labels).mean() > 0.99
    for k in range(3):
        C = model.loadings_[k] @ model.loadings_[k].T + model.noise_variances_[k] * np.eye(10)
        assert_allclose(np.cov(drawn[labels == k].T), C, atol=0.3)


def test_a_weight_equals_repeated_rows() -> None:
    X = planes(150, 4.0)[0]
    times = np.random.default_rng(0).integers(1, 4, 150)
    weighted, repeated = (
        MixturePPCA(3, 2).fit(X, sample_weight=times),
        MixturePPCA(3, 2).fit(np.repeat(X, times, axis=0)),
    )
    assert_allclose(weighted.score_samples(X), repeated.score_samples(X), rtol=1e-4)
    assert_allclose(weighted.weights_, repeated.weights_, rtol=1e-5)


@pytest.mark.long
def test_more_starts_are_no_worse() -> None:
    X = planes(200, 0.0, 0.2)[0]
    assert (
        MixturePPCA(3, 2, n_init=6).fit(X).log_likelihood_
        >= MixturePPCA(3, 2, n_init=1).fit(X).log_likelihood_
    )


def test_float32_in_and_out() -> None:
    X = planes(90, 4.0)[0].astype(np.float32)
    model = MixturePPCA(3, 2).fit(X)
    assert {model.transform(X).dtype, model.predict_proba(X).dtype, model.impute(X).dtype} == {
        np.dtype(np.float32)
    }


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_mixtures": 0}, "n_mixtures=0"),
        ({"n_components": 11}, "n_components=11 needs at least 11 features, got n_features=10"),
        (
            {"n_mixtures": 11},
            "n_mixtures=11 needs at least 33 samples, got n_samples=30",
        ),
        ({"noise_floor": 0}, "noise_floor=0 must be a positive number"),
        ({"n_init": 1.5}, "n_init=1.5"),
    ],
)
def test_wrong_parameters(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        MixturePPCA(**params).fit(planes(30, 4.0)[0])


def test_the_error_names_rows_and_columns_without_values() -> None:
    X = planes(30, 4.0)[0]
    X[:, 2] = np.nan
    with pytest.raises(ValueError, match="column 2 of the 10 columns has no observed value"):
        MixturePPCA(2).fit(X)


def test_a_failed_fit_leaves_no_model() -> None:
    X = low_rank(60, 5, 2, 0.1)
    for model in (MixturePPCA(2, 1).fit(X), MixturePPCA()):
        with pytest.raises(ValueError, match="lower n_components"):
            model.set_params(n_components=40).fit(X)
        with pytest.raises(NotFittedError):
            model.predict(X)
        with pytest.raises(NotFittedError):
            model.sample(3)


@pytest.mark.long
def test_a_column_never_observed_in_one_part() -> None:
    rng = np.random.default_rng(0)
    B = np.vstack([rng.standard_normal((50, 4)), rng.standard_normal((50, 4)) + 100])
    B[:50, 0] = np.nan
    model = MixturePPCA(2, 2).fit(B)
    assert adjusted_rand_score(model.predict(B), np.arange(100) >= 50) == 1
    assert (np.diff(model.log_likelihoods_) > -1e-8).all()
    assert np.isfinite(model.impute(B)).all()


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_a_row_of_weight_zero_has_no_effect(share: float) -> None:
    X = with_gaps(planes(40, 3.0)[0], share)
    more = np.concatenate([X, np.full((1, 10), np.nan)])
    weights = np.append(np.ones(len(X)), 0.0)
    expected = MixturePPCA(3, 2, n_init=1).fit(X)
    assert_allclose(MixturePPCA(3, 2, n_init=1).fit(more, sample_weight=weights).means_, expected.means_)
    with pytest.raises(ValueError, match="n_samples=8"):
        MixturePPCA(3, 2).fit(X, sample_weight=np.arange(len(X)) < 8)
