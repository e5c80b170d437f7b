"""How much memory a fit will need, about, before it starts."""

from __future__ import annotations

from typing import Any

#: Methods whose kernel is full unless the parameters say otherwise, and those that can make it in blocks instead.
_SQUARE = {"KernelPCA", "ClassicalMDS", "DiffusionMap", "LaplacianEigenmaps", "SpectralClustering", "Isomap", "OrdinalMDS"}
_BLOCKED = _SQUARE - {"Isomap", "OrdinalMDS"}
_GRAPHS = ("nearest_neighbors", "radius", "mst", "mst_nearest_neighbors", "precomputed_nearest_neighbors")
_NEIGHBORS = 10
#: Bytes of a graph for each edge: both directions, lengths and indices, and what making it symmetric takes.
_EDGE_BYTES = 80


def memory_estimate(estimator: Any, n_rows: int, n_columns: int) -> float:
    """Bytes that ``fit`` will take at its peak, beside the rows read.

    An order of magnitude: rows are copied once, graphs count their edges, and a full kernel its n x n numbers, as far as the method
    would keep them (half of the free memory; it works in blocks beyond).
    """
    from eigenscape._memory import BLOCK_BYTES, available_bytes

    chosen = estimator.get_params()
    rows = 8.0 * n_rows * (n_columns + 30)  # 30: coordinates, and the block of vectors of a solver
    members = chosen.get("dictionary_size") or chosen.get("n_landmarks")
    if isinstance(members, int):
        return rows + 8.0 * (n_rows * members if "n_landmarks" in chosen else 3 * members**2) + BLOCK_BYTES
    name = type(estimator).__name__
    if name not in _SQUARE or chosen.get("affinity") in _GRAPHS or ("n_landmarks" in chosen and members is not None):
        neighbors = chosen.get("n_neighbors") or _NEIGHBORS
        edges = _EDGE_BYTES * n_rows * neighbors if "n_neighbors" in chosen else 0
        return rows + edges + BLOCK_BYTES
    square = (64.0 if name == "OrdinalMDS" else 8.0) * n_rows**2
    return rows + (min(square, available_bytes() / 2) if name in _BLOCKED else square) + BLOCK_BYTES


def readable(n_bytes: float) -> str:
    """Bytes in a unit that suits them."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if n_bytes < 1024 or unit == "GiB":
            return f"{n_bytes:.0f} {unit}" if unit in ("bytes", "KiB", "MiB") else f"{n_bytes:.1f} {unit}"
        n_bytes /= 1024
    raise AssertionError


def peak_memory() -> int | None:
    """The most memory this process has had, in bytes; None where the platform does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    import sys

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
