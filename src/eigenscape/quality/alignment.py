"""Alignment of two embeddings of the same points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg


class Alignment(NamedTuple):
    """Result of :func:`procrustes` and :func:`linear_alignment`.

    Attributes
    ----------
    aligned : ndarray of shape (n_samples, n_components)
        The first embedding after alignment.
    error : float
        Root mean square distance to the second embedding, relative to the spread of the second.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import procrustes
    >>> Y = np.random.default_rng(0).standard_normal((20, 2))
    >>> turned = procrustes(Y[:, ::-1] + 3, Y)
    >>> turned.aligned.shape, bool(turned.error < 1e-12)
    ((20, 2), True)
    """

    aligned: np.ndarray
    error: float


def aligned_error(A: ArrayLike, B: ArrayLike) -> float:
    """Compute the distance between two embeddings after the best rigid motion.

    ``A`` is translated, rotated and reflected, but not scaled.

    Parameters
    ----------
    A, B : array-like of shape (n_samples, n_components)
        Coordinates of the same points.

    Returns
    -------
    float
        Root mean square distance relative to the spread of ``B``: 0 if the embeddings are equal up to a
        rigid motion, 1 if ``A`` is constant.

    Raises
    ------
    ValueError
        If the shapes differ, or if all points of ``B`` coincide.

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


def procrustes(A: ArrayLike, B: ArrayLike, scale: bool = True) -> Alignment:
    """Align an embedding to another by translation, rotation, reflection and scaling.

    Parameters
    ----------
    A, B : array-like of shape (n_samples, n_components)
        Coordinates of the same points.
    scale : bool, default=True
        Whether ``A`` is scaled. The scale of an embedding differs between methods.

    Returns
    -------
    Alignment
        The ``aligned`` coordinates and the remaining ``error``, between 0 and 1 if ``scale=True``.

    Raises
    ------
    ValueError
        If the shapes differ, or if all points of ``B`` coincide.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import procrustes
    >>> B = np.random.default_rng(0).standard_normal((50, 2))
    >>> aligned, error = procrustes(5 * B[:, ::-1] + 1, B)
    >>> bool(np.allclose(aligned, B)), bool(error < 1e-12)
    (True, True)
    """
    source, target, center = _centered_pair(A, B)
    factor, rotation = _best_rotation(source, target, scale)
    aligned = factor * source @ rotation
    return Alignment(aligned + center, _relative_error(aligned, target))


class Similarity(NamedTuple):
    """The transformation of :func:`procrustes`: ``y`` is mapped to ``scale * y @ rotation + shift``."""

    scale: float
    rotation: np.ndarray  # (n_components, n_components), orthogonal
    shift: np.ndarray  # (n_components,)
    error: float  # of the points from which it was computed, as in Alignment


def similarity(A: ArrayLike, B: ArrayLike, scale: bool = True) -> Similarity:
    """Return the transformation by which :func:`procrustes` aligns ``A`` to ``B``, for any further points."""
    source, target, center = _centered_pair(A, B)
    factor, rotation = _best_rotation(source, target, scale)
    origin = np.asarray(A, dtype=np.float64).mean(axis=0)
    error = _relative_error(factor * source @ rotation, target)
    return Similarity(factor, rotation, center - factor * origin @ rotation, error)


def linear_alignment(A: ArrayLike, B: ArrayLike) -> Alignment:
    """Align an embedding to another by linear regression (Bengio sec. 5.3).

    The affine function of ``A`` closest to ``B`` is used, so that rotations within the eigenspace of nearly
    equal eigenvalues, and scales that differ between training sets, do not count as differences.

    Parameters
    ----------
    A : array-like of shape (n_samples, c)
        Coordinates to align.
    B : array-like of shape (n_samples, n_components)
        Coordinates of the same points.

    Returns
    -------
    Alignment
        The ``aligned`` coordinates (n_samples, n_components) and the remaining ``error``, between 0 and 1.

    Raises
    ------
    ValueError
        If the numbers of points differ, or if all points of ``B`` coincide.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import linear_alignment
    >>> B = np.random.default_rng(0).standard_normal((50, 2))
    >>> bool(linear_alignment(B @ [[1.0, 2.0], [0.0, 1.0]], B).error < 1e-12)
    True
    """
    source, target, center = _centered_pair(A, B)
    aligned = source @ linalg.lstsq(source, target)[0]
    return Alignment(aligned + center, _relative_error(aligned, target))


def _best_rotation(source: np.ndarray, target: np.ndarray, scale: bool) -> tuple[float, np.ndarray]:
    """Return the factor (1 unless ``scale``) and the orthogonal matrix that bring centred points together."""
    if source.shape != target.shape:
        raise ValueError(
            "the embeddings must have the same points and dimensions,"
            f" got shapes {source.shape} and {target.shape}"
        )
    rotation, overlap = linalg.orthogonal_procrustes(source, target)
    size = float(np.square(source).sum())
    return (float(overlap) / size if scale and size > 0 else 1.0), rotation


def _centered_pair(A: ArrayLike, B: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return both embeddings centred, and the mean of the second."""
    source, target = np.asarray(A, dtype=np.float64), np.asarray(B, dtype=np.float64)
    if source.ndim != 2 or target.ndim != 2 or len(source) != len(target):
        raise ValueError(
            f"the embeddings must have the same points, got shapes {source.shape} and {target.shape}"
        )
    center = target.mean(axis=0)
    return source - source.mean(axis=0), target - center, center


def _relative_error(aligned: np.ndarray, target: np.ndarray) -> float:
    spread = np.linalg.norm(target)
    if spread == 0:
        raise ValueError("all points of the second embedding coincide, so the relative error is undefined")
    return float(np.linalg.norm(aligned - target) / spread)
