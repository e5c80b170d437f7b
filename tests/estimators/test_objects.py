"""Objects in place of names: neighbour indexes and lists for ``search``, solvers for ``eigen_solver``."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.neighbors import NearestNeighbors

from eigenscape import (
    PCA,
    ClassicalMDS,
    DiffusionMap,
    Isomap,
    KernelPCA,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    SpectralClustering,
    load,
    save,
)
from eigenscape.exceptions import ModelFileError, NotConvergedError
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.options import KNNGraph, RadiusGraph, Solver, SpanningTree

X = np.random.default_rng(0).uniform(size=(90, 3)) * [3, 2, 0.1]
NEW = np.random.default_rng(1).uniform(size=(12, 3)) * [3, 2, 0.1]
GRAPH_METHODS = {
    "isomap": lambda search="auto", **options: Isomap(graph=KNNGraph(8, search=search), **options),
    "landmarks": lambda search="auto", **options: Isomap(
        graph=KNNGraph(8, search=search), n_landmarks=20, **options
    ),
    "laplacian": lambda search="auto", **options: LaplacianEigenmaps(
        affinity=KNNGraph(8, search=search), **options
    ),
    "diffusion": lambda search="auto", **options: DiffusionMap(
        affinity=KNNGraph(8, search=search), **options
    ),
    "clustering": lambda search="auto", **options: SpectralClustering(
        n_clusters=3, affinity=KNNGraph(8, search=search), **options
    ),
    "lle": lambda search="auto", **options: LocallyLinearEmbedding(
        graph=KNNGraph(8, search=search), **options
    ),
}
SPECTRAL = {
    **GRAPH_METHODS,
    "pca": lambda **options: PCA(n_components=2, **options),
    "kernel": lambda **options: KernelPCA(n_components=2, **options),
    "mds": lambda **options: ClassicalMDS(n_components=2, **options),
}


def lists(rows: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    distances, indices = NearestNeighbors(n_neighbors=k).fit(rows).kneighbors(rows)
    return indices, distances


def same(first, second, atol: float = 1e-8) -> None:
    np.testing.assert_allclose(first.embedding_, second.embedding_, atol=atol)
    np.testing.assert_allclose(first.transform(NEW), second.transform(NEW), atol=atol)


# --- search -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GRAPH_METHODS)
@pytest.mark.parametrize(
    "search",
    [lists(X, 12), NearestNeighbors(algorithm="ball_tree"), neighbor_index(X)],
    ids=["lists", "searcher", "index"],
)
def test_objects_give_the_map_of_the_exact_search(name, search):
    make = GRAPH_METHODS[name]
    model = make(search=search)
    same(clone(model).fit(X), make(search="exact").fit(X))
    graph = model.graph if hasattr(model, "graph") else model.affinity
    assert graph.search is search  # fit changes no parameter


def test_objects_for_data_with_duplicates():
    rows = np.concatenate([X, X[:7]])
    for neighbors in (lists(rows, 14), neighbor_index(rows), NearestNeighbors()):
        given = Isomap(graph=KNNGraph(8, search=neighbors)).fit(rows)
        same(given, Isomap(graph=KNNGraph(8, search="exact")).fit(rows))


@pytest.mark.filterwarnings("ignore::eigenscape.exceptions.DisconnectedGraphWarning")
@pytest.mark.parametrize("choice", ["connect", "per_component", "largest"])
def test_objects_for_a_disconnected_graph(choice):
    rows = np.concatenate([X, X[:40] + 20])
    for neighbors in (lists(rows, 10), NearestNeighbors()):
        given = Isomap(on_disconnected=choice, graph=KNNGraph(8, search=neighbors)).fit(rows)
        same(given, Isomap(on_disconnected=choice, graph=KNNGraph(8, search="exact")).fit(rows))


@pytest.mark.parametrize(
    ("search", "message"),
    [
        (lists(X[:50], 10), r"shape \(90, 10\), got indices of shape \(50, 10\)"),
        (lists(X, 10)[::-1], r"the order is \(indices, distances\)"),
        ((*lists(X, 10), None), r"\(indices, distances\), got 3 elements"),
        (lists(X, 5), "n_neighbors=8 are needed; list more neighbours or lower n_neighbors"),
        ((lists(X, 10)[0] + 80, lists(X, 10)[1]), "indices must be between 0 and 89"),
        (neighbor_index(X[:50]), "indexes 50 points, but there are 90"),
        (NearestNeighbors, "must be an object, got the class NearestNeighbors"),
        ("fast", "search='fast' is not known; choose one of 'auto', 'exact'"),
    ],
)
def test_bad_search(search, message):
    with pytest.raises(ValueError, match=message):
        Isomap(graph=KNNGraph(8, search=search)).fit(X)


def test_lists_are_refused_for_a_spanning_tree_and_a_radius():
    with pytest.raises(ValueError, match="cannot be used with a minimum spanning tree"):
        SpanningTree(search=lists(X, 10))
    with pytest.raises(ValueError, match="cannot be used with a radius"):
        RadiusGraph(0.5, search=lists(X, 10))


# --- eigen_solver -------------------------------------------------------------------------------------------


class NumpySolver:
    """Direct solver, for comparison."""

    def principal(self, operator, count, order):
        values, vectors = np.linalg.eigh(operator.matmat(np.eye(operator.shape[0])))
        key = values if order == "value" else np.abs(values)
        which = np.argsort(-key)[:count]
        return values[which], vectors[:, which]

    def smallest(self, problem, count):
        values, vectors = np.linalg.eigh(problem.operator.matmat(np.eye(problem.operator.shape[0])))
        return values[1 : count + 1], vectors[:, 1 : count + 1]


class WrongSolver(NumpySolver):
    """Returns vectors that are not eigenvectors."""

    def principal(self, operator, count, order):
        return np.ones(count), np.eye(operator.shape[0])[:, :count]

    def smallest(self, problem, count):
        return np.ones(count), np.eye(problem.operator.shape[0])[:, :count]


@pytest.mark.parametrize("name", SPECTRAL)
def test_a_solver_object_gives_the_map_of_the_dense_solver(name):
    make = SPECTRAL[name]
    model = make(eigen_solver=NumpySolver()).fit(X)
    same(model, make(eigen_solver="dense").fit(X), atol=1e-6)
    assert "NumpySolver" in model.solver_


@pytest.mark.parametrize("name", SPECTRAL)
def test_a_solver_is_named_by_its_method(name):
    make = SPECTRAL[name]
    model = make(eigen_solver=Solver("dense", tol=1e-9)).fit(X)
    same(model, make(eigen_solver="dense").fit(X))
    assert model.solver_ == "dense"


def test_results_of_a_solver_object_are_verified():
    with pytest.raises(NotConvergedError):
        Isomap(eigen_solver=WrongSolver()).fit(X)
    with pytest.raises(ValueError, match="eigen_solver=WrongSolver returned vectors not orthogonal"):
        LaplacianEigenmaps(eigen_solver=WrongSolver()).fit(X)


@pytest.mark.parametrize("solver", [3, NumpySolver, object(), "fast"])
def test_bad_solvers(solver):
    with pytest.raises(ValueError, match="is not known; choose one of"):
        LaplacianEigenmaps(eigen_solver=solver).fit(X)
    with pytest.raises(ValueError, match="needs a sparse graph matrix"):
        Isomap(eigen_solver=Solver("multilevel")).fit(X)


# --- model files --------------------------------------------------------------------------------------------


def test_lists_and_configurations_are_saved(tmp_path):
    model = LaplacianEigenmaps(eigen_solver=Solver("dense"), affinity=KNNGraph(8, search=lists(X, 12)))
    save(model.fit(X), tmp_path / "model.eig")
    np.testing.assert_allclose(load(tmp_path / "model.eig").transform(NEW), model.transform(NEW))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"affinity": KNNGraph(8, search=NearestNeighbors())}, "search=NearestNeighbors.*Set search to one"),
        ({"eigen_solver": NumpySolver()}, "eigen_solver=NumpySolver.*Set eigen_solver to one"),
        ({"eigen_solver": Solver(NumpySolver())}, "method=NumpySolver.*Set method to one"),
    ],
)
def test_user_defined_objects_are_not_saved(options, message, tmp_path):
    model = LaplacianEigenmaps(**options).fit(X)
    with pytest.raises(ModelFileError, match=f"fitted with {message}") as refusal:
        save(model, tmp_path / "model.eig")
    assert "cannot be serialized" in str(refusal.value)
