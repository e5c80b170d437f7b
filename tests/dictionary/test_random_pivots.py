"""Randomly pivoted Cholesky against literal transcriptions, and its error beside that of other selections."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import reference
from cases import curve
from covering import PRODUCT
from numpy.testing import assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, make_blobs, make_swiss_roll

from eigenscape import GreedySpectralEmbedding, KernelPCA
from eigenscape.dictionary.selection import FIRST_BLOCK, empty_dictionary, select_by_random_pivots
from eigenscape.dictionary.source import PairwiseSource
from eigenscape.kernels import Gaussian
from eigenscape.options import Dictionary

either = pytest.mark.parametrize("sum_to_one", [True, False], ids=["hull", "span"])


def rbf(X: np.ndarray, gamma: float) -> np.ndarray:
    return np.exp(-gamma * cdist(X, X, "sqeuclidean"))


@pytest.mark.long
@either
def test_pivots_have_the_probabilities_of_the_algorithm_that_draws_one_at_a_time(sum_to_one):
    X = np.array([[0.0], [0.1], [0.5], [2.0], [2.2]])
    expected = reference.random_pivot_probabilities(rbf(X, 0.7), 3, sum_to_one)
    empty = empty_dictionary(PairwiseSource(Gaussian(0.7)), X, sum_to_one)
    n = 1000 if PRODUCT else 400
    found = Counter(tuple(select_by_random_pivots(empty, X, 3, seed).indices.tolist()) for seed in range(n))
    assert set(found) <= set(expected)
    for sequence, probability in expected.items():
        assert abs(found[sequence] / n - probability) < 4.5 * np.sqrt(probability / n) + 1 / n


@either
def test_pivots_are_those_of_rejection_sampling(sum_to_one):
    """Errors decrease by four orders of magnitude, so that those of all points are computed several times."""
    X = curve(400)
    blocks = [FIRST_BLOCK, 2 * FIRST_BLOCK]
    expected = reference.random_pivots(rbf(X, 0.7), 25, sum_to_one, 3, blocks)
    for n_jobs in (1, 2):
        empty = empty_dictionary(PairwiseSource(Gaussian(0.7)), X, sum_to_one, n_jobs)
        assert_array_equal(select_by_random_pivots(empty, X, 25, 3).indices, expected)


def datasets() -> dict[str, np.ndarray]:
    return {
        "digits": load_digits().data[:500],
        "roll": make_swiss_roll(500, random_state=0)[0],
        "clusters": make_blobs([350, 100, 40, 10], 5, random_state=0)[0],
    }


@pytest.mark.long
@pytest.mark.parametrize("name", ["digits", "roll", "clusters"])
def test_the_mean_error_is_near_the_least_possible(name):
    """At equal size: less than that of random rows, near that of greedy ones, and (Chen et al. 2022, theorem
    3.1 with epsilon = 1) at most twice that of the best approximation of rank 5, to which ``5 + 5 log(1 /
    eta)`` members suffice for a relative error ``eta`` of that approximation."""
    X, size = datasets()[name], 30
    gamma = KernelPCA(1).fit(X).gamma_
    options = {"gamma": gamma, "normalization": None, "sum_to_one": False}
    errors = {
        selection: np.mean(
            [
                GreedySpectralEmbedding(
                    1, random_state=seed, **options, dictionary=Dictionary(size, selection=selection)
                )
                .fit(X)
                .projection_error(X)
                .mean()
                for seed in range(3)
            ]
        )
        for selection in ("rpcholesky", "greedy", "random")
    }
    best = np.linalg.eigvalsh(rbf(X, gamma))[:-5].sum() / len(X)
    assert size >= 5 + 5 * np.log(1 / best)
    assert errors["rpcholesky"] < errors["random"]
    assert errors["rpcholesky"] < 1.25 * errors["greedy"]
    assert errors["rpcholesky"] <= 2 * best


def test_the_dictionary_is_determined_by_the_seed():
    X = curve(3000)
    models = [
        GreedySpectralEmbedding(
            gamma=0.7, random_state=seed, n_jobs=n_jobs, dictionary=Dictionary(30, selection="rpcholesky")
        ).fit(X)
        for seed, n_jobs in [(0, 1), (0, 2), (1, 1)]
    ]
    assert_array_equal(models[0].embedding_, models[1].embedding_)
    assert_array_equal(models[0].dictionary_, X[models[0].dictionary_indices_])
    assert set(models[0].dictionary_indices_) != set(models[2].dictionary_indices_)
    kernel_pca = KernelPCA(gamma=0.7, approximation=Dictionary(points=models[0])).fit(X)
    assert_array_equal(kernel_pca.dictionary_, models[0].dictionary_)


def test_dependent_points_are_not_selected():
    X = np.random.default_rng(0).random((200, 3))
    model = GreedySpectralEmbedding(kernel="linear", dictionary=Dictionary(4, selection="rpcholesky")).fit(X)
    assert model.gram_error_bound_ < 1e-12
    with pytest.raises(ValueError, match="only 4 of the points are independent"):
        GreedySpectralEmbedding(kernel="linear", dictionary=Dictionary(5, selection="rpcholesky")).fit(X)
    with pytest.raises(ValueError, match="needs size"):
        GreedySpectralEmbedding(dictionary=Dictionary(selection="rpcholesky")).fit(X)


def test_a_precomputed_kernel_gives_the_same_dictionary():
    X = curve(300)
    dictionary = Dictionary(20, selection="rpcholesky")
    by_rows = GreedySpectralEmbedding(gamma=0.7, dictionary=dictionary).fit(X)
    by_matrix = GreedySpectralEmbedding(kernel="precomputed", dictionary=dictionary).fit(rbf(X, 0.7))
    assert_array_equal(by_matrix.dictionary_indices_, by_rows.dictionary_indices_)
