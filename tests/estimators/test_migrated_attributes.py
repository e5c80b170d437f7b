"""Attributes and methods that people know from scikit-learn have the same values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn import manifold
from sklearn.datasets import make_swiss_roll
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import rbf_kernel

from eigenscape import PCA, Isomap, LaplacianEigenmaps, LocallyLinearEmbedding, SpectralClustering
from eigenscape.options import Dictionary

X = make_swiss_roll(250, random_state=0)[0]


def test_reconstruction_error_of_isomap() -> None:
    theirs = manifold.Isomap(n_neighbors=10).fit(X)
    assert Isomap(n_neighbors=10).fit(X).reconstruction_error() == pytest.approx(
        theirs.reconstruction_error(), rel=1e-6
    )
    with pytest.raises(NotFittedError):
        Isomap().reconstruction_error()


def test_reconstruction_error_of_lle() -> None:
    theirs = manifold.LocallyLinearEmbedding(n_neighbors=12, eigen_solver="dense").fit(X)
    model = LocallyLinearEmbedding(n_neighbors=12).fit(X)
    assert model.reconstruction_error() == pytest.approx(theirs.reconstruction_error_, rel=1e-4)
    finite = LocallyLinearEmbedding(n_neighbors=12, c=3.0).fit(X)
    assert finite.reconstruction_error() == pytest.approx(model.reconstruction_error(), rel=1e-4)


def test_affinity_matrix() -> None:
    for model in (LaplacianEigenmaps(n_neighbors=10), SpectralClustering(3, n_neighbors=10)):
        with pytest.raises(NotFittedError):
            model.affinity_matrix_  # noqa: B018
        A = model.fit(X).affinity_matrix_
        assert sparse.issparse(A)
        assert A.shape == (250, 250)
        assert abs(A - A.T).max() == 0
        graph = manifold.SpectralEmbedding(n_neighbors=11).fit(X).affinity_matrix_  # counts the point itself
        graph.setdiag(0)
        graph.eliminate_zeros()
        assert ((A != 0) != (graph != 0)).nnz == 0
        assert "affinity_matrix_" not in vars(model)
    dense = LaplacianEigenmaps(affinity="rbf", gamma=0.01).fit(X).affinity_matrix_
    np.testing.assert_allclose(dense, rbf_kernel(X, gamma=0.01), atol=1e-12)
    learnt = LaplacianEigenmaps(affinity="rbf", gamma=0.01, approximation=Dictionary(30)).fit(X)
    with pytest.raises(AttributeError, match="not available with a dictionary"):
        learnt.affinity_matrix_  # noqa: B018


def test_pca_keeps_all_components() -> None:
    assert PCA(n_components=None).fit(X).components_.shape == (3, 3)
