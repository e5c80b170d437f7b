"""The share of neighbours kept, against a literal count and where it is known."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from eigenscape.quality import coranking_curve, neighbors_kept, trustworthiness
from eigenscape.quality.neighbor_preservation import mean_excess_rank


def kept_literally(X: np.ndarray, Y: np.ndarray, k: int) -> float:
    """``1 / (k n) sum_i |N_X(i) & N_Y(i)|``, by sets."""
    common = 0
    for i in range(len(X)):
        near, mapped = (
            set(np.argsort(np.where(np.arange(len(A)) == i, np.inf, cdist(A[i : i + 1], A)[0]))[:k])
            for A in (X, Y)
        )
        common += len(near & mapped)
    return common / (k * len(X))


@pytest.mark.parametrize("k", [1, 7, 60])
def test_the_share_is_a_count_of_common_neighbours(k):
    X = np.random.default_rng(0).standard_normal((80, 4))
    kept = neighbors_kept(X, X[:, :2], k)
    assert kept.share.value == pytest.approx(kept_literally(X, X[:, :2], k), abs=1e-12)
    assert kept.share.low == kept.share.high == kept.share.value
    assert kept.chance == k / 79
    assert kept.share.value == pytest.approx(coranking_curve(X, X[:, :2], k)[1][0], abs=1e-12)
    assert float(kept) == kept.share.value


def test_a_random_map_keeps_what_chance_predicts():
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((600, 3)), rng.standard_normal((600, 2))
    kept = neighbors_kept(X, Y, 20)
    assert kept.share.value == pytest.approx(kept.chance, abs=0.005)
    assert abs(kept.beyond_chance) < 0.01
    assert neighbors_kept(X, X, 20).beyond_chance == 1


def test_the_interval_of_a_sample_covers_the_exact_share():
    X = np.random.default_rng(2).standard_normal((1000, 5))
    exact = neighbors_kept(X, X[:, :2], n_samples=None).share.value
    sampled = [neighbors_kept(X, X[:, :2], n_samples=100, random_state=seed).share for seed in range(40)]
    covered = np.mean([estimate.low <= exact <= estimate.high for estimate in sampled])
    assert covered >= 0.85
    assert all(estimate.high - estimate.low < 0.1 for estimate in sampled)


def test_equal_distances_count_as_neighbours():
    X = np.repeat(np.arange(10.0), 6)[:, None]  # five copies of each point are at distance 0
    assert neighbors_kept(X, X[::-1] * -1, 3).share.value == 1


def test_the_mean_excess_rank_follows_from_trustworthiness():
    X = np.random.default_rng(3).standard_normal((90, 5))
    Y, k = X[:, :1], 8
    rank = cdist(X, X).argsort(axis=1).argsort(axis=1)  # 0 is the point itself
    near = np.where(np.eye(90, dtype=bool), np.inf, cdist(Y, Y)).argsort(axis=1)[:, :k]
    excess = np.maximum(np.take_along_axis(rank, near, axis=1) - k, 0).mean()
    assert mean_excess_rank(trustworthiness(X, Y, k), 90, k) == pytest.approx(excess, rel=1e-12)


def test_invalid_arguments_are_rejected():
    X = np.zeros((10, 2))
    with pytest.raises(ValueError, match="n_neighbors=9 must lie between 1 and n_samples - 2 = 8"):
        neighbors_kept(X, X, 9)
