"""Divisive normalisation before the selection of a dictionary (Ouimet sec. 3.2)."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from eigenscape import GreedySpectralEmbedding
from eigenscape.options import Dictionary
from tests import reference as ref

OPTIONS = {"kernel": "rbf", "gamma": 0.5, "normalization": "divisive", "normalize_first": True}


def sample(n=150, seed=0):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.standard_normal((n - 30, 2)), 0.3 * rng.standard_normal((30, 2)) + 2.5])


def divided(X):
    """The Gram matrix of ``k(x, y) / sqrt(E(x) E(y))``, averages over all points (Bengio eq. 12)."""
    K = ref.table(ref.gaussian(0.5), X, X)
    E = [sum(K[i]) / len(X) for i in range(len(X))]
    return np.array([[K[i, j] / np.sqrt(E[i] * E[j]) for j in range(len(X))] for i in range(len(X))])


@pytest.mark.parametrize("tol", [0.3, 1e-2])
@pytest.mark.parametrize("sum_to_one", [True, False])
def test_selection_is_that_of_the_divided_matrix(tol, sum_to_one):
    X = sample()
    model = GreedySpectralEmbedding(2, sum_to_one=sum_to_one, **OPTIONS, dictionary=Dictionary(tol=tol)).fit(
        X
    )
    members, _ = ref.greedy_dictionary(divided(X), tol, sum_to_one)
    assert model.dictionary_indices_.tolist() == members
    after = GreedySpectralEmbedding(
        2, **{**OPTIONS, "normalize_first": False}, sum_to_one=sum_to_one, dictionary=Dictionary(tol=tol)
    )
    assert after.fit(X).dictionary_indices_.tolist() != members


@pytest.mark.long
def test_small_tolerance_gives_the_eigenvectors_of_the_divided_matrix():
    X = sample()
    model = GreedySpectralEmbedding(3, **OPTIONS, dictionary=Dictionary(tol=1e-7)).fit(X)
    values, vectors = np.linalg.eigh(divided(X))
    assert values[-1] == pytest.approx(len(X))  # the trivial one
    assert_allclose(model.eigenvalues_, values[-2:-5:-1], rtol=1e-5)
    expected = np.sqrt(len(X)) * vectors[:, -2:-5:-1]
    signs = np.sign(np.sum(expected * model.embedding_, axis=0))
    assert_allclose(model.embedding_, signs * expected, atol=1e-3)
    assert_allclose(model.transform(X), model.embedding_, atol=1e-9)


def test_error_bound_holds_for_the_divided_matrix():
    X = sample()
    model = GreedySpectralEmbedding(2, sum_to_one=False, **OPTIONS, dictionary=Dictionary(tol=1e-2)).fit(X)
    assert model.gram_error_bound_ <= 1e-2
    assert np.abs(model.kernel_(X) - divided(X)).max() <= model.gram_error_bound_ + 1e-12


@pytest.mark.long
def test_averages_of_a_stream_are_those_of_its_first_chunk():
    X = sample(300)
    model = GreedySpectralEmbedding(2, **OPTIONS, dictionary=Dictionary(tol=1e-2)).fit([X[:150], X[150:]])
    K = ref.table(ref.gaussian(0.5), X, X)
    E = K[:, :150].mean(axis=1)
    members, _ = ref.greedy_dictionary(K / np.sqrt(np.outer(E, E)), 1e-2, False)
    assert model.dictionary_indices_.tolist() == members
    assert model.transform(X).shape == (300, 2)


@pytest.mark.parametrize(
    ("options", "X", "message"),
    [
        (
            {"normalization": "additive"},
            sample(),
            "normalize_first=True is for normalization='divisive', got",
        ),
        ({"normalize_first": "yes"}, sample(), "normalize_first='yes' must be True or False"),
        (
            {"kernel": "precomputed"},
            divided(sample(40)),
            "normalize_first=True needs kernel values between any",
        ),
        ({"kernel": "linear"}, sample(), "needs positive average similarities.*wider kernel"),
    ],
)
def test_bad_arguments(options, X, message):
    with pytest.raises(ValueError, match=message):
        GreedySpectralEmbedding(2, **{**OPTIONS, **options}).fit(X)
