"""One test for each fault known from other libraries, as far as the part it lives in exists here."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.neighbors import NearestNeighbors

from eigenscape import (
    ClassicalMDS,
    Isomap,
    KernelPCA,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    SpectralClustering,
)
from eigenscape.exceptions import DisconnectedGraphWarning, IsolatedPointWarning, NotConvergedError
from eigenscape.options import KNNGraph, Solver
from eigenscape.quality import trustworthiness
from eigenscape.solvers import direct

ESTIMATORS = {
    "kernel_pca": KernelPCA(2),
    "mds": ClassicalMDS(2),
    "laplacian": LaplacianEigenmaps(2, n_neighbors=6),
    "laplacian_heat": LaplacianEigenmaps(2, affinity=KNNGraph(6, weights="heat")),
    "laplacian_rbf": LaplacianEigenmaps(2, affinity="rbf"),
    "clustering": SpectralClustering(3, n_neighbors=6),
    "isomap": Isomap(2, n_neighbors=6),
    "lle": LocallyLinearEmbedding(2, n_neighbors=6),
    "lle_finite": LocallyLinearEmbedding(2, n_neighbors=6, c=5.0),
    "modified": LocallyLinearEmbedding(2, n_neighbors=8, method="modified"),
    "hessian": LocallyLinearEmbedding(2, n_neighbors=8, method="hessian"),
    "ltsa": LocallyLinearEmbedding(2, n_neighbors=8, method="ltsa"),
}
GRAPH = {
    "laplacian",
    "laplacian_heat",
    "clustering",
    "isomap",
    "lle",
    "lle_finite",
    "modified",
    "hessian",
    "ltsa",
}


def clone(name, **params):
    estimator = ESTIMATORS[name]
    return type(estimator)(**{**estimator.get_params(deep=False), **params})


@pytest.fixture
def curved():
    """A curved sheet in space, in no particular order."""
    rng = np.random.default_rng(0)
    u, v = rng.uniform(0, 3, 90), rng.uniform(0, 2, 90)
    return np.column_stack([np.sin(u), v, np.cos(u)])


@pytest.fixture
def two_blobs():
    rng = np.random.default_rng(1)
    return np.concatenate([rng.normal(size=(30, 3)), rng.normal(size=(20, 3)) + np.array([40, 0, 0])])


def graph_of(model):
    """The neighbourhood graph behind a fitted estimator."""
    kernel = model.kernel_
    return (kernel.weights if isinstance(model, LocallyLinearEmbedding) else kernel.base).graph


def either_or_graph(X, k):
    chosen = NearestNeighbors(n_neighbors=k).fit(X).kneighbors_graph()
    return sparse.csr_array(chosen.maximum(chosen.T))


def plane(n, features=5, seed=0):
    rng = np.random.default_rng(seed)
    flat = rng.uniform(size=(n, 2))
    return flat, flat @ rng.normal(size=(2, features))


def unexplained(target, embedding):
    """Share of the target's variance that no affine function of the embedding explains."""
    design = np.column_stack([np.ones(len(embedding)), embedding])
    rest = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
    return np.sum(rest**2) / np.sum((target - target.mean(axis=0)) ** 2)


def test_lle_duplicates_are_not_their_own_neighbours(curved):
    """Fault 1: LLE assumed a point comes first in its own neighbour list."""
    doubled = np.concatenate([curved, curved[::-1], curved])
    model = LocallyLinearEmbedding(2, n_neighbors=6).fit(doubled)
    assert not model.kernel_.weights.graph.neighbors.diagonal().any()
    alone = LocallyLinearEmbedding(2, n_neighbors=6).fit(curved).embedding_
    np.testing.assert_allclose(model.embedding_, np.concatenate([alone, alone[::-1], alone]), atol=1e-8)


@pytest.mark.parametrize("method", ["standard", "modified", "hessian", "ltsa"])
def test_lle_checks_connectivity(two_blobs, method):
    """Fault 2: without a connectivity check the coordinates are indicators of the components."""
    with pytest.warns(DisconnectedGraphWarning, match="2 connected components"):
        model = LocallyLinearEmbedding(2, n_neighbors=6, method=method).fit(two_blobs)
    for part in (slice(30), slice(30, 50)):
        spread = model.embedding_[part].std(axis=0)
        assert spread.max() > 1e-3 * model.embedding_.std()
    np.testing.assert_array_equal(np.sort(model.component_labels_), np.repeat([0, 1], [30, 20]))


def test_modified_lle_uses_reg(curved):
    """Fault 3: the user's ``reg`` was overwritten."""
    weak, strong = (
        LocallyLinearEmbedding(2, n_neighbors=8, method="modified", reg=reg).fit(curved)
        for reg in (1e-6, 1.0)
    )
    assert (weak.reg, strong.reg) == (1e-6, 1.0)
    assert np.abs(weak.embedding_ - strong.embedding_).max() > 1e-3


@pytest.mark.parametrize("method", ["modified", "hessian", "ltsa"])
@pytest.mark.parametrize("n", [80, 600])
def test_lle_variants_on_an_exact_plane(method, n):
    """Fault 3: exact planes divided by zero."""
    flat, X = plane(n)
    model = LocallyLinearEmbedding(2, n_neighbors=9, method=method, reg=1e-4).fit(X)
    assert unexplained(flat, model.embedding_) < 1e-6


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_transform_of_the_training_set_is_the_embedding(curved, name):
    """Fault 4: ``transform(X_train)`` differed from ``embedding_``."""
    model = clone(name).fit(curved)
    np.testing.assert_allclose(
        model.transform(curved), model.embedding_, atol=1e-8 * np.abs(model.embedding_).max()
    )


@pytest.mark.parametrize("solver", ["auto", "shift-invert"])
@pytest.mark.parametrize("name", ["lle", "modified", "ltsa", "laplacian"])
def test_singular_matrices_are_solved(name, solver):
    """Fault 5: shift-invert at 0 on a singular matrix, here from noiseless and from collinear data."""
    s = np.arange(600) + np.random.default_rng(0).uniform(-0.4, 0.4, size=600)
    line = np.outer(s, [1.0, 2.0, -1.0])
    model = clone(name, n_components=1, eigen_solver=solver, n_neighbors=9).fit(line)
    assert np.isfinite(model.embedding_).all()
    rank = np.argsort(np.argsort(model.embedding_[:, 0], kind="stable"))
    assert abs(np.corrcoef(rank, s)[0, 1]) > 0.999  # the order along the line is found


def test_mds_takes_no_root_of_a_negative_number():
    """Fault 6: the square root of a negative eigenvalue gave NaN."""
    rng = np.random.default_rng(0)
    D = rng.uniform(1, 9, size=(20, 20))
    D = np.triu(D, 1) + np.triu(D, 1).T
    model = ClassicalMDS(5, metric="precomputed", order="magnitude").fit(D)
    assert model.eigenvalues_.min() < 0
    assert np.isfinite(model.embedding_).all()
    assert np.isfinite(model.transform(D[:3])).all()


def test_mds_asks_for_no_full_decomposition(curved, monkeypatch):
    """Fault 6: a full ``eigh`` for two components."""
    asked = []
    original = direct.linalg.eigh

    def spy(matrix, **options):
        asked.append(options.get("subset_by_index"))
        return original(matrix, **options)

    monkeypatch.setattr(direct.linalg, "eigh", spy)
    ClassicalMDS(2).fit(curved)
    assert asked == [(88, 89)]
    asked.clear()
    large = np.random.default_rng(0).normal(size=(700, 4)) * [4, 3, 2, 1]
    assert ClassicalMDS(2).fit(large).solver_ == "lanczos"
    assert asked == []


@pytest.mark.parametrize("weights", ["binary", "heat"])
def test_laplacian_eigenmaps_solve_the_generalised_problem(curved, weights):
    """Fault 7: multiplied by the degree where it should divide."""
    model = LaplacianEigenmaps(3, affinity=KNNGraph(6, weights=weights)).fit(curved)
    W = either_or_graph(curved, 6).toarray()
    if weights == "heat":
        W = W * np.exp(-(cdist(curved, curved) ** 2) / model.width_)
    degree = W.sum(axis=1)
    sigma, f = 1 - model.eigenvalues_, model.embedding_
    left, right = degree[:, None] * f - W @ f, degree[:, None] * f * sigma
    np.testing.assert_allclose(left, right, atol=1e-9 * np.abs(right).max())
    np.testing.assert_allclose(f.T @ (degree[:, None] * f), len(curved) * np.eye(3), atol=1e-7)  # z'Sz = 1


@pytest.mark.parametrize(
    "estimator", [Isomap, LaplacianEigenmaps, LocallyLinearEmbedding, SpectralClustering]
)
def test_default_neighbourhood_does_not_grow_with_n(estimator):
    """Fault 8: a default of n/10 neighbours."""
    assert inspect.signature(estimator).parameters["n_neighbors"].default is None
    X = np.random.default_rng(0).uniform(size=(600, 2))
    assert [estimator().fit(X[:n]).n_neighbors_ for n in (12, 32, 100, 600)] == [5, 8, 10, 10]


def test_default_graph_is_sparse():
    """Fault 8: 10^9 edges at 10^5 points."""
    X = np.random.default_rng(0).uniform(size=(3000, 2))
    model = LaplacianEigenmaps(1).fit(X)
    assert model.kernel_.base.graph.distances.nnz <= 2 * 8 * 3000


@pytest.mark.parametrize("name", ["kernel_pca", "mds", "laplacian", "laplacian_rbf", "clustering", "isomap"])
def test_sparse_input_means_the_same(curved, name):
    """Fault 9: sparse X silently changed the affinity, and ``fit`` changed a parameter."""
    X = np.where(np.abs(curved) < 0.2, 0.0, curved)
    dense, thin = clone(name), clone(name)
    before = thin.get_params()
    dense.fit(X)
    thin.fit(sparse.csr_matrix(X))
    assert thin.get_params() == before
    np.testing.assert_allclose(thin.embedding_, dense.embedding_, atol=1e-7)


def test_kernel_pca_divides_by_no_zero_eigenvalue():
    """Fault 10: zero and negative eigenvalues were divided by."""
    _, X = plane(40)
    model = KernelPCA(None, kernel="linear").fit(X)
    assert model.eigenvalues_.shape == (2,)
    new = np.random.default_rng(1).normal(size=(5, 5))
    assert np.abs(model.transform(new)).max() <= np.linalg.norm(new - X.mean(axis=0), axis=1).max() * (
        1 + 1e-9
    )


def test_kernel_pca_with_an_indefinite_kernel_keeps_positive_ones():
    """Fault 10: negative eigenvalues were divided by."""
    X = np.random.default_rng(0).normal(size=(40, 3))
    model = KernelPCA(None, kernel="sigmoid", coef0=-1.0).fit(X)
    assert model.eigenvalues_.min() > 0
    assert np.isfinite(model.transform(X + 0.1)).all()


def test_indefinite_kernels_keep_the_sign_of_their_eigenvalues():
    """Fault 11: absolute eigenvalues for indefinite kernels."""
    rng = np.random.default_rng(0)
    K = rng.normal(size=(12, 12))
    K = K + K.T
    model = KernelPCA(6, kernel="precomputed", order="magnitude").fit(K)
    P = np.eye(12) - 1 / 12
    truth = np.linalg.eigvalsh(P @ K @ P)
    truth = truth[np.argsort(-np.abs(truth))][:6]
    assert truth.min() < 0
    np.testing.assert_allclose(model.eigenvalues_, truth, atol=1e-10)


@pytest.mark.parametrize("name", ["mds", "isomap", "laplacian", "lle", "clustering"])
def test_the_dict_of_the_user_is_not_written_into(curved, name):
    """Fault 11: the user's dict written into."""
    params = {"p": 3}
    if name == "mds":
        clone(name, metric="minkowski", metric_params=params).fit(curved)
    else:
        graph = "affinity" if name in ("laplacian", "clustering") else "graph"
        clone(name, n_neighbors=None, **{graph: KNNGraph(metric="minkowski", metric_params=params)}).fit(
            curved
        )
    assert params == {"p": 3}


@pytest.mark.parametrize("name", ["laplacian_rbf", "clustering"])
def test_new_points_without_affinity_give_no_nan(curved, name):
    """Fault 12: degrees of zero gave NaN."""
    model = clone(name, affinity="rbf", n_neighbors=None).fit(curved)
    with pytest.warns(IsolatedPointWarning, match="1 point"):
        placed = model.transform(np.concatenate([curved[:2], [[1e6, 0, 0]]]))
    np.testing.assert_array_equal(placed[2], 0)
    np.testing.assert_allclose(placed[:2], model.embedding_[:2], atol=1e-8)


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_the_batch_does_not_matter(curved, name):
    """Fault 13: new points scaled differently, hidden by a shortcut when the batch is the training set."""
    model = clone(name).fit(curved)
    scale = np.abs(model.embedding_).max()
    order = np.random.default_rng(5).permutation(len(curved))
    np.testing.assert_allclose(model.transform(curved[order]), model.embedding_[order], atol=1e-8 * scale)
    new = curved[:7] + 0.05
    mixed = np.concatenate([new, curved[10:30], new[::-1]])
    placed = model.transform(mixed)
    np.testing.assert_allclose(placed[7:27], model.embedding_[10:30], atol=1e-8 * scale)
    one_by_one = np.concatenate([model.transform(row[None]) for row in new])
    np.testing.assert_allclose(placed[:7], one_by_one, atol=1e-10 * scale)
    np.testing.assert_allclose(placed[27:], one_by_one[::-1], atol=1e-10 * scale)


@pytest.mark.parametrize("name", ["laplacian_rbf", "isomap", "kernel_pca", "mds"])
def test_a_point_next_to_a_training_point_lands_next_to_it(curved, name):
    """Fault 13: new points scaled differently from training points."""
    model = clone(name).fit(curved)
    placed = model.transform(curved + 1e-9)
    np.testing.assert_allclose(placed, model.embedding_, atol=1e-3 * np.abs(model.embedding_).max())


@pytest.mark.parametrize("name", sorted(GRAPH))
def test_the_nearest_neighbour_of_a_new_point_counts(curved, name):
    """Fault 14: the nearest neighbour of a new point was dropped, as if it were the point itself."""
    model = clone(name).fit(curved)
    new = curved[[4]] + 1e-3
    edges = graph_of(model).edges_of(new)
    nearest = np.argsort(cdist(new, curved)[0])[:6]
    assert nearest[0] == 4
    assert set(nearest) <= set(edges.indices)
    assert edges[0, 4] == pytest.approx(np.linalg.norm(new - curved[4]), rel=1e-12)


def test_geodesics_of_a_new_point_start_at_its_nearest_neighbour(curved):
    """Fault 14, in the distances of Isomap."""
    model = Isomap(2, n_neighbors=5).fit(curved)
    new = curved[[7]] + 1e-3  # nearer it would be this training point
    lengths = np.sqrt(-2 * model.kernel_.base(new))[0]
    assert lengths[7] == pytest.approx(np.linalg.norm(new - curved[7]))
    known = np.sqrt(-2 * model.kernel_.base(curved[[7]]))[0]
    np.testing.assert_allclose(lengths, known, atol=2e-3)


@pytest.mark.parametrize("name", sorted(set(ESTIMATORS) - {"lle_finite"}))
@pytest.mark.parametrize("n", [90, 560])
def test_values_and_vectors_stay_together(name, n):
    """Fault 15: eigenvectors re-ordered, eigenvalues not."""
    rng = np.random.default_rng(3)
    u, v = rng.uniform(0, 3, n), rng.uniform(0, 2, n)
    X = np.column_stack([np.sin(u), v, np.cos(u)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        model = clone(name).fit(X)
    assert (np.diff(model.eigenvalues_) <= 1e-12).all()
    G = model.kernel_(X)
    G = G.toarray() if sparse.issparse(G) else G
    f = model.eigenfunctions(X)
    np.testing.assert_allclose(
        G @ f, f * model.eigenvalues_, atol=1e-7 * np.abs(f).max() * np.abs(model.eigenvalues_).max()
    )
    np.testing.assert_allclose(f.T @ f / n, np.eye(f.shape[1]), atol=1e-6)


@pytest.mark.parametrize("name", ["laplacian", "isomap", "lle", "clustering"])
def test_connectivity_is_that_of_the_symmetric_graph(name):
    """Fault 16: connectivity tested on the directed graph; k silently doubled."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 2)), [[30.0, 0.0], [0.0, 35.0]]])  # nobody chooses the last two
    model = clone(name, n_neighbors=7).fit(X)  # a warning would be an error
    np.testing.assert_array_equal(model.component_labels_, 0)
    assert model.n_connected_components_ == 1
    assert model.n_neighbors == 7
    np.testing.assert_array_equal(np.diff(graph_of(model).neighbors.indptr), 7)


@pytest.mark.parametrize("choice", ["connect", "per_component", "largest"])
@pytest.mark.parametrize("name", sorted(GRAPH))
def test_one_output_row_per_input_row(two_blobs, name, choice):
    """Fault 17: fewer rows out than in after components are dropped."""
    with pytest.warns(DisconnectedGraphWarning):
        model = clone(name, on_disconnected=choice).fit(two_blobs)
    assert model.embedding_.shape[0] == len(two_blobs)
    assert model.component_labels_.shape == (len(two_blobs),)
    assert np.isfinite(model.embedding_).all()
    assert model.transform(two_blobs[25:40] + 0.01).shape[0] == 15


def test_distances_between_components_are_real(two_blobs):
    """Fault 18: distances between components set to 0, or all pairs bridged through dense blocks."""
    with pytest.warns(DisconnectedGraphWarning):
        model = Isomap(2, n_neighbors=5).fit(two_blobs)
    lengths = np.sqrt(-2 * model.kernel_.base(two_blobs))
    straight = cdist(two_blobs, two_blobs)
    assert (lengths >= straight * (1 - 1e-9)).all()
    bridges = model.kernel_.base.graph.distances[:30][:, 30:]
    assert bridges.nnz == 1
    assert bridges.data[0] == pytest.approx(straight[:30, 30:].min())


@pytest.mark.parametrize("name", sorted(set(ESTIMATORS) - {"clustering"}))
def test_no_coordinate_is_constant(curved, name):
    """Fault 19: the constant vector returned as the first coordinate."""
    model = clone(name).fit(curved)
    spread = model.embedding_.std(axis=0)
    assert (spread > 0.1 * np.abs(model.embedding_).max(axis=0)).all()


def test_no_coordinate_is_constant_in_any_component(two_blobs):
    """Fault 19, for components that are embedded by themselves."""
    for name in ("laplacian", "isomap", "lle"):
        with pytest.warns(DisconnectedGraphWarning):
            model = clone(name, on_disconnected="per_component").fit(two_blobs)
        for part in (slice(30), slice(30, 50)):
            values = model.embedding_[part]
            assert (values.std(axis=0) > 0.1 * np.abs(values).max(axis=0)).all()


@pytest.mark.parametrize("k", [1, 5, 14, 15, 20, 28])
def test_trustworthiness_stays_within_its_bounds(k):
    """Fault 20: above 1 with ties or k >= n/2."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    grid = np.stack(np.meshgrid(range(6), range(5)), axis=-1).reshape(-1, 2).astype(float)
    assert trustworthiness(X, X, k) == pytest.approx(1)
    assert trustworthiness(grid, grid, k) == pytest.approx(1)
    for claim in (rng.normal(size=(30, 2)), grid, np.zeros((30, 2)), rng.integers(0, 2, size=(30, 2))):
        assert 0 <= trustworthiness(X, claim, k) <= 1
        assert 0 <= trustworthiness(claim, X, k) <= 1


def test_trustworthiness_by_hand():
    """Fault 20: against a literal transcription, equals sharing the better rank."""
    line = np.arange(9.0)[:, None]
    shuffled = np.array([0, 3, 6, 1, 4, 7, 2, 5, 8.0])[:, None]
    D, claim = cdist(line, line), cdist(shuffled, shuffled)
    np.fill_diagonal(claim, np.inf)
    charge = 0.0
    for i in range(9):
        for j in np.argsort(claim[i], kind="stable")[:2]:
            charge += max((D[i] < D[i, j]).sum() - 2, 0)  # the rank in the data beyond the second
    worst = 2 * (9 - 1 - 2) - 1  # two intruders, at the last two ranks
    assert charge > 0
    assert trustworthiness(line, shuffled, 2) == pytest.approx(1 - charge / (9 * worst))


@pytest.mark.parametrize("n", [40, 560])
def test_largest_in_value_is_not_largest_in_magnitude(n):
    """Fault 21: largest in magnitude taken where largest in value was meant."""
    rng = np.random.default_rng(0)
    vectors = np.linalg.qr(np.column_stack([np.ones(n), rng.normal(size=(n, 4))]))[0][:, 1:]
    K = vectors @ np.diag([-50.0, 10.0, 5.0, -1.0]) @ vectors.T
    by_value = KernelPCA(2, kernel="precomputed").fit(K)
    np.testing.assert_allclose(by_value.eigenvalues_, [10, 5], rtol=1e-9)
    by_magnitude = KernelPCA(3, kernel="precomputed", order="magnitude").fit(K)
    np.testing.assert_allclose(by_magnitude.eigenvalues_, [-50, 10, 5], rtol=1e-9)
    np.testing.assert_allclose(
        np.abs(by_value.embedding_[:, 0]), np.sqrt(10) * np.abs(vectors[:, 1]), atol=1e-7
    )


@pytest.mark.long
def test_long_strips_are_solved_at_large_n():
    """Fault 22: a tolerance that grows with n while the eigenvalues shrink."""
    n, turns = 20000, 8.0
    rng = np.random.default_rng(0)
    s = rng.uniform(0, 1, n)
    angle = turns * 2 * np.pi * np.sqrt(0.05 + 0.95 * s)  # about even along the spiral
    X = np.column_stack([angle * np.cos(angle), angle * np.sin(angle), rng.uniform(0, 4, n)])
    model = LaplacianEigenmaps(2, n_neighbors=10).fit(X)
    W = either_or_graph(X, 10)
    degree = W.sum(axis=1)
    sigma, f = 1 - model.eigenvalues_, model.embedding_
    assert 0 < sigma[0] < sigma[1] < 1e-4  # small enough for the test to mean something
    rayleigh = np.sum(f * (degree[:, None] * f - W @ f), axis=0) / np.sum(f * degree[:, None] * f, axis=0)
    left, right = degree[:, None] * f - W @ f, degree[:, None] * f * rayleigh
    relative = np.linalg.norm(left - right, axis=0) / np.linalg.norm(right, axis=0)
    assert (relative < 1e-6).all()
    np.testing.assert_allclose(sigma, rayleigh, rtol=1e-6)
    along = np.argsort(np.argsort(s)), np.argsort(np.argsort(f[:, 0]))
    assert abs(np.corrcoef(*along)[0, 1]) > 0.999  # the first coordinate is monotone along the strip


@pytest.mark.parametrize("name", ["kernel_pca", "mds", "isomap", "laplacian", "lle"])
def test_a_solver_that_fails_says_so(name):
    """Fault 23: a random layout returned when the solver fails."""
    X = np.random.default_rng(0).uniform(size=(600, 3))
    params = {"n_neighbors": 10} if name in GRAPH else {}
    with pytest.raises(NotConvergedError, match="did not converge") as caught:
        clone(name, eigen_solver=Solver("lanczos", max_iter=1), **params).fit(X)
    assert np.max(caught.value.residuals) > 0
