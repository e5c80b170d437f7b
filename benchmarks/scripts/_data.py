"""Number of rows and images of the scripts: an argument of the command, or that of the script."""

import sys

import numpy as np


def size(default):
    """Return the first argument of the script, or the default."""
    return int(sys.argv[1]) if len(sys.argv) > 1 else default


def digits(default=1797):
    """Return images of digits and their labels; of more than 1797, the others are shifted by a pixel."""
    from sklearn.datasets import load_digits

    data = load_digits()
    shifts = [(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)]
    images = np.concatenate([np.roll(data.images, shift, axis=(1, 2)) for shift in shifts])
    n = size(default)
    return images.reshape(len(images), -1)[:n], np.tile(data.target, len(shifts))[:n]
