"""Kernel eigenmaps, locality preserving projections and graph embedding against the equations and claims of
Brand's paper."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext

import numpy as np
import pytest
from covering import PRODUCT
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, sparse
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import make_swiss_roll
from threadpoolctl import threadpool_limits

from eigenscape import KernelEigenmap, LaplacianEigenmaps, LocalityPreservingProjection, graph_embedding
from eigenscape.datasets import twisted_roll
from eigenscape.exceptions import (
    DegenerateSpectrumWarning,
    DisconnectedGraphError,
    DisconnectedGraphWarning,
    PoleWarning,
    RankError,
)
from eigenscape.methods.graph_embedding import FeatureMap, solve_transformation
from eigenscape.methods.mixture import IsotropicKernels, kernel_weights
from eigenscape.methods.quadratic_forms import FeatureBasis, quadratic_forms
from eigenscape.methods.tuning import TUNING
from eigenscape.options import KNNGraph, LocalKernels
from eigenscape.quality import distortion, linear_alignment

CORRECTIONS = ("reweighted", "affine", "stochastic", "raw")


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Small matrices gain nothing from threads, and the workers of a parallel test run would fight for the
    cores."""
    with threadpool_limits(1):
        yield


def with_pole(expected: bool) -> AbstractContextManager:
    """A map that has a pole must say so, and no other may."""
    return pytest.warns(PoleWarning, match="affine") if expected else nullcontext()


@pytest.fixture(scope="module")
def roll() -> tuple[np.ndarray, np.ndarray]:
    return twisted_roll()


@pytest.fixture(scope="module")
def fitted(roll) -> Callable[[dict], KernelEigenmap]:
    """Fit a map of the roll once for each set of parameters; tests only read it."""
    models: dict[str, KernelEigenmap] = {}

    def fit(params: dict) -> KernelEigenmap:
        if str(params) not in models:
            with with_pole(params == {"basis": "features", "correction": "reweighted"}):
                models[str(params)] = KernelEigenmap(2, **params).fit(roll[0])
        return models[str(params)]

    return fit


@pytest.fixture(scope="module")
def model(roll) -> KernelEigenmap:
    return KernelEigenmap(2, n_neighbors=12).fit(roll[0])


# --- the paper, written out ---------------------------------------------------------------------------------


def local_coordinates(
    X: np.ndarray, centers: np.ndarray, sigma: float, posterior: bool, negligible: float = 0.0
) -> np.ndarray:
    """Z of eq. 14 and 15, one point and one kernel after the other."""
    rows = []
    for x in X:
        p = np.array([np.exp(-np.sum((x - mu) ** 2) / (2 * sigma**2)) for mu in centers])
        p = np.maximum(p - negligible * p.sum(), 0)
        weight = p / p.sum() if posterior else p
        rows.append(np.concatenate([weight[k] * np.append(x - mu, 1.0) for k, mu in enumerate(centers)]))
    return np.array(rows)


def smoothest(Z: np.ndarray, W: np.ndarray, count: int) -> np.ndarray:
    """``v_1 .. v_count`` of eq. 8, as coordinates ``Z v`` of the vertices with ``Y'DY = I``."""
    D = W.sum(axis=1)
    Q, S, _ = linalg.svd(np.sqrt(D)[:, None] * Z, full_matrices=False)
    Q = Q[:, S / S[0] > 1e-7]
    vectors = linalg.eigh(Q.T @ (W / np.sqrt(D) / np.sqrt(D)[:, None]) @ Q)[1]
    return (Q @ vectors[:, ::-1][:, :count]) / np.sqrt(D)[:, None]


def corrected(Z: np.ndarray, W: np.ndarray, d: int, correction: str) -> np.ndarray:
    """The embeddings of sec. 2.1."""
    if correction == "affine":
        return smoothest(np.column_stack([Z, np.ones(len(Z))]), W, d + 1)[:, 1:]
    Y = smoothest(Z, W, d + 1)
    if correction == "raw":
        return Y[:, 1:]
    if correction == "reweighted":
        return Y[:, 1:] / Y[:, :1]
    return smoothest(Z / Y[:, :1], W, d + 1)[:, 1:]  # eq. 12


def assert_same_map(Y: np.ndarray, R: np.ndarray, atol: float) -> None:
    """Equal up to the sign and the scale of each coordinate."""
    Y, R = Y / np.linalg.norm(Y, axis=0), R / np.linalg.norm(R, axis=0)
    np.testing.assert_allclose(Y * np.sign((Y * R).sum(axis=0)), R, atol=atol)


@pytest.mark.parametrize("posterior", [True, False])
@pytest.mark.parametrize("correction", CORRECTIONS)
def test_the_equations_written_out(correction: str, posterior: bool) -> None:
    X, _ = twisted_roll(12)
    centers = X[::13]
    with with_pole(not posterior and correction in ("reweighted", "stochastic")):
        model = KernelEigenmap(
            2,
            correction=correction,
            posterior=posterior,
            n_neighbors=8,
            kernels=LocalKernels(sigma=2.5, centers=centers),
        ).fit(X)
    W = model.graph_.toarray()
    assert_same_map(
        model.embedding_,
        corrected(local_coordinates(X, centers, 2.5, posterior, TUNING.negligible), W, 2, correction),
        1e-7,
    )
    if posterior:  # dropping what is negligible changes little
        assert_same_map(
            model.embedding_, corrected(local_coordinates(X, centers, 2.5, posterior), W, 2, correction), 1e-4
        )
    D = W.sum(axis=1)
    if correction != "reweighted" or posterior:  # eq. 4
        np.testing.assert_allclose(
            model.embedding_.T @ (D[:, None] * model.embedding_), len(X) * np.eye(2), atol=1e-7 * len(X)
        )
    if correction != "reweighted":  # eq. 5
        Y = model.embedding_
        stretched = np.einsum("ij,ij->j", Y, D[:, None] * Y - W @ Y) / len(X)
        if correction != "stochastic" or posterior:
            np.testing.assert_allclose(1 - model.eigenvalues_, stretched, rtol=1e-7)
    assert (model.residuals_ < 1e-9).all()


@pytest.mark.parametrize("sparse_rows", [False, True])
def test_the_small_problem_is_added_up_from_blocks(sparse_rows: bool, monkeypatch) -> None:
    monkeypatch.setattr("eigenscape.methods.quadratic_forms.BLOCK_BYTES", 100)
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((200, 5)) * (rng.random((200, 5)) < 0.5)
    W = np.triu(rng.random((200, 200)), 0)
    W[0] = 1  # a vertex with edges to all
    W = W + W.T
    D = W.sum(axis=1)
    forms = quadratic_forms(FeatureBasis(sparse.csr_array(Z) if sparse_rows else Z), sparse.csr_array(W), D)
    np.testing.assert_allclose(forms.degree, Z.T @ (D[:, None] * Z), rtol=1e-12)
    np.testing.assert_allclose(forms.laplacian, Z.T @ ((np.diag(D) - W) @ Z), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(forms.mean, D @ Z / D.sum(), atol=1e-12)


# --- special cases ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("posterior", [True, False])
def test_a_kernel_at_every_point_without_local_coordinates_is_a_laplacian_eigenmap(posterior: bool) -> None:
    X, _ = twisted_roll(14)
    nearest = np.partition(cdist(X, X), 1, axis=1)[:, 1]
    at_points = LocalKernels(sigma=0.5 * float(np.median(nearest)), centers=X, local_components=0)
    kernels = KernelEigenmap(3, kernels=at_points, correction="raw", posterior=posterior, n_neighbors=9).fit(
        X
    )
    exact = LaplacianEigenmaps(3, affinity=KNNGraph(9, weights="inverse")).fit(X)
    np.testing.assert_allclose(
        kernels.embedding_, exact.embedding_, atol=1e-8 * np.abs(exact.embedding_).max()
    )
    np.testing.assert_allclose(kernels.eigenvalues_, exact.eigenvalues_, atol=1e-10)


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_a_single_kernel_is_an_affine_locality_preserving_projection(correction: str, roll) -> None:
    X, _ = roll
    one = KernelEigenmap(2, n_kernels=1, correction=correction, affinity=KNNGraph(weights="heat")).fit(X)
    affine = LocalityPreservingProjection(2).fit(X)
    np.testing.assert_allclose(one.embedding_, affine.embedding_, atol=1e-8)
    features = KernelEigenmap(
        2, basis="features", correction="affine", affinity=KNNGraph(weights="heat")
    ).fit(X)
    np.testing.assert_allclose(features.embedding_, affine.embedding_, atol=1e-8)
    new = X[::50] + 0.3
    for other in (one, features):
        np.testing.assert_allclose(other.transform(new), affine.transform(new), atol=1e-8)


def test_a_linear_projection_of_he_and_niyogi() -> None:
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 5)) + 2
    linear = LocalityPreservingProjection(3, affine=False, n_neighbors=7).fit(X)
    W = linear.graph_.toarray()
    D = np.diag(W.sum(axis=1))
    values, vectors = linalg.eigh(X.T @ (D - W) @ X, X.T @ D @ X)
    np.testing.assert_allclose(1 - linear.eigenvalues_, values[:3], rtol=1e-9)
    assert_same_map(linear.embedding_, X @ vectors[:, :3], 1e-8)
    with_constant = np.column_stack([X, np.ones(80)])  # which must not become a coordinate
    same = LocalityPreservingProjection(3, affine=False).fit(with_constant, graph=W)
    affine = LocalityPreservingProjection(3).fit(X, graph=W)
    np.testing.assert_allclose(distortion(same.embedding_, W), affine.distortion_, rtol=1e-9)
    np.testing.assert_allclose(
        affine.transform(affine.inverse_transform(affine.embedding_)), affine.embedding_, atol=1e-9
    )


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(6, 30), st.integers(2, 5), st.floats(0, 3), st.floats(0.15, 1))
def test_the_affine_projection_never_has_more_distortion(
    seed: int, n: int, d: int, offset: float, density: float
) -> None:
    rng = np.random.default_rng(seed)
    W = np.triu(rng.random((n, n)) * (rng.random((n, n)) < density), 1)
    W[np.arange(n - 1), np.arange(1, n)] += 0.1  # connected
    W = W + W.T
    X = rng.standard_normal((n, d)) + offset
    count = int(rng.integers(1, d + 1))
    affine, linear = (
        LocalityPreservingProjection(count, affine=how).fit(X, graph=W).distortion_ for how in (True, False)
    )
    assert affine <= linear * (1 + 1e-9) + 1e-12


# --- what the corrections do --------------------------------------------------------------------------------


@pytest.mark.long
def test_all_corrections_agree_where_the_constant_is_in_the_span(roll, model) -> None:
    X, _ = roll
    Z = local_coordinates(X, model.centers_, model.sigma_, True, TUNING.negligible)
    W, D = model.graph_, model.graph_.sum(axis=1)
    for correction in CORRECTIONS:  # by a solver that is not told that the constant is there
        Y = FeatureMap(solve_transformation(FeatureBasis(Z), W, D, 2, correction))(Z)
        np.testing.assert_allclose(
            np.abs(Y), np.abs(model.embedding_), atol=1e-6 * np.abs(model.embedding_).max()
        )
        np.testing.assert_array_equal(
            KernelEigenmap(2, n_neighbors=12, correction=correction).fit(X).embedding_, model.embedding_
        )


@pytest.mark.long
def test_corrections_differ_where_kernels_are_not_divided_by_their_sum(roll) -> None:
    """Section 4; with 100 placements the medians are 0.295, 0.315, 0.376, 0.444."""
    X, parameters = roll
    errors = {name: [] for name in ("stochastic", "reweighted", "affine", "raw", "posterior")}
    for name in errors:
        how = {} if name == "posterior" else {"posterior": False, "correction": name}
        with with_pole(name in ("stochastic", "reweighted")):  # for one seed or another
            for seed in range(12 if PRODUCT else 9):
                model = KernelEigenmap(
                    2, n_kernels=64, n_neighbors=12, random_state=seed, **how, kernels=LocalKernels(sigma=2.0)
                ).fit(X)
                errors[name].append(linear_alignment(model.embedding_, parameters).error)
    stochastic, reweighted, affine, raw, posterior = (float(np.median(values)) for values in errors.values())
    assert stochastic < reweighted < affine < raw
    exact = linear_alignment(
        LaplacianEigenmaps(2, affinity=KNNGraph(12, weights="inverse")).fit_transform(X), parameters
    ).error
    assert abs(posterior - exact) < 0.01
    assert abs(stochastic - exact) < 0.01
    assert raw > 1.3 * exact


def test_regularisation_changes_degrees_alone(roll) -> None:
    X, _ = roll
    plain, regular = (KernelEigenmap(2, regularization=c).fit(X) for c in (0.0, 1.0))
    np.testing.assert_allclose((regular.graph_ - plain.graph_).toarray(), np.eye(len(X)), atol=1e-12)
    D = regular.graph_.sum(axis=1)
    np.testing.assert_allclose(
        regular.embedding_.T @ (D[:, None] * regular.embedding_), len(X) * np.eye(2), atol=1e-6 * len(X)
    )
    np.testing.assert_allclose(regular.distortion_, np.sum(1 - regular.eigenvalues_), rtol=1e-8)


# --- a function of any point --------------------------------------------------------------------------------

MANY = {"n_kernels": 300, "kernels": LocalKernels(sigma=0.7)}
MAPS = [
    {},
    MANY,
    {"kernels": LocalKernels(local_components=1)},
    {"kernels": LocalKernels(local_components=0)},
    {"kernels": LocalKernels(covariances="full")},
    {"kernels": LocalKernels(covariances=np.diag([9.0, 1.0, 4.0]).tolist())},
    {"kernels": LocalKernels(sigma=3.0, covariances="full"), "posterior": False, "correction": "affine"},
    *({"posterior": False, "correction": each, "kernels": LocalKernels(sigma=2.0)} for each in CORRECTIONS),
    *({"basis": "features", "correction": correction} for correction in ("affine", "raw", "reweighted")),
]


@pytest.mark.parametrize("params", MAPS, ids=str)
def test_the_jacobian_is_the_derivative(params: dict, roll, fitted) -> None:
    (X, _), model = roll, fitted(params)
    points = X[::37] + 0.1 * np.random.default_rng(0).standard_normal(X[::37].shape)
    step = 1e-5
    sides = [[model.transform(points + sign * step * e) for sign in (1, -1)] for e in np.eye(3)]
    differences = np.stack([(ahead - behind) / (2 * step) for ahead, behind in sides], axis=2)
    found = model.jacobian(points)
    assert found.shape == (len(points), 2, 3)
    np.testing.assert_allclose(found, differences, atol=1e-5 * np.abs(differences).max())


@pytest.mark.long
@pytest.mark.parametrize("params", [{}, MANY, {"posterior": False}], ids=str)
def test_the_map_is_continuous(params: dict, roll, fitted) -> None:
    """Halving a step halves the way on the map, between any two training points, also where kernels drop out
    of the mixture."""
    (X, _), model = roll, fitted(params)
    rng = np.random.default_rng(0)
    first, second = X[rng.integers(len(X), size=2000)], X[rng.integers(len(X), size=2000)]
    points = first + rng.random((2000, 1)) * (second - first)
    direction = rng.standard_normal(points.shape)
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    start = model.transform(points)
    slope = np.linalg.norm(model.jacobian(points), axis=(1, 2))
    steps = np.array(
        [np.linalg.norm(model.transform(points + h * direction) - start, axis=1) for h in (2e-6, 1e-6)]
    )
    moving = steps[1] > 0.1 * 1e-6 * slope  # not across the direction in which the map changes
    np.testing.assert_allclose(steps[0, moving] / steps[1, moving], 2, rtol=1e-2)
    assert (steps[1] <= 1.1e-6 * slope + 1e-12).all()


@pytest.mark.parametrize("params", MAPS, ids=str)
def test_far_points_have_a_place(params: dict, roll, fitted) -> None:
    (X, _), model = roll, fitted(params)
    sigma = getattr(model, "sigma_", 1.0)
    for distance in (100 * sigma, 1e4 * sigma):
        far = X[:20] + distance * np.array([1.0, 0, 0])
        assert np.isfinite(model.transform(far)).all()
        assert np.isfinite(model.jacobian(far)).all()
    assert np.isfinite(model.inverse_transform(1e6 * model.embedding_[:20])).all()


def test_a_far_point_belongs_to_the_nearest_kernel(model) -> None:
    direction = np.array([0.6, 0.8, 0.0])
    k = int(np.argmax(model.centers_ @ direction))  # the nearest from far away
    far = model.centers_[k] + 1e3 * model.sigma_ * direction
    slope = model._map_.slopes[k]  # its affine map alone
    np.testing.assert_allclose(model.jacobian(far[None])[0], slope.T, rtol=1e-6, atol=1e-9)


def test_shares_are_the_posteriors_up_to_what_is_negligible(model, roll) -> None:
    X, _ = roll
    p = np.exp(-cdist(X, model.centers_, "sqeuclidean") / (2 * model.sigma_**2))
    found = kernel_weights(IsotropicKernels(model.centers_, model.sigma_), X)
    np.testing.assert_allclose(
        found.matrix.toarray(),
        p / p.sum(axis=1, keepdims=True),
        atol=2 * len(model.centers_) * TUNING.negligible,
    )
    np.testing.assert_allclose(found.matrix.sum(axis=1), 1, rtol=1e-14)
    np.testing.assert_allclose(found.log_total, np.log(p.sum(axis=1)), atol=1e-9)
    assert found.matrix.nnz < 0.6 * p.size


# --- the way back -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_round_trip(seed: int, roll) -> None:
    X, _ = roll
    diameter = pdist(X).max()
    errors = {}
    for inverse in ("blocks", "refined"):
        model = KernelEigenmap(2, random_state=seed, inverse=inverse).fit(X)
        back = model.inverse_transform(model.transform(X))
        errors[inverse] = float(np.median(np.linalg.norm(back - X, axis=1)) / diameter)
        assert model.inverse_error_ == pytest.approx(errors[inverse], rel=0.15)
    assert errors["blocks"] < 0.08
    assert errors["refined"] < 0.03
    assert errors["refined"] < errors["blocks"]


def test_the_refined_inverse_serves_new_points() -> None:
    X, _ = twisted_roll(noise=0.02)
    new, _ = twisted_roll(side=47, noise=0.0)
    model = KernelEigenmap(2).fit(X)
    back = model.inverse_transform(model.transform(new))
    assert np.median(np.linalg.norm(back - new, axis=1)) < 0.03 * pdist(new).max()


# --- graphs with vertex features ----------------------------------------------------------------------------


def grid_graph(side: int) -> tuple[sparse.csr_array, np.ndarray]:
    """A square lattice and the place of each vertex."""
    path = sparse.diags_array([np.ones(side - 1), np.ones(side - 1)], offsets=[1, -1])
    eye = sparse.eye_array(side)
    places = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"), axis=-1).reshape(-1, 2)
    return sparse.csr_array(sparse.kron(path, eye) + sparse.kron(eye, path)), places.astype(float)


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.coo_array, lambda W: W.toarray()])
def test_direct_embedding_of_a_path(container) -> None:
    n = 30
    W = np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    found = graph_embedding(container(sparse.csr_array(W)), 3)
    np.testing.assert_allclose(found.eigenvalues, np.cos(np.pi * np.arange(1, 4) / (n - 1)), atol=1e-10)
    D = W.sum(axis=1)
    np.testing.assert_allclose(
        found.coordinates.T @ (D[:, None] * found.coordinates), n * np.eye(3), atol=1e-7
    )
    np.testing.assert_allclose(found.distortion, np.sum(1 - found.eigenvalues), rtol=1e-8)
    assert (found.residuals < 1e-10).all()


def test_direct_embedding_is_the_laplacian_eigenmap_of_the_weights(roll, model) -> None:
    exact = LaplacianEigenmaps(2, affinity=KNNGraph(12, weights="inverse")).fit(roll[0])
    found = graph_embedding(model.graph_, 2)
    np.testing.assert_allclose(found.coordinates, exact.embedding_, atol=1e-8)
    assert (
        found.distortion <= model.distortion_ <= 1.02 * found.distortion
    )  # kernels come near the least possible


@pytest.mark.parametrize("basis", ["features", "kernels"])
def test_new_vertices_are_placed_by_their_features(basis: str) -> None:
    W, places = grid_graph(16)
    rng = np.random.default_rng(0)
    mix = rng.standard_normal((2, 6))
    features = np.tanh(places / 8 - 1) @ mix + 0.01 * rng.standard_normal((256, 6))
    known = np.ones(256, dtype=bool)
    known[rng.permutation(256)[:20]] = False
    inside = W[known][:, known]
    model = KernelEigenmap(2, basis=basis, correction="affine", n_kernels=8).fit(
        features[known], graph=inside
    )
    new = model.transform(features[~known])
    A = np.column_stack([model.embedding_, np.ones(known.sum())])
    regression = np.linalg.lstsq(A, places[known], rcond=None)[0]
    predicted = np.column_stack([new, np.ones(20)]) @ regression
    assert np.median(np.linalg.norm(predicted - places[~known], axis=1)) < 1.5  # steps of the lattice


@pytest.mark.parametrize("correction", CORRECTIONS)
def test_sparse_features_are_dense_features(correction: str) -> None:
    W, places = grid_graph(12)
    rng = np.random.default_rng(0)
    Z = rng.poisson(1 + np.abs(np.sin(places @ rng.standard_normal((2, 9)) / 4)))
    Z[:, 0] += 1
    by_dense = KernelEigenmap(2, basis="features", correction=correction).fit(Z.astype(float), graph=W)
    by_sparse = KernelEigenmap(2, basis="features", correction=correction).fit(
        sparse.csr_matrix(Z, dtype=float), graph=W
    )
    np.testing.assert_allclose(
        by_sparse.embedding_, by_dense.embedding_, atol=1e-8 * np.abs(by_dense.embedding_).max()
    )
    new = Z[:9] + rng.poisson(1, (9, 9))
    np.testing.assert_allclose(
        by_sparse.transform(sparse.csr_matrix(new, dtype=float)),
        by_dense.transform(new.astype(float)),
        rtol=1e-6,
    )
    assert by_sparse.inverse_transform(by_sparse.embedding_[:4]).shape == (4, 9)


# --- choices ------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_number_of_kernels_is_chosen_on_held_out_edges() -> None:
    X, _ = make_swiss_roll(1500, random_state=0)
    model = KernelEigenmap(2, n_kernels="auto").fit(X)
    tried = model.held_out_distortion_
    assert list(tried) == [4, 8, 16, 32, 64, 128]
    assert tried[4] > 1.5 * min(tried.values())
    assert model.n_kernels_ == min(k for k, value in tried.items() if value <= 1.05 * min(tried.values()))
    assert 8 <= model.n_kernels_ <= 64
    assert not hasattr(model.set_params(n_kernels=9).fit(X), "held_out_distortion_")


@pytest.mark.parametrize("placement", ["random", "kmeans", "maxmin", "greedy"])
def test_centres(placement: str, roll) -> None:
    X, _ = roll
    model = KernelEigenmap(2, n_kernels=40, kernels=LocalKernels(centers=placement)).fit(X)
    assert model.centers_.shape == (40, 3)
    if placement != "kmeans":
        assert cdist(model.centers_, X).min(axis=1).max() == 0
        assert len(np.unique(model.centers_, axis=0)) == 40
    if placement != "random":
        covered = cdist(X, model.centers_).min(axis=1)
        by_chance = cdist(X, KernelEigenmap(2, n_kernels=40).fit(X).centers_).min(axis=1)
        assert covered.max() < by_chance.max()
    assert model.distortion_ < 1.05 * graph_embedding(model.graph_, 2).distortion


@pytest.mark.long
def test_the_width_follows_the_scale_of_the_data(roll) -> None:
    X, _ = roll
    small, large = (KernelEigenmap(2).fit(scale * X) for scale in (1e-3, 1e3))
    assert large.sigma_ == pytest.approx(1e6 * small.sigma_)
    np.testing.assert_allclose(small.embedding_, large.embedding_, atol=1e-6)
    moved = KernelEigenmap(2).fit(X + 1e4)
    np.testing.assert_allclose(moved.embedding_, KernelEigenmap(2).fit(X).embedding_, atol=1e-5)


def test_local_coordinates_in_fewer_dimensions(roll, model) -> None:
    X, _ = roll
    wide = (
        np.concatenate([X, np.zeros((len(X), 10))], axis=1)
        @ np.linalg.qr(np.random.default_rng(0).standard_normal((13, 13)))[0]
    )
    flat = KernelEigenmap(2, n_neighbors=12, n_kernels=64, kernels=LocalKernels(local_components=2)).fit(wide)
    assert flat.rank_ <= 64 * 3
    assert flat.distortion_ < 1.05 * graph_embedding(model.graph_, 2).distortion


@pytest.mark.parametrize("cls", [KernelEigenmap, LocalityPreservingProjection])
def test_the_number_of_cores_changes_nothing(cls: type, roll) -> None:
    one, two = (cls(2, n_jobs=n_jobs).fit(roll[0]) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.embedding_, two.embedding_)


@pytest.mark.parametrize("cls", [KernelEigenmap, LocalityPreservingProjection])
def test_two_pieces(cls: type, roll) -> None:
    X = np.concatenate([roll[0][:300], roll[0][:300] + 200])
    with pytest.warns(DisconnectedGraphWarning, match="connected by the shortest"):
        joined = cls(2).fit(X)
    assert joined.n_connected_components_ == 2
    with pytest.warns(DisconnectedGraphWarning):
        apart = cls(1, on_disconnected="whole").fit(X)
    assert (
        abs(np.mean(apart.embedding_[:300] > np.median(apart.embedding_)) - 0.5) > 0.49
    )  # the coordinate that no edge stretches
    with pytest.raises(DisconnectedGraphError, match="2 connected components"):
        cls(2, on_disconnected="raise").fit(X)
    with pytest.raises(DisconnectedGraphError, match="graph given has 2 components"):
        cls(2).fit(X, graph=apart.graph_)


# --- refusals -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("params", "match"),
    [
        ({"n_kernels": 901}, "n_kernels=901 needs as many distinct samples, got n_samples=900"),
        ({"n_kernels": 0}, "n_kernels=0 must be an integer"),
        ({"n_kernels": "many"}, "n_kernels='many' must be an integer of at least 1, 'auto' or None"),
        (
            {"kernels": LocalKernels(sigma=1e-3)},
            r"sigma=0.001 is so small that some training points belong to no kernel.*set sigma to at least",
        ),
        ({"kernels": LocalKernels(centers=np.zeros((3, 2)))}, "centers has 2 features, but X has 3"),
        ({"correction": "none"}, "correction='none' is not known"),
        ({"posterior": "yes"}, "posterior='yes' must be True or False"),
        ({"basis": "words"}, "basis='words' is not known"),
        ({"inverse": "no"}, "inverse='no' is not known"),
        (
            {"kernels": LocalKernels(local_components=4)},
            "local_components=4 needs at least 4 features, got n_features=3",
        ),
        ({"regularization": -1}, "regularization=-1 must be a number of at least 0"),
        ({"affinity": KNNGraph(metric="precomputed")}, "pass the rows as X and the edges as graph="),
        ({"n_neighbors": 900}, "n_neighbors=900 needs at least 901 samples"),
        ({"on_disconnected": "largest"}, "on_disconnected='largest' is not known"),
        (
            {"n_components": 5, "n_kernels": 1},
            r"n_components=5 needs features of the vertices that span .* only 3",
        ),
    ],
)
def test_bad_parameters(params: dict, match: str, roll) -> None:
    with pytest.raises(ValueError, match=match):
        KernelEigenmap(**params).fit(roll[0])


def test_features_that_do_not_span() -> None:
    W, places = grid_graph(8)
    twice = np.column_stack([places[:, 0], 2 * places[:, 0], 3 * places[:, 0]])
    with pytest.raises(RankError, match=r"n_components=2 needs features .* span only 1"):
        KernelEigenmap(2, basis="features", correction="affine").fit(twice, graph=W)
    with pytest.warns(DegenerateSpectrumWarning, match=r"n_components=2 needs features .* span only 1"):
        model = LocalityPreservingProjection(2).fit(twice, graph=W)
    assert model.embedding_[:, 0].std() > 0
    assert not model.embedding_[:, 1].any()
    with pytest.warns(DegenerateSpectrumWarning, match="n_components=2, but the features span only 1"):
        LocalityPreservingProjection(2, affine=False).fit(twice, graph=W)


@pytest.mark.parametrize(
    ("graph", "match"),
    [
        (np.ones((5, 5)), "graph has 5 vertices, but X has 64 rows"),
        (np.ones((64, 63)), "must be square"),
        (np.triu(np.ones((64, 64))), "symmetric"),
        (-np.ones((64, 64)), "must not be negative"),
        (np.full((64, 64), np.nan), "NaN or infinity"),
        (np.zeros((64, 64)), "no edges"),
        (np.ones(64), "must be a matrix of edge weights"),
    ],
)
def test_bad_graphs(graph: np.ndarray, match: str) -> None:
    _, places = grid_graph(8)
    for fit in (KernelEigenmap(2).fit, LocalityPreservingProjection(2).fit):
        with pytest.raises(ValueError, match=match):
            fit(places, graph=graph)


def test_direct_embedding_refuses() -> None:
    W, _ = grid_graph(4)
    with pytest.raises(DisconnectedGraphError, match="2 components"):
        graph_embedding(sparse.block_diag([W, W]))
    with pytest.raises(ValueError, match="n_components=16 needs at least 17 vertices, got n_vertices=16"):
        graph_embedding(W, 16)


def test_inverse_transform_refuses_other_dimensions(model) -> None:
    with pytest.raises(ValueError, match="X has 3 coordinates, but KernelEigenmap has 2 components"):
        model.inverse_transform(np.zeros((4, 3)))
    with pytest.raises(ValueError, match="side=1"):
        twisted_roll(1)
