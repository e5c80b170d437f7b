"""Results and attributes equal those of scikit-learn, over data and parameters."""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import cluster, decomposition, manifold
from sklearn.datasets import load_digits, make_blobs, make_swiss_roll
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from eigenscape import accel

pytestmark = pytest.mark.usefixtures("uninstalled")

DIGITS = load_digits().data[:180]  # integers, so that distances are equal often
ROLL = make_swiss_roll(220, random_state=0)[0]
WITH_DUPLICATES = np.concatenate([ROLL, ROLL[:5]])
APART = make_blobs(150, n_features=4, centers=3, cluster_std=0.2, random_state=0)[0]

CASES = [
    (manifold.Isomap, {"n_neighbors": 8}),
    (manifold.Isomap, {"n_neighbors": 8, "n_components": 4, "eigen_solver": "dense", "path_method": "D"}),
    (manifold.Isomap, {"n_neighbors": 8, "metric": "manhattan"}),
    (manifold.LocallyLinearEmbedding, {"n_neighbors": 12, "eigen_solver": "dense"}),
    (manifold.LocallyLinearEmbedding, {"n_neighbors": 12, "reg": 0.1, "n_components": 3}),
    (manifold.SpectralEmbedding, {"n_neighbors": 20, "random_state": 0}),
    (manifold.SpectralEmbedding, {"n_neighbors": 20, "n_components": 4, "eigen_solver": "arpack"}),
    (manifold.SpectralEmbedding, {"affinity": "rbf", "gamma": 0.001, "random_state": 0}),
    (decomposition.KernelPCA, {"n_components": 3}),
    (decomposition.KernelPCA, {"n_components": 3, "kernel": "rbf", "gamma": 0.001, "eigen_solver": "arpack"}),
    (decomposition.KernelPCA, {"n_components": 2, "kernel": "poly", "gamma": 0.001, "eigen_solver": "dense"}),
    (decomposition.KernelPCA, {"n_components": 2, "kernel": "rbf", "fit_inverse_transform": True}),
    (decomposition.KernelPCA, {"kernel": "cosine"}),
]
if hasattr(manifold, "ClassicalMDS"):
    CASES += [
        (manifold.ClassicalMDS, {"n_components": 2}),
        (manifold.ClassicalMDS, {"n_components": 3, "metric": "manhattan"}),
    ]
IDS = [f"{number}-{original.__name__}" for number, (original, _) in enumerate(CASES)]


def fit_both(original: Any, params: dict[str, Any], X: Any) -> tuple[Any, Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return original(**params).fit(X), getattr(accel, original.__name__)(**params).fit(X)


def assert_columns_equal(ours: np.ndarray, theirs: np.ndarray, tol: float) -> None:
    """Assert that columns are equal up to sign, relative to the largest entry."""
    assert ours.shape == theirs.shape
    assert ours.dtype == theirs.dtype
    signs = np.where((ours * theirs).sum(axis=0) < 0, -1.0, 1.0)
    np.testing.assert_allclose(ours * signs, theirs, rtol=0, atol=tol * np.abs(theirs).max())


def coordinates(estimator: Any) -> np.ndarray:
    if hasattr(estimator, "embedding_"):
        return estimator.embedding_
    return estimator.eigenvectors_ * np.sqrt(estimator.eigenvalues_)


@pytest.mark.parametrize("X", [DIGITS, ROLL], ids=["digits", "roll"])
@pytest.mark.parametrize(("original", "params"), CASES, ids=IDS)
def test_equals_scikit_learn(original: Any, params: dict[str, Any], X: np.ndarray) -> None:
    theirs, ours = fit_both(original, params, X)
    assert vars(theirs).keys() == vars(ours).keys()
    assert {name for name in dir(ours) if not name.startswith("_")} == {
        name for name in dir(theirs) if not name.startswith("_")
    }
    assert_columns_equal(coordinates(ours), coordinates(theirs), 1e-5)
    if hasattr(theirs, "transform"):
        Y = np.concatenate([X[:20] + 0.01, X[:5]])
        assert_columns_equal(ours.transform(Y), theirs.transform(Y), 1e-5)
    for name, value in vars(theirs).items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            assert getattr(ours, name).shape == value.shape, name
            assert getattr(ours, name).dtype == value.dtype, name


@pytest.mark.parametrize("method", ["ltsa", "hessian", "modified"])
def test_variants_of_lle(method: str) -> None:
    params = {"n_neighbors": 12, "method": method, "eigen_solver": "dense"}
    theirs, ours = fit_both(manifold.LocallyLinearEmbedding, params, ROLL)
    assert_columns_equal(ours.embedding_, theirs.embedding_, 1e-5)
    np.testing.assert_allclose(ours.reconstruction_error_, theirs.reconstruction_error_, atol=1e-10)


@pytest.mark.parametrize("X", [DIGITS, ROLL, WITH_DUPLICATES], ids=["digits", "roll", "duplicates"])
@pytest.mark.parametrize("include_self", [True, False])
def test_graph_is_the_same_with_ties(X: np.ndarray, include_self: bool) -> None:
    from sklearn.neighbors import kneighbors_graph as theirs

    from eigenscape.accel._neighbors import kneighbors_graph as ours

    for mode in ("connectivity", "distance"):
        expected = theirs(X, 7, mode=mode, include_self=include_self)
        graph = ours(X, 7, mode=mode, include_self=include_self)
        assert type(graph) is type(expected)
        np.testing.assert_allclose(graph.toarray(), expected.toarray(), atol=1e-6)
        assert (graph.indptr == expected.indptr).all()


def test_isomap_geodesics_and_error() -> None:
    theirs, ours = fit_both(manifold.Isomap, {"n_neighbors": 8}, DIGITS)
    np.testing.assert_allclose(ours.dist_matrix_, theirs.dist_matrix_, rtol=1e-10)
    np.testing.assert_allclose(ours.reconstruction_error(), theirs.reconstruction_error(), rtol=1e-8)


def test_isomap_of_several_components_and_radius() -> None:
    theirs, ours = fit_both(manifold.Isomap, {"n_neighbors": 5}, APART)
    np.testing.assert_allclose(ours.dist_matrix_, theirs.dist_matrix_, rtol=1e-8, atol=1e-8)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        accel.Isomap(n_neighbors=5).fit(APART)
    assert any("number of connected components" in str(warning.message) for warning in caught)
    theirs, ours = fit_both(manifold.Isomap, {"n_neighbors": None, "radius": 8.0}, ROLL)
    assert_columns_equal(ours.transform(ROLL[:9] + 0.1), theirs.transform(ROLL[:9] + 0.1), 1e-6)


def test_embedding_of_several_components_spans_the_null_space() -> None:
    theirs, ours = fit_both(manifold.SpectralEmbedding, {"n_neighbors": 8, "n_components": 2}, APART)
    constants = np.column_stack([np.ones(len(APART)), ours.embedding_])
    parts = np.unique(np.round(constants, 9), axis=0)
    assert len(parts) == 3  # a point for each component
    assert np.linalg.matrix_rank(parts) == 3
    assert ours.embedding_.shape == theirs.embedding_.shape


CLUSTERINGS = [
    {"affinity": "nearest_neighbors", "n_neighbors": 8},
    {"gamma": 0.001},
    {"affinity": "nearest_neighbors", "n_neighbors": 8, "assign_labels": "cluster_qr"},
    {"affinity": "nearest_neighbors", "n_neighbors": 8, "assign_labels": "discretize"},
    {"affinity": "nearest_neighbors", "n_neighbors": 8, "n_components": 5},
]


@pytest.mark.parametrize("X", [DIGITS, ROLL, APART], ids=["digits", "roll", "apart"])
@pytest.mark.parametrize("params", CLUSTERINGS, ids=str)
def test_the_same_labels(params: dict[str, Any], X: np.ndarray) -> None:
    params = {"n_clusters": 3, "random_state": 0, **params}
    theirs, ours = fit_both(cluster.SpectralClustering, params, X)
    assert vars(theirs).keys() == vars(ours).keys()
    pairs = set(zip(ours.labels_, theirs.labels_, strict=True))
    assert len(pairs) == len(set(theirs.labels_))  # the same up to a permutation of numbers
    difference = abs(sparse.csr_array(ours.affinity_matrix_) - sparse.csr_array(theirs.affinity_matrix_))
    assert difference.max() < 1e-12


@pytest.mark.long
def test_precomputed_sparse_and_single_precision() -> None:
    D = pairwise_distances(ROLL)
    graph = NearestNeighbors(n_neighbors=9).fit(ROLL).kneighbors_graph(mode="distance")
    A = np.exp(-(D**2) / 100)
    cases = [
        (manifold.Isomap, {"n_neighbors": 8, "metric": "precomputed"}, D),
        (manifold.Isomap, {"n_neighbors": 8, "metric": "precomputed"}, graph),
        (manifold.Isomap, {"n_neighbors": 8}, sparse.csr_array(ROLL)),
        (manifold.Isomap, {"n_neighbors": 8}, ROLL.astype(np.float32)),
        (manifold.SpectralEmbedding, {"affinity": "precomputed"}, A),
        (manifold.SpectralEmbedding, {"affinity": "precomputed"}, sparse.csr_array(np.where(A > 0.1, A, 0))),
        (manifold.SpectralEmbedding, {"affinity": "precomputed_nearest_neighbors", "n_neighbors": 8}, graph),
        (decomposition.KernelPCA, {"n_components": 2, "kernel": "precomputed"}, A),
        (decomposition.KernelPCA, {"n_components": 2}, sparse.csr_array(ROLL)),
        (decomposition.KernelPCA, {"n_components": 2, "kernel": "rbf"}, ROLL.astype(np.float32)),
    ]
    for original, params, X in cases:
        theirs, ours = fit_both(original, params, X)
        single = getattr(X, "dtype", None) == np.float32
        assert_columns_equal(coordinates(ours), coordinates(theirs), 2e-3 if single else 1e-5)


def test_functions() -> None:
    A = np.exp(-(pairwise_distances(ROLL) ** 2) / 100)
    for options in ({}, {"norm_laplacian": False}, {"drop_first": False}):
        ours = accel.spectral_embedding(A, n_components=3, random_state=0, **options)
        theirs = manifold.spectral_embedding(A, n_components=3, random_state=0, **options)
        assert_columns_equal(ours, theirs, 1e-6)
    ours, error = accel.locally_linear_embedding(ROLL, n_neighbors=12, n_components=2)
    theirs, expected = manifold.locally_linear_embedding(
        ROLL, n_neighbors=12, n_components=2, eigen_solver="dense"
    )
    assert_columns_equal(ours, theirs, 1e-6)
    np.testing.assert_allclose(error, expected, atol=1e-12)
    labels = accel.spectral_clustering(A, n_clusters=3, random_state=0)
    np.testing.assert_array_equal(labels, cluster.spectral_clustering(A, n_clusters=3, random_state=0))


@pytest.mark.parametrize("X", [DIGITS, ROLL, WITH_DUPLICATES], ids=["digits", "roll", "duplicates"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", "precomputed"])
def test_trustworthiness(X: np.ndarray, metric: str) -> None:
    data = pairwise_distances(X) if metric == "precomputed" else X
    for k in (1, 5, 20):
        ours = accel.trustworthiness(data, X[:, 1:3], n_neighbors=k, metric=metric)
        theirs = manifold.trustworthiness(data, X[:, 1:3], n_neighbors=k, metric=metric)
        assert abs(ours - theirs) < 1e-4 if X is WITH_DUPLICATES else ours == pytest.approx(theirs, abs=1e-12)


def test_errors_are_those_of_scikit_learn() -> None:
    calls: list[tuple[str, dict[str, Any], str]] = [
        ("Isomap", {"n_neighbors": 5, "radius": 1.0}, "Both n_neighbors and radius"),
        ("Isomap", {"n_neighbors": -1}, "The 'n_neighbors' parameter"),
        ("LocallyLinearEmbedding", {"n_neighbors": 5, "n_components": 20}, "output dimension must be less"),
        ("SpectralEmbedding", {"affinity": "other"}, "The 'affinity' parameter"),
        ("KernelPCA", {"kernel": "other"}, "The 'kernel' parameter"),
        ("SpectralClustering", {"n_clusters": 0}, "The 'n_clusters' parameter"),
    ]
    for name, params, message in calls:
        with pytest.raises(ValueError, match=message):
            getattr(accel, name)(**params).fit(ROLL)
    with pytest.raises(ValueError, match="n_neighbors"):
        accel.trustworthiness(ROLL, ROLL[:, :2], n_neighbors=200)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "X",
    [np.array(5.0), ROLL[:, 0], ROLL[:0], ROLL[:1], 1e200 * ROLL, np.where(ROLL > 9, np.nan, ROLL), None],
    ids=["scalar", "vector", "empty", "one row", "overflow", "nan", "none"],
)
def test_wrong_rows_give_the_errors_of_scikit_learn(X: Any) -> None:
    def outcome(estimator: Any) -> tuple[type, str]:
        try:
            estimator.fit(X)
        except Exception as error:
            return type(error), str(error)
        return type(None), ""

    for original in (manifold.Isomap, manifold.LocallyLinearEmbedding, decomposition.KernelPCA):
        ours = getattr(accel, original.__name__)
        assert outcome(ours(n_components=2)) == outcome(original(n_components=2)), original.__name__


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid", "cosine"])
@pytest.mark.parametrize("stored", [True, False])
def test_kernels_and_storage(kernel: str, stored: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not stored:
        monkeypatch.setattr(sys.modules["eigenscape.operators.gram"], "fits", lambda *_, **__: False)
    params = {"n_components": 3, "kernel": kernel, "gamma": 1e-4, "degree": 2, "eigen_solver": "dense"}
    theirs, ours = fit_both(decomposition.KernelPCA, params, DIGITS)
    np.testing.assert_allclose(ours.eigenvalues_, theirs.eigenvalues_, rtol=1e-8)
    assert_columns_equal(ours.eigenvectors_, theirs.eigenvectors_, 1e-6)
    np.testing.assert_allclose(
        ours._centerer.K_fit_rows_, theirs._centerer.K_fit_rows_, rtol=1e-9, atol=1e-12
    )
    assert_columns_equal(ours.transform(DIGITS[:9] + 0.5), theirs.transform(DIGITS[:9] + 0.5), 1e-6)
    assert [row.place for row in accel.report().rows] == ["eigenscape"]


@pytest.mark.long
def test_ties_are_those_of_a_search_of_all_rows() -> None:
    """scikit-learn's choice among neighbours at equal distances depends on the number of rows searched."""
    from sklearn.neighbors import NearestNeighbors
    from sklearn.neighbors import kneighbors_graph as theirs

    from eigenscape.accel._neighbors import kneighbors_graph

    images = load_digits().images
    X = np.concatenate([images, np.roll(images, 1, axis=2)]).reshape(-1, 64)[:3500]
    X = X[np.random.RandomState(0).permutation(3500)[875:]]
    searcher = NearestNeighbors(n_neighbors=10).fit(X)
    with threadpool_limits(2):
        difference = kneighbors_graph(searcher, 10) != theirs(searcher, 10)
    assert difference.nnz == 0
