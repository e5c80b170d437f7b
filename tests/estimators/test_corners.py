"""Corners that users find: tied spectra, refits, user-made kernels, metrics with arguments of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.neighbors import kneighbors_graph

from eigenscape import (
    ClassicalMDS,
    DiffusionMap,
    FastMap,
    Isomap,
    KernelPCA,
    LandmarkMDS,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    OrdinalMDS,
    SpectralClustering,
    nystrom,
)
from eigenscape.exceptions import (
    DependentCoordinatesWarning,
    DisconnectedGraphError,
    NotConvergedError,
    RankError,
)
from eigenscape.options import KNNGraph, Landmarks, Ordinal, Solver


def cloud(n: int = 60, d: int = 3) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((n, d))


@pytest.mark.parametrize(
    ("model", "X"),
    [
        (KernelPCA(kernel="precomputed"), np.eye(100)),
        (KernelPCA(gamma=1e6), cloud(100)),
        (ClassicalMDS(metric="precomputed"), 1 - np.eye(300)),
        (ClassicalMDS(metric="precomputed", eigen_solver="dense"), 1 - np.eye(600)),
        (Isomap(n_neighbors=20), np.eye(200)),
    ],
)
def test_a_spectrum_of_one_value(model, X):
    """A simplex: all eigenvalues but the trivial one are equal, and LAPACK's partial driver returns fewer
    than asked for."""
    model.fit(X)
    K = model.kernel_(model.kernel_.X)
    np.testing.assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(K)[-2:][::-1], rtol=1e-10)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-10)


@pytest.mark.parametrize("mode", ["per_component", "largest"])
@pytest.mark.parametrize("W", [np.eye(10), np.zeros((10, 10))])
def test_affinities_that_join_nothing(mode, W):
    for model in (LaplacianEigenmaps(affinity="precomputed"), SpectralClustering(2, affinity="precomputed")):
        with pytest.raises(DisconnectedGraphError, match="no two points are neighbours"):
            model.set_params(on_disconnected=mode).fit(W)


@pytest.mark.filterwarnings("ignore::eigenscape.exceptions.DisconnectedGraphWarning")
def test_a_largest_component_with_too_few_samples_for_the_clusters():
    W = sparse.block_diag([np.ones((3, 3))] * 4).toarray()
    with pytest.raises(ValueError, match=r"the largest component has 3 distinct samples .* lower n_clusters"):
        SpectralClustering(8, affinity="precomputed", on_disconnected="largest").fit(W)


@dataclass(frozen=True)
class Box:
    """A kernel of the user's own: 1 within a distance, else 0."""

    width: float = 0.5

    def bind(self, X):
        return BoundBox(self, X)


@dataclass(frozen=True, eq=False)
class BoundBox:
    box: Box
    X: np.ndarray

    def __call__(self, Y):
        return (cdist(Y, self.X) <= self.box.width).astype(float)


def test_a_kernel_of_the_users_own():
    X = cloud(80, 2)
    model = LaplacianEigenmaps(2, affinity=Box(3.0)).fit(X)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-9)
    with pytest.raises(DisconnectedGraphError, match="no distances by which to connect"):
        LaplacianEigenmaps(2, affinity=Box(0.01)).fit(X)


def test_points_that_a_metric_cannot_tell_apart():
    with pytest.raises(ValueError, match="nothing to embed"):
        Isomap(metric="cosine").fit(np.arange(1, 51.0)[:, None] * np.ones(3))


def test_a_second_fit_leaves_nothing_of_the_first():
    X = cloud()
    model = LaplacianEigenmaps(affinity=KNNGraph(weights="heat")).fit(X)
    assert model.width_ > 0
    model.set_params(affinity="rbf").fit(X)
    assert not hasattr(model, "width_")
    assert not hasattr(model, "n_neighbors_")
    clusters = (
        SpectralClustering(2, assign_labels="threshold").fit(X).set_params(assign_labels="kmeans").fit(X)
    )
    assert not hasattr(clusters, "threshold_")


def test_a_dense_solver_cannot_work_in_blocks():
    with pytest.raises(ValueError, match="needs the whole matrix, not storage='blocked'"):
        Solver("dense", storage="blocked")


@pytest.mark.parametrize(
    ("metric", "params"),
    [
        ("seuclidean", None),
        ("mahalanobis", None),
        ("minkowski", {"p": 0.5}),
        ("minkowski", {"p": 3}),
        ("canberra", None),
    ],
)
@pytest.mark.parametrize("estimator", [ClassicalMDS, Isomap, LaplacianEigenmaps, LocallyLinearEmbedding])
def test_metrics_with_arguments(estimator, metric, params):
    """Those that describe the data are taken from the training rows, so that one new point is measured as
    many are."""
    X, new = np.split(np.abs(cloud(90)), [70])
    if estimator is ClassicalMDS:
        model = estimator(2, metric=metric, metric_params=params)
    else:
        name = "affinity" if estimator is LaplacianEigenmaps else "graph"
        model = estimator(2, **{name: KNNGraph(metric=metric, metric_params=params)})
    model.fit(X)
    np.testing.assert_allclose(
        model.transform(X), model.embedding_, atol=1e-8 * np.abs(model.embedding_).max()
    )
    np.testing.assert_allclose(
        model.transform(new[:1])[0], model.transform(new)[0], atol=1e-9 * np.abs(model.embedding_).max()
    )


def test_standardised_distances_are_those_of_standardised_rows():
    X = cloud() * [1, 10, 100]
    ours = ClassicalMDS(2, metric="seuclidean").fit(X).embedding_
    np.testing.assert_allclose(ours, ClassicalMDS(2).fit(X / X.std(axis=0, ddof=1)).embedding_, atol=1e-9)


@pytest.mark.parametrize(
    ("model", "match"),
    [
        (KernelPCA(kernel="poly", degree="3"), "degree='3'"),
        (KernelPCA(kernel="poly", coef0=None), "coef0=None"),
        (Isomap(n_jobs="a"), "n_jobs='a'"),
        (Isomap(metric="foo"), "metric='foo' is not known; use one of"),
        (ClassicalMDS(metric_params=[1]), "metric_params"),
        (LaplacianEigenmaps(affinity="rbf", include_diagonal="no"), "include_diagonal='no'"),
    ],
)
def test_arguments_are_named(model, match):
    with pytest.raises(ValueError, match=match):
        model.fit(cloud())


def test_arguments_of_a_metric_are_named():
    with pytest.raises(ValueError, match=r"metric_params=\[1\] must be a dict or None"):
        KNNGraph(metric_params=[1])


def test_sparse_rows_and_a_metric_that_does_not_take_them():
    with pytest.raises(TypeError, match="metric='canberra' does not support sparse input"):
        Isomap(metric="canberra").fit(sparse.csr_array(np.maximum(cloud(), 0)))


def test_objects_of_different_length():
    rows = [(1, 2), (3,), (1, 2, 3), (5, 6, 7, 8), (9,)]
    model = ClassicalMDS(2, metric=lambda a, b: abs(len(a) - len(b)) + abs(a[0] - b[0])).fit(rows)
    np.testing.assert_allclose(model.transform(rows[:2]), model.embedding_[:2], atol=1e-10)


def test_the_data_may_change_after_the_fit():
    X = cloud()
    model = Isomap(2).fit(X)
    before = model.transform(X[:5] + 0.1)
    queries = X[:5] + 0.1
    X *= 0
    np.testing.assert_array_equal(model.transform(queries), before)


def test_an_iteration_that_is_cut_short_says_so():
    X = cloud(1500, 10)
    with pytest.raises(NotConvergedError, match="max_iter") as caught:
        LaplacianEigenmaps(3, eigen_solver=Solver("lanczos", max_iter=2)).fit(X)
    assert (caught.value.residuals > 0).all()


# --- landmarks, diffusion, ordinal maps ---------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::eigenscape.exceptions.DisconnectedGraphWarning")
@pytest.mark.parametrize(
    "model",
    [
        DiffusionMap(),
        LaplacianEigenmaps(affinity="rbf"),
        SpectralClustering(n_clusters=2, affinity="rbf", n_init=2),
    ],
)
def test_a_kernel_matrix_is_symmetric_to_the_last_digit(model) -> None:
    """Far from the origin rounding makes k(x, y) and k(y, x) differ, and a solver that reads one half would
    not agree with the rest."""
    few = np.random.default_rng(0).standard_normal((60, 3)) * [3, 2, 1]
    for X in (np.concatenate([few, few + 1000]), np.linspace(0, 1, 500)[:, None]):
        fitted = model.fit(X)
        np.testing.assert_allclose(
            fitted.transform(X), fitted.embedding_, atol=1e-7 * np.abs(fitted.embedding_).max()
        )


@pytest.mark.parametrize("params", [{}, {"n_landmarks": 10}, {"ordinal": Ordinal(n_init=1, max_iter=3000)}])
def test_a_new_point_without_a_stored_distance_is_named(params) -> None:
    X = np.random.default_rng(0).standard_normal((50, 3))
    graph = kneighbors_graph(X, 6, mode="distance")
    with pytest.raises(ValueError, match="no stored distance"):
        Isomap(n_neighbors=6, metric="precomputed", **params).fit(graph).transform(sparse.csr_array((1, 50)))


def test_equal_rows_do_not_vouch_for_a_rank() -> None:
    Z = np.random.default_rng(3).standard_normal((10, 4))
    Z[1] = Z[0]
    K = Z @ Z.T
    K[2:, 2:] = np.nan
    with pytest.raises(RankError, match="linearly independent"):
        nystrom.complete(K)


def test_a_diagonal_vouches_for_positive_matrices_only() -> None:
    K = np.array([[1.0, 2, 0, 0], [2, -1, 0, 0], [0, 0, 0, np.nan], [0, 0, np.nan, 0]])
    with pytest.raises(RankError):
        nystrom.complete(K)


@pytest.mark.long
@pytest.mark.parametrize("n", [50, 100, 300])
def test_a_line_has_one_independent_coordinate(n: int) -> None:
    with pytest.warns(DependentCoordinatesWarning):
        model = LaplacianEigenmaps(independent=True).fit(np.linspace(0, 1, n)[:, None])
    assert list(model.kept_) == [0]


def test_an_ordinal_map_says_what_it_has_not() -> None:
    model = Isomap(ordinal=Ordinal(n_init=1, max_iter=3000)).fit(
        np.random.default_rng(0).standard_normal((40, 3))
    )
    for name in ("inverse_error_", "is_euclidean_"):
        with pytest.raises(AttributeError, match="ordinal"):
            getattr(model, name)


@pytest.mark.parametrize("value", [-1.0, np.nan])
@pytest.mark.parametrize("model", [LandmarkMDS(n_landmarks=9), FastMap(), OrdinalMDS(n_init=1)])
def test_a_metric_gives_distances(model, value: float) -> None:
    with pytest.raises(ValueError, match="non-negative finite"):
        clone(model).set_params(metric=lambda a, b: value * abs(a[0] - b[0])).fit(
            np.random.default_rng(0).standard_normal((30, 2))
        )


def test_a_way_to_choose_landmarks_needs_their_number() -> None:
    with pytest.raises(ValueError, match="selection='kmeans' needs n; set a number, or 'auto'"):
        Landmarks(None, "kmeans")
