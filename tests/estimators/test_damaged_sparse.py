"""Sparse matrices whose indices are out of range are refused before compiled code reads them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import eigenscape as es
from eigenscape.quality import trustworthiness

ROWS = sparse.random_array((60, 20), density=0.4, rng=np.random.default_rng(0), format="csr")


def damaged(kind: str, form: str, X: sparse.sparray = ROWS) -> sparse.sparray:
    X = X.asformat(form, copy=True)
    if form == "coo":
        X.coords[1][7] = -3 if kind == "negative" else 10**6
    elif form == "lil":
        X.rows[3][-1] = 10**6
    elif kind == "pointer":
        X.indptr[4] = 10**7
    elif kind == "last pointer":
        X.indptr[-1] = 0
    else:
        X.indices[5] = -3 if kind == "negative" else 10**6
    return X


DAMAGED = [
    damaged(kind, form)
    for kind, form in [
        ("index", "csr"),
        ("negative", "csr"),
        ("pointer", "csr"),
        ("index", "csc"),
        ("pointer", "csc"),
        ("last pointer", "csr"),
        ("last pointer", "csc"),
        ("index", "coo"),
        ("negative", "coo"),
        ("index", "lil"),
    ]
]
CLASSES = [
    es.PCA,
    es.KernelPCA,
    es.ClassicalMDS,
    es.LandmarkMDS,
    es.Isomap,
    es.LaplacianEigenmaps,
    es.DiffusionMap,
    es.LocallyLinearEmbedding,
    es.SpectralClustering,
    es.GreedySpectralEmbedding,
    es.NeighborEmbedding,
    es.PotentialMap,
]


@pytest.mark.parametrize("cls", CLASSES)
def test_estimators_refuse_indices_out_of_range(cls):
    fitted = cls().fit(ROWS)
    for X in DAMAGED:
        with pytest.raises(ValueError, match=r"^X is a damaged sparse matrix"):
            cls().fit(X)
        with pytest.raises(ValueError, match=r"^X is a damaged sparse matrix"):
            fitted.transform(X)


def test_precomputed_matrices_and_graphs_are_checked():
    W = sparse.csr_array(abs(ROWS @ ROWS.T))
    W.setdiag(0)
    bad = damaged("index", "csr", W)
    with pytest.raises(ValueError, match=r"^X is a damaged sparse matrix"):
        es.LaplacianEigenmaps(affinity="precomputed").fit(bad)
    with pytest.raises(ValueError, match=r"^X is a damaged sparse matrix"):
        es.Isomap(metric="precomputed", n_neighbors=3).fit(bad)
    with pytest.raises(ValueError, match=r"^graph is a damaged sparse matrix"):
        es.graph_embedding(bad)
    with pytest.raises(ValueError, match=r"^data is a damaged sparse matrix"):
        trustworthiness(DAMAGED[0], np.zeros((60, 2)))


def test_anndata_is_checked():
    anndata = pytest.importorskip("anndata", reason="needs the extra anndata")
    cells = anndata.AnnData(sparse.csr_matrix(ROWS, copy=True))
    es.sc.pp.neighbors(cells, n_neighbors=5, use_rep="X")
    cells.obsp["connectivities"].indices[3] = 10**8
    with pytest.raises(ValueError, match=r"^adata.obsp\['connectivities'\] is a damaged sparse matrix"):
        es.sc.tl.diffmap(cells, n_comps=3)
    cells.X.indices[5] = -3
    with pytest.raises(ValueError, match=r"^adata.X is a damaged sparse matrix"):
        es.sc.pp.neighbors(cells, n_neighbors=5, use_rep="X")
    with pytest.raises(ValueError, match=r"^X is a damaged sparse matrix"):
        es.PCA().fit(cells)
