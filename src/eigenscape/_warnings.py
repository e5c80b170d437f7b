"""Warnings that name the line of the caller, not one of this package."""

from __future__ import annotations

import sys
import warnings

#: Packages whose frames are left out: scikit-learn wraps methods and calls them from pipelines.
_PACKAGES = {"eigenscape", "sklearn", "joblib"}


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning at the innermost line outside of this package and scikit-learn."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in _PACKAGES:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)
