"""Estimate of the memory that a fit needs, printed before it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eigenscape._format import format_bytes
from eigenscape._memory import BLOCK_BYTES, available_bytes
from eigenscape.app.cli.errors import print_message
from eigenscape.app.cli.input import is_streamed
from eigenscape.app.methods import method_of

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

#: Number of n x n matrices that a method holds at its peak, unless its affinity is sparse. This and all other
#: numbers here are measured (tests/app/cli/test_memory_estimates.py).
_SQUARE_MATRICES = {
    "KernelPCA": 1,
    "ClassicalMDS": 1,
    "Isomap": 1,
    "OrdinalMDS": 8,
    "DiffusionMap": 4.5,  # when the spectrum is clustered and a dense solver computes all of it
    "LaplacianEigenmaps": 4.5,
    "SpectralClustering": 4.5,
}
#: Methods that compute the matrix in blocks if it needs more than half of the free memory.
_BLOCKED = set(_SQUARE_MATRICES) - {"Isomap", "OrdinalMDS"}
#: Number of copies of the rows that a method without a graph or kernel matrix holds at its peak.
_COPIES = {
    "PCA": 1.5,
    "ProbabilisticPCA": 5,
    "FactorAnalysis": 7,
    "MixturePPCA": 6.5,
    "OrientedPCA": 5,
    "ProjectionPursuit": 4,
    "FastMap": 4,
}
_SPARSE_AFFINITIES = (
    "nearest_neighbors",
    "radius",
    "mst",
    "mst_nearest_neighbors",
    "precomputed_nearest_neighbors",
)
_DEFAULT_NEIGHBORS = 10
_DEFAULT_LANDMARKS = 200  # if their number is determined during the fit
#: Members of a dictionary selected by a tolerance: of rows in few columns, and the largest number otherwise.
_FEW_MEMBERS, _MANY_MEMBERS = 100, 2000
#: Rows with more columns usually have graphs that fill in when they are factorised.
_FEW_COLUMNS = 10
_VALUES_PER_ROW = 30  # coordinates and vectors of the eigensolver
#: Graph in both directions with lengths, its symmetric copy, the operator and its hierarchy.
_BYTES_PER_EDGE = 150
_SEARCH_BYTES = 16 * 2**20  # distances of a neighbour search without a tree
_CELL_MATRICES = 10  # of a potential map, between all pairs of its cells
_ANCHOR_MATRICES, _ANCHOR_BYTES = 8, 200  # between all pairs of anchors; weights of a row on its nearest
_DICTIONARY_ROWS = 8192  # rows that are projected at once


def announce_memory(estimator: BaseEstimator, X: Any, quiet: bool) -> float | None:
    """Print and return an estimate of the memory of a fit in bytes; None if the rows are streamed."""
    if is_streamed(X):
        return None
    needed = estimate_memory(estimator, *X.shape)
    free = format_bytes(available_bytes())
    print_message(f"{method_of(estimator)}: about {format_bytes(needed)} of memory ({free} free)", quiet)
    return needed


def estimate_memory(estimator: BaseEstimator, n_rows: int, n_columns: int) -> float:
    """Estimate the peak memory of a fit in bytes, within a factor of 2, without the rows themselves.

    Copies of the rows and blocks of distances, plus the edges of a graph, the projection on a dictionary, or
    the n x n matrices that the method stores. Fits that need less than 32 MiB are not resolved.
    """
    parameters, name = estimator.get_params(), type(estimator).__name__
    one_copy, vectors = 8.0 * n_rows * n_columns, 8.0 * n_rows * _VALUES_PER_ROW
    if name in _COPIES:
        return _COPIES[name] * one_copy + vectors
    rows = 2 * one_copy + vectors + min(BLOCK_BYTES, 4.0 * n_rows**2)
    size, tol = parameters.get("dictionary_size"), parameters.get("dictionary_tol")
    if size is not None or tol is not None or name == "GreedySpectralEmbedding":
        return one_copy + vectors + _dictionary_bytes(size, n_rows, n_columns)
    if name == "PotentialMap":
        edges = _BYTES_PER_EDGE * n_rows * (parameters["n_neighbors"] or _DEFAULT_NEIGHBORS)
        return rows + edges + _CELL_MATRICES * 8.0 * min(parameters["n_landmarks"], n_rows) ** 2
    if parameters.get("n_landmarks") is not None:
        landmarks = parameters["n_landmarks"]
        count = landmarks if isinstance(landmarks, int) else _DEFAULT_LANDMARKS
        return rows + 8.0 * n_rows * count
    if name not in _SQUARE_MATRICES or parameters.get("affinity") in _SPARSE_AFFINITIES:
        if "n_neighbors" not in parameters:
            return 2 * one_copy + vectors + min(_SEARCH_BYTES, 4.0 * n_rows**2)
        edges = _BYTES_PER_EDGE * n_rows * (parameters["n_neighbors"] or _DEFAULT_NEIGHBORS)
        if parameters.get("n_anchors") is not None:
            anchors = _ANCHOR_MATRICES * 8.0 * parameters["n_anchors"] ** 2 + _ANCHOR_BYTES * n_rows
            return 2 * one_copy + vectors + min(_SEARCH_BYTES, 4.0 * n_rows**2) + edges + anchors
        if n_columns <= _FEW_COLUMNS:
            return 2 * one_copy + vectors + edges
        fills_in = name == "LocallyLinearEmbedding"
        factors = min(8.0 * n_rows**2, available_bytes() / 2) if fills_in else 0
        return one_copy + vectors + min(_SEARCH_BYTES, 4.0 * n_rows**2) + edges + factors
    square = 8.0 * _SQUARE_MATRICES[name] * n_rows**2
    return rows + (min(square, available_bytes() / 2) if name in _BLOCKED else square)


def _dictionary_bytes(size: int | None, n_rows: int, n_columns: int) -> float:
    """Estimate the memory of a dictionary: kernel values, coordinates and factors."""
    count = size or (_FEW_MEMBERS if n_columns <= _FEW_COLUMNS else _MANY_MEMBERS)
    count = min(count, n_rows)
    return 8.0 * count * (3 * min(n_rows, _DICTIONARY_ROWS) + 4 * count)
