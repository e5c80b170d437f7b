"""Estimate of the memory that a fit needs, printed before it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eigenscape._format import format_bytes
from eigenscape._memory import BLOCK_BYTES, available_bytes
from eigenscape.app.cli.errors import print_message
from eigenscape.app.cli.estimators import method_of
from eigenscape.app.cli.input import is_streamed

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

#: Number of n x n matrices that a method holds at its peak (measured), unless its affinity is sparse.
_SQUARE_MATRICES = {
    "KernelPCA": 1,
    "ClassicalMDS": 1,
    "Isomap": 1,
    "OrdinalMDS": 8,
    "DiffusionMap": 5,  # when the spectrum is clustered and a dense solver computes all of it
    "LaplacianEigenmaps": 5,
    "SpectralClustering": 5,
}
#: Methods that compute the matrix in blocks if it needs more than half of the free memory.
_BLOCKED = set(_SQUARE_MATRICES) - {"Isomap", "OrdinalMDS"}
_SPARSE_AFFINITIES = (
    "nearest_neighbors",
    "radius",
    "mst",
    "mst_nearest_neighbors",
    "precomputed_nearest_neighbors",
)
_DEFAULT_NEIGHBORS = 10
_DEFAULT_LANDMARKS = 200  # if their number is determined during the fit
_VALUES_PER_ROW = 30  # coordinates and vectors of the eigensolver
_BYTES_PER_EDGE = 80  # both directions, lengths and indices, and the copy made to symmetrise the graph


def announce_memory(estimator: BaseEstimator, X: Any, quiet: bool) -> float | None:
    """Print and return an estimate of the memory of a fit in bytes; None if the rows are streamed."""
    if is_streamed(X):
        return None
    needed = estimate_memory(estimator, *X.shape)
    free = format_bytes(available_bytes())
    print_message(f"{method_of(estimator)}: about {format_bytes(needed)} of memory ({free} free)", quiet)
    return needed


def estimate_memory(estimator: BaseEstimator, n_rows: int, n_columns: int) -> float:
    """Estimate the peak memory of a fit in bytes, to an order of magnitude, without the rows themselves.

    One copy of the rows, plus the edges of a graph or the n x n matrices that the method stores.
    """
    parameters, name = estimator.get_params(), type(estimator).__name__
    rows = 8.0 * n_rows * (n_columns + _VALUES_PER_ROW) + min(BLOCK_BYTES, 8.0 * n_rows**2)
    members = parameters.get("dictionary_size") or parameters.get("n_landmarks")
    if members is not None:
        count = members if isinstance(members, int) else _DEFAULT_LANDMARKS
        return rows + 8.0 * count * (n_rows if "n_landmarks" in parameters else 3 * count)
    if name not in _SQUARE_MATRICES or parameters.get("affinity") in _SPARSE_AFFINITIES:
        neighbors = parameters.get("n_neighbors") or _DEFAULT_NEIGHBORS
        return rows + (_BYTES_PER_EDGE * n_rows * neighbors if "n_neighbors" in parameters else 0)
    square = 8.0 * _SQUARE_MATRICES[name] * n_rows**2
    return rows + (min(square, available_bytes() / 2) if name in _BLOCKED else square)
