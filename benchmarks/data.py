"""Data with known answers. Every set is a pure function of its size."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sklearn.datasets import make_swiss_roll


class Data(NamedTuple):
    """Points (n, d) with the true coordinates (n, c) or the true cluster (n,) of each, where known."""

    X: np.ndarray
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
    """Ten unit Gaussians in 50-d whose centres are about 5 apart: they overlap enough for a connected neighbour graph."""
    random = np.random.default_rng(0)
    centres = 0.5 * random.standard_normal((10, 50))
    labels = random.integers(10, size=n)
    return Data(centres[labels] + random.standard_normal((n, 50)), labels=labels)


def sheet(n: int) -> Data:
    """A smooth three-dimensional sheet in 20-d with a little noise; the first rows of a larger set are a smaller one."""
    latent = np.random.default_rng(0).random((n, 8))
    random = np.random.default_rng(1)
    smooth = np.tanh((4 * latent[:, :3] - 2) @ random.standard_normal((3, 20)))
    return Data(smooth + 0.1 * (latent[:, 3:] - 0.5) @ random.standard_normal((5, 20)))


def mnist(n: int) -> Data:
    """The first ``n`` of the 70 000 x 784 handwritten digits, from ``$EIGENSCAPE_DATA/mnist.npz`` (arrays of images are stacked)."""
    with np.load(mnist_file()) as file:
        images = [file[key] for key in sorted(file.files) if file[key].ndim > 1]
    return Data(np.concatenate([image.reshape(len(image), -1) for image in images])[:n].astype(np.float32) / 255)


def mnist_file() -> Path:
    """Where MNIST would be."""
    return Path(os.environ.get("EIGENSCAPE_DATA", "data")) / "mnist.npz"


SETS = {"swiss_roll": swiss_roll, "mixture": mixture, "sheet": sheet, "mnist": mnist}
