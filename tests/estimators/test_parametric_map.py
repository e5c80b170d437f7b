"""Parametric maps."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_swiss_roll
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression
from sklearn.manifold import TSNE
from sklearn.neighbors import KNeighborsRegressor
from sklearn.utils.estimator_checks import parametrize_with_checks

import eigenscape
from eigenscape import (
    PCA,
    DiffusionMap,
    GreedySpectralEmbedding,
    Isomap,
    KernelPCA,
    LaplacianEigenmaps,
    ParametricMap,
    SpectralClustering,
)
from eigenscape.exceptions import ModelFileError, UndefinedKernelError
from eigenscape.io import describe, export_onnx, load, save
from eigenscape.options import Dictionary
from eigenscape.quality.loss import map_loss


@pytest.mark.filterwarnings("ignore::eigenscape.exceptions.DisconnectedGraphWarning")
@pytest.mark.suite
@parametrize_with_checks([ParametricMap(n_features=40)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def roll():
    X, t = make_swiss_roll(700, random_state=0)
    return X, t


@pytest.fixture(scope="module")
def fitted(roll):
    return ParametricMap(LaplacianEigenmaps(2, n_neighbors=8), n_features=300).fit(roll[0][:500])


def test_new_rows_are_placed_near_the_nystrom_formula(roll, fitted):
    X, _ = roll
    expected, found = fitted.embedder_.transform(X[500:]), fitted.transform(X[500:])
    error = np.linalg.norm(found - expected, axis=0) / np.linalg.norm(expected - expected.mean(0), axis=0)
    assert error.max() < 0.2
    # the leave-one-out error is an estimate of that of new rows
    np.testing.assert_allclose(fitted.leave_one_out_errors_, error, atol=0.05)


def test_leave_one_out_errors_are_those_of_fits_without_each_row():
    from eigenscape.methods.fourier_ridge import fit_fourier_ridge

    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 2))
    Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] ** 2])
    found = fit_fourier_ridge(X, Y, 20, [0.5], np.random.default_rng(1))
    F = np.column_stack([found.map.features(X), np.ones(30)])
    scaled = (Y - Y.mean(axis=0)) / Y.std(axis=0)
    for column, alpha in enumerate(found.alphas):
        errors = []
        for row in range(30):
            rest = np.delete(np.arange(30), row)
            gram = F[rest].T @ F[rest] + alpha * np.eye(21)
            errors.append(
                scaled[row, column] - F[row] @ np.linalg.solve(gram, F[rest].T @ scaled[rest, column])
            )
        assert np.sqrt(np.mean(np.square(errors))) == pytest.approx(found.errors[column], rel=1e-6)


def test_laws(roll, fitted):
    X, _ = roll
    np.testing.assert_allclose(fitted.transform(X[:500]), fitted.embedding_, atol=1e-10)
    alone = np.vstack([fitted.transform(row[None]) for row in X[500:510]])
    np.testing.assert_allclose(fitted.transform(X[500:510]), alone, atol=1e-10)
    again = ParametricMap(LaplacianEigenmaps(2, n_neighbors=8), n_features=300, n_jobs=1).fit(X[:500])
    np.testing.assert_allclose(again.embedding_, fitted.embedding_, atol=1e-10)
    assert fitted.transform(X[:3].astype(np.float32)).dtype == np.float32


@pytest.mark.parametrize(
    "embedder",
    [
        LaplacianEigenmaps(3),
        LaplacianEigenmaps(3, affinity="rbf", include_diagonal=False),
        DiffusionMap(3, diffusion_time=2),
        KernelPCA(3),
        Isomap(3),
        GreedySpectralEmbedding(3, normalization="divisive", dictionary=Dictionary(tol=1e-3)),
        LaplacianEigenmaps(3, on_disconnected="largest"),
    ],
    ids=str,
)
def test_the_loss_of_the_nystrom_coordinates_is_that_of_the_embedder(roll, embedder):
    X = roll[0]
    embedder.fit(X[:200])
    found = map_loss(embedder._model_, X[200:300], embedder.transform(X[200:300]))
    assert found == pytest.approx(embedder.loss(X[200:300]), rel=1e-9)


def test_a_bad_map_has_a_larger_loss(roll, fitted):
    X, _ = roll
    straight = ParametricMap(fitted.embedder_, LinearRegression(), prefit=True).fit(X[:500])
    assert fitted.loss(X[500:]) < 1.05 * fitted.embedder_.loss(X[500:])
    assert straight.loss(X[500:]) > fitted.loss(X[500:])


@pytest.mark.long
def test_any_regressor_and_embedders_without_transform(roll):
    X, _ = roll
    model = ParametricMap(TSNE(init="pca", max_iter=250, random_state=0), KNeighborsRegressor(3)).fit(X[:150])
    assert model.transform(X[150:160]).shape == (10, 2)
    with pytest.raises(UndefinedKernelError, match="TSNE has no kernel"):
        model.loss(X[150:160])
    single = ParametricMap(PCA(1), KNeighborsRegressor(3)).fit(X[:100])
    assert single.transform(X[:4]).shape == (4, 1)
    clusters = ParametricMap(SpectralClustering(3), n_features=50).fit(X[:150])
    with pytest.raises(UndefinedKernelError, match="UnitRows do not determine"):
        clusters.loss(X[150:160])


def test_sparse_rows(roll):
    X = np.abs(np.round(roll[0][:200]))
    dense = ParametricMap(KernelPCA(2), n_features=60).fit(X)
    found = ParametricMap(KernelPCA(2), n_features=60).fit(sparse.csr_array(X))
    np.testing.assert_allclose(
        np.abs(found.transform(sparse.csr_array(X))), np.abs(dense.transform(X)), atol=1e-6
    )


def test_files(roll, fitted, tmp_path):
    X, _ = roll
    expected = fitted.transform(X[500:])
    save(fitted, tmp_path / "whole")
    save(fitted, tmp_path / "small", compact=True)
    whole, small = load(tmp_path / "whole"), load(tmp_path / "small")
    np.testing.assert_array_equal(whole.transform(X[500:]), expected)
    np.testing.assert_array_equal(small.transform(X[500:]), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).transform(X[500:]), expected)
    assert whole.loss(X[500:]) == fitted.loss(X[500:])
    assert describe(tmp_path / "small")["size"] < describe(tmp_path / "whole")["size"] / 2
    assert hasattr(fitted, "embedder_")
    with pytest.raises(UndefinedKernelError, match="compact=True"):
        small.loss(X[500:])
    foreign = ParametricMap(KernelPCA(2), KNeighborsRegressor()).fit(X[:50])
    with pytest.raises(
        ModelFileError,
        match=r"regressor=KNeighborsRegressor.*Set regressor to one that eigenscape provides, or pickle",
    ):
        save(foreign, tmp_path / "foreign")


def test_onnx(roll, fitted, tmp_path):
    runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    X, _ = roll
    export_onnx(fitted, tmp_path / "map.onnx", dtype="float64")
    session = runtime.InferenceSession(str(tmp_path / "map.onnx"), providers=["CPUExecutionProvider"])
    found = session.run(["Y"], {"X": X[500:]})[0]
    np.testing.assert_allclose(found, fitted.transform(X[500:]), atol=1e-8)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"embedder": LaplacianEigenmaps}, "must be an estimator with embedding_ or transform"),
        ({"embedder": KernelPCA(kernel="precomputed")}, "a regression needs rows"),
        ({"regressor": "ridge"}, "must be a regressor"),
        ({"n_features": 1}, "n_features=1"),
        ({"gamma": 0}, "gamma"),
        ({"prefit": True}, "must be an estimator with embedding_ or transform"),
    ],
)
def test_bad_parameters(roll, params, message):
    with pytest.raises((ValueError, TypeError), match=message):
        ParametricMap(**params).fit(roll[0][:50])


def test_not_fitted(roll):
    with pytest.raises(NotFittedError):
        ParametricMap(KernelPCA(), prefit=True).fit(roll[0][:50])
    with pytest.raises(NotFittedError):
        ParametricMap().loss(roll[0][:50])
    assert eigenscape.ParametricMap is ParametricMap
