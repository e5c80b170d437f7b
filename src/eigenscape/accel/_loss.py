"""The loss of spectral methods (Bengio sec. 4), for which scikit-learn has no method.

It is the mean of ``(k(x, y) - sum_r l_r f_r(x) f_r(y))^2``, ``k`` the normalised kernel of the method and
``f_r`` its eigenfunctions: over all pairs of training points, or over pairs of two different new points.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from eigenscape._memory import row_blocks
from eigenscape._threads import single_blas_thread

#: Returns the values (b, n) of a kernel between a block of points and all of them.
Rows = Callable[[slice], Any]


def pair_loss(kernel: Rows, left: np.ndarray, right: np.ndarray, *, training: bool) -> float:
    """Return the mean square of ``k(x_i, x_j) - left_i . right_j``; of different points unless training."""
    from eigenscape.quality.loss import squares_of_expansion
    from eigenscape.quality.pair_moments import n_pairs

    n = len(left)
    count, total = np.array([left.shape[1]]), 0.0
    n_ordered = n * n if training else n_pairs(n)
    with single_blas_thread():
        for block in row_blocks(n, 32.0 * n):
            first = None if training else block.start
            total += float(squares_of_expansion(kernel(block), left[block], right, count, first)[0])
    return total / n_ordered


def centered_loss(
    kernel: Rows, means: np.ndarray, mean: float, coordinates: np.ndarray, *, training: bool
) -> float:
    """Return the loss of a kernel that is centred by its means over the training points.

    Parameters
    ----------
    kernel : callable
        Rows of the kernel before it is centred.
    means : ndarray of shape (n,)
        Mean of the kernel of each point and the training points.
    mean : float
        Mean over all pairs of training points.
    coordinates : ndarray of shape (n, r)
    training : bool
        Whether the points are the training set.
    """

    def centered(block: slice) -> np.ndarray:
        return kernel(block) - means[block, None] - means + mean

    return pair_loss(centered, coordinates, coordinates, training=training)


def distance_kernel(distances: np.ndarray) -> np.ndarray:
    """Return ``-d^2 / 2``, the kernel of classical scaling before it is centred (Bengio eq. 4)."""
    return -0.5 * np.square(distances, dtype=np.float64)


def require_between(between: Any, n: int) -> np.ndarray:
    """Return the precomputed matrix (n, n) of new points among themselves, or raise ValueError."""
    if np.shape(between) != (n, n):
        got = "None" if between is None else f"shape {np.shape(between)}"
        raise ValueError(
            f"precomputed input needs the matrix among the new points, between of shape {(n, n)}; got {got}"
        )
    return np.asarray(between, dtype=np.float64)
