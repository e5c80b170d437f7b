"""Rows with missing values, grouped by which values are there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class Observed:
    """``values`` (n, d) with zeros where nothing was observed, ``mask`` (n, d) of ones and zeros, and the
    distinct masks.

    Row ``i`` has the mask ``patterns[group[i]]``: what depends on the mask alone is computed once a pattern.
    """

    values: np.ndarray
    mask: np.ndarray
    patterns: np.ndarray  # (p, d)
    group: np.ndarray  # (n,)

    @property
    def shape(self) -> tuple[int, int]:
        return self.values.shape

    @property
    def complete(self) -> bool:
        return len(self.patterns) == 1 and bool(self.patterns.all())

    def around(self, mean: np.ndarray) -> np.ndarray:
        """Observed values minus ``mean``, zeros elsewhere (n, d)."""
        return (self.values - mean) * self.mask

    def column_means(self, weights: np.ndarray) -> np.ndarray:
        """Means (d,) of what is there."""
        return weights @ self.values / (weights @ self.mask)

    def filled(self, fill: np.ndarray) -> np.ndarray:
        """The rows with ``fill``, (d,) or (n, d), in the gaps."""
        return np.where(self.mask > 0, self.values, fill)


def observed(X: np.ndarray, training: bool) -> Observed:
    """The rows of ``X``, NaN for missing; a row without any value, and in training a column without any, is
    an error that names it."""
    X = np.asarray(X, dtype=np.float64)
    there = ~np.isnan(X)
    refuse_without_value("row", np.flatnonzero(~there.any(axis=1)), len(X))
    if training:
        refuse_without_value("column", np.flatnonzero(~there.any(axis=0)), X.shape[1])
    packed = np.packbits(there, axis=1)
    keys = np.ascontiguousarray(packed).view(np.dtype((np.void, packed.shape[1]))).ravel()
    _, first, group = np.unique(keys, return_index=True, return_inverse=True)
    mask = there.astype(np.float64)
    return Observed(np.where(there, X, 0.0), mask, mask[first], group.ravel())


def refuse_without_value(kind: str, which: np.ndarray, total: int) -> None:
    """An error that names the rows or columns without any value."""
    if len(which) == 0:
        return
    named = ", ".join(map(str, which[:5])) + (", ..." if len(which) > 5 else "")
    raise ValueError(
        f"{kind} {named} of the {total} {kind}s has no observed value (all are NaN); drop {kind}s without any value"
    )
