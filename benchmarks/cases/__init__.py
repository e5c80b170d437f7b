"""Benchmark cases: the jobs of eigenscape and of other libraries, and the goals.

A key begins with the group of the case; ``--only`` selects keys or groups ("real", "real-mnist").
"""

from __future__ import annotations

from benchmarks.cases import dictionaries, distributed, kernels, large, real, rolls
from benchmarks.cases.model import Case, Goal, Growth, Job, Row, without_goal

__all__ = ["Case", "Goal", "Growth", "Job", "Row", "all_cases", "is_selected"]


def all_cases(quick: bool) -> list[Row]:
    """Return all cases; those of a quick run have smaller sizes and no goals, and omit large files."""
    rows: list[Row] = [
        *real.real(quick),
        *real.search(quick),
        *real.busy(quick),
        *large.gaussians(quick),
        *large.cells(quick),
        *large.placing(quick),
        *large.cosine(quick),
        *rolls.laplacian(quick),
        rolls.isomap(quick),
        *rolls.landmarks(quick),
        *rolls.lle(quick),
        *kernels.kernels(quick),
        *kernels.transforms(quick),
        *dictionaries.dictionaries(quick),
        *dictionaries.projective(quick),
        *kernels.kernel_eigenmap(quick),
        *rolls.growth(quick),
        *distributed.clusters(quick),
        *distributed.cluster_dictionaries(quick),
    ]
    return [without_goal(row) for row in rows] if quick else rows


def is_selected(key: str, names: list[str] | None) -> bool:
    """Return whether a case is selected by its key or by the beginning of it, up to a hyphen."""
    return names is None or any(f"{key}-".startswith(f"{name}-") for name in names)
