"""Generators of data sets, against their documentation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import kstest

from eigenscape import datasets

GENERATORS = {
    "bars": lambda seed: datasets.bars(40, random_state=seed)[0],
    "heads": lambda seed: datasets.heads(40, side=8, random_state=seed)[0],
    "random_graph": lambda seed: datasets.random_graph(40, random_state=seed),
    "sphere": lambda seed: datasets.sphere(40, random_state=seed),
    "spiral": lambda seed: datasets.spiral(40, random_state=seed)[0],
    "swiss_roll": lambda seed: datasets.swiss_roll(40, random_state=seed)[0],
    "twisted_roll": lambda seed: datasets.twisted_roll(5, random_state=seed)[0],
    "two_arcs": lambda seed: datasets.two_arcs(40, random_state=seed)[0],
    "two_clusters": lambda seed: datasets.two_clusters(15, 25, random_state=seed)[0],
}


def test_every_generator_is_tested():
    assert set(GENERATORS) == set(datasets.__all__)


@pytest.mark.parametrize("name", GENERATORS)
def test_seeds_decide(name):
    first, again, other = (GENERATORS[name](seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert np.isfinite(first).all()
    assert not np.array_equal(first, other)


def test_rolls_and_spirals_are_uniform_along_their_length():
    X, parameters = datasets.swiss_roll(4000, noise=0)
    assert kstest(parameters[:, 0], "uniform").pvalue > 0.01
    length = quad(lambda t: np.sqrt(1 + t * t), 1.5 * np.pi, 4.5 * np.pi)[0]
    order = np.argsort(parameters[:, 0])
    steps = np.linalg.norm(
        np.diff(X[order][:, [0, 2]], axis=0), axis=1
    )  # arc length between neighbours on the roll
    np.testing.assert_allclose(steps / np.diff(parameters[order, 0]), length, rtol=0.01)
    Z, along = datasets.spiral(4000, noise=0)
    order = np.argsort(along)
    speed = np.linalg.norm(np.diff(Z[order], axis=0), axis=1) / np.diff(along[order])
    np.testing.assert_allclose(speed, np.median(speed), rtol=0.01)


def test_bars_are_bars():
    X, corners, labels = datasets.bars(30, side=12, length=7, thickness=2)
    images = X.reshape(-1, 12, 12)
    for image, (row, column), label in zip(images, corners, labels, strict=True):
        rows, columns = np.nonzero(image)
        assert (rows.min(), columns.min()) == (row, column)
        assert (np.ptp(rows) + 1, np.ptp(columns) + 1) == ((7, 2) if label == 0 else (2, 7))
        assert image.sum() == 14
    assert labels.sum() == 15


def test_the_bridge_is_thin_and_the_curve_whole():
    _, parameter, labels = datasets.two_clusters()
    assert np.bincount(labels).tolist() == [100, 400]
    assert 5 <= ((parameter > 0.8) & (labels == 0)).sum() <= 7
    assert 23 <= ((parameter < 1.2) & (labels == 1)).sum() <= 25
    assert np.diff(np.sort(parameter)).max() < 0.06


def test_a_head_seen_and_lit_from_the_other_side_is_its_mirror_image():
    from eigenscape.datasets.rendered import _render

    pose = np.array([[40.0, 6.0, -25.0]])
    left, right = (_render(pose * sign, 16).reshape(16, 16) for sign in ([[1, 1, 1]], [[-1, 1, -1]]))
    np.testing.assert_allclose(left, right[:, ::-1], atol=1e-12)
    assert not np.allclose(left, left[:, ::-1])


def test_a_head_is_brighter_on_the_side_the_light_comes_from():
    from eigenscape.datasets.rendered import _render

    for light, sign in ((50.0, 1), (-50.0, -1)):
        image = _render(np.array([[0.0, 0.0, light]]), 16).reshape(16, 16)
        assert sign * (image[:, 8:].sum() - image[:, :8].sum()) > 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: datasets.bars(10, side=10), "length=20 does not fit"),
        (lambda: datasets.swiss_roll(0), "n_samples=0 must be an integer of at least 1"),
        (lambda: datasets.spiral(2.5), "n_samples=2.5 must be"),
        (
            lambda: datasets.random_graph(5, density=2),
            "density=2 must be a finite number of at least 0 and at most 1",
        ),
        (lambda: datasets.random_graph(5, density="all"), "density='all' must be a finite number"),
        (lambda: datasets.spiral(5, turns=0), "turns=0 must be a finite number above 0"),
        (lambda: datasets.spiral(5, noise=float("nan")), "noise=nan must be a finite number of at least 0"),
        (lambda: datasets.two_arcs(5, noise=-1), "noise=-1 must be"),
        (lambda: datasets.two_arcs(5, noise="much"), "noise='much' must be"),
        (lambda: datasets.swiss_roll(5, width=-1.0), "width=-1.0 must be"),
        (lambda: datasets.twisted_roll(3, twist=float("inf")), "twist=inf must be"),
        (
            lambda: datasets.two_clusters(bridge=2),
            "bridge=2 must be a finite number of at least 0 and at most 1",
        ),
        (lambda: datasets.two_clusters(bridge=-1), "bridge=-1 must be"),
        (lambda: datasets.sphere(5, random_state="a"), "random_state='a' must be an integer of at least 0"),
        (lambda: datasets.twisted_roll(1), "side=1 must be an integer of at least 2"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_numbers_of_numpy_are_numbers():
    np.testing.assert_array_equal(
        datasets.spiral(np.int64(7), noise=np.float32(0))[0], datasets.spiral(7, noise=0.0)[0]
    )
    np.testing.assert_array_equal(
        datasets.sphere(3, random_state=np.uint8(4)), datasets.sphere(3, random_state=4)
    )
