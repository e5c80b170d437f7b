"""Eigenvalues and eigenvectors that cannot drift apart: sorted at birth, signs fixed, residuals attached."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigenscape._display import short_repr
from eigenscape.operators import Operator


@dataclass(frozen=True, eq=False)
class EigenPairs:
    """``values`` (r,), orthonormal ``vectors`` (m, r), ``residuals`` (r,) = ``|K v - l v|``, who found them,
    in how many steps."""

    values: np.ndarray
    vectors: np.ndarray
    residuals: np.ndarray
    solver: str
    n_iter: int = 1
    next_value: float | None = None  # lowest eigenvalue that was computed and left out, if any

    __repr__ = short_repr

    def __len__(self) -> int:
        return len(self.values)

    def take(self, which: slice | np.ndarray) -> EigenPairs:
        """Some of the pairs."""
        return EigenPairs(
            self.values[which], self.vectors[:, which], self.residuals[which], self.solver, self.n_iter
        )


def canonical_signs(vectors: np.ndarray) -> np.ndarray:
    """Each column with the sign that makes its largest entry positive.

    Of entries that are largest up to rounding the first one decides, so that symmetric data do not toss a
    coin."""
    size = np.abs(vectors)
    decisive = np.argmax(size >= (1 - 1e-6) * size.max(axis=0), axis=0)
    sign = np.sign(vectors[decisive, np.arange(vectors.shape[1])])
    return vectors * np.where(sign == 0, 1.0, sign)


def with_residuals(
    operator: Operator, values: np.ndarray, vectors: np.ndarray, solver: str, n_iter: int = 1
) -> EigenPairs:
    """Pairs in the given order, signs fixed, with their residual norms."""
    vectors = canonical_signs(vectors)
    residuals = np.linalg.norm(operator.matmat(vectors) - vectors * values, axis=0)
    return EigenPairs(values, vectors, residuals, solver, n_iter)
