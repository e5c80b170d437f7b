"""How much memory a fit will need, about, before it starts."""

from __future__ import annotations

from typing import Any

#: Methods whose kernel is full unless the parameters say otherwise: how many n x n matrices they hold at
#: their peak, as measured.
_SQUARE = {
    "KernelPCA": 1,
    "ClassicalMDS": 1,
    "Isomap": 1,
    "OrdinalMDS": 8,
    "DiffusionMap": 5,  # where the spectrum is crowded and all of it is solved for
    "LaplacianEigenmaps": 5,
    "SpectralClustering": 5,
}
#: Those that make it in blocks where it would take half of the free memory.
_BLOCKED = set(_SQUARE) - {"Isomap", "OrdinalMDS"}
_GRAPHS = ("nearest_neighbors", "radius", "mst", "mst_nearest_neighbors", "precomputed_nearest_neighbors")
_NEIGHBORS = 10
#: Landmarks where their number is found on the way.
_LANDMARKS = 200
#: Numbers kept for each row beside its own: coordinates, and the vectors that a solver works with.
_VECTORS = 30
#: Bytes of a graph for each edge: both directions, lengths and indices, and what making it symmetric takes.
_EDGE_BYTES = 80


def memory_estimate(estimator: Any, n_rows: int, n_columns: int) -> float:
    """Bytes that ``fit`` will take at its peak, beside the rows read.

    An order of magnitude: rows are copied once, graphs count their edges, and a full kernel its n x n
    numbers, as far as the method would keep them (half of the free memory; it works in blocks beyond)."""
    from eigenscape._memory import BLOCK_BYTES, available_bytes

    chosen, name = estimator.get_params(), type(estimator).__name__
    rows = 8.0 * n_rows * (n_columns + _VECTORS) + min(BLOCK_BYTES, 8.0 * n_rows**2)
    members = chosen.get("dictionary_size") or chosen.get("n_landmarks")
    if members is not None:
        count = members if isinstance(members, int) else _LANDMARKS
        return rows + 8.0 * count * (n_rows if "n_landmarks" in chosen else 3 * count)
    if name not in _SQUARE or chosen.get("affinity") in _GRAPHS:
        neighbors = chosen.get("n_neighbors") or _NEIGHBORS
        return rows + (_EDGE_BYTES * n_rows * neighbors if "n_neighbors" in chosen else 0)
    square = 8.0 * _SQUARE[name] * n_rows**2
    return rows + (min(square, available_bytes() / 2) if name in _BLOCKED else square)
