"""Validation and warnings of ordinal MDS and ordinal Isomap."""

from __future__ import annotations

from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from eigenscape._warnings import warn
from eigenscape.estimators._types import Seed
from eigenscape.methods.ordinal import Layout, OrdinalOptions, Ties


def ordinal_options(
    n_components: int, n_init: int, max_iter: int, tol: float, ties: Ties, random_state: Seed
) -> OrdinalOptions:
    """Return the parameters of an ordinal map."""
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    return OrdinalOptions(n_components, n_init, max_iter, tol, ties, seed)


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
