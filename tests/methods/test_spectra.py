"""Spectra and maps that are known in closed form, and identities between the methods."""

from __future__ import annotations

import numpy as np
import pytest
import reference as ref
from numpy.testing import assert_allclose

from eigenscape import (
    ClassicalMDS,
    Isomap,
    KernelPCA,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    SpectralClustering,
)
from eigenscape.eigenfunctions import RootScale
from eigenscape.exceptions import DegenerateSpectrumWarning
from eigenscape.graph.neighborhood import nearest_neighbor_graph
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.kernels.affinity import mutual_affinity
from eigenscape.kernels.bandwidth import local_distance, median_distance
from eigenscape.methods.kernel_pca import usable_count
from eigenscape.methods.laplacian import divided_eigenfunctions
from eigenscape.operators import as_operator, gram
from eigenscape.options import RadiusGraph, Solver
from eigenscape.solvers import SolverConfig

RNG = np.random.default_rng


def circle(n):
    angle = 2 * np.pi * np.arange(n) / n
    return np.column_stack([np.cos(angle), np.sin(angle)])


def lattice(*sizes):
    axes = [np.arange(float(size)) for size in sizes]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(sizes))


def largest(values, count):
    return np.sort(np.ravel(values))[::-1][:count]


def up_to_sign(actual, expected, **tolerance):
    sign = np.where(np.sum(actual * expected, axis=0) < 0, -1.0, 1.0)
    assert_allclose(actual, expected * sign, **tolerance)


def turned(actual, expected):
    """Return ``expected`` after the rotation or reflection that best maps it to ``actual``."""
    U, _, V = np.linalg.svd(expected.T @ actual)
    return expected @ U @ V


def pairwise_distances(X):
    return np.sqrt(np.maximum(np.square(X[:, None] - X[None]).sum(axis=2), 0))


# Graphs


@pytest.mark.parametrize("n", [7, 30, 101])
def test_ring(n):
    """Eigenvalues of the normalised ring: cos(2 pi j / n), each twice."""
    model = LaplacianEigenmaps(4, n_neighbors=2).fit(circle(n))
    j = np.arange(1, n)
    assert_allclose(model.eigenvalues_, largest(np.cos(2 * np.pi * j / n), 4), atol=1e-12)


def test_ring_coordinates_are_the_circle():
    X = circle(31)
    model = LaplacianEigenmaps(2, n_neighbors=2).fit(X)
    scale = np.sqrt(31 * 2 / (2 * 31))  # sqrt(m) z with z' S z = 1, S = 2, |column of X|^2 = 31 / 2
    assert_allclose(turned(model.embedding_, scale * X), model.embedding_, atol=1e-10)


@pytest.mark.parametrize(("n", "count"), [(5, 1), (20, 3), (60, 3)])
def test_path(n, count):
    """Eigenvalues of the normalised path: cos(pi j / (n - 1)), eigenvectors of the walk likewise cosines."""
    model = LaplacianEigenmaps(count, affinity=RadiusGraph(1.5)).fit(np.arange(float(n))[:, None])
    j = np.arange(1, count + 1)
    assert_allclose(model.eigenvalues_, np.cos(np.pi * j / (n - 1)), atol=1e-12)
    waves = np.cos(np.pi * np.outer(np.arange(n), j) / (n - 1))
    S = np.r_[1.0, np.full(n - 2, 2.0), 1.0]
    waves *= np.sqrt(n / np.einsum("ir,i,ir->r", waves, S, waves))
    up_to_sign(model.embedding_, waves, atol=1e-9)


@pytest.mark.parametrize("shape", [(5, 8), (7, 9)])
def test_torus_grid(shape):
    """The product of two rings: eigenvalues (cos a + cos b) / 2."""
    p, q = shape
    ring_p, ring_q = (
        circle(p) / (2 * np.sin(np.pi / p)),
        circle(q) / (2 * np.sin(np.pi / q)),
    )  # edges of length one
    X = np.hstack([np.repeat(ring_p, q, axis=0), np.tile(ring_q, (p, 1))])
    model = LaplacianEigenmaps(5, affinity=RadiusGraph(1.1)).fit(X)
    table = np.cos(2 * np.pi * np.arange(p) / p)[:, None] + np.cos(2 * np.pi * np.arange(q) / q)
    assert_allclose(model.eigenvalues_, largest(table / 2, 6)[1:], atol=1e-12)


@pytest.mark.parametrize("shape", [(4, 7), (3, 3, 4)])
def test_flat_grid_against_the_dense_problem(shape):
    X = lattice(*shape)
    W = (pairwise_distances(X) < 1.1) - np.eye(len(X))
    sigma, _ = ref.generalized_problem(W, 3)
    model = LaplacianEigenmaps(3, affinity=RadiusGraph(1.1)).fit(X)
    assert_allclose(model.eigenvalues_, 1 - sigma, atol=1e-10)


@pytest.mark.parametrize("n", [4, 12])
def test_complete_graph(n):
    """All eigenvalues but the trivial one are -1 / (n - 1)."""
    X = RNG(0).standard_normal((n, 3))
    model = LaplacianEigenmaps(n - 1, n_neighbors=n - 1).fit(X)
    assert_allclose(model.eigenvalues_, -1 / (n - 1), atol=1e-12)
    Z = model.embedding_ / np.sqrt(n)
    assert_allclose(Z.T @ Z * (n - 1), np.eye(n - 1), atol=1e-10)


def test_hypercube():
    """Eigenvalues 1 - 2 j / d with multiplicity (d over j)."""
    X = lattice(2, 2, 2, 2, 2)
    model = LaplacianEigenmaps(8, affinity=RadiusGraph(1.1)).fit(X)
    assert_allclose(model.eigenvalues_, [0.6] * 5 + [0.2] * 3, atol=1e-12)


def test_star_of_two_sides():
    """A bipartite graph has the eigenvalue -1, and zeros, which give no coordinates for new points."""
    W = np.zeros((5, 5))
    W[0, 1:] = W[1:, 0] = 1.0
    with pytest.raises(ValueError, match="zero"):
        LaplacianEigenmaps(1, affinity="precomputed").fit(W)


# Circulant kernels


@pytest.mark.parametrize("n", [9, 24, 50])
def test_gaussian_kernel_on_a_circle(n):
    """A circulant matrix: eigenvalues are the Fourier transform of a row; centring removes the constant."""
    X = circle(n)
    first_row = np.exp(-0.8 * np.square(X - X[0]).sum(axis=1))
    expected = np.fft.fft(first_row).real[1:]
    model = KernelPCA(6, kernel="rbf", gamma=0.8).fit(X)
    assert_allclose(model.eigenvalues_, largest(expected, 6), rtol=1e-9, atol=1e-12)
    radius = np.sqrt(2 * model.eigenvalues_[0] / n)
    assert_allclose(np.hypot(*model.embedding_[:, :2].T), radius, rtol=1e-9)


def test_divided_gaussian_kernel_on_a_circle():
    n = 24
    X = circle(n)
    first_row = np.exp(-3 * np.square(X - X[0]).sum(axis=1))
    model = LaplacianEigenmaps(4, affinity="rbf", gamma=3.0).fit(X)
    assert_allclose(
        model.eigenvalues_, largest(np.fft.fft(first_row / first_row.sum()).real, 5)[1:], atol=1e-12
    )


def test_geodesics_on_a_circle_are_a_circulant_matrix():
    n = 21
    edge = 2 * np.sin(np.pi / n)
    steps = np.minimum(np.arange(n), n - np.arange(n))
    expected = np.fft.fft(-0.5 * (steps * edge) ** 2).real[1:]
    model = Isomap(4, n_neighbors=2).fit(circle(n))
    assert_allclose(model.eigenvalues_, largest(expected, 4), rtol=1e-9)
    assert model.negative_fraction_ == pytest.approx(
        -expected[expected < 0].sum() / np.abs(expected).sum(), rel=1e-8
    )
    assert not model.is_euclidean_


# Identities between methods


@pytest.fixture(scope="module")
def cloud():
    return RNG(1).standard_normal((40, 4)) @ np.diag([4.0, 3.0, 2.0, 1.0]) + 5.0


@pytest.fixture(scope="module")
def others():
    return RNG(2).standard_normal((9, 4)) + 5.0


def test_mds_and_linear_kernel_pca_are_pca(cloud, others):
    mean = cloud.mean(axis=0)
    _, s, V = np.linalg.svd(cloud - mean, full_matrices=False)
    both = np.vstack([cloud, others])
    for model in (ClassicalMDS(4).fit(cloud), KernelPCA(4, kernel="linear").fit(cloud)):
        assert_allclose(model.eigenvalues_, s**2, rtol=1e-9)
        up_to_sign(model.transform(both), (both - mean) @ V.T, rtol=1e-8, atol=1e-8)


def test_isotropic_kernel_pca_is_mds_in_feature_space(cloud, others):
    """Williams: with k(x, x) = 1 the feature-space distance is d^2 = 2 (1 - k)."""
    gamma = 0.02
    feature_distance = np.sqrt(2 * (1 - np.exp(-gamma * pairwise_distances(cloud) ** 2)))
    new = np.sqrt(2 * (1 - ref.table(ref.gaussian(gamma), others, cloud)))
    kernel, distance = (
        KernelPCA(5, gamma=gamma).fit(cloud),
        ClassicalMDS(5, metric="precomputed").fit(feature_distance),
    )
    assert_allclose(kernel.eigenvalues_, distance.eigenvalues_, rtol=1e-9)
    assert_allclose(kernel.embedding_, distance.embedding_, atol=1e-8)
    assert_allclose(kernel.transform(others), distance.transform(new), atol=1e-8)


def test_laplacian_eigenmaps_and_spectral_clustering_agree(cloud, others):
    """Bengio sec. 2.4: the same eigenvectors up to a factor for each point, which unit rows remove."""
    maps = LaplacianEigenmaps(2, affinity="rbf", gamma=0.05).fit(cloud)
    clusters = SpectralClustering(3, affinity="rbf", gamma=0.05).fit(cloud)
    total = ref.table(ref.gaussian(0.05), cloud, cloud).sum()
    for points in (cloud, others):
        rows = np.column_stack([np.full(len(points), np.sqrt(len(cloud) / total)), maps.transform(points)])
        assert_allclose(
            clusters.transform(points), rows / np.linalg.norm(rows, axis=1, keepdims=True), atol=1e-8
        )
    assert_allclose(clusters.eigenvalues_[1:], maps.eigenvalues_, atol=1e-12)
    assert clusters.eigenvalues_[0] == pytest.approx(1, abs=1e-12)


AFFINITIES = [{"n_neighbors": 6}, {"n_neighbors": 6, "weights": "heat"}, {"affinity": "rbf", "gamma": 0.05}]


@pytest.mark.parametrize("options", AFFINITIES, ids=["binary", "heat", "rbf"])
def test_generalized_residual_and_norm(cloud, options):
    """``(S - K) z = sigma S z`` (Bengio eq. 13), ``z' S z = 1``, coordinates ``sqrt(m) z``."""
    model = LaplacianEigenmaps(3, **options).fit(cloud)
    K = model.kernel_.base(cloud)
    K = K.toarray() if hasattr(K, "toarray") else K
    S = np.diag(K.sum(axis=1))
    Z = model.embedding_ / np.sqrt(len(cloud))
    assert_allclose((S - K) @ Z, S @ Z * (1 - model.eigenvalues_), atol=1e-9)
    assert_allclose(Z.T @ S @ Z, np.eye(3), atol=1e-9)
    assert_allclose(np.diag(S) @ Z, 0, atol=1e-9)  # orthogonal to the constant


def test_the_trivial_function_is_the_root_of_the_degree(cloud):
    model = LaplacianEigenmaps(1, affinity="rbf", gamma=0.05).fit(cloud)
    functions = divided_eigenfunctions(model.kernel_.base, 1, SolverConfig(), True, None)
    S = model.kernel_.base(cloud).sum(axis=1)
    assert_allclose(functions(cloud)[:, 0], np.sqrt(len(cloud) * S / S.sum()), rtol=1e-10)


def test_eq_15_equals_eq_23(cloud, others):
    distances, new = (np.sqrt(np.square(Y[:, None] - cloud[None]).sum(axis=2)) for Y in (cloud, others))
    model = ClassicalMDS(3).fit(cloud)
    values, vectors = ref.principal(ref.centred_distances(distances**2), 3)
    up_to_sign(
        model.transform(others),
        ref.landmark_formula(new**2, distances**2, values, vectors),
        rtol=1e-8,
        atol=1e-8,
    )


# Distances


def curved_distances():
    """Great-circle distances: not Euclidean."""
    X = RNG(3).standard_normal((30, 3))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    D = np.arccos(np.clip(X @ X.T, -1, 1))
    np.fill_diagonal(D, 0.0)
    return D


DISTANCES = {
    "euclidean": pairwise_distances(RNG(4).standard_normal((30, 3))),
    "root of cityblock": np.sqrt(np.abs(RNG(5).random((30, 1)) - RNG(5).random(30))),
    "sphere": curved_distances(),
    "broken": pairwise_distances(RNG(6).standard_normal((30, 2))) ** 2,
}


@pytest.mark.parametrize("name", DISTANCES)
def test_distance_matrix_theorem(name):
    """Euclidean exactly when the centred matrix has no negative eigenvalue (Burges sec. 2.2)."""
    D = DISTANCES[name]
    values = np.linalg.eigvalsh(ref.centred_distances(D**2))
    model = ClassicalMDS(2, metric="precomputed").fit(D)
    assert model.is_euclidean_ == (name in ("euclidean", "root of cityblock"))
    assert model.is_euclidean_ == bool(values[0] > -1e-9 * values[-1])
    expected = -values[values < 0].sum() / np.abs(values).sum()
    assert model.negative_fraction_ == pytest.approx(expected, rel=1e-8, abs=1e-12)


@pytest.mark.parametrize("name", ["sphere", "broken"])
def test_repair_by_shift_and_by_clipping(name):
    """Burges sec. 2.2.2: the smallest constant for squared distances, the nearest semi-definite matrix."""
    D = DISTANCES[name]
    K = ref.centred_distances(D**2)
    values = np.linalg.eigvalsh(K)[::-1]
    lifted = D**2 - 2 * values[-1] * (1 - np.eye(30))
    shifted = ClassicalMDS(2, metric="precomputed", indefinite="shift").fit(D)
    assert_allclose(
        shifted.eigenvalues_, np.linalg.eigvalsh(ref.centred_distances(lifted))[::-1][:2], rtol=1e-9
    )
    assert np.linalg.eigvalsh(shifted.kernel_(D))[0] >= -1e-10 * values[0]
    clipped = ClassicalMDS(2, metric="precomputed", indefinite="clip").fit(D)
    assert_allclose(clipped.eigenvalues_, values[:2], rtol=1e-9)
    assert_allclose(
        np.linalg.eigvalsh(clipped.kernel_(D))[::-1], np.maximum(values, 0), atol=1e-10 * values[0]
    )


def test_magnitude_order_takes_negative_eigenvalues():
    D = DISTANCES["broken"]
    values = np.linalg.eigvalsh(ref.centred_distances(D**2))
    expected = values[np.argsort(-np.abs(values))][:4]
    assert expected.min() < 0
    model = ClassicalMDS(4, metric="precomputed", order="magnitude").fit(D)
    assert_allclose(model.eigenvalues_, expected, rtol=1e-9)
    assert_allclose(model.transform(D), model.embedding_, atol=1e-8 * np.abs(model.embedding_).max())
    assert_allclose(np.sum(model.embedding_**2, axis=0), np.abs(expected), rtol=1e-9)


@pytest.mark.parametrize("kind", ["uniform", "one point", "random", "signed"])
def test_any_centring_keeps_the_distances(kind, cloud, others):
    """Burges sec. 2.2.1: any ``c`` that sums to one only moves the origin."""
    n = len(cloud)
    c = {
        "uniform": np.full(n, 1 / n),
        "one point": np.eye(n)[3],
        "random": RNG(7).random(n),
        "signed": RNG(8).standard_normal(n),
    }[kind]
    c = c / c.sum()
    model = ClassicalMDS(4, centering=c).fit(cloud)
    both = np.vstack([cloud, others])
    scale = np.abs(model.transform(both)).max()
    assert_allclose(pairwise_distances(model.transform(both)), pairwise_distances(both), atol=1e-8 * scale)
    assert_allclose(c @ model.embedding_, 0, atol=1e-8 * scale)


# Locally linear embedding


def sheet(n=80):
    """A flat square in space, and its coordinates."""
    plane = RNG(9).uniform(-1, 1, (n, 2))
    return plane @ np.linalg.qr(RNG(10).standard_normal((3, 3)))[0][:2] + [1.0, 2.0, 3.0], plane


def off_affine(embedding, plane):
    """How far a map is from affine in the true coordinates, relative to its size."""
    A = np.column_stack([np.ones(len(plane)), plane])
    return (
        np.abs(A @ np.linalg.lstsq(A, embedding, rcond=None)[0] - embedding).max() / np.abs(embedding).max()
    )


#: Method, regularisation, and how far from affine it may then be: the regularised weights err by about
#: ``reg``.
FLAT = [("standard", 1e-10, 1e-5), ("modified", 1e-10, 1e-6), ("hessian", 1e-3, 1e-9), ("ltsa", 1e-3, 1e-9)]


@pytest.mark.parametrize(("method", "reg", "tolerance"), FLAT)
def test_a_flat_square_is_recovered(method, reg, tolerance):
    X, plane = sheet()
    model = LocallyLinearEmbedding(2, n_neighbors=9, method=method, reg=reg).fit(X)
    assert off_affine(model.embedding_, plane) < tolerance
    assert_allclose(model.embedding_.T @ model.embedding_ / len(X), np.eye(2), atol=1e-9)
    assert_allclose(model.embedding_.mean(axis=0), 0, atol=1e-9)


@pytest.mark.parametrize("method", ["hessian", "ltsa"])
def test_new_points_on_a_flat_square_follow(method):
    """Weights that reproduce a point reproduce every affine map of it."""
    X, plane = sheet()
    model = LocallyLinearEmbedding(2, n_neighbors=9, method=method, reg=1e-9).fit(X)
    inside = RNG(11).uniform(-0.7, 0.7, (20, 2))
    basis = np.linalg.lstsq(
        np.column_stack([np.ones(80), plane]), np.column_stack([X, model.embedding_]), rcond=None
    )[0]
    both = np.column_stack([np.ones(20), inside]) @ basis
    assert_allclose(model.transform(both[:, :3]), both[:, 3:], atol=1e-5)


def test_a_line_is_recovered():
    t = np.arange(50) + 0.3 * RNG(12).random(50)
    model = LocallyLinearEmbedding(1, n_neighbors=5, method="ltsa").fit(np.outer(t, [1.0, -2.0, 0.5]))
    assert off_affine(model.embedding_, t[:, None]) < 1e-9


def test_too_few_constraints_are_announced():
    """The points at the ends have the same curvature as others: more null vectors than 1 and t."""
    t = np.arange(50) + 0.3 * RNG(12).random(50)
    with pytest.warns(DegenerateSpectrumWarning, match="not determined"):
        LocallyLinearEmbedding(1, n_neighbors=5, method="hessian").fit(np.outer(t, [1.0, -2.0, 0.5]))


@pytest.mark.parametrize("method", ["standard", "modified", "hessian", "ltsa"])
def test_large_c_tends_to_the_default(method, cloud, others):
    """New coordinates are those of the limit times ``(c - 1) / (c - mu_r)``, ``mu_r`` eigenvalues of M."""
    options = {"n_neighbors": 8, "method": method}
    limit = LocallyLinearEmbedding(2, **options).fit(cloud)
    mu = 1 - limit.eigenvalues_
    for c in (2.0, 50.0, 1e9):
        model = LocallyLinearEmbedding(2, c=c, **options).fit(cloud)
        assert_allclose(model.embedding_, limit.embedding_, atol=1e-9)
        assert_allclose(
            model.transform(others), limit.transform(others) * (c - 1) / (c - mu), rtol=1e-6, atol=1e-9
        )
    assert_allclose(model.transform(others), limit.transform(others), atol=1e-6)


# Isomap


def test_isomap_on_a_line_recovers_the_positions():
    t = np.arange(60) + 0.3 * RNG(13).random(60)

    def line(positions):
        return np.outer(positions, [0.6, 0.0, 0.8]) + np.array([3.0, -1.0, 2.0])

    model = Isomap(1, n_neighbors=4).fit(line(t))
    new = RNG(14).random(15) * 58 + 0.5
    both = np.concatenate([t, new])
    up_to_sign(np.vstack([model.embedding_, model.transform(line(new))])[:, 0], both - t.mean(), atol=1e-9)
    assert model.is_euclidean_


def test_isomap_on_a_half_circle_recovers_arc_length():
    n = 200
    angle = np.linspace(0, np.pi, n)
    chord = 2 * np.sin(np.pi / (n - 1) / 2)
    model = Isomap(1, graph=RadiusGraph(1.5 * chord)).fit(np.column_stack([np.cos(angle), np.sin(angle)]))
    steps = np.arange(n) - (n - 1) / 2
    up_to_sign(model.embedding_[:, 0], chord * steps, atol=1e-9)  # the polygon, exactly
    up_to_sign(model.embedding_[:, 0], angle - np.pi / 2, atol=1e-4)  # the arc, to O(h^2)


def test_isomap_of_a_complete_graph_is_mds(cloud, others):
    near, all_pairs = ClassicalMDS(3).fit(cloud), Isomap(3, n_neighbors=len(cloud) - 1).fit(cloud)
    assert_allclose(all_pairs.eigenvalues_, near.eigenvalues_, rtol=1e-9)
    assert_allclose(all_pairs.transform(cloud), near.transform(cloud), atol=1e-8)


def test_operator_of_a_ring_by_hand():
    """The divided operator's own spectrum, without an estimator."""
    n = 12
    W = np.roll(np.eye(n), 1, axis=1) + np.roll(np.eye(n), -1, axis=1)
    values = np.linalg.eigvalsh(as_operator(ref.divided_gram(W)).matrix())
    assert_allclose(np.sort(values), np.sort(np.cos(2 * np.pi * np.arange(n) / n)), atol=1e-12)


# --- scales and residuals -----------------------------------------------------------------------------------


def test_the_shifted_scale_is_inverted():
    scale = RootScale(np.array([2.0, 0.5]), np.array([3.0, -1.0]))
    values = np.array([[1.0, 2.0], [-4.0, 0.25]])
    np.testing.assert_allclose(scale(values, None), [[-1.0, 2.0], [-11.0, 1.125]])
    np.testing.assert_allclose(scale.invert(scale(values, None), values, None), values)


def test_residuals_belong_to_the_coordinates_and_not_to_the_trivial_function():
    X = np.random.default_rng(0).normal(size=(600, 8))
    model = LaplacianEigenmaps(3, n_neighbors=12, eigen_solver=Solver("lanczos", tol=1e-4)).fit(X)
    pairs, K = model._model_.eigenfunctions.pairs, gram(model.kernel_).matrix()
    expected = np.linalg.norm(K @ pairs.vectors - pairs.vectors * pairs.values, axis=0)
    assert expected[0] < 0.1 * expected[3]  # of the trivial function
    np.testing.assert_allclose(model.residuals_, expected[1:], rtol=1e-2)


def test_neighbours_at_equal_distances_are_mutual():
    angle = 2 * np.pi * np.arange(8) / 8
    index = neighbor_index(np.column_stack([np.cos(angle), np.sin(angle)]).round(12))
    affinity = mutual_affinity(nearest_neighbor_graph(index, 2), 2)
    np.testing.assert_array_equal(affinity.edges().data, np.ones(16))


def test_the_scale_of_a_gaussian_is_the_median_distance_of_two_different_points():
    X = np.array([[0.0], [1.0], [3.0], [7.0]])  # distances 1, 2, 3, 4, 6, 7

    def distance(A, B):
        return np.abs(A - B.T)

    assert median_distance(X, distance) == 3.5
    assert local_distance(X, distance, 2) == np.median([3, 2, 3, 6])


def test_usable_eigenvalues_by_value_are_positive():
    assert usable_count(np.array([3.0, 1.0, 1e-20, -2.0]), "value", 4, 3.0) == 2
    assert usable_count(np.array([3.0, -2.0, 1.0, 1e-20]), "magnitude", 4, 3.0) == 3
    assert usable_count(np.array([-3.0, -4.0]), "value", 4, 4.0) == 0
