"""Neighbour indexes from objects of the user: searchers, indexes and lists, and the automatic choice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from eigenscape.graph import neighbors as choice
from eigenscape.graph.approximate import ApproximateIndex
from eigenscape.graph.blocks import BlockIndex
from eigenscape.graph.components import component_labels, connect
from eigenscape.graph.neighborhood import nearest_neighbor_graph, radius_graph
from eigenscape.graph.neighbors import NeighborIndex, neighbor_index
from eigenscape.graph.row_index import distinct_rows
from eigenscape.graph.tuning import TUNING

K = 5


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((60, 3))


@pytest.fixture
def Y():
    return np.random.default_rng(1).standard_normal((20, 3))


def lists(X, k, with_self=True):
    """Indices and distances of the nearest neighbours by brute force."""
    D = cdist(X, X)
    order = np.argsort(D, axis=1, kind="stable")[:, 0 if with_self else 1 :][:, :k]
    return order, np.take_along_axis(D, order, axis=1)


def same_graph(graph, expected, Y):
    """The same edges between training points and to new points."""
    assert_allclose(graph.distances.toarray(), expected.distances.toarray(), rtol=1e-12)
    assert_allclose(graph.neighbors.toarray(), expected.neighbors.toarray(), rtol=1e-12)
    assert_allclose(graph.edges_of(Y).toarray(), expected.edges_of(Y).toarray(), rtol=1e-12)


class OnlyKneighbors:
    """A searcher without ``fit`` and ``get_params``."""

    def __init__(self, X):
        self.X = X

    def kneighbors(self, X, n_neighbors):
        D = cdist(X, self.X)
        order = np.argsort(D, axis=1, kind="stable")[:, :n_neighbors]
        return np.take_along_axis(D, order, axis=1), order


# --- searchers ---


@pytest.mark.parametrize("algorithm", ["brute", "ball_tree"])
def test_a_searcher_gives_the_graph_of_exact_search(X, Y, algorithm):
    index = neighbor_index(X, neighbors=NearestNeighbors(algorithm=algorithm))
    exact = neighbor_index(X)
    assert isinstance(index, NeighborIndex)
    same_graph(nearest_neighbor_graph(index, K), nearest_neighbor_graph(exact, K), Y)
    same_graph(radius_graph(index, 0.8), radius_graph(exact, 0.8), Y[:5])
    which = np.arange(0, 60, 2)
    assert_array_equal(index.subset(which).nearest(Y, 3)[1], exact.subset(which).nearest(Y, 3)[1])


def test_radius_search_goes_on_until_the_radius_is_passed(X, Y):
    radii = np.linspace(0.1, 4, 60)
    index, exact = neighbor_index(X, neighbors=NearestNeighbors()), neighbor_index(X)
    assert_allclose(index.radius_graph(Y, radii).toarray(), exact.radius_graph(Y, radii).toarray())


def test_the_searcher_itself_is_not_modified(X):
    unfitted, fitted = NearestNeighbors(), NearestNeighbors().fit(X[:7])
    for searcher in (unfitted, fitted):
        assert neighbor_index(X, neighbors=searcher).n_points == 60
    assert not hasattr(unfitted, "n_samples_fit_")
    assert fitted.n_samples_fit_ == 7


def test_the_metric_of_the_searcher_is_used(X):
    index = neighbor_index(X, neighbors=NearestNeighbors(metric="manhattan"))
    expected = neighbor_index(X, metric="manhattan")
    assert_allclose(index.nearest(X, 4)[0], expected.nearest(X, 4)[0])


def test_a_searcher_that_cannot_be_cloned_is_used_as_it_is(X, Y):
    index = neighbor_index(X, neighbors=OnlyKneighbors(X))
    same_graph(nearest_neighbor_graph(index, K), nearest_neighbor_graph(neighbor_index(X), K), Y)
    with pytest.raises(ValueError, match=r"OnlyKneighbors cannot be fitted.*get_params"):
        index.subset(np.arange(5))


def test_a_searcher_of_all_samples_is_reduced_to_the_distinct_ones(X, Y):
    twins = np.concatenate([X, X[:40], X[:10]])
    first, group = distinct_rows(twins)
    searcher = OnlyKneighbors(twins)
    searcher.n_samples_fit_ = len(twins)
    index = neighbor_index(twins[first], neighbors=searcher, distinct=(first, group))
    same_graph(nearest_neighbor_graph(index, K), nearest_neighbor_graph(neighbor_index(X), K), Y)
    with pytest.raises(ValueError, match="OnlyKneighbors was fitted to 110 samples, but there are 60"):
        neighbor_index(X, neighbors=searcher)


def test_components_are_connected_with_a_searcher(X):
    apart = np.concatenate([X, X + 100])
    graph = nearest_neighbor_graph(neighbor_index(apart, neighbors=NearestNeighbors()), 3)
    joined = connect(graph, component_labels(graph.distances))
    assert component_labels(joined.distances).max() == 0


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (
            (np.ones((60, 2)), np.zeros((60, 2), dtype=int)),
            r"shape \(60, 6\), got indices of shape \(60, 2\)",
        ),
        ((np.full((60, 6), np.nan), np.zeros((60, 6), dtype=int)), "finite and not negative; check row 0"),
        ((np.ones((60, 6)), np.full((60, 6), 60)), r"between 0 and 59, got 60"),
        ((np.ones((60, 6)), np.full((60, 6), -1)), r"between 0 and 59, got -1"),
    ],
)
def test_invalid_results_of_a_searcher_are_rejected(X, result, message):
    class Broken:
        def kneighbors(self, X, n_neighbors):
            return result

    with pytest.raises(ValueError, match=f"neighbors=Broken.*{message}"):
        nearest_neighbor_graph(neighbor_index(X, neighbors=Broken()), K)


# --- lists of neighbours ---


@pytest.mark.parametrize("with_self", [True, False])
def test_lists_give_the_graph_of_exact_search(X, Y, with_self):
    index = neighbor_index(X, neighbors=lists(X, K + 3, with_self))
    assert isinstance(index, NeighborIndex)
    same_graph(nearest_neighbor_graph(index, K), nearest_neighbor_graph(neighbor_index(X), K), Y)


def test_the_graph_has_the_distances_of_the_lists(X, Y):
    """New points are searched exactly, by the metric."""
    indices, distances = lists(X, K + 1)
    graph = nearest_neighbor_graph(neighbor_index(X, neighbors=(indices, 2 * distances)), K)
    plain = nearest_neighbor_graph(neighbor_index(X), K)
    assert_allclose(graph.distances.toarray(), 2 * plain.distances.toarray())
    assert_array_equal(graph.neighbors_of(Y).toarray(), plain.neighbors_of(Y).toarray())


def test_lists_of_duplicates_are_merged(X, Y):
    doubled = np.concatenate([X, X[::-1]])
    first, group = distinct_rows(doubled)
    index = neighbor_index(doubled[first], neighbors=lists(doubled, 2 * K + 4), distinct=(first, group))
    expected = neighbor_index(doubled[first])
    same_graph(nearest_neighbor_graph(index, K), nearest_neighbor_graph(expected, K), Y)
    short = neighbor_index(doubled[first], neighbors=lists(doubled, K + 1), distinct=(first, group))
    with pytest.raises(ValueError, match=r"lists 2 distinct other samples .*n_neighbors=5 are needed"):
        nearest_neighbor_graph(short, K)


def test_too_few_neighbours_are_rejected(X):
    index = neighbor_index(X, neighbors=lists(X, K))  # the points themselves are the first column
    with pytest.raises(
        ValueError, match=r"lists 4 distinct other samples .*n_neighbors=5.*lower n_neighbors"
    ):
        nearest_neighbor_graph(index, K)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda i, d: (i[:50], d[:50]), r"shape \(60, 6\), got indices of shape \(50, 6\)"),
        (lambda i, d: (i, d[:, 1:]), r"distances of shape \(60, 5\)"),
        (lambda i, d: (i.ravel(), d.ravel()), r"shape \(60, k\), got indices of shape \(360,\)"),
        (lambda i, d: (d, i), r"integers, got float64; the order is \(indices, distances\)"),
        (lambda i, d: (i, np.where(i == 7, np.nan, d)), "finite and not negative"),
        (lambda i, d: (i, np.where(i == 7, -1, d)), "finite and not negative"),
        (lambda i, d: (i + 1, d), "between 0 and 59, got 60"),
        (lambda i, d: (i - 1, d), "between 0 and 59, got -1"),
        (lambda i, d: (i, d, d), "got 3 elements"),
        (lambda i, d: (i, d + 1j), "real numbers, got complex128"),
        (lambda i, d: (i, d.astype(str)), "real numbers, got <U"),
    ],
)
def test_invalid_lists_are_rejected(X, change, message):
    with pytest.raises(ValueError, match=f"neighbors.*{message}"):
        neighbor_index(X, neighbors=change(*lists(X, K + 1)))


# --- indexes and other objects ---


def test_an_index_is_used_as_it_is(X):
    index = BlockIndex(X, "euclidean", {}, None)
    assert neighbor_index(X, neighbors=index) is index
    with pytest.raises(ValueError, match="neighbors=BlockIndex indexes 60 points, but there are 50"):
        neighbor_index(X[:50], neighbors=index)


def test_an_index_of_all_samples_is_reduced_to_the_distinct_ones(X, Y):
    doubled = np.concatenate([X, X])
    first, group = distinct_rows(doubled)
    given = BlockIndex(doubled, "euclidean", {}, None)
    index = neighbor_index(doubled[first], neighbors=given, distinct=(first, group))
    assert index.n_points == 60
    same_graph(nearest_neighbor_graph(index, K), nearest_neighbor_graph(neighbor_index(X), K), Y)


@pytest.mark.parametrize("neighbors", [3, None, [1, 2], object()])
def test_other_objects_are_rejected(X, neighbors):
    with pytest.raises(ValueError, match=r"neighbors=.*is not known.*kneighbors\(X, n_neighbors\)"):
        neighbor_index(X, neighbors=neighbors)


def test_classes_and_precomputed_distances_are_rejected(X):
    with pytest.raises(ValueError, match="got the class NearestNeighbors"):
        neighbor_index(X, neighbors=NearestNeighbors)
    with pytest.raises(ValueError, match=r"NearestNeighbors cannot be combined with a precomputed"):
        neighbor_index(cdist(X, X), metric="precomputed", neighbors=NearestNeighbors())


def test_automatic_search_of_many_rows_is_approximate_unless_exact_is_set(X, monkeypatch):
    monkeypatch.setattr(choice, "TUNING", replace(TUNING, exact_points=50))
    wide = np.hstack([X] * 6)
    assert isinstance(neighbor_index(wide), ApproximateIndex)
    assert isinstance(neighbor_index(wide, neighbors="exact"), BlockIndex)
