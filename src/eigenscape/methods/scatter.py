"""Mean and scatter matrix of samples that arrive in chunks; the result does not depend on the chunks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenscape import _memory
from eigenscape.operators import CenteredRows


@dataclass(frozen=True, eq=False)
class ScatterMoments:
    """Weighted mean and scatter matrix ``sum_i w_i (x_i - mu)(x_i - mu)'`` (d, d) of samples."""

    mean: np.ndarray  # mu, (d,)
    scatter: np.ndarray  # (d, d)
    weight: float  # sum of the sample weights
    n_rows: int  # samples with a positive weight

    def merge(self, other: ScatterMoments) -> ScatterMoments:
        """Return the moments of both sets of samples.

        Only the difference of the two means is squared, so a large offset of the data causes no
        cancellation.
        """
        weight = self.weight + other.weight
        shift = other.mean - self.mean
        scatter = self.scatter + other.scatter
        scatter += np.outer(shift, shift) * (self.weight * other.weight / weight)
        mean = self.mean + shift * (other.weight / weight)
        return ScatterMoments(mean, scatter, weight, self.n_rows + other.n_rows)


def scatter_moments(rows: CenteredRows) -> ScatterMoments:
    """Compute the moments of one chunk, centred on its own mean. Samples of weight zero are not counted."""
    d = rows.shape[1]
    _memory.require(
        4 * 8.0 * d * d,
        f"partial_fit keeps a matrix of {d} x {d} features, which",
        "call fit on all rows at once",
    )
    n_rows = rows.shape[0] if rows.weights is None else int(np.count_nonzero(rows.weights))
    return ScatterMoments(rows.mean, rows.scatter(), rows.total_weight, n_rows)
