"""Landmark MDS, landmark Isomap, FastMap and MetricMap: against the papers' formulas written out, and against
the whole."""

from __future__ import annotations

import pickle
import warnings
from dataclasses import replace

import numpy as np
import pytest
import reference as ref
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse.csgraph import dijkstra
from scipy.spatial.distance import cdist
from sklearn.datasets import make_swiss_roll

from eigenscape import ClassicalMDS, FastMap, Isomap, LandmarkMDS, MetricMap
from eigenscape.dictionary.landmarks import (
    NAMES,
    choose_points,
    choose_vertices,
    farthest_first,
    greedy_pivots,
)
from eigenscape.exceptions import (
    DegenerateSpectrumWarning,
    DisconnectedGraphError,
    DisconnectedGraphWarning,
    NotConvergedWarning,
)
from eigenscape.graph import geodesics as paths
from eigenscape.graph.components import component_labels, connect
from eigenscape.graph.neighborhood import nearest_neighbor_graph
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.methods.tuning import TUNING
from eigenscape.nystrom import approximate_eigh
from eigenscape.options import Landmarks, RadiusGraph
from eigenscape.quality import aligned_error


def points(n: int, d: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((n, d)) * np.arange(d, 0, -1)


def roll(n: int, seed: int = 0) -> np.ndarray:
    return make_swiss_roll(n, random_state=seed)[0]


def up_to_sign(found: np.ndarray, expected: np.ndarray, tol: float = 1e-8) -> None:
    signs = np.sign(np.sum(found * expected, axis=0))
    np.testing.assert_allclose(found, expected * signs, atol=tol * np.abs(expected).max())


def cityblock(x: np.ndarray, y: np.ndarray) -> float:
    return float(np.abs(x - y).sum())


# --- the formulas, written out ------------------------------------------------------------------------------


def platt(E: np.ndarray, f: np.ndarray, p: int) -> np.ndarray:
    """``1/2 L^-1/2 U' (E_mean - f)`` for each row of squared distances ``f`` to the landmarks (Burges sec.
    2.2.3)."""
    values, U = np.linalg.eigh(ref.centred_distances(E))
    values, U = values[::-1][:p], U[:, ::-1][:, :p]
    return np.array([0.5 * np.diag(values**-0.5) @ U.T @ (E.mean(axis=0) - row) for row in f])


def equation_15(E: np.ndarray, f: np.ndarray, p: int) -> np.ndarray:
    """Bengio eq. 15, one sum after another."""
    values, U = np.linalg.eigh(ref.centred_distances(E))
    values, U = values[::-1][:p], U[:, ::-1][:, :p]
    q = len(E)
    mean = [sum(E[j, i] for j in range(q)) / q for i in range(q)]
    return np.array(
        [
            [sum(U[i, r] * (mean[i] - row[i]) for i in range(q)) / (2 * np.sqrt(values[r])) for r in range(p)]
            for row in f
        ]
    )


def equation_23(E: np.ndarray, f: np.ndarray, p: int) -> np.ndarray:
    """Bengio eq. 23 with the kernel of eq. 10, scaled by the root of the eigenvalue."""
    values, U = np.linalg.eigh(ref.centred_distances(E))
    values, U = values[::-1][:p], U[:, ::-1][:, :p]
    kernel = ref.centred_distance_kernel(f, E)
    return np.sqrt(values) * (kernel @ U) / values


def literal_fastmap(D: np.ndarray, pivots: np.ndarray) -> np.ndarray:
    """Faloutsos and Lin: the law of cosines, then what the coordinate leaves of the distances."""
    squares = D**2
    Y = np.zeros((len(D), len(pivots)))
    for r, (a, b) in enumerate(pivots):
        Y[:, r] = (squares[a] + squares[a, b] - squares[b]) / (2 * np.sqrt(squares[a, b]))
        squares = squares - (Y[:, None, r] - Y[:, r]) ** 2
    return Y


def literal_metric_map(D: np.ndarray, landmarks: np.ndarray, references: np.ndarray, p: int) -> np.ndarray:
    """Wang et al.: inner products around an origin, pseudo-Euclidean coordinates, other points from the
    reference points."""
    o = landmarks[0]
    inner = (D[:, [o]] ** 2 + D[o] ** 2 - D**2) / 2
    values, U = np.linalg.eigh(inner[np.ix_(landmarks, landmarks)])
    order = np.argsort(-np.abs(values))[:p]
    Y = U[:, order] * np.sqrt(np.abs(values[order]))
    rows = Y[[list(landmarks).index(r) for r in references]]
    return np.array([np.linalg.solve(rows * np.sign(values[order]), b) for b in inner[:, references]])


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_landmark_mds_is_platts_formula(metric):
    X, Y = points(60, 4), points(15, 4, 1)
    which = np.array([5, 9, 2, 40, 33, 17, 58])
    model = LandmarkMDS(3, metric=metric, approximation=Landmarks(None, which)).fit(X)
    E = cdist(X[which], X[which], metric) ** 2
    up_to_sign(model.embedding_, platt(E, cdist(X, X[which], metric) ** 2, 3))
    up_to_sign(model.transform(Y), platt(E, cdist(Y, X[which], metric) ** 2, 3))


def test_equation_15_is_equation_23_is_landmark_isomap():
    X, Y = roll(300), roll(320, 1)[300:]
    model = Isomap(n_neighbors=8, n_landmarks=25).fit(X)
    graph = nearest_neighbor_graph(neighbor_index(X), 8)
    D = dijkstra(graph.distances, indices=model.landmarks_)  # (q, n)
    new = paths.geodesics(graph, Y)[:, model.landmarks_]
    E = D[:, model.landmarks_] ** 2
    for f, placed in ((D.T**2, model.embedding_), (new**2, model.transform(Y))):
        by_15, by_23 = equation_15(E, f, 2), equation_23(E, f, 2)
        np.testing.assert_allclose(by_15, by_23, atol=1e-9 * np.abs(by_15).max())
        up_to_sign(placed, by_15)


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
@pytest.mark.parametrize("p", [1, 2, 4])
def test_fastmap_is_deflation(p, metric):
    X = points(50, 6)
    model = FastMap(p, metric=metric).fit(X)
    D = cdist(X, X, metric)
    up_to_sign(model.embedding_, literal_fastmap(D, model.pivots_), 1e-9)
    assert model.embedding_[model.pivots_[:, 0], np.arange(p)] == pytest.approx(0, abs=1e-9)
    a, b = model.pivots_[0]
    assert D[a, b] == max(D[a].max(), D[b].max())  # no point is farther from either
    assert model.eigenvalues_[0] == pytest.approx(D[a, b] ** 2)


@pytest.mark.parametrize("metric", ["euclidean", "chebyshev"])
@pytest.mark.parametrize("p", [1, 2, 4])
def test_metric_map_is_that_of_its_authors(p, metric):
    X = points(50, 6)
    model = MetricMap(p, metric=metric, n_landmarks=2 * p + 4).fit(X)
    assert set(model.references_) <= set(model.landmarks_)
    assert len(set(model.references_)) == p + 1
    D = cdist(X, X, metric)
    up_to_sign(model.embedding_, literal_metric_map(D, model.landmarks_, model.references_[1:], p), 1e-7)
    np.testing.assert_allclose(model.embedding_[model.references_[0]], 0, atol=1e-9)


# --- the whole ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [{}, {"metric": "cityblock"}, {"metric": "cityblock", "indefinite": "shift"}, {"order": "magnitude"}],
)
@pytest.mark.parametrize("landmarks", NAMES)
def test_all_points_as_landmarks_are_classical_mds(landmarks, params):
    X = np.concatenate([points(40, 4), points(5, 4)])  # some rows come twice
    whole, all_of_them = (
        ClassicalMDS(3, **params).fit(X),
        LandmarkMDS(3, **params, approximation=Landmarks(45, landmarks)).fit(X),
    )
    np.testing.assert_allclose(all_of_them.embedding_, whole.embedding_, atol=1e-8)
    np.testing.assert_allclose(all_of_them.eigenvalues_, whole.eigenvalues_)
    Y = points(10, 4, 1)
    np.testing.assert_allclose(all_of_them.transform(Y), whole.transform(Y), atol=1e-8)
    assert all_of_them.is_euclidean_ == whole.is_euclidean_


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"indefinite": "clip"},
        {"indefinite": "shift"},
        {"graph": RadiusGraph(6.0)},
        {"order": "magnitude"},
    ],
)
def test_all_points_as_landmarks_are_isomap(params):
    X, Y = roll(400), roll(420, 1)[400:]
    X = np.concatenate([X, X[:7]])
    whole, all_of_them = Isomap(**params).fit(X), Isomap(n_landmarks=len(X), **params).fit(X)
    assert all_of_them.n_landmarks_ == 400
    scale = np.abs(whole.embedding_).max()
    np.testing.assert_allclose(all_of_them.embedding_, whole.embedding_, atol=1e-8 * scale)
    np.testing.assert_allclose(all_of_them.transform(Y), whole.transform(Y), atol=1e-8 * scale)
    assert all_of_them.negative_fraction_ == pytest.approx(whole.negative_fraction_, rel=1e-8)


@pytest.mark.filterwarnings("ignore::eigenscape.exceptions.DisconnectedGraphWarning")
@pytest.mark.parametrize("mode", ["connect", "per_component", "largest"])
def test_all_points_as_landmarks_are_isomap_in_pieces_too(mode):
    X = np.concatenate([points(60, 3), points(40, 3, 1) + 100, points(5, 3, 2) - 100])
    whole, all_of_them = (
        Isomap(on_disconnected=mode, n_neighbors=6, n_landmarks=q).fit(X) for q in (None, len(X))
    )
    np.testing.assert_allclose(
        all_of_them.embedding_, whole.embedding_, atol=1e-8 * np.abs(whole.embedding_).max()
    )
    np.testing.assert_allclose(
        all_of_them.eigenvalues_, whole.eigenvalues_, rtol=1e-8, atol=1e-8 * np.abs(whole.eigenvalues_).max()
    )


@pytest.fixture(scope="module")
def whole() -> Isomap:
    return Isomap(n_jobs=2).fit(roll(3000))


@pytest.mark.long
@pytest.mark.parametrize("how", NAMES)
def test_few_landmarks_reproduce_isomap(how, whole):
    X = roll(3000)
    few = Isomap(approximation=Landmarks(200, how)).fit(X)
    assert aligned_error(few.embedding_, whole.embedding_) < 0.01
    Y = roll(3300, 1)[3000:]
    assert (
        aligned_error(
            np.concatenate([few.embedding_, few.transform(Y)]),
            np.concatenate([whole.embedding_, whole.transform(Y)]),
        )
        < 0.01
    )


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(st.integers(1, 4), st.integers(0, 999), st.sampled_from(NAMES))
def test_all_three_are_isometries_where_all_of_the_rank_is_kept(d, seed, how):
    X, Y = points(40, d, seed), points(10, d, seed + 1)
    both = np.concatenate([X, Y])
    for model in (
        LandmarkMDS(d, approximation=Landmarks(2 * d + 2, how)),
        FastMap(d),
        MetricMap(d, approximation=Landmarks(2 * d + 2, how)),
    ):
        placed = model.fit(X).transform(both)
        np.testing.assert_allclose(cdist(placed, placed), cdist(both, both), atol=1e-6 * np.abs(both).max())
        assert model.loss(Y) <= 1e-10 * np.square(model.kernel_(Y)).mean()


def test_eigenvectors_of_many_landmarks_keep_more_than_lines_or_references():
    """Platt's finding, and the difference between the three: how much of the distances is lost in two
    dimensions of ten."""
    lost: dict[str, list[float]] = {"landmark": [], "fastmap": [], "metric": []}
    for seed in range(10):
        X = np.random.default_rng(seed).standard_normal((300, 10)) * 0.8 ** np.arange(10)
        D = cdist(X, X)
        models = {
            "landmark": LandmarkMDS(2, n_landmarks=20, random_state=seed),
            "fastmap": FastMap(2, random_state=seed),
            "metric": MetricMap(2, n_landmarks=20, random_state=seed),
        }
        for name, model in models.items():
            E = model.fit(X).embedding_
            lost[name].append(np.linalg.norm(D - cdist(E, E)) / np.linalg.norm(D))
    mean = {name: np.mean(values) for name, values in lost.items()}
    assert mean["landmark"] < mean["fastmap"]
    assert mean["landmark"] < mean["metric"]


@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_fastmap_reproduces_the_kernel_along_its_lines(metric):
    """What takes the place of the eigenvector law: ``Y Y'`` is the kernel wherever a pivots' difference
    looks."""
    X = points(60, 6)
    model = FastMap(3, metric=metric).fit(X)
    place = {sample: i for i, sample in enumerate(model.landmarks_)}
    K = model.kernel_(X)  # (n, m)
    Y = model.embedding_
    lines = np.array([Y[b] - Y[a] for a, b in model.pivots_])  # (p, p)
    np.testing.assert_allclose(
        np.triu(lines, 1), 0, atol=1e-8
    )  # a triangle: its diagonal has the roots of "eigenvalues"
    np.testing.assert_allclose(np.square(np.diagonal(lines)), model.eigenvalues_)
    for a, b in model.pivots_:
        column = K[:, place[b]] - K[:, place[a]]
        product = (Y - Y[model.pivots_[0, 0]]) @ (Y[b] - Y[a])
        np.testing.assert_allclose(column, product, atol=1e-8 * np.abs(column).max())


# --- the choice of landmarks --------------------------------------------------------------------------------


def farthest_one_at_a_time(D: np.ndarray, count: int, first: int) -> list[int]:
    chosen = [first]
    while len(chosen) < count:
        chosen.append(int(np.argmax(D[chosen].min(axis=0))))
    return chosen


def test_maxmin_on_points():
    X = points(80, 3)
    D = cdist(X, X)
    found = farthest_first(lambda i: D[i] ** 2, 80, 15, 7)
    assert found.tolist() == farthest_one_at_a_time(D, 15, 7)


@pytest.mark.parametrize("count", [2, 30, 250])
def test_maxmin_on_geodesics_is_that_of_one_row_after_another(count):
    graph = nearest_neighbor_graph(neighbor_index(roll(500)), 8)
    D = dijkstra(graph.distances)
    assert paths.farthest_vertices(graph, count, 11).tolist() == farthest_one_at_a_time(D, count, 11)


@pytest.mark.parametrize("count", [3, 40, 600])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_geodesics_to_landmarks_are_those_of_dijkstra(count, n_jobs):
    """Alone or in company, and through the neighbours of a new point."""
    X, Y = roll(600), roll(640, 1)[600:]
    graph = nearest_neighbor_graph(neighbor_index(X), 8)
    landmarks = np.random.default_rng(0).permutation(600)[:count]
    found = paths.geodesics_to_landmarks(graph, landmarks, n_jobs)
    np.testing.assert_array_equal(found, dijkstra(graph.distances, indices=landmarks).T)
    np.testing.assert_array_equal(found[:, 0], paths.geodesics_from_vertex(graph, landmarks[0]))
    np.testing.assert_allclose(
        paths.extend_geodesics(graph.edges_of(Y), found), paths.geodesics(graph, Y)[:, landmarks], rtol=1e-13
    )


@pytest.mark.parametrize("step", [1e-300, 1e-6, 1.0, 1e9])
def test_geodesics_are_exact_whatever_the_lengths_of_the_edges(step, monkeypatch):
    """From 1e-9 to 1e6 in one graph, and for any step of the search."""
    rng = np.random.default_rng(0)
    X = np.concatenate([scale * rng.standard_normal((60, 2)) for scale in 10.0 ** np.arange(-9, 7)])
    index = neighbor_index(X)
    graph = nearest_neighbor_graph(index, 6)
    graph = connect(graph, component_labels(graph.distances))
    monkeypatch.setattr(paths, "_step", lambda _: step)
    landmarks = np.array([0, 333, 700, 959])
    np.testing.assert_array_equal(
        paths.geodesics_to_landmarks(graph, landmarks), dijkstra(graph.distances, indices=landmarks).T
    )
    assert paths.farthest_vertices(graph, 40, 5).tolist() == farthest_one_at_a_time(
        dijkstra(graph.distances), 40, 5
    )


def test_greedy_takes_the_point_farthest_from_the_affine_span():
    X = points(60, 6)
    D = cdist(X, X)
    found = greedy_pivots(lambda i: D[i] ** 2, 60, 7, 4)
    chosen = [4]
    for _ in range(6):
        directions = (X[chosen[1:]] - X[4]).T
        rest = (X - X[4]).T
        if directions.size:
            rest = rest - directions @ np.linalg.lstsq(directions, rest, rcond=None)[0]
        chosen.append(int(np.argmax(np.linalg.norm(rest, axis=0))))
    assert found.tolist() == chosen


def test_greedy_goes_on_farthest_first_where_nothing_is_left_to_explain():
    X = points(60, 2)
    D = cdist(X, X)
    found = greedy_pivots(lambda i: D[i] ** 2, 60, 12, 4).tolist()
    assert len(set(found)) == 12
    for k in range(3, 12):
        assert found[k] == int(np.argmax(D[found[:k]].min(axis=0)))


@pytest.mark.parametrize("how", ["maxmin", "random", "greedy"])
def test_choices_are_nested(how):
    X = points(90, 3)
    D = cdist(X, X)
    few, many = (set(choose_points(X, lambda i: D[i] ** 2, how, count, 3)) for count in (10, 20))
    assert few < many
    graph = nearest_neighbor_graph(neighbor_index(roll(300)), 8)
    few, many = (set(choose_vertices(graph, how, count, 3)) for count in (10, 20))
    assert few < many


@pytest.mark.parametrize("how", NAMES)
def test_every_choice_gives_different_points_in_order(how):
    X = points(50, 2)
    D = cdist(X, X)
    for count in (2, 30, 49, 50):
        chosen = choose_points(X, lambda i: D[i] ** 2, how, count, 0)
        assert len(chosen) == count
        assert (np.diff(chosen) > 0).all()


def test_samples_near_the_centres_of_groups():
    centres = 100 * np.arange(6)[:, None] * [1.0, 0.5]
    X = np.concatenate([centre + points(20, 2, seed) for seed, centre in enumerate(centres)])
    model = LandmarkMDS(2, approximation=Landmarks(6, "kmeans")).fit(X)
    assert sorted(model.landmarks_ // 20) == list(range(6))


def test_points_are_landmarks_for_mds_and_stand_for_their_nearest_samples_in_isomap():
    X = points(80, 3)
    given_points = X[::9] + 0.05
    model = LandmarkMDS(2, approximation=Landmarks(None, given_points)).fit(X)
    np.testing.assert_array_equal(model.landmarks_, given_points)
    assert model.n_landmarks_ == 9 == len(given_points)
    up_to_sign(
        model.embedding_, platt(cdist(given_points, given_points) ** 2, cdist(X, given_points) ** 2, 2)
    )
    snapped = Isomap(n_neighbors=8, approximation=Landmarks(None, given_points)).fit(X)
    assert sorted(cdist(given_points, X).argmin(axis=1)) == snapped.landmarks_.tolist()


def test_distances_to_the_landmarks_are_all_that_is_needed():
    X, Y = points(60, 3), points(8, 3, 1)
    which = [4, 50, 12, 33, 7]
    by_rows = LandmarkMDS(2, approximation=Landmarks(None, which)).fit(X)
    wide = LandmarkMDS(2, metric="precomputed", approximation=Landmarks(None, which)).fit(cdist(X, X))
    narrow = LandmarkMDS(2, metric="precomputed", approximation=Landmarks(None, which)).fit(
        cdist(X, X[which])
    )
    for table, new in ((wide, cdist(Y, X)), (narrow, cdist(Y, X[which]))):
        np.testing.assert_allclose(table.embedding_, by_rows.embedding_, atol=1e-9)
        np.testing.assert_allclose(table.transform(new), by_rows.transform(Y), atol=1e-9)


# --- how many are enough ------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("how", NAMES)
@pytest.mark.parametrize("cls", [LandmarkMDS, Isomap])
def test_landmarks_grow_until_the_map_stands_still(cls, how):
    # A map in as many dimensions as have clearly different spreads: else it may turn for ever.
    X = roll(1500) if cls is Isomap else np.random.default_rng(0).uniform(size=(1500, 4)) * [8, 4, 1, 0.5]
    tolerances = (0.1, 0.003)
    loose, tight = (cls(approximation=Landmarks(selection=how, tol=tol)).fit(X) for tol in tolerances)
    for model, tol in zip((loose, tight), tolerances, strict=True):
        counts = [step.n_landmarks for step in model.landmark_steps_]
        assert counts == [16 * 2**k for k in range(len(counts))]
        moves = [step.movement for step in model.landmark_steps_]
        assert moves[0] == np.inf
        assert all(move > tol for move in moves[:-1])
        assert moves[-1] <= tol
        assert model.n_landmarks_ == counts[-1] == len(model.landmarks_)
        assert f"{counts[-1]} landmarks: the last doubling moved the map by" in model.landmark_reason_
        assert f"<= {tol:g}" in model.landmark_reason_
        fixed = cls(approximation=Landmarks(model.n_landmarks_, how)).fit(X)
        np.testing.assert_array_equal(fixed.landmarks_, model.landmarks_)
        np.testing.assert_array_equal(fixed.embedding_, model.embedding_)
        assert fixed.landmark_reason_ == f"n_landmarks={model.n_landmarks_} is fixed"
        assert fixed.landmark_steps_ == []
    assert (
        tight.n_landmarks_ > loose.n_landmarks_ or how == "kmeans"
    )  # whose few centres are good enough for both


def test_the_search_ends_when_the_movement_is_the_tolerance():
    X = points(200, 4)
    movement = LandmarkMDS(2, approximation=Landmarks(tol=10)).fit(X).landmark_steps_[1].movement
    for tol, counts in ((movement, [16, 32]), (movement / 5, [16, 32, 64])):
        steps = LandmarkMDS(2, approximation=Landmarks(tol=tol)).fit(X).landmark_steps_
        assert [step.n_landmarks for step in steps[:3]] == counts


def test_a_map_that_never_stands_still_ends_with_all_points():
    X = points(50, 10)
    model = LandmarkMDS(2, approximation=Landmarks(tol=1e-9)).fit(X)
    assert [step.n_landmarks for step in model.landmark_steps_] == [16, 32, 50]
    assert (
        model.landmark_reason_
        == "50 landmarks: all points are landmarks, and the last doubling moved the map by more than 1e-09"
    )
    np.testing.assert_allclose(model.embedding_, ClassicalMDS(2).fit(X).embedding_, atol=1e-9)


def test_a_map_that_rotates_with_every_doubling_stops_at_a_limit(monkeypatch):
    """The second and third eigenvalues of a roll are close: only all points together determine the map."""
    monkeypatch.setattr("eigenscape.methods.landmark_mds.TUNING", replace(TUNING, searched_landmarks=64))
    X = roll(600)
    with pytest.warns(NotConvergedWarning, match=r"set n_components=3 .* or set n_landmarks=64"):
        model = LandmarkMDS(2).fit(X)
    assert [step.n_landmarks for step in model.landmark_steps_] == [16, 32, 64]
    assert model.landmark_reason_.startswith("64 landmarks: the largest number, and")


def test_each_component_grows_by_itself():
    X = np.concatenate([roll(400), roll(60, 1) + 500])
    with pytest.warns(DisconnectedGraphWarning):
        model = Isomap(n_landmarks="auto", on_disconnected="per_component").fit(X)
    assert {step.piece for step in model.landmark_steps_} == {0, 1}
    assert model.landmark_reason_.count("landmarks: ") == 2
    assert set(model.component_labels_[model.landmarks_]) == {0, 1}


def test_landmarks_that_do_not_span_the_map_are_no_end_of_the_search():
    """Most samples lie on a line, and 16 random ones are likely to."""
    X = np.concatenate([np.outer(np.linspace(0, 1, 300), [1.0, 2, 3]), points(6, 3)])
    model = LandmarkMDS(2, random_state=1, approximation=Landmarks("auto", "random", tol=0.2)).fit(X)
    assert model.landmark_steps_[0].n_landmarks > 16


# --- errors -------------------------------------------------------------------------------------------------

BAD = [
    ({"n_landmarks": 2}, r"n_landmarks=2 are too few for n_components=2, which need at least 3"),
    ({"selection": [1, 2]}, r"len\(selection\)=2 are too few for n_components=2"),
    ({"n_landmarks": 41}, "n_landmarks=41 needs at least 41 samples, got n_samples=40; lower n_landmarks"),
    ({"n_landmarks": 0}, "n_landmarks=0 must be an integer of at least 1.* 'auto'"),
    ({"n_landmarks": 3.0}, "n_landmarks=3.0 must be an integer"),
    ({"n_landmarks": True}, "n_landmarks=True must be an integer"),
    ({"n_landmarks": "many"}, "n_landmarks='many' must be an integer"),
    (
        {"selection": "best"},
        "selection='best' is not known; choose one of 'maxmin', 'random', 'kmeans', 'greedy'",
    ),
    ({"selection": [1, 2, 40]}, "landmarks must be sample indices from 0 to 39, got 40"),
    ({"selection": [1, -2, 4]}, "landmarks must be sample indices from 0 to 39, got -2"),
    ({"selection": [1, 2, 5, 2]}, "landmarks must be different points, but samples 2 and 2 are the same"),
    ({"selection": [1, 39, 0, 5]}, "landmarks must be different points, but samples 39 and 0 are the same"),
    ({"selection": [0.5, 1.0]}, "selection must be one of"),
    ({"selection": 3}, "selection=3 must be one of"),
    ({"selection": np.ones((4, 2))}, "selection has 2 features, but X has 3"),
    ({"selection": np.full((4, 3), np.nan)}, "selection contains NaN in 12 cell"),
    (
        {"selection": np.ones((4, 3))},
        "landmarks must be different points, but point 1 is equal to an earlier one",
    ),
    (
        {"selection": [1, 2, 3, 4], "n": 5},
        "n=5, but selection contains 4; leave n out",
    ),
]
BAD_TOL = [({"tol": tol}, f"tol={tol!r} must be a positive number") for tol in (0, -1, np.nan, "small")]


@pytest.mark.parametrize(("params", "match"), BAD + BAD_TOL)
@pytest.mark.parametrize("cls", [LandmarkMDS, Isomap])
def test_bad_landmarks(cls, params, match, monkeypatch):
    def refuse(*args):
        raise AssertionError("long work was started")

    for place in (
        "estimators._graph.neighbor_index",
        "methods.kernel_pca.gram",
        "estimators._landmarks.choose_points",
    ):
        monkeypatch.setattr(f"eigenscape.{place}", refuse)
    X = points(40, 3)
    X[39] = X[0]
    with pytest.raises(ValueError, match=match):
        cls(**(params if "n_landmarks" in params else {"approximation": Landmarks(**params)})).fit(X)


def test_more_landmarks_than_different_samples():
    X = np.concatenate([points(10, 3)] * 3)
    with pytest.raises(
        ValueError,
        match="n_landmarks=12 needs at least 12 distinct samples, got 10; lower n_landmarks",
    ):
        LandmarkMDS(n_landmarks=12).fit(X)


@pytest.mark.parametrize("cls", [LandmarkMDS, MetricMap])
def test_collinear_landmarks(cls):
    X = np.concatenate([np.outer(np.arange(20.0), [1, 2, 3]), points(20, 3)])
    with pytest.warns(DegenerateSpectrumWarning, match=r"kernel of 20 points has only 1 .* other landmarks"):
        model = cls(approximation=Landmarks(None, np.arange(20))).fit(X)
    assert not model.embedding_[:, 1].any()
    few = cls(n_components=1, approximation=Landmarks(None, np.arange(20))).fit(X)
    assert few.embedding_.shape == (40, 1)


def test_collinear_landmarks_of_isomap():
    """Vertices along one side of a grid: their geodesics are those of points on a line."""
    grid = np.stack(np.meshgrid(np.arange(12.0), np.arange(5.0)), axis=-1).reshape(-1, 2)
    with pytest.warns(DegenerateSpectrumWarning, match=r"kernel of 12 points has only 1 .* other landmarks"):
        Isomap(graph=RadiusGraph(1.0), approximation=Landmarks(None, np.arange(12))).fit(grid)


@pytest.mark.parametrize("objects", [["ab", "abc", "b", "ccd"], None])
def test_kmeans_needs_rows(objects):
    X = cdist(points(10, 2), points(10, 2)) if objects is None else objects
    metric = "precomputed" if objects is None else lambda a, b: abs(len(a) - len(b))
    with pytest.raises(ValueError, match="selection='kmeans' needs rows of features"):
        LandmarkMDS(1, metric=metric, approximation=Landmarks("auto", "kmeans")).fit(X)


def test_a_narrow_table_needs_its_landmarks():
    D = cdist(points(30, 3), points(30, 3))
    for landmarks in (Landmarks(), Landmarks(None, [1, 2, 3]), Landmarks(None, D[:5])):
        with pytest.raises(ValueError, match=r"must be square|must be one of"):
            LandmarkMDS(metric="precomputed", approximation=landmarks).fit(D[:, :5])
    with pytest.raises(ValueError, match=r"symmetric|zero diagonal"):
        LandmarkMDS(metric="precomputed", approximation=Landmarks(None, [9, 8, 7, 6, 5])).fit(D[:, :5])


def test_disconnected_graphs_with_landmarks():
    X = np.concatenate([points(40, 3), points(30, 3, 1) + 100])
    with pytest.raises(DisconnectedGraphError, match="2 connected components of 40, 30 points"):
        Isomap(n_landmarks=10, on_disconnected="raise").fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        with pytest.raises(ValueError, match="0 of the given landmarks are in a component of 30 points"):
            Isomap(on_disconnected="per_component", approximation=Landmarks(None, np.arange(10))).fit(X)
        model = Isomap(on_disconnected="per_component", approximation=Landmarks(None, np.arange(30, 50))).fit(
            X
        )
    assert model.landmarks_.tolist() == list(range(30, 50))


def test_points_with_one_nearest_sample():
    X = points(40, 3)
    with pytest.raises(ValueError, match="two of the points given as landmarks have the same nearest sample"):
        Isomap(approximation=Landmarks(None, np.concatenate([X[:4], X[:1] + 1e-9]))).fit(X)


def test_metric_map_takes_numbers_only():
    for params, message in (
        ({"approximation": Landmarks(None, points(5, 3))}, "use LandmarkMDS"),
        ({"n_landmarks": "auto"}, "n_landmarks='auto' must be an integer of at least 1 or None"),
    ):
        with pytest.raises(ValueError, match=message):
            MetricMap(**params).fit(points(40, 3))


def test_fastmap_says_when_no_distance_is_left():
    with pytest.warns(DegenerateSpectrumWarning, match=r"n_components=3, but .* only 2 positive"):
        assert FastMap(3).fit(points(40, 2)).pivots_.shape == (2, 2)
    with pytest.raises(ValueError, match="n_rounds=0 must be an integer of at least 1"):
        FastMap(n_rounds=0).fit(points(40, 2))


def test_names_of_isomap_without_landmarks():
    with pytest.raises(ValueError, match="selection='best' is not known"):
        Landmarks("auto", "best")
    assert not hasattr(Isomap().fit(points(40, 3)), "landmarks_")


def test_aligned_error():
    B = points(30, 2)
    turn = np.array([[0.6, 0.8], [0.8, -0.6]])  # a reflection too
    assert aligned_error(B @ turn + 5, B) < 1e-14
    assert aligned_error(np.zeros_like(B), B) == pytest.approx(1)
    assert aligned_error(1.1 * B, B) == pytest.approx(0.1)
    with pytest.raises(ValueError, match="same points"):
        aligned_error(B[:5], B)
    with pytest.raises(ValueError, match="coincide"):
        aligned_error(B, np.ones_like(B))


def test_the_map_of_landmarks_is_burges_approximate_decomposition():
    """The thread through the three: ``[U; B'U L^-1]`` scaled by the root of ``L`` (Burges eq. 1.31)."""
    X = points(80, 5)
    model = LandmarkMDS(3, n_landmarks=12).fit(X)
    others = np.setdiff1d(np.arange(80), model.landmarks_)
    values, vectors = approximate_eigh(
        model.kernel_(X[model.landmarks_]), model.kernel_(X[others]).T, n_components=3
    )
    np.testing.assert_allclose(values, model.eigenvalues_)
    up_to_sign(np.sqrt(values) * vectors, model.embedding_[np.concatenate([model.landmarks_, others])])


@pytest.mark.parametrize("make", [lambda: LandmarkMDS(n_landmarks=20), FastMap, MetricMap])
def test_the_model_keeps_its_landmarks_only(make):
    X = points(4000, 20)
    assert len(pickle.dumps(make().fit(X)._model_)) < 0.05 * X.nbytes


def test_a_default_number_of_landmarks_is_not_described_as_given():
    model = MetricMap().fit(np.random.default_rng(0).random((40, 3)))
    assert model.landmark_reason_ == "n_landmarks=4 is fixed"
