"""Diffusion maps against a literal transcription, known spectra and Laplacian eigenmaps; eigenvectors passed
over."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenscape import DiffusionMap, LaplacianEigenmaps, kernels
from eigenscape.exceptions import DependentCoordinatesWarning, IsolatedPointWarning
from eigenscape.kernels import VariableGaussian
from eigenscape.methods.independence import regression_residual
from eigenscape.options import Dictionary, Independence, KNNGraph


def uneven_circle(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Angles nine times as dense on one side as on the other, and points at them."""
    u = 2 * np.pi * (np.arange(n) + 0.5) / n
    angle = u + 0.8 * np.sin(u)
    return angle, np.column_stack([np.cos(angle), np.sin(angle)])


def literal(
    X: np.ndarray, gamma: float, alpha: float, time: float, count: int
) -> tuple[np.ndarray, np.ndarray]:
    """Coifman and Lafon, sec. 3, word for word: eigenvectors of a matrix of transitions."""
    K = np.exp(-gamma * np.square(X[:, None] - X).sum(axis=2))
    q = K.sum(axis=1)
    K = K / np.outer(q**alpha, q**alpha)
    d = K.sum(axis=1)
    values, vectors = np.linalg.eig(K / d[:, None])
    order = np.argsort(-values.real)[1 : count + 1]
    values, psi = values.real[order], vectors.real[:, order]
    psi /= np.sqrt((d / d.sum()) @ psi**2)
    return values, values**time * psi


@pytest.mark.parametrize("alpha", [0, 0.5, 1, 1.7])
@pytest.mark.parametrize("time", [0, 0.5, 1, 4])
def test_literal_transcription(alpha, time):
    X = np.random.default_rng(0).standard_normal((60, 3))
    model = DiffusionMap(3, affinity="rbf", gamma=0.3, alpha=alpha, diffusion_time=time).fit(X)
    values, expected = literal(X, 0.3, alpha, time, 3)
    assert_allclose(model.eigenvalues_, values, rtol=1e-10)
    signs = np.sign((model.embedding_ * expected).sum(axis=0))
    assert_allclose(model.embedding_, signs * expected, atol=1e-9)


def test_without_density_and_time_it_is_laplacian_eigenmaps():
    X = np.random.default_rng(1).standard_normal((80, 3))
    new = np.random.default_rng(2).standard_normal((9, 3))
    for affinity in ("rbf", KNNGraph(weights="binary")):
        diffusion = DiffusionMap(3, affinity=affinity, alpha=0, diffusion_time=0).fit(X)
        laplacian = LaplacianEigenmaps(3, affinity=affinity).fit(X)
        ratio = diffusion.embedding_[0, 0] / laplacian.embedding_[0, 0]
        assert_allclose(diffusion.embedding_, ratio * laplacian.embedding_, atol=1e-10)
        assert_allclose(diffusion.transform(new), ratio * laplacian.transform(new), atol=1e-10)


def test_all_coordinates_give_the_diffusion_distance():
    """``|Psi_t(x) - Psi_t(y)|^2 = sum_z (p_t(x, z) - p_t(y, z))^2 / pi(z)``."""
    X = np.random.default_rng(3).standard_normal((12, 2))
    K = np.exp(-2.0 * np.square(X[:, None] - X).sum(axis=2))
    q = K.sum(axis=1)
    K /= np.outer(q, q)
    d = K.sum(axis=1)
    walk = np.linalg.matrix_power(K / d[:, None], 2)
    expected = np.einsum("xyz,z->xy", np.square(walk[:, None] - walk), d.sum() / d)
    Z = DiffusionMap(11, affinity="rbf", gamma=2.0, diffusion_time=2).fit_transform(X)
    assert_allclose(np.square(Z[:, None] - Z).sum(axis=2), expected, atol=1e-9)


@pytest.mark.long
def test_the_circle_is_seen_whatever_its_density():
    """With alpha = 1 the eigenvalues are those of the heat kernel, exp(-j^2 / (4 gamma)), each twice; with 0
    they are not."""
    _, X = uneven_circle(1500)
    gamma = 100.0
    expected = np.exp(-np.array([1, 1, 4, 4]) / (4 * gamma))
    model = DiffusionMap(4, affinity="rbf", gamma=gamma).fit(X)
    assert_allclose(1 - model.eigenvalues_, 1 - expected, rtol=0.05)
    biased = DiffusionMap(4, affinity="rbf", gamma=gamma, alpha=0).fit(X)
    assert np.abs((1 - biased.eigenvalues_) / (1 - expected) - 1).max() > 0.2


def test_the_interval_is_seen_whatever_its_density():
    """Neumann eigenfunctions cos(j pi x), whatever the density."""
    u = np.linspace(0, 1, 1200)
    x = (u + u**2) / 2  # three times as dense at 0 as at 1
    model = DiffusionMap(3, affinity="rbf", gamma=3000.0, diffusion_time=0).fit(x[:, None])
    waves = np.sqrt(2) * np.cos(np.pi * np.outer(x, [1, 2, 3]))
    correlation = np.abs(np.diag(np.corrcoef(model.embedding_.T, waves.T)[:3, 3:]))
    assert correlation.min() > 0.995
    new = np.array([0.123, 0.5, 0.77])
    signs = np.sign((model.embedding_ * waves).sum(axis=0))
    assert_allclose(
        model.transform(new[:, None]) * signs, np.sqrt(2) * np.cos(np.pi * np.outer(new, [1, 2, 3])), atol=0.1
    )


def test_variable_bandwidth_by_hand():
    X = np.random.default_rng(4).standard_normal((30, 2)) ** 3
    Y = np.vstack([X[4], [[0.3, -0.2]]])
    D = np.linalg.norm(X[:, None] - X, axis=2)
    rho = np.sort(D, axis=1)[:, 5]  # the first is the point itself
    new = np.linalg.norm(Y[1] - X, axis=1)
    expected = np.exp(-0.7 * np.vstack([D[4] ** 2 / (rho[4] * rho), new**2 / (np.sort(new)[4] * rho)]))
    assert_allclose(kernels.VariableGaussian(5, 0.7).bind(X)(Y), expected, rtol=1e-8, atol=1e-14)


def test_variable_bandwidth_sees_sparse_parts():
    """Points that thin out exponentially: one width for all leaves the outer ones without neighbours."""
    x = np.exp(np.linspace(0, 8, 200))[:, None]
    local = DiffusionMap(1, affinity=VariableGaussian(n_neighbors=5)).fit(x)
    order = np.argsort(x[:, 0])
    assert (np.diff(local.embedding_[order, 0]) > 0).all() or (np.diff(local.embedding_[order, 0]) < 0).all()


def test_the_default_is_a_local_gaussian_on_the_graph_by_hand():
    """exp(-d^2 / (rho(x) rho(y))) on the edges of either direction, 0 elsewhere, for new points too."""
    X = np.random.default_rng(4).standard_normal((60, 3)) ** 3
    Y = np.vstack([X[4], [[0.3, -0.2, 0.1]]])
    model = DiffusionMap(2, n_neighbors=5, alpha=0).fit(X)
    D = np.linalg.norm(np.vstack([X, Y[1]])[:, None] - X, axis=2)
    rho = np.sort(D, axis=1)[:, 5]
    rho[-1] = np.sort(D[-1])[4]  # a new point is not among the training points
    edge = np.maximum(rho[:, None], rho[:60]) >= D
    edge[np.arange(60), np.arange(60)] = False
    K = np.where(edge, np.exp(-(D**2) / np.outer(rho, rho[:60])), 0.0)
    sums = K.sum(axis=1)
    expected = K / np.sqrt(np.outer(sums, sums[:60]))
    assert_allclose(model.kernel_(Y).toarray(), expected[[4, 60]], rtol=1e-12)
    values = np.linalg.eigvalsh(expected[:60])[::-1][1:3]
    assert_allclose(model.eigenvalues_, values, rtol=1e-10)


def test_the_default_forms_no_dense_matrix():
    X = np.random.default_rng(5).standard_normal((3000, 20))
    tracemalloc.start()
    try:
        DiffusionMap(2).fit(X)
        assert tracemalloc.get_traced_memory()[1] < 8 * len(X) ** 2 / 4
    finally:
        tracemalloc.stop()


def test_local_weights_see_sparse_parts():
    """Points that thin out exponentially, as for a full kernel with a width for each point."""
    x = np.exp(np.linspace(0, 8, 200))[:, None]
    coordinate = DiffusionMap(1, n_neighbors=5).fit(x).embedding_[:, 0]
    assert (np.diff(coordinate) > 0).all() or (np.diff(coordinate) < 0).all()


def test_a_far_point_is_announced():
    X = np.random.default_rng(5).standard_normal((50, 2))
    model = DiffusionMap(affinity="rbf", gamma=1.0).fit(X)
    with pytest.warns(IsolatedPointWarning, match="no affinity"):
        assert_allclose(model.transform([[1e3, 0.0]]), 0)


def test_a_power_of_a_negative_eigenvalue_is_refused():
    X = np.random.default_rng(6).standard_normal((12, 2))
    with pytest.raises(ValueError, match=r"diffusion_time=0\.5 is not an integer.*negative"):
        DiffusionMap(11, affinity="nearest_neighbors", n_neighbors=5, diffusion_time=0.5).fit(X)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alpha": -1}, "alpha=-1 must be a number of at least 0"),
        ({"alpha": True}, "alpha=True"),
        ({"diffusion_time": np.inf}, "diffusion_time=inf"),
        ({"independent": 1}, "independent=1 must be an Independence, True or False"),
        ({"independent": Independence(n_candidates=1)}, "n_candidates=1 is less than n_components=2"),
    ],
)
def test_bad_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        DiffusionMap(**params).fit(np.random.default_rng(0).random((20, 2)))


def test_gamma_without_a_kernel_is_named():
    with pytest.warns(UserWarning, match="gamma=2.0 is not used with affinity='nearest_neighbors'"):
        DiffusionMap(gamma=2.0).fit(np.random.default_rng(0).random((20, 2)))


# Independent eigenvectors


def literal_residual(known: np.ndarray, target: np.ndarray, width: float) -> float:
    """Dsilva et al. eq. 12 and 13, a point at a time."""
    errors = []
    for i in range(len(target)):
        weights = np.exp(-np.square(known - known[i]).sum(axis=1) / width**2)
        weights[i] = 0
        A = np.column_stack([np.ones(len(known)), known]) * np.sqrt(weights)[:, None]
        line = np.linalg.lstsq(A, target * np.sqrt(weights), rcond=None)[0]
        errors.append(target[i] - line[0] - known[i] @ line[1:])
    return np.sqrt(np.square(errors).sum() / np.square(target).sum())


@pytest.mark.parametrize("d", [1, 2])
def test_residuals_against_a_literal_transcription(d):
    rng = np.random.default_rng(0)
    known = rng.standard_normal((150, d))
    target = np.cos(2 * known[:, 0]) + 0.3 * rng.standard_normal(150)
    distances = np.linalg.norm(known[:, None] - known, axis=2)[np.triu_indices(150, 1)]
    best = min(
        literal_residual(known, target, np.median(distances) * share)
        for share in (1 / 3, 1 / 6, 1 / 12, 1 / 24)
    )
    assert regression_residual(known, target) == pytest.approx(best, rel=1e-6)


@pytest.mark.long
def test_functions_of_known_columns_have_no_residual_and_noise_has_all():
    rng = np.random.default_rng(1)
    x = rng.random((800, 2))
    assert regression_residual(x[:, :1], np.cos(np.pi * 6 * x[:, 0])) < 0.05
    assert regression_residual(x, np.sin(3 * x[:, 0]) * x[:, 1]) < 0.05
    assert regression_residual(x[:, :1], x[:, 1] - 0.5) > 0.9


def roll(n: int, length: float) -> np.ndarray:
    """A swiss roll of the given length and of width 1, evenly sampled."""
    rng = np.random.default_rng(0)
    t = np.linspace(1.5 * np.pi, 4.5 * np.pi, 10_000)
    arc = np.concatenate([[0], np.cumsum(np.hypot(np.diff(t * np.cos(t)), np.diff(t * np.sin(t))))])
    place = np.interp(rng.random(n) * arc[-1], arc, t)
    return np.column_stack([place * np.cos(place), rng.random(n) * arc[-1] / length, place * np.sin(place)])


@pytest.mark.long
@pytest.mark.parametrize(
    ("cls", "params"), [(LaplacianEigenmaps, {}), (DiffusionMap, {}), (DiffusionMap, {"diffusion_time": 5})]
)
def test_the_second_coordinate_of_a_long_roll_is_its_width(cls, params):
    X = roll(1500, length=3.5)

    def across(model):
        return abs(np.corrcoef(model.embedding_[:, 1], X[:, 1])[0, 1])

    plain = cls(affinity="nearest_neighbors", **params).fit(X)
    model = cls(affinity="nearest_neighbors", independent=True, **params).fit(X)
    assert across(plain) < 0.3  # a harmonic
    assert across(model) > 0.9
    assert model.kept_[0] == 0
    assert model.kept_[1] > 1
    assert (model.independence_[1 : model.kept_[1]] < 0.4).all()
    assert model.independence_[-1] >= 0.4
    many = cls(int(model.kept_[1]) + 1, affinity="nearest_neighbors", **params).fit(X)
    assert_allclose(model.eigenvalues_, many.eigenvalues_[model.kept_], rtol=1e-9)
    assert_allclose(model.embedding_, many.embedding_[:, model.kept_], atol=1e-6)
    assert_allclose(model.transform(X + 0.01), many.transform(X + 0.01)[:, model.kept_], atol=1e-6)


@pytest.mark.parametrize("cls", [LaplacianEigenmaps, DiffusionMap])
def test_a_curve_has_one_independent_coordinate(cls):
    x = np.linspace(0, 1, 300)[:, None]
    with pytest.warns(DependentCoordinatesWarning, match="only 1 of 6 eigenvectors"):
        model = cls(
            affinity="nearest_neighbors", n_neighbors=6, independent=Independence(n_candidates=6)
        ).fit(x)
    assert model.embedding_.shape == (300, 1)
    assert list(model.kept_) == [0]
    assert len(model.independence_) == 6
    assert list(model.get_feature_names_out()) == [f"{cls.__name__.lower()}0"]
    assert model.transform(x[:3] + 0.001).shape == (3, 1)


def test_a_dictionary_has_no_eigenvectors_to_pass_over():
    with pytest.raises(ValueError, match="independent=True"):
        LaplacianEigenmaps(affinity="rbf", independent=True, approximation=Dictionary(5)).fit(
            np.random.default_rng(0).random((20, 2))
        )
