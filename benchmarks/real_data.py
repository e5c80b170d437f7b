"""Real rows in single precision, in random order: scikit-learn's digits and files of ``$EIGENSCAPE_DATA``."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy import sparse


class Source(NamedTuple):
    """A data set: its title, number of rows, file (none if scikit-learn has it) and reader."""

    title: str
    n: int
    file: str
    read: Callable[[], tuple[np.ndarray, np.ndarray | None]]


def folder() -> Path:
    """Return the folder of data files."""
    return Path(os.environ.get("EIGENSCAPE_DATA", "data"))


def _digits() -> tuple[np.ndarray, np.ndarray]:
    """Return the 8 x 8 digits of scikit-learn."""
    from sklearn.datasets import load_digits

    return load_digits(return_X_y=True)


def _images(file: str) -> tuple[np.ndarray, np.ndarray]:
    """Return images of 784 pixels between 0 and 1, and their classes."""
    with np.load(folder() / file) as arrays:
        return arrays["X"].astype(np.float32) / 255, arrays["y"]


def _faces() -> tuple[np.ndarray, None]:
    """Return the Frey faces, 560 pixels between 0 and 1."""
    with np.load(folder() / "frey_faces.npz") as arrays:
        return arrays["X"].astype(np.float32) / 255, None


def _counts(counts: sparse.csr_array) -> np.ndarray:
    """Return the first 50 singular coordinates of ``log(1 + counts scaled to 10 000 a cell)``."""
    from sklearn.decomposition import TruncatedSVD

    scaled = sparse.csr_array(counts * (1e4 / np.maximum(counts.sum(axis=1), 1))[:, None])
    scaled.data = np.log1p(scaled.data)
    return TruncatedSVD(50, random_state=0).fit_transform(scaled)


def _pbmc() -> tuple[np.ndarray, np.ndarray]:
    """Return 2 638 blood cells."""
    with np.load(folder() / "pbmc3k.npz") as arrays:
        parts = (arrays["data"].astype(np.float64), arrays["indices"], arrays["indptr"])
        return _counts(sparse.csr_array(parts, shape=tuple(arrays["shape"]))), arrays["cell_type"]


def _paul() -> tuple[np.ndarray, np.ndarray]:
    """Return 2 660 cells of bone marrow."""
    with np.load(folder() / "paul15_subset.npz") as arrays:
        return _counts(sparse.csr_array(arrays["X"].astype(np.float64))), arrays["cell_type"]


def _glove() -> tuple[np.ndarray, None]:
    """Return word vectors."""
    with np.load(folder() / "glove_6b_100d_30k.npz") as arrays:
        return arrays["X"].astype(np.float32), None


SOURCES = {
    "digits": Source("digits", 1_797, "", _digits),
    "mnist_mixed": Source("MNIST", 70_000, "mnist.npz", lambda: _images("mnist.npz")),
    "fashion": Source("Fashion-MNIST", 70_000, "fashion_mnist.npz", lambda: _images("fashion_mnist.npz")),
    "faces": Source("Frey faces", 1_965, "frey_faces.npz", _faces),
    "pbmc": Source("pbmc3k", 2_638, "pbmc3k.npz", _pbmc),
    "paul15": Source("paul15", 2_660, "paul15_subset.npz", _paul),
    "glove": Source("GloVe", 30_000, "glove_6b_100d_30k.npz", _glove),
}


@cache
def load(name: str) -> tuple[np.ndarray, np.ndarray | None]:
    """Return all rows of a data set in random order, float32, and their classes or None."""
    X, classes = SOURCES[name].read()
    order = np.random.default_rng(1).permutation(len(X))
    rows = np.ascontiguousarray(X[order], dtype=np.float32)
    return rows, None if classes is None else np.asarray(classes)[order]


def absence(name: str) -> str:
    """Return why a data set cannot be used, or an empty string."""
    file = SOURCES[name].file
    return "" if not file or (folder() / file).exists() else f"no {file} in $EIGENSCAPE_DATA"
