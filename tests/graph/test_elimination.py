"""Shortest paths by elimination: Dijkstra's distances, on every kind of graph."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.csgraph import dijkstra

from eigenscape import Isomap
from eigenscape._native.loops import LANES, minimum_degree
from eigenscape.graph import elimination
from eigenscape.graph import geodesics as geodesics_module
from eigenscape.graph.elimination import Elimination, eliminated
from eigenscape.graph.geodesics import geodesics
from eigenscape.graph.neighborhood import nearest_neighbor_graph
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.graph.tuning import TUNING


def neighbors(m: int, d: int, k: int = 6) -> sparse.csr_array:
    X = np.random.default_rng(d).standard_normal((m, d))
    return nearest_neighbor_graph(neighbor_index(X), k).distances


def path(m: int) -> sparse.csr_array:
    steps = np.random.default_rng(0).random(m - 1)
    return sparse.csr_array(sparse.diags_array([steps, steps], offsets=[-1, 1]))


def star(m: int) -> sparse.csr_array:
    spokes = sparse.coo_array(
        (np.arange(1.0, m), (np.zeros(m - 1, dtype=int), np.arange(1, m))), shape=(m, m)
    )
    return sparse.csr_array(spokes + spokes.T)


def complete(m: int) -> sparse.csr_array:
    lengths = np.random.default_rng(0).random((m, m))
    np.fill_diagonal(lengths, 0)
    return sparse.csr_array(lengths + lengths.T)


GRAPHS = {
    "curve": path(333),
    "star": star(300),
    "surface": neighbors(700, 2),
    "high-dimensional": neighbors(700, 30),
    "complete": complete(150),
    "two components": sparse.csr_array(sparse.block_diag([path(100), neighbors(300, 20)])),
    "few vertices": complete(70),
}


def all_distances(paths: Elimination) -> np.ndarray:
    """Distances between all vertices, in batches of sources."""
    m = len(paths.order)
    out = np.empty((m, m))
    for first in range(0, m, LANES):
        batch = np.arange(first, min(first + LANES, m))
        lanes = paths.distances(np.arange(len(batch) + 1), batch, np.zeros(len(batch)))
        out[paths.order[batch]] = lanes[paths.rank, : len(batch)].T
    return out


@pytest.mark.parametrize("dense", [False, True], ids=["as chosen", "with a core"])
@pytest.mark.parametrize("name", GRAPHS)
def test_distances_are_those_of_dijkstra(name, dense, monkeypatch):
    tuning = replace(TUNING, search_cost=np.inf)  # never a search
    monkeypatch.setattr(elimination, "TUNING", replace(tuning, sparse_edges=0) if dense else tuning)
    lengths = GRAPHS[name]
    paths = eliminated(lengths, lengths.shape[0])
    assert paths is not None
    indices, pointers = (part.astype(np.int32) for part in (lengths.indices, lengths.indptr))  # SciPy 1.13
    expected = dijkstra(sparse.csr_array((lengths.data, indices, pointers), shape=lengths.shape))
    np.testing.assert_allclose(all_distances(paths), expected, rtol=1e-14)


def test_results_do_not_depend_on_the_number_of_jobs():
    lengths = GRAPHS["high-dimensional"]
    one, two = (eliminated(lengths, 700, n_jobs) for n_jobs in (1, 2))
    assert one is not None
    assert two is not None
    assert len(one.core) == 420  # several blocks
    np.testing.assert_array_equal(one.core, two.core)
    graph = nearest_neighbor_graph(neighbor_index(np.random.default_rng(0).standard_normal((400, 30))), 6)
    X = graph.vertices.X
    np.testing.assert_array_equal(geodesics(graph, X, 1), geodesics(graph, X, 2))


def test_a_tree_is_eliminated_without_additional_edges():
    near, order, count = np.empty((333, 6), np.uint64), np.empty(333, np.int32), np.empty(333, np.int64)
    n_listed = minimum_degree(path(333).indptr, path(333).indices, np.inf, near, order, count)
    assert n_listed >= 331
    assert count.max() == 1


def test_surfaces_need_no_dense_matrix():
    paths = eliminated(neighbors(2000, 2), 2000)
    assert paths is not None
    assert len(paths.core) < 200
    assert len(paths.up) < 25 * 2000


def test_few_sources_are_searched():
    assert eliminated(GRAPHS["surface"], 20) is None
    assert eliminated(GRAPHS["high-dimensional"], 64) is None  # the core would cost more


def test_half_squares_are_rounded_once():
    graph = nearest_neighbor_graph(neighbor_index(np.random.default_rng(0).standard_normal((300, 4))), 6)
    exact = geodesics(graph, half_squared=True)
    np.testing.assert_array_equal(exact, geodesics(graph, graph.vertices.X, half_squared=True))
    np.testing.assert_array_equal(
        geodesics(graph, dtype=np.float32, half_squared=True), exact.astype(np.float32)
    )


def test_an_elimination_is_kept_for_new_points(monkeypatch):
    calls = []

    def counted(*arguments):
        calls.append(arguments)
        return eliminated(*arguments)

    monkeypatch.setattr(geodesics_module, "eliminated", counted)
    X = np.random.default_rng(0).random((400, 3))
    model = Isomap(n_neighbors=8).fit(X[:200])
    assert len(calls) == 1
    placed = model.transform(X[200:])
    assert len(calls) == 1
    geodesics_module._searches.clear()
    np.testing.assert_array_equal(model.transform(X[200:]), placed)
