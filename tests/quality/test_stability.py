"""Perturbation stability (Bengio sec. 5.3) against a literal transcription, and parameter selection."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import cdist
from sklearn.datasets import make_swiss_roll
from sklearn.linear_model import LinearRegression
from sklearn.manifold import Isomap as OtherIsomap
from threadpoolctl import threadpool_info

from eigenscape import (
    PCA,
    ClassicalMDS,
    Isomap,
    KernelEigenmap,
    KernelPCA,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    OrdinalMDS,
)
from eigenscape._threads import n_threads
from eigenscape.options import KNNGraph, LocalKernels
from eigenscape.quality import (
    Estimate,
    Stability,
    choose_bandwidth,
    choose_n_neighbors,
    perturbation_stability,
)
from eigenscape.quality.parameter_selection import _first_stable
from eigenscape.quality.stability import _splits


def literal(make, X, F, R1, R2, left_out=None):
    """Steps 1 and 2 of Bengio sec. 5.3, sentence by sentence, for one split: a distance for each of F, then
    one for each of F or for those at the places ``left_out``."""
    train1, train2 = [*F, *R1], [*F, *R2]
    embedding1, embedding2 = make().fit_transform(X[train1]), make().fit_transform(X[train2])
    regression = LinearRegression().fit(embedding2[: len(F)], embedding1[: len(F)])
    step1, step2 = [], []
    for place in range(len(F)):
        moved = regression.predict(embedding2[[place]])[0] - embedding1[place]
        step1.append(np.sqrt(np.sum(moved**2)))
    for place in range(len(F)) if left_out is None else left_out:
        i = F[place]
        without = [j for j in train1 if j != i]
        model = make().fit(X[without])
        predicted = model.transform(X[[i]])[0]
        for r in range(len(predicted)):  # the sign of an eigenvector is arbitrary
            if np.dot(model.embedding_[:, r], [embedding1[train1.index(j), r] for j in without]) < 0:
                predicted[r] *= -1
        step2.append(np.sqrt(np.sum((predicted - embedding1[place]) ** 2)))
    return step1, step2


@pytest.mark.long
@pytest.mark.parametrize("make", [Isomap, LocallyLinearEmbedding, KernelPCA, PCA])
def test_delta_matches_the_paper(make):
    """With one fraction, one split and all points left out, delta is the mean difference of step 3."""
    X, _ = make_swiss_roll(60, noise=0.1, random_state=1)
    found = perturbation_stability(make(), X, fraction=0.1, n_repeats=1, n_left_out=None)
    (split,) = _splits(60, 6, 1, None, (0, 0))
    assert len(split.fixed) == 60 - 2 * 6
    assert sorted([*split.fixed, *split.before, *split.after]) == list(range(60))
    step1, step2 = literal(make, X, split.fixed, split.before, split.after)
    mean = np.mean([one - two for one, two in zip(step1, step2, strict=True)])
    assert found.delta[0].value == pytest.approx(mean, rel=1e-9, abs=1e-12)
    assert found.by_split[0, 0] == pytest.approx(mean, rel=1e-9, abs=1e-12)
    assert found.delta[0].low == -np.inf  # one split has no variance
    assert found.crossing_interval == (0.0, np.inf)
    error = np.std(step2, ddof=1) / np.sqrt(len(step2))
    assert found.pooled_induction.value == pytest.approx(np.mean(step2), rel=1e-9)
    assert np.ptp(found.pooled_induction[1:]) == pytest.approx(2 * 2.012 * error, rel=1e-3)  # t of 47


@pytest.mark.long
def test_delta_uses_all_common_points_and_pools_induction():
    """Perturbation over all of F and all splits; induction over the points of all fractions."""
    X, _ = make_swiss_roll(60, noise=0.1, random_state=1)
    found = perturbation_stability(PCA(2), X, fraction=[0.05, 0.1], n_repeats=3, n_left_out=4)
    moved, placed = {0: [], 1: []}, []
    for i, size in enumerate((3, 6)):
        for split in _splits(60, size, 3, 4, (0, i)):
            step1, step2 = literal(lambda: PCA(2), X, split.fixed, split.before, split.after, split.left_out)
            moved[i].append(sum(step1) / len(step1))
            placed += zip(split.fixed[split.left_out], step2, strict=True)
    induction = sum(value for _, value in placed) / len(placed)
    # the values of a point that was left out several times count as one
    excess = {name: sum(v - induction for other, v in placed if other == name) for name, _ in placed}
    g = len(excess)
    assert g < len(placed)
    of_points = g / (g - 1) * sum(total**2 for total in excess.values()) / len(placed) ** 2
    for i in (0, 1):
        assert found.delta[i].value == pytest.approx(sum(moved[i]) / 3 - induction, rel=1e-9)
        assert found.by_split[i] == pytest.approx(np.array(moved[i]) - induction, rel=1e-9)
        of_splits = sum((mean - sum(moved[i]) / 3) ** 2 for mean in moved[i]) / 2 / 3
        freedom = (of_splits + of_points) ** 2 / (of_splits**2 / 2 + of_points**2 / (g - 1))
        half = stats.t.ppf(0.975, freedom) * np.sqrt(of_splits + of_points)
        assert found.delta[i].high - found.delta[i].value == pytest.approx(half, rel=1e-6)
        assert found.delta[i].value - found.delta[i].low == pytest.approx(half, rel=1e-6)


@pytest.mark.long
def test_interval_of_delta_covers_the_value_of_all_points():
    """Splits with few points left out agree, within their intervals, with all points left out."""
    X = np.random.default_rng(3).standard_normal((40, 4)) * [4, 2, 1, 1]
    whole = perturbation_stability(PCA(2), X, fraction=0.1, n_repeats=10, n_left_out=None, random_state=99)
    truth, covered = whole.delta[0].value, 0
    for seed in range(12):
        few = perturbation_stability(PCA(2), X, fraction=0.1, n_repeats=4, n_left_out=6, random_state=seed)
        covered += few.delta[0].low <= truth <= few.delta[0].high
    assert covered >= 10  # 11.4 expected


def test_threads_do_not_multiply_those_of_blas():
    threads = []

    class Watching(PCA):
        def fit(self, X, y=None):
            blas = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
            threads.append((max(blas), n_threads(self.n_jobs)))
            return super().fit(X, y)

    X = np.random.default_rng(0).standard_normal((40, 3))
    perturbation_stability(Watching(2, n_jobs=2), X, fraction=0.1, n_repeats=2, n_left_out=2, n_jobs=2)
    assert set(threads) == {(1, 1)}
    assert len(threads) == 2 * (2 + 2)


@pytest.mark.long
def test_exchanging_more_points_moves_the_map_more():
    X, _ = make_swiss_roll(300, random_state=0)
    found = perturbation_stability(ClassicalMDS(), X, fraction=[0.01, 0.05, 0.2], n_repeats=6, n_left_out=4)
    moved = [estimate.value for estimate in found.perturbation]
    assert moved[0] < moved[1] < moved[2]
    assert found.delta[0].value < found.delta[2].value
    assert found.delta[2].low > 0


def test_every_point_has_a_stability():
    X, _ = make_swiss_roll(120, random_state=0)
    found = perturbation_stability(PCA(2), X, fraction=[0.05, 0.2], n_repeats=2, n_left_out=0)
    assert found.per_point.shape == (120,)
    assert (found.per_point >= 0).all()  # none is NaN
    assert np.isnan([estimate.value for estimate in found.delta]).all()
    one = perturbation_stability(PCA(2), X, fraction=0.2, n_repeats=1, n_left_out=0)
    assert np.isnan(one.per_point).sum() == 48  # points exchanged in the only split


def test_an_outlier_moves_most():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.uniform(size=(300, 2)), [[1.6, 1.6]]])
    found = perturbation_stability(LocallyLinearEmbedding(), X, fraction=0.1, n_repeats=6, n_left_out=0)
    assert found.per_point[-1] > np.quantile(found.per_point, 0.95)


@pytest.mark.long
def test_stability_is_reproducible_for_any_n_jobs():
    X, _ = make_swiss_roll(80, random_state=0)
    one, two = (
        perturbation_stability(Isomap(), X, n_repeats=2, n_left_out=4, n_jobs=jobs) for jobs in (None, 2)
    )
    assert one.delta == two.delta
    assert (one.per_point == two.per_point).all()
    assert "Stability(delta by fraction {0.05:" in repr(one)


@pytest.mark.long
def test_distances_objects_frames_and_other_libraries():
    pd = pytest.importorskip("pandas")
    X, _ = make_swiss_roll(90, random_state=0)
    options = {"fraction": 0.1, "n_repeats": 2, "n_left_out": 3}
    rows = perturbation_stability(ClassicalMDS(), X, **options)
    table = perturbation_stability(ClassicalMDS(metric="precomputed"), cdist(X, X), **options)
    frame = perturbation_stability(ClassicalMDS(metric="precomputed"), pd.DataFrame(cdist(X, X)), **options)
    assert table.per_point == pytest.approx(rows.per_point, rel=1e-6, abs=1e-9)
    assert table.delta[0].value == pytest.approx(rows.delta[0].value, rel=1e-6, abs=1e-9)
    assert frame.delta == table.delta
    objects = perturbation_stability(
        ClassicalMDS(1, metric=lambda a, b: abs(len(a) - len(b))),
        ["a" * (i + 1) for i in range(20)],
        **options,
    )
    assert objects.per_point.shape == (20,)
    foreign = perturbation_stability(OtherIsomap(n_neighbors=10), X, **options)
    assert np.isfinite(foreign.delta[0].value)
    assert np.isfinite(
        perturbation_stability(OrdinalMDS(), X[:40], fraction=0.1, n_repeats=1, n_left_out=0).spread
    )


def stability(values, fractions=(0.01, 0.02, 0.04)):
    estimates = tuple(Estimate(v, v - 0.75, v + 0.75) for v in values)
    zeros = np.zeros((len(values), 1))
    return Stability(
        np.array(fractions),
        estimates,
        estimates,
        estimates,
        Estimate(0.0, 0.0, 0.0),
        np.zeros(3),
        zeros,
        zeros,
        1.0,
    )


@pytest.mark.parametrize(
    ("values", "crossing"),
    [
        ([-1.0, -0.5, 0.5], 0.03),
        ([-1.0, 0.0, 0.5], 0.02),
        ([1.0, 2.0, 3.0], 0.0),  # the error of new points is below the effect of the smallest exchange
        ([-3.0, -2.0, -1.0], np.inf),  # and above that of the largest
        ([-1.0, 1.0, -0.5], 0.018),  # of the nearest increasing values, -1, 0.25 and 0.25
        ([2.0, 1.0, -0.5], 0.0),
        ([0.5, -1.0, -2.0], np.inf),
        ([np.nan] * 3, np.nan),
    ],
)
def test_crossing_of_any_curve(values, crossing):
    assert stability(values).crossing == pytest.approx(crossing, nan_ok=True)


def test_crossing_of_unsorted_fractions_and_its_interval():
    assert stability([0.5, -1.0, -0.5], (0.04, 0.01, 0.02)).crossing == pytest.approx(0.03)
    low, high = stability([-1.0, -0.5, 0.5]).crossing_interval
    assert low == pytest.approx(0.01 + 0.01 * 0.5)  # of -0.25, 0.25, 1.25
    assert high == np.inf  # of -1.75, -1.25, -0.25
    assert stability([-0.5], (0.05,)).crossing == np.inf
    assert stability([0.0], (0.05,)).crossing == 0.05


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"fraction": 0.6}, "fraction=0.6 must lie between 0 and 0.5"),
        ({"fraction": 0.001}, "leaves none to exchange"),
        ({"n_repeats": 0}, "n_repeats=0"),
        ({"n_left_out": -1}, "n_left_out=-1"),
        ({"n_repeats": 2.5}, "n_repeats=2.5 must be an integer"),
        ({"random_state": -1}, "random_state=-1 must be a non-negative integer"),
        (
            {"random_state": np.random.RandomState(0)},
            "random_state=RandomState.* must be a non-neg",
        ),
    ],
)
def test_bad_arguments_are_named(options, message):
    with pytest.raises(ValueError, match=message):
        perturbation_stability(PCA(2), np.eye(30), **options)


def test_an_estimator_without_transform_has_no_induction():
    from sklearn.manifold import MDS

    with pytest.raises(TypeError, match=r"MDS has no transform.*n_left_out=0"):
        perturbation_stability(MDS(), np.eye(30))


# --- choices ------------------------------------------------------------------------------------------------


def test_selection_stops_at_the_first_unstable_candidate():
    scores = [Estimate(v, v - 0.02, v + 0.02) for v in (0.3, 0.1, 0.09, 0.5, 0.01)]
    assert _first_stable(scores) == 1  # within the interval of the best before 0.5
    assert _first_stable(scores[:1]) == 0
    assert _first_stable([Estimate(v, v - 0.5, v + 0.5) for v in (0.5, 0.4, 0.1)]) == 0  # overlapping


@pytest.mark.long
def test_neighbors_are_selected_before_short_cuts_appear():
    X, _ = make_swiss_roll(800, random_state=0)
    choice = choose_n_neighbors(Isomap(), X, [20, 10, 7, 5], n_repeats=4)
    assert choice.candidates == [5, 7, 10, 20]
    assert choice.best in (5, 7)
    assert (
        choice.scores[2].value > 2 * choice.scores[1].value
    )  # ten neighbours make short cuts in some samples


@pytest.mark.parametrize(
    ("model", "name", "select"),
    [
        (Isomap(graph=KNNGraph(symmetrize="mutual")), "graph__n_neighbors", choose_n_neighbors),
        (LaplacianEigenmaps(affinity=KNNGraph(weights="heat")), "affinity__n_neighbors", choose_n_neighbors),
        (LaplacianEigenmaps(affinity=KNNGraph(weights="heat")), "affinity__width", choose_bandwidth),
        (KernelEigenmap(kernels=LocalKernels()), "kernels__sigma", choose_bandwidth),
    ],
)
def test_fields_of_options_are_selected(monkeypatch, model, name, select):
    tried = []

    def score(each, *_, **__):
        tried.append(each.get_params()[name])
        return SimpleNamespace(movement_by_split=np.ones((1, 3)))

    monkeypatch.setattr("eigenscape.quality.parameter_selection.perturbation_stability", score)
    select(model, np.random.default_rng(0).random((40, 2)), [5, 8])
    assert tried == [5, 8]


def test_default_candidates_fit_the_data():
    choice = choose_n_neighbors(Isomap(), np.random.default_rng(0).standard_normal((14, 2)), n_repeats=2)
    assert choice.candidates == [5, 7, 10]


@pytest.mark.parametrize(
    ("n", "options", "message"),
    [
        (5, {}, "5 samples are too few for the default candidates"),
        (30, {"n_repeats": 1}, "n_repeats=1 must be an integer of at least 2"),
        (30, {"candidates": [5, 27]}, r"n_neighbors=27 must lie between 1 and 26"),
        (30, {"candidates": [5, 6.5]}, r"n_neighbors=6.5 must be an integer"),
        (30, {"candidates": [0, 5]}, r"n_neighbors=0 must be an integer of at least 1"),
    ],
)
def test_candidates_are_validated_before_fitting(monkeypatch, n, options, message):
    monkeypatch.setattr("eigenscape.quality.parameter_selection.perturbation_stability", None)
    with pytest.raises(ValueError, match=message):
        choose_n_neighbors(Isomap(), np.random.default_rng(0).random((n, 2)), **options)


def test_bandwidths_are_tried_in_the_given_order():
    X = np.random.default_rng(0).standard_normal((100, 3))
    choice = choose_bandwidth(KernelPCA(), X, [50.0, 0.5, 0.1], n_repeats=3)
    assert choice.candidates == [50.0, 0.5, 0.1]
    assert choice.best in (0.5, 0.1)
    assert choice.scores[0].value > choice.scores[1].value
    with pytest.raises(ValueError, match="PCA has no parameter"):
        choose_bandwidth(PCA(), X, [1.0])
    with pytest.raises(ValueError, match=r"gamma=-1.0 must be positive"):
        choose_bandwidth(KernelPCA(), X, [1.0, -1.0])
    with pytest.raises(ValueError, match="candidates is empty"):
        choose_bandwidth(KernelPCA(), X, [])
    with pytest.raises(ValueError, match="PCA has no parameter n_neighbors"):
        choose_n_neighbors(PCA(), X)
