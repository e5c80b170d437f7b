"""Approximate neighbour search: recall, one search for two questions, bridges between components."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import cdist

from eigenscape.graph.approximate import ApproximateIndex
from eigenscape.graph.blocks import BlockIndex
from eigenscape.graph.components import component_labels, connect
from eigenscape.graph.inverted_file import build_cells
from eigenscape.graph.neighborhood import nearest_neighbor_graph
from eigenscape.graph.sparse_distances import union
from eigenscape.graph.tuning import TUNING

RNG = np.random.default_rng


def low_rank(n, d, rank, dtype=np.float64):
    """Return points near a plane of the given rank, with noise in all other directions."""
    rng = RNG(0)
    plane = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d))
    return (plane + 0.5 * rng.standard_normal((n, d))).astype(dtype)


def make_index(kind, X):
    return (
        BlockIndex(X, "euclidean", {}, None) if kind == "blocks" else ApproximateIndex(X, "euclidean", None)
    )


@pytest.mark.long
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("d", "rank"), [(30, 8), (300, 20)])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_recall_is_reached_and_distances_are_exact(d, rank, metric, dtype):
    X = low_rank(3000, d, rank, dtype)
    index = ApproximateIndex(X, metric, None)
    assert index.X.dtype == dtype
    Y = low_rank(3000, d, rank, dtype)[::30] + dtype(0.1)
    length, number = index.nearest(Y, 7)
    truth = np.sort(cdist(Y.astype(float), X.astype(float), metric), axis=1)
    assert index.recall >= TUNING.recall
    assert np.mean(length <= truth[:, 6:7] * (1 + 1e-6)) >= 0.97
    exact = np.take_along_axis(cdist(Y.astype(float), X.astype(float), metric), number, axis=1)
    np.testing.assert_allclose(length, exact, rtol=1e-6 if metric == "euclidean" else 1e-4, atol=1e-12)
    assert (np.diff(length, axis=1) >= 0).all()


@pytest.mark.long
def test_components_are_raised_if_they_lose_neighbours():
    """Noise of equal variance in all directions: the leading ones say little about the distance."""
    X = RNG(0).standard_normal((2000, 400))
    index = ApproximateIndex(X, "euclidean", None)
    assert index._n_coordinates == 256


def test_cells_are_raised_if_they_lose_neighbours():
    clusters = RNG(0).standard_normal((20, 30))[RNG(1).integers(20, size=3000)] * 20
    few = ApproximateIndex(clusters + 0.1 * RNG(2).standard_normal((3000, 30)), "euclidean", None)
    many = ApproximateIndex(RNG(0).standard_normal((3000, 30)), "euclidean", None)
    assert few._visits < many._visits


@pytest.mark.long
@pytest.mark.parametrize("kind", ["blocks", "approximate"])
def test_edges_are_the_nearest_and_those_within_the_radii(kind):
    X = low_rank(1500, 40, 5, np.float32)
    Y = X[:90] + np.float32(0.05)
    index = make_index(kind, X)
    radii = index.nearest(X, 6)[0][:, -1]
    edges, within = index.search_edges(Y, 5, index.prepare(radii)), index.radius_graph(Y, radii)
    assert edges.has_canonical_format
    assert abs(edges - union(index.nearest_graph(Y, 5), within)).max() < 1e-13
    if kind == "blocks":
        distance = cdist(Y.astype(float), X.astype(float))
        assert ((distance <= radii).astype(int) == within.toarray().astype(bool)).all()


@pytest.mark.long
def test_the_answer_does_not_depend_on_company_or_threads():
    X = low_rank(2000, 120, 12, np.float32)
    Y = X[::40] + np.float32(0.2)
    one, two = (ApproximateIndex(X, "euclidean", jobs) for jobs in (1, 2))
    length, number = one.nearest(Y, 6)
    assert (two.nearest(Y, 6)[0] == length).all()
    assert (one.nearest(Y[3:4], 6)[1] == number[3:4]).all()
    copy = pickle.loads(pickle.dumps(one))
    assert (copy.nearest(Y, 6)[0] == length).all()


def test_candidates_are_the_nearest_points_of_the_nearest_cells():
    """Against a literal search, with ties: coordinates are small integers."""
    points = RNG(0).integers(0, 4, size=(900, 5)).astype(np.float32)
    cells, queries = build_cells(points, np.arange(900), 20, None), points[:70] + np.float32(0.5)
    offsets = RNG(1).integers(-3, 4, size=900).astype(float)
    near, number = cells.candidates(queries, 4, 12, offsets, 9)
    assert sorted(cells.order) == list(range(900))
    place_of = np.argsort(cells.order)
    for query, values, found in zip(queries, near, number, strict=True):
        to_center = ((query.astype(float) - cells.centers.astype(float)) ** 2).sum(axis=1)
        visited = np.lexsort((np.arange(20), to_center))[:4]
        places = np.concatenate([np.arange(cells.start[c], cells.start[c + 1]) for c in visited])
        square = ((query - cells.points[places]) ** 2).sum(axis=1).astype(float)
        nearest = places[np.lexsort((places, square))[:12]]
        others = places[np.lexsort((places, square + offsets[places]))[:9]]
        assert place_of[found[:12]].tolist() == nearest.tolist()
        extra = found[12:][found[12:] >= 0]
        assert place_of[extra].tolist() == [place for place in others if place not in nearest]
        exact = ((query - points[found[found >= 0]]) ** 2).sum(axis=1)
        assert (values[found >= 0] == exact).all()


def test_cells_with_fewer_points_than_wanted_are_filled_with_minus_one():
    points = RNG(0).standard_normal((40, 3)).astype(np.float32)
    cells = build_cells(points, np.arange(40), 16, None)
    _, number = cells.candidates(points[:5], 2, 30)
    sizes = (number >= 0).sum(axis=1)
    assert (sizes < 30).all()
    assert ((number >= 0) == (np.arange(30) < sizes[:, None])).all()


@pytest.mark.long
def test_most_vertices_that_would_choose_a_new_point_are_found():
    """Points in the open have few neighbours, and a large radius: they choose points far away."""
    rng = RNG(0)
    X = (low_rank(4000, 200, 15) * rng.lognormal(0, 0.5, size=(4000, 1))).astype(np.float32)
    index = ApproximateIndex(X[:3500], "euclidean", None)
    radii = index.nearest(X[:3500], 11)[0][:, -1]
    within = index.radius_graph(X[3500:], radii).toarray() > 0
    truth = cdist(X[3500:].astype(float), X[:3500].astype(float)) <= radii
    assert not (within & ~truth).any()
    assert (within & truth).sum() >= 0.9 * truth.sum()


@pytest.mark.parametrize("kind", ["blocks", "approximate"])
def test_bridges_are_a_minimum_spanning_tree_of_components(kind):
    rng = RNG(0)
    centers = 15 * rng.standard_normal((7, 20))
    X = np.concatenate([center + rng.standard_normal((150, 20)) for center in centers])
    index = make_index(kind, X)
    graph = nearest_neighbor_graph(index, 5)
    label = component_labels(graph.distances)
    joined = connect(graph, label)
    assert connected_components(joined.distances)[0] == 1
    added = sparse.triu(joined.distances - graph.distances)
    between = np.full((label.max() + 1,) * 2, np.inf)
    np.minimum.at(between, (label[:, None], label[None, :]), cdist(X, X))
    np.fill_diagonal(between, 0)
    assert added.nnz == label.max()
    np.testing.assert_allclose(added.sum(), minimum_spanning_tree(between).sum(), rtol=1e-12)


def test_cosines_of_rows_beyond_single_precision():
    """Rows were rounded to infinity before they were scaled, and cells of any number were visited."""
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((200, 8)).astype(np.float32), rng.standard_normal((20, 8))
    index = ApproximateIndex(X, "cosine", None)
    length, found = index.nearest(Y * 2.0**190, 3)
    expected_length, expected = index.nearest(Y, 3)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(length, expected_length)
