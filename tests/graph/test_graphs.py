"""Neighbour search, row identity, disconnected graphs, duplicates: each against brute force."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import kneighbors_graph

from eigenscape import Isomap, LaplacianEigenmaps, LocallyLinearEmbedding, SpectralClustering
from eigenscape.exceptions import DisconnectedGraphError, DisconnectedGraphWarning, IsolatedPointWarning
from eigenscape.graph import row_index
from eigenscape.graph.blocks import BlockIndex
from eigenscape.graph.components import component_labels, connect, spanning_tree
from eigenscape.graph.neighborhood import nearest_neighbor_graph, radius_graph
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.graph.precomputed import PrecomputedIndex
from eigenscape.graph.row_index import RowIndex, distinct_rows, row_hashes
from eigenscape.graph.sparse_distances import distance_table
from eigenscape.graph.tree import TreeIndex, visited_leaves
from eigenscape.options import KNNGraph, RadiusGraph

ESTIMATORS = {
    "isomap": (Isomap, {}),
    "laplacian": (LaplacianEigenmaps, {}),
    "heat": (LaplacianEigenmaps, {"n_neighbors": None, "affinity": KNNGraph(6, weights="heat")}),
    "inverse": (LaplacianEigenmaps, {"n_neighbors": None, "affinity": KNNGraph(6, weights="inverse")}),
    "lle": (LocallyLinearEmbedding, {}),
    "ltsa": (LocallyLinearEmbedding, {"method": "ltsa"}),
}


def make(name, **params):
    estimator, settings_ = ESTIMATORS[name]
    return estimator(**{"n_neighbors": 6, **settings_, **params})


def within(name, radius):
    graph = RadiusGraph(radius, weights="heat" if name == "heat" else None)
    return {"n_neighbors": None, "graph" if name == "isomap" else "affinity": graph}


def quiet_fit(estimator, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        return estimator.fit(X)


def close(a, b, tol=1e-8):
    np.testing.assert_allclose(a, b, atol=tol * max(np.abs(b).max(), 1e-300))


def brute_nearest(D, k):
    """Distances and indices of the k nearest, ties broken by row number."""
    number = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, number, axis=1), number


def blobs(*sizes, gap=50.0, features=3, seed=0):
    """Clusters far apart, at unequal gaps."""
    rng = np.random.default_rng(seed)
    centres = np.cumsum(gap + 5 * np.arange(len(sizes)))[:, None] * np.eye(features)[0] + rng.normal(
        size=(len(sizes), features)
    )
    return np.concatenate(
        [centre + rng.normal(size=(size, features)) for centre, size in zip(centres, sizes, strict=True)]
    )


# --- the indexes --------------------------------------------------------------------------------------------

TREE = [
    ("euclidean", None),
    ("l2", None),
    ("manhattan", None),
    ("cityblock", None),
    ("chebyshev", None),
    ("minkowski", {"p": 3}),
]
BLOCK = [
    ("cosine", None),
    ("correlation", None),
    ("canberra", None),
    ("braycurtis", None),
    ("minkowski", {"p": 3, "w": np.linspace(1, 2, 4)}),
    ("chebyshev", {"w": np.array([1.0, 9.0, 1.0, 0.1])}),
    ("seuclidean", {"V": np.array([1.0, 2.0, 3.0, 4.0])}),
    (lambda a, b: abs(a - b).sum() ** 0.5, None),
]


def check_engine(index, X, Y, D, k=5):
    """Compare ``nearest`` and ``radius_graph`` with the full matrix of distances."""
    length, number = index.nearest(Y, k)
    truth = brute_nearest(D, k)
    np.testing.assert_allclose(length, truth[0], rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(number, truth[1])
    radii = np.random.default_rng(9).uniform(0, 2 * np.median(D), size=X.shape[0])
    radii[0] = 0.0
    near = index.radius_graph(Y, radii)
    np.testing.assert_array_equal(np.diff(near.indptr), (radii >= D).sum(axis=1))
    np.testing.assert_allclose(near.toarray()[radii >= D], D[radii >= D], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("metric", "params"), TREE + BLOCK)
def test_engines_agree_with_brute_force(metric, params):
    rng = np.random.default_rng(0)
    X, Y = rng.uniform(0.1, 1, size=(60, 4)), rng.uniform(0.1, 1, size=(25, 4))
    index = neighbor_index(X, metric, params)
    assert isinstance(index, TreeIndex if (metric, params) in TREE else BlockIndex)
    check_engine(index, X, Y, pairwise_distances(Y, X, metric=metric, **(params or {})))


def test_a_tree_is_used_where_a_search_visits_few_leaves():
    rng = np.random.default_rng(4)
    noise, surface = rng.normal(size=(4000, 12)), np.tanh(rng.random((4000, 2)) @ rng.normal(size=(2, 12)))
    assert isinstance(neighbor_index(noise), BlockIndex)
    assert isinstance(neighbor_index(noise[:2000]), TreeIndex)  # few rows
    assert isinstance(neighbor_index(noise[:, :6]), TreeIndex)  # few features
    assert isinstance(neighbor_index(noise, "manhattan"), TreeIndex)  # blocks have no bounds of this metric
    assert isinstance(neighbor_index(surface), TreeIndex)
    # Counted in all leaves of the tree: every search of the noise visits more than half of them.
    assert visited_leaves(noise) > 125 > 30 > visited_leaves(surface)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
def test_many_features_are_searched_in_blocks(metric):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 20)), rng.normal(size=(25, 20))
    index = neighbor_index(X, metric)
    assert isinstance(index, BlockIndex)
    check_engine(index, X, Y, cdist(Y, X, {"manhattan": "cityblock"}.get(metric, metric)))


def test_euclidean_blocks_survive_an_offset():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 20)) + 1e7, rng.normal(size=(25, 20)) + 1e7
    check_engine(neighbor_index(X), X, Y, cdist(Y, X))


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_sparse_rows_are_searched_like_dense_ones(metric, kind):
    rng = np.random.default_rng(0)
    X, Y = (rng.uniform(size=(n, 30)) * (rng.uniform(size=(n, 30)) < 0.3) for n in (60, 25))
    index = neighbor_index(kind(X), metric)
    assert isinstance(index, BlockIndex)
    check_engine(index, X, kind(Y), pairwise_distances(Y, X, metric=metric))


def test_distance_tables_are_searched():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(60, 4)), rng.normal(size=(25, 4))
    D = cdist(Y, X)
    check_engine(PrecomputedIndex(cdist(X, X)), X, D, D)
    check_engine(PrecomputedIndex(sparse.csr_array(cdist(X, X))), X, sparse.csr_array(D), D)


@pytest.mark.parametrize("features", [3, 20])
def test_float32_rows_are_searched_exactly(features):
    rng = np.random.default_rng(0)
    X, Y = (rng.normal(size=(n, features)).astype(np.float32) for n in (60, 25))
    check_engine(neighbor_index(X), X, Y, cdist(Y.astype(float), X.astype(float)))


@pytest.mark.parametrize("engine", ["tree", "block", "table"])
@pytest.mark.parametrize("seed", range(3))
def test_ties_are_broken_by_the_values_of_rows(engine, seed):
    """In a precomputed matrix, whose rows do not describe the points, by row number."""
    grid = np.stack(np.meshgrid(range(7), range(6)), axis=-1).reshape(-1, 2).astype(float)
    X = np.random.default_rng(seed).permutation(grid)
    D = cdist(X, X)
    index = {
        "tree": TreeIndex(X, 2.0, None),
        "block": BlockIndex(X, "euclidean", {}, None),
        "table": PrecomputedIndex(D),
    }[engine]
    length, number = index.nearest(D if engine == "table" else X, 5)
    key = np.arange(len(X)) if engine == "table" else row_hashes(X)
    truth = np.lexsort((np.broadcast_to(key, D.shape), D), axis=1)[:, :5]
    np.testing.assert_allclose(length, np.take_along_axis(D, truth, axis=1), atol=1e-12)
    np.testing.assert_array_equal(number, truth)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "hamming", "cosine"])
@pytest.mark.parametrize("features", [4, 20])
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_array])
def test_neighbors_and_trees_do_not_depend_on_the_order_of_tied_rows(metric, features, stored):
    rng = np.random.default_rng(features)
    X = np.unique(rng.integers(1, 4, (80, features)), axis=0).astype(float)
    order = rng.permutation(len(X))
    if metric == "hamming" and stored is sparse.csr_array:
        stored = np.asarray  # scikit-learn computes it for dense rows
    one, two = (neighbor_index(stored(rows), metric) for rows in (X, X[order]))
    for graph in (lambda index: nearest_neighbor_graph(index, 5), spanning_tree):
        of_one, of_two = graph(one).distances.toarray(), graph(two).distances.toarray()
        np.testing.assert_array_equal(of_one[order][:, order] > 0, of_two > 0)


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_approximate_neighbors_do_not_depend_on_the_order_of_rows(metric):
    rng = np.random.default_rng(0)
    X = np.unique(rng.integers(0, 3, (3000, 20)), axis=0).astype(float)
    order = rng.permutation(len(X))
    one, two = (neighbor_index(rows, metric, search="approximate") for rows in (X, X[order]))
    number = two.nearest_all(6)[1]
    np.testing.assert_array_equal(one.nearest_all(6)[1][order], order[number])


def test_engines_choose_the_same_graph_where_distances_tie():
    grid = np.stack(np.meshgrid(range(8), range(8)), axis=-1).reshape(-1, 2).astype(float)
    wide = np.hstack([grid, np.zeros((64, 18))])  # too many features for a tree
    a, b = (nearest_neighbor_graph(neighbor_index(X), 6) for X in (grid, wide))
    np.testing.assert_array_equal(a.neighbors.toarray(), b.neighbors.toarray())


@pytest.mark.parametrize("features", [2, 20])
def test_a_search_does_not_look_at_the_other_queries(features):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(50, features)), rng.normal(size=(12, features))
    index = neighbor_index(X)
    whole = index.nearest(Y, 4)
    for i in range(12):
        one = index.nearest(Y[[i]], 4)
        np.testing.assert_array_equal(one[0][0], whole[0][i])
        np.testing.assert_array_equal(one[1][0], whole[1][i])


@pytest.mark.parametrize("n_jobs", [1, 2, -1])
@pytest.mark.parametrize("features", [2, 20])
def test_the_number_of_jobs_does_not_matter(features, n_jobs):
    X = np.random.default_rng(0).normal(size=(300, features))
    truth, found = neighbor_index(X).nearest(X, 6), neighbor_index(X, n_jobs=n_jobs).nearest(X, 6)
    np.testing.assert_array_equal(found[0], truth[0])
    np.testing.assert_array_equal(found[1], truth[1])


def test_subsets_of_an_index():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 4)), rng.normal(size=(10, 4))
    which = np.array([3, 30, 7, 12, 25, 19])
    D = cdist(Y, X)
    for index, query in [
        (TreeIndex(X, 2.0, None), Y),
        (BlockIndex(X, "euclidean", {}, None), Y),
        (PrecomputedIndex(cdist(X, X)), D),
    ]:
        length, number = index.subset(which).nearest(index.restrict(query, which), 3)
        truth = brute_nearest(D[:, which], 3)
        np.testing.assert_allclose(length, truth[0])
        np.testing.assert_array_equal(number, truth[1])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_edges_of_length_zero_are_edges(dtype):
    table = distance_table(np.array([0, 1]), np.array([1, 0]), np.zeros(2, dtype=dtype), (2, 2))
    assert table.nnz == 2
    assert (table.data > 0).all()
    assert table.maximum(table.T).nnz == 2


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_different_points_at_distance_zero_stay_joined(dtype):
    """Rows 0 and 1 differ, but their distance is zero."""
    x = np.array([0, 0, 1, 2, 3, 4, 5.0])
    D = np.abs(x[:, None] - x).astype(dtype)
    D[1, 6] = D[6, 1] = 5.5
    graph = nearest_neighbor_graph(PrecomputedIndex(D), 2)
    assert 1 in graph.neighbors[[0]].indices
    assert 0 in graph.distances[[1]].indices


def test_too_few_stored_neighbours_are_reported():
    graph = kneighbors_graph(np.random.default_rng(0).normal(size=(20, 2)), 3, mode="distance")
    with pytest.raises(ValueError, match=r"3 neighbours in row \d+.*lower n_neighbors|n_neighbors"):
        Isomap(n_neighbors=5, metric="precomputed").fit(graph)


# --- row identity -------------------------------------------------------------------------------------------


def test_negative_zero_is_zero():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [0.0, -1.0]])
    first, group = distinct_rows(X)
    np.testing.assert_array_equal(first, [0, 2])
    np.testing.assert_array_equal(group, [0, 0, 1])


def test_stored_zeros_of_sparse_rows_do_not_count():
    plain = sparse.csr_array(np.array([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0]]))
    stored = sparse.csr_array(
        (np.array([0.0, 2.0, -0.0, 1.0]), np.array([0, 1, 2, 0]), np.array([0, 3, 4])), shape=(2, 3)
    )
    np.testing.assert_array_equal(RowIndex(plain).find(stored), [0, 1])
    np.testing.assert_array_equal(RowIndex(stored).find(plain), [0, 1])
    np.testing.assert_array_equal(RowIndex(stored).find(plain.toarray()), [0, 1])


def test_unsorted_and_repeated_sparse_entries():
    messy = sparse.csr_array(
        (np.array([2.0, 1.0, 0.5, 0.5]), np.array([2, 0, 1, 1]), np.array([0, 4])), shape=(1, 3)
    )
    np.testing.assert_array_equal(RowIndex(sparse.csr_array([[1.0, 1.0, 2.0]])).find(messy), [0])


def test_looking_rows_up_leaves_them_as_they_were():
    parts = np.array([2.0, 1.0, 0.5, 0.5]), np.array([2, 0, 1, 1]), np.array([0, 4])
    messy = sparse.csr_array(tuple(part.copy() for part in parts), shape=(1, 3))
    RowIndex(messy).find(messy)
    np.testing.assert_array_equal(messy.toarray(), [[1.0, 1.0, 2.0]])
    for now, then in zip((messy.data, messy.indices, messy.indptr), parts, strict=True):
        np.testing.assert_array_equal(now, then)


def test_order_of_columns_and_sign_matter():
    X = np.array([[1.0, 2.0], [2.0, 1.0], [-1.0, -2.0], [1.0, 2.0 + 2**-50]])
    np.testing.assert_array_equal(distinct_rows(X)[0], [0, 1, 2, 3])
    assert RowIndex(X).find(np.array([[1.0, 2.0 + 2**-49]]))[0] == -1


def test_float32_rows_are_found_by_value():
    X = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32)
    np.testing.assert_array_equal(RowIndex(X).find(X.astype(np.float64)), np.arange(20))
    assert (RowIndex(X).find(X.astype(np.float64) + 1e-12) == -1).all()


@pytest.mark.long
@settings(max_examples=60, deadline=None)
@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 12), st.integers(1, 3)),
        elements=st.sampled_from([-0.0, 0.0, 1.0, -1.0, 5e-324, 1e300]),
    )
)
def test_distinct_rows_like_numpy(X):
    first, group = distinct_rows(X)
    np.testing.assert_array_equal(X[first][group], X)
    assert len(first) == len({tuple(row + 0.0) for row in X})
    thin_first, thin_group = distinct_rows(sparse.csr_array(X))
    np.testing.assert_array_equal(thin_first, first)
    np.testing.assert_array_equal(thin_group, group)


# --- the graph ----------------------------------------------------------------------------------------------


def test_graph_joins_either_way():
    X = np.random.default_rng(0).normal(size=(40, 3))
    graph = nearest_neighbor_graph(neighbor_index(X), 4)
    chosen = kneighbors_graph(X, 4, mode="distance").toarray()
    np.testing.assert_allclose(graph.neighbors.toarray(), chosen)
    np.testing.assert_allclose(graph.distances.toarray(), np.maximum(chosen, chosen.T))


def test_new_points_join_either_way():
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(40, 3)), rng.normal(size=(15, 3))
    graph = nearest_neighbor_graph(neighbor_index(X), 4)
    D, own = cdist(Y, X), np.sort(cdist(X, X), axis=1)
    chooses = np.sort(D, axis=1)[:, [3]] >= D
    chosen_by = own[:, 4] >= D  # x is at least as near as the fourth neighbour of x_i
    np.testing.assert_allclose(graph.edges_of(Y).toarray(), np.where(chooses | chosen_by, D, 0))
    assert (chosen_by & ~chooses).any()


def test_radius_graph_by_brute_force():
    rng = np.random.default_rng(0)
    X, Y = rng.uniform(size=(50, 2)), rng.uniform(size=(10, 2))
    graph = radius_graph(neighbor_index(X), 0.3)
    D = cdist(X, X)
    np.testing.assert_allclose(graph.distances.toarray(), np.where(D <= 0.3, D, 0))
    D = cdist(Y, X)
    np.testing.assert_allclose(graph.edges_of(Y).toarray(), np.where(D <= 0.3, D, 0))


def test_largest_component_is_number_zero():
    label = component_labels(
        sparse.csr_array(np.array([[0, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0.0]]))
    )
    np.testing.assert_array_equal(label, [1, 0, 0, 2])


# --- connecting components ----------------------------------------------------------------------------------


def brute_bridges(D, label):
    """Edges of the minimum spanning tree over components, each the shortest between its two components."""
    count = label.max() + 1
    between = np.full((count, count), np.inf)
    ends = {}
    for a in range(count):
        for b in range(a):
            rows, columns = np.flatnonzero(label == a), np.flatnonzero(label == b)
            block = D[np.ix_(rows, columns)]
            i, j = np.unravel_index(np.argmin(block), block.shape)
            between[a, b] = block[i, j]
            ends[a, b] = frozenset([int(rows[i]), int(columns[j])])
    tree = sparse.coo_array(minimum_spanning_tree(np.where(np.isinf(between), 0, between)))
    return {ends[a, b] for a, b in zip(tree.row, tree.col, strict=True)}


def added_edges(before, after):
    extra = sparse.coo_array((after.distances != 0).astype(int) - (before.distances != 0).astype(int))
    extra.eliminate_zeros()
    return {frozenset([int(i), int(j)]) for i, j in zip(extra.row, extra.col, strict=True)}


def check_bridges(X, D, index, k):
    graph = nearest_neighbor_graph(index, k)
    label = component_labels(graph.distances)
    assert label.max() > 0
    joined = connect(graph, label)
    bridges = added_edges(graph, joined)
    assert bridges == brute_bridges(D, label)
    for edge in bridges:
        i, j = sorted(edge)
        assert joined.distances[i, j] == joined.distances[j, i] == pytest.approx(D[i, j])
        assert joined.added[i, j] == joined.added[j, i] == pytest.approx(D[i, j])
    assert connected_components(joined.distances, directed=False)[0] == 1
    return label


@pytest.mark.parametrize("engine", ["tree", "block", "table", "manhattan", "sparse"])
def test_components_are_joined_by_their_minimum_spanning_tree(engine):
    X = blobs(12, 9, 15, 20, 8)
    D = cdist(X, X, "cityblock" if engine == "manhattan" else "euclidean")
    data = {"table": D, "sparse": sparse.csr_array(X)}.get(engine, X)
    index = {
        "tree": TreeIndex(X, 2.0, None),
        "block": BlockIndex(X, "euclidean", {}, None),
        "table": PrecomputedIndex(D),
        "manhattan": TreeIndex(X, 1.0, None),
        "sparse": BlockIndex(sparse.csr_array(X), "euclidean", {}, None),
    }[engine]
    label = check_bridges(data, D, index, 5)
    assert label.max() == 4


@pytest.mark.parametrize("power", [1.0, 2.0, 3.0, np.inf])
@pytest.mark.parametrize("gap", [0.5, 30.0])
def test_closest_pair_of_a_tree(power, gap):
    rng = np.random.default_rng(8)
    for _ in range(5):
        X, Y = rng.normal(size=(200, 5)), rng.normal(size=(80, 5)) + gap
        D = cdist(Y, X, "minkowski", p=power) if power < np.inf else cdist(Y, X, "chebyshev")
        row, column, length = TreeIndex(X, power, 2).closest_pairs(Y)
        assert (row, column) == np.unravel_index(D.argmin(), D.shape)
        assert length == pytest.approx(D.min())


@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
def test_closest_pairs_are_all_that_tie(metric):
    X, Y = np.array([[0.0], [1.0], [5.0]]), np.array([[9.0], [2.0], [6.0], [2.0]])
    index = neighbor_index(X if metric == "euclidean" else cdist(X, X), metric)
    rows, columns, length = index.closest_pairs(Y if metric == "euclidean" else cdist(Y, X))
    assert (rows.tolist(), columns.tolist(), length) == ([1, 2, 3], [1, 2, 1], 1.0)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_components_far_apart_are_joined_by_trees(metric):
    X = blobs(3000, 2900, 40, gap=300.0, features=2)
    D = cdist(X, X, "euclidean" if metric == "euclidean" else "cityblock")
    label = check_bridges(X, D, neighbor_index(X, metric), 8)
    np.testing.assert_array_equal(np.bincount(label), [3000, 2900, 40])


@pytest.mark.long
def test_many_tiny_components_are_joined():
    rng = np.random.default_rng(3)
    X = np.repeat(rng.uniform(0, 1000, size=(150, 2)), 2, axis=0) + rng.uniform(size=(300, 2))
    label = check_bridges(X, cdist(X, X), neighbor_index(X), 1)
    assert label.max() > 100


@pytest.mark.parametrize("features", [2, 18])
def test_large_components_are_joined(features):
    X = blobs(300, 280, 20, gap=400.0, features=features)
    label = check_bridges(X, cdist(X, X), neighbor_index(X), 8)
    np.testing.assert_array_equal(np.bincount(label), [300, 280, 20])


def test_isolated_vertices_of_a_radius_graph_are_joined():
    X = np.concatenate([np.random.default_rng(0).uniform(size=(20, 2)), [[5.0, 5.0], [9.0, 0.0]]])
    graph = radius_graph(neighbor_index(X), 0.6)
    label = component_labels(graph.distances)
    np.testing.assert_array_equal(label[20:], [1, 2])
    assert added_edges(graph, connect(graph, label)) == brute_bridges(cdist(X, X), label)


@pytest.mark.parametrize(("features", "limit"), [(3, 40e6), (20, 150e6)])
def test_connecting_forms_no_matrix_of_all_pairs(features, limit):
    X = blobs(2500, 2400, 100, gap=300.0, features=features)
    graph = nearest_neighbor_graph(neighbor_index(X), 8)
    label = component_labels(graph.distances)
    assert label.max() == 2
    tracemalloc.start()
    connect(graph, label)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < limit < 8 * len(X) ** 2


def test_a_graph_method_forms_no_matrix_of_all_pairs():
    X = blobs(2500, 2500, gap=300.0)
    tracemalloc.start()
    with pytest.warns(DisconnectedGraphWarning):
        LaplacianEigenmaps(2, n_neighbors=8).fit(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100e6


def test_a_sparse_precomputed_graph_has_nothing_to_connect_by():
    graph = kneighbors_graph(blobs(20, 20), 5, mode="distance")
    with (
        pytest.warns(DisconnectedGraphWarning),
        pytest.raises(DisconnectedGraphError, match="on_disconnected"),
    ):
        Isomap(metric="precomputed", n_neighbors=5).fit(graph)


# --- on_disconnected ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_each_component_equals_a_fit_on_it_alone(name):
    X = blobs(40, 30, 25)
    order = np.random.default_rng(1).permutation(len(X))
    truth = np.repeat([0, 1, 2], [40, 30, 25])[order]
    X = X[order]
    with pytest.warns(DisconnectedGraphWarning, match="3 connected components of 40, 30, 25"):
        model = make(name, on_disconnected="per_component").fit(X)
    np.testing.assert_array_equal(model.component_labels_, truth)
    assert model.n_connected_components_ == 3
    new = X + 0.1
    placed = model.transform(new)
    for part in range(3):
        alone = make(name).fit(X[truth == part])
        close(model.embedding_[truth == part], alone.embedding_)
        close(model.eigenvalues_[part], alone.eigenvalues_)
        close(placed[truth == part], alone.transform(new[truth == part]))
    close(model.transform(X[::-1]), model.embedding_[::-1])


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_the_largest_component_takes_the_others_as_new_points(name):
    X = blobs(25, 40)
    with pytest.warns(DisconnectedGraphWarning, match="largest"):
        model = make(name, on_disconnected="largest").fit(X)
    alone = make(name).fit(X[25:])
    close(model.embedding_[25:], alone.embedding_)
    close(model.embedding_[:25], alone.transform(X[:25]))
    close(model.eigenvalues_, alone.eigenvalues_)
    close(model.transform(X), model.embedding_)
    np.testing.assert_array_equal(model.component_labels_, np.repeat([1, 0], [25, 40]))


@pytest.mark.parametrize("name", [*sorted(ESTIMATORS), "clustering"])
def test_a_disconnected_graph_can_be_refused(name):
    model = (
        SpectralClustering(2, n_neighbors=6, on_disconnected="raise")
        if name == "clustering"
        else make(name, on_disconnected="raise")
    )
    with pytest.raises(
        DisconnectedGraphError, match=r"2 connected components of 30, 20 points; raise n_neighbors"
    ):
        model.fit(blobs(30, 20))


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_connected_graphs_do_not_care(name):
    X = blobs(40)
    models = [
        make(name, on_disconnected=choice).fit(X)
        for choice in ("connect", "per_component", "largest", "raise")
    ]
    for model in models[1:]:
        np.testing.assert_array_equal(model.embedding_, models[0].embedding_)
    np.testing.assert_array_equal(models[0].component_labels_, 0)


@pytest.mark.parametrize("choice", ["connect", "per_component", "largest"])
@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_laws_hold_for_graphs_in_pieces(name, choice):
    X = blobs(30, 22, 9)
    model = quiet_fit(make(name, on_disconnected=choice), X)
    close(model.transform(X), model.embedding_)
    new = X[::3] + 0.2
    placed = model.transform(new)
    alone = np.concatenate([model.transform(row[None]) for row in new[::4]])  # of every component
    close(alone, placed[::4])
    if not isinstance(model, LocallyLinearEmbedding):  # it has no kernel between new points
        assert np.isfinite(model.loss(new))
    G = model.kernel_(X)
    assert G.shape[0] == len(X)


def test_clusters_follow_components():
    X = blobs(30, 22, 15)
    with pytest.warns(DisconnectedGraphWarning):
        model = SpectralClustering(3, n_neighbors=6, on_disconnected="per_component").fit(X)
    for part in (slice(30), slice(30, 52), slice(52, 67)):
        assert len(set(model.labels_[part])) == 1
    assert len(set(model.labels_)) == 3
    assert model.ncut_ == pytest.approx(0, abs=1e-12)
    np.testing.assert_array_equal(model.predict(X + 0.05), model.labels_)


def test_more_components_than_clusters_are_refused():
    with pytest.raises(DisconnectedGraphError, match="n_clusters=2"):
        SpectralClustering(2, n_neighbors=6, on_disconnected="per_component").fit(blobs(30, 22, 15, 12))


@pytest.mark.parametrize("choice", ["per_component", "largest"])
@pytest.mark.parametrize("name", ["isomap", "laplacian"])
def test_isolated_vertices_in_pieces(name, choice):
    X = np.concatenate([np.random.default_rng(0).uniform(size=(30, 2)), [[5.0, 5.0], [9.0, 0.0]]])
    radius = within(name, 0.7)
    with pytest.warns() as caught:
        model = make(name, on_disconnected=choice, **radius).fit(X)
    assert {w.category for w in caught} <= {DisconnectedGraphWarning, IsolatedPointWarning}
    np.testing.assert_array_equal(model.component_labels_, [0] * 30 + [1, 2])
    assert model.embedding_.shape == (32, 2)
    close(model.embedding_[:30], make(name, **radius).fit(X[:30]).embedding_)
    if choice == "per_component":
        np.testing.assert_array_equal(
            model.embedding_[30:], 0
        )  # a point alone has no coordinates but the origin


@pytest.mark.parametrize("choice", ["per_component", "largest"])
@pytest.mark.parametrize("name", ["isomap", "laplacian"])
def test_a_radius_that_joins_nothing(name, choice):
    """Without any edge: an error that names the radius, or all points at the origin."""
    X = np.random.default_rng(0).uniform(size=(20, 2))
    radius = within(name, 1e-9)
    told, model = "", make(name, on_disconnected=choice, **radius)
    try:
        quiet_fit(model, X)
    except ValueError as error:
        told = str(error)
    assert "radius" in told or not model.embedding_.any()


@pytest.mark.parametrize("name", ["isomap", "laplacian"])
def test_a_radius_that_joins_nothing_can_be_connected(name):
    X = np.random.default_rng(0).uniform(size=(20, 2))
    radius = within(name, 1e-9)
    with pytest.warns(DisconnectedGraphWarning, match="20 connected components"):
        model = make(name, **radius).fit(X)
    assert model.embedding_.std(axis=0).min() > 0


def test_kernel_affinities_in_pieces():
    X = blobs(30, 22, gap=1000.0)
    for choice, named in [
        ("per_component", {DisconnectedGraphWarning}),
        ("largest", {DisconnectedGraphWarning, IsolatedPointWarning}),
    ]:
        with pytest.warns() as caught:
            model = LaplacianEigenmaps(2, affinity="rbf", gamma=0.5, on_disconnected=choice).fit(X)
        assert {w.category for w in caught} == named  # the second blob has no affinity to the first
        alone = LaplacianEigenmaps(2, affinity="rbf", gamma=0.5).fit(X[:30])
        close(model.embedding_[:30], alone.embedding_)
        close(model.transform(X[:30] + 0.1), alone.transform(X[:30] + 0.1))
        np.testing.assert_array_equal(model.component_labels_, np.repeat([0, 1], [30, 22]))
    with pytest.warns(DisconnectedGraphWarning, match="kernel is zero"):
        model = LaplacianEigenmaps(2, affinity="rbf", gamma=0.5).fit(X)
    first = model.embedding_[:, 0]
    assert (
        first[:30].max() < first[30:].min() or first[:30].min() > first[30:].max()
    )  # the two are told apart


# --- new points far from all others -------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["isomap", "laplacian", "heat"])
def test_new_points_beyond_the_radius_are_named(name):
    X = np.random.default_rng(0).uniform(size=(40, 2))
    radius = within(name, 0.5)
    model = make(name, **radius).fit(X)
    with pytest.warns(IsolatedPointWarning, match=r"1 new point.*radius=0.5"):
        placed = model.transform(np.concatenate([X[:3], [[50.0, 0.0]]]))
    assert np.isfinite(placed).all()
    close(placed[:3], model.embedding_[:3])


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_far_points_of_neighbour_graphs_are_placed(name):
    X = np.random.default_rng(0).uniform(size=(40, 3))
    placed = make(name).fit(X).transform(np.array([[1e4, 0, 0], [-1e4, 0, 0]]))
    assert np.isfinite(placed).all()


# --- precomputed graphs -------------------------------------------------------------------------------------


def self_entries(graph):
    """The same graph with explicit zeros on the diagonal."""
    graph = sparse.coo_array(graph)
    own = np.arange(graph.shape[0])
    data = np.concatenate([graph.data, np.zeros(len(own))])
    return sparse.csr_array(
        (data, (np.concatenate([graph.row, own]), np.concatenate([graph.col, own]))), shape=graph.shape
    )


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_array])
@pytest.mark.parametrize("name", ["isomap", "laplacian"])
def test_sparse_precomputed_graphs(name, kind, own):
    rng = np.random.default_rng(0)
    X, Y = rng.uniform(size=(50, 3)), rng.uniform(size=(8, 3))
    truth = make(name).fit(X)
    graph = kind(kneighbors_graph(X, 9, mode="distance"))
    if own:
        graph = self_entries(graph)
        assert graph.nnz == 50 * 10
    given = {"metric": "precomputed"} if name == "isomap" else {"affinity": "precomputed_nearest_neighbors"}
    model = make(name, **given).fit(graph)
    close(model.embedding_, truth.embedding_)
    close(model.transform(graph), model.embedding_)
    close(model.transform(sparse.csr_array(cdist(Y, X))), truth.transform(Y))


@pytest.mark.parametrize("name", ["isomap", "laplacian"])
def test_dense_precomputed_distances(name):
    rng = np.random.default_rng(0)
    X, Y = rng.uniform(size=(50, 3)), rng.uniform(size=(8, 3))
    given = {"metric": "precomputed"} if name == "isomap" else {"affinity": "precomputed_nearest_neighbors"}
    model, truth = make(name, **given).fit(cdist(X, X)), make(name).fit(X)
    close(model.embedding_, truth.embedding_)
    close(model.transform(cdist(Y, X)), truth.transform(Y))


@pytest.mark.parametrize("choice", ["per_component", "largest"])
@pytest.mark.parametrize("kind", ["dense", "sparse"])
@pytest.mark.parametrize("name", ["isomap", "laplacian"])
def test_precomputed_graphs_in_pieces(name, kind, choice):
    X = blobs(30, 22)
    given = {"metric": "precomputed"} if name == "isomap" else {"affinity": "precomputed_nearest_neighbors"}
    table = cdist(X, X) if kind == "dense" else kneighbors_graph(X, 9, mode="distance")
    truth = quiet_fit(make(name, on_disconnected=choice), X)
    if (
        kind == "sparse" and choice == "largest"
    ):  # the stored neighbours of the other points lead nowhere near the map
        with pytest.warns(IsolatedPointWarning, match="origin"), pytest.warns(DisconnectedGraphWarning):
            model = make(name, on_disconnected=choice, **given).fit(table)
        close(model.embedding_[:30], truth.embedding_[:30])
        assert not model.embedding_[30:].any()
        return
    model = quiet_fit(make(name, on_disconnected=choice, **given), table)
    close(model.embedding_, truth.embedding_)
    close(model.transform(table), truth.embedding_)


@pytest.mark.parametrize("name", ["isomap", "laplacian"])
def test_stored_zeros_between_duplicates_are_edges(name):
    """``kneighbors_graph`` stores a zero for the distance of two equal rows."""
    X = np.random.default_rng(0).uniform(size=(40, 2))
    X[1] = X[0]
    graph = kneighbors_graph(X, 8, mode="distance")
    assert graph[0, 1] == 0
    assert 1 in graph[[0]].indices
    given = {"metric": "precomputed"} if name == "isomap" else {"affinity": "precomputed_nearest_neighbors"}
    model = make(name, **given).fit(graph)
    np.testing.assert_array_equal(model.embedding_[0], model.embedding_[1])
    assert np.isfinite(model.embedding_).all()


def test_points_with_the_same_stored_neighbours_are_still_different_points():
    """The leaves of a star: equal rows of the sparse matrix, but distance 2 from one another."""
    rows = np.arange(1, 6)
    star = sparse.csr_array((np.ones(5), (rows, np.zeros(5, dtype=int))), shape=(6, 6))
    star = star + star.T
    model = Isomap(2, graph=RadiusGraph(1.5, metric="precomputed")).fit(star)
    lengths = np.sqrt(-2 * model.kernel_.base(model.kernel_.X))
    truth = np.where(np.eye(6, dtype=bool), 0.0, 2.0)
    truth[0, 1:] = truth[1:, 0] = 1.0
    np.testing.assert_allclose(lengths, truth)


def test_equal_rows_of_a_directed_graph_are_still_different_points():
    """Points 0 and 1 have the same two neighbours, but only point 1 is a neighbour of others."""
    rows = {
        0: {2: 1.0, 3: 1.0},
        1: {2: 1.0, 3: 1.0},
        2: {1: 1.0, 3: 1.2},
        3: {1: 1.0, 2: 1.2},
        4: {1: 2.0, 3: 2.5},
        5: {4: 1.0, 1: 2.9},
    }
    table = np.zeros((6, 6))
    for i, row in rows.items():
        for j, length in row.items():
            table[i, j] = length
    model = LaplacianEigenmaps(1, affinity="precomputed_nearest_neighbors", n_neighbors=2).fit(
        sparse.csr_array(table)
    )
    W = ((table > 0) | (table.T > 0)).astype(float)
    found = model.kernel_.base(model.kernel_.X).toarray()
    np.testing.assert_array_equal(found, W)


# --- duplicates ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["dense", "sparse", "float32"])
@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_duplicates_are_embedded_once(name, kind):
    if kind == "sparse" and name in ("lle", "ltsa"):
        kind = "dense"
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(40, 3)).astype(np.float32 if kind == "float32" else np.float64)
    pick = np.concatenate([np.arange(40), rng.integers(0, 40, size=30), np.zeros(15, dtype=int)])
    make_kind = sparse.csr_array if kind == "sparse" else np.asarray
    alone, model = make(name).fit(make_kind(X)), make(name).fit(make_kind(X[pick]))
    close(model.embedding_, alone.embedding_[pick], 1e-8 if kind != "float32" else 1e-5)
    np.testing.assert_array_equal(
        model.embedding_[pick == 0], np.broadcast_to(model.embedding_[0], (np.sum(pick == 0), 2))
    )
    close(model.transform(make_kind(X[pick])), model.embedding_, 1e-8 if kind != "float32" else 1e-5)
    close(model.eigenvalues_, alone.eigenvalues_)
    assert model.component_labels_.shape == (85,)


def test_duplicates_in_clustering():
    X = blobs(20, 20, gap=6.0)
    pick = np.concatenate([np.arange(40), np.repeat([3, 30], 25)])
    alone, model = (quiet_fit(SpectralClustering(2, n_neighbors=6), rows) for rows in (X, X[pick]))
    close(model.embedding_, alone.embedding_[pick])
    assert model.labels_.shape == (90,)
    for i in (3, 30):
        assert len(set(model.labels_[pick == i])) == 1


@pytest.mark.parametrize("name", ["isomap", "laplacian"])
def test_duplicates_in_a_distance_table(name):
    X = np.random.default_rng(0).uniform(size=(40, 3))
    pick = np.concatenate([[5, 5, 5], np.arange(40), [7, 8, 9]])
    given = {"metric": "precomputed"} if name == "isomap" else {"affinity": "precomputed_nearest_neighbors"}
    alone = make(name).fit(X)
    table = cdist(X[pick], X[pick])
    model = make(name, **given).fit(table)
    np.testing.assert_array_equal(model.embedding_[0], model.embedding_[1])
    close(model.embedding_, alone.embedding_[pick])
    new = np.random.default_rng(1).uniform(size=(6, 3))
    close(model.transform(cdist(new, X[pick])), alone.transform(new))


def test_negative_zero_duplicates_get_identical_coordinates():
    X = np.random.default_rng(0).uniform(size=(30, 2))
    X[0], X[1] = [0.0, 0.5], [-0.0, 0.5]
    model = Isomap(n_neighbors=6).fit(X)
    np.testing.assert_array_equal(model.embedding_[0], model.embedding_[1])
    close(model.transform(X[[1]])[0], model.embedding_[0])


def test_equal_rows_are_found_among_rows_with_equal_hashes(monkeypatch):
    """Rows are compared if their hashes agree, and only then."""
    X = np.random.default_rng(0).integers(4, size=(200, 3)).astype(float)
    monkeypatch.setattr(row_index, "row_hashes", lambda Y: (Y[:, 0] % 2).astype(np.uint64))
    first, group = distinct_rows(X)
    expected = {tuple(row): number for number, row in reversed(list(enumerate(X)))}
    assert [tuple(X[i]) for i in first] == [tuple(X[i]) for i in sorted(expected.values())]
    assert (X[first][group] == X).all()


def test_hashes_of_sparse_and_dense_rows_agree():
    X = np.random.default_rng(0).integers(-1, 2, size=(50, 12)).astype(float)
    X[3, 0] = -0.0
    assert (row_hashes(X) == row_hashes(sparse.csr_array(X))).all()
    assert (row_hashes(X) == row_hashes(X.astype(np.float32))).all()
    assert len(np.unique(row_hashes(X))) == len(np.unique(X, axis=0))


def test_rows_in_single_precision_are_not_copied():
    X = np.random.default_rng(0).standard_normal((500, 30)).astype(np.float32)
    index = BlockIndex(X, "euclidean", {}, None)
    assert np.shares_memory(index.X, X)
    np.testing.assert_allclose(
        index.nearest(X[:9], 4)[0], np.sort(cdist(X[:9], X), axis=1)[:, :4], atol=1e-12
    )
