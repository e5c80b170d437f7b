"""Oriented PCA by the difference of signal and noise (Burges sec. 1.4)."""

from __future__ import annotations

import numpy as np
import pytest

import eigenscape
from eigenscape import OrientedPCA


def signal_and_versions(m: int = 60, d: int = 5, n_versions: int = 3) -> tuple[np.ndarray, list[np.ndarray]]:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((m, d)) * np.linspace(3, 1, d) + 2
    noise = [rng.standard_normal((m, d)) * np.linspace(2.5, 0.2, d) + 0.3 for _ in range(n_versions)]
    return X, [X + each for each in noise]


def literal_error(X: np.ndarray, versions: list[np.ndarray], N: np.ndarray) -> float:
    """Mean of ``|x_i - N N' x_i^k|^2`` over signals and versions, about the mean of the signals."""
    mean, total = X.mean(axis=0), 0.0
    for version in versions:
        for x, distorted in zip(X - mean, version - mean, strict=True):
            total += np.square(x - N @ (N.T @ distorted)).sum()
    return total / (len(X) * len(versions))


def test_the_directions_are_eigenvectors_of_the_difference() -> None:
    X, versions = signal_and_versions()
    model = OrientedPCA(3, criterion="difference").fit(X, distorted=versions)
    centered = X - X.mean(axis=0)
    C = sum(np.outer(x, x) for x in centered) / len(X)
    Z = [z for version in versions for z in version - X]
    R = sum(np.outer(z, z) for z in Z) / len(Z)
    np.testing.assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(C - R)[::-1][:3])
    N = model.components_.T
    np.testing.assert_allclose((C - R) @ N, N * model.eigenvalues_, atol=1e-10)
    np.testing.assert_allclose(N.T @ N, np.eye(3), atol=1e-12)
    assert (model.residuals_ < 1e-10).all()


@pytest.mark.parametrize("q", [1, 2])
def test_they_minimise_the_reconstruction_error_of_distorted_versions(q: int) -> None:
    X, versions = signal_and_versions()
    model = OrientedPCA(q, criterion="difference").fit(X, distorted=versions)
    least = literal_error(X, versions, model.components_.T)
    total = np.square(X - X.mean(axis=0)).sum(axis=1).mean()
    assert least == pytest.approx(total - model.eigenvalues_.sum())
    rng = np.random.default_rng(1)
    for size in (1e-2, 0.3, 10):
        for _ in range(20):
            other = np.linalg.qr(model.components_.T + size * rng.standard_normal((5, q)))[0]
            assert literal_error(X, versions, other) > least


def test_unlike_the_quotient_it_depends_on_the_scale_of_the_noise() -> None:
    X, versions = signal_and_versions()
    weak = [X + 0.01 * (version - X) for version in versions]
    turned = {}
    for criterion in ("quotient", "difference"):
        first, second = (
            OrientedPCA(1, criterion=criterion).fit(X, distorted=each).components_[0]
            for each in (versions, weak)
        )
        turned[criterion] = abs(first @ second) / np.linalg.norm(first) / np.linalg.norm(second)
    assert turned["quotient"] > 1 - 1e-6
    assert turned["difference"] < 0.99


def test_training_rows_batches_and_the_inverse() -> None:
    X, versions = signal_and_versions()
    model = OrientedPCA(None, criterion="difference").fit(X, distorted=versions)
    assert model.n_components_ == 5
    assert model.eigenvalues_[-1] < model.eigenvalues_[0]
    np.testing.assert_allclose(model.transform(X), model.embedding_, atol=1e-12)
    np.testing.assert_allclose(model.transform(X[7:8]), model.embedding_[7:8], atol=1e-12)
    np.testing.assert_allclose(model.inverse_transform(model.embedding_), X, atol=1e-10)


def test_more_variables_than_rows() -> None:
    X, versions = signal_and_versions(8, 40, 1)
    wide = OrientedPCA(2, criterion="difference").fit(X, distorted=versions)
    noise = versions[0] - X
    difference = np.cov(X.T, bias=True) - noise.T @ noise / 8
    np.testing.assert_allclose(wide.eigenvalues_, np.linalg.eigvalsh(difference)[::-1][:2])
    np.testing.assert_allclose(
        difference @ wide.components_.T, wide.components_.T * wide.eigenvalues_, atol=1e-9
    )


def test_groups_and_noise_vectors() -> None:
    X, versions = signal_and_versions()
    noise = np.concatenate([version - X for version in versions])
    one, two = (
        OrientedPCA(2, criterion="difference").fit(X, **source)
        for source in ({"noise": noise}, {"distorted": versions})
    )
    np.testing.assert_allclose(one.components_, two.components_, atol=1e-9)
    assert OrientedPCA(2, criterion="difference").fit(X, np.arange(60) // 4).embedding_.shape == (60, 2)


def test_dask_collections() -> None:
    da = pytest.importorskip("dask.array")
    X, versions = signal_and_versions()
    local = OrientedPCA(2, criterion="difference").fit(X, distorted=versions)
    cut = OrientedPCA(2, criterion="difference").fit(
        da.from_array(X, chunks=(20, 5)), distorted=[da.from_array(each, chunks=(20, 5)) for each in versions]
    )
    np.testing.assert_allclose(cut.components_, local.components_, atol=1e-9)


def test_there_is_no_kernel(tmp_path) -> None:
    X, versions = signal_and_versions()
    model = OrientedPCA(2, criterion="difference").fit(X, distorted=versions)
    assert not hasattr(model, "kernel_")
    for call in (model.loss, lambda: model.eigenfunctions(X)):
        with pytest.raises(AttributeError, match="criterion='difference', which has no kernel"):
            call()
    eigenscape.save(model, tmp_path / "model.eigenscape")
    np.testing.assert_array_equal(
        eigenscape.load(tmp_path / "model.eigenscape").transform(X), model.transform(X)
    )


def test_an_unknown_criterion() -> None:
    X, versions = signal_and_versions()
    with pytest.raises(ValueError, match="criterion='ratio'"):
        OrientedPCA(criterion="ratio").fit(X, distorted=versions)
