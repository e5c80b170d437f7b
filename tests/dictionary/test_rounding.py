"""Dictionaries at the limit of double precision, and kernels that are truly indefinite."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenscape import GreedySpectralEmbedding, KernelPCA
from eigenscape.exceptions import RankError, ToleranceWarning
from eigenscape.options import Dictionary


@pytest.mark.long
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("tol", [1e-10, 1e-12])
def test_rounding_is_not_blamed_on_the_kernel(d, tol):
    X = np.random.default_rng(0).standard_normal((3000, d))
    model = GreedySpectralEmbedding(4, kernel="rbf", gamma=0.5, dictionary=Dictionary(tol=tol))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(X)
    assert all(issubclass(one.category, ToleranceWarning) for one in caught)
    assert caught or model.gram_error_bound_ <= 4 * tol
    assert model.gram_error_bound_ < 1e-6
    exact = KernelPCA(4, kernel="rbf", gamma=0.5).fit(X)
    assert_allclose(model.eigenvalues_, exact.eigenvalues_, rtol=1e-6)
    assert_allclose(np.abs(model.embedding_), np.abs(exact.embedding_), atol=1e-5)


@pytest.mark.long
def test_the_warning_has_number_and_remedy():
    X = np.random.default_rng(0).standard_normal((3000, 2))
    message = (
        r"tolerance 1e-10 was not reached \(raise it to 2e-07 or more\): with \d+ .*double precision; the"
    )
    with pytest.warns(ToleranceWarning, match=message):
        GreedySpectralEmbedding(4, kernel="rbf", gamma=0.5, dictionary=Dictionary(tol=1e-10)).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        GreedySpectralEmbedding(4, kernel="rbf", gamma=0.5, dictionary=Dictionary(tol=2e-7)).fit(X)


def test_a_stream_stops_at_rounding_too():
    X = np.random.default_rng(0).standard_normal((1500, 2))
    model = GreedySpectralEmbedding(2, kernel="rbf", gamma=0.5, dictionary=Dictionary(tol=1e-11))
    with pytest.warns(ToleranceWarning, match="double precision"):
        model.fit(iter([X[:500], X[500:1000], X[1000:]]))
    assert np.isfinite(model.transform(X)).all()


def test_small_directions_are_kept_if_all_points_are_near():
    """A feature of standard deviation 1e-5 has a squared distance of 1e-10 from the span of the others."""
    X = np.random.default_rng(0).standard_normal((200, 3)) * [1, 1, 1e-5]
    model = GreedySpectralEmbedding(3, kernel="linear", dictionary=Dictionary(tol=1e-13)).fit(X)
    assert_allclose(model.eigenvalues_, np.linalg.svd(X - X.mean(axis=0))[1] ** 2, rtol=1e-5)


def indefinite(n, lowest, seed=0):
    """A matrix with one eigenvalue of ``lowest`` times the largest, the others positive."""
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))[0]
    values = np.append(np.geomspace(1, 1e-3, n - 1), lowest)
    return (Q * values) @ Q.T


@pytest.mark.parametrize("lowest", [-0.5, -1e-2, -1e-4])
@pytest.mark.parametrize("tol", [1e-4, 1e-10])
def test_indefinite_kernels_are_refused(lowest, tol):
    K = indefinite(60, lowest)
    with pytest.raises(ValueError, match="not positive semi-definite"):
        GreedySpectralEmbedding(
            2, kernel="precomputed", normalization=None, dictionary=Dictionary(tol=tol)
        ).fit(K)


def test_the_sigmoid_of_far_points_is_refused():
    X = 3 * np.random.default_rng(0).standard_normal((300, 2))
    kernel = lambda a, b: np.tanh(a @ b - 1.0)  # noqa: E731
    with pytest.raises(ValueError, match="not positive semi-definite"):
        GreedySpectralEmbedding(2, kernel=kernel, normalization=None, dictionary=Dictionary(tol=1e-10)).fit(X)


@pytest.mark.parametrize("n_components", [1, 2])
def test_many_equal_eigenvalues_are_found(n_components):
    """Of points that are far apart, nearly all eigenvalues are 1, of which LAPACK may return none."""
    X = 67.61102849869387 * np.random.default_rng(5).standard_normal((400, 2))
    model = GreedySpectralEmbedding(
        n_components,
        kernel="rbf",
        gamma=0.5,
        normalization="divisive",
        sum_to_one=False,
        dictionary=Dictionary(tol=1e-3),
    )
    assert_allclose(model.fit(X).eigenvalues_, np.ones(n_components), rtol=1e-6)


@pytest.mark.parametrize("normalization", ["additive", "divisive"])
def test_the_default_tolerance_is_lowered_for_groups_far_from_each_other(normalization):
    rng = np.random.default_rng(0)
    X = np.vstack([rng.standard_normal((50, 2)), rng.standard_normal((50, 2)) + 1000])
    model = GreedySpectralEmbedding(2, normalization=normalization).fit(X)
    assert_allclose(model.transform(X), model.embedding_, atol=1e-6)
    assert (np.sign(model.embedding_[:50, 0]) != np.sign(model.embedding_[50:, 0])).all()
    with pytest.raises(RankError, match="lower n_components"):
        GreedySpectralEmbedding(2, dictionary=Dictionary(tol=1e-3), normalization=normalization).fit(X)
