"""What only shows at size: multilevel and sparse solvers, approximate neighbours, compiled geodesics,
memory."""

from __future__ import annotations

import tracemalloc
import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import dijkstra
from sklearn.datasets import make_swiss_roll

from eigenscape import Isomap, KernelEigenmap, LandmarkMDS, LaplacianEigenmaps, LocallyLinearEmbedding
from eigenscape.exceptions import (
    DegenerateSpectrumWarning,
    DisconnectedGraphWarning,
    NotEnoughMemoryError,
)
from eigenscape.graph.approximate import ApproximateIndex
from eigenscape.graph.blocks import BlockIndex
from eigenscape.graph.components import component_labels, connect
from eigenscape.graph.geodesics import geodesic_products, geodesics
from eigenscape.graph.neighborhood import nearest_neighbor_graph
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.graph.tuning import TUNING
from eigenscape.kernels import local
from eigenscape.methods.lle import alignment_factor, alignment_matrix
from eigenscape.operators import SparseOperator
from eigenscape.options import KNNGraph, RadiusGraph
from eigenscape.solvers import SemidefiniteProblem, SolverConfig, hierarchy, semidefinite, smallest
from eigenscape.solvers.direct import RootInverse, inverse_on_complement
from eigenscape.solvers.hierarchy import Hierarchy, aggregate
from eigenscape.solvers.width import graph_shape


def roll(n: int) -> tuple[np.ndarray, np.ndarray]:
    return make_swiss_roll(n, random_state=0)


def mixture(n: int, d: int = 40) -> np.ndarray:
    rng = np.random.default_rng(0)
    return 0.5 * rng.standard_normal((12, d))[rng.integers(12, size=n)] + rng.standard_normal((n, d))


def laplacian_of(X: np.ndarray, k: int = 8) -> tuple[sparse.csr_array, np.ndarray]:
    """Normalised Laplacian of the nearest-neighbour graph, and its null vector."""
    weights = nearest_neighbor_graph(neighbor_index(X), k).distances
    weights.data[:] = 1.0
    degree = weights.sum(axis=1)
    root = sparse.diags_array(1 / np.sqrt(degree))
    L = sparse.csr_array(sparse.eye_array(len(X)) - root @ weights @ root)
    L.sort_indices()
    return L, np.sqrt(degree / degree.sum())


# --- solvers ------------------------------------------------------------------------------------------------


def test_clusters_joined_by_single_edges_are_thin():
    rng = np.random.default_rng(0)
    centers = 40 * rng.standard_normal((12, 30))
    X = centers[np.repeat(np.arange(12), 400)] + rng.standard_normal((4800, 30))
    graph = nearest_neighbor_graph(neighbor_index(X), 10)
    joined = connect(graph, component_labels(graph.distances))
    assert graph_shape(joined.distances).is_thin
    assert not graph_shape(
        nearest_neighbor_graph(neighbor_index(X - centers.repeat(400, axis=0)), 10).distances
    ).is_thin


def test_surfaces_are_thin_and_clouds_are_wide():
    assert graph_shape(laplacian_of(roll(4000)[0])[0]).is_thin
    assert not graph_shape(laplacian_of(mixture(4000), 10)[0]).is_thin


@pytest.mark.long
@pytest.mark.parametrize("thin", [True, False])
def test_multilevel_agrees_with_a_factorisation(thin, monkeypatch):
    monkeypatch.setattr(hierarchy, "COARSEST", 300)
    L, null = laplacian_of(roll(4000)[0] if thin else mixture(2500))
    end = SemidefiniteProblem(SparseOperator(L), null, 2.0)
    levels, factor = (smallest(end, 3, SolverConfig(name)) for name in ("multilevel", "shift-invert"))
    np.testing.assert_allclose(levels.values, factor.values, rtol=1e-8)
    assert (levels.residuals <= 1e-10 * levels.values + 1e-13).all()
    assert levels.solver == "multilevel"
    assert levels.n_iter < 60


@pytest.mark.long
def test_multilevel_separates_clusters_joined_by_single_edges(monkeypatch):
    """Five eigenvalues far below all others; loops on several threads give the same bits."""
    monkeypatch.setattr(hierarchy, "_LARGE", 1000)
    rng = np.random.default_rng(3)
    X = rng.standard_normal((3000, 2)) + 30 * rng.integers(0, [3, 2], (3000, 2))
    graph = nearest_neighbor_graph(neighbor_index(X), 10)
    joined = connect(graph, component_labels(graph.distances)).distances
    joined.data[:] = 1.0
    degree = joined.sum(axis=1)
    root = sparse.diags_array(1 / np.sqrt(degree))
    L = sparse.csr_array(sparse.eye_array(len(X)) - root @ joined @ root)
    end = SemidefiniteProblem(SparseOperator(L), np.sqrt(degree / degree.sum()), 2.0)
    levels = smallest(end, 5, SolverConfig("multilevel", n_jobs=1))
    factor = smallest(end, 5, SolverConfig("shift-invert"))
    np.testing.assert_allclose(levels.values, factor.values, rtol=1e-7)
    np.testing.assert_allclose(np.abs(np.sum(levels.vectors * factor.vectors, axis=0)), 1, rtol=1e-7)
    other = smallest(end, 5, SolverConfig("multilevel", n_jobs=2))
    assert np.array_equal(levels.vectors, other.vectors)


def test_thin_laplacians_of_many_points_are_solved_by_levels(monkeypatch):
    monkeypatch.setattr("eigenscape.solvers.policy.FACTOR_POINTS", 2000)
    monkeypatch.setattr("eigenscape.solvers.policy.TRIAL_POINTS", 2000)
    L, null = laplacian_of(roll(3000)[0])
    end = SemidefiniteProblem(SparseOperator(L), null, 2.0)
    assert smallest(end, 2, SolverConfig()).solver == "multilevel"


def test_interpolation_keeps_the_null_vector(monkeypatch):
    monkeypatch.setattr(hierarchy, "COARSEST", 200)
    L, null = laplacian_of(roll(3000)[0])
    built = Hierarchy(L, null)
    assert len(built.levels) >= 2
    fine = built.coarse_null
    for level in reversed(built.levels):
        fine = level.P @ fine
    np.testing.assert_allclose(fine, null, rtol=1e-5)  # the interpolation is kept in single precision


def test_groups_are_connected_and_cover_all():
    L, _ = laplacian_of(roll(2000)[0])
    group, count = aggregate(L)
    assert group.min() == 0
    assert group.max() == count - 1
    assert 2 < len(group) / (group.max() + 1) < 40
    together = sparse.coo_array(L)
    inside = together.row[group[together.row] == group[together.col]]
    alone = np.bincount(group)[group] == 1
    assert (
        np.bincount(inside, minlength=len(group))[~alone] > 1
    ).all()  # everybody has a neighbour in its group


@pytest.mark.long
def test_locally_linear_eigenvalues_below_rounding_of_the_matrix_are_told_apart():
    X, _ = roll(20_000)
    model = LocallyLinearEmbedding(2, n_neighbors=10).fit(X)
    assert model.solver_ == "shift-invert"
    assert (model.residuals_ < 1e-14).all()
    assert abs(model.embedding_.mean(axis=0)).max() < 1e-6
    np.testing.assert_allclose(model.embedding_.T @ model.embedding_ / len(X), np.eye(2), atol=1e-8)


@pytest.mark.parametrize("free_gigabytes", [16.0, 0.01])
def test_locally_linear_embedding_of_many_points_on_a_wide_graph(free_gigabytes, monkeypatch):
    """Neither multilevel nor Krylov is for it: a dense factor where it fits, a sparse one where not."""
    monkeypatch.setattr("eigenscape._memory.available_bytes", lambda: int(free_gigabytes * 2**30))
    model = LocallyLinearEmbedding(2, n_neighbors=8).fit(mixture(1500))
    assert model.solver_ == "shift-invert"
    assert (
        model.residuals_ <= 1e-10 * (1 - model.eigenvalues_)
    ).all()  # what `tol` promises: relative to the eigenvalue of M


# --- neighbours ---------------------------------------------------------------------------------------------


def test_approximate_neighbours_report_an_honest_recall():
    X = mixture(6000)
    index = ApproximateIndex(X, "euclidean", None)
    rows = np.random.default_rng(1).choice(len(X), 400, replace=False)
    found, _ = index.nearest(X[rows], 10)
    truth, _ = BlockIndex(X, "euclidean", {}, None).nearest(X[rows], 10)
    recall = np.mean(found <= truth[:, -1:] * (1 + 1e-9))
    assert index.recall >= 0.99
    assert recall >= index.recall - 0.02
    assert (found >= truth - 1e-9).all()  # what it gives are true distances


@pytest.mark.long
def test_approximate_neighbours_are_the_same_for_any_number_of_threads():
    X = mixture(5000, 120)  # long rows: searched by their principal coordinates first
    one, two = (ApproximateIndex(X, "euclidean", n_jobs).nearest(X[:500], 8) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one[1], two[1])
    np.testing.assert_array_equal(one[0], two[0])


@pytest.mark.long
def test_many_long_rows_are_searched_approximately(monkeypatch):
    monkeypatch.setattr("eigenscape.graph.neighbors.TUNING", replace(TUNING, exact_points=1000))
    X = mixture(1500)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        auto, exact = (
            LaplacianEigenmaps(2, affinity=KNNGraph(search=how)).fit(X) for how in ("auto", "exact")
        )
        few = LaplacianEigenmaps(2).fit(X[:, :3])
    assert 0.98 <= auto.neighbor_recall_ <= 1
    assert exact.neighbor_recall_ == few.neighbor_recall_ == 1
    assert isinstance(auto.kernel_.base.graph.index, ApproximateIndex)


@pytest.mark.parametrize(
    ("graph", "match"),
    [
        (lambda: KNNGraph(metric="cityblock", search="approximate"), "search='approximate' supports"),
        (lambda: RadiusGraph(1.0, search="approximate"), "within a radius"),
        (lambda: KNNGraph(search="fast"), "search='fast' is not known"),
    ],
)
def test_what_approximate_search_cannot_do_is_refused(graph, match):
    with pytest.raises(ValueError, match=match):
        LaplacianEigenmaps(2, affinity=graph()).fit(mixture(50))


# --- geodesics ----------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_geodesics_are_those_of_dijkstra(n_jobs):
    X, _ = roll(1200)
    graph = nearest_neighbor_graph(neighbor_index(X[:1000]), 8)
    new = X[1000:]
    np.testing.assert_allclose(geodesics(graph, X[:1000], n_jobs), dijkstra(graph.distances), rtol=1e-14)
    entry = graph.edges_of(new)
    roads = sparse.block_array([[graph.distances, None], [entry, sparse.csr_array((200, 200))]], format="csr")
    np.testing.assert_allclose(
        geodesics(graph, new, n_jobs), dijkstra(roads, indices=np.arange(1000, 1200))[:, :1000], rtol=1e-14
    )


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_paths_from_the_vertices_are_those_from_the_new_points(n_jobs):
    X, _ = roll(1200)
    graph = nearest_neighbor_graph(neighbor_index(X[:500]), 8)
    queries = X[490:]  # ten of them are vertices
    V = np.random.default_rng(0).standard_normal((500, 3))
    expected = -0.5 * geodesics(graph, queries) ** 2 @ V
    scale = np.abs(expected).max()
    for few in (queries, queries[:300]):  # more than the vertices, and fewer
        result = geodesic_products(graph, few, V, n_jobs)
        np.testing.assert_allclose(result, expected[: len(few)], rtol=0, atol=1e-13 * scale)


def test_isomap_places_many_new_points_as_it_places_few():
    X, _ = roll(1200)
    model = Isomap(3, n_neighbors=8).fit(X[:500])
    np.testing.assert_allclose(
        model.transform(X), np.concatenate([model.transform(part) for part in np.split(X, 6)]), atol=1e-11
    )


# --- local solves and factors of LLE ------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["standard", "modified", "hessian", "ltsa"])
def test_local_solves_do_not_depend_on_the_number_of_jobs(method, monkeypatch):
    X, _ = roll(1000)
    graph = nearest_neighbor_graph(neighbor_index(X), 8)
    monkeypatch.setattr(local, "_BATCH_BYTES", 50_000)  # many batches
    one, two = (alignment_factor(graph, method, 2, 1e-3, n_jobs) for n_jobs in (1, 2))
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(one, part), getattr(two, part))
    monkeypatch.setattr(local, "_BATCH_BYTES", 2**30)
    whole = alignment_matrix(alignment_factor(graph, method, 2, 1e-3))
    assert abs(whole - alignment_matrix(one)).max() <= 1e-12
    assert abs(whole - whole.T).max() == 0


@pytest.mark.parametrize(
    "X",
    [roll(1500)[0], np.stack(np.meshgrid(*2 * [np.arange(40.0)]), axis=-1).reshape(-1, 2)],
    ids=["roll", "exact plane"],
)
def test_the_root_gives_the_inverse_of_its_square(X):
    graph = nearest_neighbor_graph(neighbor_index(X), 8)
    root = alignment_factor(graph, "standard", 2, 1e-2 / 8)
    M, m = alignment_matrix(root), len(X)
    inverse = RootInverse(root, np.full(m, m**-0.5))
    V = M @ np.random.default_rng(0).standard_normal((m, 3))  # has no part in the null space
    W = inverse(V)
    np.testing.assert_allclose(M @ W, V, atol=1e-9)
    np.testing.assert_allclose(W.sum(axis=0), 0, atol=1e-9 * np.abs(W).max() * m)


def test_lle_on_a_line_tells_its_second_null_vector_from_the_others():
    model = LocallyLinearEmbedding(2, n_neighbors=4, reg=2.5e-10, eigen_solver="shift-invert").fit(
        np.arange(1024.0)[:, None]
    )
    M = np.eye(1024) - model.kernel_.gram.toarray()
    np.testing.assert_allclose(1 - model.eigenvalues_, np.linalg.eigvalsh(M)[1:3], atol=1e-14)
    assert np.corrcoef(model.embedding_[:, 0], np.arange(1024))[0, 1] ** 2 > 1 - 1e-9


@pytest.mark.long
@pytest.mark.parametrize(
    ("X", "precisions"),
    [
        (mixture(900), [np.float32]),
        (np.random.default_rng(0).standard_normal((900, 4)), [np.float32, np.float64]),
    ],
    ids=["single precision is enough", "single precision is not enough"],
)
@pytest.mark.parametrize("is_square", [True, False])
def test_wide_lle_has_the_eigenvalues_of_lapack(X, precisions, is_square, monkeypatch):
    made = []

    def inverse(matrix, null, thin, dtype=np.float64):
        made.append(dtype)
        return inverse_on_complement(matrix, null, thin, dtype)

    monkeypatch.setattr(semidefinite, "inverse_on_complement", inverse)
    graph = nearest_neighbor_graph(neighbor_index(X), 12)
    root = alignment_factor(graph, "standard", 2, 1e-3 / 12)
    M, m = alignment_matrix(root), len(X)
    if not is_square:  # as those of the other variants of LLE
        root = sparse.csr_array(sparse.vstack([root, sparse.csr_array((1, m))]))
    end = SemidefiniteProblem(
        SparseOperator(M), np.full(m, m**-0.5), float(abs(M).sum(axis=1).max()), root, laplacian=False
    )
    found = semidefinite.solve_shift_invert(end, M, 3, SolverConfig(), thin=False)
    assert made == ([] if is_square else precisions)
    np.testing.assert_allclose(
        found.values, np.linalg.svd(root.toarray(), compute_uv=False)[::-1][1:4] ** 2, rtol=1e-7
    )


@pytest.mark.long
@pytest.mark.parametrize("n_closed", [1, 2, 3, 7])
def test_lle_has_a_null_vector_for_each_set_without_neighbours_outside(n_closed, monkeypatch):
    """The sparse root is used for all of them: a dense factor would be a square array."""
    monkeypatch.delattr(semidefinite, "inverse_on_complement")
    rng, m, size = np.random.default_rng(0), 1000, 120
    closed = np.minimum(np.arange(m) // size, n_closed)  # the last set has neighbours anywhere
    W = np.zeros((m, m))
    for i, own in enumerate(closed):
        among = np.flatnonzero(closed == own) if own < n_closed else np.arange(m)
        W[i, rng.choice(among[among != i], 6, replace=False)] = rng.dirichlet(np.ones(6))
    root = sparse.csr_array(np.eye(m) - W)
    M = alignment_matrix(root)
    end = SemidefiniteProblem(
        SparseOperator(M), np.full(m, m**-0.5), float(abs(M).sum(axis=1).max()), root, laplacian=False
    )
    found = semidefinite.solve_shift_invert(end, M, 4, SolverConfig(), thin=False)
    expected = np.linalg.svd(root.toarray(), compute_uv=False)[::-1][1:5] ** 2
    np.testing.assert_allclose(found.values, expected, rtol=1e-7, atol=1e-15)
    assert np.sum(found.values < 1e-12) == min(n_closed - 1, 4)
    residuals = np.linalg.norm(M @ found.vectors - found.vectors * found.values, axis=0)
    assert (residuals <= 1e-10 * found.values + 1e-13)[:3].all()  # the last one serves to detect degeneracy


# --- memory -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [LaplacianEigenmaps, LocallyLinearEmbedding])
def test_sparse_methods_form_no_square_array(estimator):
    X, _ = roll(8000)
    estimator(2).fit(X[:600])  # compiled and imported before the count
    tracemalloc.start()
    estimator(2).fit(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 0.25 * 8 * len(X) ** 2


@pytest.mark.long
def test_a_kernel_eigenmap_forms_no_dense_basis():
    X, _ = roll(20_000)
    KernelEigenmap(2, n_kernels=256).fit(X[:3000]).transform(X[:100])
    tracemalloc.start()
    model = KernelEigenmap(2, n_kernels=256).fit(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    model.transform(X)
    _, peak_transform = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    basis = 8 * len(X) * 256 * 4
    assert peak < 0.6 * basis
    assert peak_transform < 0.5 * basis


@pytest.mark.long
def test_isomap_keeps_one_square_array():
    X, _ = roll(2500)
    Isomap(2).fit(X[:600])
    tracemalloc.start()
    model = Isomap(2).fit(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.6 * 8 * len(X) ** 2
    assert model.embedding_.shape == (2500, 2)


def test_isomap_finds_its_geodesics_once_even_where_memory_is_scarce(monkeypatch):
    """Applied in blocks, they would be searched anew for every product."""
    X, _ = roll(900)
    square = 8 * len(X) ** 2
    double = Isomap(2).fit(X)
    monkeypatch.setattr("eigenscape._memory.available_bytes", lambda: int(1.3 * square))
    single = Isomap(2).fit(X)
    assert single.kernel_.base.dtype == np.float32
    np.testing.assert_allclose(
        single.embedding_, double.embedding_, atol=1e-5 * np.abs(double.embedding_).max()
    )
    monkeypatch.setattr("eigenscape._memory.available_bytes", lambda: int(0.4 * square))
    with pytest.raises(NotEnoughMemoryError, match="fit a sample"):
        Isomap(2).fit(X)


@pytest.mark.long
@pytest.mark.parametrize("n", [12_000, pytest.param(100_000, marks=pytest.mark.product)])
def test_landmark_isomap_of_many_points_stays_within_a_gigabyte(n):
    """For 100 000 points, and in proportion to that for fewer."""
    X, _ = roll(n)
    Isomap(2, n_landmarks=30).fit(X[:2000])
    tracemalloc.start()
    model = Isomap(2, n_landmarks=300, n_jobs=2).fit(X)
    new = model.transform(X[:5000] + 1e-3)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1e4 * n
    assert model.kernel_.base.lengths.shape == (n, 300)
    np.testing.assert_allclose(new, model.embedding_[:5000], atol=0.05 * np.abs(model.embedding_).max())


@pytest.mark.long
def test_landmark_mds_keeps_no_table_of_distances():
    X = mixture(20_000)
    LandmarkMDS(2, n_landmarks=50).fit(X[:600])
    tracemalloc.start()
    LandmarkMDS(2, n_landmarks=1000).fit(X)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 0.75 * 8 * 20_000 * 1000  # the table of distances


@pytest.mark.long
def test_lle_answers_for_separate_clusters() -> None:
    rng = np.random.default_rng(4)  # eigenvalues that are zero up to rounding were refused
    X = (10 * rng.normal(size=(20, 30)))[rng.integers(20, size=12_000)] + rng.normal(size=(12_000, 30))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        warnings.simplefilter("ignore", DegenerateSpectrumWarning)
        model = LocallyLinearEmbedding(2).fit(X)
    assert model.residuals_.max() < 1e-8
    np.testing.assert_allclose(model.transform(X[:50]), model.embedding_[:50], atol=1e-6)
