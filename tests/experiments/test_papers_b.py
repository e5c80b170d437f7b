"""Experiments of Ouimet, Burges and Brand at a small size, without data files."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
import pytest
from matplotlib.figure import Figure
from test_papers import tiny
from threadpoolctl import threadpool_limits

from eigenscape import GreedySpectralEmbedding, KernelEigenmap
from eigenscape._format import to_json
from eigenscape.datasets import twisted_roll
from eigenscape.options import Dictionary, LocalKernels
from eigenscape.quality import linear_alignment, procrustes
from experiments import Context, Outcome, experiment
from experiments._brand import accurate_maps, cholesky_maps, kernel_features, smallest_eigenvalue
from experiments._corpus import stem
from experiments._labels import label_points
from experiments._ouimet import image_problem, tolerance
from experiments._roll import fold_fraction
from experiments.brand_1 import by_library, excess, random_graphs
from experiments.brand_3 import guarded_claim, share_in_order
from experiments.ouimet_2 import separable
from experiments.ouimet_table1 import equal_size

pytestmark = pytest.mark.pages


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Limit BLAS to one thread."""
    with threadpool_limits(1):
        yield


def outcome(name: str) -> Outcome:
    """Return the outcome of an experiment at the size of the tests."""
    return tiny(name)[0]


def test_corrections_agree_with_posteriors_and_fold_without() -> None:
    found = outcome("brand-3")
    assert len(found.claims) == 13
    for claims, numbers in zip(
        (found.claims[:6], found.claims[6:12]), found.numbers["sigma"].values(), strict=True
    ):
        posteriors, cholesky, order, fold, less, _ = claims
        assert not any(claim.holds for claim in (posteriors, fold, less))
        assert [claim.kind for claim in claims] == ["paper", "check", "check", "check", "paper", "paper"]
        assert "not divided" in order.text
        assert "plain Cholesky" in cholesky.text
        assert numbers["corrections_with_posteriors_apart"] < 1e-5
        folds = {name: np.median(values[:, 1]) for name, values in numbers["kernel_eigenmaps"].items()}
        assert max(folds["reweighted"], folds["stochastic"]) < min(folds["raw"], folds["affine"])
    assert found.claims[-1].kind == "exploration"


def test_the_row_of_ones_makes_the_reduced_matrix_singular() -> None:
    X, _ = twisted_roll(20, random_state=0)
    model = KernelEigenmap(2, n_kernels=30, random_state=0, kernels=LocalKernels(sigma=1.5)).fit(X)
    Z = kernel_features(X, model.centers_, 1.5)
    ones = np.ones((len(X), 1))
    np.testing.assert_allclose(Z.reshape(len(X), 30, 4)[:, :, 3].sum(axis=1), 1)  # posteriors
    assert (
        smallest_eigenvalue(Z, model.graph_) > 1e-12 > smallest_eigenvalue(np.hstack([Z, ones]), model.graph_)
    )
    # the maps by a plain Cholesky factor are those of the library where the factor is accurate
    plain, accurate = cholesky_maps(Z, model.graph_), accurate_maps(Z, model.graph_)
    for name in ("raw", "reweighted", "stochastic"):
        assert plain[name].factor
        assert procrustes(plain[name].Y, accurate[name]).error < 1e-5
        assert procrustes(plain[name].Y, model.embedding_).error < 1e-5
    # a feature that is zero: no factor, and QZ finds the same coordinates, with another scale for each
    again = cholesky_maps(np.hstack([Z, 0 * ones]), model.graph_)["raw"]
    assert not again.factor
    assert linear_alignment(again.Y, accurate["raw"]).error < 1e-5


def test_a_guarded_denominator_separates_the_corrections() -> None:
    X, _ = twisted_roll(20, random_state=0)
    model = KernelEigenmap(2, n_kernels=30, random_state=0, kernels=LocalKernels(sigma=1.5)).fit(X)
    for delta, apart in ((0.0, False), (1.0, True)):
        maps = accurate_maps(kernel_features(X, model.centers_, 1.5, delta), model.graph_)
        assert (procrustes(maps["raw"], maps["stochastic"]).error > 1e-3) == apart


def test_the_exploration_counts_placements() -> None:
    less = {"reweighted": 0.1, "stochastic": 0.2, "affine": 0.3, "raw": 0.4}
    more = {**less, "stochastic": 0.35}
    scan = {
        0.5: {name: np.array([less[name], more[name]]) for name in less},
        1.0: {name: np.array([less[name], less[name]]) for name in less},
    }
    claim = guarded_claim({2.0: scan})
    assert claim.holds
    assert "1 of 2 with delta = 0.5, 2 of 2 with delta = 1" in claim.measured
    assert not guarded_claim({2.0: {0.5: scan[0.5]}}).holds


def test_the_order_of_the_corrections_needs_features_of_mean_zero() -> None:
    found = outcome("brand-1")
    excesses = found.numbers["excess_with_other_features"]
    reweighted, affine, stochastic, raw = excesses["uniform on [-1, 1]"]
    assert reweighted < affine < stochastic < raw
    assert np.argmin(excesses["uniform on [0, 1]"]) == 1
    assert found.claims[-1].kind == "check"
    assert found.claims[-1].holds


def test_share_in_order() -> None:
    errors = {
        name: np.full(20, value)
        for name, value in (("reweighted", 0.1), ("stochastic", 0.2), ("affine", 0.3), ("raw", 0.4))
    }
    assert share_in_order(errors) == 1
    assert share_in_order({**errors, "stochastic": np.repeat([0.2, 0.35], 10)}) == 0.5
    reversed_order = {**errors, "reweighted": errors["raw"], "raw": errors["reweighted"]}
    assert share_in_order(reversed_order) == 0
    assert share_in_order({name: errors["raw"] + i * 1e-9 for i, name in enumerate(errors)}) == 0


def test_claims_name_their_data() -> None:
    about = {
        "spiral": "generated",
        "digits": "stand-in: digits of scikit-learn",
        "swiss": "swiss roll (generated)",
        "faces": "stand-in: rendered heads",
    }
    for claim in (*outcome("ouimet-3").claims, *outcome("bengio-4").claims):
        assert claim.data == about[re.split("[ ,:]", claim.text)[0]]


def test_maps_are_compared_over_several_training_sets() -> None:
    found = outcome("ouimet-2")
    numbers, claims = found.numbers, found.claims
    assert np.shape(numbers["projected"][4]) == (numbers["draws"], 4)
    assert len(np.unique(numbers["projected"][4], axis=0)) == numbers["draws"] > 1
    assert f"difference {100 * np.median(numbers['projected'][4][:, 0]):.0f} %" in claims[1].measured
    assert f"{100 * numbers['projected'][4][0, 0]:.0f} %" in claims[1].previous
    # without projecting the other images the difference is larger with as many dictionary points
    assert np.median(numbers["alone"][34][:, 0]) > 5 * np.median(numbers["projected"][34][:, 0])


def test_a_line_separates_digits() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    Y = rng.standard_normal((200, 2))
    assert separable(Y, y) < 0.7
    assert separable(Y + 10 * y[:, None], y) == 1


def test_errors_are_measured_on_sets_of_the_printed_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    made_up = {"X": np.zeros((15_000, 784), dtype=np.uint8), "y": np.zeros(15_000, dtype=int)}
    monkeypatch.setattr(Context, "load", lambda *_: made_up)
    problem, data = image_problem(Context(quick=True), "additive")
    assert (len(problem.test), len(problem.others), data) == (3267, 3332, "MNIST")


@pytest.mark.parametrize("normalization", ["additive", "divisive"])
def test_all_eigenvectors_give_the_eigenfunctions_of_the_library(normalization: str) -> None:
    problem, _ = image_problem(Context(tiny=True), normalization)
    X = problem.draw(200, 0)
    few, every = (model.eigenfunctions(problem.test) for model in (problem.plain(X), problem.decomposed(X)))
    signs = np.sign((few * every).sum(axis=0))
    np.testing.assert_allclose(every * signs, few, atol=1e-6)
    assert problem.error(problem.decomposed(X)) == pytest.approx(problem.error(problem.plain(X)))


def test_experiments_share_the_reference_solution() -> None:
    first, again, other = (image_problem(Context(tiny=True, seed=seed), "additive")[0] for seed in (0, 0, 1))
    assert first is again
    assert first is not other


def test_the_size_of_equal_time_is_interpolated() -> None:
    seconds = {100: 1.0, 200: 8.0, 400: 64.0}
    assert equal_size(seconds, 8.0) == pytest.approx((200, 200))
    assert equal_size(seconds, 27.0) == pytest.approx((300, 400))
    assert equal_size(seconds, 0.1) == pytest.approx((100, 100))
    assert equal_size(seconds, 100.0) == pytest.approx((400, 400))
    assert equal_size({100: 2.0, 200: 1.0, 400: 8.0}, 4.0)[1] == 400  # a time disturbed by other load


def test_the_factor_of_table_1_is_the_ratio_of_the_means() -> None:
    for table in outcome("ouimet-table1").timings.values():
        for row in table["rows"]:
            for question in ("printed", "all", "few", "fit"):
                one = row[question]
                assert one["ratio"] == pytest.approx(one["plain"] / one["dictionary"])


def test_batches_equal_single_trials() -> None:
    W, Z = random_graphs(np.random.default_rng(5), 12)
    one_by_one = np.array([by_library(*trial) for trial in zip(W, Z, strict=True)])
    np.testing.assert_allclose(excess(W, Z), one_by_one, atol=1e-9)
    affine, raw = one_by_one[:, 1, 1], one_by_one[:, 3, 1]  # centred
    assert (affine <= raw + 1e-9).all()
    np.testing.assert_allclose(
        outcome("brand-1").numbers["excess"]["equal_trace"], [0.368, 0.397, 0.428, 0.436], atol=0.004
    )


@pytest.mark.parametrize(
    "name",
    [
        "burges-nystrom",
        pytest.param("ouimet-2", marks=pytest.mark.product),
        pytest.param("brand-6", marks=pytest.mark.product),
    ],
)
def test_same_seed_same_numbers(name: str) -> None:
    again, other = (experiment(name).run(Context(tiny=True, seed=seed)) for seed in (0, 1))
    assert to_json(again.numbers) == to_json(outcome(name).numbers)
    assert [one.measured for one in again.claims] == [one.measured for one in outcome(name).claims]
    assert to_json(other.numbers) != to_json(again.numbers)


def test_table_1_compares_printed_sizes_and_equal_times() -> None:
    found = outcome("ouimet-table1")
    printed = {"kernel PCA": [250, 250, 550], "spectral clustering": [325, 400, 700]}
    for method, table in found.timings.items():
        assert [row["printed"]["n"] for row in table["rows"]] == printed[method]
        for row in table["rows"]:
            for question, part, kind in (
                ("all", "total", "all"),
                ("few", "total", "few"),
                ("fit", "fit", "few"),
            ):
                seconds, wanted = table["seconds"][part][kind], table["seconds"][part]["dictionary"][row["m"]]
                one = row[question]
                assert one["seconds"] == wanted
                assert one["n"] == min((n for n, t in seconds.items() if t >= wanted), default=max(seconds))
                errors = found.numbers[method]
                ratios = np.array(errors["plain"][one["n"]]) / errors["dictionary"][row["m"]]
                assert one["low"] < one["ratio"] < one["high"]
                assert one["ratio"] == pytest.approx(np.exp(np.mean(np.log(ratios))))
        for size, seconds in table["seconds"]["fit"]["all"].items():  # placing is included in the total
            assert table["seconds"]["total"]["all"][size] > seconds


def test_table_1_asks_three_questions() -> None:
    claims = outcome("ouimet-table1").claims
    kinds = [(claim.kind, "equal time" in claim.text) for claim in claims]
    assert kinds.count(("paper", True)) == 6
    assert kinds.count(("paper", False)) == 8  # six at the printed sizes, and both factors
    assert kinds.count(("check", True)) == 4
    assert all("fit alone" in c.previous for c in claims if c.kind == "paper" and "points" not in c.text)


def test_a_dictionary_is_better_than_plain_training_of_the_same_size() -> None:
    errors = outcome("ouimet-table1").numbers["kernel PCA"]
    assert np.mean(errors["plain"][60]) > 1.5 * np.mean(errors["dictionary"][55])


# --- helpers of the experiments -----------------------------------------------------------------------------


@pytest.mark.parametrize("sum_to_one", [True, False])
def test_the_tolerance_gives_the_size(sum_to_one: bool) -> None:
    X = np.random.default_rng(0).standard_normal((400, 5))
    for size in (5, 20, 60):
        tol = tolerance(X, size, 0.05, sum_to_one)
        assert (
            len(
                GreedySpectralEmbedding(1, gamma=0.05, sum_to_one=sum_to_one, dictionary=Dictionary(tol=tol))
                .fit(X)
                .dictionary_
            )
            == size
        )


def test_folds_are_counted() -> None:
    side = 11
    grid = np.stack(np.meshgrid(*2 * [np.linspace(0, 1, side)], indexing="ij"), axis=2).reshape(-1, 2)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    assert fold_fraction(grid @ turn, side) == fold_fraction(grid[:, ::-1], side) == 0
    at_three_tenths = np.column_stack([np.abs(grid[:, 0] - 0.3), grid[:, 1]])
    assert fold_fraction(at_three_tenths, side) == pytest.approx(0.3)


@pytest.mark.parametrize(
    "words",
    [
        ("network", "networks"),
        ("learning", "learned", "learns"),
        ("probability", "probabilities"),
        ("estimate", "estimation", "estimated"),
    ],
)
def test_words_of_one_stem(words: tuple[str, ...]) -> None:
    assert len({stem(word) for word in words}) == 1
    assert stem("class") == "class"


def test_labels_do_not_overlap() -> None:
    figure = Figure(figsize=(5, 4))
    axes = figure.subplots()
    Y = np.random.default_rng(0).standard_normal((150, 2))
    axes.scatter(*Y.T)
    written = label_points(axes, Y, [f"word {i}" for i in range(150)], ["black"] * 150)
    boxes = [text.get_window_extent() for text in axes.texts]
    assert 20 < written == len(boxes) < 150
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
