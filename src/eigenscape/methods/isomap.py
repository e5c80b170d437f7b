"""Isomap (Bengio sec. 2.5; Burges sec. 2.3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigenscape.eigenfunctions import Embedding
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.kernels.distance import GeodesicKernel
from eigenscape.methods.mds import classical_mds
from eigenscape.solvers import Solver


def isomap(
    graph: NeighborGraph, n_components: int, solver: Solver, n_jobs: int | None = None, dtype: type = np.float64, **options: Any
) -> Embedding:
    """Classical MDS of the geodesic distances through the training graph (Bengio eq. 14)."""
    return classical_mds(GeodesicKernel(graph, n_jobs, dtype), n_components, solver, **options)
