"""Points of the same values are the same points, whatever objects hold the values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from eigenscape import ClassicalMDS, KernelPCA
from eigenscape.graph.blocks import BlockIndex
from eigenscape.graph.tree import TreeIndex


def objects(values: list[Any]) -> np.ndarray:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def set_distance(x: set, y: set) -> float:
    return float(len(x ^ y)) ** 0.8


def record_distance(x: dict, y: dict) -> float:
    return abs(x["a"] - y["a"]) ** 1.5 + abs(x["b"] - y["b"]) ** 1.5


def series_distance(x: np.ndarray, y: np.ndarray) -> float:
    return float(abs(len(x) - len(y)) ** 1.5 + abs(x.sum() - y.sum()) ** 1.5)


KINDS = {
    "sets in another order": (
        set_distance,
        objects([{i, i + 8, i + 16, i * 3} for i in range(1, 40)]),
        objects([{i * 3, i + 16, i + 8, i} for i in range(1, 40)]),
    ),
    "records in another order": (
        record_distance,
        objects([{"a": i % 7, "b": i % 5} for i in range(30)]),
        objects([{"b": float(i % 5), "a": float(i % 7)} for i in range(30)]),
    ),
    "arrays of several lengths": (
        series_distance,
        objects([np.arange(3 + i % 4) * (i % 5) * 0.5 for i in range(30)]),
        objects([np.arange(3 + i % 4) * (i % 5) * 0.5 for i in range(30)]),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_equal_objects_are_the_same_point(kind: str) -> None:
    """The shift of an indefinite kernel is added between a point and itself, which must be recognised."""
    metric, X, copies = KINDS[kind]
    model = ClassicalMDS(2, metric=metric, indefinite="shift").fit(X)
    np.testing.assert_allclose(model.transform(copies), model.embedding_, atol=1e-12)


def test_sparse_rows_are_placed_by_a_linear_kernel_of_dense_rows_as_dense_rows() -> None:
    """The kernel subtracts the mean of the training rows from new rows, also from sparse ones."""
    X = np.random.default_rng(0).poisson(1.0, (60, 5)) * 2.0
    model = KernelPCA(2, kernel="linear").fit(X)
    np.testing.assert_allclose(model.transform(sparse.csr_array(X)), model.embedding_, atol=1e-12)
    assert model.loss(sparse.csr_array(X[:20])) == pytest.approx(model.loss(X[:20]), rel=1e-10)


@pytest.mark.parametrize("shape", [(300, 8), (300, 200), (2100, 200)])
@pytest.mark.parametrize("metric", ["euclidean", "cosine", "tree"])
def test_neighbours_of_all_points_are_those_of_a_copy(shape: tuple[int, int], metric: str) -> None:
    """With distances that are computed together, by bounds of principal directions, and by the metric."""
    X = np.random.default_rng(0).standard_normal(shape)
    index = TreeIndex(X, 2.0, None) if metric == "tree" else BlockIndex(X, metric, {}, None)
    (lengths, indices), (expected, neighbors) = index.nearest_all(6), index.nearest(np.array(X, order="F"), 6)
    np.testing.assert_array_equal(indices, neighbors)
    np.testing.assert_allclose(lengths, expected, atol=1e-12)
