"""Estimate of the memory that a fit needs, printed before it starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from eigenscape._format import format_bytes
from eigenscape._memory import available_bytes
from eigenscape.app.cli.errors import print_message
from eigenscape.app.cli.input import is_streamed
from eigenscape.app.methods import method_of

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator


def announce_memory(estimator: BaseEstimator, X: Any, quiet: bool) -> float | None:
    """Print and return an estimate of the memory of a fit in bytes; None if the rows are streamed."""
    if is_streamed(X):
        return None
    needed = estimate_memory(estimator, *X.shape)
    free = format_bytes(available_bytes())
    print_message(f"{method_of(estimator)}: about {format_bytes(needed)} of memory ({free} free)", quiet)
    return needed


def estimate_memory(estimator: BaseEstimator, n_rows: int, n_columns: int) -> float:
    """Estimate the peak memory of a fit in bytes, within a factor of 2, without the rows themselves."""
    from eigenscape.estimators._method import Memory, described

    description = described(estimator)
    memory = Memory() if description is None else description.memory
    return memory.estimate(estimator.get_params(), n_rows, n_columns)
