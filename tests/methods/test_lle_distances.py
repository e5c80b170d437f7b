"""LLE from distances: local Gram matrices, weights and the variants, against literal transcriptions."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import reference as ref
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.spatial.distance import cdist

from eigenscape import LocallyLinearEmbedding
from eigenscape.graph.neighborhood import nearest_neighbor_graph, radius_graph
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.kernels.local import (
    LocalWeights,
    MetricGram,
    RowGram,
    TableGram,
    barycentric_weights,
    local_gram,
)
from eigenscape.methods.lle import alignment_factor, alignment_matrix
from eigenscape.options import KNNGraph, RadiusGraph

METHODS = ("standard", "modified", "hessian", "ltsa")


def points(n, d, seed=0):
    return np.random.default_rng(seed).standard_normal((n, d))


def close(actual, expected, rtol=1e-9):
    assert_allclose(actual, expected, rtol=0, atol=rtol * np.abs(expected).max())


def taxi(x, y):
    return float(np.abs(x - y).sum())


@pytest.mark.parametrize("metric", ["cityblock", "chebyshev", "cosine", "seuclidean"])
def test_weights_of_any_metric(metric):
    """Such distances are in general not Euclidean: the negative part of the local Gram matrix is left out."""
    X, Y, k = points(40, 5), points(6, 5, 1), 9
    params = {"V": X.var(axis=0, ddof=1)} if metric == "seuclidean" else {}
    D, new = cdist(X, X, metric, **params), cdist(Y, X, metric, **params)
    graph = nearest_neighbor_graph(neighbor_index(X, metric, params), k)
    gram = local_gram(graph, metric, params)
    expected = ref.lle_weights_of_distances(D, lambda i: ref.nearest(D[i], k, leave_out=i), 1e-2)
    close(barycentric_weights(gram, graph.neighbors, 1e-2).toarray(), expected)
    weights = LocalWeights(graph, gram, 1e-2)(Y).toarray()
    for row, lengths in zip(weights, new, strict=True):
        own = ref.nearest(lengths, k)
        placed = np.zeros(len(X))
        placed[own] = ref.distance_weights(lengths[own], D[np.ix_(own, own)], 1e-2)
        close(row, placed)


def test_city_block_neighbourhoods_are_not_euclidean():
    """Otherwise the tests above would not show what happens to negative eigenvalues."""
    D = cdist(points(10, 5), points(10, 5), "cityblock")
    gram = (D[0, 1:, None] ** 2 + D[0, None, 1:] ** 2 - D[1:, 1:] ** 2) / 2
    assert np.linalg.eigvalsh(gram)[0] < -0.05 * np.linalg.eigvalsh(gram)[-1]
    found = TableGram(D).around(np.array([0]), np.arange(1, 10)[None])[0]
    close(found, ref.distance_gram(D[0, 1:], D[1:, 1:]))
    assert np.linalg.eigvalsh(found)[0] > -1e-12


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("d", [1, 2])
def test_variants_of_euclidean_distances_are_those_of_the_rows(method, d):
    X, k = points(31, 4, 3), 7
    rows = nearest_neighbor_graph(neighbor_index(X), k)
    expected = {
        "standard": lambda: ref.standard_alignment(X, k, 1e-2),
        "modified": lambda: ref.modified_alignment(X, k, d, 1e-2),
        "hessian": lambda: ref.hessian_alignment(X, k, d),
        "ltsa": lambda: ref.ltsa_alignment(X, k, d),
    }[method]()
    table = nearest_neighbor_graph(neighbor_index(cdist(X, X), "precomputed"), k)
    sparse_table = nearest_neighbor_graph(neighbor_index(sparse.csr_array(cdist(X, X)), "precomputed"), k)
    for graph, gram in (
        (table, TableGram(cdist(X, X))),
        (sparse_table, local_gram(sparse_table, "precomputed", {})),
        (rows, MetricGram(X, "minkowski", {"p": 2})),
        (rows, MetricGram(sparse.csr_array(X), "euclidean")),
        (rows, MetricGram(X, lambda x, y: float(np.linalg.norm(x - y)))),
        (rows, RowGram(X)),
    ):
        close(alignment_matrix(alignment_factor(graph, method, d, 1e-2, gram=gram)).toarray(), expected)


def test_weights_within_a_radius():
    """Belkin sec. 5: the number of neighbours differs from point to point."""
    X, Y, radius = points(60, 3), points(8, 3, 1), 1.6
    D, new = cdist(X, X), cdist(Y, X)
    graph = radius_graph(neighbor_index(X), radius)
    counts = np.diff(graph.neighbors.indptr)
    assert counts.min() < counts.max() - 5
    own = [[j for j in range(60) if j != i and D[i, j] <= radius] for i in range(60)]
    expected = np.zeros((60, 60))
    for i in np.flatnonzero(counts):
        expected[i, own[i]] = ref.local_weights(X[i], X[own[i]], 1e-2)
    gram = local_gram(graph, "euclidean", {})
    close(barycentric_weights(gram, graph.neighbors, 1e-2).toarray(), expected)
    weights = LocalWeights(graph, gram, 1e-2)(Y).toarray()
    for y, lengths, row in zip(Y, new, weights, strict=True):
        near = np.flatnonzero(lengths <= radius)
        placed = np.zeros(60)
        placed[near] = ref.local_weights(y, X[near], 1e-2)
        close(row, placed)


@pytest.mark.long
@pytest.mark.parametrize("graph", [KNNGraph(9), RadiusGraph(2.4)], ids=str)
@pytest.mark.parametrize("method", METHODS)
def test_maps_of_rows_and_of_their_distances_agree(method, graph):
    X, Y = np.tanh(points(60, 6)), np.tanh(points(7, 6, 1))
    model = LocallyLinearEmbedding(2, method=method, reg=1e-2, graph=graph)
    rows = model.fit(X).embedding_, model.transform(Y)
    thin = sparse.csr_array(cdist(X, X))
    for params, train, new in (
        ({"metric": "precomputed"}, cdist(X, X), cdist(Y, X)),
        ({"metric": "precomputed"}, thin, sparse.csr_array(cdist(Y, X))),
        ({"metric": "minkowski", "metric_params": {"p": 2}}, X, Y),
        ({}, sparse.csr_array(X), sparse.csr_array(Y)),
    ):
        other = LocallyLinearEmbedding(2, method=method, reg=1e-2, graph=graph.set_params(**params)).fit(
            train
        )
        close(other.embedding_, rows[0], 1e-6)
        close(other.transform(new), rows[1], 1e-6)


def test_distances_between_neighbours_are_computed_once_for_each_neighbourhood():
    """A function of two rows is slow: it is not called for pairs that no neighbourhood contains."""
    calls = []

    def counted(x, y):
        calls.append(1)
        return taxi(x, y)

    X, k = points(100, 2), 5
    MetricGram(X, counted).around(np.arange(100), np.argsort(cdist(X, X), axis=1)[:, 1 : k + 1])
    assert len(calls) <= 100 * (k + 1) ** 2


def test_batches_do_not_matter(monkeypatch):
    X = points(80, 4)
    columns = np.argsort(cdist(X, X, "cityblock"), axis=1)
    some = MetricGram(X, "cityblock").around(columns[:, 0], columns[:, 1:8])
    monkeypatch.setattr("eigenscape.kernels.local._UNION", 8)
    close(MetricGram(X, "cityblock").around(columns[:, 0], columns[:, 1:8]), some, 1e-14)


def test_a_circle_known_by_its_arcs():
    """Arc lengths on a part of a circle are exact distances of a line, which LLE recovers."""
    angle = np.sort(np.random.default_rng(0).uniform(0, 3, 60))
    D = np.abs(angle[:, None] - angle)
    for method in ("standard", "ltsa"):
        model = LocallyLinearEmbedding(1, method=method, metric="precomputed", n_neighbors=6, reg=1e-6)
        found = model.fit(D).embedding_[:, 0]
        assert abs(np.corrcoef(found, angle)[0, 1]) > 1 - 1e-6
        assert all(a < b for a, b in pairwise(found * np.sign(found[-1] - found[0])))


def test_closed_groups_have_determined_coordinates():
    """Four groups list no neighbours outside, only the point between them does: any constants fit them."""
    corners = np.array([[0, 0], [30, 0], [0, 30], [30, 30]])
    groups = (corner + np.random.default_rng(1).random((40, 2)) for corner in corners)
    X = np.vstack([*groups, [[15.5, 15.5]]])
    order = np.random.default_rng(5).permutation(len(X))
    model = LocallyLinearEmbedding(2, n_neighbors=12).fit(X)
    again = LocallyLinearEmbedding(2, n_neighbors=12).fit(X[order]).embedding_
    assert model.n_connected_components_ == 1
    assert_allclose(np.abs(again), np.abs(model.embedding_[order]), atol=1e-6)
    assert_allclose(model.transform(X.copy()), model.embedding_, atol=1e-10)
