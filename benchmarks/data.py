"""Data with known answers. Every set is a pure function of its size."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.datasets import make_swiss_roll

from benchmarks.cluster_dictionaries import made_groups, true_groups
from benchmarks.clusters import made_rows


class Data(NamedTuple):
    """Points (n, d) with the true coordinates (n, c) or the true cluster (n,) of each, where known."""

    X: Any  # dense, or a CSR array
    coordinates: np.ndarray | None = None
    labels: np.ndarray | None = None

    def split(self, n: int) -> tuple[Data, Data]:
        """The first ``n`` points and the others."""
        first = Data(*(None if part is None else part[:n] for part in self))
        return first, Data(*(None if part is None else part[n:] for part in self))


def swiss_roll(n: int) -> Data:
    """A rolled-up rectangle in 3-d; true coordinates are arc length and height."""
    X, t = make_swiss_roll(n, random_state=0)
    arc = (t * np.sqrt(1 + t**2) + np.arcsinh(t)) / 2
    return Data(X, np.column_stack([arc, X[:, 1]]))


def mixture(n: int) -> Data:
    """Ten unit Gaussians in 50-d whose centres are about 5 apart: they overlap enough for a connected
    neighbour graph."""
    random = np.random.default_rng(0)
    centres = 0.5 * random.standard_normal((10, 50))
    labels = random.integers(10, size=n)
    return Data(centres[labels] + random.standard_normal((n, 50)), labels=labels)


def sheet(n: int) -> Data:
    """A smooth three-dimensional sheet in 20-d with a little noise; the first rows of a larger set are a
    smaller one."""
    latent = np.random.default_rng(0).random((n, 8))
    random = np.random.default_rng(1)
    smooth = np.tanh((4 * latent[:, :3] - 2) @ random.standard_normal((3, 20)))
    return Data(smooth + 0.1 * (latent[:, 3:] - 0.5) @ random.standard_normal((5, 20)))


def mnist(n: int) -> Data:
    """The first ``n`` of the 70 000 x 784 handwritten digits, from ``$EIGENSCAPE_DATA/mnist.npz`` (arrays of
    images are stacked)."""
    with np.load(mnist_file()) as file:
        images = [file[key] for key in sorted(file.files) if file[key].ndim > 1]
    return Data(
        np.concatenate([image.reshape(len(image), -1) for image in images])[:n].astype(np.float32) / 255
    )


def mnist_file() -> Path:
    """Where MNIST would be."""
    return Path(os.environ.get("EIGENSCAPE_DATA", "data")) / "mnist.npz"


def falling(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Rows of 30 factors of falling size and noise, around a mean."""
    random = np.random.default_rng(seed)
    factors = 0.9 ** np.arange(30)[:, None] * random.standard_normal((30, d))
    return (
        random.standard_normal((n, 30)) @ factors
        + 0.5 * random.standard_normal((n, d))
        + random.standard_normal(d)
    )


def tall(n: int) -> Data:
    """Many rows of 50 features."""
    return Data(falling(n, 50))


def wide(n: int) -> Data:
    """Rows of 20 000 features."""
    return Data(falling(n, 20_000))


def topics(n: int) -> Data:
    """Sparse rows of 20 000 counts, about 100 in each: twenty topics that words belong to with falling
    shares, words drawn at random."""
    random = np.random.default_rng(0)
    words = random.integers(1, 200, (20, 400)).cumsum(axis=1) % 20_000
    share = random.dirichlet(np.full(20, 0.1), n)
    of_topic = (random.random((n, 1, 1)) > share.cumsum(axis=1)[:, None, :]).sum(
        axis=2
    )  # (n, 1): one topic a row is enough
    rank = np.minimum(random.geometric(0.01, (n, 80)), 400) - 1
    column = np.concatenate([words[of_topic, rank], random.integers(20_000, size=(n, 20))], axis=1)
    row = np.repeat(np.arange(n), 100)
    return Data(sparse.csr_array((np.ones(100 * n), (row, column.ravel())), shape=(n, 20_000)))


def gaps(n: int) -> Data:
    """Rows of 50 features near a space of five dimensions, 30 % of the values missing; the true coordinates
    are the whole rows."""
    random = np.random.default_rng(0)
    whole = random.standard_normal((n, 5)) @ random.standard_normal((5, 50)) + 0.1 * random.standard_normal(
        (n, 50)
    )
    return Data(np.where(random.random(whole.shape) < 0.3, np.nan, whole), whole)


SETS = {
    "swiss_roll": swiss_roll,
    "mixture": mixture,
    "sheet": sheet,
    "mnist": mnist,
    "tall": tall,
    "wide": wide,
    "topics": topics,
    "gaps": gaps,
    "made_rows": lambda n: Data(made_rows(n)),
    "made_groups": lambda n: Data(made_groups(n), labels=true_groups(n)),
}
