"""Quality functions: by hand, by slow transcriptions, at their limits."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, make_swiss_roll
from sklearn.manifold import trustworthiness as sklearn_trustworthiness

from eigenscape import PCA, Isomap
from eigenscape.quality import (
    Estimate,
    aligned_error,
    continuity,
    coranking_curve,
    linear_alignment,
    neighbor_purity,
    procrustes,
    residual_variance,
    sampled_continuity,
    sampled_trustworthiness,
    trustworthiness,
)
from eigenscape.quality.intervals import mean_estimate, sample_indices, share_estimate


@pytest.fixture
def cloud():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 20))
    return X, X[:, :2] + 0.1 * rng.standard_normal((400, 2))


# --- trustworthiness and continuity -------------------------------------------------------------------------


def test_trustworthiness_agrees_with_another_library(cloud):
    X, Y = cloud
    assert trustworthiness(X, Y, 7) == pytest.approx(sklearn_trustworthiness(X, Y, n_neighbors=7), abs=1e-12)
    assert continuity(X, Y, 7) == pytest.approx(sklearn_trustworthiness(Y, X, n_neighbors=7), abs=1e-12)


def test_a_sample_of_all_points_is_exact(cloud):
    X, Y = cloud
    assert sampled_trustworthiness(X, Y, 5, n_samples=None) == Estimate(*[trustworthiness(X, Y, 5)] * 3)
    assert sampled_continuity(X, Y, 5, n_samples=400).value == continuity(X, Y, 5)


@pytest.mark.parametrize(
    ("sampled", "exact"), [(sampled_trustworthiness, trustworthiness), (sampled_continuity, continuity)]
)
def test_intervals_have_the_nominal_coverage(cloud, sampled, exact):
    X, Y = cloud
    truth = exact(X, Y, 10)
    estimates = [sampled(X, Y, 10, n_samples=80, random_state=seed) for seed in range(200)]
    covered = np.mean([e.low <= truth <= e.high for e in estimates])
    assert 0.90 <= covered <= 0.99
    assert np.mean([e.value for e in estimates]) == pytest.approx(truth, abs=0.002)  # no bias


@pytest.mark.parametrize("rest", [0.0, 1e-3])
@pytest.mark.parametrize("size", [50, 200])
def test_intervals_cover_rare_misplaced_points(rest, size):
    """A third of the smaller samples contain no misplaced point, and their Student interval is too narrow."""
    rng = np.random.default_rng(0)
    charges = np.concatenate([np.minimum(rng.exponential(0.2, 30), 1.0), rest * rng.random(1470)])
    samples = [rng.choice(charges, size, replace=False) for _ in range(300)]
    estimates = [share_estimate(sample, len(charges)) for sample in samples]
    assert np.mean([e.low <= charges.mean() <= e.high for e in estimates]) >= 0.95
    assert share_estimate(charges, len(charges)) == (charges.mean(),) * 3


@pytest.mark.long
def test_sampled_quality_forms_no_square_array():
    n = 20_000
    X = np.random.default_rng(0).standard_normal((n, 30)).astype(np.float32)
    sampled_trustworthiness(X[:500], X[:500, :2], n_samples=10)  # compile before memory is measured
    tracemalloc.start()
    estimate = sampled_trustworthiness(X, X[:, :2], n_samples=300)
    sampled_continuity(X, X[:, :2], n_samples=300)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 400 * 2**20 < 8 * n * n / 7
    assert 0.5 < estimate.low < estimate.value < estimate.high < 1


def test_distances_sparse_rows_and_other_metrics(cloud):
    X, Y = cloud
    value = trustworthiness(X, Y)
    assert trustworthiness(cdist(X, X), Y, metric="precomputed") == pytest.approx(value, abs=1e-12)
    assert trustworthiness(sparse.csr_array(X), Y) == pytest.approx(value, abs=1e-12)
    assert trustworthiness(X + 1e6, Y) == pytest.approx(value, abs=1e-9)  # an offset costs no digits
    cosine = trustworthiness(X, Y, metric="cosine")
    assert cosine == pytest.approx(trustworthiness(cdist(X, X, "cosine"), Y, metric="precomputed"), abs=1e-12)
    assert cosine != pytest.approx(value, abs=1e-4)


def test_rows_on_disk_and_frames(cloud, tmp_path):
    pd = pytest.importorskip("pandas")
    X, Y = cloud
    on_disk = np.memmap(tmp_path / "rows", dtype=np.float64, mode="w+", shape=X.shape)
    on_disk[:] = X
    value = sampled_trustworthiness(X, Y, n_samples=50)
    assert sampled_trustworthiness(on_disk, Y, n_samples=50) == value
    assert sampled_trustworthiness(pd.DataFrame(X), pd.DataFrame(Y), n_samples=50) == value


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X, Y: trustworthiness(X, Y[:-1]), "same number of rows, got 400 and 399"),
        (
            lambda X, Y: trustworthiness(X, Y, 399),
            "n_neighbors=399 must lie between 1 and n_samples - 2 = 398",
        ),
        (lambda X, Y: trustworthiness(np.where(X > 2, np.nan, X), Y), "some values are NaN or infinite"),
        (lambda X, Y: trustworthiness(X, Y[:, 0]), r"two dimensions .* got shape \(400,\)"),
        (lambda X, Y: trustworthiness(X, Y, metric="precomputed"), "square matrix of distances"),
        (lambda X, Y: sampled_continuity(X, Y, n_samples=1), "n_samples=1 must be at least 2"),
        (
            lambda X, Y: coranking_curve(X, Y, [0, 3]),
            "n_neighbors=.* integers between 1 and n_samples - 1 = 399",
        ),
        (lambda _, Y: neighbor_purity(Y, np.zeros(3)), r"labels must have shape \(400,\)"),
        (
            lambda _, Y: neighbor_purity(Y, np.zeros(400), 400),
            "n_neighbors=400 must lie between 1 and n_samples - 1 = 399",
        ),
        (lambda X, _: residual_variance(X, np.zeros((400, 2))), "no variance to explain"),
        (
            lambda X, Y: residual_variance(X, Y, metric="geodesic", n_neighbors=400),
            "n_neighbors=400 must lie",
        ),
        (lambda X, Y: procrustes(X, Y), "same points and dimensions"),
        (lambda X, Y: linear_alignment(X, Y[:5]), "same points"),
        (lambda X, Y: trustworthiness(X, Y, 5.0), "n_neighbors=5.0 must be an integer"),
        (lambda X, Y: sampled_trustworthiness(X, Y, n_samples=10.5), "n_samples=10.5 must be an integer"),
        (
            lambda X, Y: sampled_trustworthiness(X, Y, n_samples=10, random_state=-1),
            "random_state=-1 must be a non-negative integer",
        ),
        (lambda _, Y: neighbor_purity(Y, np.zeros(400), 5.0), "n_neighbors=5.0 must be an integer"),
    ],
)
def test_bad_arguments_are_named(cloud, call, message):
    with pytest.raises(ValueError, match=message):
        call(*cloud)


# --- estimates ----------------------------------------------------------------------------------------------


def test_mean_estimate_by_hand():
    values = np.array([1.0, 2.0, 4.0, 5.0])
    half = 3.182446305284263 * np.sqrt(10 / 3) / 2  # Student's 0.975 quantile with 3 degrees of freedom
    assert mean_estimate(values) == pytest.approx((3, 3 - half, 3 + half))
    assert mean_estimate(values, 16) == pytest.approx((3, 3 - half * np.sqrt(0.75), 3 + half * np.sqrt(0.75)))
    assert mean_estimate(values, 4) == (3, 3, 3)
    assert mean_estimate(values[:1]) == (1, -np.inf, np.inf)
    assert float(mean_estimate(values)) == 3


def test_samples_are_distinct_and_repeatable():
    which = sample_indices(1000, 100, 5)
    assert len(np.unique(which)) == 100
    assert (which == sample_indices(1000, 100, 5)).all()
    assert (sample_indices(10, 10, 0) == np.arange(10)).all()


# --- co-ranking ---------------------------------------------------------------------------------------------


def slow_coranking(X, Y, k):
    """Lee and Verleysen: the co-ranking matrix, entry by entry, and the share of its upper left block."""
    n = len(X)
    Q = np.zeros((n - 1, n - 1))
    for i in range(n):
        others = [j for j in range(n) if j != i]
        by_data = sorted(others, key=lambda j: np.sum((X[i] - X[j]) ** 2))
        by_map = sorted(others, key=lambda j: np.sum((Y[i] - Y[j]) ** 2))
        for j in others:
            Q[by_data.index(j), by_map.index(j)] += 1
    return Q[:k, :k].sum() / (k * n)


def test_coranking_is_the_block_of_the_matrix(cloud):
    X, Y = cloud[0][:40], cloud[1][:40]
    sizes, shares = coranking_curve(X, Y)
    assert sizes[0] == 1
    assert sizes[-1] == 39
    assert shares[-1] == 1  # all points are neighbours
    for k in (1, 4, 17, 38):
        assert coranking_curve(X, Y, k)[1] == pytest.approx([slow_coranking(X, Y, k)])


@pytest.mark.long
def test_coranking_of_a_sample(cloud):
    X, Y = cloud
    whole = coranking_curve(X, Y, [5, 50], n_samples=None)[1]
    means = np.mean(
        [coranking_curve(X, Y, [5, 50], n_samples=100, random_state=s)[1] for s in range(30)], axis=0
    )
    assert means == pytest.approx(whole, abs=0.01)
    random = coranking_curve(X, np.random.default_rng(1).standard_normal((400, 2)), [40])[1]
    assert random == pytest.approx(40 / 399, abs=0.02)


# --- purity -------------------------------------------------------------------------------------------------


def test_purity_by_hand():
    line = np.array([[0.0], [1.0], [2.1], [10.0], [11.0]])
    purity = neighbor_purity(line, ["a", "a", "b", "b", "b"], 1)
    assert purity.value == pytest.approx(4 / 5)  # the third point has a neighbour of another class
    assert purity.per_class == pytest.approx({"a": 1, "b": 2 / 3})
    assert purity.chance == pytest.approx((2 * 1 + 3 * 2) / (5 * 4))
    assert float(purity) == purity.value


def test_purity_leaves_out_points_without_a_label():
    line = np.arange(6.0)[:, None]
    labels = np.array(["a", "a", None, float("nan"), "b", "b"], dtype=object)
    assert neighbor_purity(line, labels, 1) == (1.0, pytest.approx(1 / 3), {"a": 1.0, "b": 1.0})
    assert neighbor_purity(line, np.array([0, 0, np.nan, np.nan, 1, 1]), 1).per_class == {0.0: 1.0, 1.0: 1.0}
    with pytest.raises(ValueError, match="n_neighbors=4 must lie between 1 and n_labelled - 1 = 3"):
        neighbor_purity(line, labels, 4)


def test_purity_of_random_labels_is_chance():
    rng = np.random.default_rng(0)
    purity = neighbor_purity(
        rng.standard_normal((4000, 2)), rng.choice(["x", "y", "z"], 4000, p=[0.6, 0.3, 0.1])
    )
    assert purity.value == pytest.approx(purity.chance, abs=0.01)
    assert purity.chance == pytest.approx(0.46, abs=0.02)


def test_purity_of_equal_points_leaves_the_point_itself_out():
    assert neighbor_purity(np.zeros((6, 2)), [0, 1, 2, 3, 4, 5], 2).value == 0


def test_purity_takes_objects_and_numbers():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", 7, "virginica"], dtype=object)[y]
    assert neighbor_purity(X, names).value == neighbor_purity(X, y).value


# --- alignment ----------------------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.floats(1e-3, 1e3))
def test_procrustes_undoes_every_similarity(seed, d, factor):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((20, d))
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    aligned, error = procrustes(factor * B @ turn + rng.standard_normal(d), B)
    assert error < 1e-10
    assert np.allclose(aligned, B, atol=1e-9)
    assert linear_alignment(B @ rng.standard_normal((d, d)) + 1, B).error < 1e-6


def test_more_general_alignments_have_smaller_errors(cloud):
    Y = cloud[1]
    other = Y @ [[2.0, 1.0], [0.0, 1.0]] + np.random.default_rng(0).standard_normal(Y.shape)
    rigid, similar, linear = (
        aligned_error(other, Y),
        procrustes(other, Y).error,
        linear_alignment(other, Y).error,
    )
    assert linear < similar < rigid
    assert similar <= 1
    assert np.allclose(procrustes(other, Y).aligned.mean(axis=0), Y.mean(axis=0))


def test_alignment_of_coinciding_points():
    B = np.random.default_rng(0).standard_normal((10, 2))
    assert procrustes(np.ones((10, 2)), B).error == pytest.approx(1)
    with pytest.raises(ValueError, match="all points of the second embedding coincide"):
        procrustes(B, np.ones((10, 2)))


# --- residual variance --------------------------------------------------------------------------------------


def test_residual_variance_is_one_minus_the_squared_correlation(cloud):
    X, Y = cloud
    upper = np.triu_indices(len(X), 1)
    expected = 1 - np.corrcoef(cdist(X, X)[upper], cdist(Y, Y)[upper])[0, 1] ** 2
    assert residual_variance(X, Y, n_samples=None) == pytest.approx(expected, abs=1e-12)
    assert residual_variance(cdist(X, X), Y, metric="precomputed") == pytest.approx(expected, abs=1e-12)
    assert residual_variance(X, Y, n_samples=100) == pytest.approx(expected, abs=0.02)
    assert residual_variance(X, 7 * X) == pytest.approx(0, abs=1e-12)


def test_residual_variance_of_geodesics():
    X, _ = make_swiss_roll(1000, random_state=0)
    X = np.concatenate([X, X[:20]])  # repeated rows
    model = Isomap(n_components=2, n_neighbors=8).fit(X)
    flat, one = (
        residual_variance(X, model.embedding_[:, :c], metric="geodesic", n_neighbors=8) for c in (2, 1)
    )
    assert flat < 0.002 < 0.01 < one


# --- dimension ----------------------------------------------------------------------------------------------


def test_pca_of_flat_data_is_trustworthy():
    rng = np.random.default_rng(0)
    frame = np.linalg.qr(rng.standard_normal((6, 2)))[0]
    X = rng.uniform(size=(300, 2)) @ frame.T + 1e-3 * rng.standard_normal((300, 6))
    assert trustworthiness(X, PCA(2).fit_transform(X)) > 0.999
