"""Images of simple objects."""

from __future__ import annotations

import numpy as np

from eigenscape.datasets._check import check_count, check_seed


def bars(
    n_samples: int = 1000, *, side: int = 40, length: int = 20, thickness: int = 2, random_state: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Generate binary images of a vertical or horizontal bar at a random position (Belkin sec. 6.2).

    Parameters
    ----------
    n_samples : int, default=1000
        Number of images. The first half are vertical bars, the others horizontal ones.
    side : int, default=40
        Number of pixels along either edge of an image.
    length, thickness : int, default=20, 2
        Size of the bars in pixels; they lie inside the image. The paper does not give the values.
    random_state : int, default=0
        Seed of the positions.

    Returns
    -------
    X : ndarray of shape (n_samples, side ** 2)
        Pixels in row-major order, 1 inside the bar.
    corners : ndarray of shape (n_samples, 2)
        Row and column of the top left pixel of the bar.
    labels : ndarray of shape (n_samples,)
        0 for vertical, 1 for horizontal.

    Examples
    --------
    >>> from eigenscape.datasets import bars
    >>> X, corners, labels = bars(10)
    >>> X.shape, float(X[0].sum())
    ((10, 1600), 40.0)
    """
    n_samples, side = check_count("n_samples", n_samples), check_count("side", side)
    for name, extent in (("length", length), ("thickness", thickness)):
        if check_count(name, extent) > side:
            raise ValueError(f"{name}={extent} does not fit into images of side={side}; lower {name}")
    rng = np.random.default_rng(check_seed(random_state))
    labels = (np.arange(n_samples) >= (n_samples + 1) // 2).astype(np.int64)
    # Numbers of rows and columns that a bar covers.
    extents = np.where(labels[:, np.newaxis] == 0, [length, thickness], [thickness, length])
    corners = rng.integers(0, side - extents, endpoint=True)
    inside = [
        (np.arange(side) >= corners[:, [axis]]) & (np.arange(side) < corners[:, [axis]] + extents[:, [axis]])
        for axis in (0, 1)
    ]  # (n_samples, side) for rows and for columns
    images = inside[0][:, :, np.newaxis] & inside[1][:, np.newaxis, :]
    return images.reshape(n_samples, side * side).astype(np.float64), corners, labels
