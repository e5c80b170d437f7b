"""Warnings of ordinal MDS and ordinal Isomap."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning

from eigenscape._warnings import warn
from eigenscape.methods.ordinal import Layout, OrdinalOptions


def warn_if_not_converged(layouts: list[Layout], options: OrdinalOptions) -> None:
    """Warn if an ordinal map has not converged."""
    unconverged = [layout for layout in layouts if not layout.converged]
    if unconverged:
        warn(
            f"the map was still improving after max_iter={options.max_iter} steps, at a stress of"
            f" {unconverged[0].stress:.4g}: the last step lowered it by more than tol={options.tol:g}; raise"
            " max_iter or tol",
            ConvergenceWarning,
        )
