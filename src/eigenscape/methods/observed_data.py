"""Samples with missing values, grouped by the pattern of observed values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class ObservedData:
    """Data with missing values.

    Row ``i`` has the mask ``patterns[group[i]]``; quantities that depend only on the mask are computed once
    per pattern.
    """

    values: np.ndarray  # (n, d), zero where missing
    mask: np.ndarray  # (n, d), 1.0 where observed, 0.0 where missing
    patterns: np.ndarray  # (p, d), the distinct rows of the mask
    group: np.ndarray  # (n,), index into patterns

    @property
    def shape(self) -> tuple[int, int]:
        return self.values.shape

    @property
    def complete(self) -> bool:
        """Whether no value is missing."""
        return len(self.patterns) == 1 and bool(self.patterns.all())

    def centered(self, mean: np.ndarray) -> np.ndarray:
        """Return the observed values minus ``mean``, zero where missing (n, d)."""
        return (self.values - mean) * self.mask

    def column_means(self, weights: np.ndarray) -> np.ndarray:
        """Return the weighted mean of the observed values of each column (d,)."""
        return weights @ self.values / (weights @ self.mask)

    def filled(self, fill: np.ndarray) -> np.ndarray:
        """Return the data with missing values replaced by ``fill``, (d,) or (n, d)."""
        return np.where(self.mask > 0, self.values, fill)


def observed_data(X: np.ndarray, training: bool) -> ObservedData:
    """Group the rows of ``X`` by their pattern of missing values (NaN).

    Raises an error for rows without an observed value and, if ``training``, for such columns.
    """
    X = np.asarray(X, dtype=np.float64)
    present = ~np.isnan(X)
    check_observed("row", np.flatnonzero(~present.any(axis=1)), len(X))
    if training:
        check_observed("column", np.flatnonzero(~present.any(axis=0)), X.shape[1])
    packed = np.packbits(present, axis=1)
    keys = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    mask = present.astype(np.float64)
    return ObservedData(np.where(present, X, 0.0), mask, mask[first], group.ravel())


def check_observed(kind: str, empty: np.ndarray, total: int) -> None:
    """Raise an error that names the rows or columns (``kind``) without any observed value."""
    if len(empty) == 0:
        return
    indices = ", ".join(map(str, empty[:5])) + (", ..." if len(empty) > 5 else "")
    raise ValueError(
        f"{kind} {indices} of the {total} {kind}s has no observed value (all are NaN);"
        f" drop {kind}s without any value"
    )
