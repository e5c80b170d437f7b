"""LocallyLinearEmbedding with a metric, precomputed distances or a radius: errors and model files."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors, radius_neighbors_graph

import eigenscape
from eigenscape import LocallyLinearEmbedding
from eigenscape.exceptions import IsolatedPointWarning
from eigenscape.options import KNNGraph, RadiusGraph


@pytest.fixture(scope="module")
def X() -> np.ndarray:
    return np.random.default_rng(0).standard_normal((70, 3))


def test_a_sparse_graph_without_the_distances_between_neighbours(X: np.ndarray) -> None:
    graph = NearestNeighbors(n_neighbors=6).fit(X).kneighbors_graph(mode="distance")
    with pytest.raises(
        ValueError, match=r"does not contain the distance between training samples \d+ and \d+.*dense"
    ):
        LocallyLinearEmbedding(metric="precomputed", n_neighbors=6).fit(graph)


def test_a_graph_of_twice_the_radius_is_enough(X: np.ndarray) -> None:
    radius = 1.7
    thin = radius_neighbors_graph(X, 2 * radius, mode="distance")
    assert thin.nnz < 0.97 * 70 * 69
    table, rows = (
        LocallyLinearEmbedding(2, reg=1e-2, graph=RadiusGraph(radius, metric=metric)).fit(data).embedding_
        for metric, data in (("precomputed", thin), ("euclidean", X))
    )
    np.testing.assert_allclose(table, rows, atol=1e-6 * np.abs(rows).max())


def test_a_new_point_without_a_stored_distance_is_at_the_origin(X: np.ndarray) -> None:
    model = LocallyLinearEmbedding(metric="precomputed", n_neighbors=8).fit(sparse.csr_array(cdist(X, X)))
    new = sparse.csr_array(np.vstack([np.zeros(70), cdist(X[:1] + 0.1, X)[0]]))
    with pytest.warns(IsolatedPointWarning, match=r"1 new point.*no stored distance"):
        placed = model.transform(new)
    assert (placed[0] == 0).all()
    assert (placed[1] != 0).all()


@pytest.mark.parametrize(("method", "least"), [("modified", 2), ("hessian", 5), ("ltsa", 3)])
def test_a_radius_with_too_few_neighbours_for_the_method(X: np.ndarray, method: str, least: int) -> None:
    with pytest.raises(
        ValueError,
        match=rf"method='{method}' with n_components=2 needs at least {least} neighbours of each sample,"
        r" got \d+; raise n_neighbors, or enlarge radius",
    ):
        LocallyLinearEmbedding(2, method=method, graph=RadiusGraph(0.5)).fit(X)


def test_a_number_of_neighbours_is_refused_with_a_radius(X: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"n_neighbors=9 is not used with graph=RadiusGraph\(2.0\)"):
        LocallyLinearEmbedding(2, n_neighbors=9, method="ltsa", graph=RadiusGraph(2.0)).fit(X)


def test_a_searcher_with_a_metric_of_its_own(X: np.ndarray) -> None:
    """It determines the neighbours, while the weights are those of the rows."""
    searcher = NearestNeighbors(metric="cityblock")
    model = LocallyLinearEmbedding(2, reg=1e-2, graph=KNNGraph(8, search=searcher)).fit(X)
    order = np.argsort(cdist(X, X, "cityblock"), axis=1)[:, 1:9]
    W = np.zeros((70, 70))
    for i, own in enumerate(order):
        G = (X[own] - X[i]) @ (X[own] - X[i]).T
        w = np.linalg.solve(G + 1e-2 * np.trace(G) * np.eye(8), np.ones(8))
        W[i, own] = w / w.sum()
    M = (np.eye(70) - W).T @ (np.eye(70) - W)
    np.testing.assert_allclose(model.kernel_(model.kernel_.X).toarray(), np.eye(70) - M, atol=1e-10)


def test_lists_of_objects_are_refused() -> None:
    with pytest.raises(TypeError, match="precomputed"):
        LocallyLinearEmbedding(metric=lambda a, b: abs(len(a) - len(b))).fit(["a", "bb", "ccc", "d"])


@pytest.mark.parametrize("thin", [False, True])
def test_model_files_of_distances(X: np.ndarray, thin: bool, tmp_path) -> None:
    """``transform`` needs the distances between training samples, so the file contains them."""
    wrap = sparse.csr_array if thin else np.asarray
    new = wrap(cdist(X[:5] + 0.2, X))
    model = LocallyLinearEmbedding(metric="precomputed", n_neighbors=8).fit(wrap(cdist(X, X)))
    eigenscape.save(model, tmp_path / "model.esc")
    loaded = eigenscape.load(tmp_path / "model.esc")
    np.testing.assert_array_equal(loaded.transform(new), model.transform(new))


def test_distances_of_any_metric_have_no_inverse_but_rows_have(X: np.ndarray) -> None:
    assert not hasattr(LocallyLinearEmbedding(metric="precomputed").fit(cdist(X, X)), "inverse_transform")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = LocallyLinearEmbedding(2, metric="cityblock", reg=1e-2).fit(X)
        assert model.inverse_transform(model.embedding_).shape == X.shape
