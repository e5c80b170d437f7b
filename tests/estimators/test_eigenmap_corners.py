"""Corners of kernel eigenmaps and locality preserving projections: few rows, heavy loops, poles, points far
away."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from eigenscape import KernelEigenmap, LocalityPreservingProjection, graph_embedding
from eigenscape.datasets import twisted_roll
from eigenscape.exceptions import (
    DisconnectedGraphError,
    NotEnoughMemoryError,
    PoleWarning,
    RankError,
    UndefinedMapError,
)
from eigenscape.methods import inverse_map
from eigenscape.options import KNNGraph, LocalKernels


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def roll() -> np.ndarray:
    return twisted_roll()[0]


# --- the number of kernels ----------------------------------------------------------------------------------


@pytest.mark.parametrize("params", [{"n_components": 20}, {"kernels": LocalKernels(sigma=0.3)}], ids=str)
def test_trials_that_cannot_carry_the_map_are_passed_over(params: dict, roll) -> None:
    model = KernelEigenmap(n_kernels="auto", inverse="blocks", **params).fit(roll)
    tried = model.held_out_distortion_
    assert tried[4] == np.inf
    assert np.isfinite(tried[model.n_kernels_])


@pytest.mark.parametrize(
    ("params", "error"),
    [({"n_components": 300}, RankError), ({"kernels": LocalKernels(sigma=1e-3)}, UndefinedMapError)],
    ids=str,
)
def test_if_no_trial_can_its_error_is_raised(params: dict, error: type, roll) -> None:
    with pytest.raises(error):
        KernelEigenmap(n_kernels="auto", **params).fit(roll)


# --- poles --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("correction", ["reweighted", "stochastic"])
def test_a_pole_is_announced(correction: str, roll) -> None:
    with pytest.warns(
        PoleWarning, match=r"opposite sign at \d+ of the 900 vertices.*use correction='affine'"
    ):
        KernelEigenmap(
            posterior=False, random_state=8, correction=correction, kernels=LocalKernels(sigma=2.0)
        ).fit(roll)
    with pytest.warns(PoleWarning, match="use correction='affine'"):
        KernelEigenmap(basis="features", correction=correction).fit(roll[::3])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelEigenmap(basis="features", correction="affine").fit(roll[::3])
        KernelEigenmap(basis="features", correction=correction).fit(roll[::3] + 100)  # one side of the origin


# --- the way back -------------------------------------------------------------------------------------------


def test_the_inverse_is_fitted_when_it_is_asked_for(roll, monkeypatch) -> None:
    calls = []
    monkeypatch.setattr(
        inverse_map, "whiten", lambda *args, real=inverse_map.whiten: calls.append(1) or real(*args)
    )
    model = KernelEigenmap(n_kernels=16).fit(roll)
    assert not hasattr(KernelEigenmap(), "inverse_error_")
    model.transform(roll)
    assert not calls
    first = model.inverse_error_
    model.inverse_transform(model.embedding_)
    assert len(calls) == 1
    assert model.set_params(inverse="blocks").inverse_error_ > first
    assert model.set_params(inverse="refined").inverse_error_ == first
    assert model.fit(roll[:600]).inverse_error_ != first


def test_an_inverse_of_more_coefficients_than_rows(roll) -> None:
    X = roll[::9]
    model = KernelEigenmap(8, n_kernels=20, n_neighbors=8).fit(X)
    rows, Y = model._to_invert_
    start = inverse_map.inverse_by_blocks(model._map_)
    basis = inverse_map.KernelBasis(Y, start.kernels, inverse_map.kernel_weights(start.kernels, Y))
    rest = rows - start(Y)
    assert basis.n_columns > len(X)
    by_rows, by_columns = (
        basis.apply(solve(basis, rest))
        for solve in (inverse_map._solve_by_rows, inverse_map._solve_by_columns)
    )
    np.testing.assert_allclose(by_rows, by_columns, atol=1e-6 * np.abs(rest).max())
    error = np.linalg.norm(model.inverse_transform(Y) - rows)
    assert error <= np.linalg.norm(rest)


def test_an_inverse_too_large_for_the_machine_names_the_other(roll, monkeypatch) -> None:
    model = KernelEigenmap(n_kernels=16).fit(roll)
    monkeypatch.setattr("eigenscape._memory.available_bytes", lambda: 1000)
    with pytest.raises(NotEnoughMemoryError, match="set inverse='blocks'"):
        _ = model.inverse_error_


@pytest.mark.parametrize("cls", [KernelEigenmap, LocalityPreservingProjection])
def test_nothing_is_left_of_an_earlier_fit(cls: type, roll) -> None:
    model = cls(affinity=KNNGraph(weights="heat")).fit(roll[::3])
    assert hasattr(model, "width_")
    assert not hasattr(model.set_params(affinity__weights="binary").fit(roll[::3]), "width_")


# --- rows that are equal ------------------------------------------------------------------------------------

CORNERS = np.repeat(3 * np.eye(4), 20, axis=0)


@pytest.mark.parametrize("centers", ["random", "kmeans", "maxmin", "greedy"])
def test_kernels_stand_at_distinct_rows_of_a_given_graph(centers: str) -> None:
    graph = np.ones((80, 80))
    with pytest.raises(
        RankError, match="n_kernels=16 needs as many distinct samples, got n_samples=4; lower n_kernels"
    ):
        KernelEigenmap(1, n_kernels=16, kernels=LocalKernels(centers=centers)).fit(CORNERS, graph=graph)
    model = KernelEigenmap(1, n_kernels=3, kernels=LocalKernels(centers=centers)).fit(CORNERS, graph=graph)
    assert len(np.unique(model.centers_, axis=0)) == 3
    assert 1 < model.sigma_ < 5
    assert np.isfinite(model.embedding_).all()
    KernelEigenmap(1, kernels=LocalKernels(centers=centers)).fit(CORNERS, graph=graph)
    with pytest.raises(RankError, match="all 80 rows are equal"):
        KernelEigenmap(1, n_kernels=2, kernels=LocalKernels(centers=centers)).fit(
            np.ones((80, 3)), graph=graph
        )


def test_the_width_of_centres_given_twice() -> None:
    centers = np.repeat(3 * np.eye(4), 5, axis=0)
    model = KernelEigenmap(1, kernels=LocalKernels(centers=centers)).fit(CORNERS, graph=np.ones((80, 80)))
    assert model.sigma_ == pytest.approx(0.5 * 3 * np.sqrt(2))


# --- heavy loops --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"posterior": False, "kernels": LocalKernels(sigma=3.0), "correction": "affine"},
        {"basis": "features", "correction": "affine"},
    ],
    ids=str,
)
def test_a_large_regularisation_leaves_the_edges_their_digits(params: dict, roll) -> None:
    """The larger c, the nearer is W + c I to uniform degrees; beyond some c the map stays what it is."""
    moderate, large = (KernelEigenmap(regularization=c, **params).fit(roll) for c in (1e6, 1e10))
    scale = np.abs(moderate.embedding_).max() / np.abs(large.embedding_).max()
    np.testing.assert_allclose(
        scale * large.embedding_, moderate.embedding_, atol=1e-4 * np.abs(moderate.embedding_).max()
    )
    assert large.distortion_ * 1e10 == pytest.approx(moderate.distortion_ * 1e6, rel=1e-4)


def test_heavy_loops_of_a_given_graph(roll) -> None:
    graph = KernelEigenmap().fit(roll).graph_.toarray()
    looped = graph + 1e13 * np.eye(len(graph))
    moderate = LocalityPreservingProjection(regularization=1e6).fit(roll, graph=graph)
    for model in (
        LocalityPreservingProjection().fit(roll, graph=looped),
        LocalityPreservingProjection(affine=False).fit(roll, graph=looped),
    ):
        assert model.distortion_ > 0
        assert (1 - model.eigenvalues_ >= 0).all()
    heavy = LocalityPreservingProjection().fit(roll, graph=looped)
    assert heavy.distortion_ * 1e13 == pytest.approx(moderate.distortion_ * 1e6, rel=1e-3)


def test_heavy_loops_of_a_graph_without_coordinates() -> None:
    n = 30
    path = np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    moderate, heavy = (graph_embedding(path + c * np.eye(n)) for c in (1e4, 1e10))
    np.testing.assert_allclose(1e10 * (1 - heavy.eigenvalues), 1e4 * (1 - moderate.eigenvalues), rtol=1e-3)
    np.testing.assert_allclose(
        1e3 * heavy.coordinates, moderate.coordinates, atol=1e-3 * np.abs(moderate.coordinates).max()
    )
    assert heavy.distortion * 1e10 == pytest.approx(moderate.distortion * 1e4, rel=1e-3)


# --- defaults and refusals ----------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [KernelEigenmap, LocalityPreservingProjection])
def test_advice_for_a_graph_in_pieces_can_be_followed(cls: type, roll) -> None:
    X = np.concatenate([roll[:100], roll[:100] + 200])
    with pytest.raises(DisconnectedGraphError, match=r"set on_disconnected='connect' or 'whole'$"):
        cls(on_disconnected="raise").fit(X)


@pytest.mark.parametrize("n_kernels", [7, "auto"])
def test_centres_and_their_number_may_not_contradict(n_kernels, roll) -> None:
    with pytest.raises(
        ValueError, match=f"n_kernels={n_kernels!r}, but centers has 5 rows; leave n_kernels=None"
    ):
        KernelEigenmap(n_kernels=n_kernels, kernels=LocalKernels(centers=roll[:5])).fit(roll)
    assert KernelEigenmap(n_kernels=5, kernels=LocalKernels(centers=roll[::180])).fit(roll).n_kernels_ == 5


@pytest.mark.parametrize("centers", [None, 5, [1.0, 2.0]])
def test_centres_that_are_none(centers) -> None:
    with pytest.raises(
        ValueError, match=r"centers=.* must be 'random', .* or an array of shape \(n_kernels, n_features\)"
    ):
        LocalKernels(centers=centers)


def test_features_have_no_local_components(roll) -> None:
    with_local, without = (
        KernelEigenmap(basis="features", correction="affine", kernels=LocalKernels(local_components=c)).fit(
            roll
        )
        for c in (9, None)
    )
    np.testing.assert_array_equal(with_local.embedding_, without.embedding_)


def test_a_random_state_that_is_none_of_these() -> None:
    ring = np.roll(np.eye(12), 1, axis=0) + np.roll(np.eye(12), -1, axis=0)
    with pytest.raises(ValueError, match="seed"):
        graph_embedding(ring, random_state="x")
    graph_embedding(sparse.csr_array(ring), random_state=np.random.RandomState(0))


def test_a_linear_projection_far_from_the_origin_says_what_to_do(roll) -> None:
    with pytest.raises(RankError, match="use affine=True"):
        LocalityPreservingProjection(3, affine=False).fit(roll + 1e9)
    LocalityPreservingProjection(3).fit(roll + 1e9)


def test_empty_clusters_are_no_news() -> None:
    X = (
        np.random.default_rng(6).standard_normal((60, 2)) ** 3
    )  # with these centres to begin from one cluster becomes empty
    model = KernelEigenmap(1, n_kernels=20, kernels=LocalKernels(centers="kmeans")).fit(
        X, graph=np.ones((60, 60))
    )
    assert len(np.unique(model.centers_, axis=0)) == 20


# --- points far away ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("distance", [1e3, 1e9, 1e11, 1e13])
def test_a_very_far_point_belongs_to_the_nearest_kernel(distance: float, roll) -> None:
    model = KernelEigenmap(n_neighbors=12).fit(roll)
    direction = np.array([0.6, 0.8, 0.0])
    k = int(np.argmax(model.centers_ @ direction))
    far = (model.centers_[k] + distance * direction)[None]
    mixture = model._map_
    expected = mixture.offsets[k] + (far - model.centers_[k]) @ mixture.slopes[k] + mixture.constant
    np.testing.assert_allclose(model.transform(far), expected, rtol=1e-6)
    np.testing.assert_allclose(model.jacobian(far)[0], mixture.slopes[k].T, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("distance", [1e20, 1e200])
def test_no_point_is_too_far_for_a_kernel(distance: float, roll) -> None:
    model = KernelEigenmap(n_neighbors=12).fit(roll)
    members = inverse_map.kernel_weights(model._map_.kernels, np.full((1, 3), distance)).matrix
    np.testing.assert_allclose(members.sum(axis=1), 1)


def test_the_jacobian_where_a_map_of_features_divides_by_zero(roll) -> None:
    with pytest.warns(PoleWarning):
        model = KernelEigenmap(basis="features").fit(roll[::3])
    origin = np.zeros((1, 3))
    assert (model.transform(origin) == 0).all()
    assert (model.jacobian(origin) == 0).all()
