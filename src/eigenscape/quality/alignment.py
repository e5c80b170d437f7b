"""How far two maps of the same points are from each other, however they are turned."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg


class Alignment(NamedTuple):
    """One map laid over another, and how far apart they remain."""

    aligned: np.ndarray  # (n, d)
    error: float  # root mean square distance of the points, over the spread of the other map


def aligned_error(A: Any, B: Any) -> float:
    """Root mean square distance between two maps after the best shift, rotation and reflection, over the
    spread of ``B``.

    Parameters
    ----------
    A, B : ndarray of shape (n, d)
        Coordinates of the same points. Neither is scaled.

    Returns
    -------
    float
        0 for maps that are the same up to a rigid motion; 1 if ``A`` says nothing about ``B`` (one point,
        say).

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import aligned_error
    >>> B = np.random.default_rng(0).standard_normal((50, 2))
    >>> A = B @ [[0.0, 1.0], [-1.0, 0.0]] + 3
    >>> bool(aligned_error(A, B) < 1e-12)
    True
    """
    return procrustes(A, B, scale=False).error


def procrustes(A: Any, B: Any, scale: bool = True) -> Alignment:
    """``A`` shifted, turned, reflected and (with ``scale``) scaled to lie over ``B`` as closely as it can.

    Parameters
    ----------
    A, B : array-like of shape (n, d)
        Coordinates of the same points.
    scale : bool, default=True
        Whether the size of ``A`` may change: maps of different methods have units of their own.

    Returns
    -------
    Alignment
        ``aligned`` coordinates and the ``error`` left, 0 to 1 with ``scale``.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import procrustes
    >>> B = np.random.default_rng(0).standard_normal((50, 2))
    >>> aligned, error = procrustes(5 * B[:, ::-1] + 1, B)
    >>> bool(np.allclose(aligned, B)), bool(error < 1e-12)
    (True, True)
    """
    A, B = _pair(A, B)
    if A.shape != B.shape:
        raise ValueError(
            f"the maps must have the same points and dimensions, got shapes {A.shape} and {B.shape}"
        )
    center = B.mean(axis=0)
    A, B = A - A.mean(axis=0), B - center
    turn, overlap = linalg.orthogonal_procrustes(A, B)
    size = float(np.square(A).sum())
    factor = overlap / size if scale and size > 0 else 1.0
    turned = factor * A @ turn
    return Alignment(turned + center, _relative(turned - B, B))


def linear_alignment(A: Any, B: Any) -> Alignment:
    """The affine function of ``A`` that lies closest to ``B``: linear regression, as Bengio sec. 5.3 aligns
    two embeddings.

    Eigenvectors of nearly equal eigenvalues turn within the space they span, and scales differ between
    training sets; neither counts as a difference here.

    Parameters
    ----------
    A : array-like of shape (n, c)
        Coordinates to be aligned.
    B : array-like of shape (n, d)
        Coordinates of the same points.

    Returns
    -------
    Alignment
        ``aligned`` coordinates (n, d) and the ``error`` left, 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import linear_alignment
    >>> B = np.random.default_rng(0).standard_normal((50, 2))
    >>> bool(linear_alignment(B @ [[1.0, 2.0], [0.0, 1.0]], B).error < 1e-12)
    True
    """
    A, B = _pair(A, B)
    center = B.mean(axis=0)
    A, B = A - A.mean(axis=0), B - center
    aligned = A @ linalg.lstsq(A, B)[0]
    return Alignment(aligned + center, _relative(aligned - B, B))


def _pair(A: Any, B: Any) -> tuple[np.ndarray, np.ndarray]:
    A, B = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
    if A.ndim != 2 or B.ndim != 2 or len(A) != len(B):
        raise ValueError(
            f"the maps must have the same points and dimensions, got shapes {A.shape} and {B.shape}"
        )
    return A, B


def _relative(difference: np.ndarray, B: np.ndarray) -> float:
    spread = np.linalg.norm(B)
    if spread == 0:
        raise ValueError(
            "the second map has all points in one place, so an error relative to its spread means nothing"
        )
    return float(np.linalg.norm(difference) / spread)
