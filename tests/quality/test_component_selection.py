"""The number of components by the held-out loss."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from eigenscape import (
    PCA,
    ClassicalMDS,
    Isomap,
    KernelPCA,
    LocallyLinearEmbedding,
    ProjectionPursuit,
)
from eigenscape.exceptions import UndefinedKernelError
from eigenscape.quality import choose_n_components


def noisy_similarities(n: int = 240, level: float = 0.15) -> np.ndarray:
    """Similarities of three features of different scales, with noise in each pair."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 3)) * [1.0, 0.8, 0.6]
    noise = np.triu(rng.standard_normal((n, n)), 1)
    return X @ X.T + level * (noise + noise.T)


def test_minimum_is_the_number_of_features():
    choice = choose_n_components(KernelPCA(kernel="precomputed"), noisy_similarities(), 12)
    assert choice.best == choice.low == choice.high == 3
    assert choice.candidates == list(range(1, 13))
    values = [score.value for score in choice.scores]
    assert min(values) == values[2]
    assert all(score.low < score.value < score.high for score in choice.scores)
    assert (np.diff(choice.training) < 0).all()  # would choose 12


@pytest.mark.long
def test_curve_is_that_of_separate_fits():
    X = np.random.default_rng(1).standard_normal((60, 4))
    choice = choose_n_components(Isomap(n_neighbors=8), X, 3, n_splits=3, random_state=5)
    parts = np.array_split(np.random.default_rng(5).permutation(60), 3)
    for n, score in zip(choice.candidates, choice.scores, strict=True):
        losses = []
        for part in parts:
            rest = np.setdiff1d(np.arange(60), part)
            losses.append(Isomap(n, n_neighbors=8).fit(X[rest]).loss(X[np.sort(part)]))
        assert score.value == pytest.approx(np.mean(losses), rel=1e-8)


def test_precomputed_distances_give_the_same():
    X = np.random.default_rng(2).standard_normal((50, 3))
    rows = choose_n_components(ClassicalMDS(metric="cityblock"), X, 5)
    table = choose_n_components(ClassicalMDS(metric="precomputed"), cdist(X, X, "cityblock"), 5)
    np.testing.assert_allclose([s.value for s in table.scores], [s.value for s in rows.scores], rtol=1e-9)
    assert table.best == rows.best


@pytest.mark.long
def test_default_limit_is_the_rank():
    """A linear kernel of 4 features has 4 components: no more are tried, and all are needed."""
    X = np.random.default_rng(3).standard_normal((60, 4))
    choice = choose_n_components(KernelPCA(kernel="linear"), X)
    assert choice.candidates == [1, 2, 3, 4]
    assert choice.best == 4
    assert choose_n_components(KernelPCA(kernel="linear"), X, 5).candidates == [1, 2, 3, 4]


@pytest.mark.long
def test_default_limit_is_that_of_features_and_landmarks():
    X = np.random.default_rng(3).standard_normal((60, 4))
    assert choose_n_components(PCA(), X).candidates == [1, 2, 3, 4]
    landmarks = choose_n_components(Isomap(n_neighbors=8, n_landmarks=12), X)
    assert 4 <= len(landmarks.candidates) <= 11


def test_few_samples_have_one_candidate():
    X = np.random.default_rng(3).standard_normal((5, 4))
    choice = choose_n_components(KernelPCA(), X, n_splits=2)
    assert choice.candidates == [1]
    assert (choice.best, choice.low, choice.high) == (1, 1, 1)


@pytest.mark.parametrize("model", [PCA(), KernelPCA(), Isomap(n_neighbors=8)])
def test_errors_name_max_components(model):
    X = np.random.default_rng(3).standard_normal((60, 4))
    with pytest.raises(ValueError, match="max_components=0 must be an integer of at least 1"):
        choose_n_components(model, X, 0)
    with pytest.raises(ValueError, match=r"max_components=500 cannot .* 48 training.*; lower max_components"):
        choose_n_components(model, X, 500)


def test_errors_of_other_parameters_do_not_name_max_components():
    X = np.random.default_rng(3).standard_normal((60, 4))
    for limit in (None, 3):
        with pytest.raises(ValueError, match="n_neighbors") as caught:
            choose_n_components(Isomap(n_neighbors=100), X, limit)
        assert "max_components" not in str(caught.value)


def test_a_semidefinite_kernel_levels_off():
    """Beyond a few components the loss of a wide Gaussian kernel is below any difference between splits."""
    X = np.random.default_rng(4).standard_normal((120, 2))
    choice = choose_n_components(KernelPCA(kernel="rbf", gamma=0.05), X, 30)
    assert choice.low < 30
    assert choice.low <= choice.best <= choice.high


def test_any_number_of_jobs_gives_the_same():
    X = np.random.default_rng(5).standard_normal((40, 3))
    one, two = (choose_n_components(ClassicalMDS(), X, 3, n_jobs=jobs) for jobs in (1, 2))
    assert one == two


def test_errors_name_the_reason():
    X = np.random.default_rng(6).standard_normal((40, 3))
    with pytest.raises(TypeError, match="ProjectionPursuit has no kernel"):
        choose_n_components(ProjectionPursuit(), X)
    with pytest.raises(UndefinedKernelError, match="locally linear embedding"):
        choose_n_components(LocallyLinearEmbedding(n_neighbors=5), X, 2)
    with pytest.raises(ValueError, match="n_splits=30 needs at least 60 samples"):
        choose_n_components(KernelPCA(), X, n_splits=30)
    with pytest.raises(ValueError, match="n_splits=1 must be an integer of at least 2"):
        choose_n_components(KernelPCA(), X, n_splits=1)
