"""New cells on the map of a reference: laws, labels, files, genes by name."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from scipy.stats import spearmanr

from eigenscape import KernelPCA, sc

anndata = pytest.importorskip("anndata", reason="eigenscape.sc needs the extra anndata")

MAPS = ["diffmap", "laplacian_eigenmaps", "isomap", "kernel_pca"]


def with_map(reference, basis, **options):
    sc.pp.neighbors(reference, n_neighbors=12, **options)
    getattr(sc.tl, basis)(reference, n_comps=3)
    return reference


@pytest.mark.parametrize("method", ["umap", "gauss"])
@pytest.mark.parametrize("basis", MAPS)
def test_reference_cells_get_their_own_coordinates(split, basis, method):
    reference = with_map(split[0], basis, method=method)
    some = reference[::-3].copy()
    expected = some.obsm.pop(f"X_{basis}")
    sc.tl.place(some, reference, basis=basis)
    assert_allclose(some.obsm[f"X_{basis}"], expected, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("basis", MAPS)
def test_cells_do_not_affect_each_other(split, basis):
    reference, new = with_map(split[0], basis), split[1]
    alone = new[17:18].copy()
    sc.tl.place(new, reference, basis=basis)
    sc.tl.place(alone, reference, basis=basis)
    assert_allclose(alone.obsm[f"X_{basis}"], new.obsm[f"X_{basis}"][17:18], rtol=1e-9, atol=1e-12)


def test_new_cells_lie_beside_their_neighbours(adata, split):
    reference, new = with_map(split[0], "diffmap"), split[1]
    sc.tl.dpt(reference, n_dcs=3, root=0)
    truth = new.obs["type"].copy()
    del new.obs["type"]
    sc.tl.place(new, reference, obs="type")
    assert (new.obs["type"] == truth).mean() > 0.9
    assert list(new.obs["type"].cat.categories) == list(reference.obs["type"].cat.categories)
    sure = new.obs["type_confidence"] > 0.99
    assert (new.obs["type"] == truth)[sure].all()
    assert new.obs["type_confidence"].between(0, 1).all()
    assert spearmanr(new.obs["dpt_pseudotime"], new.obs["t"])[0] > 0.97


def test_repeated_genes_of_the_reference_are_an_error(split):
    reference = with_map(split[0], "diffmap", use_rep="X")
    reference.var_names = [reference.var_names[0], *reference.var_names[:-1]]
    with pytest.raises(ValueError, match=r"adata_ref\.var_names are not unique; call var_names_make_unique"):
        sc.tl.place(split[1], reference)


def test_kernel_pca_is_that_of_the_estimator(split):
    reference, new = split
    sc.tl.kernel_pca(reference, 3, gamma=0.2)
    sc.tl.place(new, reference, basis="kernel_pca")
    model = KernelPCA(3, gamma=0.2).fit(np.asarray(reference.X))
    assert_allclose(new.obsm["X_kernel_pca"], model.transform(np.asarray(new.X)), atol=1e-8)
    assert_allclose(sc.tl.loss(new, reference, basis="kernel_pca"), model.loss(np.asarray(new.X)), rtol=1e-8)
    assert_allclose(sc.tl.loss(reference, basis="kernel_pca"), model.loss(), rtol=1e-6)


def test_cells_far_from_the_reference_are_novel(split):
    reference, new = with_map(split[0], "diffmap"), split[1]
    new.X[:30] += 3
    sc.tl.place(new, reference)
    assert (new.obs["place_novelty"][:30] == 1).all()
    assert (new.obs["place_distance"][:30] > 3).all()
    assert 0.3 < new.obs["place_novelty"][30:].mean() < 0.8


def test_loss_pairs_held_out_cells(split):
    """The literal double sum of Bengio sec. 4 over the rows of the kernel."""
    from eigenscape.sc._model import StoredMap
    from eigenscape.sc._place import Reference

    reference, new = with_map(split[0], "diffmap"), split[1]
    stored = StoredMap.of(reference, "diffmap")
    known = Reference.of(stored)
    model, Y = stored.embedding(known.rows, known.affinity), np.asarray(new.X)
    K = model.kernel.to(Y)(Y)
    F = model.functions(Y)
    E = np.square(K.toarray() - F * (model.eigenvalues / 240) @ F.T)
    literal = (E.sum() - np.trace(E)) / (60 * 59)
    assert_allclose(sc.tl.loss(new, reference), literal, rtol=1e-8)


def test_training_loss_is_the_discarded_spectrum(split):
    reference = with_map(split[0], "diffmap")
    q = reference.obsp["connectivities"].toarray().astype(float)
    q = q / np.outer(q.sum(axis=1), q.sum(axis=1))
    T = q / np.sqrt(np.outer(q.sum(axis=1), q.sum(axis=1)))
    values = np.sort(np.linalg.eigvalsh(T))[::-1]
    assert_allclose(sc.tl.loss(reference), np.square(values[3:]).sum() / 240**2, rtol=1e-6)


CHILD = """
import sys, anndata
from eigenscape import sc
reference, new = map(anndata.read_h5ad, sys.argv[1:3])
for basis in sys.argv[3:]:
    sc.tl.place(new, reference, basis=basis, obs="type")
new.write_h5ad(sys.argv[2])
"""


@pytest.mark.process
@pytest.mark.usefixtures("forked_python")
def test_a_reference_from_a_file_places_cells_in_another_process(split, tmp_path):
    reference, new = with_map(split[0], "diffmap"), split[1]
    for basis in MAPS[1:]:
        getattr(sc.tl, basis)(reference, n_comps=3)
    sc.tl.dpt(reference, n_dcs=3, root=5)
    files = [tmp_path / "reference.h5ad", tmp_path / "new.h5ad"]
    for cells, file in zip((reference, new), files, strict=True):
        cells.write_h5ad(file)
    command = [sys.executable, "-W", "ignore", "-c", CHILD, *files, *MAPS]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    placed = anndata.read_h5ad(files[1])
    for basis in MAPS:
        sc.tl.place(new, reference, basis=basis, obs="type")
        assert np.array_equal(placed.obsm[f"X_{basis}"], new.obsm[f"X_{basis}"])
    assert placed.obs.equals(new.obs)
    assert "dpt_pseudotime" in placed.obs


def test_genes_are_matched_by_name(split):
    reference, new = with_map(split[0], "diffmap"), split[1]
    shuffled = new[:, ::-1].copy()
    sc.tl.place(new, reference)
    sc.tl.place(shuffled, reference)
    assert np.array_equal(shuffled.obsm["X_diffmap"], new.obsm["X_diffmap"])


def pca_reference(cells, n_comps=4):
    """The fields that scanpy.pp.pca writes."""
    X = cells.X.toarray() if sparse.issparse(cells.X) else np.asarray(cells.X)
    mean = X.mean(axis=0)
    axes = np.linalg.svd(X - mean, full_matrices=False)[2][:n_comps].T
    cells.varm["PCs"] = axes
    cells.obsm["X_pca"] = ((X - mean) @ axes).astype(np.float32)
    return cells


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_new_cells_are_projected_on_the_principal_axes(split, form):
    reference, new = split
    reference.X, new.X = form(reference.X), form(new.X)
    pca_reference(reference)
    sc.pp.neighbors(reference, n_neighbors=12, use_rep="X_pca")
    sc.tl.diffmap(reference, n_comps=4)
    same = reference[:20].copy()
    expected = same.obsm.pop("X_diffmap")
    sc.tl.place(same, reference)
    assert_allclose(same.obsm["X_diffmap"], expected, atol=1e-9)
    new.obsm["X_pca"] = np.zeros((60, 4), dtype=np.float32)  # of another PCA: not used
    shuffled = sc.tl.place(new[:, ::-1].copy(), reference, copy=True)
    sc.tl.place(new, reference)
    assert_allclose(shuffled.obsm["X_diffmap"], new.obsm["X_diffmap"], atol=1e-9)
    assert abs(spearmanr(new.obsm["X_diffmap"][:, 1], new.obs["t"])[0]) > 0.9
    assert new.obs["place_residual"].between(0, 1).all()
    outside = new.copy()
    axes = reference.varm["PCs"]
    away = np.linalg.svd(np.eye(12) - axes @ axes.T)[0][:, 0]
    outside.X = np.asarray(new.X.toarray() if sparse.issparse(new.X) else new.X) + 5 * away
    sc.tl.place(outside, reference)
    assert_allclose(outside.obsm["X_diffmap"], new.obsm["X_diffmap"], atol=1e-5)  # the same projections
    assert (outside.obs["place_residual"] == 1).all()


def test_missing_labels_are_not_counted(split):
    reference, new = with_map(split[0], "diffmap"), split[1]
    reference.obs["half"] = reference.obs["type"].where(np.arange(240) % 2 == 0)
    sc.tl.place(new, reference, obs=["half", "type"])
    assert (new.obs["half"] == new.obs["type"]).mean() > 0.9
    assert new.obs["half"].notna().all()
    lonely = reference.obs["type"].where(np.arange(240) < 1)
    reference.obs["lonely"] = lonely
    sc.tl.place(new, reference, obs="lonely")
    assert new.obs["lonely"].isna().any()
    assert (new.obs["lonely_confidence"][new.obs["lonely"].isna()] == 0).all()


def test_text_labels_and_numbers(split):
    reference, new = with_map(split[0], "diffmap"), split[1]
    reference.obs["text"] = reference.obs["type"].astype(str).astype(object)
    sc.tl.place(new, reference, obs="text")
    assert set(new.obs["text"]) <= {"early", "middle", "late"}
    with pytest.raises(ValueError, match=r"'t'\] is not categorical"):
        sc.tl.place(new, reference, obs="t")


def test_duplicate_cells_have_one_place(split):
    reference, new = split
    reference.X[1:4] = reference.X[0]
    reference = with_map(reference, "diffmap")
    new.X[:2] = reference.X[0]
    sc.tl.place(new, reference)
    assert np.isfinite(new.obsm["X_diffmap"]).all()
    assert np.array_equal(new.obsm["X_diffmap"][0], new.obsm["X_diffmap"][1])
    with pytest.raises(ValueError, match=r"3 cell\(s\) have the same representation"):
        sc.tl.isomap(reference)
