"""Mean and scatter matrix of rows that come in chunks, however they are cut."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenscape import _memory
from eigenscape.operators import CenteredRows


@dataclass(frozen=True, eq=False)
class Moments:
    """``sum w_i (x_i - mu)(x_i - mu)'`` (d, d) around the weighted mean of the rows seen so far."""

    mean: np.ndarray
    scatter: np.ndarray
    weight: float
    n_rows: int

    def joined(self, other: Moments) -> Moments:
        """The moments of both sets of rows. Only the shift between the two means is squared: an offset costs
        no digits."""
        weight = self.weight + other.weight
        shift = other.mean - self.mean
        scatter = self.scatter + other.scatter
        scatter += np.outer(shift, shift) * (self.weight * other.weight / weight)
        return Moments(
            self.mean + shift * (other.weight / weight), scatter, weight, self.n_rows + other.n_rows
        )


def moments(rows: CenteredRows) -> Moments:
    """The moments of one chunk, already around its own mean. Rows without weight do not count."""
    d = rows.shape[1]
    _memory.require(
        4 * 8.0 * d * d,
        f"partial_fit keeps a matrix of {d} x {d} features, which",
        "call fit on all rows at once",
    )
    n_rows = rows.shape[0] if rows.weights is None else int(np.count_nonzero(rows.weights))
    return Moments(rows.mean, rows.scatter(), rows.total_weight, n_rows)
