"""What ordinal MDS and ordinal Isomap share: their parameters, and how they report."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from eigenscape.estimators._validation import check_choice, check_count, check_positive
from eigenscape.methods.ordinal import Layout, OrdinalOptions

TIES = ("primary", "secondary")


def ordinal_options(
    n_components: Any, n_init: Any, max_iter: Any, tol: Any, ties: Any, random_state: Any
) -> OrdinalOptions:
    """Validate the parameters of an ordinal map and return them."""
    check_choice("ties", ties, TIES)
    check_positive("tol", tol)
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    count, starts, steps = (
        check_count("n_components", n_components),
        check_count("n_init", n_init),
        check_count("max_iter", max_iter),
    )
    return OrdinalOptions(count, starts, steps, tol, ties, seed)


def report_stress(layouts: list[Layout], options: OrdinalOptions) -> None:
    """Warn if an ordinal map has not converged."""
    unconverged = [layout for layout in layouts if not layout.converged]
    if unconverged:
        warnings.warn(
            f"the map was still improving after max_iter={options.max_iter} steps, at a stress of"
            f" {unconverged[0].stress:.4g}: the last step lowered it by more than tol={options.tol:g}; raise"
            " max_iter or tol",
            ConvergenceWarning,
            stacklevel=3,
        )
