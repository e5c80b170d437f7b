"""Number of points from which steps run in eigenscape."""

from __future__ import annotations

from typing import NamedTuple


class Limits(NamedTuple):
    """Numbers of points up to which a call is left to SciPy and scikit-learn, and up to which it avoids
    compiled code: what it saves is less than the time in which the code is loaded, once in a process."""

    few: int
    without_compiled: int


LIMITS = {
    "Isomap": Limits(600, 1400),  # compiled: shortest paths
    "LocallyLinearEmbedding": Limits(300, 4000),
    "locally_linear_embedding": Limits(300, 4000),
    "ClassicalMDS": Limits(300, 3500),
    "trustworthiness": Limits(300, 4000),
    "SpectralEmbedding": Limits(700, 4000),
    "spectral_embedding": Limits(700, 4000),
    "SpectralClustering": Limits(700, 4000),
    "spectral_clustering": Limits(700, 4000),
    "KernelPCA": Limits(600, 3500),
}
#: For calls of other names: the largest of each.
_OTHERS = Limits(*map(max, *LIMITS.values()))
#: The reason that is recorded.
FEW = "few points"

_few_points: int | None = None


def few_points(name: str, *, compiled: bool) -> int:
    """Return the number of points up to which a step is left to SciPy and scikit-learn.

    ``name`` is that of the class or function; ``compiled`` tells whether the step needs compiled code.
    """
    limits = LIMITS.get(name, _OTHERS)
    if compiled:
        return limits.without_compiled if _few_points is None else _few_points
    return limits.few if _few_points is None else min(limits.few, _few_points)


def set_few_points(count: int | None) -> None:
    """Set the number of points up to which calls avoid compiled code; None for the default of each."""
    global _few_points
    _few_points = count
