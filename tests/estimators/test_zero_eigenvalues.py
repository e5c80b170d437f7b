"""Graphs with an eigenvalue of zero: Belkin's problem has a solution, the Nystrom formula does not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import linalg

from eigenscape import DiffusionMap, LaplacianEigenmaps, SpectralClustering, io
from eigenscape.exceptions import RankError
from eigenscape.options import SpanningTree

#: A centre and four arms of one point each: the minimum spanning tree is a star.
CROSS = np.array([[0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
#: Each point of an octahedron has four neighbours, all but the opposite one.
OCTAHEDRON = np.concatenate([np.eye(3), -np.eye(3)])
STAR = np.zeros((5, 5))
STAR[0, 1:] = STAR[1:, 0] = 1.0


def belkin(W):
    """Solve ``L f = s D f`` (Belkin eq. 1)."""
    D = np.diag(W.sum(axis=1))
    return D, linalg.eigh(D - W, D)[0]


@pytest.mark.parametrize(
    ("X", "options", "W"),
    [
        (CROSS, {"affinity": "spanning_tree"}, STAR),
        (CROSS[[1, 0, 2]], {"affinity": "spanning_tree"}, np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0.0]])),
        (OCTAHEDRON, {"n_neighbors": 4}, np.kron(np.ones((2, 2)), np.ones((3, 3)) - np.eye(3))),
    ],
)
def test_solutions_of_belkins_problem_are_returned(X, options, W):
    if len(X) == 6:
        assert (W.sum(axis=1) == 4).all()
    n_components = min(2, len(X) - 2)
    model = LaplacianEigenmaps(n_components, **options).fit(X)
    D, sigma = belkin(W)
    assert_allclose(1 - model.eigenvalues_, sigma[1 : n_components + 1], atol=1e-12)
    assert (model.eigenvalues_ == 0).any()
    Z = model.embedding_
    assert_allclose((D - W) @ Z, D @ Z * (1 - model.eigenvalues_), atol=1e-12)
    assert_allclose(Z.T @ D @ Z / len(X), np.eye(n_components), atol=1e-12)
    assert_allclose(model.transform(X), Z, atol=1e-12)
    assert_allclose(model.transform(X[::-1][:2]), Z[::-1][:2], atol=1e-12)  # in any batch


def test_a_new_point_minimizes_belkins_sum():
    """``sum_i w(x, x_i) (z - z_i)^2`` is least at the average over the neighbours of the new point."""
    model = LaplacianEigenmaps(2, affinity=SpanningTree()).fit(CROSS)
    new = np.array([[1.1, 0.1], [-0.9, 0.05], [0.1, 0.0]])
    w = np.asarray(model.kernel_.base(new).todense())
    assert (w.sum(axis=1) > 0).all()
    assert_allclose(model.transform(new), w @ model.embedding_ / w.sum(axis=1, keepdims=True), atol=1e-12)


def test_a_long_cross_is_unchanged_by_its_zero_eigenvalues():
    arm = np.arange(1.0, 6.0)
    X = np.concatenate([[[0.0, 0.0]], *(s * arm[:, None] * e for s in (1, -1) for e in np.eye(2))])
    model = LaplacianEigenmaps(2, affinity=SpanningTree()).fit(X)
    assert model.eigenvalues_ == pytest.approx([np.cos(np.pi / 10)] * 2)
    assert_allclose(model.transform(X), model.embedding_, atol=1e-12)


def test_clusters_of_a_star():
    model = SpectralClustering(2, affinity=SpanningTree()).fit(CROSS)
    assert len(set(model.labels_)) == 2
    assert np.array_equal(model.predict(CROSS), model.labels_)


def test_a_model_file_keeps_the_solution(tmp_path):
    model = LaplacianEigenmaps(2, affinity=SpanningTree()).fit(CROSS)
    io.save(model, tmp_path / "star.eigenscape")
    assert_allclose(io.load(tmp_path / "star.eigenscape").transform(CROSS), model.embedding_, atol=1e-12)


@pytest.mark.parametrize(
    "fit",
    [
        # rows of given affinities are equal for all leaves, so that new rows do not tell them apart
        lambda: LaplacianEigenmaps(2, affinity="precomputed").fit(STAR),
        # l^t = 0 for every coordinate
        lambda: DiffusionMap(2, affinity=SpanningTree()).fit(CROSS),
        # a kernel so wide that its matrix has rank one in double precision
        lambda: LaplacianEigenmaps(4, affinity="rbf", gamma=1e-9).fit(CROSS),
    ],
)
def test_otherwise_the_error_gives_the_reason(fit):
    with pytest.raises(
        RankError, match=r"eigenvalues of the divided affinity are zero.*lower n_comp"
    ) as caught:
        fit()
    assert "complete" not in str(caught.value)
