"""The methods that are chosen for a sparse matrix, and how their results are judged."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sweep import Graph, angle_to, graph_of, laplacian, reference, solve, symmetric

from eigenscape import LaplacianEigenmaps, _memory
from eigenscape.exceptions import DisconnectedGraphWarning, NotConvergedError, NotConvergedWarning
from eigenscape.options import Solver
from eigenscape.solvers import EigenPairs, SolverConfig, SolverResult, policy, smallest
from eigenscape.solvers.pairs import angles
from eigenscape.solvers.parts import solve_parts
from eigenscape.solvers.policy import plan_sparse


def plan(kind: str, n: int, count: int = 3, **options: object) -> policy.Plan:
    graph = graph_of(kind, n, 0)
    return plan_sparse(graph.matrix, count, True, SolverConfig(**options, parts=graph.parts))


@pytest.mark.parametrize(
    ("kind", "n", "methods"),
    [
        ("line", 140, ("dense",)),
        ("roll", 3000, ("shift-invert",)),
        ("cloud", 3000, ("lanczos", "shift-invert")),
        ("clusters", 3000, ("lanczos", "shift-invert")),
        ("line", 3000, ("shift-invert",)),
        ("strip", 12_000, ("shift-invert", "lanczos")),
        ("roll", 12_000, ("multilevel", "shift-invert", "lanczos")),
        ("hubs", 12_000, ("lanczos", "shift-invert", "lanczos")),
        ("weakly_joined", 12_000, ("shift-invert", "lanczos")),
        pytest.param("cloud", 12_500, ("lanczos",), marks=pytest.mark.long),
    ],
)
def test_plans(kind, n, methods):
    found = plan(kind, n)
    assert found.methods == methods
    assert found.reason


def test_hubs_do_not_make_a_ring_wide():
    """Hubs connect nearly all vertices of a level; without them its connected parts are short arcs."""
    assert plan("hubs", 250_000).methods == ("lanczos", "shift-invert", "lanczos")
    assert plan("power_law", 20_000).methods == ("lanczos",)


def test_as_many_pairs_as_joined_parts_but_one_come_from_the_parts():
    """The additional pair that detects a degenerate spectrum lies within a part."""
    rng = np.random.default_rng(0)
    each = symmetric(*rng.integers(1600, size=(2, 16_000)), np.ones(16_000), 1600)
    W = sparse.block_diag([each] * 5).tolil()
    for first in range(0, 6400, 1600):
        W[first, first + 1600] = W[first + 1600, first] = 1e-12
    graph = laplacian(sparse.csr_array(W), np.repeat(np.arange(5), 1600))
    answer = solve(graph, 4)
    assert answer.pairs.solver == "parts"
    assert answer.pairs.values.max() < 1e-14
    f = answer.pairs.vectors / graph.problem.null[:, None]  # constant on each part
    assert f.reshape(5, 1600, 4).std(axis=1).max() < 1e-10 * np.abs(f).max()


def test_a_named_method_is_the_only_one():
    assert plan("roll", 3000, method="multilevel").methods == ("multilevel",)
    assert plan("roll", 3000, method="lanczos").methods == ("lanczos",)


def test_factors_that_do_not_fit_are_left_out(monkeypatch):
    monkeypatch.setattr("eigenscape._memory.available_bytes", lambda: 2**20)
    monkeypatch.setattr("eigenscape._memory._FEW_BYTES", 0)
    assert plan("strip", 12_000).methods == ("multilevel", "lanczos")


# --- parts --------------------------------------------------------------------------------------------------


def joined_clusters(inner_edges: int) -> Graph:
    """Six random graphs of 60 vertices joined in a chain; one has two halves with few edges between."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(6), 60)
    near = rng.random((360, 360)) < 0.2 * (labels[:, None] == labels)
    near[:30, 30:60] = near[30:60, :30] = False
    i, j = np.nonzero(np.triu(near, 1))
    rows = [i, np.arange(inner_edges), 59 + 60 * np.arange(5)]
    columns = [j, 30 + np.arange(inner_edges), 60 + 60 * np.arange(5)]
    inner = 1.0 if inner_edges > 1 else 1e-3
    weights = np.repeat([1.0, inner, 1.0], [len(each) for each in rows])
    return laplacian(symmetric(np.concatenate(rows), np.concatenate(columns), weights, 360), labels)


@pytest.mark.parametrize(("inner_edges", "converges"), [(200, True), (1, False)])
def test_vectors_of_parts_are_those_of_the_matrix(inner_edges, converges):
    """With one weak edge between its halves a part has the smallest eigenvalue, which is not missed."""
    graph = joined_clusters(min(inner_edges, 30))
    found = solve_parts(graph.problem, graph.matrix, 4, SolverConfig(parts=graph.parts))
    values, vectors = reference(graph, 8)
    solved = smallest(graph.problem, 3, SolverConfig(parts=graph.parts))
    assert_allclose(solved.values, values[:3], rtol=1e-8)
    assert found.converged == converges
    if converges:
        assert_allclose(found.values[:3], values[:3], rtol=1e-10)
        pairs = EigenPairs(found.values[:3], found.vectors[:, :3], np.zeros(3), "parts")
        assert angle_to(vectors, values, pairs) < 1e-8


def test_accurate_pairs_that_may_not_be_the_smallest_are_not_the_answer(monkeypatch):
    graph = joined_clusters(30)
    values, vectors = reference(graph, 8)
    later = SolverResult(values[1:5], vectors[:, 1:5], "parts", 1, converged=False)
    monkeypatch.setattr("eigenscape.solvers.solve.solve_parts", lambda *_: later)
    solved = smallest(graph.problem, 3, SolverConfig(parts=graph.parts))
    assert_allclose(solved.values, values[:3], rtol=1e-8)


def test_accurate_pairs_of_an_iteration_that_ran_out_of_steps_are_returned(monkeypatch):
    graph = joined_clusters(30)
    values, vectors = reference(graph, 4)
    noise = np.random.default_rng(0).standard_normal(vectors.shape)
    for name, size in (("solve_lanczos", 1e-9), ("solve_shift_invert", 1e-2)):
        near = SolverResult(values, np.linalg.qr(vectors + size * noise)[0], "lanczos", 1, converged=False)
        monkeypatch.setattr(f"eigenscape.solvers.solve.{name}", lambda *_, near=near, **__: near)
    with pytest.warns(NotConvergedWarning, match="has an error of about"):
        solved = smallest(graph.problem, 3, SolverConfig())
    assert angle_to(vectors, values, solved) < 1e-4


# --- sparse factors -----------------------------------------------------------------------------------------


def test_factors_separate_many_eigenvalues_that_are_close():
    graph = graph_of("hubs", 3000, 0)
    solved = smallest(graph.problem, 10, SolverConfig("shift-invert", max_iter=20))
    assert solved.residuals.max() < 1e-13
    assert np.diff(solved.values).min() < 0.02 * solved.values[0]


@pytest.mark.parametrize("count", [3, 10, 13])
def test_factors_find_all_copies_of_an_eigenvalue(count):
    """Twelve equal arms around a vertex: the first eigenvalue has eleven copies."""
    i = np.arange(1, 721)
    graph = laplacian(symmetric(i, np.where(i % 60 == 1, 0, i - 1), np.ones(720), 721))
    solved = smallest(graph.problem, count, SolverConfig("shift-invert"))
    assert_allclose(solved.values, reference(graph, count)[0], rtol=1e-8)


# --- angles -------------------------------------------------------------------------------------------------


def test_the_angle_bounds_the_error_of_a_perturbed_vector():
    rng = np.random.default_rng(0)
    A = np.diag([1.0, 2.0, 2.5, 7.0, 9.0])
    for error in (1e-3, 1e-7):
        vectors = np.linalg.qr(np.eye(5)[:, :3] + error * rng.normal(size=(5, 3)))[0]
        values = np.einsum("ij,ij->j", vectors, A @ vectors)
        pairs = EigenPairs(values, vectors, np.linalg.norm(A @ vectors - vectors * values, axis=0), "none")
        found = angles(pairs, 7.0, 1e-12, 0.0)
        exact = np.arccos(np.minimum(np.abs(np.diagonal(vectors[:3])), 1))
        assert (exact <= found * 1.01 + 1e-8).all()
        assert (found < 20 * np.maximum(exact, error)).all()


def test_equal_eigenvalues_and_rounding():
    vectors = np.eye(4)[:, :3]
    pairs = EigenPairs(np.array([1e-9, 1.0, 1.0 + 1e-12]), vectors, np.full(3, 1e-12), "none")
    found = angles(pairs, 3.0, 1e-10, 0.0)
    assert (found <= 1e-10).all()  # the last two are one subspace
    assert angles(pairs, 1.0 + 2e-12, 1e-14, 0.0)[2] > 1  # which is cut
    assert (angles(pairs, 1.0, 1e-14, 1e-11) == 0).all()  # residuals of rounding
    unknown = EigenPairs(np.array([1.0]), vectors[:, :1], np.array([np.nan]), "none")
    assert angles(unknown, None, 1e-10, 0.0) == np.inf


# --- fits ---------------------------------------------------------------------------------------------------


def test_a_fit_that_fails_keeps_its_coordinates():
    X = np.random.default_rng(0).normal(size=(1500, 3))
    model = LaplacianEigenmaps(3, eigen_solver=Solver("lanczos", max_iter=1))
    with pytest.raises(NotConvergedError, match="did not converge") as caught:
        model.fit(X)
    assert caught.value.embedding_.shape == (1500, 3)
    assert caught.value.residuals.shape == (3,)
    assert not hasattr(model, "embedding_")


def test_a_fit_of_drawing_accuracy_is_returned():
    X = np.random.default_rng(0).normal(size=(1500, 3))
    with pytest.warns(NotConvergedWarning, match=r"error of about .* above tol=1e-10") as caught:
        rough = LaplacianEigenmaps(2, eigen_solver=Solver("lanczos", max_iter=3)).fit(X)
    exact = LaplacianEigenmaps(2).fit(X)
    promised = float(str(caught[0].message).split("about ")[1].split()[0])
    error = np.abs(rough.embedding_ - exact.embedding_).max() / exact.embedding_.std()
    assert 1e-9 < error < 100 * promised


@pytest.mark.parametrize("weight", [1e-9, 1e-12])
def test_parts_that_tiny_weights_join(weight):
    """Their eigenvalues are close to rounding, and are computed from the edges."""
    n = 400
    i = np.arange(n - 1)
    W = symmetric(i, i + 1, np.where(i == n // 4, weight, np.where(i == n // 2, 3 * weight, 1.0)), n)
    model = LaplacianEigenmaps(2, affinity="precomputed", eigen_solver="shift-invert").fit(W)
    steps = np.abs(np.diff(model.embedding_, axis=0)).max(axis=1)
    assert set(np.flatnonzero(steps > 1e-3)) == {n // 4, n // 2}


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::eigenscape.exceptions.DisconnectedGraphWarning")
def test_clusters_are_mapped_from_their_graph():
    rng = np.random.default_rng(3)
    X = (12 * rng.normal(size=(12, 20)))[rng.integers(12, size=6000)] + rng.normal(size=(6000, 20))
    with pytest.warns(DisconnectedGraphWarning):
        model = LaplacianEigenmaps(3).fit(X)
    assert model.solver_ == "parts"
    other = LaplacianEigenmaps(3, eigen_solver="lanczos").fit(X)
    assert_allclose(model.eigenvalues_, other.eigenvalues_, rtol=1e-12)
    assert_allclose(model.embedding_, other.embedding_, atol=1e-5 * np.abs(other.embedding_).max())


def test_a_hierarchy_that_would_not_fit_is_refused_before_it_is_built(monkeypatch):
    X = np.random.default_rng(0).normal(size=(1500, 20))
    model = LaplacianEigenmaps(2, eigen_solver="multilevel")
    assert model.fit(X).solver_ == "multilevel"
    monkeypatch.setattr(_memory, "available_bytes", lambda: 1_000_000)
    with pytest.raises(MemoryError, match=r"a hierarchy of 1500 points .* use eigen_solver='lanczos'"):
        model.fit(X)
