"""Neighbour lists as sparse matrices, and the union graph."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from eigenscape.graph import sparse_distances, tree
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.graph.row_index import row_hashes
from eigenscape.graph.sparse_distances import SHORTEST, neighbor_table, transpose, union
from eigenscape.graph.tuning import TUNING


@pytest.fixture
def lists(monkeypatch: pytest.MonkeyPatch) -> sparse.csr_array:
    monkeypatch.setattr(sparse_distances, "TUNING", replace(TUNING, sparse_rows=64))  # several blocks
    rng = np.random.default_rng(0)
    column = np.array([rng.choice(300, 7, replace=False) for _ in range(300)])
    return neighbor_table(rng.random(column.shape), column, 300)


def test_lists_become_sorted_rows():
    length, column = np.array([[0.5, 0.0, 2.0], [1.0, 3.0, 0.25]]), np.array([[4, 1, 0], [2, 3, 0]])
    rows = neighbor_table(length, column, 5)
    assert rows.toarray().tolist() == [[2.0, SHORTEST, 0, 0, 0.5], [0.25, 0, 1.0, 3.0, 0]]
    assert rows.indices.tolist() == [0, 1, 4, 0, 2, 3]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_union_has_the_larger_of_both_entries(lists, n_jobs):
    both = union(lists, transpose(lists, n_jobs), n_jobs)
    dense = lists.toarray()
    assert np.array_equal(both.toarray(), np.maximum(dense, dense.T))
    assert np.array_equal(transpose(lists, n_jobs).toarray(), dense.T)
    examined = sparse.csr_array((both.data, both.indices, both.indptr), shape=both.shape)
    assert examined.has_canonical_format


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev"])
def test_tied_neighbors_on_a_grid_have_the_lowest_ranks(metric, monkeypatch):
    monkeypatch.setattr(tree, "TUNING", replace(TUNING, unordered_queries=10, tree_queries=50))
    grid = np.stack(np.meshgrid(np.arange(15.0), np.arange(12.0)), axis=-1).reshape(-1, 2)
    X = np.random.default_rng(1).permutation(grid)
    Y = X[:40] + 0.5
    for queries in (X, Y):
        far = cdist(queries, X, {"manhattan": "cityblock"}.get(metric, metric))
        order = np.lexsort((np.broadcast_to(row_hashes(X), far.shape), far), axis=1)[:, :7]
        length, index = neighbor_index(X, metric).nearest(queries, 7)
        assert np.array_equal(index, order)
        assert np.array_equal(length, np.take_along_axis(far, order, axis=1))


def test_order_of_queries_changes_no_neighbor(monkeypatch):
    rng = np.random.default_rng(2)
    index = neighbor_index(rng.random((3000, 3)))
    queries = rng.random((2000, 3))
    length, number = index.nearest(queries, 5)
    monkeypatch.setattr(tree, "TUNING", replace(TUNING, unordered_queries=10_000))
    plain = index.nearest(queries, 5)
    assert np.array_equal(length, plain[0])
    assert np.array_equal(number, plain[1])
