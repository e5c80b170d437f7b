"""Recipes of MNIST and of the faces of Isomap."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
from scipy.io import loadmat


def mnist(folder: Path) -> dict[str, np.ndarray]:
    """Read the four files of MNIST; training images come first."""
    parts = {
        (part, kind): read_idx(_find(folder, f"{part}-{kind}-ubyte"))
        for part in ("train", "t10k")
        for kind in ("images-idx3", "labels-idx1")
    }
    X = [parts[part, "images-idx3"] for part in ("train", "t10k")]
    y = [parts[part, "labels-idx1"] for part in ("train", "t10k")]
    return {
        "X": np.concatenate([images.reshape(len(images), -1) for images in X]),
        "y": np.concatenate(y),
        "n_train": np.array(len(y[0])),
    }


def _find(folder: Path, name: str) -> Path:
    """Return the path of a file, compressed or not."""
    for path in (folder / f"{name}.gz", folder / name):
        if path.is_file():
            return path
    raise FileNotFoundError(f"{folder} contains neither {name}.gz nor {name}")


def read_idx(path: Path) -> np.ndarray:
    """Return the bytes in a file of the format IDX: two zeros, type 8, number of axes, lengths, values."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    if content[:3] != b"\x00\x00\x08":
        raise ValueError(f"{path} is not an IDX file of bytes: it starts with {content[:4].hex()}")
    shape = np.frombuffer(content, dtype=">i4", offset=4, count=content[3])
    values = np.frombuffer(content, dtype=np.uint8, offset=4 + 4 * len(shape))
    if len(values) != shape.prod():
        raise ValueError(f"{path} has {len(values)} values, not {' x '.join(map(str, shape))}")
    return values.reshape(shape)


def isomap_faces(path: Path) -> dict[str, np.ndarray]:
    """Read ``images`` (4096, n), ``poses`` (2, n) and ``lights`` (1, n); reduce the images to 32 x 32 pixels.

    The columns of ``images`` are images column by column. Poses and lights are standardised.
    """
    arrays = loadmat(path)
    images = arrays["images"].T.reshape(-1, 64, 64).transpose(0, 2, 1)  # row by row
    matrix = resize_matrix(64, 32)
    small = np.clip(matrix @ images @ matrix.T, 0, 1)
    pan, tilt = (_standardize(row) for row in arrays["poses"])
    return {
        "X": small.reshape(len(small), -1).astype(np.float32),
        "image_shape": np.array([32, 32], dtype=np.int32),
        "light_z": _standardize(arrays["lights"].ravel()),
        "pan_z": pan,
        "tilt_z": tilt,
    }


def _standardize(values: np.ndarray) -> np.ndarray:
    """Return values with mean 0 and sample standard deviation 1."""
    values = values.astype(np.float64)
    return (values - values.mean()) / values.std(ddof=1)


def resize_matrix(n: int, m: int) -> np.ndarray:
    """Return the matrix (m, n) that reduces n pixels to m as MATLAB's ``imresize`` does.

    The weights are the cubic kernel (a = -1/2), stretched by n / m against aliasing; pixels beyond the ends
    are mirrored; rows sum to one.
    """
    scale = n / m
    centers = (np.arange(m) + 0.5) * scale - 0.5
    reach = int(np.ceil(2 * scale))
    offsets = np.floor(centers)[:, None].astype(int) + np.arange(-reach, reach + 2)  # (m, 2 * reach + 2)
    weights = _cubic((offsets - centers[:, None]) / scale)
    mirrored = np.where(offsets < 0, -1 - offsets, offsets)
    mirrored = np.where(mirrored >= n, 2 * n - 1 - mirrored, mirrored)
    matrix = np.zeros((m, n))
    np.add.at(matrix, (np.arange(m)[:, None], mirrored), weights)
    return matrix / matrix.sum(axis=1, keepdims=True)


def _cubic(x: np.ndarray) -> np.ndarray:
    """Return the cubic convolution kernel."""
    x = np.abs(x)
    near, far = 1.5 * x**3 - 2.5 * x**2 + 1, -0.5 * x**3 + 2.5 * x**2 - 4 * x + 2
    return np.where(x <= 1, near, np.where(x <= 2, far, 0.0))
