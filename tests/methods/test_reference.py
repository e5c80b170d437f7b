"""The fast code against the literal transcriptions in ``reference``, on training points and on new ones."""

from __future__ import annotations

import numpy as np
import pytest
import reference as ref
from numpy.testing import assert_allclose
from sklearn import decomposition, manifold

from eigenscape import (
    ClassicalMDS,
    DiffusionMap,
    Isomap,
    KernelPCA,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    SpectralClustering,
)
from eigenscape.graph.geodesics import geodesics
from eigenscape.graph.neighborhood import nearest_neighbor_graph, radius_graph
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.graph.row_index import row_hashes
from eigenscape.methods.clustering import best_threshold, normalized_cut
from eigenscape.methods.lle import alignment_factor, alignment_matrix
from eigenscape.operators import as_operator
from eigenscape.options import KNNGraph

RTOL = 1e-8
K = 5


def points(n, d, seed):
    return np.random.default_rng(seed).standard_normal((n, d))


@pytest.fixture(scope="module")
def X():
    return points(26, 3, 0)


@pytest.fixture(scope="module")
def Y(X):
    """New points, one far away, one training point among them."""
    return np.vstack([points(5, 3, 1), [[4.0, -3.0, 5.0]], X[7:8]])


def close(actual, expected):
    """Equal to 1e-8 of the largest entry."""
    assert_allclose(actual, expected, rtol=RTOL, atol=RTOL * np.abs(expected).max())


def same_signs(actual, expected):
    """``expected`` with the signs of ``actual``, column by column."""
    return expected * np.where(np.sum(actual * expected, axis=0) < 0, -1.0, 1.0)


def close_up_to_sign(actual, expected):
    close(actual, same_signs(actual, expected))


def embedding_and_new(model, X, Y, expected, expected_new):
    """Both parts of a map with one choice of signs."""
    found = np.vstack([model.embedding_, model.transform(Y)])
    close_up_to_sign(found, np.vstack([expected, expected_new]))


def dense(matrix):
    return np.asarray(matrix.todense())


# Additive normalisation


def test_kernel_pca_eq_5_7(X, Y):
    kernel = ref.gaussian(0.3)
    K_train, K_new = ref.centred_kernel(kernel, X, X), ref.centred_kernel(kernel, Y, X)
    values, vectors = ref.principal(K_train, 3)
    model = KernelPCA(3, kernel="rbf", gamma=0.3).fit(X)
    close(model.kernel_(X), K_train)
    close(model.kernel_(Y), K_new)
    close(model.eigenvalues_, values)
    f = ref.nystrom(K_new, values, vectors)
    embedding_and_new(model, X, Y, np.sqrt(values) * vectors, np.sqrt(values / len(X)) * f)
    close_up_to_sign(model.eigenfunctions(Y), f)  # eq. 20


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_mds_eq_8_10(X, Y, metric):
    distance = ref.euclidean if metric == "euclidean" else lambda x, y: sum(abs(x - y))
    squared, squared_new = ref.table(distance, X, X) ** 2, ref.table(distance, Y, X) ** 2
    K_train, K_new = ref.centred_distances(squared), ref.centred_distance_kernel(squared_new, squared)
    values, vectors = ref.principal(K_train, 3)
    model = ClassicalMDS(3, metric=metric).fit(X)
    close(model.kernel_(X), K_train)
    close(model.kernel_(Y), K_new)
    close(model.eigenvalues_, values)
    embedding_and_new(
        model, X, Y, np.sqrt(values) * vectors, ref.nystrom(K_new, values, vectors) * np.sqrt(values / len(X))
    )


def test_mds_of_precomputed_distances_equals_mds_of_points(X, Y):
    distances, new = ref.table(ref.euclidean, X, X), ref.table(ref.euclidean, Y, X)
    table, plain = ClassicalMDS(2, metric="precomputed").fit(distances), ClassicalMDS(2).fit(X)
    close(table.embedding_, plain.embedding_)
    close(table.transform(new), plain.transform(Y))


def test_general_centring(X):
    c = np.random.default_rng(3).standard_normal(len(X))
    c /= c.sum()
    squared = ref.table(ref.euclidean, X, X) ** 2
    expected = ref.general_centring(squared, c)
    model = ClassicalMDS(3, centering=c).fit(X)
    close(model.kernel_(X), expected)
    close(model.eigenvalues_, ref.principal(expected, 3)[0])


# Divisive normalisation


def test_divided_kernel_eq_11_12(X, Y):
    K_train, K_new = ref.table(ref.gaussian(0.5), X, X), ref.table(ref.gaussian(0.5), Y, X)
    model = LaplacianEigenmaps(2, affinity="rbf", gamma=0.5).fit(X)
    close(model.kernel_(X), ref.divided_gram(K_train))
    close(model.kernel_(Y), ref.divided_kernel(K_new, K_train))


def test_laplacian_eigenmaps_eq_13(X, Y):
    K_train, K_new = ref.table(ref.gaussian(0.5), X, X), ref.table(ref.gaussian(0.5), Y, X)
    sigma, Z = ref.generalized_problem(K_train, 2)
    model = LaplacianEigenmaps(2, affinity="rbf", gamma=0.5).fit(X)
    close(model.eigenvalues_, 1 - sigma)
    S, S_new = K_train.sum(axis=1), K_new.sum(axis=1)
    f = ref.nystrom(ref.divided_kernel(K_new, K_train), 1 - sigma, Z * np.sqrt(S)[:, None])
    embedding_and_new(model, X, Y, np.sqrt(len(X)) * Z, f / np.sqrt(S_new)[:, None])


def test_footnote_3_leaves_the_diagonal_out(X, Y):
    K_train, K_new = ref.table(ref.gaussian(0.5), X, X), ref.table(ref.gaussian(0.5), Y, X)
    own = ref.divided_without_diagonal(K_train, K_train, lambda i, j: i == j)
    new = ref.divided_without_diagonal(K_new, K_train, lambda i, j: np.array_equal(Y[i], X[j]))
    model = LaplacianEigenmaps(2, affinity="rbf", gamma=0.5, include_diagonal=False).fit(X)
    close(model.kernel_(X), own)
    close(model.kernel_(Y), new)
    values, vectors = ref.principal(own, 3)
    close(model.eigenvalues_, values[1:])
    S = K_train.sum(axis=1) - np.diag(K_train)
    close_up_to_sign(model.embedding_, (np.sqrt(len(X)) * vectors / np.sqrt(S)[:, None])[:, 1:])
    S_new = K_new.sum(axis=1) - np.array([0.0] * 6 + [1.0])  # the last new point is a training point
    f = ref.nystrom(new, values, vectors)[:, 1:] / np.sqrt(S_new)[:, None]
    close_up_to_sign(model.transform(Y), f)


def test_spectral_clustering_map(X, Y):
    K_train, K_new = ref.table(ref.gaussian(0.5), X, X), ref.table(ref.gaussian(0.5), Y, X)
    values, vectors = ref.principal(ref.divided_gram(K_train), 3)
    model = SpectralClustering(3, affinity="rbf", gamma=0.5).fit(X)
    f = ref.nystrom(ref.divided_kernel(K_new, K_train), values, vectors)
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)  # Bengio sec. 2.3
    embedding_and_new(model, X, Y, unit, f / np.linalg.norm(f, axis=1, keepdims=True))


@pytest.mark.parametrize("weights", ["binary", "heat", "inverse"])
def test_graph_affinity_eq_13_on_new_points(X, Y, weights):
    D, D_new = ref.table(ref.euclidean, X, X), ref.table(ref.euclidean, Y[:-1], X)
    edges, edges_new = ref.knn_edges(D, K), ref.knn_edges_new(D_new, D, K)
    shortest = edges[np.isfinite(edges)].min()
    weigh = {
        "binary": lambda d: np.isfinite(d) * 1.0,
        "heat": lambda d: np.exp(-(d**2) / 2.5),  # Belkin sec. 2, step 2
        "inverse": lambda d: np.minimum(shortest / d, 1.0),
    }[weights]
    W, W_new = weigh(edges), weigh(edges_new)
    sigma, Z = ref.generalized_problem(W, 2)
    model = LaplacianEigenmaps(
        2, affinity=KNNGraph(K, weights=weights, width=2.5 if weights == "heat" else None)
    ).fit(X)
    close(model.eigenvalues_, 1 - sigma)
    f = ref.nystrom(ref.divided_kernel(W_new, W), 1 - sigma, Z * np.sqrt(W.sum(axis=1))[:, None])
    embedding_and_new(model, X, Y[:-1], np.sqrt(len(X)) * Z, f / np.sqrt(W_new.sum(axis=1))[:, None])


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_rows_near_a_vertex(X, metric):
    """A row is its nearest vertex up to a thousandth of the distance to the next, and a new point beyond."""
    D = ref.table(getattr(ref, metric), X, X)
    next_one = np.sort(D, axis=1)[:, 1]
    rng, fractions = np.random.default_rng(3), np.array([1e-12, 1e-6, 0.9e-3, 1.1e-3, 1e-2, 0.2])
    direction = rng.standard_normal((6, 3))
    direction /= ref.table(getattr(ref, metric), direction, np.zeros((1, 3)))
    Y = X[:6] + (fractions * next_one[:6])[:, None] * direction
    edges = ref.knn_edges(D, K)
    edges_new = ref.knn_edges_new(ref.table(getattr(ref, metric), Y, X), D, K)
    assert (np.isfinite(edges_new[range(6), range(6)])).all()
    edges_new[:3] = edges[:3]
    W, W_new = np.isfinite(edges) * 1.0, np.isfinite(edges_new) * 1.0
    sigma, Z = ref.generalized_problem(W, 2)
    model = LaplacianEigenmaps(2, affinity=KNNGraph(K, metric=metric)).fit(X)
    f = ref.nystrom(ref.divided_kernel(W_new, W), 1 - sigma, Z * np.sqrt(W.sum(axis=1))[:, None])
    embedding_and_new(model, X, Y, np.sqrt(len(X)) * Z, f / np.sqrt(W_new.sum(axis=1))[:, None])


def test_equal_rows_that_rounding_has_split_are_recognised():
    """The scale is then a millionth of the distance to the farthest neighbour."""
    X = points(30, 3, 6)
    X = np.vstack([X, X[:4] * (1 + 1e-15)])
    assert (X[30:] != X[:4]).any(axis=1).all()
    for graph in (nearest_neighbor_graph(neighbor_index(X), K), radius_graph(neighbor_index(X), 2.0)):
        found = graph.find(X * (1 + 1e-12))
        near = np.linalg.norm(X[found] - X, axis=1)
        assert (found >= 0).all()
        assert near.max() < 1e-11


# Neighbourhood graphs


def stored(edges):
    return np.where(np.isfinite(edges), edges, 0.0)


@pytest.mark.parametrize("d", [1, 3, 40])  # tree and blocks
def test_nearest_neighbor_graph_by_brute_force(d):
    X, Y = points(40, d, 4), points(25, d, 5)
    D, D_new = ref.table(ref.euclidean, X, X), ref.table(ref.euclidean, Y, X)
    graph = nearest_neighbor_graph(neighbor_index(X), K)
    close(dense(graph.distances), stored(ref.knn_edges(D, K)))
    close(dense(graph.edges_of(Y)), stored(ref.knn_edges_new(D_new, D, K)))
    close(graph.radii, [sorted(row)[K] for row in D])


@pytest.mark.parametrize("metric", ["cityblock", "chebyshev", "cosine"])
def test_nearest_neighbor_graph_with_other_metrics(metric):
    distance = {
        "cityblock": lambda x, y: sum(abs(x - y)),
        "chebyshev": lambda x, y: max(abs(x - y)),
        "cosine": lambda x, y: 1 - x @ y / np.sqrt((x @ x) * (y @ y)),
    }[metric]
    X, Y = points(30, 4, 6), points(10, 4, 7)
    D, D_new = ref.table(distance, X, X), ref.table(distance, Y, X)
    graph = nearest_neighbor_graph(neighbor_index(X, metric), K)
    close(dense(graph.distances), stored(ref.knn_edges(D, K)))
    close(dense(graph.edges_of(Y)), stored(ref.knn_edges_new(D_new, D, K)))


def test_neighbour_graph_of_precomputed_distances():
    X, Y = points(30, 4, 8), points(10, 4, 9)
    D, D_new = ref.table(ref.euclidean, X, X), ref.table(ref.euclidean, Y, X)
    graph = nearest_neighbor_graph(neighbor_index(D, "precomputed"), K)
    close(dense(graph.distances), stored(ref.knn_edges(D, K)))
    close(dense(graph.edges_of(D_new)), stored(ref.knn_edges_new(D_new, D, K)))


@pytest.mark.parametrize("d", [2, 20])
def test_radius_graph_by_brute_force(d):
    X = points(40, d, 10)
    D = ref.table(ref.euclidean, X, X)
    radius = float(np.quantile(D, 0.2))
    graph = radius_graph(neighbor_index(X), radius)
    close(dense(graph.distances), stored(ref.radius_edges(D, radius)))


@pytest.mark.parametrize("square", [1, 2, 3, 5, 6, 10])
@pytest.mark.parametrize("padding", [0, 20])  # tree and blocks
def test_radius_is_inclusive_on_a_lattice(square, padding):
    """Points exactly at the radius are neighbours (Belkin's ``<`` would leave whole shells to rounding)."""
    axis = np.arange(4.0)
    X = np.stack(np.meshgrid(axis, axis, axis), axis=-1).reshape(-1, 3)
    X = np.hstack([X, np.zeros((len(X), padding))])
    D = np.sqrt(np.square(X[:, None] - X[None]).sum(axis=2))
    radius = float(np.sqrt(square))
    graph = radius_graph(neighbor_index(X), radius)
    assert np.array_equal(dense(graph.distances) > 0, (radius >= D) & (D > 0))


def test_new_points_on_a_lattice_join_every_training_point_that_reaches_them():
    """A distance equal to the kept k-th one counts; integer coordinates make such ties exact."""
    rng = np.random.default_rng(11)
    X = np.unique(rng.integers(0, 6, (60, 3)), axis=0).astype(float)
    Y = rng.integers(-1, 7, (40, 3)).astype(float)
    Y = Y[~(Y[:, None] == X[None]).all(axis=2).any(axis=1)]
    D_new = np.sqrt(np.square(Y[:, None] - X[None]).sum(axis=2))
    graph = nearest_neighbor_graph(neighbor_index(X), 4)
    joined = dense(graph.edges_of(Y)) > 0
    assert joined[graph.radii >= D_new].all()


def test_ties_are_broken_by_the_values_of_rows():
    """As documented in :mod:`eigenscape.graph.neighbors`, for either index."""
    axis = np.arange(5.0)
    X = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
    D = np.sqrt(np.square(X[:, None] - X[None]).sum(axis=2))
    order = np.argsort(row_hashes(X))
    expected = np.array([order[ref.nearest(row[order], 4)] for row in D])
    wide = np.hstack([X, np.zeros((len(X), 20))])
    assert np.array_equal(neighbor_index(wide).nearest(wide, 4)[1], expected)
    assert np.array_equal(neighbor_index(X).nearest(X, 4)[1], expected)


# Geodesics and Isomap


def test_floyd_is_the_minimum_over_all_paths():
    """The reference itself: eq. 14 by enumeration."""
    D = ref.table(ref.euclidean, *[points(7, 2, 12)] * 2)
    edges = ref.knn_edges(D, 2)
    length = ref.floyd(edges)
    for i in range(7):
        for j in range(7):
            expected = ref.shortest_by_enumeration(edges, i, j)
            assert length[i, j] == pytest.approx(expected, rel=1e-12)


def isomap_reference(X, Y, k):
    D, D_new = ref.table(ref.euclidean, X, X), ref.table(ref.euclidean, Y, X)
    length = ref.floyd(ref.knn_edges(D, k))
    return length, ref.geodesics_new(ref.knn_edges_new(D_new, D, k), length)


def test_geodesics_eq_14(X, Y):
    length, length_new = isomap_reference(X, Y[:-1], K)
    graph = nearest_neighbor_graph(neighbor_index(X), K)
    close(geodesics(graph, X), length)
    close(geodesics(graph, Y[:-1]), length_new)
    close(geodesics(graph, X[[3, 1]]), length[[3, 1]])


def test_isomap_eq_15_and_23(X, Y):
    length, length_new = isomap_reference(X, Y[:-1], K)
    values, vectors = ref.principal(ref.centred_distances(length**2), 2)
    model = Isomap(2, n_neighbors=K).fit(X)
    close(model.eigenvalues_, values)
    K_new = ref.centred_distance_kernel(length_new**2, length**2)
    by_nystrom = ref.nystrom(K_new, values, vectors) * np.sqrt(values / len(X))
    embedding_and_new(model, X, Y[:-1], np.sqrt(values) * vectors, by_nystrom)
    close_up_to_sign(model.transform(Y[:-1]), ref.landmark_formula(length_new**2, length**2, values, vectors))


# Locally linear embedding


@pytest.fixture(scope="module")
def X8():
    """More features than neighbours: the small eigenvalues of LLE are well apart."""
    return points(26, 8, 0)


@pytest.fixture(scope="module")
def Y8(X8):
    return np.vstack([points(5, 8, 1), np.full((1, 8), 4.0), X8[7:8]])


@pytest.mark.parametrize("n", [30, 31])  # the median of an odd number of ratios is one of them
@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("method", ["standard", "modified", "hessian", "ltsa"])
def test_alignment_matrices(method, d, n):
    X = points(n, 4, 13)
    graph = nearest_neighbor_graph(neighbor_index(X), 7)
    expected = {
        "standard": lambda: ref.standard_alignment(X, 7, 1e-2),
        "modified": lambda: ref.modified_alignment(X, 7, d, 1e-2),
        "hessian": lambda: ref.hessian_alignment(X, 7, d),
        "ltsa": lambda: ref.ltsa_alignment(X, 7, d),
    }[method]()
    close(dense(alignment_matrix(alignment_factor(graph, method, d, 1e-2))), expected)


def test_alignment_with_fewer_features_than_neighbours():
    X = points(30, 2, 14)
    graph = nearest_neighbor_graph(neighbor_index(X), 6)
    close(
        dense(alignment_matrix(alignment_factor(graph, "standard", 1, 1e-3))),
        ref.standard_alignment(X, 6, 1e-3),
    )
    close(dense(alignment_matrix(alignment_factor(graph, "ltsa", 1, 1e-3))), ref.ltsa_alignment(X, 6, 1))
    close(
        dense(alignment_matrix(alignment_factor(graph, "hessian", 2, 1e-3))), ref.hessian_alignment(X, 6, 2)
    )


def test_lle_in_the_limit(X8, Y8):
    X, Y = X8, Y8
    values, vectors = np.linalg.eigh(ref.standard_alignment(X, K, 1e-3))
    coordinates = np.sqrt(len(X)) * vectors[:, 1:3]  # after the constant one, times sqrt(m)
    model = LocallyLinearEmbedding(2, n_neighbors=K).fit(X)
    close(model.eigenvalues_, 1 - values[1:3])
    embedding_and_new(
        model, X, Y, coordinates, ref.lle_weights_new(Y, X, K, 1e-3) @ coordinates
    )  # Bengio sec. 3.1


@pytest.mark.parametrize("c", [1.5, 3.0, 1e3])
def test_lle_kernel_with_finite_c(X8, Y8, c):
    X, Y = X8, Y8
    K_train, K_new = ref.lle_kernel(X, X, K, 1e-3, c), ref.lle_kernel(Y, X, K, 1e-3, c)
    model = LocallyLinearEmbedding(2, n_neighbors=K, c=c).fit(X)
    close(dense(model.kernel_(X)), K_train)
    close(dense(model.kernel_(Y)), K_new)
    values, vectors = ref.principal(K_train, 3)
    close(model.eigenvalues_, values[1:])
    f = ref.nystrom(K_new, values, vectors)
    embedding_and_new(model, X, Y, np.sqrt(len(X)) * vectors[:, 1:], f[:, 1:])


# The criterion


LOSS_MODELS = [
    KernelPCA(2, gamma=0.3),
    ClassicalMDS(2, metric="cityblock"),
    Isomap(2, n_neighbors=K),
    LaplacianEigenmaps(2, n_neighbors=K),
    LaplacianEigenmaps(2, affinity="rbf", gamma=0.5),
    LocallyLinearEmbedding(2, n_neighbors=K),
    LocallyLinearEmbedding(2, n_neighbors=K, c=2.0),
]


@pytest.mark.parametrize("model", LOSS_MODELS, ids=lambda m: type(m).__name__)
def test_loss_sec_4(model, X, Y):
    model = model.fit(X)
    K_train, K_new = (
        np.asarray(k.todense()) if hasattr(k, "todense") else k for k in (model.kernel_(X), model.kernel_(Y))
    )
    trivial = 1 if isinstance(model, (LaplacianEigenmaps, LocallyLinearEmbedding)) else 0
    values, vectors = ref.principal(K_train, 2 + trivial)
    f_train, f_new = ref.nystrom(K_train, values, vectors), ref.nystrom(K_new, values, vectors)
    assert model.loss() == pytest.approx(ref.loss(K_train, f_train, f_train, values), rel=1e-8)
    if not isinstance(model, LocallyLinearEmbedding):  # which has no kernel between new points
        K_among = model.kernel_.to(Y)(Y)
        K_among = K_among.toarray() if hasattr(K_among, "toarray") else K_among
        assert model.loss(Y) == pytest.approx(ref.held_out_loss(K_among, f_new, values, len(X)), rel=1e-8)
    spectrum = np.linalg.eigvalsh(K_train)[::-1]
    discarded = np.sum(spectrum**2) - np.sum(values**2)
    assert model.loss() == pytest.approx(discarded / len(X) ** 2, rel=1e-7)


def among(model, Y):
    values = model.kernel_.to(Y)(Y)
    return values.toarray() if hasattr(values, "toarray") else values


def test_kernel_pca_between_new_points(X, Y):
    model = KernelPCA(2, gamma=0.3).fit(X)
    k = ref.gaussian(0.3)
    expected = ref.centred_between(ref.table(k, Y, Y), ref.table(k, Y, X), ref.table(k, X, X))
    close(among(model, Y), expected)


def test_mds_between_new_points(X, Y):
    model = ClassicalMDS(2, metric="cityblock").fit(X)
    half = lambda x, y: -(np.abs(x - y).sum() ** 2) / 2  # noqa: E731
    expected = ref.centred_between(ref.table(half, Y, Y), ref.table(half, Y, X), ref.table(half, X, X))
    close(among(model, Y), expected)


def test_laplacian_eigenmaps_between_new_points(X, Y):
    k = ref.gaussian(0.5)
    expected = ref.divided_between(ref.table(k, Y, Y), ref.table(k, Y, X))
    close(among(LaplacianEigenmaps(2, affinity="rbf", gamma=0.5).fit(X), Y), expected)


def test_diffusion_map_between_new_points(X, Y):
    """The sums of the first normalisation and then those of the kernel so divided."""
    k = ref.gaussian(0.5)
    gram, K_new, K_among = (ref.table(k, *pair) for pair in ((X, X), (Y, X), (Y, Y)))
    density, density_new = gram.sum(axis=1), K_new.sum(axis=1)
    K_new, K_among = K_new / np.outer(density_new, density), K_among / np.outer(density_new, density_new)
    close(
        among(DiffusionMap(2, affinity="rbf", gamma=0.5, alpha=1).fit(X), Y),
        ref.divided_between(K_among, K_new),
    )


def test_graph_affinity_between_new_points(X, Y):
    Y = Y[:-1]  # without the training point
    D, D_new, D_among = (ref.table(ref.euclidean, *pair) for pair in ((X, X), (Y, X), (Y, Y)))
    edges_new, edges_among = ref.knn_edges_new(D_new, D, K), ref.knn_edges_among(D_among, D_new, K)
    assert np.isfinite(edges_among).any()
    expected = ref.divided_between(np.isfinite(edges_among) * 1.0, np.isfinite(edges_new) * 1.0)
    close(among(LaplacianEigenmaps(2, n_neighbors=K).fit(X), Y), expected)


@pytest.mark.long
def test_isomap_between_new_points(X, Y):
    Y = Y[:-1]
    D, D_new, D_among = (ref.table(ref.euclidean, *pair) for pair in ((X, X), (Y, X), (Y, Y)))
    edges, edges_new = ref.knn_edges(D, K), ref.knn_edges_new(D_new, D, K)
    lengths = ref.geodesics_among(ref.knn_edges_among(D_among, D_new, K), edges_new, edges)
    assert (lengths == D_among).any()
    assert (lengths > 1.01 * D_among).any()
    own = ref.floyd(edges)
    tables = (lengths, ref.geodesics_new(edges_new, own), own)
    close(
        among(Isomap(2, n_neighbors=K).fit(X), Y), ref.centred_between(*(-np.square(t) / 2 for t in tables))
    )


# Cuts


@pytest.mark.parametrize("clusters", [2, 3])
def test_normalized_cut(clusters):
    rng = np.random.default_rng(15)
    W = rng.random((12, 12))
    W = W + W.T
    labels = np.arange(12) % clusters
    rng.shuffle(labels)
    assert normalized_cut(as_operator(W), labels) == pytest.approx(ref.normalized_cut(W, labels), rel=1e-12)


def test_two_way_cut_is_belkins(X):
    W = ref.table(ref.gaussian(0.5), X, X)
    side = X[:, 0] > 0
    cut = W[side][:, ~side].sum()
    expected = cut * (1 / W[side].sum() + 1 / W[~side].sum())  # Belkin sec. 4
    assert ref.normalized_cut(W, side.astype(int)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_best_threshold_by_brute_force(seed):
    rng = np.random.default_rng(seed)
    W = rng.random((14, 14)) * (rng.random((14, 14)) < 0.5)
    W = W + W.T + 0.01
    z = np.round(rng.standard_normal(14), 1)  # with ties
    threshold = best_threshold(W, z)
    cut, labels = ref.best_threshold_cut(W, z)
    assert np.array_equal(z > threshold, np.array(labels, dtype=bool))
    assert ref.normalized_cut(W, z > threshold) == pytest.approx(cut, rel=1e-12)


def test_spectral_clustering_by_threshold(X):
    X = X + np.where(np.arange(len(X)) % 2, 1.5, -1.5)[:, None]
    W = ref.table(ref.gaussian(0.1), X, X)
    _, Z = ref.generalized_problem(W, 1)
    cut, labels = ref.best_threshold_cut(W, Z[:, 0])
    model = SpectralClustering(2, affinity="rbf", gamma=0.1, assign_labels="threshold").fit(X)
    assert model.ncut_ == pytest.approx(cut, rel=1e-8)
    assert np.array_equal(model.labels_ == model.labels_[0], np.array(labels) == labels[0])


# scikit-learn, where its definitions are the same


def test_kernel_pca_like_scikit_learn(X, Y):
    ours = KernelPCA(3, kernel="poly", gamma=0.4, degree=2, coef0=0.5).fit(X)
    theirs = decomposition.KernelPCA(3, kernel="poly", gamma=0.4, degree=2, coef0=0.5).fit(X)
    close(ours.eigenvalues_, theirs.eigenvalues_)
    embedding_and_new(ours, X, Y, theirs.transform(X), theirs.transform(Y))


def test_isomap_like_scikit_learn(X):
    ours = Isomap(2, n_neighbors=K).fit(X)
    theirs = manifold.Isomap(n_components=2, n_neighbors=K, eigen_solver="dense").fit(X)
    close(np.sqrt(-2 * geodesics_kernel(ours, X)), theirs.dist_matrix_)
    close_up_to_sign(ours.embedding_, theirs.embedding_)


def geodesics_kernel(model, X):
    return model.kernel_.base(X)


@pytest.mark.parametrize("method", ["standard", "modified"])
def test_lle_like_scikit_learn(method):
    """The default of ``reg`` is the same share of the trace."""
    X = points(60, 3, 16)
    ours = LocallyLinearEmbedding(2, n_neighbors=8, method=method).fit(X)
    theirs = manifold.LocallyLinearEmbedding(
        n_components=2, n_neighbors=8, method=method, eigen_solver="dense"
    ).fit(X)
    close_up_to_sign(ours.embedding_, np.sqrt(len(X)) * theirs.embedding_)


def test_ltsa_like_scikit_learn_on_a_plane():
    """scikit-learn's neighbourhoods exclude the centre; on a plane both maps are affine nevertheless."""
    axis = np.arange(8.0)
    plane = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2) + 0.3 * points(64, 2, 17)
    X = plane @ np.linalg.qr(points(3, 3, 18))[0][:2]
    ours = LocallyLinearEmbedding(2, n_neighbors=8, method="ltsa").fit(X).embedding_
    theirs = manifold.LocallyLinearEmbedding(
        n_components=2, n_neighbors=8, method="ltsa", eigen_solver="dense"
    ).fit_transform(X)
    affine = np.column_stack([np.ones(len(X)), theirs])
    assert_allclose(affine @ np.linalg.lstsq(affine, ours, rcond=None)[0], ours, atol=1e-8)


def test_laplacian_eigenmaps_like_scikit_learn(X):
    """scikit-learn ignores the diagonal of the affinity: compare with a zero diagonal."""
    W = ref.table(ref.gaussian(0.5), X, X)
    np.fill_diagonal(W, 0.0)
    ours = LaplacianEigenmaps(2, affinity="precomputed").fit(W).embedding_
    theirs = manifold.SpectralEmbedding(2, affinity="precomputed", random_state=0).fit_transform(W)
    scale = np.linalg.norm(ours, axis=0) / np.linalg.norm(theirs, axis=0)
    assert_allclose(ours, same_signs(ours, theirs * scale), atol=1e-7)
    assert scale[0] == pytest.approx(scale[1], rel=1e-7)
