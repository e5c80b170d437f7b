"""How far two maps of the same points are from each other, however they are turned."""

from __future__ import annotations

import numpy as np
from scipy import linalg


def aligned_error(A: np.ndarray, B: np.ndarray) -> float:
    """Root mean square distance between two maps after the best shift, rotation and reflection, over the spread of ``B``.

    Parameters
    ----------
    A, B : ndarray of shape (n, d)
        Coordinates of the same points. Neither is scaled.

    Returns
    -------
    float
        0 for maps that are the same up to a rigid motion; 1 if ``A`` says nothing about ``B`` (one point, say).

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import aligned_error
    >>> B = np.random.default_rng(0).standard_normal((50, 2))
    >>> A = B @ [[0.0, 1.0], [-1.0, 0.0]] + 3
    >>> bool(aligned_error(A, B) < 1e-12)
    True
    """
    A, B = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
    if A.shape != B.shape or A.ndim != 2:
        raise ValueError(f"the maps must have the same points and dimensions, got shapes {A.shape} and {B.shape}")
    A, B = A - A.mean(axis=0), B - B.mean(axis=0)
    spread = np.linalg.norm(B)
    if spread == 0:
        raise ValueError("the second map has all points in one place, so an error relative to its spread means nothing")
    turn, _ = linalg.orthogonal_procrustes(A, B)
    return float(np.linalg.norm(A @ turn - B) / spread)
