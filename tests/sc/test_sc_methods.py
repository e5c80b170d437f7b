"""The mathematics of single-cell functions against literal transcriptions of the papers."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq
from scipy.stats import kendalltau, spearmanr

from eigenscape import sc
from eigenscape.exceptions import DisconnectedGraphWarning
from eigenscape.methods.pseudotime import Branch, PseudotimeDistances, branches, kendall_cut

anndata = pytest.importorskip("anndata", reason="eigenscape.sc needs the extra anndata")


def literal_lists(X, k):
    """The distances of each point to all others, and its k - 1 nearest others."""
    D = np.sqrt(np.square(X[:, None] - X).sum(axis=2))
    return D, [[j for j in np.argsort(D[i], kind="stable") if j != i][: k - 1] for i in range(len(X))]


def literal_fuzzy(X, k):
    """McInnes et al. 2018, algorithms 2 and 3, and the union p + q - p q."""
    D, lists = literal_lists(X, k)
    P = np.zeros_like(D)
    for i, near in enumerate(lists):
        d = D[i, near]
        rho = d[d > 0].min()

        def excess(sigma, d=d, rho=rho):
            return np.exp(-np.maximum(0, d - rho) / sigma).sum() - np.log2(k)

        P[i, near] = np.exp(-np.maximum(0, d - rho) / brentq(excess, 1e-6, 1e6, xtol=1e-13))
    return P + P.T - P * P.T


def literal_gauss(X, k):
    """Haghverdi et al. 2016, with the median of squared distances as width."""
    D, lists = literal_lists(X, k)
    W, width = np.zeros_like(D), [np.median(D[i, near] ** 2) for i, near in enumerate(lists)]
    for i, near in enumerate(lists):
        for j in near:
            total = width[i] + width[j]
            scale = np.sqrt(2 * np.sqrt(width[i] * width[j]) / total)
            W[i, j] = W[j, i] = scale * np.exp(-(D[i, j] ** 2) / total)
    return W


def literal_transitions(W):
    """The density-normalised symmetric transition matrix."""
    q = W.sum(axis=1)
    W = W / np.outer(q, q)
    z = W.sum(axis=1)
    return W / np.sqrt(np.outer(z, z))


def literal_pseudotime(T, root):
    """Haghverdi et al. 2016: rows of the accumulated transition matrix, by the series of walks."""
    vectors = np.linalg.eigh(T)[1]
    T = T - np.outer(vectors[:, -1], vectors[:, -1])
    M, power = np.zeros_like(T), T.copy()
    while np.abs(power).max() > 1e-14:
        M += power
        power = power @ T
    return np.sqrt(np.square(M - M[root]).sum(axis=1))


@pytest.mark.parametrize("method", ["umap", "gauss"])
def test_weights_are_those_of_the_papers(adata, method):
    sc.pp.neighbors(adata, n_neighbors=10, method=method)
    literal = {"umap": literal_fuzzy, "gauss": literal_gauss}[method](np.asarray(adata.X), 10)
    D, lists = literal_lists(np.asarray(adata.X), 10)
    assert adata.obsp["distances"].nnz == 300 * 9
    for i in (0, 7, 150):
        assert_allclose(adata.obsp["distances"][[i]].toarray()[0, lists[i]], D[i, lists[i]], rtol=1e-10)
    assert_allclose(adata.obsp["connectivities"].toarray(), literal, atol=1e-6)


def test_diffusion_map_is_that_of_the_dense_matrix(adata):
    sc.pp.neighbors(adata, n_neighbors=10)
    sc.tl.diffmap(adata, n_comps=6)
    T = literal_transitions(adata.obsp["connectivities"].toarray().astype(float))
    values, vectors = np.linalg.eigh(T)
    assert_allclose(adata.uns["diffmap_evals"], values[::-1][:6], atol=1e-10)
    overlap = np.abs(vectors[:, ::-1][:, :6].T @ adata.obsm["X_diffmap"])
    assert_allclose(overlap, np.eye(6), atol=1e-7)


def test_laplacian_eigenmaps_solve_the_generalized_problem(adata):
    sc.pp.neighbors(adata, n_neighbors=10)
    sc.tl.laplacian_eigenmaps(adata, 3)
    W = adata.obsp["connectivities"].toarray().astype(float)
    S = np.diag(W.sum(axis=1))
    Z = adata.obsm["X_laplacian_eigenmaps"]
    assert_allclose((S - W) @ Z, S @ Z * (1 - adata.uns["laplacian_eigenmaps_evals"]), atol=1e-8)
    assert_allclose(Z.T @ S @ Z, 300 * np.eye(3), atol=1e-6)


def test_pseudotime_is_that_of_the_accumulated_transition_matrix(adata):
    adata = adata[::4].copy()
    sc.pp.neighbors(adata, n_neighbors=15)
    sc.tl.diffmap(adata, n_comps=75)
    sc.tl.dpt(adata, n_dcs=75, root="cell0")
    T = literal_transitions(adata.obsp["connectivities"].toarray().astype(float))
    literal = literal_pseudotime(T, 0)
    assert_allclose(adata.obs["dpt_pseudotime"], literal / literal.max(), rtol=1e-6, atol=1e-9)
    assert spearmanr(adata.obs["dpt_pseudotime"], adata.obs["t"])[0] > 0.98


def test_pseudotime_forms_no_square_matrix():
    coordinates = np.random.default_rng(0).standard_normal((20_000, 9))
    distances = PseudotimeDistances(coordinates, np.zeros(20_000, dtype=int))
    distances(0)
    tracemalloc.start()
    distances(5)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * coordinates.nbytes  # 14 MB, not 3.2 GB


def test_cut_is_that_of_all_cuts_compared():
    rng = np.random.default_rng(0)
    a = np.concatenate([np.linspace(2, 1, 40), np.linspace(1, 2, 30)]) + 0.05 * rng.standard_normal(70)
    b = np.concatenate([np.linspace(2, 1, 40), np.linspace(1, 0, 30)]) + 0.05 * rng.standard_normal(70)
    scores = {t: kendalltau(a[:t], b[:t])[0] - kendalltau(a[t:], b[t:])[0] for t in range(5, 66)}
    assert kendall_cut(a, b) == max(scores, key=scores.get)
    assert 35 <= kendall_cut(a, b) <= 45
    assert kendall_cut(a, b, n_jobs=1) == kendall_cut(a, b, n_jobs=2)


def star(n=120):
    """Three arms of different lengths from one point, and the arm of each point."""
    rng = np.random.default_rng(0)
    arms = np.repeat(np.arange(3), n)
    direction = np.array([[1, 0], [-0.5, 0.9], [-0.5, -0.9]])[arms]
    length = np.array([3.0, 2.5, 2.0])[arms] * np.tile(np.linspace(0.02, 1, n), 3)
    return length[:, None] * direction + 0.02 * rng.standard_normal((3 * n, 2)), arms, length


def test_branches_of_a_star():
    X, arms, length = star()
    cells = anndata.AnnData(X)
    sc.pp.neighbors(cells, n_neighbors=15)
    sc.tl.dpt(cells, root=119, n_branchings=1)  # the tip of the longest arm
    groups = cells.obs["dpt_groups"]
    assert list(groups.cat.categories) == ["0", "1", "2", "3"]
    outer = length > 1
    for arm in range(3):
        found = groups[(arms == arm) & outer]
        assert (found == found.mode()[0]).mean() > 0.9
    assert len({groups[(arms == arm) & outer].mode()[0] for arm in range(3)}) == 3


def test_groups_do_not_split_below_the_smallest_size():
    X, _, _ = star(20)
    distances = PseudotimeDistances(X, np.zeros(len(X), dtype=int))
    assert branches(distances, 3, 0, 60).max() == 0
    assert Branch.of(np.arange(60), distances, 0).score > 1


def test_components_have_their_own_eigenvectors():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((60, 3)), rng.standard_normal((40, 3)) + 50])
    cells = anndata.AnnData(X)
    sc.pp.neighbors(cells, n_neighbors=8)
    with pytest.warns(DisconnectedGraphWarning, match="2 connected components"):
        sc.tl.diffmap(cells, n_comps=6)
    T = literal_transitions(cells.obsp["connectivities"].toarray().astype(float))
    assert_allclose(cells.uns["diffmap_evals"], np.linalg.eigvalsh(T)[::-1][:6], atol=1e-10)
    V = cells.obsm["X_diffmap"]
    assert_allclose(T @ V, V * cells.uns["diffmap_evals"], atol=1e-9)
    sc.tl.dpt(cells, root=0)
    assert np.isinf(cells.obs["dpt_pseudotime"][60:]).all()
    assert cells.obs["dpt_pseudotime"][:60].max() == 1


def test_isomap_has_the_distances_of_a_curve(adata):
    sc.pp.neighbors(adata, n_neighbors=12)
    sc.tl.isomap(adata, 2)
    assert abs(spearmanr(adata.obsm["X_isomap"][:, 0], adata.obs["t"])[0]) > 0.98


def test_clusters_are_those_of_separate_groups():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.standard_normal((50, 3)) + 8 * j for j in range(3)])
    cells = anndata.AnnData(X)
    sc.pp.neighbors(cells, n_neighbors=12)
    with pytest.warns(DisconnectedGraphWarning, match="3 connected components"):
        sc.tl.spectral_clustering(cells, 3)
    labels = cells.obs["spectral_clustering"].to_numpy().reshape(3, 50)
    assert all(len(set(row)) == 1 for row in labels)
    assert len(set(labels[:, 0])) == 3


def test_results_do_not_depend_on_the_number_of_threads(adata):
    found = []
    for n_jobs in (1, 2):
        cells = sc.pp.neighbors(adata, n_jobs=n_jobs, copy=True)
        sc.tl.diffmap(cells, n_jobs=n_jobs)
        sc.tl.dpt(cells, root=0, n_branchings=2, n_jobs=n_jobs)
        found.append(cells)
    for field in ("distances", "connectivities"):
        assert (found[0].obsp[field] != found[1].obsp[field]).nnz == 0
    assert np.array_equal(found[0].obsm["X_diffmap"], found[1].obsm["X_diffmap"])
    assert found[0].obs.equals(found[1].obs)


def test_recall_of_an_approximate_search_is_recorded():
    rng = np.random.default_rng(0)
    cells = anndata.AnnData(rng.standard_normal((3000, 3)) @ rng.standard_normal((3, 40)))
    sc.pp.neighbors(cells, search="approximate", key_added="fast")
    sc.pp.neighbors(cells, search="exact")
    assert cells.uns["neighbors"]["recall"] == 1
    assert 0.9 < cells.uns["fast"]["recall"] <= 1
    shared = (cells.obsp["distances"] > 0).multiply(cells.obsp["fast_distances"] > 0).nnz / (3000 * 14)
    assert shared > 0.9
