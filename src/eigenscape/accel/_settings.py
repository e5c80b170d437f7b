"""Number of points from which steps run in eigenscape."""

from __future__ import annotations

#: Up to this many points, steps that need compiled code are left to SciPy and scikit-learn: loading it takes
#: longer than they do.
FEW_POINTS = 1000
#: The same for steps that need none.
_FEWEST_POINTS = 300
#: The reason that is recorded.
FEW = "few points"

_few_points = FEW_POINTS


def is_few(n_points: int, *, compiled: bool) -> bool:
    """Return whether a step for this many points is left to SciPy and scikit-learn.

    ``compiled`` tells whether it needs compiled code.
    """
    return n_points <= (_few_points if compiled else min(_few_points, _FEWEST_POINTS))


def set_few_points(count: int) -> None:
    """Set the number of points up to which steps are left to SciPy and scikit-learn."""
    global _few_points
    _few_points = count
