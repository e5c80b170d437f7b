"""``loss`` of the accelerated classes against literal double sums (Bengio sec. 4), and new points of MDS."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import manifold
from sklearn.datasets import make_swiss_roll
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import rbf_kernel

import eigenscape
from eigenscape import accel
from eigenscape.exceptions import UndefinedKernelError

pytestmark = pytest.mark.usefixtures("uninstalled")

ROLL = make_swiss_roll(170, random_state=0)[0]
X, Y = ROLL[:150], ROLL[150:]

needs_mds = pytest.mark.skipif(not hasattr(manifold, "ClassicalMDS"), reason="this scikit-learn has none")


def discarded(K: np.ndarray, kept: int) -> float:
    """The training loss: the sum of the squared discarded eigenvalues over n^2."""
    values = np.sort(np.linalg.eigvalsh(K))[::-1]
    return float(np.square(values[kept:]).sum() / len(K) ** 2)


def between_different(errors: np.ndarray) -> float:
    n = len(errors)
    return float((np.square(errors).sum() - np.square(np.diag(errors)).sum()) / (n * (n - 1)))


def centered(K: np.ndarray) -> np.ndarray:
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


def divided(A: Any) -> np.ndarray:
    A = sparse.csr_array(A).toarray()
    np.fill_diagonal(A, 0)
    root = np.sqrt(A.sum(axis=1))
    return A / root / root[:, None]


def test_kernel_pca() -> None:
    model = accel.KernelPCA(3, kernel="rbf", gamma=0.01).fit(X)
    K = rbf_kernel(X, X, gamma=0.01)
    assert model.loss() == pytest.approx(discarded(centered(K), 3), rel=1e-8)
    assert model.loss(Y) == pytest.approx(
        eigenscape.KernelPCA(3, kernel="rbf", gamma=0.01).fit(X).loss(Y), rel=1e-8
    )
    given = accel.KernelPCA(3, kernel="precomputed").fit(K)
    assert given.loss() == pytest.approx(model.loss())
    pairs = rbf_kernel(Y, Y, gamma=0.01)
    assert given.loss(rbf_kernel(Y, X, gamma=0.01), pairs) == pytest.approx(model.loss(Y))
    with pytest.raises(ValueError, match="between of shape"):
        given.loss(rbf_kernel(Y, X, gamma=0.01))


def test_isomap() -> None:
    model = accel.Isomap(n_neighbors=8).fit(X)
    assert model.loss() == pytest.approx(discarded(centered(-0.5 * model.dist_matrix_**2), 2), rel=1e-8)
    k_new = pairwise_distances(Y, X)
    entry = np.where(k_new <= np.sort(k_new, axis=1)[:, 7:8], k_new, np.inf)
    to_train = (entry[:, :, None] + model.dist_matrix_).min(axis=1)
    paths = (to_train[:, None, :] + entry[None]).min(axis=2)
    D, reach = pairwise_distances(Y), np.sort(k_new, axis=1)[:, 7]
    paths = np.minimum(paths, np.where(np.maximum(reach[:, None], reach) >= D, D, np.inf))
    G = -0.5 * model.dist_matrix_**2
    means = (-0.5 * to_train**2).mean(axis=1)
    errors = -0.5 * paths**2 - means - means[:, None] + G.mean() - model.transform(Y) @ model.transform(Y).T
    assert model.loss(Y) == pytest.approx(between_different(errors), rel=1e-8)
    given = accel.Isomap(n_neighbors=8, metric="precomputed").fit(pairwise_distances(X))
    assert given.loss(k_new, D) == pytest.approx(model.loss(Y), rel=1e-6)
    assert accel.Isomap(n_neighbors=None, radius=8.0).fit(X).loss(Y) > 0


@needs_mds
@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_mds(metric: str) -> None:
    model = accel.ClassicalMDS(2, metric=metric).fit(X)
    D, new = pairwise_distances(X, metric=metric), pairwise_distances(Y, X, metric=metric)
    assert model.loss() == pytest.approx(discarded(centered(-0.5 * D**2), 2), rel=1e-8)
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-8 * np.abs(X).max())
    ours = eigenscape.ClassicalMDS(2, metric=metric).fit(X)
    signs = np.sign((ours.embedding_ * model.embedding_).sum(axis=0))
    np.testing.assert_allclose(model.transform(Y), ours.transform(Y) * signs, atol=1e-7)
    assert model.loss(Y) == pytest.approx(ours.loss(Y), rel=1e-7)
    given = accel.ClassicalMDS(2, metric="precomputed").fit(D)
    np.testing.assert_allclose(given.transform(new), model.transform(Y), atol=1e-8)
    assert given.loss(new, pairwise_distances(Y, metric=metric)) == pytest.approx(model.loss(Y))


@pytest.mark.parametrize("params", [{"n_neighbors": 12}, {"affinity": "rbf", "gamma": 0.01}], ids=str)
def test_spectral_embedding(params: dict[str, Any]) -> None:
    model = accel.SpectralEmbedding(2, random_state=0, **params).fit(X)
    K = divided(model.affinity_matrix_)
    values = np.sort(np.linalg.eigvalsh(K))[::-1]
    assert model.loss() == pytest.approx(discarded(K, 3), rel=1e-8)
    new = pairwise_distances(Y, X)
    if "affinity" in params:
        a, pairs = np.exp(-0.01 * new**2), rbf_kernel(Y, Y, gamma=0.01)
    else:
        reach = np.sort(new, axis=1)[:, 10]
        a = 0.5 * (new <= reach[:, None]) + 0.5 * (new <= np.sort(pairwise_distances(X), axis=1)[:, 11])
        D = pairwise_distances(Y)
        pairs = 0.5 * (reach >= D) + 0.5 * (reach[:, None] >= D)
    total = sparse.csr_array(model.affinity_matrix_).toarray()
    np.fill_diagonal(total, 0)
    z = np.column_stack([np.full(len(Y), total.sum() ** -0.5), model.transform(Y)])
    root = np.sqrt(a.sum(axis=1))
    errors = pairs / root / root[:, None] - root[:, None] * (z * values[:3]) @ z.T * root
    assert model.loss(Y) == pytest.approx(between_different(errors), rel=1e-6)


def test_spectral_clustering() -> None:
    params = {"affinity": "nearest_neighbors", "n_neighbors": 12, "random_state": 0}
    model = accel.SpectralClustering(3, **params).fit(X)
    embedding = accel.SpectralEmbedding(2, n_neighbors=12, random_state=0).fit(X)
    assert model.loss() == pytest.approx(embedding.loss(), rel=1e-8)  # the same functions
    assert model.loss(Y) == pytest.approx(embedding.loss(Y), rel=1e-6)
    given = accel.SpectralClustering(3, affinity="precomputed", random_state=0).fit(model.affinity_matrix_)
    assert given.loss() == pytest.approx(model.loss())
    with pytest.raises(ValueError, match="training data are dense rows"):
        given.loss(Y)


@pytest.mark.parametrize("method", ["standard", "ltsa", "hessian", "modified"])
def test_locally_linear(method: str) -> None:
    model = accel.LocallyLinearEmbedding(
        n_neighbors=12, method=method, eigen_solver="dense", random_state=0
    ).fit(X)
    many = accel.LocallyLinearEmbedding(
        n_neighbors=12, n_components=2, method=method, eigen_solver="dense", random_state=0
    ).fit(X)
    assert model.loss() == pytest.approx(many.loss())
    if method == "standard":
        ours = eigenscape.LocallyLinearEmbedding(2, n_neighbors=12, method=method).fit(X)
        assert model.loss() == pytest.approx(ours.loss(), rel=1e-6)
        assert accel.LocallyLinearEmbedding(n_neighbors=12, n_components=1).fit(X).loss() > model.loss()
    assert model.loss() > 0
    with pytest.raises(UndefinedKernelError, match="not defined between new points"):
        model.loss(Y)


def test_all_classes_have_a_loss() -> None:
    for name in dir(accel):
        if isinstance(getattr(accel, name, None), type) and hasattr(getattr(accel, name), "fit"):
            assert callable(getattr(accel, name).loss), name
