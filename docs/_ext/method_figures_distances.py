"""Pictures of methods that use distances: where each is right, and where it fails."""

from __future__ import annotations

import numpy as np
from figure_tools import axes, dots, figure, four
from sklearn.datasets import make_swiss_roll

from eigenscape import ClassicalMDS, FastMap, Isomap, LandmarkMDS, MetricMap, OrdinalMDS
from eigenscape.options import Landmarks


def _square(n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).random((n, 2)) * [2, 1]
    return X, X[:, 0]


def _noisy(n: int = 400, columns: int = 30, size: float = 0.25) -> tuple[np.ndarray, np.ndarray]:
    """Return a rectangle among many columns of noise."""
    rng = np.random.default_rng(1)
    X = size * rng.standard_normal((n, columns))
    X[:, :2] += rng.random((n, 2)) * [4, 2]
    return X, X[:, 0]


@figure("classical-mds")
def classical_mds() -> None:
    """Distances of a plane; distances across a roll."""
    X, c = _square()
    D = np.linalg.norm(X[:, None] - X, axis=2)
    roll, t = make_swiss_roll(600, random_state=0)
    four(
        (X, c, "places; only distances given"),
        (ClassicalMDS(2, metric="precomputed").fit_transform(D), c, "right: the places"),
        (roll, t, "a roll"),
        (ClassicalMDS(2).fit_transform(roll), t, "fails: as PCA"),
    )


@figure("landmark-mds")
def landmark_mds() -> None:
    """Twenty landmarks of a plane; three landmarks with noise."""
    X, c = _square(1000)
    noisy, d = _noisy()
    right = LandmarkMDS(2, n_landmarks=20).fit(X)
    fails = LandmarkMDS(2, approximation=Landmarks(3, "random")).fit(noisy)
    first, second, third, last = axes(4, 2.35, 2.2)
    dots(first, X, c, "1000 rows, 20 landmarks")
    dots(second, right.embedding_, c, "right: all are placed")
    dots(third, LandmarkMDS(2, n_landmarks=100).fit_transform(noisy), d, "noisy rows, 100 landmarks")
    dots(last, fails.embedding_, d, "fails: 3 landmarks")


@figure("fastmap")
def fastmap() -> None:
    """A plane; noise in many columns."""
    X, c = _square()
    noisy, d = _noisy(columns=60, size=0.4)
    four(
        (X, c, "a rectangle"),
        (FastMap(2).fit_transform(X), c, "right: exact, turned"),
        (ClassicalMDS(2).fit_transform(noisy), d, "60 noisy columns, MDS"),
        (FastMap(2).fit_transform(noisy), d, "fails: pivots are outliers"),
    )


@figure("metric-map")
def metric_map() -> None:
    """A plane; noise in many columns."""
    X, c = _square()
    noisy, d = _noisy(columns=60, size=0.4)
    four(
        (X, c, "a rectangle"),
        (MetricMap(2).fit_transform(X), c, "right: exact, turned"),
        (LandmarkMDS(2, n_landmarks=50).fit_transform(noisy), d, "60 noisy columns, LandmarkMDS"),
        (MetricMap(2).fit_transform(noisy), d, "fails: few reference points"),
    )


@figure("ordinal-mds")
def ordinal_mds() -> None:
    """Distances through an unknown increasing function; a roll."""
    X, c = _square(150)
    D = np.expm1(2.5 * np.linalg.norm(X[:, None] - X, axis=2))
    roll, t = make_swiss_roll(250, random_state=0)
    first, second, third, last = axes(4, 2.35, 2.2)
    dots(first, ClassicalMDS(2, metric="precomputed").fit_transform(D), c, "exp of distances, classical MDS")
    dots(second, OrdinalMDS(2, metric="precomputed").fit_transform(D), c, "right: the order suffices")
    dots(third, roll, t, "a roll")
    dots(last, OrdinalMDS(2).fit_transform(roll), t, "fails: order across the turns")


@figure("isomap")
def isomap() -> None:
    """A roll; a roll with noise that makes short cuts."""
    X, t = make_swiss_roll(800, random_state=0)
    noisy, s = make_swiss_roll(800, noise=1.8, random_state=0)
    four(
        (X, t, "a roll"),
        (Isomap(n_neighbors=10).fit_transform(X), t, "right: unrolled, to scale"),
        (noisy, s, "noise between the turns"),
        (Isomap(n_neighbors=10).fit_transform(noisy), s, "fails: short cuts"),
    )
