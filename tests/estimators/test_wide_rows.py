"""Linear and kernel eigenmaps of more features than samples: solved in the span of the rows."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest
from scipy import linalg, sparse

from eigenscape import KernelEigenmap, LocalityPreservingProjection
from eigenscape.methods.tuning import TUNING
from eigenscape.options import LocalKernels


def curve_in(n: int, n_features: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Points of a smooth curve in many dimensions, and their angle."""
    rng = np.random.default_rng(seed)
    angle = np.sort(rng.uniform(0, 3, n))
    powers = np.arange(1, 7)
    waves = np.column_stack([np.cos(np.outer(angle, powers) / 2), np.sin(np.outer(angle, powers) / 2)])
    X = waves @ (rng.standard_normal((12, n_features)) / np.repeat(powers, 2)[:, None])
    return X + 0.02 * rng.standard_normal((n, n_features)), angle


def full_space(Z: np.ndarray, W: np.ndarray, d: int) -> np.ndarray:
    """Coordinates ``v_2 .. v_{d+1}`` of eq. 8 with the constant appended, by an SVD of Z in its own units."""
    D = W.sum(axis=1)
    Q, S, _ = linalg.svd(np.sqrt(D)[:, None] * np.column_stack([Z, np.ones(len(Z))]), full_matrices=False)
    Q = Q[:, S / S[0] > 1e-9]
    inner = linalg.eigh(Q.T @ (W / np.sqrt(D) / np.sqrt(D)[:, None]) @ Q)[1][:, ::-1]
    return np.sqrt(len(Z)) * (Q @ inner[:, 1 : d + 1]) / np.sqrt(D)[:, None]


def peak_bytes(run: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        run()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def same_signs(Y: np.ndarray, R: np.ndarray) -> np.ndarray:
    return R * np.sign((Y * R).sum(axis=0))


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_features_equal_the_full_space_solution(container) -> None:
    X, _ = curve_in(40, 90)
    model = KernelEigenmap(3, basis="features", correction="affine").fit(container(X))
    Y = same_signs(model.embedding_, full_space(X, model.graph_.toarray(), 3))
    np.testing.assert_allclose(model.embedding_, Y, atol=1e-7)
    D = model.graph_.toarray().sum(axis=1)
    rows = X if sparse.issparse(container(X)) else X - D @ X / D.sum()
    expected = linalg.pinv(rows) @ (model.embedding_ - model._map_.transformation.constant)
    np.testing.assert_allclose(model._map_.transformation.coefficients, expected, atol=1e-7)


@pytest.mark.parametrize("affine", [True, False])
def test_projections_equal_the_full_space_solution(affine: bool) -> None:
    X, _ = curve_in(40, 90)
    model = LocalityPreservingProjection(3, affine=affine).fit(X)
    W = model.graph_.toarray()
    D = W.sum(axis=1)
    mean = D @ X / D.sum() if affine else np.zeros(90)
    Z = X - mean
    U, S, _ = linalg.svd(Z, full_matrices=False)
    U = U[:, S / S[0] > 1e-9]
    gaps, vectors = linalg.eigh(U.T @ (np.diag(D) - W) @ U, U.T @ (D[:, None] * U))
    skip = 0 if affine else 1  # without a constant term, the constant is interpolated and omitted
    np.testing.assert_allclose(1 - model.eigenvalues_, gaps[skip : skip + 3], rtol=1e-6, atol=1e-10)
    Y = same_signs(model.embedding_, np.sqrt(40) * U @ vectors[:, skip : skip + 3])
    np.testing.assert_allclose(model.embedding_, Y, atol=1e-6)
    np.testing.assert_allclose(model.components_.T, linalg.pinv(Z) @ model.embedding_, atol=1e-7)
    np.testing.assert_allclose(model.patterns_, model.embedding_.T @ (D[:, None] * Z) / 40, atol=1e-8)


@pytest.mark.parametrize("posterior", [True, False])
def test_kernels_equal_the_full_space_solution(posterior: bool) -> None:
    X, _ = curve_in(40, 30)
    centers, sigma = X[::8], 6.0
    model = KernelEigenmap(
        2,
        posterior=posterior,
        correction="affine",
        kernels=LocalKernels(sigma=sigma, centers=centers, local_components=30),
    ).fit(X)
    p = np.exp(-np.square(X[:, None] - centers).sum(axis=2) / (2 * sigma**2))
    share = np.maximum(p / p.sum(axis=1, keepdims=True) - TUNING.negligible, 0)
    weight = share / share.sum(axis=1, keepdims=True) if posterior else share * p.sum(axis=1, keepdims=True)
    local = np.concatenate([(X[:, None] - centers) / sigma, np.ones((40, 5, 1))], axis=2)
    Z = (weight[:, :, None] * local).reshape(40, -1)
    Y = same_signs(model.embedding_, full_space(Z, model.graph_.toarray(), 2))
    np.testing.assert_allclose(model.embedding_, Y, atol=1e-7)
    if posterior:  # the shortest coefficients, local coordinates in units of sigma
        V = (linalg.pinv(Z) @ (model.embedding_ - model._map_.constant)).reshape(5, 31, 2)
        np.testing.assert_allclose(model._map_.offsets, V[:, -1], atol=1e-6)
        np.testing.assert_allclose(model._map_.slopes, V[:, :-1] / sigma, atol=1e-6)


@pytest.mark.parametrize("correction", ["raw", "affine", "reweighted", "stochastic"])
def test_densities_have_all_corrections(correction: str) -> None:
    X, _ = curve_in(40, 60)
    model = KernelEigenmap(
        2,
        n_kernels=4,
        posterior=False,
        correction=correction,
        kernels=LocalKernels(sigma=8.0, local_components=60),
    ).fit(X)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8)
    assert (model.residuals_ < 1e-9).all()
    assert np.corrcoef(model.embedding_[:, 0], model.transform(X + 1e-3)[:, 0])[0, 1] > 0.999


@pytest.mark.long
def test_memory_follows_the_rows() -> None:
    """No array of K (d + 1) squared, here 1.2 GB, nor of d squared, 200 MB."""
    X, _ = curve_in(36, 1024)
    kernels = KernelEigenmap(2, n_kernels=12, kernels=LocalKernels(local_components=1024))
    assert peak_bytes(lambda: kernels.fit(X)) < 16e6
    X, _ = curve_in(60, 5000)
    for affine in (True, False):
        projection = LocalityPreservingProjection(2, affine=affine)
        assert peak_bytes(lambda projection=projection: projection.fit(X)) < 40e6
    features = KernelEigenmap(2, basis="features", correction="affine")
    assert peak_bytes(lambda: features.fit(X)) < 40e6


def test_local_dimensions_leave_half_the_samples() -> None:
    X, angle = curve_in(90, 300)
    default = KernelEigenmap(1).fit(X[::2])
    assert default.n_kernels_ * (default.local_components_ + 1) <= 22
    assert default.n_kernels_ > 1 < default.local_components_
    twelve = KernelEigenmap(1, n_kernels=12).fit(X)
    assert (twelve.n_kernels_, twelve.local_components_) == (12, 2)
    given = KernelEigenmap(1, n_kernels=3, kernels=LocalKernels(local_components=300)).fit(X)
    assert given.local_components_ == 300
    narrow = KernelEigenmap(1, n_kernels=3).fit(X[:, :20])
    assert narrow.local_components_ == 20
    for model in (default, twelve):  # new points follow the curve
        Y = model.transform(X[1::2])[:, 0]
        assert np.corrcoef(Y, -np.cos(angle[1::2] * np.pi / 3))[0, 1] ** 2 > 0.95
    many = KernelEigenmap(4, n_kernels=2).fit(X[:8])  # at least enough for the components
    assert many.embedding_.shape == (8, 4)


def test_units_of_the_data_do_not_matter() -> None:
    X, _ = curve_in(40, 60)
    for params in ({"n_kernels": 3, "kernels": LocalKernels(local_components=60)}, {"n_kernels": 4}):
        model, scaled = KernelEigenmap(2, **params).fit(X[:30]), KernelEigenmap(2, **params).fit(1e4 * X[:30])
        # W is made of inverse distances and scaled to a largest weight of one
        np.testing.assert_allclose(scaled.transform(1e4 * X), model.transform(X), atol=1e-6)


def test_columns_keep_their_units() -> None:
    """Columns of noise of small variance matter little on one graph; at unit variance they would."""
    X, angle = curve_in(60, 40)
    X = np.column_stack([X, 0.01 * np.random.default_rng(1).standard_normal((60, 2000))])
    train, new = np.arange(60) % 3 > 0, np.arange(60) % 3 == 0
    graph = LocalityPreservingProjection(1).fit(X[train]).graph_

    def held_out(scale: np.ndarray | float) -> float:
        model = LocalityPreservingProjection(1).fit(X[train] / scale, graph=graph)
        return np.corrcoef(model.transform(X[new] / scale)[:, 0], angle[new])[0, 1] ** 2

    natural, unit = held_out(1.0), held_out(X[train].std(axis=0))
    assert natural > 0.9
    assert natural > unit + 0.05
