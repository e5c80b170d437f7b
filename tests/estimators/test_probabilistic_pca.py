"""Probabilistic PCA: likelihood, closed form, EM, missing values, the number of components."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import multivariate_normal
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_score

from eigenscape import PCA, ProbabilisticPCA
from eigenscape.exceptions import NoiseFloorWarning, NotConvergedWarning
from eigenscape.methods.component_count import count_by_evidence, count_by_relevance
from eigenscape.methods.observed_data import observed_data
from eigenscape.methods.ppca_fit import WeightedSamples, run_em
from eigenscape.methods.probabilistic_pca import (
    LatentGaussian,
    compute_posterior,
    expectation_sums,
    expected_covariance,
    maximize,
)

some = settings(max_examples=20, deadline=None, derandomize=True)


def low_rank(n: int, d: int, q: int, noise: float, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return (
        rng.standard_normal((n, q)) @ rng.standard_normal((q, d))
        + noise * rng.standard_normal((n, d))
        + rng.standard_normal(d)
    )


def with_gaps(X: np.ndarray, share: float, seed: int = 1) -> np.ndarray:
    """Replace random values by NaN, never a whole row or column."""
    rng = np.random.default_rng(seed)
    gaps = rng.random(X.shape) < share
    gaps[np.arange(len(X)), rng.integers(X.shape[1], size=len(X))] = False
    gaps[rng.integers(len(X), size=X.shape[1]), np.arange(X.shape[1])] = False
    return np.where(gaps, np.nan, X)


def between(A: np.ndarray, B: np.ndarray) -> float:
    """Return the sine of the largest angle between the spans of orthonormal rows."""
    return float(np.linalg.norm(A - (A @ B.T) @ B, 2))


# --- literal transcription of the equations -----------------------------------------------------------------


def literal_log_likelihood(model: ProbabilisticPCA, X: np.ndarray) -> np.ndarray:
    """Evaluate the Gaussian ``N(mu, W W' + s^2 I)`` of Burges eq. 1.7 on the observed values of each row."""
    C = model.loadings_ @ model.loadings_.T + model.noise_variance_ * np.eye(X.shape[1])
    out = []
    for x in X:
        o = ~np.isnan(x)
        out.append(multivariate_normal(model.mean_[o], C[np.ix_(o, o)]).logpdf(x[o]))
    return np.array(out)


def literal_posterior(model: ProbabilisticPCA, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Condition the joint Gaussian of latent and observed values: mean and covariance."""
    o = ~np.isnan(x)
    W = model.loadings_[o]
    gain = W.T @ np.linalg.inv(W @ W.T + model.noise_variance_ * np.eye(o.sum()))
    return gain @ (x[o] - model.mean_[o]), np.eye(W.shape[1]) - gain @ W


def literal_em_step(W: np.ndarray, noise: float, X: np.ndarray) -> tuple[np.ndarray, float]:
    """Perform a step of EM for complete data as Tipping and Bishop write it, row by row."""
    T, q = X - X.mean(axis=0), W.shape[1]
    Minv = np.linalg.inv(W.T @ W + noise * np.eye(q))
    means = [Minv @ W.T @ t for t in T]
    seconds = [noise * Minv + np.outer(m, m) for m in means]
    new = sum(np.outer(t, m) for t, m in zip(T, means, strict=True)) @ np.linalg.inv(sum(seconds))
    terms = (
        t @ t - 2 * m @ new.T @ t + np.trace(S @ new.T @ new)
        for t, m, S in zip(T, means, seconds, strict=True)
    )
    return new, sum(terms) / T.size


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_log_likelihood_is_the_gaussians(share: float) -> None:
    X = with_gaps(low_rank(120, 8, 3, 0.4), share) if share else low_rank(120, 8, 3, 0.4)
    model = ProbabilisticPCA(3).fit(X)
    expected = literal_log_likelihood(model, X)
    assert_allclose(model.score_samples(X), expected, rtol=1e-9, atol=1e-9)
    assert model.score(X) == pytest.approx(expected.mean(), rel=1e-10)
    assert model.log_likelihood_ == pytest.approx(expected.sum(), rel=1e-6 if share else 1e-10)
    assert_allclose(
        model.get_covariance(),
        model.loadings_ @ model.loadings_.T + model.noise_variance_ * np.eye(8),
        rtol=1e-12,
    )


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_posterior_is_the_conditional_gaussian(share: float) -> None:
    X = with_gaps(low_rank(60, 6, 2, 0.4), share) if share else low_rank(60, 6, 2, 0.4)
    model = ProbabilisticPCA(2).fit(X)
    means, covariances = model.posterior(X)
    assert_allclose(model.transform(X), means)
    for x, mean, covariance in zip(X, means, covariances, strict=True):
        expected = literal_posterior(model, x)
        assert_allclose(mean, expected[0], atol=1e-10)
        assert_allclose(covariance, expected[1], atol=1e-10)


def test_the_closed_form() -> None:
    X = low_rank(200, 7, 3, 0.5)
    values, vectors = np.linalg.eigh(np.cov(X.T, bias=True))
    values, U = values[::-1], vectors[:, ::-1]
    noise = values[3:].mean()  # Burges eq. 1.9
    W = U[:, :3] * np.sqrt(values[:3] - noise)  # Burges eq. 1.8, corrected
    model = ProbabilisticPCA(3).fit(X)
    assert model.method_ == "closed"
    assert model.noise_variance_ == pytest.approx(noise, rel=1e-10)
    assert_allclose(model.loadings_ @ model.loadings_.T, W @ W.T, atol=1e-10)
    assert_allclose(model.explained_variance_, values[:3], rtol=1e-10)
    assert_allclose(model.components_ @ model.components_.T, np.eye(3), atol=1e-12)
    for scale in (0.99, 1.01):  # no neighbour is likelier
        worse = LatentGaussian(model.mean_, scale * model.loadings_, model.noise_variance_)
        assert compute_posterior(worse, observed_data(X, True)).log_likelihood.sum() < model.log_likelihood_


def test_em_steps_are_tipping_and_bishops() -> None:
    """Parameter expansion changes lengths within the span of ``W`` only; both steps raise the likelihood."""
    X, rng = low_rank(40, 5, 2, 0.3), np.random.default_rng(2)
    data, ones = observed_data(X, True), np.ones(40)
    model = LatentGaussian(X.mean(axis=0), rng.standard_normal((5, 2)), 0.7)
    W, noise = literal_em_step(model.loadings, model.noise, X)
    step = maximize(model, expectation_sums(model, compute_posterior(model, data), data, ones), 0.0)
    assert step.noise == pytest.approx(noise, rel=1e-10)
    assert between(np.linalg.qr(step.loadings)[0].T, np.linalg.qr(W)[0].T) < 1e-10
    plain, expanded = (
        compute_posterior(m, data).log_likelihood.sum() for m in (LatentGaussian(model.mean, W, noise), step)
    )
    assert min(plain, expanded) > compute_posterior(model, data).log_likelihood.sum()


# --- EM -----------------------------------------------------------------------------------------------------


@pytest.mark.long
@some
@given(
    st.integers(0, 10_000),
    st.sampled_from([0.0, 0.1, 0.5]),
    st.sampled_from([1e-4, 0.1, 1.0]),
    st.integers(1, 4),
)
def test_em_never_lowers_the_likelihood(seed: int, share: float, noise: float, q: int) -> None:
    X = with_gaps(low_rank(50, 6, 3, noise, seed), share, seed)
    rng = np.random.default_rng(seed)
    start = LatentGaussian(np.nanmean(X, axis=0), rng.standard_normal((6, q)), 1.0)
    weights = rng.integers(1, 4, 50).astype(float)
    found = run_em(start, WeightedSamples(observed_data(X, True), weights), 1e-12, 1e-300, 60)
    history = np.array(found.log_likelihoods)
    values = float(weights @ np.nansum(np.square(X), axis=1))
    rounding = (
        4 * np.finfo(float).eps * values / found.model.noise
    )  # of squares that are divided by the noise
    assert (np.diff(history) >= -rounding - 1e-12 * np.abs(history[1:])).all()
    assert history[-1] > history[0]


def test_em_finds_the_closed_form() -> None:
    X = low_rank(150, 8, 3, 0.5)
    closed, em = ProbabilisticPCA(3).fit(X), ProbabilisticPCA(3, method="em", tol=1e-14).fit(X)
    assert (closed.method_, em.method_) == ("closed", "em")
    assert em.n_iter_ > 3
    assert em.converged_
    assert em.noise_variance_ == pytest.approx(closed.noise_variance_, rel=1e-6)
    assert em.log_likelihood_ == pytest.approx(closed.log_likelihood_, rel=1e-10)
    assert_allclose(em.transform(X), closed.transform(X), atol=1e-4)
    assert (np.diff(em.log_likelihoods_) >= -1e-9).all()


def test_em_that_does_not_converge_warns() -> None:
    X = with_gaps(low_rank(80, 8, 3, 0.5), 0.3)
    with pytest.warns(
        NotConvergedWarning,
        match=r"max_iter=2 steps: the last step raised .*; raise max_iter or tol",
    ):
        model = ProbabilisticPCA(3, max_iter=2).fit(X)
    assert not model.converged_
    assert model.n_iter_ == 2


# --- agreement with PCA -------------------------------------------------------------------------------------


@pytest.mark.parametrize("noise", [1e-1, 1e-2, 1e-3])
def test_it_becomes_whitened_pca_as_the_noise_vanishes(noise: float) -> None:
    X = low_rank(300, 10, 3, noise)
    model, pca = ProbabilisticPCA(3).fit(X), PCA(3, whiten=True).fit(X)
    assert between(model.components_, pca.components_) < 1e-10
    scale = np.sqrt((len(X) - 1) / len(X))
    signs = np.sign((model.loadings_.T * pca.components_).sum(axis=1))  # PCA takes those of the axes
    assert_allclose(model.transform(X) * signs, pca.transform(X) / scale, atol=5 * noise**2)
    assert_allclose(
        model.inverse_transform(model.transform(X)),
        pca.inverse_transform(pca.transform(X)),
        atol=30 * noise**2,
    )


def test_em_with_gaps_becomes_pca_too() -> None:
    X = low_rank(300, 10, 3, 1e-3)
    model = ProbabilisticPCA(3).fit(with_gaps(X, 0.2))
    assert between(model.components_, PCA(3).fit(X).components_) < 1e-3


def test_data_in_an_exact_plane_have_their_noise_at_the_floor() -> None:
    X = low_rank(50, 6, 2, 0.0)
    with pytest.warns(NoiseFloorWarning, match="n_components=3 dimensions leave no variance to the noise"):
        model = ProbabilisticPCA(3).fit(X)
    assert np.isfinite(model.score_samples(X)).all()
    assert_allclose(model.components_ @ model.components_.T, np.eye(3), atol=1e-10)
    assert_allclose(model.inverse_transform(model.transform(X)), X, atol=1e-6)


# --- missing values -----------------------------------------------------------------------------------------


def test_imputed_values_are_five_times_better_than_means() -> None:
    X = low_rank(500, 20, 3, 0.1)
    gaps = with_gaps(X, 0.3)
    model = ProbabilisticPCA(3).fit(gaps)
    missing = np.isnan(gaps)
    filled, means = model.impute(gaps), SimpleImputer().fit_transform(gaps)
    assert np.array_equal(filled[~missing], X[~missing])

    def error(guess: np.ndarray) -> float:
        return float(np.sqrt(np.mean(np.square(guess - X)[missing])))

    assert error(filled) < error(means) / 5
    assert error(model.impute(gaps)) < 0.13  # hardly more than the noise of 0.1


def test_rows_with_missing_values_are_placed_near_complete_ones() -> None:
    X = low_rank(400, 15, 2, 0.05)
    model = ProbabilisticPCA(2).fit(X[:300])
    whole, part = model.transform(X[300:]), model.transform(with_gaps(X[300:], 0.4))
    assert np.abs(whole - part).max() < 0.3
    assert np.abs(whole).max() > 1.5
    expected = literal_posterior(model, with_gaps(X, 0.4)[350])[0]
    assert_allclose(model.transform(with_gaps(X, 0.4)[350:351])[0], expected, atol=1e-10)


def test_a_block_of_values_never_seen_together() -> None:
    """Two features that are never observed in the same row are still connected through the others."""
    X = low_rank(400, 8, 2, 0.05)
    gaps = X.copy()
    gaps[:200, 0], gaps[200:, 1] = np.nan, np.nan
    model = ProbabilisticPCA(2).fit(gaps)
    assert np.corrcoef(model.impute(gaps)[:200, 0], X[:200, 0])[0, 1] > 0.99


def test_patterns_are_grouped() -> None:
    X = low_rank(100, 5, 2, 0.1)
    X[:50, 0], X[30:60, 3] = np.nan, np.nan
    data = observed_data(X, True)
    assert len(data.patterns) == 4
    assert_allclose(data.patterns[data.group], ~np.isnan(X))


def test_the_expected_covariance_is_the_sum_over_rows() -> None:
    X = with_gaps(low_rank(30, 5, 2, 0.3), 0.3)
    model = ProbabilisticPCA(2).fit(X)
    C, total = model.get_covariance(), np.zeros((5, 5))
    for x in X:
        o = ~np.isnan(x)
        gain = C[:, o] @ np.linalg.inv(C[np.ix_(o, o)])
        mean = gain @ (x - model.mean_)[o]
        total += np.outer(mean, mean) + C - gain @ C[o]
    latent = LatentGaussian(model.mean_, model.loadings_, model.noise_variance_)
    assert_allclose(expected_covariance(latent, observed_data(X, True), np.ones(30)), total / 30, atol=1e-10)


# --- how many components ------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.2])
@pytest.mark.parametrize("q", [1, 3, 5])
def test_relevance_finds_the_dimension(q: int, share: float) -> None:
    X = low_rank(400, 12, q, 0.3, seed=q)
    model = ProbabilisticPCA("bayes").fit(with_gaps(X, share) if share else X)
    assert model.n_components_ == q
    assert model.components_.shape == (q, 12)


def test_the_evidence_finds_the_dimension() -> None:
    assert ProbabilisticPCA("mle").fit(low_rank(400, 12, 4, 0.3)).n_components_ == 4


def test_dimensions_of_known_spectra() -> None:
    equal = np.r_[
        np.linspace(5.5, 4.5, 6), np.linspace(1.1, 0.9, 4)
    ]  # many equal signals hide from a search that starts with one
    assert count_by_relevance(equal, 100) == count_by_evidence(equal, 100) == 6
    rng = np.random.default_rng(0)
    for n, d in [(60, 50), (30, 50), (500, 20)]:  # three signals in noise, with few and with many rows
        X = rng.standard_normal((n, d)) * np.r_[12, 10, 8, np.ones(d - 3)]
        assert count_by_relevance(np.linalg.eigvalsh(np.cov(X.T, bias=True))[::-1].clip(0), n) == 3


def test_cross_validated_likelihood_prefers_the_true_dimension() -> None:
    X = low_rank(300, 10, 3, 0.5)
    scores = [cross_val_score(ProbabilisticPCA(q), X, cv=3).mean() for q in (1, 2, 3, 6)]
    assert np.argmax(scores) == 2


# --- samples, weights, precision ----------------------------------------------------------------------------


def test_samples_have_the_models_moments() -> None:
    model = ProbabilisticPCA(2).fit(low_rank(200, 5, 2, 0.5))
    drawn = model.sample(200_000)
    assert_allclose(drawn.mean(axis=0), model.mean_, atol=0.03)
    assert_allclose(np.cov(drawn.T), model.get_covariance(), atol=0.05 * model.explained_variance_[0])
    assert np.array_equal(model.sample(5), model.sample(5))
    assert not np.array_equal(model.sample(5, random_state=1), model.sample(5))


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_a_weight_equals_repeated_rows(share: float) -> None:
    X = with_gaps(low_rank(60, 6, 2, 0.4), share) if share else low_rank(60, 6, 2, 0.4)
    times = np.random.default_rng(3).integers(0, 4, 60)
    times[np.isnan(X).sum(axis=1) == 0] += 1
    weighted = ProbabilisticPCA(2).fit(X, sample_weight=times)
    repeated = ProbabilisticPCA(2).fit(np.repeat(X, times, axis=0))
    assert weighted.noise_variance_ == pytest.approx(repeated.noise_variance_, rel=1e-8)
    assert_allclose(weighted.transform(X), repeated.transform(X), atol=1e-7)


def test_float32_in_and_out() -> None:
    X = with_gaps(low_rank(100, 6, 2, 0.3), 0.2).astype(np.float32)
    model = ProbabilisticPCA(2).fit(X)
    assert {model.transform(X).dtype, model.impute(X).dtype, model.posterior(X)[1].dtype} == {
        np.dtype(np.float32)
    }
    assert_allclose(model.transform(X), ProbabilisticPCA(2).fit(X.astype(float)).transform(X), atol=1e-5)


def test_pickle_keeps_everything() -> None:
    X = with_gaps(low_rank(60, 6, 2, 0.3), 0.2)
    model = ProbabilisticPCA(2).fit(X)
    thawed = pickle.loads(pickle.dumps(model))
    for call in (lambda m: m.impute(X), lambda m: m.score_samples(X), lambda m: m.sample(4)):
        assert np.array_equal(call(thawed), call(model))


# --- errors -------------------------------------------------------------------------------------------------


def test_the_error_names_rows_and_columns_without_values() -> None:
    X = low_rank(20, 5, 2, 0.3)
    X[:, 3] = np.nan
    with pytest.raises(ValueError, match="column 3 of the 5 columns has no observed value"):
        ProbabilisticPCA(2).fit(X)
    Y = low_rank(20, 5, 2, 0.3)
    Y[[4, 7]] = np.nan
    with pytest.raises(ValueError, match="row 4, 7 of the 20 rows has no observed value"):
        ProbabilisticPCA(2).fit(Y)
    model = ProbabilisticPCA(2).fit(Y[10:])
    for method in (model.transform, model.impute, model.score_samples, model.posterior):
        with pytest.raises(ValueError, match="row 4, 7"):
            method(Y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        (
            {"n_components": 6},
            "n_components=6 needs at least 7 samples and 6 features, got n_samples=20, n_features=5",
        ),
        ({"n_components": "many"}, "n_components='many' must be an integer of at least 1, 'bayes' or 'mle'"),
        ({"n_components": 0.5}, "n_components=0.5 must be an integer"),
        ({"method": "vb"}, "method='vb' is not known"),
        ({"tol": 0.0}, "tol=0.0 must be a positive number"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"method": "closed"}, "method='closed' needs complete data"),
        ({"n_components": "mle"}, "n_components='mle' needs complete data"),
    ],
)
def test_wrong_parameters(params: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ProbabilisticPCA(**params).fit(with_gaps(low_rank(20, 5, 2, 0.3), 0.1))


def test_values_without_variance_raise() -> None:
    X = np.ones((6, 3))
    X[0, 0], X[3, 1] = np.nan, np.nan
    with pytest.raises(ValueError, match="all observed values of each column are equal"):
        ProbabilisticPCA(1).fit(X)
    with pytest.raises(ValueError, match="infinity"):
        ProbabilisticPCA(1).fit(np.array([[1.0, np.inf], [0, 1], [2, 2]]))


def test_a_failed_fit_leaves_no_model() -> None:
    X = low_rank(60, 5, 2, 0.1)
    for model in (ProbabilisticPCA(2).fit(X), ProbabilisticPCA()):
        with pytest.raises(ValueError, match="lower n_components"):
            model.set_params(n_components=40).fit(X)
        with pytest.raises(NotFittedError):
            model.transform(X)
        with pytest.raises(NotFittedError):
            model.get_covariance()


@pytest.mark.long
def test_em_escapes_saddle_points_of_missing_blocks() -> None:
    rng = np.random.default_rng(0)
    whole = rng.standard_normal((400, 2)) @ rng.standard_normal((2, 8)) + 0.05 * rng.standard_normal((400, 8))
    X = whole.copy()
    X[10:200, 4:] = np.nan
    X[200:, :4] = np.nan
    gaps = np.isnan(X)
    for n_components in (2, "bayes"):
        model = ProbabilisticPCA(n_components).fit(X)
        assert model.n_components_ == 2
        assert model.log_likelihood_ > 162
        by_means = np.where(gaps, np.nanmean(X, axis=0), X) - whole
        assert np.abs(model.impute(X) - whole)[gaps].mean() < 0.2 * np.abs(by_means)[gaps].mean()


@pytest.mark.parametrize("n_components", ["mle", "bayes"])
def test_a_direction_without_variance_is_no_component(n_components: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 2)) @ rng.standard_normal((2, 5))
    with pytest.warns(NoiseFloorWarning):
        assert ProbabilisticPCA(n_components).fit(X).n_components_ == 2


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_a_row_of_weight_zero_has_no_effect(share: float) -> None:
    X = with_gaps(low_rank(40, 5, 2, 0.1), share)
    more = np.concatenate([X, 1e3 * np.ones((3, 5)), np.full((1, 5), np.nan)])
    weights = np.concatenate([np.ones(40), np.zeros(4)])
    assert_allclose(
        ProbabilisticPCA(2).fit(more, sample_weight=weights).loadings_, ProbabilisticPCA(2).fit(X).loadings_
    )


def test_rows_of_weight_zero_are_not_counted() -> None:
    X = low_rank(40, 5, 2, 0.1)
    with pytest.raises(ValueError, match="n_samples=3"):
        ProbabilisticPCA(3).fit(X, sample_weight=np.arange(40) < 3)
    half = X.copy()
    half[:20, 1] = np.nan
    with pytest.raises(ValueError, match="column 1"):
        ProbabilisticPCA(2).fit(half, sample_weight=np.arange(40) < 20)
