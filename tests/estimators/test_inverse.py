"""From coordinates back to rows: literal transcriptions, what must hold for every inverse, and errors that
say why there is none."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from cases import CASES, disconnected, load
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, make_s_curve, make_swiss_roll
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigenscape import (
    ClassicalMDS,
    GreedySpectralEmbedding,
    Isomap,
    KernelPCA,
    LandmarkMDS,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
)
from eigenscape.exceptions import DisconnectedGraphWarning, IsolatedPointWarning, PreimageWarning
from eigenscape.methods import local_affine as local
from eigenscape.methods.kernel_ridge import KernelRidge
from eigenscape.methods.preimage import Expansion, FixedPoint, expansion_of
from eigenscape.options import Dictionary, Inverse

INVERTIBLE = (
    KernelPCA,
    GreedySpectralEmbedding,
    Isomap,
    LocallyLinearEmbedding,
    LaplacianEigenmaps,
    ClassicalMDS,
    LandmarkMDS,
)


def ring(n: int, noise: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    t = rng.uniform(0, 2 * np.pi, n)
    clean = np.column_stack([np.cos(t), np.sin(t), 0.3 * np.cos(2 * t)])
    return clean, clean + noise * rng.standard_normal(clean.shape)


def squared(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return np.square(A[:, None] - B[None]).sum(axis=2)


# --- transcriptions -----------------------------------------------------------------------------------------


def literal_weights(model: KernelPCA, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """``g_i`` of ``P Phi = sum_i g_i Phi(x_i)``, from the eigenvectors of the centred Gram matrix."""
    m = len(X)
    K = np.exp(-model.gamma_ * squared(X, X))
    H = np.eye(m) - 1 / m
    values, vectors = np.linalg.eigh(H @ K @ H)
    g = np.full(m, 1 / m)
    for r, coordinate in enumerate(y):
        v = vectors[:, -1 - r]
        v = v * np.sign(v @ model.embedding_[:, r])
        g = g + coordinate * (v - v.mean()) / np.sqrt(values[-1 - r])
    return g


def literal_fixed_point(X: np.ndarray, g: np.ndarray, gamma: float, z: np.ndarray, steps: int) -> np.ndarray:
    for _ in range(steps):
        top, bottom = np.zeros_like(z), 0.0
        for x_i, g_i in zip(X, g, strict=True):
            k = g_i * np.exp(-gamma * np.sum((z - x_i) ** 2))
            top, bottom = top + k * x_i, bottom + k
        z = top / bottom
    return z


@pytest.mark.parametrize("gamma", [None, 1.5])
def test_mika_literally(gamma: float | None) -> None:
    X = ring(40, 0.05)[1] + 100.0  # far from the origin: no digits are lost
    model = KernelPCA(5, gamma=gamma).fit(X)
    new = ring(6, 0.05, seed=1)[1] + 100.0
    Y = model.transform(new)
    Z = model.inverse_transform(Y)
    for y, z in zip(Y, Z, strict=True):
        g = literal_weights(model, X, y)
        near = X[np.argsort(np.linalg.norm(model.embedding_ - y, axis=1))[:5]]
        start = near[np.argmax(np.exp(-model.gamma_ * squared(near, X)) @ g)]
        assert_allclose(
            z, literal_fixed_point(X, g, model.gamma_, start, 300), atol=1e-4 / np.sqrt(model.gamma_)
        )


def test_a_fixed_point_is_a_maximum() -> None:
    """Of ``J(z) = sum_i g_i k(z, x_i)``: no small step in any direction is better, however negative some
    weights are."""
    X = ring(80, 0.1)[1]
    model = KernelPCA(20, gamma=4.0).fit(X)
    Z = model.inverse_transform(model.embedding_)
    weights = expansion_of(model._model_, X)(model.embedding_)
    assert weights.min() < 0

    def height(Z: np.ndarray) -> np.ndarray:
        return (weights * np.exp(-4.0 * squared(Z, X))).sum(axis=1)

    rng = np.random.default_rng(0)
    for _ in range(20):
        assert (height(Z + 1e-3 * rng.standard_normal(Z.shape)) <= height(Z) + 1e-9).all()


@pytest.mark.parametrize("alpha", [1e-4, 0.3])
def test_ridge_literally(alpha: float) -> None:
    X = ring(50, 0.05)[1] + 10
    model = KernelPCA(3, kernel="poly", inverse=Inverse("ridge", alpha=alpha, gamma=0.7)).fit(X)
    Y, T, mean = model.transform(X[:9] + 0.1), model.embedding_, X.mean(axis=0)
    K = np.exp(-0.7 * squared(T, T))
    expected = np.exp(-0.7 * squared(Y, T)) @ np.linalg.solve(K + alpha * np.eye(50), X - mean) + mean
    assert_allclose(model.inverse_transform(Y), expected, atol=1e-8)
    left_out = []
    for i in range(50):
        rest = np.delete(np.arange(50), i)
        coefficients = np.linalg.solve(K[np.ix_(rest, rest)] + alpha * np.eye(49), X[rest] - mean)
        left_out.append(K[i, rest] @ coefficients + mean)
    assert_allclose(model.inverse_error_, np.linalg.norm(left_out - X) / np.linalg.norm(X - mean), rtol=1e-6)


def literal_local(T: np.ndarray, X: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    """Weighted least squares for ``x = b + A (y_j - c)``, a ridge on ``A``, evaluated at ``y``."""
    length = np.linalg.norm(T - y, axis=1)
    order = np.argsort(length)[: k + 1]
    w = (1 - (length[order] / length[order[-1]]) ** 2) ** 2 + 1e-9
    w = w / w.sum()
    near = T[order]
    c = w @ near
    C = (near - c).T @ np.diag(w) @ (near - c)
    d = T.shape[1]
    design = np.column_stack([np.ones(k + 1), near - c])
    ridge = 1e-2 * np.trace(C) / d + 1e-6 * length[order[-1]] ** 2
    penalty = np.diag([0.0] + [ridge] * d)
    coefficients = np.linalg.solve(design.T @ np.diag(w) @ design + penalty, design.T @ np.diag(w) @ X[order])
    return np.append(1.0, y - c) @ coefficients


@pytest.mark.parametrize("cls", [Isomap, LocallyLinearEmbedding, LaplacianEigenmaps])
def test_local_affine_literally(cls: type) -> None:
    X = make_s_curve(200, random_state=0)[0]
    model = cls(n_components=2).fit(X)
    Y = model.transform(X[:10] + 0.02)
    expected = [literal_local(model.embedding_, X, y, 12) for y in Y]
    assert_allclose(model.inverse_transform(Y), expected, atol=1e-8)
    others = [
        literal_local(np.delete(model.embedding_, i, 0), np.delete(X, i, 0), model.embedding_[i], 12)
        for i in range(200)
    ]
    assert_allclose(
        model.inverse_error_, np.linalg.norm(others - X) / np.linalg.norm(X - X.mean(0)), rtol=1e-7
    )


# --- the linear kernel --------------------------------------------------------------------------------------

LINEAR = {
    "kernel pca": lambda: KernelPCA(3, kernel="linear"),
    "dictionary": lambda: KernelPCA(3, kernel="linear", approximation=Dictionary(tol=1e-10)),
    "span": lambda: GreedySpectralEmbedding(
        3, kernel="linear", sum_to_one=False, dictionary=Dictionary(tol=1e-10)
    ),
    "mds": lambda: ClassicalMDS(3),
    "landmarks": lambda: LandmarkMDS(3, n_landmarks=60),
}


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_a_linear_kernel_has_the_inverse_of_pca(name: str, container: Any) -> None:
    X = np.random.default_rng(0).standard_normal((60, 6)) * [5, 4, 3, 1, 0.5, 0.2] + 7
    model, pca = LINEAR[name]().fit(container(X)), PCA(3).fit(X)
    new = X[:5] + 1
    Y = model.transform(container(new))
    assert_allclose(model.inverse_transform(Y), pca.inverse_transform(pca.transform(new)), atol=1e-10)
    lost = np.linalg.norm(X - pca.inverse_transform(pca.transform(X))) / np.linalg.norm(X - X.mean(axis=0))
    assert_allclose(model.inverse_error_, lost, rtol=1e-6)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 4), st.floats(-1e3, 1e3))
def test_a_linear_round_trip_loses_nothing_but_what_is_discarded(seed: int, rank: int, offset: float) -> None:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((20, rank)) @ rng.standard_normal((rank, 5)) + offset
    model = KernelPCA(rank, kernel="linear").fit(X)
    assert_allclose(model.inverse_transform(model.embedding_), X, atol=1e-9 * (1 + abs(offset)))


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(2, 30))
def test_local_weights_are_those_of_an_affine_function(seed: int, d: int, k: int) -> None:
    """They sum to one, however few the neighbours, and give a straight line back where rows lie on one."""
    rng = np.random.default_rng(seed)
    near, y = rng.standard_normal((1, k, d)), rng.standard_normal((1, d))
    length = np.sort(np.linalg.norm(near - y[:, None], axis=2))
    near = near[:, np.argsort(np.linalg.norm(near - y[:, None], axis=2)[0])]
    weights = local.affine_weights(y, near, length)
    assert_allclose(weights.sum(), 1.0, atol=1e-9 * np.abs(weights).sum())
    assert np.isfinite(weights).all()
    if d == 1 and k > 8:
        inner = np.sort(near[0, :, 0])[[k // 4, -1 - k // 4]].mean()
        there = np.abs(near[0, :, 0] - inner)
        order = np.argsort(there)
        at = local.affine_weights(np.array([[inner]]), near[:, order], there[None, order])
        assert_allclose(at @ (3 * near[:, order] + 2)[0], [[3 * inner + 2]], atol=0.05 * np.ptp(near))


# --- expansions ---------------------------------------------------------------------------------------------

EXPANDED = {
    "all points": KernelPCA(3),
    "hull": KernelPCA(3, approximation=Dictionary(tol=1e-2)),
    "span": GreedySpectralEmbedding(3, sum_to_one=False, dictionary=Dictionary(tol=1e-2)),
    "not centred": GreedySpectralEmbedding(3, normalization=None, dictionary=Dictionary(tol=1e-2)),
    "not centred, hull": GreedySpectralEmbedding(
        3, normalization=None, sum_to_one=True, dictionary=Dictionary(tol=1e-2)
    ),
    "averages": GreedySpectralEmbedding(3, averages="dictionary", dictionary=Dictionary(tol=1e-2)),
    "weights": ClassicalMDS(3, metric="cityblock", centering=np.linspace(0, 2 / 80, 80)),
}


@pytest.mark.parametrize("name", EXPANDED)
def test_an_expansion_has_the_coordinates_it_was_made_from(name: str) -> None:
    """Coordinates are affine in feature space, so those of ``sum_i g_i Phi(x_i)`` are ``sum_i g_i y(x_i)``
    for weights that sum to one,

    and with ``y(0)`` for the rest of the weights if they do not.
    """
    X = load("curve")[0]
    model = clone(EXPANDED[name]).fit(X)
    members = model.dictionary_ if hasattr(model, "dictionary_") else X
    Y = np.random.default_rng(0).standard_normal((7, 3))
    weights = expansion_of(model._model_, members)(Y)
    at_zero = np.zeros(3)
    if name == "span":
        at_zero = -model.kernel_.normalization.center @ model._model_.eigenfunctions.pairs.vectors
    elif "not centred" not in name:
        assert_allclose(weights.sum(axis=1), 1.0, atol=1e-8)
    assert_allclose(
        weights @ model.transform(members) + np.outer(1 - weights.sum(axis=1), at_zero), Y, atol=1e-7
    )


# --- what it is good for ------------------------------------------------------------------------------------


@pytest.mark.long
def test_pre_images_take_noise_away() -> None:
    """Digits with noise: nearer to the clean image after a round trip, for images that were not seen."""
    clean = load_digits().data / 16
    noisy = clean + 0.3 * np.random.default_rng(0).standard_normal(clean.shape)
    model = KernelPCA(30).fit(noisy[:800])
    again = model.inverse_transform(model.transform(noisy[800:]))
    before, after = (np.linalg.norm(rows - clean[800:], axis=1) for rows in (noisy[800:], again))
    assert after.mean() < 0.65 * before.mean()
    assert (after < before).mean() > 0.99


@pytest.mark.long
@pytest.mark.parametrize("dictionary", [None, Dictionary(tol=1e-4)])
def test_pre_images_come_nearer_to_a_curve(dictionary: Dictionary | None) -> None:
    noisy = ring(400, 0.1)[1]
    fine = ring(4000, 0.0)[0]
    model = KernelPCA(8, approximation=dictionary).fit(noisy)
    again = model.inverse_transform(model.embedding_)
    before, after = (np.sqrt(squared(rows, fine).min(axis=1)).mean() for rows in (noisy, again))
    assert after < 0.8 * before


@pytest.mark.long
@pytest.mark.parametrize(
    ("model", "most"),
    [
        (Isomap(), 0.04),
        (Isomap(n_landmarks=100), 0.04),
        (LocallyLinearEmbedding(n_neighbors=12, method="ltsa"), 0.03),
        (KernelPCA(30, inverse="ridge"), 0.05),
        (KernelPCA(30), 0.05),
    ],
)
def test_round_trips_on_the_swiss_roll(model: Any, most: float) -> None:
    X = make_swiss_roll(1800, random_state=0)[0]
    model = clone(model).fit(X[:1500])
    again = model.inverse_transform(model.transform(X[1500:]))
    error = np.linalg.norm(again - X[1500:]) / np.linalg.norm(X[1500:] - X.mean(axis=0))
    assert error < most
    assert error < 2 * model.inverse_error_ + 1e-3  # what is reported is what a new point meets
    assert model.inverse_error_ < 2 * most


def test_the_local_inverse_is_smooth() -> None:
    X = make_swiss_roll(800, random_state=0)[0]
    model = Isomap().fit(X)
    a, b = model.embedding_[0], model.embedding_[1]
    line = a + np.linspace(0, 1, 20001)[:, None] * (b - a)
    steps = np.linalg.norm(np.diff(model.inverse_transform(line), axis=0), axis=1)
    assert steps.max() < 1e-2 * np.ptp(X)  # 20 000 steps: a jump to other neighbours would stand out
    assert np.linalg.norm(model.inverse_transform(line[[0, -1]]) - X[:2], axis=1).max() < 0.1 * X.std()


def test_each_space_has_its_own_gamma() -> None:
    X = ring(60, 0.05)[1]
    plain, wide = (
        KernelPCA(2, inverse="ridge").fit(X),
        KernelPCA(2, inverse=Inverse("ridge", gamma=7.0)).fit(X),
    )
    assert_array_equal(plain.embedding_, wide.embedding_)
    assert not np.allclose(plain.inverse_transform(plain.embedding_), wide.inverse_transform(wide.embedding_))
    for gamma in (0.1, 5.0):
        model = KernelPCA(2, gamma=gamma, inverse=Inverse("ridge", alpha=0.1, gamma=7.0)).fit(X)
        direct = KernelRidge(X, model.embedding_, 7.0, 0.1)
        assert_allclose(model.inverse_transform(model.embedding_), direct(model.embedding_), atol=1e-10)


def test_ridge_chooses_alpha_by_leaving_one_out() -> None:
    """Much noise wants much regularisation; the choice is no worse than any of a grid."""
    X = ring(150, 0.2)[1]
    model = KernelPCA(3, inverse=Inverse("ridge")).fit(X)
    chosen = model.inverse_error_
    by_hand = [
        model.set_params(inverse__alpha=150 * alpha).inverse_error_ for alpha in np.logspace(-12, 0, 13)
    ]
    assert_allclose(chosen, min(by_hand), rtol=1e-6)
    assert max(by_hand) > 1.1 * chosen


@pytest.mark.long
def test_ridge_of_many_points_makes_no_square_matrix() -> None:
    rng = np.random.default_rng(0)
    T = rng.uniform(-1, 1, (5000, 2))
    X = np.column_stack([np.sin(2 * T[:, 0]), T[:, 1] ** 2, T.sum(axis=1)])
    inverse = KernelRidge(X, T)
    assert local.relative_error(inverse) < 1e-3
    assert inverse._basis[2].shape[0] == 1000


# --- what must hold for all ---------------------------------------------------------------------------------

KNOWN = [case for case in CASES if isinstance(case.make(), INVERTIBLE)]


def fit(case: Any) -> Any:
    X = load(case.data)[0]
    with warnings.catch_warnings():
        if disconnected(case.data):
            warnings.simplefilter("ignore", DisconnectedGraphWarning)
            warnings.simplefilter("ignore", IsolatedPointWarning)
        return case.make().fit(X, **case.given(X))


@pytest.mark.parametrize("case", KNOWN, ids=[case.id for case in KNOWN])
def test_every_case_has_an_inverse_or_says_why_not(case: Any) -> None:
    X, _ = load(case.data)
    model = fit(case)
    if not hasattr(model, "inverse_transform"):
        with pytest.raises(AttributeError, match="no inverse") as caught:
            _ = model.inverse_error_
        assert any(word in str(caught.value) for word in ("rows", "components", "objects"))
        return
    Y = model.embedding_[np.r_[0:9, 3]]
    Z = model.inverse_transform(Y)
    assert Z.shape == (10, X.shape[1])
    assert np.isfinite(Z).all()
    assert 0 <= model.inverse_error_ < np.inf
    scale = np.abs(Z).max()
    assert_allclose(Z[3], Z[9], atol=1e-7 * scale)
    assert_allclose(
        np.concatenate([model.inverse_transform(Y[i : i + 1]) for i in range(10)]), Z, atol=1e-6 * scale
    )  # any batch
    assert_array_equal(pickle.loads(pickle.dumps(model)).inverse_transform(Y), Z)
    single = model.inverse_transform(Y.astype(np.float32))
    assert single.dtype == np.float32


def test_some_cases_have_each_kind_of_inverse() -> None:
    """So that the test above cannot pass by refusing."""
    have = {type(case.make()) for case in KNOWN if case.data in ("curve", "twins", "wide")}
    assert have == set(INVERTIBLE)
    assert sum(hasattr(case.make(), "inverse_transform") for case in KNOWN) > 0.5 * len(KNOWN)


MAKERS = {
    "fixed point": lambda **params: KernelPCA(4, **params),
    "dictionary": lambda **params: KernelPCA(4, **params, approximation=Dictionary(40)),
    "ridge": lambda **params: KernelPCA(4, inverse="ridge", **params),
    "linear": lambda **params: KernelPCA(2, kernel="linear", **params),
    "local": lambda **params: Isomap(**params),
}


@pytest.mark.parametrize("name", MAKERS)
def test_the_number_of_cores_does_not_show(name: str) -> None:
    X = make_swiss_roll(400, random_state=0)[0]
    Y = np.repeat(MAKERS[name]().fit(X).embedding_, 6, axis=0)  # several blocks
    one, two = (MAKERS[name](n_jobs=n_jobs).fit(X) for n_jobs in (1, 2))
    assert_array_equal(one.inverse_transform(Y), two.inverse_transform(Y))
    assert one.inverse_error_ == two.inverse_error_


@pytest.mark.parametrize("name", MAKERS)
def test_a_new_fit_forgets_the_inverse(name: str) -> None:
    X = make_swiss_roll(300, random_state=0)[0]
    model = MAKERS[name]().fit(X)
    assert "_inverse_" not in vars(model)  # nothing is made before it is asked for
    first = model.inverse_transform(model.embedding_)
    assert "_inverse_" in vars(model)
    assert "_inverse_" not in vars(clone(model))
    model.fit(X * [1, 1, 2])
    assert "_inverse_" not in vars(model)
    assert_array_equal(
        model.inverse_transform(model.embedding_),
        MAKERS[name]().fit(X * [1, 1, 2]).inverse_transform(model.embedding_),
    )
    assert not np.allclose(first, model.inverse_transform(model.embedding_))


def test_parameters_may_change_after_fit() -> None:
    X = ring(60, 0.05)[1]
    model = KernelPCA(3).fit(X)
    points = model.inverse_transform(model.embedding_)
    ridge = model.set_params(inverse="ridge").inverse_transform(model.embedding_)
    assert_array_equal(ridge, KernelPCA(3, inverse="ridge").fit(X).inverse_transform(model.embedding_))
    assert_array_equal(model.set_params(inverse="auto").inverse_transform(model.embedding_), points)


@pytest.mark.parametrize(
    "params", [{}, {"inverse": "ridge"}, {"kernel": "linear"}, {"normalization": "divisive"}]
)
def test_a_stream_has_an_inverse_made_of_its_dictionary(params: dict) -> None:
    X = make_swiss_roll(600, random_state=0)[0]
    model = GreedySpectralEmbedding(2, **params, dictionary=Dictionary(tol=1e-4))
    model.partial_fit(X[:300])
    first = model.inverse_transform(model.transform(X[:5]))
    model.partial_fit(X[300:])
    assert "_inverse_" not in vars(model)
    second = model.inverse_transform(model.transform(X[:5]))
    assert first.shape == second.shape == (5, 3)
    assert not np.array_equal(first, second)
    assert 0 < model.inverse_error_ < 1


def test_frames_and_pipelines() -> None:
    X = make_s_curve(400, random_state=0)[0]
    model = Isomap().set_output(transform="pandas").fit(X)
    assert isinstance(model.inverse_transform(model.transform(X[:4])), np.ndarray)
    pipe = make_pipeline(StandardScaler(), Isomap()).fit(X)
    assert np.abs(pipe.inverse_transform(pipe.transform(X)) - X).mean() < 0.1 * X.std()


@pytest.mark.long
def test_the_error_of_many_points_is_measured_on_a_sample() -> None:
    X = make_swiss_roll(2500, random_state=0)[0]
    model = ClassicalMDS(2, metric="cityblock").fit(X)
    inverse = model._fitted_inverse()
    which = np.linspace(0, 2499, 1000).astype(int)
    expected = np.linalg.norm(inverse.reconstruct(which) - X[which]) / np.linalg.norm(
        X[which] - X.mean(axis=0)
    )
    assert_allclose(model.inverse_error_, expected, rtol=1e-12)


def test_places_shared_by_many_points() -> None:
    """More equal coordinates than a place has neighbours: the mean of their rows, not a division by zero."""
    X = np.random.default_rng(0).standard_normal((40, 3))
    T = np.zeros((40, 2))
    T[30:] = np.random.default_rng(1).standard_normal((10, 2)) + 5
    inverse = local.LocalAffine(X, T)
    assert np.isfinite(inverse(np.array([[0.0, 0.0], [2.5, 2.5], [1e9, -1e9]]))).all()
    assert np.isfinite(inverse.reconstruct(np.arange(40))).all()


# --- refusals and warnings ----------------------------------------------------------------------------------


def test_no_rows_no_inverse() -> None:
    X = load("curve")[0]
    D = np.sqrt(squared(X, X))
    for model in (
        KernelPCA(kernel="precomputed"),
        GreedySpectralEmbedding(kernel="precomputed"),
        ClassicalMDS(metric="precomputed"),
        LandmarkMDS(metric="precomputed"),
        Isomap(metric="precomputed"),
        LaplacianEigenmaps(affinity="precomputed_nearest_neighbors"),
    ):
        table = np.exp(-(D**2)) if hasattr(model, "kernel") else D
        with pytest.raises(AttributeError) as caught:
            model.fit(table).inverse_transform(np.zeros((1, 2)))
        assert "precomputed" in str(caught.value)
        assert "not to rows" in str(caught.value)


def test_objects_cannot_be_made() -> None:
    model = ClassicalMDS(metric=lambda a, b: abs(len(a) - len(b)) + (a[0] != b[0])).fit(
        ["ab", "abc", "bcde", "b", "abcdef"]
    )
    assert not hasattr(model, "inverse_transform")
    with pytest.raises(AttributeError, match="objects"):
        _ = model.inverse_error_


def test_several_maps_have_no_common_inverse() -> None:
    with pytest.warns(DisconnectedGraphWarning):
        model = Isomap(on_disconnected="per_component").fit(load("split")[0])
    assert not hasattr(model, "inverse_transform")
    with pytest.raises(AttributeError, match=r"3 components .* on_disconnected='connect'"):
        _ = model.inverse_error_


@pytest.mark.parametrize("cls", INVERTIBLE)
def test_bad_coordinates(cls: type) -> None:
    X = load("curve")[0]
    with pytest.raises(NotFittedError):
        cls(n_components=2).inverse_transform(X)
    with pytest.raises(NotFittedError):
        _ = cls(n_components=2).inverse_error_
    model = cls(n_components=2).fit(X)
    with pytest.raises(ValueError, match=r"X has 3 coordinates, but .* has 2 components"):
        model.inverse_transform(X)
    with pytest.raises(ValueError, match="NaN"):
        model.inverse_transform([[np.nan, 0.0]])


@pytest.mark.parametrize("cls", [KernelPCA, GreedySpectralEmbedding])
def test_bad_parameters_are_refused_by_fit(cls: type) -> None:
    X = load("curve")[0]
    with pytest.raises(
        ValueError, match=r"inverse='mika' is not known; choose one of 'auto', 'fixed-point', 'ridge'"
    ):
        cls(inverse="mika").fit(X)
    for name in ("alpha", "gamma"):
        with pytest.raises(ValueError, match=f"{name}=-1 must be a positive number or None"):
            Inverse(**{name: -1})
    with pytest.raises(ValueError, match="inverse='fixed-point' needs kernel='rbf'"):
        cls(inverse="fixed-point", kernel="poly").fit(X)
    model = cls(kernel="linear").fit(X).set_params(inverse="fixed-point")
    with pytest.raises(ValueError, match="inverse='fixed-point' needs kernel='rbf'"):
        model.inverse_transform(model.embedding_)


def test_a_divided_kernel_has_no_fixed_points() -> None:
    with pytest.raises(ValueError, match="not divided"):
        GreedySpectralEmbedding(inverse="fixed-point", normalization="divisive").fit(load("curve")[0])


def test_points_without_a_pre_image_are_counted() -> None:
    """All weights negative: nothing is similar, the denominator has the wrong sign everywhere, and the
    nearest row is returned."""
    X = np.array([[0.0], [1.0], [2.0]])
    expansion = Expansion(X, np.array([[1.0, 1.0, 1.0]]), np.zeros(3))
    inverse = FixedPoint(X, X, expansion, X, gamma=1.0)
    with pytest.warns(PreimageWarning, match="1 of 2 .* no pre-image"):
        Z = inverse(np.array([[-1.0], [2.0]]))
    assert_array_equal(Z[0], X[0])
    assert_allclose(Z[1], 1.0, atol=1e-5)  # equal weights: the middle


def test_early_stops_are_counted() -> None:
    X = ring(60, 0.1)[1]
    model = KernelPCA(4, gamma=3.0).fit(X)
    ready = model._fitted_inverse()
    hasty = FixedPoint(X, ready.coordinates, ready.expansion, ready.starts, 3.0, max_iter=1)
    with pytest.warns(PreimageWarning, match=r"\d+ of 60 .* still moved after 1 steps, by up to .* widths"):
        Z = hasty(model.embedding_)
    assert np.isfinite(Z).all()
