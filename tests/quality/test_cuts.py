"""Cuts of any partition and the unexplained fraction, against literal transcriptions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris, make_blobs

from eigenscape import (
    PCA,
    ClassicalMDS,
    GreedySpectralEmbedding,
    KernelPCA,
    LaplacianEigenmaps,
    SpectralClustering,
)
from eigenscape.operators import DenseOperator, SparseOperator
from eigenscape.options import Dictionary
from eigenscape.quality import cheeger_value, negative_fraction, normalized_cut, unexplained_fraction
from tests import reference as ref


def affinity(n=15, seed=0):
    W = np.random.default_rng(seed).random((n, n))
    return np.where(W + W.T > 0.8, W + W.T, 0.0)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.coo_array, np.ndarray.tolist])
@pytest.mark.parametrize("n_parts", [2, 3, 15])
def test_cuts_match_their_formulas(kind, n_parts):
    W = affinity()
    labels = np.random.default_rng(1).permutation(15) % n_parts
    assert normalized_cut(kind(W), labels) == pytest.approx(ref.normalized_cut(W, labels), rel=1e-12)
    parts = [[i for i in range(15) if labels[i] == a] for a in range(n_parts)]
    worst = max(ref.cheeger_value(W, part) for part in parts)
    assert cheeger_value(kind(W), labels) == pytest.approx(worst, rel=1e-12)


@pytest.mark.parametrize("names", [["a", "b"], [True, False], [-1, 7], [0.5, 2.5], [np.str_("u"), None]])
def test_labels_of_any_type(names):
    W, side = affinity(), np.arange(15) % 2
    labels = np.empty(15, dtype=object)
    labels[:] = [names[i] for i in side]
    if None in names:
        with pytest.raises(ValueError, match="7 labels are missing \\(first: vertex 1\\)"):
            normalized_cut(W, labels)
        return
    expected = ref.normalized_cut(W, side)
    assert normalized_cut(W, labels) == pytest.approx(expected, rel=1e-12)
    assert normalized_cut(W, labels.tolist()) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_bounds_of_two_parts(seed):
    """The second eigenvalue is a lower bound of the cut; the Cheeger value lies between it and its half."""
    W = affinity(seed=seed)
    labels = np.random.default_rng(seed).permutation(15) % 2
    cut, value = normalized_cut(W, labels), cheeger_value(W, labels)
    assert cut / 2 <= value <= cut
    D = np.diag(W.sum(axis=1))
    L = np.linalg.inv(np.sqrt(D)) @ (D - W) @ np.linalg.inv(np.sqrt(D))
    second = np.linalg.eigvalsh(L)[1]
    assert second <= cut + 1e-12
    best = min(cheeger_value(W, [(code >> i) & 1 for i in range(15)]) for code in range(1, 400))
    assert second / 2 <= best  # Cheeger's inequality


def test_parts_without_edges_between_them_have_no_cut():
    W = np.kron(np.eye(2), np.ones((4, 4)))
    labels = np.repeat([0, 1], 4)
    assert normalized_cut(W, labels) == 0
    assert cheeger_value(W, labels) == 0


@pytest.mark.parametrize(
    "options",
    [
        {"affinity": "rbf", "gamma": 0.5},
        {},
        {"affinity": "rbf", "gamma": 0.2, "approximation": Dictionary(tol=1e-3)},
    ],
)
def test_kernel_of_a_fitted_model(options):
    X, _ = make_blobs(120, centers=3, random_state=0)
    model = SpectralClustering(3, **options).fit(X)
    assert normalized_cut(model.kernel_, model.labels_) == pytest.approx(model.ncut_, rel=1e-9)
    assert cheeger_value(model.kernel_, model.labels_) < 0.5
    other = np.random.default_rng(0).integers(0, 3, 120)
    assert normalized_cut(model.kernel_, other) > normalized_cut(model.kernel_, model.labels_) + 0.5


def test_any_labels_on_any_graph():
    X, y = load_iris(return_X_y=True)
    kernel = (
        LaplacianEigenmaps(affinity="rbf", gamma=1.0)
        .fit(X[np.unique(X, axis=0, return_index=True)[1]])
        .kernel_
    )
    species = y[np.unique(X, axis=0, return_index=True)[1]]
    assert normalized_cut(kernel, species) < normalized_cut(kernel, np.arange(len(species)) % 3)


PATH = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)


@pytest.mark.parametrize("function", [normalized_cut, cheeger_value])
@pytest.mark.parametrize(
    ("W", "labels", "message"),
    [
        (PATH, [0, 1, 1], r"labels must have shape \(4,\), one for each vertex, got shape \(3,\)"),
        (PATH, [[0], [1], [1], [1]], r"got shape \(4, 1\)"),
        (PATH, [2, 2, 2, 2], "labels has the single value 2; a cut needs at least two parts"),
        (PATH, [0, 1, np.nan, 1], r"1 labels are missing \(first: vertex 2\)"),
        (PATH[:3], [0, 1, 1], r"square matrix or the kernel of a fitted model, got shape \(3, 4\)"),
        (-PATH, [0, 0, 1, 1], "not negative, but 6 values are not, such as -1 between vertices 0 and 1"),
        (sparse.csr_array(-PATH), [0, 0, 1, 1], "such as -1 between vertices 0 and 1"),
        (np.where(PATH > 0, np.nan, 0), [0, 0, 1, 1], "affinity must be finite"),
        (np.triu(PATH), [0, 0, 1, 1], "must be symmetric, but differs from its transpose by 1"),
        (sparse.csr_array(np.triu(PATH)), [0, 0, 1, 1], "must be symmetric"),
        (np.pad(PATH, (0, 2)), [0, 0, 1, 1, 1, 1], r"2 vertices are isolated.*\(first: vertex 4\)"),
    ],
)
def test_bad_arguments(function, W, labels, message):
    with pytest.raises(ValueError, match=message):
        function(W, labels)


def test_negative_fraction_of_a_sparse_matrix():
    assert negative_fraction(SparseOperator(sparse.csr_array(np.diag([3.0, -1.0])))) == 0.25


# --- unexplained fraction -----------------------------------------------------------------------------------


def centered_gram(n=30, d=6, seed=0):
    X = np.random.default_rng(seed).standard_normal((n, d)) * np.arange(1, d + 1)
    X -= X.mean(axis=0)
    return X, X @ X.T


@pytest.mark.parametrize("p", [0, 1, 3, 6, 20])
def test_unexplained_fraction_matches_the_residuals(p):
    _, K = centered_gram()
    expected = ref.unexplained_fraction(K, p)
    for kernel in (K, sparse.csr_array(K), DenseOperator(K), np.linalg.eigvalsh(K)):
        assert unexplained_fraction(kernel, p) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_unexplained_fraction_of_fitted_models():
    X, _ = centered_gram()
    expected = 1 - PCA(2).fit(X).explained_variance_ratio_.sum()
    assert unexplained_fraction(ClassicalMDS().fit(X).kernel_, 2) == pytest.approx(expected, rel=1e-9)
    model = KernelPCA(3, kernel="rbf", gamma=0.02).fit(X)
    centered = np.eye(30) - 1 / 30
    gaussian = centered @ ref.table(ref.gaussian(0.02), X, X) @ centered
    expected = ref.unexplained_fraction(gaussian, 3)
    assert unexplained_fraction(model.kernel_, 3) == pytest.approx(expected, rel=1e-9)
    greedy = GreedySpectralEmbedding(3, kernel="rbf", gamma=0.02, dictionary=Dictionary(tol=1e-9)).fit(X)
    assert unexplained_fraction(greedy.kernel_, 3) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    ("kernel", "p", "message"),
    [
        (np.diag([3.0, -1.0]), 1, r"negative eigenvalue -1 \(the largest is 3\).*shift or by clipping"),
        ([3.0, -1.0], 1, "negative eigenvalue -1"),
        (np.zeros((3, 3)), 1, "sum to 0, so there is nothing to explain"),
        (np.ones((3, 2)), 1, r"square matrix or the vector of its eigenvalues, got shape \(3, 2\)"),
        (np.diag([np.nan, 1.0]), 1, "kernel must be finite"),
        (np.triu(np.ones((3, 3))), 1, "must be symmetric, but differs from its transpose by 1"),
        (np.eye(3), 1.5, "n_components=1.5 must be an integer"),
        (np.eye(3), -1, "n_components=-1 must be an integer of at least 0"),
    ],
)
def test_bad_kernels(kernel, p, message):
    with pytest.raises(ValueError, match=message):
        unexplained_fraction(kernel, p)
