"""Lower bounds of distances, and exact searches among them."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.spatial.distance import cdist

from eigenscape.graph.blocks import BlockIndex
from eigenscape.graph.bounds import DistanceBounds
from eigenscape.graph.sparse_distances import transpose, union


def correlated(n: int, d: int = 256, rank: int = 20, seed: int = 0) -> np.ndarray:
    """Rows near a space of few dimensions, far from the origin."""
    rng = np.random.default_rng(seed)
    return 5 + rng.standard_normal((n, rank)) @ rng.standard_normal((rank, d)) + rng.standard_normal((n, d))


def literal_neighbors(Y: np.ndarray, X: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    squares = np.array([np.square(X.astype(float) - y).sum(axis=1) for y in Y.astype(float)])
    index = np.argsort(squares, axis=1, kind="stable")[:, :k]
    return np.sqrt(np.take_along_axis(squares, index, axis=1)), index


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1.0, 1e-20, 1e20])
def test_bounds_are_lower_bounds(dtype, scale):
    X = (scale * correlated(2200)).astype(dtype)
    bounds = DistanceBounds(X)
    assert bounds._directions is not None
    Y = (scale * correlated(40, seed=1)).astype(dtype)
    length, order = literal_neighbors(Y, X, len(X))
    squares = np.square(length)
    rough, base, slack = bounds(Y)
    lower = np.take_along_axis(rough + base[:, None], order, axis=1)
    assert (lower <= squares + slack[:, None]).all()
    assert np.median(lower / squares) > 0.5


@pytest.mark.parametrize(("n", "d"), [(2200, 256), (300, 256), (2200, 20)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_search_is_exact_with_and_without_directions(n, d, dtype):
    X = correlated(n, d).astype(dtype)
    X[7] = X[11]  # ties are broken by row number
    index = BlockIndex(X, "euclidean", {}, None)
    assert (index._bounds._directions is not None) == (n >= 2000 and d >= 192)
    Y = np.vstack([X[:30], correlated(10, d, seed=2).astype(dtype)])
    length, found = index.nearest(Y, 8)
    expected = literal_neighbors(Y, X, 8)
    assert_array_equal(found, expected[1])
    assert_allclose(length, expected[0], rtol=1e-12, atol=1e-12)
    own, listed = index.nearest(X, 8)
    assert_array_equal(listed[:30], found[:30])
    assert_array_equal(own[:30], length[:30])


def test_noise_is_searched_in_all_features():
    """Directions of rows without correlations would leave every pair a candidate."""
    assert DistanceBounds(np.random.default_rng(0).standard_normal((2200, 256)))._directions is None


@pytest.mark.long
def test_edges_and_radii_agree_with_the_table_of_distances():
    X, Y = correlated(2200), correlated(25, seed=3)
    index = BlockIndex(X, "euclidean", {}, None)
    length, found = literal_neighbors(Y, X, len(X))
    table = np.empty_like(length)
    np.put_along_axis(table, found, length, axis=1)
    radii = np.random.default_rng(4).uniform(0.8, 1.2, len(X)) * np.median(length[:, 20])
    expected = table <= radii
    np.put_along_axis(expected, found[:, :6], True, axis=1)
    edges = index.search_edges(Y, 6, radii).toarray()
    assert_array_equal(edges > 0, expected)
    assert_allclose(edges[expected], table[expected], rtol=1e-13)
    assert_array_equal(index.search_radius(Y, radii).toarray() > 0, table <= radii)


@pytest.mark.long
def test_closest_pairs_of_groups_are_exact():
    rng = np.random.default_rng(5)
    X = correlated(2100).astype(np.float32)
    group = rng.integers(4, size=len(X))
    length, near, far = BlockIndex(X, "euclidean", {}, None).closest_between(group)
    table = cdist(X, X)  # in double precision, from differences of coordinates
    for mine in range(4):
        for other in range(4):
            if other >= mine:
                assert length[mine, other] == np.inf
                continue
            block = table[group == mine][:, group == other]
            assert_allclose(length[mine, other], block.min(), rtol=1e-12)
            assert (group[near[mine, other]], group[far[mine, other]]) == (mine, other)
            assert_allclose(table[near[mine, other], far[mine, other]], block.min(), rtol=1e-12)


def test_union_with_the_transpose():
    A = sparse.random_array((60, 60), density=0.1, random_state=np.random.default_rng(0), format="csr")
    expected, found = sparse.csr_array(A.maximum(A.T)), union(A, transpose(A))
    expected.sort_indices()
    assert_array_equal(found.toarray(), expected.toarray())
    assert_array_equal(found.indices, expected.indices)


def test_union_of_matrices_with_unsorted_rows_and_other_index_types():
    rng = np.random.default_rng(1)
    A, B = (sparse.random_array((40, 70), density=0.1, random_state=rng, format="csr") for _ in range(2))
    B = B[:, ::-1]  # reverses the order within rows
    B.indices, B.indptr = B.indices.astype(np.int64), B.indptr.astype(np.int64)
    found = union(A, B)
    assert_array_equal(found.toarray(), A.maximum(B).toarray())
    assert found.has_sorted_indices
