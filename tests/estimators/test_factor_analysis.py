"""Factor analysis: likelihood, steps of EM, missing values; agreement with scikit-learn."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn import decomposition

from eigenscape import FactorAnalysis, ProbabilisticPCA
from eigenscape.exceptions import NoiseFloorWarning, NotConvergedWarning
from eigenscape.methods import factor_analysis
from eigenscape.methods.factor_analysis import FactorModel, factor_posterior
from eigenscape.methods.observed_data import observed_data


def factors(n: int = 200, d: int = 7, q: int = 2, seed: int = 0) -> np.ndarray:
    """Samples of a model of ``q`` factors with different noise in each feature."""
    rng = np.random.default_rng(seed)
    noise = rng.uniform(0.3, 2, d)
    return rng.standard_normal((n, q)) @ rng.standard_normal((q, d)) + noise * rng.standard_normal((n, d)) + 3


def with_gaps(X: np.ndarray, share: float = 0.2, seed: int = 1) -> np.ndarray:
    gaps = np.random.default_rng(seed).random(X.shape) < share
    gaps[np.arange(len(X)), np.arange(len(X)) % X.shape[1]] = False
    return np.where(gaps, np.nan, X)


def literal_log_likelihood(model: FactorModel, X: np.ndarray) -> np.ndarray:
    """``log N(y_o; mu_o, (W W' + Psi)_oo)`` of the observed values of each row."""
    covariance = model.loadings @ model.loadings.T + np.diag(model.noise)
    values = []
    for row in X:
        o = np.flatnonzero(~np.isnan(row))
        values.append(multivariate_normal(model.mean[o], covariance[np.ix_(o, o)]).logpdf(row[o]))
    return np.array(values)


def literal_em_step(model: FactorModel, X: np.ndarray) -> FactorModel:
    """A step of plain EM for complete rows (Ghahramani and Hinton): ``beta = W' (W W' + Psi)^-1``."""
    W, mean = model.loadings, X.mean(axis=0)
    q = W.shape[1]
    beta = W.T @ np.linalg.inv(W @ W.T + np.diag(model.noise))
    cross, second = np.zeros(W.shape), np.zeros((q, q))
    for y in X - mean:
        x = beta @ y
        cross += np.outer(y, x)
        second += np.eye(q) - beta @ W + np.outer(x, x)
    new = cross @ np.linalg.inv(second)
    noise = np.diag(sum(np.outer(y, y) - new @ np.outer(beta @ y, y) for y in X - mean)) / len(X)
    return FactorModel(mean, new, noise)


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_log_likelihood_is_the_gaussians(share: float) -> None:
    X = with_gaps(factors(), share)
    model = FactorAnalysis(2).fit(X)
    expected = literal_log_likelihood(model._model_, X)
    np.testing.assert_allclose(model.score_samples(X), expected, rtol=1e-10)
    assert model.log_likelihood_ == pytest.approx(expected.sum(), rel=1e-10)
    assert model.score(X) == pytest.approx(expected.mean(), rel=1e-10)
    np.testing.assert_allclose(
        model.get_covariance(), model.loadings_ @ model.loadings_.T + np.diag(model.noise_variance_)
    )


@pytest.mark.long
@pytest.mark.parametrize("share", [0.0, 0.3])
def test_the_posterior_and_the_imputed_values_are_conditional_gaussians(share: float) -> None:
    X = with_gaps(factors(60), share)
    model = FactorAnalysis(2).fit(X)
    means, covariances = model.posterior(X)
    imputed = model.impute(X)
    C, W = model.get_covariance(), model.loadings_
    for row, mean, covariance, full in zip(X, means, covariances, imputed, strict=True):
        o, m = np.flatnonzero(~np.isnan(row)), np.flatnonzero(np.isnan(row))
        gain = W[o].T @ np.linalg.inv(C[np.ix_(o, o)])
        np.testing.assert_allclose(mean, gain @ (row[o] - model.mean_[o]), atol=1e-10)
        np.testing.assert_allclose(covariance, np.eye(2) - gain @ W[o], atol=1e-10)
        rest = C[np.ix_(m, o)] @ np.linalg.inv(C[np.ix_(o, o)]) @ (row[o] - model.mean_[o])
        np.testing.assert_allclose(full[m], model.mean_[m] + rest, atol=1e-9)
    np.testing.assert_array_equal(model.transform(X), means)


@pytest.mark.parametrize(("q", "seed"), [(1, 0), (1, 1), (2, 0), (2, 1), (3, 1)])
def test_the_likelihood_is_scikit_learns(q: int, seed: int) -> None:
    X = factors(300, 10, q, seed)
    ours = FactorAnalysis(q, tol=1e-12).fit(X)
    theirs = decomposition.FactorAnalysis(q, tol=1e-7, max_iter=5000, svd_method="lapack").fit(X)
    assert ours.score(X) == pytest.approx(theirs.score(X), abs=1e-6)
    np.testing.assert_allclose(ours.get_covariance(), theirs.get_covariance(), atol=2e-3)
    np.testing.assert_allclose(ours.score_samples(X), theirs.score_samples(X), atol=2e-2)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.4])
@pytest.mark.parametrize("seed", range(3))
def test_the_likelihood_rises_in_each_step(seed: int, share: float) -> None:
    model = FactorAnalysis(2, tol=1e-9, max_iter=5000).fit(with_gaps(factors(80, seed=seed), share))
    assert len(model.log_likelihoods_) > 5
    assert (np.diff(model.log_likelihoods_) >= -1e-9).all()
    assert model.n_iter_ == len(model.log_likelihoods_) - 1


@pytest.mark.long
def test_the_maximum_is_a_fixed_point_of_plain_em() -> None:
    X = factors()
    found = FactorAnalysis(2, tol=1e-14, max_iter=50_000).fit(X)._model_
    step = literal_em_step(found, X)
    np.testing.assert_allclose(step.covariance(), found.covariance(), rtol=1e-4, atol=1e-4)
    worse = FactorModel(found.mean, found.loadings, found.noise * 1.1)
    raised = literal_em_step(worse, X)
    before, after = (literal_log_likelihood(each, X).sum() for each in (worse, raised))
    assert before < after < literal_log_likelihood(found, X).sum()


def test_a_step_with_missing_values_is_no_worse_than_plain_em() -> None:
    """With complete rows both are the same step, but for the expansion of the latent Gaussian."""
    X, rng = factors(), np.random.default_rng(5)
    start = FactorModel(X.mean(axis=0), rng.standard_normal((7, 2)), X.var(axis=0))
    data, weights = observed_data(X, training=True), np.ones(len(X))
    step = factor_analysis._maximize(
        start, factor_analysis._expectation(start, data, weights), np.full(7, 1e-9)
    )
    plain = literal_em_step(start, X)
    np.testing.assert_allclose(step.noise, plain.noise, rtol=1e-9)
    # The expansion multiplies W on the right by a root of the latent covariance of the step.
    both = np.linalg.lstsq(plain.loadings, step.loadings, rcond=None)[0]
    np.testing.assert_allclose(plain.loadings @ both, step.loadings, atol=1e-9)
    expanded, simple, first = (
        factor_posterior(each, data).log_likelihood.sum() for each in (step, plain, start)
    )
    assert expanded >= simple > first


def test_missing_values_and_complete_rows_have_the_same_maximum() -> None:
    X = factors(150)
    data, weights = observed_data(X, training=True), np.ones(len(X))
    start = FactorModel(X.mean(axis=0), np.random.default_rng(3).standard_normal((7, 2)), X.var(axis=0))
    em = factor_analysis._expectation_maximization(start, data, weights, np.full(7, 1e-9), 1e-12, 50_000)[0]
    ecm = FactorAnalysis(2, tol=1e-12, max_iter=50_000).fit(X)
    np.testing.assert_allclose(em.covariance(), ecm.get_covariance(), atol=1e-3)


def test_units_of_features_do_not_matter() -> None:
    """Unlike probabilistic PCA, whose noise is the same in all features."""
    X, units = factors(), np.array([1, 1000, 1e-3, 1, 50, 2, 0.1])
    model, scaled = (FactorAnalysis(2, tol=1e-11, max_iter=20_000).fit(rows) for rows in (X, X * units))
    np.testing.assert_allclose(scaled.loadings_, model.loadings_ * units[:, None], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(scaled.noise_variance_, model.noise_variance_ * units**2, rtol=1e-6)
    np.testing.assert_allclose(scaled.transform(X * units), model.transform(X), atol=1e-6)


def test_the_noise_of_each_feature_is_recovered_and_the_likelihood_above_that_of_ppca() -> None:
    rng = np.random.default_rng(2)
    noise, loadings = np.linspace(0.5, 2, 9), rng.standard_normal((2, 9))
    X = rng.standard_normal((3000, 2)) @ loadings + noise * rng.standard_normal((3000, 9))
    gaps = with_gaps(X, 0.1)
    for rows in (X, gaps):
        model = FactorAnalysis(2, max_iter=5000).fit(rows)
        np.testing.assert_allclose(np.sqrt(model.noise_variance_), noise, rtol=0.1)
        assert model.log_likelihood_ > ProbabilisticPCA(2).fit(rows).log_likelihood_ + 100


def test_the_loadings_are_canonical() -> None:
    model = FactorAnalysis(3, max_iter=20_000).fit(factors(q=3))
    inner = model.loadings_.T @ (model.loadings_ / model.noise_variance_[:, None])
    np.testing.assert_allclose(inner, np.diag(np.diag(inner)), atol=1e-9 * inner.max())
    assert (np.diff(np.diag(inner)) < 0).all()
    np.testing.assert_array_equal(model.components_, model.loadings_.T)
    np.testing.assert_allclose(model.inverse_transform(np.eye(3)), model.mean_ + model.components_)


@pytest.mark.parametrize("share", [0.0, 0.2])
def test_a_weight_repeats_a_sample(share: float) -> None:
    X, weights = with_gaps(factors(60), share), np.arange(60) % 3
    weighted = FactorAnalysis(1, tol=1e-10, max_iter=5000).fit(X, sample_weight=weights)
    repeated = FactorAnalysis(1, tol=1e-10, max_iter=5000).fit(np.repeat(X, weights, axis=0))
    np.testing.assert_allclose(weighted.get_covariance(), repeated.get_covariance(), rtol=1e-5, atol=1e-6)
    assert weighted.log_likelihood_ == pytest.approx(repeated.log_likelihood_)


def test_samples_have_the_covariance_of_the_model() -> None:
    model = FactorAnalysis(2).fit(factors())
    drawn = model.sample(200_000, random_state=0)
    np.testing.assert_allclose(np.cov(drawn.T), model.get_covariance(), atol=0.1)
    np.testing.assert_allclose(drawn.mean(axis=0), model.mean_, atol=0.05)


def test_more_features_than_samples() -> None:
    X = factors(20, 50, 2)
    model = FactorAnalysis(2, tol=1e-9, max_iter=20_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoiseFloorWarning)
        model.fit(X)
    expected = literal_log_likelihood(model._model_, X)
    np.testing.assert_allclose(model.score_samples(X), expected, rtol=1e-8)
    assert (np.diff(model.log_likelihoods_) >= -1e-7).all()


def test_a_feature_that_is_a_function_of_others() -> None:
    X = factors(100, 5, 1)
    with pytest.warns(NoiseFloorWarning, match=r"feature\(s\).*lower n_components"):
        model = FactorAnalysis(2, max_iter=5000, tol=1e-6).fit(np.column_stack([X, X[:, 0]]))
    assert np.isfinite(model.log_likelihood_)


def test_a_constant_feature() -> None:
    X = np.column_stack([factors(100, 5, 1), np.full(100, 2.0)])
    with pytest.warns(NoiseFloorWarning, match=r"feature\(s\) 5 completely"):
        model = FactorAnalysis(1).fit(X)
    assert model.mean_[5] == pytest.approx(2.0)
    assert (abs(model.loadings_[5]) < 1e-6).all()


def test_too_few_steps() -> None:
    with pytest.warns(NotConvergedWarning, match=r"max_iter=3 steps.*raise max_iter or tol=1e-08"):
        model = FactorAnalysis(2, max_iter=3).fit(factors())
    assert not model.converged_


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"n_components": 0}, "n_components=0"),
        ({"n_components": 8}, "n_components=8 needs at least 9 samples and 8 features"),
        ({"n_components": "mle"}, "n_components='mle'"),
        ({"tol": 0}, "tol=0"),
        ({"max_iter": 0}, "max_iter=0"),
    ],
)
def test_bad_parameters(params: dict, match: str) -> None:
    with pytest.raises(ValueError, match=match):
        FactorAnalysis(**params).fit(factors())
