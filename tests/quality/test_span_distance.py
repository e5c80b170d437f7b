"""Distances from the span of eigenfunctions, against feature spaces that are known."""

from __future__ import annotations

import numpy as np
import pytest

from eigenscape import (
    PCA,
    ClassicalMDS,
    DiffusionMap,
    GreedySpectralEmbedding,
    KernelPCA,
    LaplacianEigenmaps,
)
from eigenscape.exceptions import UndefinedKernelError
from eigenscape.options import Dictionary
from eigenscape.quality.span_distance import self_similarity, span_distances

RNG = np.random.default_rng(0)
X, NEW = RNG.standard_normal((60, 4)), RNG.standard_normal((9, 4))


@pytest.mark.parametrize("embedder", [KernelPCA(2, kernel="linear"), ClassicalMDS(2)], ids=str)
def test_of_a_linear_kernel_it_is_the_error_of_pca(embedder):
    pca = PCA(2).fit(X)
    expected = np.square(NEW - pca.inverse_transform(pca.transform(NEW))).sum(axis=1)
    np.testing.assert_allclose(span_distances(embedder.fit(X)._model_, NEW), expected, rtol=1e-8)


@pytest.mark.parametrize(
    "embedder",
    [
        KernelPCA(3),
        KernelPCA(3, kernel="poly"),
        LaplacianEigenmaps(3, affinity="rbf"),
        LaplacianEigenmaps(3, affinity="rbf", include_diagonal=False),
        DiffusionMap(3, affinity="rbf"),
        GreedySpectralEmbedding(3, dictionary=Dictionary(tol=1e-3)),
        GreedySpectralEmbedding(3, normalization="divisive", dictionary=Dictionary(tol=1e-3)),
        GreedySpectralEmbedding(3, normalization=None, dictionary=Dictionary(tol=1e-3)),
    ],
    ids=str,
)
def test_the_similarity_to_itself_is_the_diagonal_of_the_kernel(embedder):
    kernel = embedder.fit(X)._model_.kernel
    exact = kernel.exact_to(NEW) if hasattr(kernel, "exact_to") else kernel.to(NEW)
    np.testing.assert_allclose(self_similarity(kernel, NEW), np.diagonal(exact(NEW)), rtol=1e-9)


def test_all_eigenfunctions_leave_nothing_of_the_training_rows():
    model = KernelPCA(None).fit(X)
    np.testing.assert_allclose(span_distances(model._model_, X), 0, atol=1e-10)
    assert (span_distances(model._model_, NEW) > 1e-4).all()
    few = [span_distances(KernelPCA(n).fit(X)._model_, NEW) for n in (1, 3, 9)]
    assert (few[0] >= few[1]).all()
    assert (few[1] >= few[2]).all()
    assert (few[2] >= 0).all()


def test_kernels_without_a_diagonal_are_refused():
    with pytest.raises(UndefinedKernelError, match="GraphAffinity does not define"):
        span_distances(LaplacianEigenmaps(2).fit(X)._model_, NEW)
    table = KernelPCA(2, kernel="precomputed").fit(X @ X.T)
    with pytest.raises(UndefinedKernelError, match="precomputed matrix"):
        span_distances(table._model_, NEW @ X.T)
    split = np.concatenate([X, X + 100])
    with pytest.warns(UserWarning, match="component"):
        pieces = LaplacianEigenmaps(2, on_disconnected="per_component").fit(split)
    with pytest.raises(UndefinedKernelError, match="2 components are embedded separately"):
        span_distances(pieces._model_, NEW)
