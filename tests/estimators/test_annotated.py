"""Estimators fit the X of AnnData objects, and match genes by name."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse

from eigenscape import PCA, KernelPCA, LaplacianEigenmaps, ProbabilisticPCA

anndata = pytest.importorskip("anndata", reason="needs the extra anndata")

X = np.random.default_rng(0).standard_normal((80, 6))
GENES = [f"g{j}" for j in range(6)]


def cells(values, genes=GENES):
    return anndata.AnnData(values, var=pd.DataFrame(index=genes))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix])
def test_the_matrix_is_fitted(form):
    model = LaplacianEigenmaps().fit(cells(form(X)))
    expected = LaplacianEigenmaps().fit(form(X))
    assert_allclose(model.embedding_, expected.embedding_, atol=1e-10)
    assert list(model.feature_names_in_) == GENES
    assert_allclose(
        model.transform(cells(form(X[:5] + 0.1))), expected.transform(form(X[:5] + 0.1)), atol=1e-9
    )


@pytest.mark.parametrize("estimator", [LaplacianEigenmaps(), KernelPCA(), PCA(2), ProbabilisticPCA(2)])
def test_genes_are_matched_by_name(estimator):
    model = estimator.fit(cells(X))
    expected = model.transform(cells(X[:9]))
    assert_allclose(model.transform(cells(X[:9, ::-1], GENES[::-1])), expected, atol=1e-12)
    more = np.column_stack([np.zeros(9), X[:9]])
    assert_allclose(model.transform(cells(more, ["other", *GENES])), expected, atol=1e-12)
    with pytest.raises(ValueError, match=r"X lacks 2 of the 6 genes of \w+ in its var_names: 'g0', 'g1'"):
        model.transform(cells(X[:9, 2:], GENES[2:]))


def test_tables_keep_their_rules():
    model = PCA(2).fit(cells(X))
    table = pd.DataFrame(X, columns=GENES)
    assert_allclose(model.transform(table), model.transform(cells(X)))
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(table[GENES[::-1]])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.transform(X)


def test_repeated_names_are_refused():
    with pytest.warns(UserWarning, match="Variable names are not unique"):
        repeated = cells(X, ["g0", "g0", *GENES[2:]])
    with pytest.raises(ValueError, match=r"not unique \(1 repeated, such as 'g0'\); call var_names"):
        LaplacianEigenmaps().fit(repeated)


def test_what_is_not_numeric_is_refused_at_once():
    empty = anndata.AnnData(obs=pd.DataFrame(index=[str(i) for i in range(80)]), obsm={"X_pca": X})
    with pytest.raises(ValueError, match=r"which is None; pass an array of numbers.*adata.obsm\['X_pca'\]"):
        LaplacianEigenmaps().fit(empty)


def test_dask_matrices_are_refused_with_the_remedy():
    dask = pytest.importorskip("dask.array", reason="needs dask")
    with pytest.raises(TypeError, match=r"is a dask array; pass adata.X itself"):
        LaplacianEigenmaps().fit(cells(dask.from_array(X, chunks=(40, 6))))


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_backed_matrices_are_read(tmp_path, form):
    cells(form(X)).write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    model = LaplacianEigenmaps().fit(backed)
    assert_allclose(model.embedding_, LaplacianEigenmaps().fit(form(X)).embedding_, atol=1e-10)
    backed.file.close()


def test_numbers_that_are_not_finite_are_named():
    wrong = X.copy()
    wrong[3, 2] = np.nan
    with pytest.raises(ValueError, match="row 3, column 'g2'"):
        PCA(2).fit(cells(wrong))
