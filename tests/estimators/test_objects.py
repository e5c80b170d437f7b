"""Objects in place of names: neighbour indexes and lists for ``neighbors``, solvers for ``eigen_solver``."""

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
from eigenscape.options import KNNGraph, Solver, SpanningTree
from eigenscape.solvers import SolverConfig

X = np.random.default_rng(0).uniform(size=(90, 3)) * [3, 2, 0.1]
NEW = np.random.default_rng(1).uniform(size=(12, 3)) * [3, 2, 0.1]
GRAPH_METHODS = {
    "isomap": lambda **options: Isomap(n_neighbors=8, **options),
    "landmarks": lambda **options: Isomap(n_neighbors=8, n_landmarks=20, **options),
    "laplacian": lambda **options: LaplacianEigenmaps(n_neighbors=8, **options),
    "diffusion": lambda **options: DiffusionMap(affinity="nearest_neighbors", n_neighbors=8, **options),
    "clustering": lambda **options: SpectralClustering(n_clusters=3, n_neighbors=8, **options),
    "lle": lambda **options: LocallyLinearEmbedding(n_neighbors=8, **options),
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


# --- neighbors ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", GRAPH_METHODS)
@pytest.mark.parametrize(
    "neighbors",
    [lists(X, 12), NearestNeighbors(algorithm="ball_tree"), neighbor_index(X)],
    ids=["lists", "searcher", "index"],
)
def test_objects_give_the_map_of_the_exact_search(name, neighbors):
    make = GRAPH_METHODS[name]
    model = make(neighbors=neighbors)
    same(clone(model).fit(X), make(neighbors="exact").fit(X))
    assert model.neighbors is neighbors  # fit changes no parameter


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
    ("options", "message"),
    [
        ({"neighbors": lists(X[:50], 10)}, r"shape \(90, 10\), got indices of shape \(50, 10\)"),
        ({"neighbors": lists(X, 10)[::-1]}, r"the order is \(indices, distances\)"),
        ({"neighbors": (*lists(X, 10), 1)}, r"neighbors=1 is not known; choose 'auto'"),
        ({"neighbors": (*lists(X, 10), X)}, r"must be a neighbour index or None, got 3 elements"),
        ({"neighbors": (*lists(X, 10), None, None)}, r"\(indices, distances, index\), got 4 elements"),
        ({"neighbors": lists(X, 5)}, "n_neighbors=8 are needed; list more neighbours or lower n_neighbors"),
        ({"neighbors": (lists(X, 10)[0] + 80, lists(X, 10)[1])}, "indices must be between 0 and 89"),
        ({"neighbors": neighbor_index(X[:50])}, "indexes 50 points, but there are 90"),
        ({"neighbors": NearestNeighbors}, "must be an object, got the class NearestNeighbors"),
        ({"neighbors": "fast"}, "neighbors='fast' is not known; choose one of 'auto', 'exact'"),
        ({"neighbors": lists(X, 10), "radius": 0.5}, "cannot be used with a radius"),
    ],
)
def test_bad_neighbors(options, message):
    with pytest.raises(ValueError, match=message):
        Isomap(n_neighbors=8, **options).fit(X)


def test_lists_are_refused_for_a_spanning_tree():
    with pytest.raises(ValueError, match="cannot be used with a minimum spanning tree"):
        LaplacianEigenmaps(affinity=SpanningTree(search=lists(X, 10))).fit(X)


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
def test_a_configuration_replaces_tol(name):
    make = SPECTRAL[name]
    model = make(eigen_solver=SolverConfig("dense", tol=1e-9), tol=0.5).fit(X)
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
        ({"neighbors": NearestNeighbors()}, "neighbors=NearestNeighbors.*neighbors='exact' or a tuple"),
        ({"eigen_solver": NumpySolver()}, "eigen_solver=NumpySolver.*a built-in solver"),
        ({"eigen_solver": SolverConfig(NumpySolver())}, "eigen_solver=NumpySolver.*a built-in solver"),
    ],
)
def test_user_defined_objects_are_not_saved(options, message, tmp_path):
    model = LaplacianEigenmaps(n_neighbors=8, **options).fit(X)
    with pytest.raises(ModelFileError, match=f"fitted with {message}") as refusal:
        save(model, tmp_path / "model.eig")
    assert "cannot be serialized" in str(refusal.value)
