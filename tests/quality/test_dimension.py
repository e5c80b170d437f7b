"""Intrinsic dimension against literal transcriptions, and on sets of known dimension."""

from __future__ import annotations

from math import log

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits, load_wine, make_swiss_roll
from sklearn.preprocessing import StandardScaler

from eigenscape.quality import intrinsic_dimension

METHODS = ["maximum likelihood", "two neighbors"]
RNG = np.random.default_rng


def sphere(d, n, seed=0):
    Z = RNG(seed).standard_normal((n, d + 1))
    return Z / np.linalg.norm(Z, axis=1, keepdims=True)


def cube(d, n, seed=0):
    return RNG(seed).uniform(size=(n, d))


def gaussian(d, n, seed=0):
    return RNG(seed).standard_normal((n, d))


def roll(width, noise, n=2000):
    """A swiss roll in ``width`` dimensions, with noise of the given standard deviation in all of them."""
    frame = np.linalg.qr(RNG(1).standard_normal((width, 3)))[0]
    return make_swiss_roll(n, random_state=0)[0] @ frame.T + noise * RNG(2).standard_normal((n, width))


# --- literal transcriptions ---------------------------------------------------------------------------------


def levina_bickel_mackay(X, k):
    """Levina and Bickel eq. 8 for each point; the inverses averaged as by MacKay and Ghahramani."""
    inverses = []
    for i in range(len(X)):
        T = sorted(np.sqrt(np.sum((X[i] - X[j]) ** 2)) for j in range(len(X)) if j != i)
        m = (sum(log(T[k - 1] / T[j - 1]) for j in range(1, k)) / (k - 1)) ** -1
        inverses.append(1 / m)
    return 1 / (sum(inverses) / len(X))


def facco(X):
    """The five steps of Facco et al.: ratios, sorted, their empirical distribution, a line through 0."""
    ratios = []
    for i in range(len(X)):
        r1, r2 = sorted(np.sqrt(np.sum((X[i] - X[j]) ** 2)) for j in range(len(X)) if j != i)[:2]
        ratios.append(r2 / r1)
    ratios.sort()
    n = len(X)
    pairs = [(log(ratios[i - 1]), -log(1 - i / n)) for i in range(1, int(0.9 * n) + 1)]
    return sum(x * y for x, y in pairs) / sum(x * x for x, _ in pairs)


@pytest.mark.parametrize("k", [2, 5, 20])
def test_maximum_likelihood_matches_its_formula(k):
    X = RNG(0).standard_normal((60, 4)) * [1, 2, 3, 4]
    found = intrinsic_dimension(X, n_neighbors=k)
    assert found.value == pytest.approx(levina_bickel_mackay(X, k), rel=1e-10)
    by_k = [levina_bickel_mackay(X, j) for j in range(2, k + 1)]
    assert found.details["by_n_neighbors"] == pytest.approx(by_k, rel=1e-10)
    assert found.details["n_neighbors"] == k


def test_two_neighbors_match_the_formula():
    X = RNG(0).standard_normal((60, 4)) * [1, 2, 3, 4]
    assert intrinsic_dimension(X, method="two neighbors").value == pytest.approx(facco(X), rel=1e-10)


# --- sets of known dimension --------------------------------------------------------------------------------

#: Estimates are too low by at most this share: even near neighbours of few points are far in high dimension.
BIAS = {2: 0.04, 3: 0.06, 5: 0.12, 10: 0.2, 20: 0.3}


@pytest.mark.parametrize("d", BIAS)
@pytest.mark.parametrize("make", [sphere, cube, gaussian])
def test_dimension_of_known_sets(make, d):
    X = make(d, 2000)
    found = intrinsic_dimension(X)
    assert (1 - BIAS[d]) * d <= found.value <= 1.05 * d
    assert found.low < found.value < found.high
    nearest = intrinsic_dimension(X, method="two neighbors")
    assert (1 - BIAS[d] + 0.05) * d <= nearest.high
    assert nearest.low <= 1.05 * d
    assert nearest.value == pytest.approx(d, rel=max(BIAS[d], 0.1))


@pytest.mark.parametrize(("width", "noise"), [(3, 0.0), (3, 0.1), (20, 0.03)])
def test_dimension_of_a_roll_with_noise(width, noise):
    assert intrinsic_dimension(roll(width, noise)).value == pytest.approx(2, abs=0.1)


@pytest.mark.long
def test_noise_is_seen_at_small_scale():
    """Noise of 0.1 in 20 dimensions is as large as the distance to the nearest neighbours of the roll."""
    X = roll(20, 0.1)
    by_k = intrinsic_dimension(X).details["by_n_neighbors"]
    assert by_k[3] > by_k[8] > by_k[-1] > 2.2  # 5, 10 and 20 neighbours
    assert intrinsic_dimension(X, n_neighbors=80).value < by_k[-1]
    assert intrinsic_dimension(X, method="two neighbors").low > by_k[-1]


def test_more_points_reduce_the_bias():
    few, many = (intrinsic_dimension(cube(8, n), n_samples=400).value for n in (300, 10_000))
    assert few < many - 0.3
    assert many < 8


@pytest.mark.long
def test_real_data():
    digits = intrinsic_dimension(load_digits().data)
    assert 6.5 < digits.value < 7.2
    wine = intrinsic_dimension(StandardScaler().fit_transform(load_wine().data))
    assert wine.value == pytest.approx(5.87, abs=0.01)
    assert 5 < wine.low < wine.high < 7
    assert 8 < intrinsic_dimension(load_digits().data, method="two neighbors").value < 10


@pytest.mark.long
@pytest.mark.parametrize("method", METHODS)
def test_interval_has_the_width_of_the_estimates(method):
    """The standard deviation over data sets agrees with the mean half width of the intervals."""
    found = [intrinsic_dimension(cube(2, 300, seed), method=method) for seed in range(30)]
    inverse = 1 / np.array([one[:3] for one in found])
    deviation = np.std(inverse[:, 0], ddof=1)
    assert 0.8 < np.mean(inverse[:, 1] - inverse[:, 0]) / (2.093 * deviation) < 1.6


# --- duplicates, metrics, small samples ---------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_equal_rows_count_once(method):
    X = gaussian(3, 300)
    once = intrinsic_dimension(X, method=method)
    repeated = intrinsic_dimension(np.concatenate([X, X[:250], X[:40]]), method=method)
    assert repeated[:4] == once[:4]
    assert repeated.details["n_distinct"] == 300


def test_distances_sparse_rows_and_threads_give_the_same_value():
    X = np.concatenate([gaussian(3, 200), gaussian(3, 40)])  # 40 duplicates
    rows = intrinsic_dimension(X)
    for other in (
        intrinsic_dimension(cdist(X, X), metric="precomputed"),
        intrinsic_dimension(sparse.csr_array(X)),
        intrinsic_dimension(X, n_jobs=2),
    ):
        assert other.details["n_distinct"] == 200
        assert other[:3] == pytest.approx(rows[:3], rel=1e-9)
    assert intrinsic_dimension(X, metric="manhattan").value == pytest.approx(rows.value, rel=0.05)


def test_a_sample_of_points_searches_all_points():
    X = cube(2, 3000)
    sampled = intrinsic_dimension(X, n_samples=300)
    assert sampled.details["n_queries"] == 300
    assert sampled.details["n_distinct"] == 3000
    whole = intrinsic_dimension(X, n_samples=None)
    assert sampled.low < whole.value < sampled.high
    assert whole.high - whole.low < sampled.high - sampled.low


def test_few_points():
    X = gaussian(2, 8)
    assert intrinsic_dimension(X[:3]).low == 0
    assert intrinsic_dimension(X[:3]).high == np.inf
    found = intrinsic_dimension(X)
    assert found.details["n_neighbors"] == 7
    assert 0 < found.low < found.value < found.high


def test_a_single_column():
    assert intrinsic_dimension(cube(1, 500)).value == pytest.approx(1, abs=0.05)


GRID = np.stack(np.meshgrid(np.arange(20.0), np.arange(20.0)), axis=-1).reshape(-1, 2)


def test_a_grid_has_ties():
    assert 2 < intrinsic_dimension(GRID).value < 3  # more regular than random points
    with pytest.raises(ValueError, match=r"2 nearest neighbours .* equally far.*maximum likelihood"):
        intrinsic_dimension(GRID, method="two neighbors")


@pytest.mark.parametrize(
    ("X", "options", "message"),
    [
        (GRID, {"method": "eigengap"}, "method='eigengap' is not known; choose one of 'maximum likelihood'"),
        (np.ones((9, 2)), {}, "at least 3 distinct rows, got 1"),
        (np.where(GRID > 18, np.nan, GRID), {}, "finite, but 39 rows contain NaN"),
        (sparse.csr_array(np.where(GRID > 18, np.nan, GRID)), {}, "finite, but some values are NaN"),
        (GRID[:, 0], {}, "two dimensions"),
        (GRID, {"n_neighbors": 5.0}, "n_neighbors=5.0 must be an integer"),
        (GRID, {"n_neighbors": 1}, "n_neighbors=1 must be an integer of at least 2"),
        (GRID, {"metric": "precomputed"}, r"dense square matrix of distances, got a dense .* \(400, 2\)"),
        (GRID[1:] + 1, {"metric": "cosine"}, "metric='cosine' has the distance .* between distinct rows"),
    ],
)
def test_bad_arguments(X, options, message):
    with pytest.raises(ValueError, match=message):
        intrinsic_dimension(X, **options)


@pytest.mark.long
def test_the_interval_is_that_of_the_sampling_error_without_the_bias():
    found = [intrinsic_dimension(np.random.default_rng(seed).random((1000, 2))) for seed in range(20)]
    mean = np.mean([one.value for one in found])
    assert sum(one.low <= mean <= one.high for one in found) >= 17
    assert sum(one.low <= 2 <= one.high for one in found) <= 10  # the bias exceeds the interval
    assert "not the bias" in " ".join(intrinsic_dimension.__doc__.split())
