"""Odd shapes and values: the result is finite and lawful, or a ValueError says why not."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from covering import MANY_EXAMPLES
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import sparse

from eigenscape import (
    PCA,
    ClassicalMDS,
    FastMap,
    Isomap,
    KernelPCA,
    LandmarkMDS,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    MetricMap,
    SpectralClustering,
)
from eigenscape.exceptions import (
    DegenerateSpectrumWarning,
    DisconnectedGraphWarning,
    IsolatedPointWarning,
)
from eigenscape.graph.neighborhood import nearest_neighbor_graph
from eigenscape.graph.neighbors import neighbor_index
from eigenscape.graph.row_index import RowIndex, distinct_rows
from eigenscape.options import KNNGraph, Landmarks, RadiusGraph

few = settings(
    max_examples=15 if MANY_EXAMPLES else 6,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
more = settings(few, max_examples=40 if MANY_EXAMPLES else 20)

EXPECTED = (DisconnectedGraphWarning, IsolatedPointWarning, DegenerateSpectrumWarning)

ESTIMATORS = {
    "pca": lambda c: PCA(c),
    "whitened pca by krylov": lambda c: PCA(c, whiten=True, eigen_solver="lanczos"),
    "kernel pca": lambda c: KernelPCA(c),
    "linear kernel pca": lambda c: KernelPCA(c, kernel="linear"),
    "mds": lambda c: ClassicalMDS(c),
    "cityblock mds": lambda c: ClassicalMDS(c, metric="cityblock"),
    "isomap": lambda c: Isomap(c, n_neighbors=4),
    "isomap radius": lambda c: Isomap(c, graph=RadiusGraph(1.0)),
    "landmark isomap": lambda c: Isomap(c, n_neighbors=4, n_landmarks="auto"),
    "landmark mds": lambda c: LandmarkMDS(c),
    "greedy landmark mds": lambda c: LandmarkMDS(
        c, metric="cityblock", approximation=Landmarks(c + 1, "greedy")
    ),
    "fastmap": lambda c: FastMap(c),
    "metric map": lambda c: MetricMap(c),
    "lle": lambda c: LocallyLinearEmbedding(c, n_neighbors=4),
    "lle with c": lambda c: LocallyLinearEmbedding(c, n_neighbors=4, c=2.0),
    "modified lle": lambda c: LocallyLinearEmbedding(c, n_neighbors=4, method="modified"),
    "hessian lle": lambda c: LocallyLinearEmbedding(c, n_neighbors=6, method="hessian"),
    "ltsa": lambda c: LocallyLinearEmbedding(c, n_neighbors=4, method="ltsa"),
    "eigenmaps": lambda c: LaplacianEigenmaps(c, n_neighbors=4),
    "heat eigenmaps": lambda c: LaplacianEigenmaps(c, affinity=KNNGraph(4, weights="heat")),
    "inverse eigenmaps": lambda c: LaplacianEigenmaps(c, affinity=KNNGraph(4, weights="inverse")),
    "rbf eigenmaps": lambda c: LaplacianEigenmaps(c, affinity="rbf"),
    "rbf eigenmaps, no diagonal": lambda c: LaplacianEigenmaps(c, affinity="rbf", include_diagonal=False),
    "spectral clustering": lambda c: SpectralClustering(c + 1, affinity="rbf", n_init=1),
}
every_estimator = pytest.mark.parametrize("name", ESTIMATORS)


def fit_or_explain(model, X):
    """The fitted model; or None if it was refused in words (a LinAlgError explains nothing)."""
    message = ""
    try:
        return model.fit(X)
    except np.linalg.LinAlgError:
        raise
    except ValueError as refusal:
        message = str(refusal)
    assert len(message) > 20
    return None


def check_laws(model, X):
    """No NaN, one row a sample, transform of the training points is the embedding, equal rows land
    together."""
    with warnings.catch_warnings():
        for category in EXPECTED:
            warnings.simplefilter("ignore", category)
        model = fit_or_explain(model, X)
        if model is None:
            return
        again = model.transform(X)
    E = model.embedding_
    assert E.shape[0] == len(X)
    assert np.isfinite(E).all()
    scale = np.abs(E).max()
    assert_allclose(again, E, atol=1e-6 * scale)
    _, group = distinct_rows(X)
    for number in np.flatnonzero(np.bincount(group) > 1):
        assert_allclose(
            E[group == number],
            E[group == number][:1].repeat((group == number).sum(), axis=0),
            atol=1e-6 * scale,
        )


@every_estimator
@few
@given(n=st.integers(2, 16), d=st.integers(1, 24), components=st.integers(1, 3), seed=st.integers(0, 99))
def test_any_shape(name, n, d, components, seed):
    X = np.random.default_rng(seed).standard_normal((n, d))
    check_laws(ESTIMATORS[name](components), X)


@every_estimator
@few
@given(exponent=st.integers(-8, 8), offset=st.sampled_from([0.0, 1.0, 1e3]), seed=st.integers(0, 99))
def test_any_scale(name, exponent, offset, seed):
    X = (np.random.default_rng(seed).standard_normal((20, 3)) + offset) * 10.0**exponent
    check_laws(ESTIMATORS[name](2), X)


@every_estimator
@few
@given(seed=st.integers(0, 999))
def test_large_offset(name, seed):
    """An offset of a million costs the data six digits and the laws none."""
    X = np.random.default_rng(seed).standard_normal((20, 3)) + 1e6
    check_laws(ESTIMATORS[name](2), X)


@every_estimator
@few
@given(n=st.integers(6, 30), d=st.integers(1, 3), top=st.integers(1, 4), seed=st.integers(0, 999))
def test_integers_with_ties_and_duplicates(name, n, d, top, seed):
    X = np.random.default_rng(seed).integers(0, top + 1, (n, d)).astype(float)
    check_laws(ESTIMATORS[name](1), X)


@every_estimator
@few
@given(noise=st.sampled_from([0.0, 1e-14, 1e-10, 1e-6]), n=st.integers(8, 25), seed=st.integers(0, 999))
def test_nearly_collinear(name, noise, n, seed):
    rng = np.random.default_rng(seed)
    X = np.outer(rng.standard_normal(n), [1.0, 2.0, -1.0]) + noise * rng.standard_normal((n, 3))
    check_laws(ESTIMATORS[name](2), X)


@every_estimator
@pytest.mark.parametrize("value", [0.0, 0.1, 1.0, 1e6])
def test_all_rows_equal_is_refused(name, value):
    """Nothing to embed: a ValueError, not a solver that did not converge."""
    with pytest.raises(ValueError, match=r"eigenvalue|equal|distinct"):
        ESTIMATORS[name](1).fit(np.full((6, 1), value))


@every_estimator
def test_just_enough_points(name):
    """From one point up to more than enough: refused in words, then lawful."""
    fitted = 0
    for n in range(2, 11):
        X = np.random.default_rng(n).standard_normal((n, 3))
        check_laws(ESTIMATORS[name](2), X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DisconnectedGraphWarning)
            warnings.simplefilter("ignore", DegenerateSpectrumWarning)
            fitted += fit_or_explain(ESTIMATORS[name](2), X) is not None
    assert fitted >= 2


@pytest.mark.parametrize("method", ["standard", "modified", "hessian", "ltsa"])
@few
@given(n=st.integers(10, 16), d=st.integers(1, 2), components=st.integers(1, 4), seed=st.integers(0, 99))
def test_more_components_than_features(method, n, d, components, seed):
    """Tangent planes have no more dimensions than the data."""
    X = np.random.default_rng(seed).standard_normal((n, d))
    check_laws(LocallyLinearEmbedding(components, n_neighbors=9, method=method), X)


@pytest.mark.long
@few
@given(n=st.integers(6, 12), k=st.integers(1, 5), seed=st.integers(0, 99), data=st.data())
def test_as_many_lle_components_as_points_allow(n, k, seed, data):
    X = np.random.default_rng(seed).standard_normal((n, 3))
    components = data.draw(st.integers(1, n - 1))
    check_laws(LocallyLinearEmbedding(components, n_neighbors=k), X)
    check_laws(LaplacianEigenmaps(components, n_neighbors=k), X)


# Rows as points


@more
@given(
    n=st.integers(1, 40),
    d=st.integers(1, 6),
    top=st.sampled_from([1, 2, 4, 8, 100]),
    scale=st.sampled_from([1.0, 0.5, 2.0, 1024.0, 0.1]),
    seed=st.integers(0, 999),
)
@example(n=40, d=3, top=2, scale=1.0, seed=0)
def test_rows_are_told_apart_exactly(n, d, top, scale, seed):
    """Small integers and powers of two have few bits set; that must not confuse rows."""
    X = np.random.default_rng(seed).integers(0, top + 1, (n, d)) * scale
    first = [next(j for j in range(n) if np.array_equal(X[i], X[j])) for i in range(n)]
    assert np.array_equal(RowIndex(X).find(X), first)
    assert np.array_equal(RowIndex(sparse.csr_array(X)).find(sparse.csr_array(X)), first)
    assert np.array_equal(distinct_rows(X)[0], np.unique(first))


def test_rows_with_colliding_hashes_are_still_found(monkeypatch):
    monkeypatch.setattr(
        "eigenscape.graph.row_index.row_hashes", lambda X: np.zeros(X.shape[0], dtype=np.uint64)
    )
    X = np.random.default_rng(0).standard_normal((9, 2))
    assert np.array_equal(RowIndex(X).find(X), np.arange(9))
    assert np.array_equal(RowIndex(X).find(X + 1), np.full(9, -1))


@pytest.mark.parametrize("sign", [1, -1])
def test_two_hot_rows_are_their_own_vertices(sign):
    """One-hot rows of twos: a graph in which every point takes itself for a stranger would have loops."""
    X = sign * 2.0 * np.eye(9)
    graph = nearest_neighbor_graph(neighbor_index(X), 3)
    assert np.array_equal(graph.vertices.find(X), np.arange(9))
    assert (graph.edges_of(X).diagonal() == 0).all()


# Equivariance


def generic(seed, n=24, d=4):
    return np.random.default_rng(seed).standard_normal((n, d)) * np.linspace(3, 1, d)


def rotation(seed, d=4):
    return np.linalg.qr(np.random.default_rng(seed + 1000).standard_normal((d, d)))[0]


def fitted(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        return model.fit(X)


def close_up_to_sign(actual, expected, tolerance):
    sign = np.where(np.sum(actual * expected, axis=0) < 0, -1.0, 1.0)
    assert_allclose(actual, expected * sign, atol=tolerance * np.abs(expected).max())


EQUIVARIANT = {
    "mds": (lambda: ClassicalMDS(2), 1),
    "isomap": (lambda: Isomap(2, n_neighbors=5), 1),
    "lle": (lambda: LocallyLinearEmbedding(2, n_neighbors=4, reg=2.5e-3), 0),
    "ltsa": (lambda: LocallyLinearEmbedding(2, n_neighbors=6, method="ltsa"), 0),
    "eigenmaps": (lambda: LaplacianEigenmaps(2, affinity=KNNGraph(5, weights="heat")), 0),
    "rbf eigenmaps": (lambda: LaplacianEigenmaps(2, affinity="rbf"), 0),
    "kernel pca": (lambda: KernelPCA(2), 0),
}


@pytest.mark.long
@pytest.mark.parametrize("name", EQUIVARIANT)
@few
@given(seed=st.integers(0, 200), exponent=st.integers(-3, 3), shift=st.sampled_from([0.0, -7.0, 100.0]))
def test_similarity_transforms(name, seed, exponent, shift):
    """Turned, moved and scaled data: distance maps scale along, graph maps and settled kernels do not
    notice."""
    make, power = EQUIVARIANT[name]
    X, Y = generic(seed), generic(seed + 500, n=6)
    scale, turn = 10.0**exponent, rotation(seed)
    plain, moved = fitted(make(), X), fitted(make(), scale * X @ turn + shift * scale)
    both, both_moved = (
        np.vstack([m.embedding_, m.transform(P)])
        for m, P in ((plain, Y), (moved, scale * Y @ turn + shift * scale))
    )
    close_up_to_sign(both_moved, both * scale**power, 1e-5)


@pytest.mark.long
@pytest.mark.parametrize("name", EQUIVARIANT)
@few
@given(seed=st.integers(0, 200))
def test_row_order_does_not_matter(name, seed):
    make, _ = EQUIVARIANT[name]
    X, Y = generic(seed), generic(seed + 500, n=6)
    order = np.random.default_rng(seed).permutation(len(X))
    plain, shuffled = fitted(make(), X), fitted(make(), X[order])
    expected = np.vstack([plain.embedding_[order], plain.transform(Y)])
    close_up_to_sign(np.vstack([shuffled.embedding_, shuffled.transform(Y)]), expected, 1e-6)


@pytest.mark.long
@pytest.mark.parametrize("name", EQUIVARIANT)
@few
@given(seed=st.integers(0, 200))
def test_a_point_does_not_see_its_companions(name, seed):
    make, _ = EQUIVARIANT[name]
    model = fitted(make(), generic(seed))
    Y = generic(seed + 500, n=7)
    together = model.transform(Y)
    alone = np.vstack([model.transform(Y[i : i + 1]) for i in range(7)])
    assert_allclose(alone, together, atol=1e-10 * np.abs(together).max())


@pytest.mark.long
@few
@given(seed=st.integers(0, 200), n=st.integers(10, 20))
def test_duplicated_rows_weigh_nothing_in_graph_methods(seed, n):
    """Graph methods embed distinct rows once."""
    X = generic(seed, n)
    doubled = np.vstack([X, X[: n // 2]])
    for make in (lambda: Isomap(1, n_neighbors=4), lambda: LaplacianEigenmaps(1, n_neighbors=4)):
        plain, double = fitted(make(), X), fitted(make(), doubled)
        close_up_to_sign(double.embedding_[:n], plain.embedding_, 1e-6)
        assert_allclose(double.embedding_[n:], double.embedding_[: n // 2], atol=0)


@pytest.mark.long
@few
@given(n=st.integers(5, 20), d=st.integers(1, 4), seed=st.integers(0, 999), noise=st.floats(0.05, 0.3))
def test_distance_matrix_theorem(n, d, seed, noise):
    """Distances are Euclidean just when the centred matrix is positive semi-definite, and its rank is the
    dimension (Burges sec. 2.2)."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    D = np.linalg.norm(X[:, None] - X, axis=2)
    model = ClassicalMDS(d, metric="precomputed").fit(D)
    assert model.is_euclidean_
    E = model.embedding_
    assert_allclose(np.linalg.norm(E[:, None] - E, axis=2), D, atol=1e-7 * D.max())  # d dimensions are enough
    if d < n - 1:
        with pytest.warns(DegenerateSpectrumWarning, match=f"only {d} positive"):  # and no more are there
            ClassicalMDS(d + 1, metric="precomputed").fit(D)
    i, j = rng.choice(n, 2, replace=False)
    torn = D.copy()
    torn[i, j] = torn[j, i] = (
        2 * np.min(np.delete(D[i] + D[j], [i, j])) * (1 + noise)
    )  # beyond the triangle inequality
    assert not ClassicalMDS(1, metric="precomputed").fit(torn).is_euclidean_
