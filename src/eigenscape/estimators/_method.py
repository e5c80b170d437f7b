"""The description of a method: the class attribute ``_method`` of its estimator, and types of parameters.

The command line, the explorer, reports and model files read it. Every described subclass of ``Estimator`` is
known to them as soon as it is defined.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from eigenscape._memory import BLOCK_BYTES, available_bytes
from eigenscape.kernels.base import Kernel
from eigenscape.options import GRAPH_NAMES, Graph, Solver, flattened
from eigenscape.solvers import EigenSolver
from eigenscape.solvers.policy import SolverName

#: Name of a kernel, a function of two samples, or a kernel.
KernelLike: TypeAlias = str | Callable[[Any, Any], float] | Kernel
#: A graph of samples, or a kernel between all of them.
AffinityLike: TypeAlias = Graph | KernelLike
#: Value of ``random_state``.
Seed: TypeAlias = int | np.random.RandomState | None
#: Value of ``eigen_solver`` for a dense matrix, and for the sparse matrix of a graph.
DenseSolver: TypeAlias = Literal["auto", "dense", "lanczos"] | EigenSolver | Solver
GraphSolver: TypeAlias = SolverName | EigenSolver | Solver

# All numbers here and in the descriptions are measured (tests/app/cli/test_memory_estimates.py).
_DEFAULT_NEIGHBORS = 10
_DEFAULT_LANDMARKS = 200  # if their number is determined during the fit
#: Members of a dictionary selected by a tolerance: of rows in few columns, and the largest number otherwise.
_FEW_MEMBERS, _MANY_MEMBERS = 100, 2000
#: Rows with more columns usually have graphs that fill in when they are factorised.
_FEW_COLUMNS = 10
_VALUES_PER_ROW = 30  # coordinates and vectors of the eigensolver
#: Graph in both directions with lengths, its symmetric copy, the operator and its hierarchy.
_BYTES_PER_EDGE = 240
_SEARCH_BYTES = 16 * 2**20  # distances of a neighbour search without a tree
_CELL_MATRICES = 10  # between all pairs of cells
_ANCHOR_MATRICES, _ANCHOR_BYTES = 8, 200  # between all pairs of anchors; weights of a row on its nearest
_DICTIONARY_ROWS = 8192  # largest number of rows that are projected at once; 8 times the members if fewer


@dataclass(frozen=True)
class Memory:
    """What a fit holds at its peak; by default the edges of a graph, if there are neighbours."""

    copies: float | None = None  # copies of the rows, without any graph or kernel matrix
    square: float = 0.0  # n x n matrices, unless the affinity is sparse
    blocked: bool = False  # matrices that need more than half of the free memory are computed in blocks
    fills_in: bool = False  # the matrix of a graph is factorised
    dictionary: bool = False  # there is always a dictionary
    cells: bool = False  # landmarks are cells, with matrices between all pairs

    def estimate(self, parameters: Mapping[str, Any], n_rows: int, n_columns: int) -> float:
        """Estimate the peak memory of a fit in bytes, within a factor of 2, without the rows themselves.

        Copies of the rows and blocks of distances, plus the edges of a graph, the projection on a dictionary,
        or the n x n matrices that the method stores. Fits that need less than 32 MiB are not resolved.
        """
        one_copy, vectors = 8.0 * n_rows * n_columns, 8.0 * n_rows * _VALUES_PER_ROW
        parameters = flattened(parameters)
        if self.copies is not None:
            return self.copies * one_copy + vectors
        rows = 2 * one_copy + vectors + min(BLOCK_BYTES, 4.0 * n_rows**2)
        size, tol = parameters.get("dictionary_size"), parameters.get("dictionary_tol")
        if size is not None or tol is not None or self.dictionary:
            return one_copy + vectors + _dictionary_bytes(size, n_rows, n_columns)
        edges = _BYTES_PER_EDGE * n_rows * (parameters.get("n_neighbors") or _DEFAULT_NEIGHBORS)
        landmarks = parameters.get("n_landmarks")
        if self.cells:
            return rows + edges + _CELL_MATRICES * 8.0 * min(parameters["n_landmarks"], n_rows) ** 2
        if landmarks is not None:
            return rows + 8.0 * n_rows * (landmarks if isinstance(landmarks, int) else _DEFAULT_LANDMARKS)
        if self.square and parameters.get("affinity", "") not in (None, *GRAPH_NAMES):
            square = 8.0 * self.square * n_rows**2
            return rows + (min(square, available_bytes() / 2) if self.blocked else square)
        search = min(_SEARCH_BYTES, 4.0 * n_rows**2)
        if "n_neighbors" not in parameters:
            return 2 * one_copy + vectors + search
        if parameters.get("n_anchors") is not None:
            anchors = _ANCHOR_MATRICES * 8.0 * parameters["n_anchors"] ** 2 + _ANCHOR_BYTES * n_rows
            return 2 * one_copy + vectors + search + edges + anchors
        if n_columns <= _FEW_COLUMNS:
            return 2 * one_copy + vectors + edges
        factors = min(8.0 * n_rows**2, available_bytes() / 2) if self.fills_in else 0
        return one_copy + vectors + search + edges + factors


def _dictionary_bytes(size: int | None, n_rows: int, n_columns: int) -> float:
    """Estimate the memory of a dictionary: kernel values, coordinates and factors."""
    count = size or (_FEW_MEMBERS if n_columns <= _FEW_COLUMNS else _MANY_MEMBERS)
    count = min(count, n_rows)
    return 8.0 * count * (3 * min(n_rows, _DICTIONARY_ROWS, 8 * count) + 4 * count)


@dataclass(frozen=True)
class Method:
    """Names and capabilities of a method. ``_meaning`` of the class is a sentence on the coordinates."""

    name: str  # on the command line
    aliases: tuple[str, ...] = ()
    command: str = "embed"  # that fits it; empty if it is fitted from Python only
    linear: bool = False  # coordinates are affine functions of the rows
    scale_free: bool = False  # multiplying a column by a number does not change the coordinates
    streams: Literal["", "fit", "partial_fit"] = ""  # method that takes chunks of rows
    collections: bool = True  # fitted to dask collections
    groups: bool = False  # fitted to labels as groups of rows
    geodesic: bool = False  # distances are lengths of paths, so that the lengths of some edges suffice
    clusters: str = ""  # parameter for the number of clusters
    memory: Memory = Memory()


def described(estimator: Any) -> Method | None:
    """Return the description of an estimator or its class; None if it has none."""
    hook = None if isinstance(estimator, type) else getattr(estimator, "_described", None)
    return hook() if hook is not None else getattr(estimator, "_method", None)
