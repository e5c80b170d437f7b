"""The span of a dictionary in feature space: coordinates of points in it and distances from it.

See docs/decisions/dictionary-span.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dtrtri

from eigenscape.dictionary.readers import RowReader, map_blocks
from eigenscape.dictionary.source import KernelSource, PointArray
from eigenscape.kernels.base import n_points
from eigenscape.operators.gram import check_finite

#: Smallest squared distance from the span, relative to the squared norm, resolved in double precision.
RESOLUTION = 1e-12
#: Rounding errors of squared distances up to this multiple of the squared norm are expected: a few times
#: ``sqrt(eps)``.
MAX_ROUNDING = 1e-7
#: Columns per block of a triangular product.
_COLUMNS = 128
#: Rows per block and thread; fixed, so that results do not depend on the number of threads.
_ROWS = 1024


@dataclass(frozen=True, eq=False)
class SpanProjection:
    """Projection of points on a span, in feature space."""

    Z: np.ndarray  # coordinates, (b, m)
    squared_norm: np.ndarray  # (b,)
    residual: np.ndarray  # (b,), squared distance from the linear span: the next pivot of the Cholesky factor
    error: np.ndarray  # (b,), delta of Ouimet eq. 8: residual, or squared distance from the affine hull


@dataclass(frozen=True, eq=False)
class Span:
    """The span of a dictionary, by the Cholesky factor ``L`` of its Gram matrix ``M`` (Ouimet sec. 3).

    A point has coordinates ``z(x) = L^-1 k(x)`` in an orthonormal basis of the span, so that ``A(x) M A(y)' =
    z(x) . z(y)`` with the projection weights ``A(x) = M^-1 k(x)`` of eq. 6. Existing coordinates stay the
    same when members are added.

    With ``sum_to_one`` the weights sum to one (eq. 7): points are projected on the affine hull of the
    members. Neither this projection nor the distance from the hull changes when a constant is added to the
    kernel; ``shift`` is added because ``M`` is then positive definite whenever the members are affinely
    independent.
    """

    _shapes: ClassVar = {"members": "m ...", "factor": "m m"}
    source: KernelSource
    members: PointArray  # m points, or their row indices
    factor: np.ndarray  # L, (m, m), lower, Fortran order
    shift: float
    sum_to_one: bool
    n_jobs: int | None = None

    @property
    def size(self) -> int:
        return len(self.factor)

    @cached_property
    def ones(self) -> np.ndarray:
        """``h = L^-1 1``; ``|h|^2 = beta`` is the sum of the entries of ``M^-1``."""
        return self._solve(np.ones((1, self.size)))[0]

    @cached_property
    def normal(self) -> np.ndarray:
        """Unit normal ``u = h / |h|`` of the affine hull within the span; zero if not ``sum_to_one``."""
        return self.ones / np.linalg.norm(self.ones) if self.sum_to_one else np.zeros(self.size)

    @cached_property
    def height(self) -> float:
        """Distance ``sqrt(1 / beta - shift)`` of the affine hull from the origin (unshifted kernel)."""
        if not self.sum_to_one:
            return 0.0
        return float(np.sqrt(max(1.0 / float(self.ones @ self.ones) - self.shift, 0.0)))

    def project(self, Y: PointArray, indices: np.ndarray | None = None) -> SpanProjection:
        """Compute the coordinates of points and their distances from the span (Ouimet eq. 8)."""
        Z = self.coordinates(Y)
        squared_norm = check_finite(self.source.diagonal(Y, indices)[:, None])[:, 0] + self.shift
        residual = squared_norm - np.einsum("ij,ij->i", Z, Z)
        self.check_positive_semidefinite(Z, residual, squared_norm, indices)
        if self.size == 0:  # empty span: the error is 0 only at the origin
            return SpanProjection(Z, squared_norm, residual, np.where(squared_norm > 0, np.inf, 0.0))
        error = residual
        if self.sum_to_one:
            error = residual + (1.0 - Z @ self.ones) ** 2 / (self.ones @ self.ones)
        return SpanProjection(Z, squared_norm, residual, np.maximum(error, 0.0))

    def rounding_error(self, Z: np.ndarray, squared_norm: np.ndarray) -> np.ndarray:
        """Estimate the rounding errors of squared distances from the span, for coordinates ``Z`` (b, m).

        A relative error ``eps`` of the kernel values changes the distance by ``a' dM a - 2 a . dk``, where
        ``a = M^-1 k(x)`` are the projection weights: large for members that are almost dependent.
        """
        weights = np.abs(self._solve(Z, transposed=True)).sum(axis=1)
        return rounding_of_weights(weights, squared_norm)

    def check_positive_semidefinite(
        self, Z: np.ndarray, residual: np.ndarray, squared_norm: np.ndarray, indices: np.ndarray | None
    ) -> None:
        """Raise ValueError if a squared norm or squared distance (b,) is negative by more than rounding."""
        diagonal = squared_norm - self.shift
        wrong = (diagonal < 0) | (residual < -MAX_ROUNDING * np.abs(squared_norm))
        which = np.flatnonzero(wrong)
        if len(which) and self.size:
            rounding = 10 * (self.size + 1) * self.rounding_error(Z[which], np.abs(squared_norm[which]))
            wrong[which] = (diagonal[which] < 0) | (residual[which] < -rounding)
        if wrong.any():
            worst = int(np.argmin(np.where(wrong, np.minimum(residual, diagonal), np.inf)))
            name = f"row {int(indices[worst])}" if indices is not None else f"point {worst}"
            raise ValueError(
                f"the kernel is not positive semi-definite: in feature space {name} would have a squared norm"
                f" of {diagonal[worst]:g} and a squared distance of {residual[worst]:g} from the span of the"
                " dictionary; use a kernel such as 'rbf', 'linear' or 'poly'"
            )

    def error_bounds(self, Y: PointArray, indices: np.ndarray, tol: float) -> np.ndarray:
        """Return upper bounds (n,) of the squared distances from the span, exact where they exceed ``tol``.

        Coordinates are computed in blocks of members; a point within ``tol`` of the span of the first members
        is dropped from the remaining blocks.
        """
        bounds = np.full(n_points(Y), np.inf)
        if self._inverse is None:
            return bounds

        def fill(positions: np.ndarray, block: PointArray) -> None:
            bounds[positions] = self._error_bounds(block, indices[positions], tol)

        for _ in map_blocks(fill, RowReader([Y]), _ROWS, self.n_jobs):
            pass
        return bounds

    def _error_bounds(self, Y: PointArray, indices: np.ndarray, tol: float) -> np.ndarray:
        """Compute the bounds of :meth:`error_bounds` for one block of points."""
        assert self._inverse is not None
        bounds, active = np.empty(n_points(Y)), np.arange(n_points(Y))
        values = np.empty((n_points(Y), self.size))
        residual = self.source.diagonal(Y, indices) + self.shift
        alpha, beta = np.ones(len(residual)), 0.0
        for start in range(0, self.size, _COLUMNS):
            block = slice(start, min(start + _COLUMNS, self.size))
            n_active = len(active)
            if n_active == 0:  # kernels need not accept empty input
                break
            values[:n_active, block] = (
                check_finite(self.source.values(Y[active], self.members[block])) + self.shift
            )
            Z = values[:n_active, : block.stop] @ self._inverse[block, : block.stop].T
            residual = residual - np.einsum("ij,ij->i", Z, Z)
            bounds[active] = residual
            if self.sum_to_one:
                alpha, beta = alpha - Z @ self.ones[block], beta + float(self.ones[block] @ self.ones[block])
                bounds[active] += alpha**2 / beta
            kept = np.flatnonzero(bounds[active] > tol)
            if len(kept) < 0.75 * n_active:
                values[: len(kept), : block.stop] = values[kept, : block.stop]
                active, residual, alpha = active[kept], residual[kept], alpha[kept]
        return bounds

    def coordinates(self, Y: PointArray) -> np.ndarray:
        """Return ``z(x) = L^-1 k(x)``, (n_new, m)."""
        Z = np.empty((n_points(Y), self.size))

        def fill(positions: np.ndarray, block: PointArray) -> None:
            Z[positions] = self.from_values(self.values(block))

        for _ in map_blocks(fill, RowReader([Y]), _ROWS, self.n_jobs):
            pass
        return Z

    def from_values(self, values: np.ndarray) -> np.ndarray:
        """Return the coordinates of points from their kernel values (n, m), which are overwritten."""
        if self.shift:
            values += self.shift
        return self._solve(values)

    def values(self, Y: PointArray) -> np.ndarray:
        """Return the kernel values between points and members, (n_new, m), as a new array."""
        return check_finite(self.source.values(Y, self.members)) if self.size else np.empty((n_points(Y), 0))

    def weights(self, Y: PointArray) -> np.ndarray:
        """Return the projection weights ``A(x)`` (Ouimet eq. 10), (n_new, m)."""
        Z = self.coordinates(Y)
        if self.sum_to_one:
            Z = Z + np.outer((1.0 - Z @ self.ones) / (self.ones @ self.ones), self.ones)
        return self._solve(Z, transposed=True)

    def functional(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Express the functions ``p(x) . w_r`` as sums of kernel values.

        Returns the coefficients (m, r) and the constants (r,) for ``w`` (m, r).
        """
        inward = w - np.outer(self.normal, self.normal @ w)
        coefficients = self._solve(inward.T, transposed=True).T
        return coefficients, self.shift * coefficients.sum(axis=0) + self.height * (self.normal @ w)

    def member_weights(self, P: np.ndarray, along: np.ndarray) -> np.ndarray:
        """Return the weights (n, m) of the members whose linear combination has the features ``P`` (n, m).

        If ``sum_to_one``, ``along`` (n,) is the component along the normal of the hull in units of
        ``height``: 1 for points on the hull, 0 for differences of such points. It cannot be computed from
        ``P`` if the hull contains the origin.
        """
        inward = P - np.outer(P @ self.normal, self.normal)
        return self._solve(inward + np.outer(along, self.normal / np.linalg.norm(self.ones)), transposed=True)

    def features(self, Z: np.ndarray) -> np.ndarray:
        """Return the coordinates ``p(x)`` of the projection, with ``A(x) M A(y)' = p(x) . p(y)``."""
        if not self.sum_to_one:
            return Z
        return Z - np.outer(Z @ self.normal - self.height, self.normal)

    @cached_property
    def _inverse(self) -> np.ndarray | None:
        """``L^-1`` if ``L`` is well conditioned; products with it are faster than triangular solves."""
        pivots = np.diagonal(self.factor)
        ill_conditioned = self.size == 0 or pivots.min() <= 1e-3 * pivots.max()
        return None if ill_conditioned else np.ascontiguousarray(dtrtri(self.factor, lower=1)[0])

    def solve_transposed(self, z: np.ndarray) -> np.ndarray:
        """Return ``L^-T z`` for one vector (m,), which is not changed."""
        return self._solve(z[None].copy(), transposed=True)[0]

    def _solve(self, values: np.ndarray, transposed: bool = False) -> np.ndarray:
        """Apply ``L^-1`` (or its transpose) to every row (n, m)."""
        if self.size == 0:
            return values
        if self._inverse is None:
            rhs = np.ascontiguousarray(values).T
            return dtrsm(1.0, self.factor, rhs, lower=1, trans_a=int(transposed), overwrite_b=1).T
        out = np.empty_like(values, order="C")
        for start in range(0, self.size, _COLUMNS):  # skips the zero triangle, block by block
            stop = start + _COLUMNS
            if transposed:
                np.matmul(values[:, start:], self._inverse[start:, start:stop], out=out[:, start:stop])
            else:
                np.matmul(values[:, :stop], self._inverse[start:stop, :stop].T, out=out[:, start:stop])
        return out


def rounding_of_weights(sum_of_weights: np.ndarray, squared_norm: np.ndarray) -> np.ndarray:
    """Return ``eps k(x, x) (1 + |a|_1)^2`` for the sums ``|a|_1`` of the absolute projection weights."""
    return np.finfo(np.float64).eps * squared_norm * np.square(1.0 + sum_of_weights)
