"""Density and novelty in the eigen-space."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.stats import gamma
from sklearn.datasets import load_digits
from sklearn.decomposition import TruncatedSVD
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score
from sklearn.mixture import GaussianMixture
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigenscape import (
    PCA,
    ClassicalMDS,
    DiffusionMap,
    EigenspaceDensity,
    KernelPCA,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
)
from eigenscape.exceptions import DegenerateSpectrumWarning, ModelFileError
from eigenscape.io import load, save
from eigenscape.methods.eigenspace_density import GammaTail


@pytest.mark.suite
@parametrize_with_checks([EigenspaceDensity(n_mixtures=1, cv=2)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[y == 0], X[y != 0]


@pytest.fixture(scope="module")
def fitted(digits):
    return EigenspaceDensity().fit(digits[0][:120])


@pytest.mark.long
@pytest.mark.parametrize(
    ("embedder", "kind"),
    [
        (None, "kernel"),
        (PCA(8), "inverse"),
        (TruncatedSVD(8), "inverse"),
        (LaplacianEigenmaps(3, affinity="rbf"), "kernel"),
        (LocallyLinearEmbedding(3), "inverse"),
    ],
    ids=str,
)
def test_other_digits_are_outliers(digits, embedder, kind):
    zeros, others = digits
    model = EigenspaceDensity(embedder).fit(zeros[:120])
    assert model.span_distance_ == kind
    scores = model.decision_function(np.concatenate([zeros[120:], others]))
    assert roc_auc_score(np.arange(len(scores)) < len(zeros) - 120, scores) > 0.99
    np.testing.assert_array_equal(model.predict(others), np.where(model.decision_function(others) < 0, -1, 1))


@pytest.mark.long
def test_rows_far_from_all_others_are_found_by_the_span_and_not_by_the_density(digits):
    zeros, others = digits
    far = others + 50.0
    model = EigenspaceDensity(span_distance="none").fit(zeros[:120])
    joined = EigenspaceDensity().fit(zeros[:120])
    assert (joined.predict(far) == -1).all()
    # far rows have no similarity to any row: all get one place on the map, which is not unusual
    assert np.ptp(model.score_samples(far)) < 1e-6
    assert model.score_samples(far)[0] > joined.score_samples(zeros[:120]).min() - 30


@pytest.mark.long
def test_the_density_is_that_of_the_coordinates():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((150, 2)) - 4, rng.standard_normal((150, 2)) + 4])
    model = EigenspaceDensity(PCA(2), 2, reg_covar=1e-9, span_distance="none").fit(X)
    Z = model.embedder_.transform(X)
    expected = GaussianMixture(2, random_state=0).fit(Z)
    np.testing.assert_allclose(model.score_samples(X), expected.score_samples(Z), atol=1e-3)
    np.testing.assert_allclose(np.sort(model.weights_), [0.5, 0.5], atol=0.01)
    np.testing.assert_allclose(
        np.sort(np.abs(model.means_[:, 0])), np.sort(np.abs(expected.means_[:, 0])), rtol=1e-3
    )
    drawn = model.sample(4000, random_state=0)
    np.testing.assert_allclose(np.cov(drawn.T), np.cov(X.T), rtol=0.1)


@pytest.mark.long
def test_the_number_of_gaussians_is_found():
    rng = np.random.default_rng(1)
    centers = 8 * np.array([[0, 0], [1, 0], [0, 1]])
    X = np.concatenate([rng.standard_normal((80, 2)) + center for center in centers])
    model = EigenspaceDensity(PCA(2)).fit(X)
    assert model.n_mixtures_ == 3
    best = model.cv_scores_[model.cv_scores_[:, 1].argmax(), 0]
    assert best == 3


@pytest.mark.long
def test_thresholds(digits, fitted):
    zeros, _ = digits
    for share in (0.1, 0.25):
        found = EigenspaceDensity(contamination=share).fit_predict(zeros[:120])
        assert abs((found == -1).mean() - share) <= 1 / 120
    assert (fitted.predict(zeros[120:]) == -1).mean() < 0.1


@pytest.mark.long
def test_rows_are_scored_alone_and_by_any_number_of_threads(digits, fitted):
    zeros, others = digits
    alone = np.concatenate([fitted.decision_function(row[None]) for row in others[:5]])
    np.testing.assert_allclose(alone, fitted.decision_function(others[:5]), atol=1e-6)
    again = EigenspaceDensity(n_jobs=2).fit(zeros[:120])
    np.testing.assert_allclose(again.decision_function(others), fitted.decision_function(others), rtol=1e-6)
    named = EigenspaceDensity().fit(pd.DataFrame(zeros[:120], columns=[f"pixel{i}" for i in range(64)]))
    assert named.feature_names_in_[3] == "pixel3"
    frame = pd.DataFrame(others[:5], columns=named.feature_names_in_)
    np.testing.assert_allclose(named.decision_function(frame), alone, atol=1e-6)
    counts = EigenspaceDensity().fit(sparse.csr_array(zeros[:120]))
    np.testing.assert_allclose(counts.decision_function(sparse.csr_array(others[:5])), alone, rtol=1e-3)


def test_samples_are_rows_like_the_others(digits, fitted):
    zeros, _ = digits
    drawn = fitted.sample(40, random_state=0)
    np.testing.assert_array_equal(drawn, fitted.sample(40, random_state=0))
    center = zeros.mean(axis=0)
    assert np.linalg.norm(drawn.mean(axis=0) - center) < 0.2 * np.linalg.norm(center)
    assert (fitted.predict(drawn) == 1).mean() > 0.9
    no_inverse = EigenspaceDensity(DiffusionMap(2), 1).fit(zeros[:60])
    assert no_inverse.span_distance_ == "none"
    assert no_inverse.sample_coordinates(3, random_state=0).shape == (3, 2)
    with pytest.raises(AttributeError, match=r"sample needs an inverse map.*use sample_coordinates"):
        no_inverse.sample()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0, 100])
@pytest.mark.parametrize("embedder", [PCA(6), KernelPCA(6, kernel="linear"), ClassicalMDS(6)], ids=str)
def test_rounding_is_no_evidence_against_a_row(embedder, offset, dtype):
    """A map that loses nothing: predictions are those of the density alone, except outside of the plane."""
    rng = np.random.default_rng(0)
    plane = rng.standard_normal((6, 8))
    X, Y = ((rng.standard_normal((n, 6)) @ plane + offset).astype(dtype) for n in (600, 5000))
    model = EigenspaceDensity(embedder).fit(X)
    alone = EigenspaceDensity(embedder, span_distance="none").fit(X)
    assert (model.predict(Y) != alone.predict(Y)).mean() < 2e-3
    assert 0.003 < (model.predict(Y) == -1).mean() < 0.03
    away = np.linalg.svd(plane)[2][-1]
    assert (model.predict(X[:50] + dtype(0.1) * away.astype(dtype)) == -1).all()


def test_covariances_are_those_of_the_coordinates(digits):
    zeros = digits[0]
    model = EigenspaceDensity(PCA(3), 1, reg_covar=1e-9).fit(zeros)
    coordinates = model.embedder_.transform(zeros)
    assert_allclose(model.covariances_[0], np.cov(coordinates.T, bias=True), rtol=1e-6, atol=1e-6)
    assert_allclose(model.means_[0], coordinates.mean(axis=0), atol=1e-9)


def test_prefit(digits, fitted):
    zeros, others = digits
    model = EigenspaceDensity(KernelPCA(5).fit(zeros[:60]), prefit=True).fit(zeros[60:120])
    assert model.embedder_ is model.embedder
    assert (model.predict(others) == -1).mean() > 0.9
    with pytest.raises(NotFittedError):
        EigenspaceDensity(KernelPCA(5), prefit=True).fit(zeros)


def test_files(digits, fitted, tmp_path):
    save(fitted, tmp_path / "model")
    model = load(tmp_path / "model")
    rows = digits[1][:20]
    np.testing.assert_array_equal(model.decision_function(rows), fitted.decision_function(rows))
    np.testing.assert_array_equal(model.sample(2, random_state=0), fitted.sample(2, random_state=0))
    foreign = EigenspaceDensity(TruncatedSVD(2), 1).fit(digits[0][:40])
    with pytest.raises(
        ModelFileError, match=r"embedder=TruncatedSVD.*Set embedder to one that eigenscape provides"
    ):
        save(foreign, tmp_path / "foreign")


def test_tails_are_those_of_a_gamma_distribution_and_continue_beyond_underflow():
    values = np.random.default_rng(0).gamma(3, 2, 5000)
    tail = GammaTail.of(values)
    x = np.array([1.0, 10, 50])
    expected = gamma.logsf(x - tail.start, tail.shape, scale=tail.scale)
    np.testing.assert_allclose(tail.log_probability(x), expected, rtol=1e-10)
    far = tail.log_probability(np.linspace(1e3, 1e4, 200))
    assert np.isfinite(far).all()
    assert (np.diff(far) < 0).all()
    steps = np.diff(tail.log_probability(np.linspace(1200, 1700, 400)))  # the formula changes in between
    np.testing.assert_allclose(steps, steps[0], rtol=0.05)
    assert np.isfinite(GammaTail.of(np.ones(5)).log_probability(np.array([0.0, 1, 2]))).all()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"embedder": KernelPCA}, "must be an estimator with transform"),
        ({"n_mixtures": 0}, "n_mixtures=0"),
        ({"n_mixtures": 39}, "n_mixtures=39 needs at least 39 training samples, got 26"),
        ({"contamination": 0.7}, r"contamination=0.7 must be 'auto' or a number in \(0, 0.5\]"),
        ({"span_distance": "far"}, "span_distance"),
        (
            {"span_distance": "kernel", "embedder": PCA(2)},
            "span_distance='kernel' is not defined for PCA: .*kernel",
        ),
        ({"span_distance": "inverse", "embedder": DiffusionMap(2)}, "not defined for DiffusionMap"),
        ({"cv": 1}, "cv=1"),
        ({"cv": 30}, "cv=30 needs at least 60 samples, got n_samples=40; lower cv"),
        ({"reg_covar": 0}, "reg_covar"),
        ({"prefit": True}, "must be an estimator with transform"),
    ],
)
def test_bad_parameters(digits, params, message):
    with pytest.raises((ValueError, TypeError), match=message):
        EigenspaceDensity(**params).fit(digits[0][:40])


def test_rows_of_low_rank(digits):
    few = np.repeat(digits[0][:4], 10, axis=0)
    with pytest.warns(DegenerateSpectrumWarning, match="has only 3 positive"):
        assert np.isfinite(EigenspaceDensity().fit(few).decision_function(digits[1])).all()
    assert np.isfinite(EigenspaceDensity(PCA(2), 1).fit(few).decision_function(digits[1])).all()
