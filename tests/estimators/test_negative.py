"""Distances that are not Euclidean: order, repair, and what is reported; against dense decompositions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from eigenscape import (
    ClassicalMDS,
    FastMap,
    Isomap,
    KernelPCA,
    LandmarkMDS,
    LocalityPreservingProjection,
    MetricMap,
)
from eigenscape.exceptions import DegenerateSpectrumWarning
from eigenscape.options import Solver


def odd_distances(n=18, seed=0):
    """Symmetric, positive, and far from Euclidean."""
    D = np.random.default_rng(seed).uniform(1, 4, size=(n, n))
    return np.triu(D, 1) + np.triu(D, 1).T


def odd_pair(n=18, new=5, seed=0):
    """Distances of a training set, and of new points to it."""
    D = odd_distances(n + new, seed)
    return D[:n, :n], D[n:, :n]


def double_centre(D2, weights=None):
    m = len(D2)
    c = np.full(m, 1 / m) if weights is None else weights
    P = np.eye(m) - np.outer(np.ones(m), c)
    return -0.5 * P @ D2 @ P.T


def centre_new(D2_new, D2):
    """Bengio eq. 8 for new points: the averages run over the training set."""
    return -0.5 * (D2_new - D2_new.mean(axis=1, keepdims=True) - D2.mean(axis=0) + D2.mean())


def spectrum(B, order):
    values, vectors = np.linalg.eigh(B)
    pick = np.argsort(-values if order == "value" else -np.abs(values))
    return values[pick], vectors[:, pick]


def same_up_to_signs(found, truth, tol=1e-9):
    signs = np.sign(np.sum(found * truth, axis=0))
    np.testing.assert_allclose(found, truth * signs, atol=tol * np.abs(truth).max())
    return signs


@pytest.fixture
def circle():
    """Points on a ring: their geodesic distances are not Euclidean."""
    angle = np.linspace(0, 2 * np.pi, 40, endpoint=False) + np.random.default_rng(0).uniform(0, 0.05, 40)
    return np.column_stack([np.cos(angle), np.sin(angle)])


@pytest.mark.parametrize("order", ["value", "magnitude"])
@pytest.mark.parametrize("n", [18, 540])
def test_order_against_a_dense_decomposition(order, n):
    D = odd_distances(n)
    count = 5
    values, vectors = spectrum(double_centre(D**2), order)
    model = ClassicalMDS(count, metric="precomputed", order=order).fit(D)
    np.testing.assert_allclose(model.eigenvalues_, values[:count], rtol=1e-9)
    same_up_to_signs(model.embedding_, vectors[:, :count] * np.sqrt(np.abs(values[:count])), 1e-6)
    if n == 18:  # the case tells the two apart
        assert (values[:count].min() < 0) == (order == "magnitude")


@pytest.mark.parametrize("order", ["value", "magnitude"])
@pytest.mark.parametrize("indefinite", ["keep", "clip", "shift"])
@pytest.mark.parametrize("estimator", ["mds", "isomap"])
def test_there_is_no_nan(estimator, indefinite, order, circle):
    if estimator == "mds":
        model, (X, new) = (
            ClassicalMDS(4, metric="precomputed", order=order, indefinite=indefinite),
            odd_pair(),
        )
    else:
        model, X, new = (
            Isomap(4, n_neighbors=3, order=order, indefinite=indefinite),
            circle,
            circle[:7] * 1.01,
        )
    model.fit(X)
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.transform(new)).all()
    among = cdist(new, new) if estimator == "mds" else None  # any distances will do
    assert np.isfinite(model.loss(new, among))
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)
    if indefinite != "keep":
        assert model.eigenvalues_.min() > 0


def test_negative_fraction_by_hand():
    D = odd_distances()
    values = np.linalg.eigvalsh(double_centre(D**2))
    truth = np.abs(values[values < 0]).sum() / np.abs(values).sum()
    assert truth > 0.1
    for indefinite in ("keep", "clip", "shift"):
        model = ClassicalMDS(2, metric="precomputed", indefinite=indefinite).fit(D)
        assert model.negative_fraction_ == pytest.approx(truth)  # before repair
        assert model.is_euclidean_ is False


def test_euclidean_distances_are_recognised():
    X = np.random.default_rng(0).normal(size=(30, 4))
    for model in (ClassicalMDS(2).fit(X), ClassicalMDS(2, metric="precomputed").fit(cdist(X, X))):
        assert model.is_euclidean_ is True
        assert model.negative_fraction_ == pytest.approx(0, abs=1e-12)
    assert ClassicalMDS(2, metric="chebyshev").fit(X).is_euclidean_ is False


def test_city_block_distances_are_euclidean_only_as_roots():
    X = np.random.default_rng(0).uniform(size=(20, 3))
    D = cdist(X, X, "cityblock")
    assert ClassicalMDS(2, metric="precomputed").fit(D).is_euclidean_ is False
    assert ClassicalMDS(2, metric="precomputed").fit(np.sqrt(D)).is_euclidean_ is True


def test_geodesics_of_a_ring_are_not_euclidean(circle):
    model = Isomap(2, n_neighbors=2).fit(circle)
    D2 = -2 * model.kernel_.base(circle)
    values = np.linalg.eigvalsh(double_centre(D2))
    assert model.is_euclidean_ is False
    assert model.negative_fraction_ == pytest.approx(np.abs(values[values < 0]).sum() / np.abs(values).sum())


def test_spectrum_of_graphs_in_pieces_is_that_of_the_largest_or_refused(circle):
    X = np.concatenate([circle, circle[:20] + 100])
    with pytest.warns(UserWarning, match="components"):
        model = Isomap(2, n_neighbors=2, on_disconnected="largest").fit(X)
    whole = Isomap(2, n_neighbors=2).fit(circle)
    assert model.negative_fraction_ == pytest.approx(whole.negative_fraction_)


@pytest.mark.parametrize("storage", ["auto", "blocked"])
def test_clip_is_the_nearest_positive_kernel(storage):
    D, new = odd_pair()
    B = double_centre(D**2)
    values, vectors = spectrum(B, "value")
    positive = vectors @ np.diag(np.maximum(values, 0)) @ vectors.T
    model = ClassicalMDS(
        4, metric="precomputed", indefinite="clip", eigen_solver=Solver(storage=storage)
    ).fit(D)
    np.testing.assert_allclose(model.kernel_(D), positive, atol=1e-10)
    np.testing.assert_allclose(model.eigenvalues_, values[:4], rtol=1e-10)
    signs = same_up_to_signs(model.embedding_, vectors[:, :4] * np.sqrt(values[:4]))
    row = centre_new(new**2, D**2)
    np.testing.assert_allclose(
        model.transform(new), signs * (row @ vectors[:, :4]) / np.sqrt(values[:4]), atol=1e-9
    )


@pytest.mark.parametrize("storage", ["auto", "blocked"])
def test_shift_adds_a_constant_to_squared_distances(storage):
    D, new = odd_pair()
    lowest = np.linalg.eigvalsh(double_centre(D**2))[0]
    shifted = D**2 + 2 * -lowest * (1 - np.eye(len(D)))  # all but the diagonal
    B = double_centre(shifted)
    assert abs(np.linalg.eigvalsh(B)[0]) < 1e-10
    values, vectors = spectrum(B, "value")
    model = ClassicalMDS(
        4, metric="precomputed", indefinite="shift", eigen_solver=Solver(storage=storage)
    ).fit(D)
    np.testing.assert_allclose(model.kernel_(D), B, atol=1e-8)
    np.testing.assert_allclose(model.eigenvalues_, values[:4], rtol=1e-8)
    signs = same_up_to_signs(model.embedding_, vectors[:, :4] * np.sqrt(values[:4]), 1e-7)
    row = centre_new(
        new**2 + 2 * -lowest, shifted
    )  # a new point is no training point: all its distances grow
    np.testing.assert_allclose(
        model.transform(new), signs * (row @ vectors[:, :4]) / np.sqrt(values[:4]), atol=1e-7
    )


def test_shifted_kernel_has_smallest_eigenvalue_zero():
    D = odd_distances()
    K = ClassicalMDS(2, metric="precomputed", indefinite="shift").fit(D).kernel_(D)
    lowest = np.linalg.eigvalsh(double_centre(D**2))[0]
    assert np.linalg.eigvalsh(K)[0] == pytest.approx(0, abs=1e-10)
    squares = np.diag(K)[:, None] + np.diag(K) - 2 * K
    off = ~np.eye(len(D), dtype=bool)
    np.testing.assert_allclose((squares - D**2)[off], 2 * -lowest, rtol=1e-10)
    np.testing.assert_allclose(np.diag(squares), 0, atol=1e-10)


def test_all_shifted_components_reproduce_the_shifted_distances():
    D = odd_distances(12)
    lowest = np.linalg.eigvalsh(double_centre(D**2))[0]
    model = ClassicalMDS(10, metric="precomputed", indefinite="shift").fit(D)
    off = ~np.eye(12, dtype=bool)
    np.testing.assert_allclose(
        cdist(model.embedding_, model.embedding_)[off] ** 2, (D**2 - 2 * lowest)[off], rtol=1e-9
    )


@pytest.mark.parametrize("indefinite", ["clip", "shift"])
def test_repair_of_geodesics(indefinite, circle):
    model = Isomap(3, n_neighbors=3, indefinite=indefinite).fit(circle)
    D2 = -2 * model.kernel_.base(circle) if indefinite == "clip" else -2 * model.kernel_.base.base(circle)
    D2 = (
        D2
        if indefinite == "shift"
        else np.where(np.eye(40, dtype=bool), 0, -2 * model.kernel_.base.base(circle))
    )
    B = double_centre(D2)
    values = spectrum(B, "value")[0]
    truth = values[:3] if indefinite == "clip" else values[:3] - values[-1]
    np.testing.assert_allclose(model.eigenvalues_, truth, rtol=1e-9)
    assert np.linalg.eigvalsh(model.kernel_(circle))[0] > -1e-10


@pytest.mark.parametrize("indefinite", ["clip", "shift"])
def test_repair_leaves_euclidean_distances_alone(indefinite):
    X = np.random.default_rng(0).normal(size=(30, 3)) * [3, 2, 1]
    repaired, plain = (ClassicalMDS(3, indefinite=choice).fit(X) for choice in (indefinite, "keep"))
    np.testing.assert_allclose(repaired.embedding_, plain.embedding_, atol=1e-9)
    np.testing.assert_allclose(repaired.transform(X + 0.3), plain.transform(X + 0.3), atol=1e-9)


@pytest.mark.parametrize("indefinite", ["keep", "clip", "shift"])
def test_repair_with_other_centring(indefinite):
    D = odd_distances()
    weights = np.zeros(18)
    weights[[2, 7]] = 0.5
    model = ClassicalMDS(3, metric="precomputed", centering=weights, indefinite=indefinite).fit(D)
    K = model.kernel_(D)
    np.testing.assert_allclose(K, K.T, atol=1e-10)
    np.testing.assert_allclose(model.transform(D), model.embedding_, atol=1e-9)
    if indefinite != "keep":
        assert np.linalg.eigvalsh(K)[0] > -1e-9 * model.eigenvalues_[0]
    if indefinite != "clip":
        np.testing.assert_allclose(
            weights @ model.embedding_, 0, atol=1e-9
        )  # their weighted mean is the origin


@pytest.mark.parametrize("indefinite", ["clip", "shift"])
def test_repair_with_duplicates(indefinite):
    D = odd_distances(14)
    pick = np.r_[0, 0, 0:14]
    table = D[np.ix_(pick, pick)]
    model = ClassicalMDS(3, metric="precomputed", indefinite=indefinite).fit(table)
    np.testing.assert_allclose(model.embedding_[1], model.embedding_[0], atol=1e-9)
    np.testing.assert_allclose(model.embedding_[2], model.embedding_[0], atol=1e-9)
    np.testing.assert_allclose(model.transform(table), model.embedding_, atol=1e-9)
    assert np.linalg.eigvalsh(model.kernel_(table))[0] > -1e-9 * model.eigenvalues_[0]


@pytest.mark.parametrize("indefinite", ["clip", "shift"])
def test_repair_of_distances_between_objects(indefinite):
    words = ["spectral", "spectra", "kernel", "kernels", "vessel", "map", "maps"]

    def different_letters(a, b):
        return float(len(set(a) ^ set(b)))

    D = np.array([[different_letters(a, b) for a in words] for b in words])
    by_objects = ClassicalMDS(2, metric=different_letters, indefinite=indefinite).fit(words)
    by_table = ClassicalMDS(2, metric="precomputed", indefinite=indefinite).fit(D)
    np.testing.assert_allclose(by_objects.embedding_, by_table.embedding_, atol=1e-9)
    np.testing.assert_allclose(by_objects.transform(words), by_objects.embedding_, atol=1e-9)


def test_indefinite_kernels_of_kernel_pca():
    D = odd_distances()
    K = -(D**2) / 2
    for order in ("value", "magnitude"):
        model = KernelPCA(5, kernel="precomputed", order=order).fit(K)
        truth = ClassicalMDS(5, metric="precomputed", order=order).fit(D)
        np.testing.assert_allclose(model.eigenvalues_, truth.eigenvalues_, rtol=1e-9)
        same_up_to_signs(model.embedding_, truth.embedding_)


def test_too_many_components_of_odd_distances():
    D = odd_distances()
    positive = int(np.sum(np.linalg.eigvalsh(double_centre(D**2)) > 1e-9))
    with pytest.warns(
        DegenerateSpectrumWarning,
        match=rf"n_components={positive + 1}.*{positive} positive.*lower n_components.*order='magnitude'",
    ):
        model = ClassicalMDS(positive + 1, metric="precomputed").fit(D)
    assert not model.embedding_[:, -1].any()
    ClassicalMDS(positive, metric="precomputed").fit(D)
    assert ClassicalMDS(17, metric="precomputed", order="magnitude").fit(D).embedding_.shape == (18, 17)
    assert ClassicalMDS(16, metric="precomputed", indefinite="shift").fit(D).embedding_.shape == (18, 16)


@pytest.mark.parametrize("offset", [0.0, 100.0])
@pytest.mark.parametrize(
    "estimator", [ClassicalMDS(3), KernelPCA(3, kernel="linear"), ClassicalMDS(3, indefinite="clip")]
)
def test_too_many_components_for_the_rank(estimator, offset):
    flat = (
        np.random.default_rng(0).normal(size=(30, 2)) @ np.random.default_rng(1).normal(size=(2, 5)) + offset
    )
    with pytest.warns(DegenerateSpectrumWarning, match=r"n_components=3.*2 positive.*lower n_com") as caught:
        estimator.fit(flat)
    assert "magnitude" not in str(caught[0].message)  # rounding is no negative spectrum
    assert not estimator.embedding_[:, 2].any()
    np.testing.assert_allclose(estimator.transform(flat), estimator.embedding_, atol=1e-9)
    np.testing.assert_array_equal(estimator.transform(flat + 1)[:, 2], 0.0)


def test_shift_needs_one_component_less():
    """The shifted kernel has a zero eigenvalue besides that of the centring."""
    D = odd_distances(10)
    with pytest.warns(DegenerateSpectrumWarning, match=r"n_components=9.*8 positive"):
        ClassicalMDS(9, metric="precomputed", indefinite="shift").fit(D)


def test_collinear_points_have_one_component():
    X = np.outer(np.arange(12.0), [1.0, 2.0])
    along = np.sqrt(5) * (np.arange(12.0) - 5.5)
    for cls in (ClassicalMDS, Isomap, LandmarkMDS, MetricMap, FastMap, LocalityPreservingProjection):
        with pytest.warns(DegenerateSpectrumWarning, match="lower n_components"):
            model = cls().fit(X)
        assert model.embedding_.shape == (12, 2)
        assert not model.embedding_[:, 1].any()
        np.testing.assert_array_equal(model.transform(X + 0.5)[:, 1], 0.0)
        if cls is not LocalityPreservingProjection:
            line = model.embedding_[:, 0] - model.embedding_[:, 0].mean()
            np.testing.assert_allclose(np.abs(line), np.abs(along), atol=1e-9)
            np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)
