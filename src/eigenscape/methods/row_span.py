"""Transformational embeddings with more features than vertices, solved in the span of the rows of ``Z``.

With ``p > n`` columns the rank of ``Z`` is at most ``n``, and the values ``y = Z v`` determine ``v`` only up
to directions that no vertex has. Of all ``v`` with the same values the shortest is ``v = Z'a``, so that new
points are placed by inner products with the rows: ``z(x)'v = sum_i a_i z(x)'z_i``. The columns keep their
units: scaled to unit norm, those that hardly vary would count as much as the others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy import linalg, sparse

from eigenscape import _memory
from eigenscape.methods.graph_embedding import Correction, Transformation, solve_transformation
from eigenscape.methods.quadratic_forms import FeatureBasis

#: Eigenvalues of ``Z Z'`` below this fraction of the largest are treated as zero.
_RANK_TOL = 1e-12
#: Steps of iterative refinement: each divides the error of ``Z v`` by about ``_RANK_TOL / eps``.
_REFINEMENTS = 2


class RowBasis(Protocol):
    """A matrix ``Z`` (n, p) with inner products of its rows."""

    def row_gram(self) -> np.ndarray:
        """Return ``Z Z'`` (n, n)."""
        ...

    def apply(self, V: np.ndarray) -> np.ndarray:
        """Return ``Z V`` (n, c)."""
        ...

    def apply_transpose(self, A: np.ndarray) -> np.ndarray:
        """Return ``Z' A`` (p, c)."""
        ...


@dataclass(frozen=True, eq=False)
class RowSpan:
    """Orthonormal basis ``U`` of the values ``Z v``, and the eigenvalues of ``Z Z'`` that belong to it."""

    basis: RowBasis
    vectors: np.ndarray  # U (n, r)
    values: np.ndarray  # (r,)

    def coefficients(self, C: np.ndarray) -> np.ndarray:
        """Return the shortest ``V`` (p, c) with ``Z V = U C``."""
        V = self.basis.apply_transpose(self.vectors @ (C / self.values[:, None]))
        for _ in range(_REFINEMENTS):
            error = C - self.vectors.T @ self.basis.apply(V)
            V = V + self.basis.apply_transpose(self.vectors @ (error / self.values[:, None]))
        return V


def row_span(basis: RowBasis, n: int) -> RowSpan:
    """Decompose the inner products of the ``n`` rows."""
    _memory.require(4 * 8.0 * n * n, f"the inner products of {n} rows", "use fewer samples or fewer features")
    values, vectors = linalg.eigh(basis.row_gram())
    kept = values > _RANK_TOL * max(values[-1], np.finfo(float).tiny)
    return RowSpan(basis, np.ascontiguousarray(vectors[:, kept]), values[kept])


def solve_by_rows(
    basis: RowBasis,
    W: sparse.csr_array,
    degree: np.ndarray,
    n_components: int,
    correction: Correction,
    scale: np.ndarray | None = None,
) -> Transformation:
    """Solve the problem of :func:`solve_transformation` in the span of the rows.

    ``scale`` (n,) multiplies the rows in the eigenproblem, but not where points are divided by ``v_1'z(x)``.
    """
    span = row_span(basis, W.shape[0])
    values = FeatureBasis(span.vectors)
    solution = solve_transformation(
        replace(values, scale=scale), W, degree, n_components, correction, divisor=values
    )
    C, uniform = solution.coefficients, solution.uniform
    if uniform is not None:
        uniform = span.coefficients(uniform[:, None])[:, 0]
    return replace(solution, coefficients=span.coefficients(C), uniform=uniform)
