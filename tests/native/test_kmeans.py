"""k-means: the loops and their references."""

import numpy as np
import pytest

from native.comparing import compare
from native.reference import kmeans
from native.sparse_rows import assert_refused

SIZES = pytest.mark.parametrize(
    ("n", "d", "k", "draws"), [(1, 1, 1, 1), (2, 0, 2, 2), (40, 3, 4, 3), (60, 5, 9, 6), (5, 2, 7, 2)]
)


@SIZES
@pytest.mark.parametrize("kind", ["spread", "ties", "equal"])
def test_seed_centers(n, d, k, draws, kind):
    rng = np.random.default_rng(n)
    X = {
        "spread": rng.standard_normal((n, d)),
        "ties": rng.integers(0, 2, (n, d)) * 1.0,
        "equal": np.ones((n, d)),
    }
    weights = rng.random(n)
    weights[: n // 2] = 0
    for weight in (weights, np.ones(n)):
        compare(
            "seed_centers", kmeans.seed_centers, [X[kind], weight, rng.random((k, draws)), np.zeros((k, d))]
        )


@SIZES
@pytest.mark.parametrize("max_iter", [0, 1, 50])
def test_improve_centers(n, d, k, draws, max_iter):
    rng = np.random.default_rng(n)
    X, weights = np.round(rng.standard_normal((n, d)), 1), rng.random(n)
    starts = (
        X[rng.integers(0, n, k)],
        rng.standard_normal((k, d)),
        np.full((k, d), 99.0),
    )  # the last ones: empty
    for centers in starts:
        compare("improve_centers", kmeans.improve_centers, [X, weights, centers, max_iter, 1e-9, np.empty(1)])


def test_what_does_not_fit_is_refused():
    X, w, uniform, centers, inertia = (
        np.ones((9, 2)),
        np.ones(9),
        np.ones((3, 2)),
        np.ones((3, 2)),
        np.empty(1),
    )
    for wrong in (
        [X[:0], w[:0], uniform, centers],
        [X, w[1:], uniform, centers],
        [X, w, uniform[:, :0].copy(), centers],
        [X, w, uniform[:0], centers[:0]],
        [X, w, uniform, centers[1:]],
        [X, w, uniform, np.ones((3, 3))],
    ):
        assert_refused("seed_centers", wrong, "do not fit together")
    for wrong in (
        [X[:0], w[:0], centers, 3, 0.0, inertia],
        [X, w[1:], centers, 3, 0.0, inertia],
        [X, w, centers[:0], 3, 0.0, inertia],
        [X, w, np.ones((3, 3)), 3, 0.0, inertia],
        [X, w, centers, -1, 0.0, inertia],
        [X, w, centers, 3, 0.0, np.empty(2)],
    ):
        assert_refused("improve_centers", wrong, "do not fit together")
