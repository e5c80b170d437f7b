"""Experiments of Ouimet, Burges and Brand at a small size, on data that need no files."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from functools import cache

import numpy as np
import pytest
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from eigenscape import GreedySpectralEmbedding
from eigenscape.papers import Context, Outcome, experiment
from eigenscape.papers._corpus import root
from eigenscape.papers._labels import label_points
from eigenscape.papers._ouimet import tolerance
from eigenscape.papers._record import plain
from eigenscape.papers._roll import folded

#: Which claims must hold at this size, on stand-ins too. Times of table 1 are measured, and no claim about them is asserted.
HOLDING = {
    "ouimet-2": [True, True],
    "ouimet-3": [True] * 8,
    "ouimet-table1": [],
    "ouimet-4": [None, True, True],
    "burges-1.1": [True] * 5,
    "burges-nystrom": [True] * 4,
    "burges-spectra": [True] * 5,
    "brand-1": [True] * 3,
    "brand-3": [False, None, True, False, True],  # all four corrections agree with posteriors; the Laplacian eigenmap hardly folds
    "brand-6": [True, None, True],
    "brand-7": [True, None],
}


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    with threadpool_limits(1):
        yield


@cache
def outcome(name: str) -> Outcome:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return experiment(name).run(Context(tiny=True))


@pytest.mark.parametrize("name", HOLDING)
def test_claims(name: str) -> None:
    found = outcome(name)
    for claim, expected in zip(found.claims, HOLDING[name], strict=bool(HOLDING[name])):
        assert expected is None or claim.holds == expected, claim
    assert all(claim.text and claim.printed and claim.measured for claim in found.claims)
    assert all(claim.why for claim in found.claims if not claim.holds)
    assert isinstance(found.figure, Figure)
    assert all(axes.get_title() for axes in found.figure.axes)
    assert json.loads(json.dumps(plain(found.numbers)))


@pytest.mark.parametrize("name", ["ouimet-2", "burges-nystrom", "brand-6"])
def test_same_seed_same_numbers(name: str) -> None:
    again, other = (experiment(name).run(Context(tiny=True, seed=seed)) for seed in (0, 1))
    assert plain(again.numbers) == plain(outcome(name).numbers)
    assert plain(other.numbers) != plain(again.numbers)


def test_table_1_compares_equal_times() -> None:
    found = outcome("ouimet-table1")
    for method, table in found.timings.items():
        seconds = table["seconds"]
        for row in table["rows"]:
            slower = [n for n, t in seconds["plain"].items() if t >= seconds["dictionary"][row["m"]]]
            assert row["equal_n"] == min(slower, default=max(seconds["plain"]))
            errors = found.numbers[method]
            ratio = np.exp(np.mean(np.log(np.array(errors["plain"][row["equal_n"]]) / errors["dictionary"][row["m"]])))
            assert row["low"] < row["ratio"] < row["high"]
            assert row["ratio"] == pytest.approx(ratio)


def test_a_dictionary_gains_on_plain_training_of_its_size() -> None:
    errors = outcome("ouimet-table1").numbers["kernel PCA"]
    assert np.mean(errors["plain"][60]) > 1.5 * np.mean(errors["dictionary"][55])


# --- what the experiments are made of -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("sum_to_one", [True, False])
def test_the_tolerance_gives_the_size(sum_to_one: bool) -> None:
    X = np.random.default_rng(0).standard_normal((400, 5))
    for size in (5, 20, 60):
        tol = tolerance(X, size, 0.05, sum_to_one)
        assert len(GreedySpectralEmbedding(1, gamma=0.05, sum_to_one=sum_to_one, tol=tol).fit(X).dictionary_) == size


def test_folds_are_counted() -> None:
    side = 11
    grid = np.stack(np.meshgrid(*2 * [np.linspace(0, 1, side)], indexing="ij"), axis=2).reshape(-1, 2)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    assert folded(grid @ turn, side) == folded(grid[:, ::-1], side) == 0
    at_three_tenths = np.column_stack([np.abs(grid[:, 0] - 0.3), grid[:, 1]])
    assert folded(at_three_tenths, side) == pytest.approx(0.3)


@pytest.mark.parametrize(
    "words",
    [("network", "networks"), ("learning", "learned", "learns"), ("probability", "probabilities"), ("estimate", "estimation", "estimated")],
)
def test_words_of_one_root(words: tuple[str, ...]) -> None:
    assert len({root(word) for word in words}) == 1
    assert root("class") == "class"


def test_labels_cover_none_other() -> None:
    figure = Figure(figsize=(5, 4))
    axes = figure.subplots()
    Y = np.random.default_rng(0).standard_normal((150, 2))
    axes.scatter(*Y.T)
    written = label_points(axes, Y, [f"word {i}" for i in range(150)], ["black"] * 150)
    boxes = [text.get_window_extent() for text in axes.texts]
    assert 20 < written == len(boxes) < 150
    assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
