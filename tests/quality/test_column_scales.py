"""Columns that dominate the distances between rows, in tables of different and of similar scales."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_swiss_roll

from eigenscape._memory import row_blocks
from eigenscape.quality import column_scales, dominant_columns, variance_shares


def test_shares_are_those_of_the_mean_squared_distance(monkeypatch):
    blocks = partial(row_blocks, budget=1280)  # ten rows
    monkeypatch.setattr(column_scales, "row_blocks", blocks)
    X = np.random.default_rng(0).standard_normal((50, 4)) * [1, 10, 3, 0] + [0, 5, 1e6, 0.1]
    total = np.square(pdist(X)).mean()
    expected = [np.square(pdist(X[:, [j]])).mean() / total for j in range(4)]
    np.testing.assert_allclose(variance_shares(X), expected, rtol=1e-9)
    assert variance_shares(X)[3] == 0


def test_sparse_rows_have_the_shares_of_dense_ones():
    X = np.random.default_rng(1).poisson(0.4, (60, 9)) * np.arange(9.0)
    np.testing.assert_allclose(variance_shares(sparse.csr_array(X)), variance_shares(X), rtol=1e-12)


def test_missing_values_are_ignored_and_constant_tables_have_no_shares():
    X = np.random.default_rng(2).standard_normal((40, 3)) * [1, 2, 5]
    X[::3, 1] = np.nan
    variance = np.nanvar(X, axis=0)
    np.testing.assert_allclose(variance_shares(X), variance / variance.sum(), rtol=1e-12)
    assert variance_shares(np.ones((5, 2))).tolist() == [0, 0]
    assert dominant_columns(np.ones((5, 2))) is None
    assert dominant_columns(np.arange(6.0)[:, None]) is None


def test_dominated_tables():
    wine, cancer = load_wine(), load_breast_cancer()
    found = dominant_columns(wine.data)
    assert [wine.feature_names[j] for j in found.columns] == ["proline"]
    assert found.shares[0] == pytest.approx(np.var(wine.data[:, 12]) / wine.data.var(axis=0).sum(), rel=1e-9)
    assert found.n_columns == 13
    found = dominant_columns(cancer.data)
    assert [cancer.feature_names[j] for j in found.columns] == ["worst area", "mean area"]
    assert found.effective < 2
    income_and_age = np.random.default_rng(3).standard_normal((100, 2)) * [20_000, 15]
    assert dominant_columns(income_and_age).columns.tolist() == [0]


@pytest.mark.parametrize(
    "X",
    [
        load_iris().data,
        load_digits().data,
        make_swiss_roll(300, random_state=0)[0],
        (load_wine().data - load_wine().data.mean(axis=0)) / load_wine().data.std(axis=0),
        np.random.default_rng(4).standard_normal((80, 2)) * [1, 3],
        np.random.default_rng(5).standard_normal((80, 40)) * np.geomspace(1, 0.1, 40),
        np.random.default_rng(6).poisson(np.geomspace(20, 0.01, 300), (200, 300)),
    ],
    ids=["iris", "digits", "roll", "standardised", "two", "decaying", "counts"],
)
def test_columns_of_similar_scale(X):
    assert dominant_columns(X) is None
