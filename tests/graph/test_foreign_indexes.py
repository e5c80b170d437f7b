"""Neighbour indexes of pynndescent and faiss, UMAP's ``precomputed_knn``, and shared searches."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

import eigenscape
from eigenscape.exceptions import ModelFileError
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.graph.shared import NeighborCache
from eigenscape.options import KNNGraph

rng = np.random.default_rng(3)
ROLL = np.tanh(rng.random((300, 2)) @ rng.standard_normal((2, 20)))
X, NEW = ROLL[:260], ROLL[260:]
TWINS = np.concatenate([X, X[:40], X[:10]])


class Descent:
    """The interface of ``pynndescent.NNDescent``, searched exactly."""

    def __init__(self, rows: np.ndarray, k: int = 15, metric: str = "euclidean") -> None:
        self._rows, self.metric = rows.astype(np.float32), metric
        self.queries = 0
        self.neighbor_graph = self._search(self._rows, k)

    def _search(self, Y: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        found = NearestNeighbors(metric=self.metric).fit(self._rows).kneighbors(Y, k)
        return found[1].astype(np.int32), found[0].astype(np.float32)

    def query(self, Y: np.ndarray, k: int = 10) -> tuple[np.ndarray, np.ndarray]:
        self.queries += 1
        return self._search(np.asarray(Y, dtype=np.float32), k)


class Flat:
    """The interface of a flat index of faiss; ``found`` limits how many neighbours it finds."""

    def __init__(self, rows: np.ndarray, metric_type: int = 1, found: int | None = None) -> None:
        self._rows, self.metric_type, self._found = rows.astype(np.float32), metric_type, found
        self.ntotal, self.d, self.searches = len(rows), rows.shape[1], 0

    def search(self, Y: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        assert Y.dtype == np.float32
        self.searches += 1
        if self.metric_type == 0:
            values = Y @ self._rows.T
            order = np.argsort(-values, axis=1, kind="stable")[:, :k]
        else:
            values = np.square(Y[:, None, :] - self._rows).sum(axis=2)
            order = np.argsort(values, axis=1, kind="stable")[:, :k]
        lengths = np.take_along_axis(values, order, axis=1)
        if self._found is not None:
            order[:, self._found :] = -1
        return lengths, order


@pytest.mark.parametrize("rows", [X, TWINS], ids=["distinct", "twins"])
@pytest.mark.parametrize("make", [Descent, Flat])
@pytest.mark.parametrize("cls", [eigenscape.Isomap, eigenscape.LaplacianEigenmaps])
def test_an_index_gives_the_map_of_exact_search(cls: Any, make: Any, rows: np.ndarray) -> None:
    index = make(rows)
    expected = cls(n_neighbors=8).fit(rows)
    model = cls(n_neighbors=8, neighbors=index).fit(rows)
    np.testing.assert_allclose(model.embedding_, expected.embedding_, atol=1e-6)
    np.testing.assert_allclose(model.transform(rows), model.embedding_, atol=1e-9)
    assert model.neighbor_recall_ == pytest.approx(1.0)
    before = index.queries if make is Descent else index.searches
    np.testing.assert_allclose(model.transform(NEW), expected.transform(NEW), atol=1e-6)
    assert (index.queries if make is Descent else index.searches) > before  # the same index is asked


def test_faiss_itself() -> None:
    expected = eigenscape.Isomap(n_neighbors=8).fit(X)
    faiss = pytest.importorskip("faiss", reason="faiss is not installed")
    index = faiss.IndexFlatL2(X.shape[1])
    index.add(X.astype(np.float32))
    model = eigenscape.Isomap(graph=KNNGraph(8, search=index)).fit(X)
    np.testing.assert_allclose(model.embedding_, expected.embedding_, atol=1e-6)


def test_pynndescent_itself() -> None:
    expected = eigenscape.Isomap(n_neighbors=8).fit(X)
    pynndescent = pytest.importorskip("pynndescent", reason="pynndescent is not installed")
    found = pynndescent.NNDescent(X, n_neighbors=30, random_state=0)
    model = eigenscape.Isomap(graph=KNNGraph(8, search=found)).fit(X)
    assert model.neighbor_recall_ > 0.95
    assert eigenscape.quality.neighbors_kept(expected.embedding_, model.embedding_).value > 0.8


def test_lists_that_are_too_short_are_searched() -> None:
    model = eigenscape.Isomap(graph=KNNGraph(8, search=Descent(X, k=4))).fit(X)
    np.testing.assert_allclose(
        model.embedding_, eigenscape.Isomap(n_neighbors=8).fit(X).embedding_, atol=1e-6
    )


@pytest.mark.filterwarnings("ignore::eigenscape.exceptions.DisconnectedGraphWarning")
def test_parts_of_a_disconnected_graph_are_searched_exactly() -> None:
    apart = np.concatenate([X[:100], X[100:200] + 50])
    parameters = {"n_neighbors": 6, "on_disconnected": "per_component"}
    model = eigenscape.LaplacianEigenmaps(**parameters, affinity=KNNGraph(search=Flat(apart))).fit(apart)
    expected = eigenscape.LaplacianEigenmaps(**parameters).fit(apart)
    np.testing.assert_allclose(model.embedding_, expected.embedding_, atol=1e-6)


def test_inner_products_of_unit_rows() -> None:
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    model = eigenscape.LaplacianEigenmaps(affinity=KNNGraph(8, metric="cosine", search=Flat(unit, 0))).fit(X)
    expected = eigenscape.LaplacianEigenmaps(n_neighbors=8, metric="cosine").fit(X)
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(expected.embedding_), atol=1e-3)
    with pytest.raises(ValueError, match="not distances; use METRIC_L2"):
        eigenscape.Isomap(graph=KNNGraph(search=Flat(unit, 0))).fit(X)
    with pytest.raises(ValueError, match="norm is not 1; divide the rows"):
        eigenscape.LaplacianEigenmaps(affinity=KNNGraph(metric="cosine", search=Flat(3 * X, 0))).fit(X)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (Flat(X[:50]), "was fitted to 50 samples, but there are 260"),
        (Flat(X[:, :5]), "indexes rows of 5 features, but X has 20"),
        (Flat(X, 23), "metric_type 23, which is not known"),
        (Flat(X, found=4), "found fewer than 10 neighbours.*raise nprobe"),
        (Descent(X, metric="manhattan"), "built with metric='manhattan', but metric='euclidean'; set metric"),
        ((np.zeros((260, 3), int), np.zeros((260, 3)), None, 1), "got 4 elements"),
    ],
)
def test_errors(index: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        eigenscape.Isomap(graph=KNNGraph(8, search=index)).fit(X)


def test_precomputed_knn_of_umap(tmp_path: Path) -> None:
    """(indices, distances, search index): the index finds the neighbours of new points."""
    descent = Descent(X)
    expected = eigenscape.Isomap(n_neighbors=8).fit(X)
    for third in (None, descent, Flat(X), NearestNeighbors()):
        lists = (*descent.neighbor_graph, third)
        model = eigenscape.Isomap(graph=KNNGraph(8, search=lists)).fit(X)
        np.testing.assert_allclose(model.embedding_, expected.embedding_, atol=1e-5)
        np.testing.assert_allclose(model.transform(NEW), expected.transform(NEW), atol=1e-5)
        if third is not None:
            with pytest.raises(ModelFileError, match=type(third).__name__):
                eigenscape.save(model, tmp_path / "m")
    assert descent.queries > 0


# --- shared searches ----------------------------------------------------------------------------------------

METHODS = [
    lambda: eigenscape.Isomap(n_neighbors=12),
    lambda: eigenscape.LaplacianEigenmaps(n_neighbors=7),
    lambda: eigenscape.LocallyLinearEmbedding(n_neighbors=12),
    lambda: eigenscape.LaplacianEigenmaps(n_neighbors=7, metric="cosine"),
    lambda: eigenscape.LaplacianEigenmaps(affinity=KNNGraph(7, search="approximate")),
    lambda: eigenscape.LaplacianEigenmaps(affinity=KNNGraph(9, search="approximate")),
]


@pytest.mark.parametrize("rows", [X, X.astype(np.float32), X[:, :3], TWINS.round(1)])
def test_a_shared_search_gives_the_same_result(rows: np.ndarray) -> None:
    alone = [make().fit(rows).embedding_ for make in METHODS]
    with eigenscape.shared_neighbors() as cache:
        together = [make().fit(rows).embedding_ for make in METHODS]
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)
    assert cache.n_reused + cache.n_searches == 6
    assert cache.n_reused >= 1


def test_other_rows_are_searched_anew() -> None:
    with eigenscape.shared_neighbors() as cache:
        rows = X.copy()
        first = eigenscape.Isomap(n_neighbors=8).fit(rows).embedding_
        rows[0, 0] += 1.0  # the same array with another value
        second = eigenscape.Isomap(n_neighbors=8).fit(rows).embedding_
    assert (cache.n_searches, cache.n_reused) == (2, 0)
    assert not np.array_equal(first, second)


def test_the_cache_is_bounded_and_ends_with_its_context() -> None:
    index = neighbor_index(X, neighbors="exact")
    cache = NeighborCache(max_bytes=50_000)
    for k in (5, 5, 9, 7):
        found = cache.nearest_others_graph(index, k)
        np.testing.assert_array_equal(found.toarray(), index.nearest_others_graph(k).toarray())
    assert (cache.n_searches, cache.n_reused) == (2, 2)
    cache.nearest_others_graph(index, 100)  # larger than the limit
    assert not cache._tables
    with eigenscape.shared_neighbors() as outer, eigenscape.shared_neighbors() as inner:
        assert inner is outer
    with eigenscape.shared_neighbors() as later:
        assert later is not outer


def test_results_are_copies() -> None:
    index, cache = neighbor_index(X, neighbors="exact"), NeighborCache()
    cache.nearest_others_graph(index, 5).data[:] = 0
    assert (cache.nearest_others_graph(index, 5).data > 0).all()


def test_threads_share_a_cache() -> None:
    expected = [neighbor_index(X[:, :d]).nearest_others_graph(6).toarray() for d in (2, 3, 20)]
    cache, wrong = NeighborCache(), []

    def work() -> None:
        for _ in range(5):
            for d, table in zip((2, 3, 20), expected, strict=True):
                found = cache.nearest_others_graph(neighbor_index(X[:, :d]), 6)
                wrong.append(not np.array_equal(found.toarray(), table))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(wrong) == 60
    assert not any(wrong)
