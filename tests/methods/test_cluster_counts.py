"""The number of clusters chosen for data whose number is known: right, warned of, or silently wrong.

Both thresholds (0.8 of stability for a single cluster, half of the largest eigengap for a warning) are round
numbers that were set with the draws of seeds 0 to 2 in view. Of these 66 draws 46 are right, 16 wrong with a
warning, and 4 silently wrong: iris (2), rings (1) and blobs of different widths (1). By set, ``!`` with a
warning (seeds 3 and 4, drawn afterwards: of 44, 31 right, 10 with a warning, 3 silently wrong):

blobs 2: 2 2! 2; 3: 2! 3 3; 5: 5 5! 5; 8: 8 8 8; 10: 10 10 10; overlapping: 4 4 4; anisotropic (3): 2! 3! 2!;
widths (3): 3 2 3; moons (2): 2! 2! 2!; circles (2): 2! 2! 2!; rings (3): 2! 2 2!; lines (2): 6! 15! 2!;
spirals (2): 1! 3! 2!; iris (3): 5 3 5; wine (3): 3 3! 3!; breast cancer (2): 2! 2! 2!;
digits (10): 11! 11! 8!; Gaussians: 1! 1! 1! and 1! 1! 1!; square: 1! 1! 1!; strip (1): 3! 2! 2!;
roll (1): 1! 3! 1!
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_blobs,
    make_circles,
    make_moons,
    make_swiss_roll,
)

from eigenscape import SpectralClustering
from eigenscape.exceptions import DisconnectedGraphWarning, WeakEvidenceWarning
from eigenscape.methods.clustering import CountEvidence

Draw = Callable[[int], np.ndarray]
random = np.random.default_rng


def blobs(k: int, spread: Any, d: int = 2, first: int = 0) -> Draw:
    return lambda s: make_blobs(400, centers=k, cluster_std=spread, random_state=first + s, n_features=d)[0]


def rings(seed: int) -> np.ndarray:
    rng, radius = random(seed), np.repeat([1, 2, 3], 150)
    t = rng.random(450) * 2 * np.pi
    return np.column_stack([radius * np.cos(t), radius * np.sin(t)]) + 0.08 * rng.standard_normal((450, 2))


def lines(seed: int) -> np.ndarray:
    height = np.repeat([0, 1], 200) + 0.05 * random(seed + 9).standard_normal(400)
    return np.column_stack([random(seed).random(400) * 4, height])


def spirals(seed: int) -> np.ndarray:
    t, turn = np.sqrt(random(seed + 5).random(400)) * 9 + 2, np.repeat([0, np.pi], 200)
    curve = np.column_stack([t * np.cos(t + turn), t * np.sin(t + turn)])
    return curve + 0.15 * random(seed).standard_normal((400, 2))


def part(load: Any, most: int = 400, scaled: bool = False) -> Draw:
    def draw(seed: int) -> np.ndarray:
        X = load().data
        X = X[random(seed).permutation(len(X))[: min(most, int(0.8 * len(X)))]]
        return (X - X.mean(axis=0)) / X.std(axis=0) if scaled else X

    return draw


KNOWN: dict[str, tuple[int, Draw]] = {
    "blobs 2": (2, blobs(2, 1)),
    "blobs 3": (3, blobs(3, 1)),
    "blobs 5": (5, blobs(5, 0.8)),
    "blobs 8, 5 columns": (8, blobs(8, 1, 5)),
    "blobs 10, 10 columns": (10, blobs(10, 1, 10)),
    "overlapping blobs": (4, blobs(4, 2, 5)),
    "anisotropic": (3, lambda s: blobs(3, 1)(s) @ np.array([[0.6, -0.6], [-0.4, 0.8]])),
    "widths": (3, blobs(3, [1, 2.5, 0.5], first=170)),
    "moons": (2, lambda s: make_moons(400, noise=0.06, random_state=s)[0]),
    "circles": (2, lambda s: make_circles(400, noise=0.05, factor=0.5, random_state=s)[0]),
    "rings": (3, rings),
    "lines": (2, lines),
    "spirals": (2, spirals),
    "iris": (3, part(load_iris)),
    "wine": (3, part(load_wine, scaled=True)),
    "breast cancer": (2, part(load_breast_cancer, scaled=True)),
    "digits": (10, part(load_digits, 600)),
    "Gaussian": (1, lambda s: random(s).standard_normal((400, 2))),
    "Gaussian, 5 columns": (1, lambda s: random(s).standard_normal((400, 5))),
    "square": (1, lambda s: random(s).random((400, 2))),
    "strip": (1, lambda s: random(s).random((400, 2)) * [4, 1]),
    "roll": (1, lambda s: make_swiss_roll(400, random_state=s)[0]),
}


def judge(truth: int, X: np.ndarray) -> str:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", DisconnectedGraphWarning)
        model = SpectralClustering("auto").fit(X)
    if model.n_clusters_ == truth:
        return "right"
    return "warned" if any(issubclass(w.category, WeakEvidenceWarning) for w in caught) else "silent"


@pytest.mark.long
def test_few_numbers_are_silently_wrong() -> None:
    found = Counter(judge(truth, draw(seed)) for truth, draw in KNOWN.values() for seed in (0, 1))
    assert found["right"] >= 29
    assert found["silent"] <= 3


@pytest.mark.parametrize("rule", ["kmeans", "discretize", "cluster_qr", "recursive"])
def test_a_single_cluster_is_an_answer(rule: str) -> None:
    X = random(0).standard_normal((150, 2))
    with pytest.warns(WeakEvidenceWarning, match="chose 1, but no number of clusters from 2 to 5 is stable"):
        model = SpectralClustering("auto", assign_labels=rule, max_clusters=5).fit(X)
    assert (model.labels_ == 0).all()
    assert (model.predict(X[:5] + 0.01) == 0).all()
    assert np.allclose(model.predict_proba(X[:5]), 1)


def test_a_larger_eigengap_elsewhere_is_reported() -> None:
    with pytest.warns(
        WeakEvidenceWarning, match=r"chose 2, which is stable .* the eigengap after \d+ is more"
    ):
        SpectralClustering("auto", on_disconnected="connect").fit(KNOWN["rings"][1](2))


def test_one_cluster_needs_a_connected_graph() -> None:
    evidence = CountEvidence(np.arange(2, 5), np.array([0.3, 0.2, 0.1]), np.array([0.7, 0.6, 0.5]))
    assert (evidence.best(connected=True), evidence.best()) == (1, 2)
    assert evidence.is_contradicted(4)
    assert not evidence.is_contradicted(3)
