"""Sample weights of kernel and graph methods: integer weights equal repeated rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import has_fit_parameter

import eigenscape
from eigenscape import (
    ClassicalMDS,
    DiffusionMap,
    Isomap,
    KernelPCA,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    SpectralClustering,
)
from eigenscape.kernels.base import n_points
from tests import reference as ref
from tests.cases import WEIGHTED, Case, curve, disconnected, load

pytestmark = pytest.mark.filterwarnings("ignore::eigenscape.exceptions.IsolatedPointWarning")

CASES = pytest.mark.parametrize("case", WEIGHTED, ids=[case.id for case in WEIGHTED])
#: Their training points are the rows, not the distinct rows.
OF_ROWS = [case for case in WEIGHTED if "degrees_" not in case.make().__doc__ or "rbf" in case.id]


def fit(case: Case, X: Any, weights: Any = None) -> Any:
    with warnings.catch_warnings():
        if disconnected(case.data):
            warnings.simplefilter("ignore", eigenscape.exceptions.DisconnectedGraphWarning)
        return case.make().fit(X) if weights is None else case.make().fit(X, sample_weight=weights)


def is_table(case: Case) -> bool:
    return case.make()._is_precomputed()


def select(case: Case, X: Any, rows: np.ndarray, columns: np.ndarray | None) -> Any:
    """Rows of the data, and for tables of distances or similarities columns."""
    if isinstance(X, list):
        return [X[i] for i in rows]
    return X[rows] if columns is None or not is_table(case) else X[rows][:, columns]


def counts_for(X: Any, least: int = 1) -> np.ndarray:
    return np.random.default_rng(8).integers(least, 4, n_points(X))


def alike(case: Case) -> dict[str, float]:
    """Tolerances: eigenvectors of LLE are less well conditioned."""
    return {"rtol": 1e-6, "atol": 1e-6 if "LocallyLinear" in case.id else 1e-8}


@CASES
def test_integer_weights_equal_repeated_rows(case: Case) -> None:
    X, new = load(case.data)
    counts = counts_for(X)
    rows, every = np.repeat(np.arange(n_points(X)), counts), np.arange(n_points(new))
    weighted = fit(case, X, counts)
    repeated = fit(case, select(case, X, rows, rows), np.ones(len(rows)))
    assert_allclose(weighted.embedding_[rows], repeated.embedding_, **alike(case))
    assert_allclose(
        weighted.transform(new), repeated.transform(select(case, new, every, rows)), **alike(case)
    )
    assert_allclose(weighted.eigenvalues_, repeated.eigenvalues_, rtol=1e-7, atol=1e-9)
    assert_allclose(weighted.loss(), repeated.loss(), rtol=1e-6, atol=1e-12)
    assert_allclose(weighted.loss_curve(), repeated.loss_curve(), rtol=1e-6, atol=1e-12)
    if isinstance(weighted, SpectralClustering):
        assert_array_equal(weighted.labels_[rows], repeated.labels_)
        assert_allclose(weighted.ncut_, repeated.ncut_, rtol=1e-8)


@pytest.mark.parametrize("case", OF_ROWS, ids=[case.id for case in OF_ROWS])
def test_weights_of_one_change_nothing_if_points_are_rows(case: Case) -> None:
    X, new = load(case.data)
    plain, weighted = fit(case, X), fit(case, X, np.ones(n_points(X)))
    assert_allclose(weighted.transform(new), plain.transform(new), **alike(case))
    assert_allclose(weighted.loss(), plain.loss(), rtol=1e-8, atol=1e-14)


@CASES
def test_samples_of_weight_zero_have_no_influence(case: Case) -> None:
    X, new = load(case.data)
    weights = counts_for(X, least=0).astype(float) / 2
    kept, every = np.flatnonzero(weights), np.arange(n_points(new))
    all_of_them, without = fit(case, X, weights), fit(case, select(case, X, kept, kept), weights[kept])
    assert_allclose(all_of_them.embedding_[kept], without.embedding_, **alike(case))
    assert_allclose(
        all_of_them.transform(new), without.transform(select(case, new, every, kept)), **alike(case)
    )
    assert_allclose(all_of_them.transform(X), all_of_them.embedding_, **alike(case))
    assert_allclose(all_of_them.loss(), without.loss(), rtol=1e-8, atol=1e-14)
    if isinstance(all_of_them, SpectralClustering):
        assert_array_equal(all_of_them.predict(X), all_of_them.labels_)


@CASES
def test_training_points_are_placed_where_they_are(case: Case) -> None:
    X, _ = load(case.data)
    model = fit(case, X, np.random.default_rng(3).uniform(0.1, 3, n_points(X)))
    assert_allclose(model.transform(X), model.embedding_, **alike(case))
    assert np.max(model.residuals_) < 1e-6 * max(1.0, float(np.max(model.eigenvalues_)))


def test_every_estimator_with_weights_is_listed() -> None:
    listed = {type(case.make()).__name__ for case in WEIGHTED}
    primal = {"PCA", "ProbabilisticPCA", "FactorAnalysis", "MixturePPCA"}  # test_pca.py and others
    found = {
        name
        for name in eigenscape.__all__
        if isinstance(cls := getattr(eigenscape, name), type)
        and hasattr(cls, "fit")
        and has_fit_parameter(cls, "sample_weight")
    }
    assert found - primal == listed


# Literal references: the matrix of the repeated points


def repeated_table(model: Any, counts: np.ndarray) -> np.ndarray:
    """The kernel before its normalisation, between all copies of the training points."""
    K = model.kernel_.base(model.kernel_.X)
    return ref.repeated(np.asarray(K.toarray() if hasattr(K, "toarray") else K), counts)


def same_up_to_sign(found: np.ndarray, expected: np.ndarray) -> None:
    signs = np.sign((found * expected).sum(axis=0))
    assert_allclose(found * signs, expected, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize(
    "make", [lambda: KernelPCA(gamma=0.4), lambda: Isomap(n_neighbors=6), lambda: ClassicalMDS()]
)
def test_centred_kernels_by_the_repeated_matrix(make: Any) -> None:
    X = curve(25)
    counts = counts_for(X)
    model = make().fit(X, sample_weight=counts)
    K = repeated_table(model, counts)
    P = np.eye(len(K)) - 1 / len(K)
    values, vectors = ref.principal(P @ K @ P, 2)
    assert_allclose(model.eigenvalues_, values, rtol=1e-8)
    rows = np.repeat(np.arange(25), counts)
    same_up_to_sign(model.embedding_[rows], vectors * np.sqrt(values))
    rest = np.square(np.linalg.eigvalsh(P @ K @ P)).sum() - np.square(values).sum()
    assert_allclose(model.loss(), rest / len(K) ** 2, rtol=1e-6)


@pytest.mark.parametrize("params", [{"n_neighbors": 6}, {"affinity": "rbf", "gamma": 1.0}])
def test_laplacian_by_the_repeated_matrix(params: dict[str, Any]) -> None:
    X = curve(25)
    counts = counts_for(X)
    model = LaplacianEigenmaps(**params).fit(X, sample_weight=counts)
    K = repeated_table(model, counts)
    sigma, Z = ref.generalized_problem(K, 2)
    assert_allclose(1 - model.eigenvalues_, sigma, rtol=1e-7)
    same_up_to_sign(model.embedding_[np.repeat(np.arange(25), counts)], np.sqrt(len(K)) * Z)


def test_lle_by_the_repeated_matrix() -> None:
    X = curve(25)
    counts = counts_for(X)
    model = LocallyLinearEmbedding(n_neighbors=6).fit(X, sample_weight=counts)
    plain = LocallyLinearEmbedding(n_neighbors=6).fit(X)
    from eigenscape.methods.lle import alignment_factor

    weights = plain.kernel_.weights
    factor = alignment_factor(weights.graph, "standard", 2, 1e-3, gram=weights.gram)
    W = ref.repeated_reconstruction(np.eye(25) - factor.toarray(), counts)
    M = (np.eye(len(W)) - W).T @ (np.eye(len(W)) - W)
    values, vectors = np.linalg.eigh(M)
    assert_allclose(1 - model.eigenvalues_, values[1:3], rtol=1e-6)
    same_up_to_sign(model.embedding_[np.repeat(np.arange(25), counts)], np.sqrt(len(W)) * vectors[:, 1:3])


# What is refused, and what goes through


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (-np.ones(30), "Negative values"),
        (np.full(30, np.nan), "NaN"),
        (np.zeros(30), "only zeros"),
        (np.ones(29), "shape"),
        (np.eye(30)[0], "at least 2"),
        (["heavy"] * 30, "heavy"),
    ],
)
@pytest.mark.parametrize("cls", [KernelPCA, Isomap, SpectralClustering])
def test_invalid_weights(cls: type, weights: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cls(2).fit(curve(30), sample_weight=weights)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (KernelPCA(dictionary_size=5), "dictionary"),
        (LaplacianEigenmaps(affinity="rbf", dictionary_size=5), "dictionary"),
        (SpectralClustering(2, affinity="rbf", dictionary_size=5), "dictionary"),
        (LaplacianEigenmaps(independent=True), "independent=True"),
        (DiffusionMap(independent=True), "independent=True"),
        (LaplacianEigenmaps(affinity="rbf", include_diagonal=False), "include_diagonal=False"),
        (SpectralClustering(2, affinity="rbf", include_diagonal=False), "include_diagonal=False"),
        (Isomap(n_landmarks=10), "landmarks"),
        (Isomap(ordinal=True), "ordinal=True"),
        (LocallyLinearEmbedding(c=2.0), "c=2.0"),
    ],
)
def test_options_without_weights_say_why(model: Any, message: str) -> None:
    with pytest.raises(ValueError, match=f"sample_weight is not supported with .*{message}"):
        model.fit(curve(30), sample_weight=np.ones(30))


def test_a_collection_has_no_weights() -> None:
    da = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="dask"):
        KernelPCA(dictionary_size=5).fit(da.from_array(curve(30)), sample_weight=np.ones(30))


def test_weights_are_routed_and_not_changed() -> None:
    X, weights = curve(30), np.arange(30.0)
    with sklearn.config_context(enable_metadata_routing=True):
        step = KernelPCA(gamma=0.4).set_fit_request(sample_weight=True)
        found = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), step).fit_transform(
            X, sample_weight=weights
        )
    scaled = StandardScaler().fit_transform(X)
    assert_allclose(found, KernelPCA(gamma=0.4).fit_transform(scaled, sample_weight=weights))
    assert_array_equal(weights, np.arange(30.0))


def test_inverse_of_a_weighted_map() -> None:
    X = curve(30)
    counts = counts_for(X)
    weighted = KernelPCA(5, gamma=0.4).fit(X, sample_weight=counts)
    repeated = KernelPCA(5, gamma=0.4).fit(np.repeat(X, counts, axis=0))
    Y = weighted.transform(curve(5, seed=4))
    assert_allclose(weighted.inverse_transform(Y), repeated.inverse_transform(Y), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("make", [lambda: KernelPCA(gamma=0.4), lambda: LaplacianEigenmaps(n_neighbors=6)])
def test_weighted_models_are_saved(make: Any, tmp_path: Any) -> None:
    X = curve(30)
    model = make().fit(X, sample_weight=counts_for(X))
    eigenscape.io.save(model, tmp_path / "weighted.model")
    again = eigenscape.io.load(tmp_path / "weighted.model")
    new = curve(5, seed=4)
    assert_array_equal(again.transform(new), model.transform(new))
    assert again.loss(new) == model.loss(new)
