"""The held-out loss: pairs of new points, known spectra, precomputed input, errors and memory."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from eigenscape import (
    PCA,
    ClassicalMDS,
    FastMap,
    GreedySpectralEmbedding,
    Isomap,
    KernelPCA,
    LaplacianEigenmaps,
    OrientedPCA,
)
from eigenscape.eigenfunctions import Eigenfunctions, Embedding, RootScale
from eigenscape.kernels import Precomputed
from eigenscape.methods.tuning import TUNING
from eigenscape.operators import as_operator
from eigenscape.options import Dictionary
from eigenscape.quality import kernel_loss, kernel_loss_curve
from eigenscape.quality.pair_moments import PairMoments
from eigenscape.solvers import SolverConfig, principal


def normal(n: int, d: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d))


def gaussian_table(Y: np.ndarray, X: np.ndarray, gamma: float) -> np.ndarray:
    return np.exp(-gamma * cdist(Y, X, "sqeuclidean"))


def mehler(gamma: float, count: int) -> np.ndarray:
    """Eigenvalues of ``exp(-gamma (x - y)^2)`` for standard normal numbers (Mehler's formula)."""
    a, b = 1 / 4, gamma
    c = np.sqrt(a**2 + 2 * a * b)
    return np.sqrt(2 * a / (a + b + c)) * (b / (a + b + c)) ** np.arange(count)


def uncentred(K: np.ndarray, count: int) -> Embedding:
    """The leading eigenfunctions of a given Gram matrix."""
    pairs = principal(as_operator(K), count, "value", SolverConfig("dense"))
    return Embedding(
        Eigenfunctions(Precomputed().bind(K), pairs), RootScale(np.sqrt(np.abs(pairs.values) / len(K)))
    )


def test_overfitting_is_visible():
    """With nearly as many components as points the training loss vanishes, and the held-out loss does not."""
    X, Y = normal(120, 4, 0), normal(400, 4, 1)
    model = KernelPCA(110, kernel="rbf", gamma=0.3).fit(X)
    held_out, training = model.loss_curve(Y), model.loss_curve()
    with_training = np.square(
        model.kernel_(Y) - (model.eigenfunctions(Y) * model.eigenvalues_ / 120) @ model.eigenfunctions(X).T
    ).mean()
    assert held_out[59] > 20 * training[59]
    assert held_out[-1] > 1e4 * training[-1]
    assert held_out[-1] > 1e3 * with_training  # pairs with training points hide it


@pytest.mark.long
def test_loss_of_few_components_is_the_discarded_spectrum_of_the_operator():
    """Many training points: the generalisation error is the sum of the squares of Mehler's eigenvalues."""
    X, Y = normal(1500, 1, 0), normal(1500, 1, 1)
    model = uncentred(gaussian_table(X, X, 0.5), 4)
    curve = kernel_loss_curve(model, gaussian_table(Y, X, 0.5), gaussian_table(Y, Y, 0.5))
    tails = [np.square(mehler(0.5, 60)[n:]).sum() for n in range(1, 5)]
    np.testing.assert_allclose(curve, tails, rtol=0.15)


@pytest.mark.parametrize("between", [2, 3, 4])
def test_minimum_where_the_spectrum_reaches_the_noise(between):
    """Noise of standard deviation s in every similarity. A component of eigenvalue l reduces the error by l^2
    and adds l^2 (2 v + v^2), where v = s^2 / (m l^2) is the variance of its function: it helps if
    v < sqrt(2) - 1. The noise is chosen so that this bound lies between two of Mehler's eigenvalues."""
    m, n, gamma = 300, 300, 0.5
    values = mehler(gamma, 20)
    bound = np.sqrt(values[between - 1] * values[between])
    level = bound * np.sqrt(m * (np.sqrt(2) - 1))
    curves = []
    for seed in range(5):
        points, rng = normal(m + n, 1, seed), np.random.default_rng(100 + seed)
        noise = np.triu(rng.standard_normal((m + n, m + n)), 1)
        K = gaussian_table(points, points, gamma) + level * (noise + noise.T)
        curves.append(kernel_loss_curve(uncentred(K[:m, :m], 12), K[m:, :m], K[m:, m:]))
        assert curves[-1][-1] > curves[-1].min() + level**2 / m  # further components are noise
    assert int(np.argmin(np.mean(curves, axis=0))) + 1 == between


def test_expected_loss_of_a_semidefinite_kernel_does_not_increase():
    """The map is a projection, and the error an inner product of what it leaves out: with the pairs of a
    point with itself the sum of squares cannot increase, so its expectation without them cannot either."""
    Y = normal(60, 3, 1)
    model = KernelPCA(60, kernel="rbf", gamma=0.3).fit(normal(80, 3, 0))
    error, f = model.kernel_.to(Y)(Y), model.eigenfunctions(Y)
    own, curve = [], model.loss_curve(Y)
    for r, value in enumerate(model.eigenvalues_):
        error = error - value / 80 * np.outer(f[:, r], f[:, r])
        own.append(np.square(np.diagonal(error)).sum())
    assert (np.diff(60 * 59 * curve + np.array(own)) <= 1e-12).all()


def projection_weights(M: np.ndarray, values: np.ndarray, sum_to_one: bool) -> np.ndarray:
    """Ouimet eq. 6 or 7: weights (n, m) of the members of the dictionary, for kernel values (n, m)."""
    A = values @ np.linalg.inv(M)
    if sum_to_one:
        ones = np.ones(len(M)) @ np.linalg.inv(M)
        A = A + np.outer((1 - A.sum(axis=1)) / ones.sum(), ones)
    return A


@pytest.mark.parametrize(
    "model",
    [
        KernelPCA(4, gamma=0.3, approximation=Dictionary(8)),
        LaplacianEigenmaps(4, affinity="rbf", gamma=0.3, approximation=Dictionary(8)),
        GreedySpectralEmbedding(4, gamma=0.3, sum_to_one=False, dictionary=Dictionary(8)),
        GreedySpectralEmbedding(
            4, gamma=0.3, sum_to_one=True, normalization="divisive", dictionary=Dictionary(8)
        ),
        GreedySpectralEmbedding(4, gamma=0.3, normalization=None, dictionary=Dictionary(8)),
        GreedySpectralEmbedding(4, gamma=0.3, averages="dictionary", dictionary=Dictionary(8)),
    ],
    ids=["kernel-pca", "laplacian", "linear-span", "divisive-hull", "raw", "averages"],
)
def test_a_dictionary_is_compared_with_the_kernel_itself(model):
    """The double sum over pairs of new points of the kernel, normalised by the means that the model has."""
    X, Y, gamma = normal(50, 2, 0), normal(25, 2, 1), 0.3
    model.fit(X)
    D, kind = model.dictionary_, model.kernel_.normalization.kind
    M, among = gaussian_table(D, D, gamma), gaussian_table(Y, Y, gamma)
    to_members, sum_to_one = gaussian_table(Y, D, gamma), model.kernel_.span.sum_to_one
    averaged = D if getattr(model, "averages", "implicit") == "dictionary" else X
    mean_weights = projection_weights(M, gaussian_table(averaged, D, gamma), sum_to_one).mean(axis=0)
    if kind == "additive":
        row = to_members @ mean_weights
        K = among - row[:, None] - row + mean_weights @ M @ mean_weights
    elif kind == "divisive":
        sums = len(X) * projection_weights(M, to_members, sum_to_one) @ M @ mean_weights
        K = among / np.sqrt(np.outer(sums, sums))
    else:
        K = among
    functions = model._model_.eigenfunctions
    f, lambdas = functions(Y), functions.pairs.values / len(X)
    trivial, pairs = model._model_.trivial, [(i, j) for i in range(25) for j in range(25) if i != j]
    literal = [
        sum((K[i, j] - sum(lambdas[:r] * f[i, :r] * f[j, :r])) ** 2 for i, j in pairs) / len(pairs)
        for r in range(trivial + 1, len(lambdas) + 1)
    ]
    np.testing.assert_allclose(model.loss_curve(Y), literal, rtol=1e-8)
    assert model.loss(Y) == pytest.approx(literal[-1], rel=1e-8)


def test_overfitting_is_visible_with_a_dictionary():
    """All eigenfunctions of the approximated kernel give it back, but not the kernel."""
    X, Y = normal(120, 4, 0), normal(200, 4, 1)
    few = KernelPCA(None, gamma=0.3, approximation=Dictionary(30)).fit(X)
    exact = KernelPCA(len(few.eigenvalues_), gamma=0.3).fit(X)
    assert few.loss() < 1e-20  # of the approximated kernel
    assert exact.loss(Y) < few.loss(Y) < 20 * exact.loss(Y)


def test_a_dictionary_of_all_points_has_the_loss_of_the_exact_kernel():
    X, Y = normal(60, 3, 0), normal(40, 3, 1)
    for exact, full in (
        (KernelPCA(3, gamma=0.3), KernelPCA(3, gamma=0.3, approximation=Dictionary(points=X))),
        (
            LaplacianEigenmaps(3, affinity="rbf", gamma=0.3),
            LaplacianEigenmaps(3, affinity="rbf", gamma=0.3, approximation=Dictionary(points=X)),
        ),
    ):
        np.testing.assert_allclose(full.fit(X).loss_curve(Y), exact.fit(X).loss_curve(Y), rtol=1e-5)


def test_a_stream_has_the_loss_of_the_same_dictionary():
    X, Y = normal(90, 3, 0), normal(40, 3, 1)
    whole = GreedySpectralEmbedding(3, gamma=0.3, dictionary=Dictionary(tol=0.1)).fit(X)
    stream = GreedySpectralEmbedding(3, gamma=0.3, dictionary=Dictionary(tol=0.1)).fit([X[:50], X[50:]])
    assert stream.dictionary_indices_.tolist() == whole.dictionary_indices_.tolist()
    np.testing.assert_allclose(stream.loss_curve(Y), whole.loss_curve(Y), rtol=1e-9)


def test_a_dictionary_of_precomputed_similarities_needs_those_among_new_points():
    X, Y = normal(40, 3, 0), normal(15, 3, 1)
    plain = KernelPCA(3, gamma=0.3, approximation=Dictionary(9)).fit(X)
    table = KernelPCA(3, kernel="precomputed", approximation=Dictionary(9)).fit(gaussian_table(X, X, 0.3))
    new = gaussian_table(Y, X, 0.3)
    assert table.loss(new, gaussian_table(Y, Y, 0.3)) == pytest.approx(plain.loss(Y), rel=1e-9)
    with pytest.raises(ValueError, match=r"pass those among the new points as\s+between"):
        table.loss(new)


def test_precomputed_input_needs_the_values_among_new_points():
    X, Y = normal(40, 3, 0), normal(15, 3, 1)
    own, new, among = cdist(X, X), cdist(Y, X), cdist(Y, Y)
    for given, plain in (
        (ClassicalMDS(metric="precomputed"), ClassicalMDS()),
        (Isomap(metric="precomputed", n_neighbors=6), Isomap(n_neighbors=6)),
        (
            LaplacianEigenmaps(affinity="precomputed_nearest_neighbors", n_neighbors=6),
            LaplacianEigenmaps(n_neighbors=6),
        ),
    ):
        given.fit(own)
        assert given.loss(new, between=among) == pytest.approx(plain.fit(X).loss(Y), rel=1e-9)
        with pytest.raises(ValueError, match=r"pass those among the new points as\s+between"):
            given.loss(new)
        with pytest.raises(ValueError, match=r"each of the 15 rows of X, got shape \(15, 40\)"):
            given.loss(new, between=new)
        with pytest.raises(ValueError, match="between needs held-out points X"):
            given.loss(between=among)
    with pytest.raises(ValueError, match="between needs precomputed input"):
        ClassicalMDS().fit(X).loss(Y, between=among)


@pytest.mark.parametrize(
    "model", [KernelPCA(), PCA(), Isomap(n_neighbors=5), KernelPCA(approximation=Dictionary(9))]
)
def test_one_point_has_no_pair(model):
    model.fit(normal(30, 3, 0))
    for measure in (model.loss, model.loss_curve):
        with pytest.raises(ValueError, match="mean over pairs of new points, but X has 1; pass 2 or more"):
            measure(normal(1, 3, 1))


def test_equal_new_points_are_one_point():
    """The kernel is a function of two points: for equal ones it is k(x, x), whatever their row numbers."""
    X, y = normal(40, 3, 0), normal(1, 3, 1)
    twice = np.concatenate([y, y])
    model = Isomap(n_neighbors=5).fit(X)
    K = model.kernel_.to(twice)(twice)
    np.testing.assert_allclose(K, K[0, 0], rtol=1e-12)
    affinity = LaplacianEigenmaps(n_neighbors=5).fit(X).kernel_.to(twice)(twice)
    assert affinity.nnz == 0  # a point has no edge to itself


def test_sums_over_rows_are_the_double_sum():
    rng = np.random.default_rng(0)
    c, e = rng.standard_normal((9, 3)), rng.standard_normal((9, 4))
    parts = PairMoments.of(c[:4], e[:4]) + PairMoments.of(c[4:], e[4:])
    for n, found in enumerate(parts.mean_squares()):
        K = c[:, n:] @ c[:, n:].T + e @ e.T
        np.fill_diagonal(K, 0)
        assert found == pytest.approx(np.square(K).sum() / 72, rel=1e-12)


def test_pca_of_many_features_is_that_of_its_kernel(monkeypatch):
    """Pairs are formed by blocks if the matrix of the features is too large."""
    X, Y = normal(40, 30, 0), normal(25, 30, 1)
    expected = KernelPCA(3, kernel="linear").fit(X)
    for size in (2000, 10):
        monkeypatch.setattr("eigenscape.methods.pca.TUNING", replace(TUNING, dense_size=size))
        model = PCA(3).fit(X)
        np.testing.assert_allclose(model.loss_curve(Y), expected.loss_curve(Y), rtol=1e-9)
        np.testing.assert_allclose(model.loss_curve(), expected.loss_curve(), rtol=1e-9)


def test_curves_end_in_the_loss():
    X, Y = normal(50, 6, 0), normal(20, 6, 1)
    models = [
        KernelPCA(4).fit(X),
        PCA(4).fit(X),
        FastMap(4).fit(X),
        KernelPCA(4, approximation=Dictionary(12)).fit(X),
        OrientedPCA(3).fit(X, noise=normal(80, 6, 2)),
    ]
    for model in models:
        for points in (None, Y):
            curve = model.loss_curve(points)
            assert curve.shape == (len(model.eigenvalues_),)
            assert curve[-1] == pytest.approx(model.loss(points), rel=1e-9)
    fewer = KernelPCA(2).fit(X)
    np.testing.assert_allclose(models[0].loss_curve(Y)[:2], fewer.loss_curve(Y), rtol=1e-9)
    np.testing.assert_allclose(models[0].loss_curve()[:2], fewer.loss_curve(), rtol=1e-9)


@pytest.mark.long
def test_no_matrix_of_all_pairs_is_formed(monkeypatch):
    monkeypatch.setattr("eigenscape._memory.row_blocks.__defaults__", (2**20,))
    X, Y = normal(30, 2, 0), normal(3000, 2, 1)
    model = KernelPCA(2).fit(X)
    tracemalloc.start()
    model.loss(Y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 3000**2 / 4


def test_blocks_do_not_change_the_loss(monkeypatch):
    X, Y = normal(40, 3, 0), normal(50, 3, 1)
    models = [KernelPCA(3).fit(X), Isomap(2, n_neighbors=5).fit(X), LaplacianEigenmaps(2).fit(X)]
    before = [model.loss_curve(Y) for model in models]
    monkeypatch.setattr("eigenscape._memory.row_blocks.__defaults__", (2**14,))
    for model, expected in zip(models, before, strict=True):
        np.testing.assert_allclose(model.loss_curve(Y), expected, rtol=1e-10)
        assert kernel_loss(model._model_, Y) == pytest.approx(expected[-1], rel=1e-10)
