"""Kinds of neighbourhood graphs: rules for edges, spanning trees, and edges of new points."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from cases import load
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist

from eigenscape import DiffusionMap, LaplacianEigenmaps, SpectralClustering
from eigenscape.exceptions import IsolatedPointWarning
from eigenscape.graph.components import add_spanning_tree, component_labels, connect, spanning_tree
from eigenscape.graph.neighborhood import nearest_neighbor_graph
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.options import KNNGraph, RadiusGraph, SpanningTree

K = 6


def lists(D: np.ndarray) -> list[set[int]]:
    return [
        set(np.argsort(np.where(np.arange(len(D)) == i, np.inf, row), kind="stable")[:K])
        for i, row in enumerate(D)
    ]


def joined(rule: str, i_in_j: bool, j_in_i: bool, common: int) -> bool:
    """Whether two points are joined, by the definition of the rule."""
    return {
        "union": i_in_j or j_in_i,
        "mutual": i_in_j and j_in_i,
        "shared": (i_in_j or j_in_i) and common >= K // 3,
    }[rule]


@pytest.mark.parametrize("rule", ["union", "mutual", "shared"])
@pytest.mark.parametrize("dims", [2, 20])
def test_edges_by_the_rule(rule, dims):
    X = np.random.default_rng(0).standard_normal((50, dims))
    D = cdist(X, X)
    near = lists(D)
    expected = np.array(
        [
            [i != j and joined(rule, i in near[j], j in near[i], len(near[i] & near[j])) for j in range(50)]
            for i in range(50)
        ]
    )
    edges = nearest_neighbor_graph(neighbor_index(X), K, rule).distances.toarray()
    assert_array_equal(edges > 0, expected)
    assert_allclose(edges[expected], D[expected], rtol=1e-12)


@pytest.mark.parametrize("rule", ["union", "mutual", "shared"])
def test_a_new_point_joins_by_the_rule(rule):
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((50, 3)), rng.standard_normal((20, 3))
    near, radii = lists(cdist(X, X)), np.sort(cdist(X, X), axis=1)[:, K]
    to = cdist(Y, X)
    graph = nearest_neighbor_graph(neighbor_index(X), K, rule)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsolatedPointWarning)
        found = graph.edges_of(Y).toarray()
    for y in range(20):
        mine = set(np.argsort(to[y])[:K])
        expected = {
            j for j in range(50) if joined(rule, j in mine, to[y, j] <= radii[j], len(mine & near[j]))
        }
        assert set(np.flatnonzero(found[y])) == (expected or {int(np.argmin(to[y]))})


@pytest.mark.parametrize("rule", ["mutual", "shared"])
@pytest.mark.parametrize("tree", [True, False])
def test_a_new_point_joins_by_the_rule_where_edges_were_added(rule, tree):
    """Edges of a tree, or between components, are in no list of neighbours: a fit adds them last."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((50, 2)) + np.repeat([[0, 0], [7, 0]], 25, axis=0)
    Y = rng.standard_normal((60, 2)) * [3, 1] + [3.5, 0]
    near, radii = lists(cdist(X, X)), np.sort(cdist(X, X), axis=1)[:, K]
    to = cdist(Y, X)
    graph = nearest_neighbor_graph(neighbor_index(X), K, rule)
    plain = graph.distances
    graph = add_spanning_tree(graph) if tree else connect(graph, component_labels(plain))
    assert graph.distances.nnz > plain.nnz
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", IsolatedPointWarning)
        found = graph.edges_of(Y).toarray()
    for y in range(len(Y)):
        mine = set(np.argsort(to[y])[:K])
        expected = {
            j for j in range(50) if joined(rule, j in mine, to[y, j] <= radii[j], len(mine & near[j]))
        }
        if tree or not expected:
            expected.add(int(np.argmin(to[y])))
        assert set(np.flatnonzero(found[y])) == expected


@pytest.mark.parametrize("rule", ["mutual", "shared"])
def test_a_point_that_no_vertex_wants_is_announced(rule):
    X = np.random.default_rng(2).standard_normal((50, 2))
    graph = nearest_neighbor_graph(neighbor_index(X), K, "mutual")
    with pytest.warns(IsolatedPointWarning, match="1 new point.*symmetrize='mutual'"):
        edges = graph.edges_of(np.array([[100.0, 100.0]]))
    assert edges.nnz == 1
    assert (
        add_spanning_tree(nearest_neighbor_graph(neighbor_index(X), K, rule))
        .edges_of(np.array([[100.0, 100.0]]))
        .nnz
        >= 1
    )  # without a word


def test_sharing_removes_a_short_cut():
    """Two sheets, and one pair of points on different sheets that are mutual neighbours by chance."""
    rng = np.random.default_rng(3)
    sheets = np.concatenate(
        [np.column_stack([rng.random((150, 2)) * 4, np.full(150, z)]) for z in (0.0, 1.5)]
    )
    X = np.vstack([sheets, [[2, 2, 0.6], [2, 2, 0.9]]])
    between = {}
    for rule in ("union", "shared"):
        edges = nearest_neighbor_graph(neighbor_index(X), 9, rule).distances.tocoo()
        low, high = X[edges.row, 2] < 0.75, X[edges.col, 2] < 0.75
        between[rule] = int((low != high).sum())
    assert between["shared"] < between["union"]


# Trees


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 60), st.integers(1, 20), st.integers(0, 10_000))
def test_the_tree_is_the_minimum_one(n, dims, seed):
    X = np.random.default_rng(seed).standard_normal((n, dims))
    tree = spanning_tree(neighbor_index(X)).distances
    assert tree.nnz == 2 * (n - 1)
    assert connected_components(tree)[0] == 1
    assert tree.sum() / 2 == pytest.approx(minimum_spanning_tree(cdist(X, X)).sum(), rel=1e-10)


def test_ties_make_no_ring():
    grid = np.stack(np.meshgrid(*[np.arange(6.0)] * 3), axis=-1).reshape(-1, 3)
    tree = spanning_tree(neighbor_index(grid)).distances
    assert tree.nnz == 2 * (len(grid) - 1)
    assert_allclose(tree.data, 1)


def test_a_new_point_hangs_on_its_nearest_vertex():
    rng = np.random.default_rng(4)
    X, Y = rng.random((40, 2)), rng.random((10, 2))
    edges = spanning_tree(neighbor_index(X)).edges_of(Y)
    assert_array_equal(edges.indices, cdist(Y, X).argmin(axis=1))
    assert_allclose(edges.data, cdist(Y, X).min(axis=1))


@pytest.mark.parametrize("rule", ["union", "mutual", "shared"])
def test_a_tree_connects_the_graph_of_any_rule(rule):
    graph = add_spanning_tree(nearest_neighbor_graph(neighbor_index(load("split")[0]), 5, rule))
    assert connected_components(graph.distances)[0] == 1


@pytest.mark.parametrize("affinity", ["spanning_tree", SpanningTree(), SpanningTree(5)], ids=str)
@pytest.mark.parametrize("cls", [LaplacianEigenmaps, DiffusionMap, SpectralClustering])
def test_a_graph_with_a_tree_is_connected(cls, affinity):
    X, Y = load("split")
    number = {"n_clusters": 3} if cls is SpectralClustering else {}
    model = cls(affinity=affinity, on_disconnected="raise", **number).fit(X)  # warnings are errors here
    assert model.n_connected_components_ == 1
    assert np.isfinite(model.transform(Y)).all()


def test_the_tree_of_a_path_is_the_path():
    x = np.arange(30.0)[:, None]
    assert_allclose(
        LaplacianEigenmaps(3, affinity=SpanningTree()).fit(x).eigenvalues_,
        np.cos(np.pi * np.arange(1, 4) / 29),
        atol=1e-12,
    )


def test_bad_rules_are_refused():
    with pytest.raises(ValueError, match="symmetrize='both' is not known"):
        KNNGraph(symmetrize="both")
    with pytest.raises(TypeError, match="symmetrize"):
        RadiusGraph(0.5, symmetrize="mutual")
