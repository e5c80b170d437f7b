"""Kernel eigenmaps with a covariance for each kernel (Brand sec. 3)."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg
from scipy.stats import multivariate_normal

from eigenscape import KernelEigenmap
from eigenscape.datasets import twisted_roll
from eigenscape.exceptions import UndefinedMapError
from eigenscape.methods.mixture import EllipticKernels, kernel_weights
from eigenscape.methods.tuning import TUNING
from eigenscape.options import LocalKernels


def random_covariances(K: int, D: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    roots = rng.standard_normal((K, D, D)) + 2 * np.eye(D)
    return roots @ roots.transpose(0, 2, 1)


def coordinates_written_out(X: np.ndarray, centers: np.ndarray, covariances: np.ndarray) -> np.ndarray:
    """Z of eq. 14 and 15 with ``p_k = N(x | mu_k, Sigma_k)``, by scipy's density."""
    rows = []
    for x in X:
        p = np.array([multivariate_normal.pdf(x, mu, S) for mu, S in zip(centers, covariances, strict=True)])
        p = np.maximum(p - TUNING.negligible * p.sum(), 0)
        p = p / p.sum()
        rows.append(np.concatenate([p[k] * np.append(x - mu, 1.0) for k, mu in enumerate(centers)]))
    return np.array(rows)


def test_the_equations_written_out() -> None:
    X, _ = twisted_roll(12)
    centers, covariances = X[::13], random_covariances(len(X[::13]), 3, 0)
    model = KernelEigenmap(
        2, n_neighbors=8, kernels=LocalKernels(covariances=covariances, centers=centers)
    ).fit(X)
    np.testing.assert_allclose(model.covariances_, covariances, rtol=1e-10, atol=1e-12)
    W = model.graph_.toarray()
    D = W.sum(axis=1)
    Z = coordinates_written_out(X, centers, covariances)
    Q, S, _ = linalg.svd(np.sqrt(D)[:, None] * Z, full_matrices=False)
    Q = Q[:, S / S[0] > 1e-7]
    vectors = linalg.eigh(Q.T @ (W / np.sqrt(D) / np.sqrt(D)[:, None]) @ Q)[1]
    Y = (Q @ vectors[:, ::-1][:, 1:3]) / np.sqrt(D)[:, None]
    Y *= np.sqrt(len(X)) * np.sign((Y * model.embedding_).sum(axis=0))
    np.testing.assert_allclose(model.embedding_, Y, atol=1e-7 * np.abs(Y).max())
    spherical = KernelEigenmap(2, n_neighbors=8, kernels=LocalKernels(centers=centers)).fit(X)
    assert np.abs(spherical.embedding_ - model.embedding_).max() > 1e-3  # another map


def test_axes_give_the_density_of_the_covariances() -> None:
    rng = np.random.default_rng(1)
    directions = np.array([np.linalg.qr(rng.standard_normal((5, 2)))[0].T for _ in range(3)])
    directions[2, 1] = 0.0  # an axis that is not given
    spreads, rest = rng.uniform(0.5, 3, (3, 2)), np.array([0.4, 1.2, 0.9])
    spreads[2, 1] = rest[2]
    kernels = EllipticKernels(rng.standard_normal((3, 5)), directions, spreads, rest)
    X = 2 * rng.standard_normal((20, 5))
    expected = np.column_stack(
        [
            multivariate_normal.logpdf(X, mu, S)
            for mu, S in zip(kernels.centers, kernels.covariances, strict=True)
        ]
    )
    found = kernels.exponents(X)
    np.testing.assert_allclose(found - found[:1, :1], expected - expected[:1, :1], rtol=1e-10, atol=1e-10)


def test_spherical_covariances_are_the_default() -> None:
    X, _ = twisted_roll(14)
    model = KernelEigenmap(2, n_kernels=12, kernels=LocalKernels(sigma=3.0)).fit(X)
    given = KernelEigenmap(2, n_kernels=12, kernels=LocalKernels(covariances=9.0 * np.eye(3))).fit(X)
    np.testing.assert_allclose(given.embedding_, model.embedding_, atol=1e-8)
    np.testing.assert_allclose(given.covariances_, model.covariances_)
    assert given.sigma_ == pytest.approx(model.sigma_)
    np.testing.assert_allclose(given.jacobian(X + 0.3), model.jacobian(X + 0.3), atol=1e-8)


def test_kernels_take_the_shape_of_the_points_around_them() -> None:
    """On a plane in ten dimensions kernels are as flat as they may be, along the plane of the data."""
    rng = np.random.default_rng(0)
    plane = np.linalg.qr(rng.standard_normal((10, 2)))[0]
    X = rng.uniform(-1, 1, (600, 2)) @ plane.T + 1e-3 * rng.standard_normal((600, 10))
    model = KernelEigenmap(
        2, n_kernels=9, kernels=LocalKernels(sigma=0.6, covariances="full", centers="kmeans")
    ).fit(X)
    for covariance in model.covariances_:
        values, vectors = np.linalg.eigh(covariance)
        np.testing.assert_allclose(values[-1], 0.36, rtol=1e-6)
        np.testing.assert_allclose(values[:8], (TUNING.width_floor * 0.6) ** 2, rtol=1e-6)
        assert np.linalg.norm(plane.T @ vectors[:, -2:]) ** 2 > 1.999
    weights = kernel_weights(model._map_.kernels, X).matrix
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    back = model.inverse_transform(model.transform(X))
    assert np.abs(back - back @ plane @ plane.T).max() < 5e-3  # on the plane, up to the noise
    assert model.inverse_error_ < 0.03


def test_a_shift_between_parallel_sheets_is_seen_by_flat_kernels() -> None:
    """Two sheets 0.7 apart: kernels centred on one of them, flat, keep the other at low weight."""
    rng = np.random.default_rng(2)
    sheet = rng.uniform(-3, 3, (400, 2))
    X = np.column_stack([sheet, 0.7 * (rng.random(400) < 0.5)])
    centers = np.column_stack([np.zeros((2, 2)), [0.0, 0.7]])
    flat = KernelEigenmap(
        1,
        on_disconnected="connect",
        kernels=LocalKernels(covariances=np.diag([1.0, 1.0, 0.04]), centers=centers),
    ).fit(X)
    round_ = KernelEigenmap(1, kernels=LocalKernels(sigma=1.0, centers=centers)).fit(X)
    other = np.where(X[:, 2] > 0, 0, 1)
    rows = np.arange(len(X))
    assert kernel_weights(flat._map_.kernels, X).matrix.toarray()[rows, other].max() < 0.003
    assert kernel_weights(round_._map_.kernels, X).matrix.toarray()[rows, other].min() > 0.4


@pytest.mark.parametrize(
    ("params", "error", "match"),
    [
        ({"covariances": "diagonal"}, ValueError, "covariances='diagonal'"),
        ({"covariances": 2.0}, ValueError, "covariances=2.0 must be"),
        ({"covariances": np.eye(2)}, ValueError, r"covariances has shape \(2, 2\)"),
        ({"covariances": np.ones((3, 3))}, ValueError, "positive definite"),
        ({"covariances": np.triu(np.ones((3, 3)))}, ValueError, "symmetric"),
        ({"covariances": np.array([np.eye(3)] * 4)}, ValueError, "need their centers"),
        ({"covariances": 1e-6 * np.eye(3)}, UndefinedMapError, "multiply them by at least"),
        ({"covariances": "full", "sigma": 0.02}, UndefinedMapError, "sigma"),
    ],
)
def test_refused(params: dict, error: type, match: str) -> None:
    X, _ = twisted_roll(8)
    with pytest.raises(error, match=match):
        KernelEigenmap(2, n_kernels=4, kernels=LocalKernels(**params)).fit(X)


def test_features_have_no_covariances() -> None:
    X, _ = twisted_roll(8)
    model = KernelEigenmap(2, basis="features", correction="affine").fit(X)
    with pytest.raises(AttributeError, match="no kernels"):
        model.covariances_  # noqa: B018
