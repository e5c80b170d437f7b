"""Supervised maps: labels mixed into the neighbourhood graph."""

from __future__ import annotations

import numpy as np
import pytest
import reference
from cases import curve
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from eigenscape import DiffusionMap, EigenfunctionClassifier, LaplacianEigenmaps
from eigenscape.kernels.labelled import class_affinity
from eigenscape.options import KNNGraph

BOTH = pytest.mark.parametrize("cls", [LaplacianEigenmaps, DiffusionMap])


def test_the_affinity_is_that_of_the_formula():
    """Cycles through up to three vertices are the same for any draw."""
    X, codes = curve(30), np.full(30, -1)
    codes[[0, 11, 20]], codes[[5, 6]], codes[7] = 0, 1, 2
    plain = LaplacianEigenmaps(affinity=KNNGraph(5, weights="heat")).fit(X)
    mixed = LaplacianEigenmaps(target_weight=0.4, affinity=KNNGraph(5, weights="heat")).fit(X, codes)
    following = np.arange(30)
    following[[0, 11, 20, 5, 6]] = [11, 20, 0, 6, 5]
    expected = reference.label_affinity(plain.affinity_matrix_.toarray(), codes, 0.4, [following])
    np.testing.assert_allclose(mixed.affinity_matrix_.toarray(), expected, atol=1e-12)
    assert mixed.width_ == plain.width_


def test_classes_are_connected_with_the_same_degree():
    codes = np.random.default_rng(0).integers(-1, 4, size=300)
    edges = class_affinity(codes, 7.0, seed=0)
    np.testing.assert_allclose(edges.sum(axis=1), np.where(codes >= 0, 7.0, 0.0))
    np.testing.assert_array_equal((edges - edges.T).toarray(), 0)
    row, column = edges.nonzero()
    np.testing.assert_array_equal(codes[row], codes[column])
    count = connected_components(edges)[0]
    assert count == 4 + (codes < 0).sum()
    assert edges.nnz <= 10 * (codes >= 0).sum()
    assert class_affinity(np.array([0, 1, -1]), 7.0, seed=0).nnz == 0


@BOTH
def test_labels_are_ignored_by_default(cls):
    X = curve(60)
    expected = cls(n_neighbors=6).fit_transform(X)
    for y in (np.arange(60) % 3, [None] * 60, np.linspace(0, 1, 60), "x"):
        np.testing.assert_array_equal(cls(n_neighbors=6).fit_transform(X, y), expected)


@BOTH
def test_labels_move_classes_apart_also_for_new_points(cls):
    gains = []
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(1797)
        X, y = (each[order] for each in load_digits(return_X_y=True))
        train, new, given = X[:900], X[900:], np.where(np.arange(900) % 4, y[:900], -1)
        scores = []
        for model in (cls(), cls(target_weight=0.8)):
            Z = model.fit_transform(train, given)
            scores.append(KNeighborsClassifier(10).fit(Z, y[:900]).score(model.transform(new), y[900:]))
        gains.append(scores[1] - scores[0])
    assert np.mean(gains) > 0.03
    assert min(gains) > 0


def test_missing_labels_of_any_kind_and_words_are_the_same():
    X = curve(60)
    model = LaplacianEigenmaps(n_neighbors=6, target_weight=0.5)
    codes = np.where(np.arange(60) % 2, np.arange(60) % 3, -1)
    expected = model.fit_transform(X, codes)
    words = np.array(["a", "b", "c", None], dtype=object)[codes]
    for y in (
        np.where(codes >= 0, codes, np.nan),
        words,
        [np.nan if word is None else word for word in words],
        [word or "" for word in words],
    ):
        np.testing.assert_array_equal(clone(model).fit_transform(X, y), expected)


def test_equal_rows_with_different_labels_are_unlabelled():
    X = np.concatenate([curve(40), curve(40)[:10]])
    y = np.full(50, -1)
    y[[0, 40, 1, 12, 13]] = [0, 1, 1, 0, 1]  # rows 0 and 40 are equal
    found = LaplacianEigenmaps(n_neighbors=5, target_weight=0.5).fit(X, y)
    y[[0, 40]] = -1
    expected = LaplacianEigenmaps(n_neighbors=5, target_weight=0.5).fit(X, y)
    np.testing.assert_array_equal(found.embedding_, expected.embedding_)
    y[41] = 1  # row 1 again: its label is known from either
    again = LaplacianEigenmaps(n_neighbors=5, target_weight=0.5).fit(X, y)
    np.testing.assert_array_equal(again.embedding_, expected.embedding_)


def test_rows_of_weight_zero_have_no_label():
    X, y = curve(60), np.arange(60) % 3
    weights = np.ones(60)
    weights[::4] = 0
    model = LaplacianEigenmaps(n_neighbors=6, target_weight=0.5)
    found = clone(model).fit(X, y, sample_weight=weights)
    kept = clone(model).fit(X[weights > 0], y[weights > 0], sample_weight=np.ones(45))
    np.testing.assert_allclose(found.embedding_[weights > 0], kept.embedding_, atol=1e-10)
    np.testing.assert_allclose(found.embedding_[weights == 0], kept.transform(X[weights == 0]), atol=1e-10)


@BOTH
@pytest.mark.parametrize(
    ("params", "y", "message"),
    [
        ({"target_weight": 1.0}, "given", r"target_weight=1.0 must be a number of at least 0 and below 1"),
        ({"target_weight": -0.1}, "given", r"target_weight=-0.1 must be a number of at least 0 and below 1"),
        (
            {"target_weight": "half"},
            "given",
            r"target_weight='half' must be a number of at least 0 and below 1",
        ),
        ({"target_weight": np.nan}, "given", r"target_weight=nan must be a number of at least 0 and below 1"),
        ({"target_weight": 0.5}, None, r"target_weight=0.5 requires y to be passed"),
        ({"target_weight": 0.5}, [0, 1, 2], r"X has 60 rows, but y has 3 labels"),
        ({"target_weight": 0.5}, [-1] * 60, r"y has no label: every value is -1, None or NaN"),
        ({"target_weight": 0.5}, np.linspace(0, 1, 60), r"Unknown label type"),
        ({"target_weight": 0.5, "affinity": "rbf"}, "given", r"target_weight=0.5 needs a graph"),
    ],
)
def test_errors_name_the_argument_and_the_remedy(cls, params, y, message):
    y = np.arange(60) % 3 if isinstance(y, str) else y
    with pytest.raises(ValueError, match=message):
        cls(**params).fit(curve(60), y)


def test_a_dask_collection_has_no_labels():
    array = pytest.importorskip("dask.array")
    with pytest.raises(ValueError, match="labels are not supported for a dask collection"):
        LaplacianEigenmaps(target_weight=0.5).fit(array.from_array(curve(60), chunks=20), [0, 1] * 30)


def test_sparse_rows_have_the_map_of_dense_ones():
    X, y = np.maximum(curve(60), 0.0), np.arange(60) % 3
    model = LaplacianEigenmaps(n_neighbors=8, target_weight=0.5)
    dense = clone(model).fit(X, y)
    found = clone(model).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(found.embedding_, dense.embedding_, atol=1e-8)


def test_a_classifier_has_no_supervised_embedder():
    with pytest.raises(ValueError, match="the leave-one-out error would be too small; set target_weight=0"):
        EigenfunctionClassifier(LaplacianEigenmaps(5, target_weight=0.5)).fit(curve(60), [0, 1] * 30)
