"""Data sets, most of them with known coordinates or clusters, as functions of their size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.datasets import make_swiss_roll

from benchmarks.cluster_dictionaries import generate_groups, true_groups
from benchmarks.clusters import generate_rows
from benchmarks.real_data import SOURCES, folder, load


class Data(NamedTuple):
    """Points (n, d) with their true coordinates (n, c) or cluster labels (n,), or None if unknown."""

    X: Any  # dense, or a CSR array
    coordinates: np.ndarray | None = None
    labels: np.ndarray | None = None

    def split(self, n: int) -> tuple[Data, Data]:
        """Split into the first ``n`` points and the rest."""
        first = Data(*(None if part is None else part[:n] for part in self))
        return first, Data(*(None if part is None else part[n:] for part in self))


def swiss_roll(n: int) -> Data:
    """Return a swiss roll; its true coordinates are arc length and height."""
    X, t = make_swiss_roll(n, random_state=0)
    arc = (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2
    return Data(X, np.column_stack([arc, X[:, 1]]))


def mixture(n: int) -> Data:
    """Return a mixture of ten unit Gaussians in 50 dimensions.

    The distance between centres is about 5, so that the neighbour graph is connected.
    """
    random = np.random.default_rng(0)
    centres = 0.5 * random.standard_normal((10, 50))
    labels = random.integers(10, size=n)
    return Data(centres[labels] + random.standard_normal((n, 50)), labels=labels)


def sheet(n: int) -> Data:
    """Return a smooth three-dimensional manifold in 20 dimensions with little noise.

    The first rows of a larger set equal a smaller set.
    """
    latent = np.random.default_rng(0).random((n, 8))
    random = np.random.default_rng(1)
    smooth = np.tanh((4 * latent[:, :3] - 2) @ random.standard_normal((3, 20)))
    return Data(smooth + 0.1 * (latent[:, 3:] - 0.5) @ random.standard_normal((5, 20)))


def mnist(n: int) -> Data:
    """Return the first ``n`` images of MNIST (70 000 x 784) in ``$EIGENSCAPE_DATA/mnist.npz``."""
    with np.load(mnist_file()) as file:
        images = [file[key] for key in sorted(file.files) if file[key].ndim > 1]
    return Data(
        np.concatenate([image.reshape(len(image), -1) for image in images])[:n].astype(np.float32) / 255
    )


def mnist_file() -> Path:
    """Return the path of the MNIST file."""
    return folder() / "mnist.npz"


def real(name: str) -> Callable[[int], Data]:
    """Return a function of ``n`` that returns the first ``n`` rows of a real data set."""

    def first(n: int) -> Data:
        X, classes = load(name)
        return Data(X[:n], labels=None if classes is None else classes[:n])

    return first


def gaussians(distance: float) -> Callable[[int], Data]:
    """Return a function of ``n`` that returns twelve unit Gaussians in 50 dimensions, in single precision.

    The centres have independent coordinates with standard deviation ``distance``.
    """

    def rows(n: int) -> Data:
        random = np.random.default_rng(1)
        centres = distance * random.standard_normal((12, 50))
        labels = random.integers(12, size=n)
        points = centres[labels] + random.standard_normal((n, 50))
        return Data(points.astype(np.float32), labels=labels)

    return rows


def positive(n: int) -> Data:
    """Return rows of 50 features that are not negative, in ten groups, in single precision."""
    random = np.random.default_rng(0)
    labels = random.integers(10, size=n)
    rows = np.abs(random.standard_normal((10, 50)))[labels] + 0.3 * np.abs(random.standard_normal((n, 50)))
    return Data(rows.astype(np.float32), labels=labels)


def sparse_counts(n: int) -> Data:
    """Return sparse counts of 2 000 features in ten groups, about 60 features a row, in single precision."""
    random = np.random.default_rng(0)
    labels = random.integers(10, size=n)
    own = random.integers(2_000, size=(10, 150))
    column = np.concatenate(
        [own[labels[:, None], random.integers(150, size=(n, 40))], random.integers(2_000, size=(n, 20))],
        axis=1,
    )
    row = np.repeat(np.arange(n), 60)
    counts = sparse.csr_array((np.ones(60 * n, np.float32), (row, column.ravel())), shape=(n, 2_000))
    return Data(counts, labels=labels)


def low_rank_rows(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Return rows with 30 factors of decreasing size, noise and a mean."""
    random = np.random.default_rng(seed)
    factors = 0.9 ** np.arange(30)[:, None] * random.standard_normal((30, d))
    return (
        random.standard_normal((n, 30)) @ factors
        + 0.5 * random.standard_normal((n, d))
        + random.standard_normal(d)
    )


def tall(n: int) -> Data:
    """Return rows of 50 features."""
    return Data(low_rank_rows(n, 50))


def wide(n: int) -> Data:
    """Return rows of 20 000 features."""
    return Data(low_rank_rows(n, 20_000))


def topics(n: int) -> Data:
    """Return sparse rows of 20 000 word counts with about 100 words each.

    A row has one of twenty topics, whose words have geometric probabilities, and 20 random words.
    """
    random = np.random.default_rng(0)
    words = random.integers(1, 200, (20, 400)).cumsum(axis=1) % 20_000
    share = random.dirichlet(np.full(20, 0.1), n)
    topic = (random.random((n, 1, 1)) > share.cumsum(axis=1)[:, None, :]).sum(axis=2)  # (n, 1)
    rank = np.minimum(random.geometric(0.01, (n, 80)), 400) - 1
    column = np.concatenate([words[topic, rank], random.integers(20_000, size=(n, 20))], axis=1)
    row = np.repeat(np.arange(n), 100)
    return Data(sparse.csr_array((np.ones(100 * n), (row, column.ravel())), shape=(n, 20_000)))


def gaps(n: int) -> Data:
    """Return rows of 50 features near a five-dimensional subspace with 30 % of the values missing.

    The true coordinates are the complete rows.
    """
    random = np.random.default_rng(0)
    complete = random.standard_normal((n, 5)) @ random.standard_normal(
        (5, 50)
    ) + 0.1 * random.standard_normal((n, 50))
    return Data(np.where(random.random(complete.shape) < 0.3, np.nan, complete), complete)


SETS = {
    "swiss_roll": swiss_roll,
    "mixture": mixture,
    "sheet": sheet,
    "mnist": mnist,
    "tall": tall,
    "wide": wide,
    "topics": topics,
    "gaps": gaps,
    "separate": gaussians(10.0),
    "touching": gaussians(1.0),
    "positive": positive,
    "sparse_counts": sparse_counts,
    "made_rows": lambda n: Data(generate_rows(n)),
    "made_groups": lambda n: Data(generate_groups(n), labels=true_groups(n)),
    **{name: real(name) for name in SOURCES},
}
