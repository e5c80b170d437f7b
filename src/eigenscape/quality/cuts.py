"""Cuts of any partition of a weighted graph (Belkin sec. 4; Burges sec. 2.5.2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape._numbers import checked_sparse
from eigenscape._roles import missing_labels
from eigenscape._typing import Matrix, is_sparse
from eigenscape.dictionary.low_rank import LowRankKernel, LowRankOperator
from eigenscape.kernels.base import BoundKernel, n_points
from eigenscape.normalize import DividedKernel


def normalized_cut(affinity: ArrayLike | sparse.csr_array | BoundKernel, labels: ArrayLike) -> float:
    r"""Compute the normalised cut of a partition of the vertices of a weighted graph.

    For two parts it is the quantity that Shi and Malik minimise (Belkin sec. 4),

    .. math:: \mathrm{Ncut}(A, B) = \mathrm{cut}(A, B) \left(\frac 1 {\mathrm{vol}(A)} +
              \frac 1 {\mathrm{vol}(B)}\right)

    with :math:`\mathrm{cut}(A, B) = \sum_{u \in A, v \in B} W(u, v)` and :math:`\mathrm{vol}(A) = \sum_{u \in
    A, v \in V} W(u, v)`; for more parts the sum of :math:`\mathrm{cut}(A, V \setminus A) / \mathrm{vol}(A)`.
    It is 0 for parts without edges between them, and at most the number of parts. The second smallest
    eigenvalue of Laplacian eigenmaps is a lower bound for two parts.

    Parameters
    ----------
    affinity : array-like or sparse array of shape (n_points, n_points), or bound kernel
        Symmetric affinities without negative values, or the kernel of a fitted estimator (``kernel_``), whose
        training points are the vertices. Of a divided kernel the affinity that is divided is used. Values on
        the diagonal count in the volume.
    labels : array-like of shape (n_points,)
        The part of each vertex: at least two different values of any type, none missing.

    Returns
    -------
    float
        The normalised cut.

    Raises
    ------
    ValueError
        If the labels do not define a partition, or the affinity has negative values, is not symmetric or has
        isolated vertices.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import normalized_cut
    >>> path = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)  # 0 - 1 - 2 - 3
    >>> round(normalized_cut(path, [0, 0, 1, 1]), 3)  # 1 / 3 + 1 / 3
    0.667
    """
    within, volume = _part_sums(affinity, labels)
    return cut_of_sums(within, volume)


def cheeger_value(affinity: ArrayLike | sparse.csr_array | BoundKernel, labels: ArrayLike) -> float:
    r"""Compute the Cheeger value (conductance) of a partition of the vertices of a weighted graph.

    The quantity whose minimum over all partitions into two parts is the Cheeger constant (Belkin sec. 4),

    .. math:: \frac{\mathrm{cut}(A, \bar A)}{\min(\mathrm{vol}(A), \mathrm{vol}(\bar A))},

    with the cut and the volume of :func:`normalized_cut`. It is the same for both of two parts; for more
    parts it is the largest value over the parts.

    Parameters
    ----------
    affinity : array-like or sparse array of shape (n_points, n_points), or bound kernel
        As for :func:`normalized_cut`.
    labels : array-like of shape (n_points,)
        The part of each vertex: at least two different values of any type, none missing.

    Returns
    -------
    float
        The Cheeger value, between 0 and 1. For two parts it is at most the normalised cut and at least half
        of it.

    Raises
    ------
    ValueError
        As for :func:`normalized_cut`.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.quality import cheeger_value
    >>> path = np.diag(np.ones(3), 1) + np.diag(np.ones(3), -1)  # 0 - 1 - 2 - 3
    >>> cheeger_value(path, ["left", "right", "right", "right"])
    1.0
    """
    within, volume = _part_sums(affinity, labels)
    cut = np.maximum(volume - within, 0.0)
    return float(np.max(cut / np.minimum(volume, volume.sum() - volume)))


def cut_of_sums(within: np.ndarray, volume: np.ndarray) -> float:
    """Return ``sum_a 1 - assoc(a, a) / vol(a)`` over the parts with a positive volume."""
    occupied = volume > 0
    return max(float(np.sum(1.0 - within[occupied] / volume[occupied])), 0.0)


def _part_sums(affinity: Any, labels: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums of the affinities within each part, and from each part to all vertices."""
    if isinstance(affinity, DividedKernel):
        affinity = affinity.base
    kernel = affinity if callable(affinity) else None
    n = n_points(kernel.X) if kernel is not None else _square(affinity)
    parts, n_parts = _check_labels(labels, n)
    if isinstance(affinity, LowRankKernel):
        indicator = np.eye(n_parts)[parts]
        product = LowRankOperator(affinity).matmat(indicator)
        degrees, own = product.sum(axis=1), product[np.arange(n), parts]
    else:
        degrees, own = np.empty(n), np.empty(n)  # sums over all vertices, and over the vertices of the part
        for rows, values in _checked_blocks(affinity, kernel, n):
            degrees[rows] = np.asarray(values.sum(axis=1)).ravel()
            own[rows] = _sums_of_own_part(values, parts[rows], parts)
    if not degrees.min() > 0:
        isolated = np.flatnonzero(~(degrees > 0))
        raise ValueError(
            f"{len(isolated)} vertices are isolated: their affinities sum to zero or less (first: vertex"
            f" {isolated[0]}), and belong to no part by their edges; remove them from affinity and labels"
        )
    return np.bincount(parts, own, n_parts), np.bincount(parts, degrees, n_parts)


def _square(affinity: Any) -> int:
    shape = np.shape(affinity)
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ValueError(
            f"affinity must be a square matrix or the kernel of a fitted model, got shape {shape}"
        )
    return int(shape[0])


def _check_labels(labels: ArrayLike, n: int) -> tuple[np.ndarray, int]:
    """Return the index of each vertex's part, and the number of parts."""
    names = np.asarray(labels)
    if names.shape != (n,):
        raise ValueError(f"labels must have shape ({n},), one for each vertex, got shape {names.shape}")
    missing = missing_labels(names)
    if missing.any():
        raise ValueError(
            f"{int(missing.sum())} labels are missing (first: vertex {int(np.argmax(missing))}); every vertex"
            " must belong to a part"
        )
    _, parts = np.unique(names.astype(str) if names.dtype == object else names, return_inverse=True)
    n_parts = int(parts.max()) + 1
    if n_parts < 2:
        raise ValueError(f"labels has the single value {names[0]}; a cut needs at least two parts")
    return parts, n_parts


def _checked_blocks(affinity: Any, kernel: BoundKernel | None, n: int) -> Iterator[tuple[slice, Matrix]]:
    """Yield slices of rows with their affinities, after checks of the values and of the symmetry."""
    if kernel is not None:
        for rows in row_blocks(n, 24 * n):
            values: Matrix = kernel(kernel.X[rows])
            yield rows, _check_values(values, rows.start)
        return
    checked_sparse(affinity, "affinity")
    matrix: Matrix = sparse.csr_array(affinity) if is_sparse(affinity) else np.asarray(affinity, dtype=float)
    if is_sparse(matrix):
        _check_symmetric(abs(_check_values(matrix, 0) - matrix.T).max(), matrix.max())
        yield slice(0, n), matrix
        return
    for rows in row_blocks(n, 24 * n):
        values = _check_values(matrix[rows], rows.start)
        _check_symmetric(np.abs(values - matrix[:, rows].T).max(), values.max())
        yield rows, values


def _check_values(values: Matrix, first_row: int) -> Matrix:
    data = values.data if is_sparse(values) else values
    wrong = ~(np.isfinite(data) & (data >= 0))
    if wrong.any():
        entries = sparse.coo_array(values)
        place = int(np.flatnonzero(~(np.isfinite(entries.data) & (entries.data >= 0)))[0])
        raise ValueError(
            f"affinity must be finite and not negative, but {int(wrong.sum())} values are not, such as"
            f" {entries.data[place]:g} between vertices {int(entries.row[place]) + first_row} and"
            f" {int(entries.col[place])}"
        )
    return values


def _check_symmetric(difference: float, largest: float) -> None:
    if difference > 1e-8 * largest:
        raise ValueError(
            f"affinity must be symmetric, but differs from its transpose by {difference:g}; use for example"
            " (W + W.T) / 2"
        )


def _sums_of_own_part(values: Matrix, own: np.ndarray, parts: np.ndarray) -> np.ndarray:
    """Return the sum of each row (b, n) over the vertices of its own part."""
    if is_sparse(values):
        entries = sparse.coo_array(values)
        same = own[entries.row] == parts[entries.col]
        return np.bincount(entries.row[same], entries.data[same], minlength=len(own))
    return np.einsum("ij,ij->i", values, own[:, None] == parts)
