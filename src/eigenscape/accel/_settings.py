"""Number of points from which steps run in eigenscape."""

from __future__ import annotations

#: Up to this many points, steps are left to SciPy and scikit-learn: loading compiled code takes longer than
#: they do.
FEW_POINTS = 500
FEW = "few points"

few_points = FEW_POINTS


def is_few(n_points: int) -> bool:
    """Return whether a problem of this size is left to SciPy and scikit-learn."""
    return n_points <= few_points


def set_few_points(count: int) -> None:
    """Set the number of points up to which steps are left to SciPy and scikit-learn."""
    global few_points
    few_points = count
