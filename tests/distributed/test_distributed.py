"""The same estimators on dask collections: equal to one machine, whatever the cut into partitions."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.bag
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

import eigenscape as es
from eigenscape.distributed import is_collection, locality
from eigenscape.distributed.blocks import as_blocks
from eigenscape.distributed.ppca import BlockRows
from eigenscape.distributed.reduce import reduce_blocks, sample_rows
from eigenscape.exceptions import UndefinedKernelError
from eigenscape.methods.observed_data import observed_data
from eigenscape.methods.probabilistic_pca import LatentGaussian, compute_posterior, expectation_sums, maximize
from eigenscape.options import Dictionary, KNNGraph

pytestmark = pytest.mark.dask

RNG = np.random.default_rng(0)
X = (
    RNG.standard_normal((240, 2)) @ RNG.standard_normal((2, 5))
    + 0.3 * RNG.standard_normal((240, 5))
    + [50, 0, 0, -3, 0]
)
GAPS = np.where(RNG.random(X.shape) < 0.08, np.nan, X)
WEIGHTS = RNG.integers(0, 3, len(X)).astype(float)
GROUPS = RNG.integers(0, 30, len(X))
NOISY = X + RNG.standard_normal(X.shape) * [3, 0.1, 0.1, 1, 0.5]
CUT = ((100, 0, 60, 80), (3, 2))

#: Says where the model was found, not what it is; of rounding.
NOT_COMPARED = {"residuals_", "graph_", "anchor_indices_", "kernel_"}


def cut(A: np.ndarray, sizes: tuple[int, ...] = CUT[0]) -> da.Array:
    """In partitions of these sizes, one of them empty unless told otherwise, columns in two chunks."""
    return da.from_array(A, chunks=-1).rechunk((sizes, CUT[1]) if A.ndim == 2 else (sizes,))


def fitted_attributes(model: Any) -> dict[str, Any]:
    return {
        name: value for name, value in vars(model).items() if name.endswith("_") and not name.startswith("_")
    }


def assert_same_model(one: Any, other: Any, tolerance: float = 1e-10) -> None:
    """Every fitted attribute that ``other`` has, and it has all but those of NOT_COMPARED."""
    expected, found = fitted_attributes(one), fitted_attributes(other)
    assert set(expected) - set(found) <= NOT_COMPARED
    for name in set(expected) & set(found) - NOT_COMPARED:
        value = found[name].compute() if is_collection(found[name]) else found[name]
        if isinstance(value, str):
            assert value == expected[name], name
        else:
            value, right = np.asarray(value, dtype=float), np.asarray(expected[name], dtype=float)
            assert_allclose(
                value, right, rtol=0, atol=tolerance * max(1.0, np.abs(right).max()), err_msg=name
            )


# --- models of one machine, rows on many --------------------------------------------------------------------

MODELS = [
    es.PCA(2),
    es.ProbabilisticPCA(2),
    es.MixturePPCA(2, 1, n_init=1),
    es.LocalityPreservingProjection(2),
    es.KernelPCA(2),
    es.KernelPCA(2, approximation=Dictionary(20)),
    es.Isomap(2),
    es.LaplacianEigenmaps(2),
    es.LocallyLinearEmbedding(2),
    es.DiffusionMap(2),
    es.SpectralClustering(2),
    es.LandmarkMDS(2),
    es.KernelEigenmap(2),
    es.GreedySpectralEmbedding(2),
    es.ProjectionPursuit(2, n_init=1),
    es.OrdinalMDS(2),
    es.NeighborEmbedding(2, max_iter=50),
    es.PotentialMap(2),
    es.EigenspaceDensity(n_mixtures=2),
    es.ManifoldParzen(n_neighbors=8, n_components=2, noise=0.1),
]
ROWWISE = (
    "transform",
    "eigenfunctions",
    "predict",
    "predict_proba",
    "score_samples",
    "decision_function",
    "span_distances",
    "impute",
    "projection_error",
)
MEANS = ("loss", "score", "reconstruction_error")


@pytest.mark.parametrize("model", MODELS, ids=lambda model: f"{type(model).__name__}-{len(str(model))}")
def test_a_method_of_rows_is_mapped_over_partitions(model: Any) -> None:
    train, new = X[:80], cut(X)
    model.fit(train)
    for name in ROWWISE:
        if not hasattr(model, name):
            continue
        lazy, right = getattr(model, name)(new), getattr(model, name)(X)
        assert is_collection(lazy)
        assert lazy.chunks[0] == CUT[0]
        assert lazy.shape == right.shape
        assert lazy.dtype == right.dtype
        assert_allclose(
            lazy.compute(), right, rtol=0, atol=1e-10 * max(1.0, np.abs(right).max()), err_msg=name
        )
    if isinstance(model, es.LocallyLinearEmbedding):  # it has no kernel between new points
        with pytest.raises(UndefinedKernelError, match="pairs of new points"):
            model.loss(new)
    elif hasattr(model, "loss_curve"):
        assert_allclose(model.loss_curve(new), model.loss_curve(X), rtol=1e-9)
    of_training = (es.Isomap, es.LocallyLinearEmbedding)  # their reconstruction error is not one of rows
    for name in MEANS:
        if name == "reconstruction_error" and isinstance(model, of_training):
            continue
        if hasattr(model, name) and (name != "loss" or not isinstance(model, es.LocallyLinearEmbedding)):
            mean = getattr(model, name)(new)
            assert isinstance(mean, float)
            assert mean == pytest.approx(getattr(model, name)(X), rel=1e-10), name
    if hasattr(model, "inverse_transform"):
        places = model.transform(new)
        assert_allclose(
            model.inverse_transform(places).compute(),
            model.inverse_transform(model.transform(X)),
            rtol=1e-7,
            atol=1e-8,
        )


@pytest.mark.parametrize("names", [np.array([3, 7]), np.array(["some", "others"])], ids=["numbers", "words"])
def test_classes_over_partitions(names: np.ndarray) -> None:
    y = names[(X[:, 1] > 0).astype(int)]
    model = es.EigenfunctionClassifier().fit(X[:80], y[:80])
    for method in ("predict", "predict_proba"):
        lazy, right = getattr(model, method)(cut(X)), getattr(model, method)(X)
        assert lazy.dtype == right.dtype
        assert lazy.shape == right.shape
        found = lazy.compute()
        assert (found == right).all() if method == "predict" else np.allclose(found, right, atol=1e-10)
    assert model.score(cut(X), y) == model.score(X, y)


@pytest.mark.parametrize("columns", [1, slice(1, 3)], ids=["flat", "several outputs"])
def test_values_over_partitions(columns: Any) -> None:
    model = es.EigenfunctionRegressor().fit(X[:80], X[:80, columns])
    lazy, right = model.predict(cut(X)), model.predict(X)
    assert lazy.shape == right.shape
    assert_allclose(lazy.compute(), right, atol=1e-10)


def test_a_parametric_map_over_partitions() -> None:
    model = es.ParametricMap(es.KernelPCA(2)).fit(X[:80])
    assert_allclose(model.transform(cut(X)).compute(), model.transform(X), atol=1e-10)
    with pytest.raises(TypeError, match="ParametricMap needs all rows in memory here"):
        model.loss(cut(X))


def test_oriented_pca_over_partitions() -> None:
    model = es.OrientedPCA(2).fit(X, distorted=[NOISY])
    assert_allclose(model.eigenfunctions(cut(X)).compute(), model.eigenfunctions(X), atol=1e-10)
    assert model.loss(cut(NOISY)) == pytest.approx(model.loss(NOISY), rel=1e-10)


def test_the_loss_pairs_rows_of_different_partitions() -> None:
    """Means over the pairs within each partition would be another number."""
    model = es.KernelPCA(2, gamma=0.5).fit(X[:60])
    new = cut(X)
    assert model.loss(new) == pytest.approx(model.loss(X), rel=1e-10)
    within = [model.loss(block.compute()) for block in new.blocks if len(block) > 1]
    assert model.loss(X) != pytest.approx(np.mean(within), rel=1e-3)
    one_row = da.from_array(X[:1], chunks=(1, -1))
    with pytest.raises(ValueError, match="mean over pairs of new points, but X has 1"):
        model.loss(one_row)
    with pytest.raises(ValueError, match="does not support between"):
        model.loss(new, between=np.eye(len(X)))


def test_single_precision_stays_single() -> None:
    model = es.PCA(2).fit(X)
    lazy = model.transform(cut(X.astype(np.float32)))
    assert lazy.dtype == np.float32
    assert lazy.compute().dtype == np.float32


def test_row_counts_may_be_unknown() -> None:
    model = es.KernelPCA(2).fit(X[:80])
    rows = cut(X)
    some = rows[rows[:, 1] > 0]
    assert np.isnan(some.shape[0])
    assert_allclose(model.transform(some).compute(), model.transform(X[X[:, 1] > 0]), atol=1e-12)
    assert_same_model(es.PCA(2).fit(X[X[:, 1] > 0]), es.PCA(2).fit(some))


def test_sparse_partitions() -> None:
    thin = sparse.random_array((240, 8), density=0.3, random_state=np.random.default_rng(0), format="csr")
    rows = da.from_array(thin.toarray(), chunks=(100, 8)).map_blocks(sparse.csr_array)
    one, many = es.PCA(2).fit(thin), es.PCA(2).fit(rows)
    assert_allclose(many.components_, one.components_, atol=1e-10)
    assert_allclose(many.transform(rows).compute(), one.embedding_, atol=1e-10)
    assert many.reconstruction_error(rows) == pytest.approx(one.reconstruction_error(thin))


def test_the_model_is_one_node_of_the_graph() -> None:
    lazy = es.KernelPCA(2).fit(X[:80]).transform(cut(X))
    assert sum(str(key).startswith("eigenscape-shared") for key in dict(lazy.__dask_graph__())) == 1


@pytest.mark.parametrize("cls", [es.LocallyLinearEmbedding, es.PCA, es.ManifoldParzen])
def test_dask_sees_the_fitted_attributes_of_a_model(cls: type) -> None:
    """Dask takes a dataclass to be its fields: two models with equal parameters would have the same key."""
    model, other = cls().fit(X[:60]), cls().fit(X[60:120])
    assert dask.base.tokenize(model) == dask.base.tokenize(model) != dask.base.tokenize(other)
    found, _ = dask.compute(model, da.ones(3))
    assert vars(found).keys() == vars(model).keys()


def test_an_unfitted_model_says_so_at_once() -> None:
    with pytest.raises(NotFittedError):
        es.PCA(2).transform(cut(X))


def test_no_other_container_is_made_in_silence() -> None:
    model = es.PCA(2).fit(X).set_output(transform="pandas")
    with pytest.raises(ValueError, match="leave it 'default'"):
        model.transform(cut(X))


# --- dataframes ---------------------------------------------------------------------------------------------


def frame(A: np.ndarray = X) -> pd.DataFrame:
    return pd.DataFrame(A, columns=list("abcde"))


def test_dataframes_have_names() -> None:
    parts = dd.from_pandas(frame(), npartitions=3)
    model = es.PCA(2).fit(parts)
    assert_array_equal(model.feature_names_in_, list("abcde"))
    assert_allclose(model.transform(parts).compute(), es.PCA(2).fit(frame()).embedding_, atol=1e-10)
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(parts[list("bacde")])


def test_whole_numbers_and_nullable_columns() -> None:
    table = pd.DataFrame(
        {"a": np.arange(20), "b": pd.array([1, None] * 10, dtype="Int64"), "c": np.linspace(0, 1, 20) ** 2}
    )
    model = es.ProbabilisticPCA(1).fit(dd.from_pandas(table, npartitions=2))
    right = es.ProbabilisticPCA(1).fit(table.astype(float))
    assert_allclose(model.components_, right.components_, atol=1e-10)


def test_a_column_of_text_is_named() -> None:
    table = frame().assign(colour="red")
    with pytest.raises(ValueError, match="column\\(s\\) colour of the dask dataframe are not numeric"):
        es.PCA(2).fit(dd.from_pandas(table, npartitions=2))


# --- models of many machines --------------------------------------------------------------------------------

FITS = {
    "pca": (es.PCA(2), X, {}),
    "pca-whiten-weights": (es.PCA(0.99, whiten=True), X, {"sample_weight": WEIGHTS}),
    "pca-mle": (es.PCA("mle"), X, {}),
    "pca-all": (es.PCA(None), X, {}),
    "ppca": (es.ProbabilisticPCA(2), X, {}),
    "ppca-em": (es.ProbabilisticPCA(2, method="em"), X, {}),
    "ppca-gaps": (es.ProbabilisticPCA(2), GAPS, {}),
    "ppca-gaps-weights": (es.ProbabilisticPCA(2), GAPS, {"sample_weight": WEIGHTS}),
    "ppca-bayes": (es.ProbabilisticPCA("bayes"), X, {}),
    "ppca-bayes-gaps": (es.ProbabilisticPCA("bayes"), GAPS, {}),
    "mixture": (es.MixturePPCA(2, 1, n_init=2, tol=1e-5), X, {}),
    "mixture-gaps": (es.MixturePPCA(2, 1, n_init=1, tol=1e-5), GAPS, {}),
    "mixture-weights": (es.MixturePPCA(2, 1, n_init=1, tol=1e-5), X, {"sample_weight": WEIGHTS}),
    "oriented-distorted": (es.OrientedPCA(2), X, {"distorted": [NOISY, X + 0.1 * NOISY[::-1]]}),
    "oriented-noise": (es.OrientedPCA(2), X, {"noise": NOISY - X}),
    "oriented-groups": (es.OrientedPCA(2), X, {"y": GROUPS}),
    "locality": (es.LocalityPreservingProjection(2), X, {}),
    "locality-origin": (es.LocalityPreservingProjection(2, affine=False), X, {}),
    "locality-loops": (
        es.LocalityPreservingProjection(2, regularization=0.1, affinity=KNNGraph(weights="binary")),
        X,
        {},
    ),
}


@pytest.mark.parametrize("name", FITS)
def test_fitted_by_reduction_as_on_one_machine(name: str) -> None:
    model, rows, beside = FITS[name]
    one = type(model)(**model.get_params(deep=False)).fit(rows, **beside)
    lazily = {
        key: [cut(each) for each in value] if isinstance(value, list) else cut(value)
        for key, value in beside.items()
    }
    many = type(model)(**model.get_params(deep=False)).fit(cut(rows), **lazily)
    assert_same_model(one, many)
    if "embedding_" in vars(many):  # law 1, lazily
        assert is_collection(many.embedding_)
        assert_array_equal(many.embedding_.compute(), many.transform(cut(rows)).compute())


def test_losses_without_rows() -> None:
    for model, more in ((es.PCA(2), {}), (es.OrientedPCA(2), {"noise": NOISY - X})):
        one, many = type(model)(2).fit(X, **more), type(model)(2).fit(cut(X), **more)
        assert many.loss() == pytest.approx(one.loss(), rel=1e-8)
        assert many.loss(cut(NOISY)) == pytest.approx(one.loss(NOISY), rel=1e-9)
        assert_allclose(many.loss_curve(cut(NOISY)), one.loss_curve(NOISY), rtol=1e-9)
        assert_allclose(many.loss_curve(), one.loss_curve(), rtol=1e-7)
        with pytest.raises(AttributeError):
            _ = many.kernel_


def test_partial_fit_takes_collections_and_arrays_by_turns() -> None:
    mixed = es.PCA(2).partial_fit(cut(X)).partial_fit(NOISY)
    assert_same_model(es.PCA(2).partial_fit(X).partial_fit(NOISY), mixed)


@settings(max_examples=25, deadline=None)
@given(cuts=st.lists(st.integers(0, len(X)), max_size=6), fan=st.integers(2, 5))
def test_partitioning_changes_nothing(cuts: list[int], fan: int) -> None:
    """Property: any cut, empty partitions included, and any tree of reductions."""
    sizes = tuple(np.diff([0, *sorted(cuts), len(X)]).tolist())
    rows, gaps = cut(X, sizes), cut(GAPS, sizes)
    assert rows.chunks[0] == sizes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys.modules["eigenscape.distributed.graphs"], "FAN", fan)
        model = es.PCA(3).fit(rows)
        right = es.PCA(3).fit(X)
        assert_allclose(model.eigenvalues_, right.eigenvalues_, rtol=1e-10)
        assert_allclose(model.components_, right.components_, atol=1e-10)
        start = LatentGaussian(X.mean(axis=0), np.eye(5)[:, :2], 1.0)
        blocks = BlockRows(as_blocks(gaps, missing=True))
        data, ones = observed_data(GAPS, training=True), np.ones(len(X))
        step = maximize(start, blocks.expectation(start), 0.0)
    expected = maximize(start, expectation_sums(start, compute_posterior(start, data), data, ones), 0.0)
    assert_allclose(step.covariance(), expected.covariance(), atol=1e-10)


def test_anchors_do_not_depend_on_the_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    assert locality.ANCHORS == 5_000
    monkeypatch.setattr(locality, "ANCHORS", 60)
    one, other = (
        es.LocalityPreservingProjection(2).fit(rows) for rows in (cut(X), da.from_array(X, chunks=(37, 5)))
    )
    assert len(one.anchor_indices_) == 60
    assert_array_equal(one.anchor_indices_, other.anchor_indices_)
    assert_same_model(one, other)
    exact = es.LocalityPreservingProjection(2).fit(X)
    agreement = np.linalg.svd(_whitened(one.embedding_.compute()).T @ _whitened(exact.embedding_))[1]
    assert agreement.min() > 0.9  # few anchors, nearly the same plane


def _whitened(Y: np.ndarray) -> np.ndarray:
    return np.linalg.qr(Y - Y.mean(axis=0))[0]


def test_signs_look_at_ties_in_the_order_of_rows() -> None:
    A = np.array([[-2.0, 1.0], [2.0, -1.0], [0.5, 0.5], [-0.5, -0.5]])
    for size in (1, 2, 3, 4):
        assert_array_equal(
            es.PCA(1).fit(da.from_array(A, chunks=(size, 2))).components_, es.PCA(1).fit(A).components_
        )


# --- what is wrong is named ---------------------------------------------------------------------------------


def raw(parts: list[np.ndarray], width: int = 5) -> da.Array:
    """What ``from_delayed`` makes of parts that are not what it is told."""
    return da.concatenate(
        [da.from_delayed(dask.delayed(part), (len(part), width), np.float64) for part in parts]
    )


@pytest.mark.parametrize(
    "use", [lambda rows: es.PCA(2).fit(rows), lambda rows: es.PCA(2).fit(X).transform(rows).compute()]
)
def test_a_bad_partition_is_named(use: Any) -> None:
    spoilt = X[:50].copy()
    spoilt[7, 2] = np.nan
    with pytest.raises(
        ValueError,
        match=r"NaN or infinity in 1 row\(s\) of partition 1 of X: row\(s\) 7",
    ):
        use(raw([X, spoilt]))
    with pytest.raises(
        ValueError, match=r"partition 1 of X has shape \(50, 4\), but the collection declares 5 columns"
    ):
        use(raw([X, X[:50, :4]]))
    with pytest.raises(ValueError, match="partition 1 of X has dtype"):
        use(raw([X, X[:50].astype(str)]))


def test_a_partition_with_other_rows_than_declared_is_named() -> None:
    wrong = da.from_delayed(dask.delayed(X[:50]), (60, 5), np.float64)
    for use in (lambda rows: es.PCA(2).fit(rows), lambda rows: es.PCA(2).fit(X).transform(rows).compute()):
        with pytest.raises(ValueError, match="partition 1 of X has 50 rows, but the collection declares 60"):
            use(da.concatenate([cut(X).rechunk((240, 5)), wrong]))


def of_blocks(make: Any, A: np.ndarray = X) -> da.Array:
    """Partitions of 80 rows, each made into something else."""
    return da.from_array(A, chunks=(80, A.shape[1])).map_blocks(make, meta=make(A[:0]))


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.coo_matrix])
def test_sparse_blocks_of_any_form(form: Any) -> None:
    assert_allclose(es.PCA(2).fit(of_blocks(form)).components_, es.PCA(2).fit(X).components_, atol=1e-10)
    spoilt = X.copy()
    spoilt[[83, 90], [4, 1]] = np.inf
    with pytest.raises(
        ValueError,
        match=r"NaN or infinity in 2 row\(s\) of partition 1 of X: row\(s\) 3, 10",
    ):
        es.PCA(2).fit(of_blocks(form, spoilt))


@pytest.mark.parametrize(
    "model", [es.LocalityPreservingProjection(2), es.ProbabilisticPCA(2), es.MixturePPCA(2, 1)], ids=repr
)
def test_sparse_blocks_are_refused_where_sparse_rows_are(model: Any) -> None:
    with pytest.raises(TypeError, match=r"(?i)sparse"):
        model.fit(sparse.csr_array(X))
    with pytest.raises(TypeError, match=r"partition \d of X is sparse, but dense data is required"):
        model.fit(of_blocks(sparse.csr_array))
    with pytest.raises(TypeError, match=r"partition \d of X is sparse, but dense data is required"):
        model.fit(X).transform(of_blocks(sparse.csr_array)).compute(scheduler="synchronous")


def test_blocks_of_the_package_sparse_are_refused() -> None:
    class COO:
        __module__ = "sparse.numba_backend"
        shape, ndim, dtype = (80, 5), 2, np.dtype(float)

    rows = da.from_delayed(dask.delayed(COO()), (80, 5), np.float64)
    with pytest.raises(TypeError, match="partition 0 of X is a COO of the package sparse"):
        es.PCA(2).fit(rows)


def test_groups_may_have_names() -> None:
    names = np.array([f"group {number}" for number in GROUPS])
    expected = es.OrientedPCA(2).fit(X, y=names)
    series = dd.from_pandas(pd.Series(names), npartitions=3)
    chunks = tuple(series.map_partitions(len).compute())
    assert_same_model(expected, es.OrientedPCA(2).fit(cut(X), y=cut(names)))
    assert_same_model(expected, es.OrientedPCA(2).fit(cut(X, chunks), y=series))
    gaps = np.where(np.arange(240) == 102, None, names.astype(object))
    for y in (cut(gaps), cut(np.where(np.arange(240) == 102, np.nan, GROUPS))):
        with pytest.raises(ValueError, match=r"partition 2 of y has no label in row\(s\) 2"):
            es.OrientedPCA(2).fit(cut(X), y=y)


def test_partitions_of_other_types_are_taken_for_what_they_are() -> None:
    whole = np.concatenate([X, X[:50].astype(np.float32), np.round(X[:50]).astype(int)])
    assert_same_model(
        es.PCA(2).fit(whole), es.PCA(2).fit(raw([X, X[:50].astype(np.float32), np.round(X[:50]).astype(int)]))
    )


def test_a_row_without_any_value_is_named() -> None:
    empty = GAPS[:50].copy()
    empty[3] = np.nan
    with pytest.raises(
        ValueError,
        match=r"in partition 1 of X .*: row 3 of the 50 rows has no observed value",
    ):
        es.ProbabilisticPCA(2).fit(raw([GAPS, empty]))
    with pytest.raises(ValueError, match="column 2 of the 5 columns has no observed value"):
        es.ProbabilisticPCA(2).fit(cut(np.where(np.arange(5) == 2, np.nan, X)))


@pytest.mark.parametrize(
    ("use", "error", "match"),
    [
        (
            lambda: es.ProjectionPursuit(2).fit(cut(X)),
            TypeError,
            "needs all rows in memory here, and X is a dask collection",
        ),
        (lambda: es.PCA(2).fit(cut(X)[:, 0]), ValueError, "Expected 2D array, got a 1D"),
        (lambda: es.PCA(2).fit(cut(X)[:, :, None]), ValueError, "Expected 2D array, got a 3D"),
        (lambda: es.PCA(2).fit(cut(X).astype(str)), ValueError, "is not numeric"),
        (lambda: es.PCA(2).fit(cut(X)[:0]), ValueError, "collection is empty"),
        (
            lambda: es.LocalityPreservingProjection(2).fit(cut(X)[:0]),
            ValueError,
            "collection is empty",
        ),
        (
            lambda: es.PCA(1).fit(da.full((50, 3), 0.1, chunks=(20, 3))),
            ValueError,
            "all rows are equal up to rounding",
        ),
        (
            lambda: es.PCA(1).fit(dask.delayed(X)),
            TypeError,
            r"X is a dask.delayed.Delayed\w*, which has no rows and columns",
        ),
        (
            lambda: es.GreedySpectralEmbedding(2).fit(dask.bag.from_sequence([X])),
            TypeError,
            "X is a dask.bag.core.Bag, which has no rows",
        ),
        (
            lambda: es.Isomap(1).fit(dask.bag.from_sequence([X])),
            TypeError,
            "X is a dask.bag.core.Bag, which has no rows",
        ),
        (
            lambda: es.DistortionDiscriminantAnalysis(((8, 8, 4),)).fit(cut(X), distorted=[X]),
            TypeError,
            "X is a dask collection",
        ),
        (
            lambda: es.DistortionDiscriminantAnalysis(((8, 8, 4),)).fit(X, distorted=[cut(X)]),
            TypeError,
            r"distorted\[0\] is a dask",
        ),
        (lambda: es.PCA(2).fit(cut(X)[:1]), ValueError, "minimum of 2 is required"),
        (
            lambda: es.PCA(9).fit(cut(X)),
            ValueError,
            "n_components=9 needs at least 10 samples and 9 features",
        ),
        (
            lambda: es.PCA(2).fit(X).transform(da.from_array(X[:, :3], chunks=50)),
            ValueError,
            "3 features, but PCA is expecting 5",
        ),
        (
            lambda: es.PCA(2).fit(X).inverse_transform(cut(X)),
            ValueError,
            "X has 5 coordinates, but PCA has 2 components",
        ),
        (
            lambda: es.PCA(2).fit(cut(X), sample_weight=WEIGHTS),
            TypeError,
            "one-dimensional dask array",
        ),
        (lambda: es.PCA(2).fit(cut(X), sample_weight=-cut(WEIGHTS)), ValueError, "must not be negative"),
        (
            lambda: es.PCA(2).fit(cut(X), sample_weight=0 * cut(WEIGHTS)),
            ValueError,
            "collection is empty",
        ),
        (
            lambda: es.PCA(2).fit(cut(X), sample_weight=da.ones(240, chunks=240)),
            ValueError,
            "X has 4 partitions, .* has 1",
        ),
        (
            lambda: es.PCA(2).fit(cut(X), sample_weight=da.ones(240, chunks=60)),
            ValueError,
            r"partition \d of X has \d+ rows, but sample_weight has 60; rechunk it like X",
        ),
        (
            lambda: es.ProbabilisticPCA(2).fit(X).score(cut(X), sample_weight=WEIGHTS),
            ValueError,
            "does not support sample_weight",
        ),
        (lambda: es.OrientedPCA(2).fit(cut(X), y=GROUPS), TypeError, "y is a ndarray"),
        (
            lambda: es.OrientedPCA(2).fit(cut(X), y=da.arange(240, chunks=(CUT[0],))),
            ValueError,
            "a different label for each",
        ),
        (
            lambda: es.OrientedPCA(2).fit(cut(X), distorted=[NOISY]),
            ValueError,
            r"distorted\[0\] must be one too",
        ),
        (
            lambda: es.LocalityPreservingProjection(2).fit(cut(X), graph=np.eye(240)),
            TypeError,
            "graph= is not supported for dask collections",
        ),
    ],
)
def test_bad_input(use: Any, error: type[Exception], match: str) -> None:
    with pytest.raises(error, match=match):
        use()


# --- small things -------------------------------------------------------------------------------------------


def test_a_pickled_model_leaves_the_collection_behind() -> None:
    model = es.PCA(2).fit(cut(X))
    again = pickle.loads(pickle.dumps(model))
    assert "embedding_" not in vars(again)
    assert is_collection(model.embedding_)
    assert_array_equal(again.transform(X), model.transform(X))


def test_what_is_a_collection() -> None:
    assert is_collection(cut(X))
    assert is_collection(dd.from_pandas(frame(), npartitions=2))
    assert not is_collection(dask.delayed(X))
    assert not is_collection(X)
    assert not is_collection(frame())


def test_samples_do_not_depend_on_the_cut() -> None:
    rows, numbers = sample_rows(as_blocks(cut(X)), 50, 3)
    others, same = sample_rows(as_blocks(da.from_array(X, chunks=(17, 5))), 50, 3)
    assert_array_equal(numbers, same)
    assert_array_equal(rows, others)
    assert_array_equal(rows, X[numbers])
    assert_array_equal(sample_rows(as_blocks(cut(X)), 999, 0)[0], X)


def test_reductions_keep_the_order_of_blocks() -> None:
    blocks = as_blocks(da.arange(40, chunks=2))
    assert reduce_blocks(lambda block: list(block), blocks, combine=lambda a, b: a + b) == list(range(40))


@pytest.mark.usefixtures("forked_python")
def test_without_dask_everything_else_works() -> None:
    code = (
        "import sys; sys.modules['dask'] = sys.modules['distributed'] = None\n"
        "import numpy, eigenscape\n"
        "eigenscape.PCA(1).fit(numpy.eye(3)).transform(numpy.eye(3))\n"
        "try:\n    eigenscape.distributed.connect('local')\n"
        "except ImportError as error:\n    print(error)\n"
    )
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert 'pip install "eigenscape[dask]"' in told


def test_the_example_of_the_documentation_runs() -> None:
    page = (Path(__file__).parents[2] / "docs" / "distributed.md").read_text()
    first = page.split("```python\n")[1].split("```")[0]
    found: dict[str, Any] = {}
    exec(first, found)
    assert found["model"].embedding_.chunks == ((20_000,) * 5, (2,))


# --- memory of tasks ----------------------------------------------------------------------------------------

FAULTS = """
import resource
import numpy as np
from eigenscape.distributed._allocation import reuse_freed_memory

B = np.ones((100, 100))

def faults(n=2048):
    A = np.ones((n, 100))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        A @ B
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

def free():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20

outside = faults()
with reuse_freed_memory():
    inside = faults()
    with reuse_freed_memory():
        pass
    still = faults()
after = faults(8192)  # more than the largest that was freed, which may be used again
before = free()
with reuse_freed_memory():
    rows = [np.ones(2**17) for _ in range(100)]
    del rows
print(outside, inside, still, after, free() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the C library of others is another one")
def test_a_task_keeps_its_memory_as_long_as_it_runs() -> None:
    """Arrays of 1.6 MB are 400 pages each, mapped anew every time, as dask's workers do it; within a task
    they are not."""

    environment = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", FAULTS], env=environment, capture_output=True, text=True, check=True
    )
    outside, inside, still, after, grown = (float(word) for word in done.stdout.split())
    assert outside > 20_000
    assert max(inside, still) < 5000  # the first array, and what a few others need
    assert after > 20_000  # as it was
    assert grown < 20  # 100 MB were given back
