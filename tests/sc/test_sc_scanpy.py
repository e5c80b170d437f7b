"""Agreement with scanpy in the same run, where scanpy is installed (it is not in the dev group)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import spearmanr
from sklearn.metrics import adjusted_rand_score

from eigenscape import sc

anndata = pytest.importorskip("anndata", reason="eigenscape.sc needs the extra anndata")
pytestmark = pytest.mark.filterwarnings("ignore")  # scanpy's own


@pytest.fixture
def scanpy():
    return pytest.importorskip("scanpy", reason="scanpy is not installed (pip install scanpy)")


@pytest.mark.parametrize("method", ["umap", "gauss"])
@pytest.mark.parametrize("key", [None, "mine"])
def test_neighbours_are_written_as_by_scanpy(scanpy, adata, method, key):
    theirs = scanpy.pp.neighbors(adata, n_neighbors=12, method=method, key_added=key, use_rep="X", copy=True)
    ours = sc.pp.neighbors(adata, n_neighbors=12, method=method, key_added=key, use_rep="X", copy=True)
    name = key or "neighbors"
    settings = dict(ours.uns[name])
    assert settings.pop("recall") == 1
    assert settings == theirs.uns[name]
    for field in ours.obsp:
        mine, other = ours.obsp[field], theirs.obsp[field]
        assert type(mine) is type(other)
        assert mine.dtype == other.dtype
        assert mine.nnz == other.nnz
        assert abs(mine - other).max() < 2e-5 * other.max()


@pytest.mark.parametrize("method", ["umap", "gauss"])
def test_diffusion_maps_agree(scanpy, adata, method):
    scanpy.pp.neighbors(adata, n_neighbors=12, method=method, use_rep="X")
    theirs = scanpy.tl.diffmap(adata, n_comps=8, copy=True)
    sc.tl.diffmap(adata, n_comps=8)
    assert_allclose(adata.uns["diffmap_evals"], theirs.uns["diffmap_evals"], atol=1e-6)
    cosines = np.linalg.svd(adata.obsm["X_diffmap"].T @ theirs.obsm["X_diffmap"], compute_uv=False)
    assert cosines.min() > 1 - 1e-6


def test_pseudotimes_agree(scanpy, adata):
    scanpy.pp.neighbors(adata, n_neighbors=30, use_rep="X")
    scanpy.tl.diffmap(adata)
    adata.uns["iroot"] = 4
    theirs = scanpy.tl.dpt(adata, copy=True)
    sc.tl.dpt(adata)
    assert_allclose(adata.obs["dpt_pseudotime"], theirs.obs["dpt_pseudotime"], atol=1e-5)


def test_slow_modes_are_not_taken_for_stationary_ones(scanpy, adata):
    """scanpy gives eigenvalues above 0.9994 the weight 1: here the one along the curve."""
    scanpy.pp.neighbors(adata, n_neighbors=12, use_rep="X")
    scanpy.tl.diffmap(adata)
    adata.uns["iroot"] = 4
    theirs = scanpy.tl.dpt(adata, copy=True)
    sc.tl.dpt(adata)
    assert adata.uns["diffmap_evals"][1] > 0.9994
    way = np.abs(adata.obs["t"] - adata.obs["t"].iloc[4])
    assert spearmanr(adata.obs["dpt_pseudotime"], way)[0] > 0.99
    assert spearmanr(theirs.obs["dpt_pseudotime"], way)[0] < 0.5


def test_branches_agree(scanpy):
    from sc.test_sc_methods import star

    X, arms, length = star()
    cells = anndata.AnnData(X.astype(np.float32))
    scanpy.pp.neighbors(cells, n_neighbors=15, use_rep="X")
    scanpy.tl.diffmap(cells)
    cells.uns["iroot"] = 119
    theirs = scanpy.tl.dpt(cells, n_branchings=1, copy=True)
    sc.tl.dpt(cells, n_branchings=1)
    outer = length > 1
    ours = adjusted_rand_score(cells.obs["dpt_groups"][outer], arms[outer])
    assert ours > 0.8
    assert ours > adjusted_rand_score(theirs.obs["dpt_groups"][outer], arms[outer]) - 0.05


def test_cells_are_placed_on_scanpys_own_map(scanpy, split):
    reference, new = split
    scanpy.pp.pca(reference, n_comps=5)
    scanpy.pp.neighbors(reference, n_neighbors=12, use_rep="X_pca")
    scanpy.tl.diffmap(reference, n_comps=6)
    same = reference[:30].copy()
    expected = same.obsm.pop("X_diffmap")
    sc.tl.place(same, reference)
    assert_allclose(same.obsm["X_diffmap"], expected, atol=1e-5)
    sc.tl.place(new, reference, obs="type")
    assert abs(spearmanr(new.obsm["X_diffmap"][:, 1], new.obs["t"])[0]) > 0.9


def test_scanpy_uses_our_graph(scanpy, adata):
    sc.pp.neighbors(adata, n_neighbors=12)
    scanpy.tl.diffmap(adata)
    scanpy.tl.umap(adata, maxiter=5)
    assert adata.obsm["X_umap"].shape == (300, 2)
