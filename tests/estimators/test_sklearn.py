"""The estimators as citizens of scikit-learn: its own checks, data frames, pipelines, grid search; and what
an import costs."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from covering import PRODUCT
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_s_curve
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator
from threadpoolctl import threadpool_limits

import eigenscape
from eigenscape import (
    PCA,
    ClassicalMDS,
    DiffusionMap,
    FactorAnalysis,
    FastMap,
    GreedySpectralEmbedding,
    Isomap,
    KernelEigenmap,
    KernelPCA,
    LandmarkMDS,
    LaplacianEigenmaps,
    LocalityPreservingProjection,
    LocallyLinearEmbedding,
    MetricMap,
    MixturePPCA,
    NeighborEmbedding,
    OrdinalMDS,
    OrientedPCA,
    PotentialMap,
    ProbabilisticPCA,
    ProjectionPursuit,
    ProjectionPursuitDensity,
    ProjectionPursuitRegressor,
    SpectralClustering,
)
from eigenscape.kernels import VariableGaussian
from eigenscape.options import Dictionary, KNNGraph, Landmarks, LocalKernels, Ordinal, RadiusGraph, Solver

ALL = [
    PCA,
    KernelPCA,
    GreedySpectralEmbedding,
    ClassicalMDS,
    LandmarkMDS,
    FastMap,
    MetricMap,
    LaplacianEigenmaps,
    DiffusionMap,
    SpectralClustering,
    Isomap,
    LocallyLinearEmbedding,
]
#: Maps that are no eigenfunctions of a kernel on the training points.
MAPS = [ProbabilisticPCA, FactorAnalysis, MixturePPCA]

#: Distortion discriminant analysis is no scikit-learn transformer: fit needs distorted versions, which the
#: checks cannot give, and fewer rows come out than go in. test_distortion_discriminant.py runs the checks
#: that need no fit.
CHECKED = [
    *(cls() for cls in [*ALL, ProbabilisticPCA]),
    # The checks do not depend on where an iteration stops, so a few steps are enough.
    MixturePPCA(n_init=2, tol=1e-4),
    # The checks have 15 rows of 30 features, of which the likelihood has no maximum: after hundreds of steps
    # towards it, rounding is amplified to 1e-7.
    FactorAnalysis(tol=1e-4),
    OrientedPCA(),
    OrdinalMDS(n_init=1, tol=1e-3, max_iter=5000),
    NeighborEmbedding(max_iter=20),
    PotentialMap(tol=1e-2),
    ProjectionPursuit(),
    ProjectionPursuitDensity(n_init=1),
    ProjectionPursuitRegressor(1, cv=None, n_init=1, max_iter=2),
    KernelEigenmap(),
    LocalityPreservingProjection(n_components=1),
    ClassicalMDS(metric="precomputed", n_components=1),
]
#: Further parameters, for the checks that depend on what is computed; run by ``make test-all``.
CONFIGURED = [
    KernelPCA(kernel="precomputed", n_components=1),
    LaplacianEigenmaps(affinity="precomputed", n_components=1, on_disconnected="per_component"),
    Isomap(metric="precomputed", n_components=1, n_neighbors=4),
    PCA(n_components=1, whiten=True, eigen_solver="lanczos"),
    PCA(n_components=0.9),
    PCA(n_components=None),
    ProbabilisticPCA(n_components=1, method="em"),
    ProbabilisticPCA(n_components="bayes"),
    MixturePPCA(n_mixtures=1, n_components=1),
    OrientedPCA(n_components=None, regularization=0.1),
    OrdinalMDS(n_init=1, n_components=1, ties="secondary", metric="cityblock", max_iter=5000),
    OrdinalMDS(n_init=1, n_components=1, metric="precomputed", max_iter=5000),
    ProjectionPursuit(n_components=1, index="kurtosis", n_init=3),
    ProjectionPursuit(n_components=1, index="friedman-tukey", n_init=3),
    KernelEigenmap(
        n_components=1,
        n_kernels=4,
        posterior=False,
        correction="stochastic",
        affinity=KNNGraph(weights="heat"),
        kernels=LocalKernels(centers="maxmin"),
    ),
    KernelEigenmap(
        n_components=1,
        n_kernels=5,
        inverse="blocks",
        regularization=0.5,
        kernels=LocalKernels(centers="greedy", local_components=0),
    ),
    KernelEigenmap(n_components=1, basis="features", correction="affine"),
    KernelEigenmap(
        n_components=1, n_kernels="auto", kernels=LocalKernels(centers="kmeans", local_components=1)
    ),
    LocalityPreservingProjection(n_components=1, affine=False, affinity=KNNGraph(4, weights="binary")),
    KernelPCA(kernel="linear", n_components=1, eigen_solver="lanczos"),
    KernelPCA(kernel="poly", eigen_solver=Solver(storage="blocked")),
    KernelPCA(kernel="sigmoid", order="magnitude"),
    ClassicalMDS(metric="cityblock", indefinite="clip"),
    ClassicalMDS(metric="cityblock", indefinite="shift", n_components=1),
    LaplacianEigenmaps(affinity="rbf", n_components=1),
    LaplacianEigenmaps(
        affinity="rbf", include_diagonal=False, n_components=1, on_disconnected="per_component"
    ),
    LaplacianEigenmaps(on_disconnected="per_component", n_components=1, affinity=KNNGraph(3, weights="heat")),
    LaplacianEigenmaps(
        on_disconnected="largest", n_components=1, affinity=RadiusGraph(5.0, weights="inverse")
    ),
    LaplacianEigenmaps(independent=True, n_components=1, affinity="rbf"),
    DiffusionMap(n_components=1, affinity=VariableGaussian(n_neighbors=3), diffusion_time=0.5),
    DiffusionMap(
        n_components=1,
        affinity="nearest_neighbors",
        n_neighbors=3,
        alpha=0.5,
        on_disconnected="per_component",
    ),
    DiffusionMap(n_components=1, affinity="precomputed", on_disconnected="per_component"),
    DiffusionMap(n_components=1, independent=True, alpha=0),
    SpectralClustering(n_clusters=3, affinity="rbf", n_init=2),
    SpectralClustering(n_clusters=3, n_init=2, affinity=KNNGraph(4, weights="heat")),
    Isomap(n_neighbors=4, n_components=1, indefinite="shift"),
    Isomap(n_components=1, on_disconnected="per_component", graph=RadiusGraph(3.0)),
    Isomap(ordinal=Ordinal(n_init=1, max_iter=5000), n_neighbors=4, n_components=1),
    Isomap(n_landmarks="auto", n_neighbors=4, n_components=1),
    Isomap(
        n_components=1,
        on_disconnected="per_component",
        indefinite="shift",
        approximation=Landmarks("auto", "greedy"),
    ),
    LandmarkMDS(n_components=1, approximation=Landmarks(2, "random")),
    LandmarkMDS(n_components=1, approximation=Landmarks("auto", "kmeans")),
    LandmarkMDS(
        n_components=1, metric="cityblock", indefinite="clip", approximation=Landmarks("auto", "greedy")
    ),
    LandmarkMDS(n_components=1, metric="precomputed"),
    FastMap(n_components=1, n_rounds=2, metric="cityblock"),
    FastMap(n_components=1, metric="precomputed"),
    MetricMap(n_components=1, approximation=Landmarks(2, "maxmin")),
    MetricMap(n_components=1, metric="precomputed"),
    LocallyLinearEmbedding(n_neighbors=4, n_components=1, method="ltsa"),
    LocallyLinearEmbedding(n_neighbors=4, n_components=1, method="modified", c=5.0),
    LocallyLinearEmbedding(n_neighbors=6, n_components=2, method="hessian"),
    GreedySpectralEmbedding(normalization="divisive", n_components=1),
    GreedySpectralEmbedding(
        normalization=None, sum_to_one=True, averages="dictionary", kernel="poly", n_components=1
    ),
    GreedySpectralEmbedding(n_components=1, dictionary=Dictionary(4)),
    # kernel="precomputed" is not here: one check passes an indefinite matrix, which a dictionary refuses. It
    # is in the laws.
    KernelPCA(n_components=1, approximation=Dictionary(tol=1e-2)),
    LaplacianEigenmaps(affinity="rbf", n_components=1, approximation=Dictionary(tol=1e-4)),
    SpectralClustering(n_clusters=2, affinity="rbf", n_init=2, approximation=Dictionary(tol=1e-4)),
]
#: Checks whose outcome depends on the computation; the others concern validation and the class.
_OF_COMPUTATION = re.compile(
    "1sample|1feature|invariance|idempotent|unchanged|general|dtypes|n_iter|sparse_array|equivalence|nonsquare"
    "|non_negative|partial_fit|clustering|readonly_memmap_input"
)


#: Checks that set n_components=1, which SpectralClustering refuses; the laws have their statements.
_OF_ONE_COMPONENT = ("check_methods_sample_order_invariance", "check_methods_subset_invariance")


#: Graphs of distinct rows, and kernels whose width is estimated: repeated rows give other ones. The law of
#: weights for given kernels is in test_weights.py.
_ESTIMATED = (KernelPCA, LaplacianEigenmaps, DiffusionMap, SpectralClustering, Isomap, LocallyLinearEmbedding)
#: Checks of weights whose rows are few points, each several times: too few for a graph.
_OF_FEW_POINTS = ("check_sample_weights_shape", "check_sample_weights_not_overwritten")
#: Checks that take the columns of predict_proba for the classes of a classifier.
_OF_CLASSES = ("check_estimator_sparse_array", "check_estimator_sparse_matrix")


def does_not_apply(estimator: Any, name: str) -> bool:
    """Whether a check of scikit-learn makes a statement that an estimator does not make."""
    if isinstance(estimator, SpectralClustering) and name in (*_OF_ONE_COMPONENT, *_OF_CLASSES):
        return True
    if not isinstance(estimator, _ESTIMATED):
        return False
    repeated = name.startswith("check_sample_weight_equivalence")
    return repeated or (name in _OF_FEW_POINTS and not isinstance(estimator, KernelPCA))


def chosen_checks() -> Iterator[Any]:
    """All checks of ``CHECKED``, and in the product some of ``CONFIGURED``."""
    for estimator in [*CHECKED, *(CONFIGURED if PRODUCT else [])]:
        for model, check in estimator_checks_generator(estimator):
            name = check.func.__name__
            if does_not_apply(estimator, name):
                continue
            if estimator in CHECKED or _OF_COMPUTATION.search(name):
                options = "".join(f"-{key}={value}" for key, value in check.keywords.items())
                yield pytest.param(model, check, id=re.sub(r"\s", "", f"{estimator}-{name}{options}"))


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Small matrices gain nothing from threads, and the workers of a parallel test run would fight for the
    cores."""
    with threadpool_limits(1):
        yield


# The checks use blobs far apart, whose graph is rightly said to be disconnected, rows far from all others,
# and a few random points, of which Hessian LLE in one dimension (one condition a neighbourhood) rightly says
# that they determine no map. They cut max_iter down, and have data in exact planes.
@pytest.mark.filterwarnings("ignore::eigenscape.exceptions.NotConvergedWarning")
@pytest.mark.filterwarnings("ignore::eigenscape.exceptions.NoiseFloorWarning")
@pytest.mark.filterwarnings("ignore::eigenscape.exceptions.DisconnectedGraphWarning")
@pytest.mark.filterwarnings("ignore::eigenscape.exceptions.IsolatedPointWarning")
@pytest.mark.filterwarnings("ignore::eigenscape.exceptions.DegenerateSpectrumWarning")
@pytest.mark.suite
@pytest.mark.parametrize(("estimator", "check"), list(chosen_checks()))
def test_scikit_learn_checks(estimator, check) -> None:
    check(estimator)


# --- names and frames ---------------------------------------------------------------------------------------


def small(cls: type):
    """An estimator with two coordinates."""
    if cls is MixturePPCA:
        return cls(n_components=2, n_init=2, tol=1e-4)
    return cls(n_clusters=2) if cls is SpectralClustering else cls(n_components=2)


def names_of(cls: type) -> list[str]:
    return [f"{cls.__name__.lower()}{i}" for i in range(2)]


@pytest.fixture(scope="module")
def flowers() -> np.ndarray:
    return StandardScaler().fit_transform(load_iris().data)[50:]  # two kinds that touch: one component


@pytest.mark.parametrize("cls", [*ALL, *MAPS])
def test_feature_names_out(cls: type, flowers: np.ndarray) -> None:
    model = small(cls)
    with pytest.raises(NotFittedError):
        model.get_feature_names_out()
    assert list(model.fit(flowers).get_feature_names_out()) == names_of(cls)


@pytest.mark.parametrize("cls", ALL)
def test_pandas_out(cls: type, flowers: np.ndarray) -> None:
    frame = pd.DataFrame(flowers, columns=list("abcd"), index=range(100, 200))
    model = small(cls).set_output(transform="pandas")
    first, second = model.fit_transform(frame), model.transform(frame)
    for out in (first, second):
        assert isinstance(out, pd.DataFrame)
        assert list(out.columns) == names_of(cls)
        assert list(out.index) == list(frame.index)
    np.testing.assert_allclose(first.to_numpy(), small(cls).fit_transform(flowers), atol=1e-8)
    assert isinstance(model.embedding_, np.ndarray)
    assert list(model.feature_names_in_) == list("abcd")
    assert model.n_features_in_ == 4


@pytest.mark.parametrize("cls", [*ALL, *MAPS])
def test_polars_out(cls: type, flowers: np.ndarray) -> None:
    frame = pl.DataFrame(flowers, schema=list("abcd"))
    out = small(cls).set_output(transform="polars").fit(frame).transform(frame)
    assert isinstance(out, pl.DataFrame)
    assert out.columns == names_of(cls)
    np.testing.assert_allclose(out.to_numpy(), small(cls).fit_transform(flowers), atol=1e-8)


@pytest.mark.parametrize("cls", ALL)
def test_columns_in_another_order_are_refused(cls: type, flowers: np.ndarray) -> None:
    frame = pd.DataFrame(flowers, columns=list("abcd"))
    model = small(cls).fit(frame)
    for method in (model.transform, model.eigenfunctions, model.loss):
        with pytest.raises(ValueError, match="feature names"):
            method(frame[list("dcba")])


@pytest.mark.parametrize("cls", ALL)
def test_a_wrong_number_of_features_is_refused(cls: type, flowers: np.ndarray) -> None:
    model = small(cls).fit(flowers)
    for method in (model.transform, model.eigenfunctions, model.loss):
        with pytest.raises(ValueError, match="3 features"):
            method(flowers[:, :3])


@pytest.mark.parametrize("cls", ALL)
def test_not_fitted(cls: type, flowers: np.ndarray) -> None:
    model = small(cls)
    for method in (model.transform, model.eigenfunctions, model.loss):
        with pytest.raises(NotFittedError):
            method(flowers)


@pytest.mark.parametrize("name", ["negative_fraction_", "is_euclidean_"])
@pytest.mark.parametrize("cls", [ClassicalMDS, Isomap, LandmarkMDS])
def test_spectra_of_distances_need_a_fit(cls: type, name: str) -> None:
    with pytest.raises(NotFittedError):
        getattr(cls(), name)


# --- sparse rows --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "container", [sparse.csr_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_array]
)
@pytest.mark.parametrize(
    "cls",
    [PCA, KernelPCA, ClassicalMDS, LaplacianEigenmaps, SpectralClustering, Isomap, LocallyLinearEmbedding],
)
def test_sparse_rows_are_placed_like_dense_ones(cls: type, container: type, flowers: np.ndarray) -> None:
    by_sparse, by_dense = small(cls).fit(container(flowers)), small(cls).fit(flowers)
    np.testing.assert_allclose(by_sparse.embedding_, by_dense.embedding_, atol=1e-7)
    np.testing.assert_allclose(
        by_sparse.transform(container(flowers[:9] + 0.01)), by_dense.transform(flowers[:9] + 0.01), atol=1e-7
    )


# --- pipelines and searches ---------------------------------------------------------------------------------


@pytest.mark.parametrize("cls", [*ALL, *MAPS])
def test_pipeline(cls: type) -> None:
    X, _ = make_s_curve(120, random_state=0)
    pipe = make_pipeline(StandardScaler(), small(cls)).fit(X[:100])
    alone = small(cls).fit(StandardScaler().fit(X[:100]).transform(X[:100]))
    np.testing.assert_array_equal(
        pipe.transform(X[100:]), alone.transform(StandardScaler().fit(X[:100]).transform(X[100:]))
    )
    assert list(pipe.get_feature_names_out()) == names_of(cls)


@pytest.mark.long
@pytest.mark.parametrize("cls", [LaplacianEigenmaps, Isomap, LocallyLinearEmbedding, SpectralClustering])
@pytest.mark.filterwarnings(
    "ignore::eigenscape.exceptions.DisconnectedGraphWarning"
)  # folds of iris fall apart at few neighbours
def test_grid_search_with_a_classifier_behind(cls: type) -> None:
    X, y = load_iris(return_X_y=True)
    step = cls.__name__.lower()
    pipe = make_pipeline(small(cls), KNeighborsClassifier(5))
    search = GridSearchCV(pipe, {f"{step}__n_neighbors": [6, 10, 20]}, cv=3, error_score="raise").fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_score_ > 0.8  # new points land among their kind
    assert search.best_params_[f"{step}__n_neighbors"] in (6, 10, 20)


@pytest.mark.long
def test_grid_search_over_precomputed_distances_cuts_both_axes() -> None:
    X, y = load_iris(return_X_y=True)
    D = np.linalg.norm(X[:, None] - X, axis=2)
    pipe = make_pipeline(ClassicalMDS(metric="precomputed"), KNeighborsClassifier(5))
    by_table = GridSearchCV(pipe, {"classicalmds__n_components": [1, 2]}, cv=3, error_score="raise").fit(D, y)
    by_rows = GridSearchCV(
        clone(pipe).set_params(classicalmds__metric="euclidean"), {"classicalmds__n_components": [1, 2]}, cv=3
    ).fit(X, y)
    np.testing.assert_allclose(
        by_table.cv_results_["mean_test_score"], by_rows.cv_results_["mean_test_score"]
    )


def test_clusters_by_fit_predict(flowers: np.ndarray) -> None:
    model = SpectralClustering(n_clusters=2)
    np.testing.assert_array_equal(model.fit_predict(flowers), model.labels_)
    np.testing.assert_array_equal(model.predict(flowers), model.labels_)
    assert set(model.labels_) == {0, 1}


# --- what an import costs -----------------------------------------------------------------------------------


def run(code: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    ).stdout.strip()


@pytest.mark.process
def test_import_loads_nothing_heavy() -> None:
    heavy = {"sklearn", "scipy", "matplotlib", "numpy", "joblib", "rich", "pandas"}
    loaded = run(
        "import sys; before = set(sys.modules); import eigenscape; print(*set(sys.modules) - before)"
    ).split()
    assert "eigenscape" in loaded
    assert not heavy & {name.split(".")[0] for name in loaded}


def test_every_public_name_is_there() -> None:
    for name in eigenscape.__all__:
        assert getattr(eigenscape, name) is not None
        assert name in dir(eigenscape)
    with pytest.raises(AttributeError, match="no attribute 'TSNE'"):
        _ = eigenscape.TSNE
