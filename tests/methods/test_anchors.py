"""Maps that are linear in anchor weights."""

from __future__ import annotations

import numpy as np
import pytest
import reference as ref
from numpy.testing import assert_allclose
from scipy import linalg, sparse
from sklearn.datasets import make_swiss_roll

import eigenscape
import eigenscape.exceptions
from eigenscape import LaplacianEigenmaps
from eigenscape.dictionary.anchored import AnchorWeights
from eigenscape.exceptions import RankError, UndefinedKernelError
from eigenscape.options import Anchors

K = 6


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(0).standard_normal((60, 3))


@pytest.fixture(scope="module")
def Y(X):
    """New points, one far away and one training point among them."""
    return np.vstack([np.random.default_rng(1).standard_normal((5, 3)), [[9.0, -3.0, 5.0]], X[7:8]])


def close_up_to_sign(found, expected, tol=1e-8):
    signs = np.where(np.sum(found * expected, axis=0) < 0, -1.0, 1.0)
    assert_allclose(found, expected * signs, rtol=0, atol=tol * np.abs(expected).max())


def roll(n, seed=0):
    """A Swiss roll and its parameters, arc length and height."""
    X, t = make_swiss_roll(n, random_state=seed)
    return X, np.column_stack([(t * np.sqrt(1 + t * t) + np.arcsinh(t)) / 2, X[:, 1]])


def outside(found, target):
    """The part of the span of ``target`` that is outside the span of ``found``."""
    first, second = (linalg.orth(values - values.mean(axis=0)) for values in (found, target))
    return 1 - np.square(first.T @ second).sum() / target.shape[1]


@pytest.mark.parametrize("n_anchors", [3, 15])
def test_weights_are_those_of_the_formula(X, Y, n_anchors):
    weights = AnchorWeights(X[:n_anchors])
    found = weights(Y).toarray()
    assert_allclose(found, ref.anchor_weights(Y, X[:n_anchors]), atol=1e-10)
    assert_allclose(found.sum(axis=1), 1, rtol=1e-12)


def test_kernel_weights_are_continuous():
    """A small step changes no weight by much, also where the nearest anchors change."""
    rng = np.random.default_rng(0)
    weights, start, direction = AnchorWeights(rng.random((40, 2))), rng.random(2), rng.random(2)
    along = weights(start + np.linspace(0, 1, 20_001)[:, None] * direction).toarray()
    assert np.abs(np.diff(along, axis=0)).max() < 5e-3
    assert (np.abs(np.diff((along > 0).astype(int), axis=0)).sum(axis=1) > 0).sum() > 5  # anchors changed


def test_a_point_at_the_same_distance_from_all_anchors_has_equal_weights():
    corners = np.array([[1.0, 1], [1, -1], [-1, 1], [-1, -1]])
    assert_allclose(AnchorWeights(corners)(np.zeros((1, 2))).toarray(), 0.25)


def test_laplacian_eigenmaps_are_those_of_the_reduced_problem(X, Y):
    model = LaplacianEigenmaps(3, n_neighbors=K, approximation=Anchors(15)).fit(X)
    D = ref.table(ref.euclidean, X, X)
    W = np.isfinite(ref.knn_edges(D, K)) & ~np.eye(len(X), dtype=bool)
    degree = W.sum(axis=1).astype(float)
    A, A_new = (ref.anchor_weights(points, model.anchors_) for points in (X, Y))
    values, U = ref.anchored_problem(np.diag(degree) - W, degree, A, 3)
    assert_allclose(1 - model.eigenvalues_, values, rtol=1e-9)
    expected = np.sqrt(len(X)) * np.vstack([A @ U, A_new @ U])  # z'Dz = 1, coordinates sqrt(n) z
    close_up_to_sign(np.vstack([model.embedding_, model.transform(Y)]), expected)
    assert model.residuals_.max() < 1e-13


def test_laplacian_kernel_has_these_eigenvalues_under_the_measure_of_the_degrees(X):
    model = LaplacianEigenmaps(3, n_neighbors=K, approximation=Anchors(15)).fit(X)
    root = np.sqrt(model.degrees_)
    values = np.linalg.eigvalsh(model.kernel_(X) * root * root[:, None])[::-1]
    assert_allclose(values[:4], [1, *model.eigenvalues_], rtol=1e-9)
    mass = model.degrees_.sum()
    assert model.loss() == pytest.approx(np.square(np.delete(values, np.arange(4))).sum() / mass**2)
    functions = model.eigenfunctions(X)
    assert_allclose(functions.T @ (model.degrees_[:, None] * functions) / mass, np.eye(3), atol=1e-10)
    with pytest.raises(UndefinedKernelError, match="approximated by anchors"):
        model.loss(X[:5] + 0.1)


@pytest.mark.long
def test_anchors_are_nearer_to_the_exact_map_than_a_sample():
    X, _ = roll(2000)
    exact = LaplacianEigenmaps(4, n_neighbors=10).fit_transform(X)
    some = X[np.random.default_rng(0).permutation(len(X))[:300]]
    sample = LaplacianEigenmaps(4, n_neighbors=10).fit(some).transform(X)
    anchors = LaplacianEigenmaps(4, n_neighbors=10, approximation=Anchors(300)).fit_transform(X)
    assert outside(anchors, exact) < 0.1 * outside(sample, exact)


@pytest.mark.parametrize("n_anchors", [50, 100, 200, 400, 500])
def test_new_points_are_near_their_exact_places_for_any_number_of_anchors(n_anchors):
    """Many anchors fit the rows by large coefficients, which must not throw new points away."""
    (X, _), (Y, _) = roll(500), roll(300, seed=9)
    exact = LaplacianEigenmaps(2, n_neighbors=10).fit(X)
    model = LaplacianEigenmaps(2, n_neighbors=10, approximation=Anchors(n_anchors)).fit(X)
    spread, size = exact.embedding_.std(axis=0), 1.0 if n_anchors > 50 else 2.0
    turn = linalg.lstsq(model.embedding_, exact.embedding_)[0]
    placed = (model.transform(Y) @ turn - exact.transform(Y)) / spread
    assert np.sqrt(np.square(placed).mean()) < 0.1 * size
    assert np.abs(placed).max() < 1.0


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n": 2}, r"Anchors\(2\) are too few for n_components=2"),
        ({"n": 61}, "approximation__n=61 needs at least 61 distinct samples, got 60"),
        ({"n": 0}, "n=0"),
        ({"n": 9, "metric": "cosine"}, "metric='cosine'; leave out approximation"),
        ({"n": 9, "on_disconnected": "largest"}, "anchors need one graph"),
    ],
)
def test_anchors_that_cannot_be_used_are_refused(X, params, message):
    others = {name: value for name, value in params.items() if name != "n"}
    with pytest.raises(ValueError, match=message):
        LaplacianEigenmaps(approximation=Anchors(params["n"]), **others).fit(X)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (LaplacianEigenmaps(affinity="rbf", approximation=Anchors(9)), "anchors need a graph of rows"),
        (
            LaplacianEigenmaps(independent=True, approximation=Anchors(9)),
            "independent=True needs eigenvectors of all samples",
        ),
    ],
)
def test_parameters_that_contradict_each_other_are_refused(X, model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(X)


def test_a_compact_model_has_anchors_and_no_training_rows(X, Y, tmp_path):
    model = LaplacianEigenmaps(n_neighbors=K, approximation=Anchors(15)).fit(X)
    eigenscape.save(model, tmp_path / "m", compact=True)
    small = eigenscape.load(tmp_path / "m")
    np.testing.assert_array_equal(small.transform(Y), model.transform(Y))
    assert small.kernel_.X.shape == X.shape
    with pytest.raises(eigenscape.exceptions.ModelFileError, match="was omitted"):
        small.kernel_(Y)


def test_anchors_need_dense_rows_without_weights(X):
    with pytest.raises(ValueError, match="got sparse rows"):
        LaplacianEigenmaps(approximation=Anchors(9)).fit(sparse.csr_array(X))
    with pytest.raises(ValueError, match="sample_weight is not supported with anchors"):
        LaplacianEigenmaps(approximation=Anchors(9)).fit(X, sample_weight=np.arange(1, 61))


def test_anchors_on_a_line_span_few_dimensions():
    X = np.column_stack([np.linspace(0, 1, 30), np.zeros(30)])
    with pytest.raises(RankError, match="raise the number of anchors"):
        LaplacianEigenmaps(4, n_neighbors=5, approximation=Anchors(5)).fit(X)
