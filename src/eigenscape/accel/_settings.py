"""Number of points from which steps run in eigenscape."""

from __future__ import annotations

#: Up to this many points a call is left to SciPy and scikit-learn: what it saves is less than the time in
#: which compiled code is loaded, once in a process.
FEW_POINTS = {
    "Isomap": 1400,
    "LocallyLinearEmbedding": 1400,
    "locally_linear_embedding": 1400,
    "ClassicalMDS": 1400,
    "trustworthiness": 1400,
    "SpectralEmbedding": 2500,
    "spectral_embedding": 2500,
    "SpectralClustering": 2500,
    "spectral_clustering": 2500,
    "KernelPCA": 3500,
}
#: The same for steps that need no compiled code.
_FEWEST_POINTS = 300
#: The reason that is recorded.
FEW = "few points"

_few_points: int | None = None


def few_points(name: str, *, compiled: bool) -> int:
    """Return the number of points up to which a step of a call is left to SciPy and scikit-learn.

    ``name`` is that of the class or function; ``compiled`` tells whether the step needs compiled code.
    """
    limit = FEW_POINTS.get(name, max(FEW_POINTS.values())) if _few_points is None else _few_points
    return limit if compiled else min(limit, _FEWEST_POINTS)


def set_few_points(count: int | None) -> None:
    """Set the number for all calls; None for the default of each."""
    global _few_points
    _few_points = count
