"""AnnData objects of all kinds: one-line errors with the remedy, or right answers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from eigenscape import sc

anndata = pytest.importorskip("anndata", reason="eigenscape.sc needs the extra anndata")

TOOLS = {
    "diffmap": {},
    "laplacian_eigenmaps": {},
    "isomap": {},
    "spectral_clustering": {"n_clusters": 3},
    "dpt": {"root": 0},
}


def fields(cells):
    """Everything that a function could write."""
    return {
        "obs": list(cells.obs.columns),
        "obsm": sorted(cells.obsm),
        "obsp": sorted(cells.obsp),
        "uns": sorted(cells.uns),
    }


def refused(call, *words):
    """The call raises an error of one line that contains the words."""
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message


@pytest.mark.parametrize("tool", TOOLS)
def test_no_neighbours(adata, tool):
    before = fields(adata)
    refused(
        lambda: getattr(sc.tl, tool)(adata, **TOOLS[tool]), "'neighbors'", "run eigenscape.sc.pp.neighbors"
    )
    assert fields(adata) == before


@pytest.mark.parametrize("tool", TOOLS)
def test_wrong_key(adata, tool):
    sc.pp.neighbors(adata, key_added="mine")
    call = getattr(sc.tl, tool)
    refused(lambda: call(adata, neighbors_key="other", **TOOLS[tool]), "'other'", "'mine'")
    call(adata, neighbors_key="mine", **TOOLS[tool])
    del adata.obsp["mine_connectivities"], adata.obsp["mine_distances"]
    refused(lambda: call(adata, neighbors_key="mine", **TOOLS[tool]), "obsp has no 'mine_", "run")


@pytest.mark.parametrize("tool", [*TOOLS, "kernel_pca"])
def test_a_copy_leaves_the_input_as_it_was(adata, tool):
    sc.pp.neighbors(adata)
    before = fields(adata)
    result = getattr(sc.tl, tool)(adata, copy=True, **TOOLS.get(tool, {}))
    assert fields(adata) == before
    assert fields(result) != before
    assert getattr(sc.tl, tool)(adata, **TOOLS.get(tool, {})) is None
    assert fields(adata) == fields(result)


def test_a_copy_of_neighbours_leaves_the_input_as_it_was(adata):
    before = fields(adata)
    assert "neighbors" in sc.pp.neighbors(adata, copy=True).uns
    assert fields(adata) == before


@pytest.mark.parametrize("tool", [*TOOLS, "kernel_pca"])
def test_nothing_is_written_to_the_parent_of_a_view(adata, tool):
    sc.pp.neighbors(adata, n_neighbors=40)
    before = fields(adata)
    view = adata[:150]
    sc.pp.neighbors(view)
    getattr(sc.tl, tool)(view, **TOOLS.get(tool, {}))
    assert fields(adata) == before
    assert adata.obsp["distances"].shape == (300, 300)
    assert not view.is_view


def test_a_view_with_the_graph_of_its_parent(adata):
    sc.pp.neighbors(adata, n_neighbors=10)
    sc.tl.diffmap(adata)
    part = adata[::7]
    refused(lambda: sc.tl.isomap(part), "neighbours in the graph", "run eigenscape.sc.pp.neighbors")
    refused(lambda: sc.tl.place(adata.copy(), part), "run eigenscape.sc.pp.neighbors")
    sc.pp.neighbors(part, n_neighbors=10)
    refused(lambda: sc.tl.place(adata.copy(), part), "run tl.diffmap again")


def test_isolated_cells_are_named(adata):
    sc.pp.neighbors(adata, n_neighbors=3)
    part = adata[[0, 100, 200, 299]].copy()
    refused(lambda: sc.tl.diffmap(part, 2), "4 cell(s) have no neighbours", "'cell0'")


@pytest.mark.parametrize("call", [sc.pp.neighbors, sc.tl.diffmap, sc.tl.kernel_pca, sc.tl.dpt])
def test_no_cells(adata, call):
    refused(lambda: call(adata[:0].copy()), "has no cells")


@pytest.mark.parametrize("call", [sc.pp.neighbors, sc.tl.diffmap, sc.tl.kernel_pca, sc.tl.loss])
def test_no_anndata(call):
    refused(lambda: call(np.zeros((5, 2))), "must be an AnnData object, got ndarray")


def test_too_few_cells(adata):
    refused(lambda: sc.pp.neighbors(adata[:10].copy()), "n_neighbors=15", "got 10", "lower n_neighbors")
    small = adata[:15].copy()
    sc.pp.neighbors(small)
    refused(lambda: sc.tl.diffmap(small, 16), "n_comps=16", "got 15", "lower n_comps")
    refused(lambda: sc.tl.laplacian_eigenmaps(small, 15), "n_comps=15", "at least 16 cells")


def test_root_cells(adata):
    sc.pp.neighbors(adata)
    refused(lambda: sc.tl.dpt(adata), "no root cell", "adata.uns['iroot']")
    refused(lambda: sc.tl.dpt(adata, root="nobody"), "'nobody'", "0 cells")
    refused(lambda: sc.tl.dpt(adata, root=300), "root=300", "300 cells")
    adata.uns["iroot"] = np.int64(3)
    sc.tl.dpt(adata)
    assert adata.obs["dpt_pseudotime"].iloc[3] == 0
    sc.tl.dpt(adata, root="cell7")
    assert adata.uns["iroot"] == 7


def test_representations(adata):
    refused(lambda: sc.pp.neighbors(adata, use_rep="X_pca"), "obsm has no 'X_pca'", "'X'")
    wide = anndata.AnnData(np.random.default_rng(0).standard_normal((40, 60)))
    refused(lambda: sc.pp.neighbors(wide), "scanpy.pp.pca", "use_rep among 'X'")
    sc.pp.neighbors(wide, n_pcs=0)
    wide.obsm["X_pca"] = np.asarray(wide.X[:, :5])
    sc.pp.neighbors(wide, n_pcs=3, key_added="pcs")
    assert wide.uns["pcs"]["params"]["n_pcs"] == 3
    refused(lambda: sc.pp.neighbors(wide, n_pcs=9), "n_pcs=9", "5 columns")
    wide.obsm["text"] = np.full((40, 2), "a")
    refused(lambda: sc.pp.neighbors(wide, use_rep="text"), "not numeric")
    wide.X = None
    refused(lambda: sc.pp.neighbors(wide, use_rep="X"), "adata.X is None", "obsm")


def test_tables_in_obsm(adata):
    import pandas as pd

    adata.obsm["table"] = pd.DataFrame(
        np.asarray(adata.X[:, :4]), index=adata.obs_names, columns=list("abcd")
    )
    adata.obsm["array"] = np.asarray(adata.X[:, :4])
    sc.pp.neighbors(adata, use_rep="table", key_added="table")
    sc.pp.neighbors(adata, use_rep="array", key_added="array")
    assert (adata.obsp["table_distances"] != adata.obsp["array_distances"]).nnz == 0


@pytest.mark.parametrize("method", ["umap", "gauss"])
def test_equal_cells(method):
    cells = anndata.AnnData(np.ones((50, 3)))
    sc.pp.neighbors(cells, method=method)
    assert (cells.obsp["connectivities"].data > 0).all()
    assert cells.obsp["connectivities"].sum(axis=1).min() > 0


def test_seeds(adata):
    sc.pp.neighbors(adata)
    for seed in (None, 3, np.random.RandomState(0)):
        sc.tl.laplacian_eigenmaps(adata, random_state=seed)
    refused(lambda: sc.tl.diffmap(adata, random_state="a"), "'a'")


def test_numbers_that_are_not_finite(adata):
    adata.X[5, 2] = np.nan
    refused(lambda: sc.pp.neighbors(adata), "NaN", "row 5")


def test_missing_and_repeated_genes(split):
    reference, new = split
    sc.pp.neighbors(reference)
    sc.tl.diffmap(reference)
    refused(lambda: sc.tl.place(new[:, 2:].copy(), reference), "2 of the 12 genes", "'gene0', 'gene1'")
    new.var_names = ["gene0"] * 2 + list(new.var_names[2:])
    refused(lambda: sc.tl.place(new, reference), "not unique", "'gene0'", "var_names_make_unique")


def test_references_without_what_is_needed(split):
    reference, new = split
    refused(lambda: sc.tl.place(new, reference), "no map 'diffmap'", "eigenscape.sc.tl.diffmap")
    sc.pp.neighbors(reference)
    sc.tl.diffmap(reference)
    refused(lambda: sc.tl.place(new, reference, obs="celltype"), "no column 'celltype'", "'type'")
    reference.obs["none"] = reference.obs["type"].where(np.zeros(240, dtype=bool))
    refused(lambda: sc.tl.place(new, reference, obs="none"), "all are missing")
    reference.obsp["connectivities"] = reference.obsp["connectivities"].sqrt()
    refused(lambda: sc.tl.place(new, reference), "the connectivities differ from method='umap'")
    refused(lambda: sc.tl.loss(new[:1].copy(), reference), "at least 2, got 1")


def test_a_pca_of_other_numbers_is_refused(split):
    reference, new = split
    reference.varm["PCs"] = np.eye(12)[:, :4]
    reference.obsm["X_pca"] = np.asarray(reference.X[:, 4:8])
    sc.pp.neighbors(reference, use_rep="X_pca")
    sc.tl.diffmap(reference)
    refused(lambda: sc.tl.place(new, reference), "not the projection of adata_ref.X", "keep the X of the PCA")
    del reference.varm["PCs"]
    refused(lambda: sc.tl.place(new, reference), "adata.obsm has no 'X_pca'", "same model")
    new.obsm["X_pca"] = np.asarray(new.X[:, 4:7])
    refused(lambda: sc.tl.place(new, reference), "3 columns", "4")


@pytest.mark.parametrize("form", [sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix])
def test_sparse_cells(adata, form):
    dense = sc.pp.neighbors(adata, copy=True)
    adata.X = form(adata.X)
    sc.pp.neighbors(adata)
    difference = abs(adata.obsp["connectivities"] - dense.obsp["connectivities"])
    assert difference.max() < 1e-5


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_backed_cells(split, tmp_path, form):
    reference, new = split
    reference.X = form(reference.X)
    new.X = form(new.X)
    expected = sc.pp.neighbors(reference, copy=True)
    sc.tl.diffmap(expected)
    reference.write_h5ad(tmp_path / "cells.h5ad")
    backed = anndata.read_h5ad(tmp_path / "cells.h5ad", backed="r")
    sc.pp.neighbors(backed)
    sc.tl.diffmap(backed)
    assert np.array_equal(backed.obsm["X_diffmap"], expected.obsm["X_diffmap"])
    sc.tl.place(new, backed)
    other = sc.tl.place(new, expected, copy=True)
    assert np.array_equal(new.obsm["X_diffmap"], other.obsm["X_diffmap"])
    refused(lambda: sc.tl.diffmap(backed, copy=True), "backed by a file", "to_memory()")
    refused(lambda: sc.tl.diffmap(backed[:100]), "view of a backed object", "to_memory()")
    backed.file.close()


def test_dask_cells(adata):
    dask = pytest.importorskip("dask.array", reason="needs dask")
    expected = sc.pp.neighbors(adata, copy=True)
    adata.X = dask.from_array(adata.X, chunks=(100, 12))
    sc.pp.neighbors(adata)
    sc.tl.diffmap(adata)
    assert (adata.obsp["distances"] != expected.obsp["distances"]).nnz == 0


def test_lazily_read_cells(split, tmp_path):
    pytest.importorskip("xarray", reason="anndata.experimental.read_lazy needs xarray")
    pytest.importorskip("dask", reason="anndata.experimental.read_lazy needs dask")
    reference, new = split
    sc.pp.neighbors(reference)
    expected = sc.tl.diffmap(reference, copy=True)
    reference.write_h5ad(tmp_path / "cells.h5ad")
    lazy = anndata.experimental.read_lazy(tmp_path / "cells.h5ad")
    sc.tl.diffmap(lazy)
    assert np.array_equal(lazy.obsm["X_diffmap"], expected.obsm["X_diffmap"])
    sc.tl.place(new, lazy, obs="type")
    other = sc.tl.place(new, expected, obs="type", copy=True)
    assert np.array_equal(new.obsm["X_diffmap"], other.obsm["X_diffmap"])
    assert (new.obs["type"] == other.obs["type"]).all()


@pytest.mark.process
def test_importing_the_package_imports_no_anndata():
    import subprocess
    import sys

    code = "import sys, eigenscape; eigenscape.sc; assert not {'anndata', 'numpy'} & set(sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
