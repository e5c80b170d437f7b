"""A dictionary and the span of its members in feature space: coordinates of any point in it, and distances
from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg.blas import dtrsm
from scipy.linalg.lapack import dtrtri

from eigenscape.dictionary.rows import ArrayRows, over_rows
from eigenscape.dictionary.source import Source
from eigenscape.kernels.base import n_points
from eigenscape.operators.gram import check_finite

#: A point nearer to the span than this part of its squared length cannot be told from it in double precision.
RESOLUTION = 1e-12
#: A squared distance below minus this part of the squared length is no rounding: the kernel is not positive
#: semi-definite.
_NEGATIVE = 1e-7
#: Pivots of a factor that may be inverted are at least this part of the largest.
_STEEP = 1e-3
#: Columns of a block of a triangular product.
_COLUMNS = 128
#: Rows that one core takes at a time; fixed, so that the number of cores does not show in the last digits.
_ROWS = 1024


@dataclass(frozen=True, eq=False)
class Projected:
    """Points seen from a span: coordinates ``Z`` (b, m), squared lengths and squared distances (b,), all in
    feature space."""

    Z: np.ndarray
    length: np.ndarray
    residual: np.ndarray  # squared distance from the linear span: what a Cholesky factor grows by
    error: (
        np.ndarray
    )  # delta of Ouimet eq. 8: squared distance from the span, or from the hull if weights sum to one


@dataclass(frozen=True, eq=False)
class Span:
    """The span of a dictionary in feature space, by the Cholesky factor ``L`` of its Gram matrix ``M``
    (Ouimet sec. 3).

    A point has coordinates ``z(x) = L^-1 k(x)`` in an orthonormal basis of the span, so that ``A(x) M A(y)' =
    z(x) . z(y)`` with the projection weights ``A(x) = M^-1 k(x)`` of eq. 6. The first coordinates stay what
    they are when the dictionary grows.

    With ``sum_to_one`` the weights sum to one (eq. 7): points are projected on the affine hull of the
    members. That does not change when a constant is added to the kernel, and neither does the distance; here
    ``shift`` is added, because then ``M`` stays positive definite as long as the members are affinely
    independent."""

    source: Source
    members: Any  # m points, or their numbers
    factor: np.ndarray  # L, (m, m), lower, Fortran order
    shift: float
    sum_to_one: bool
    n_jobs: int | None = None

    @property
    def size(self) -> int:
        return len(self.factor)

    @cached_property
    def ones(self) -> np.ndarray:
        """``h = L^-1 1``, with ``|h|^2 = beta`` the sum of the entries of ``M^-1``."""
        return self._solve(np.ones((1, self.size)))[0]

    @cached_property
    def normal(self) -> np.ndarray:
        """Unit normal ``u = h / |h|`` of the affine hull within the span; zero where weights need not sum to
        one."""
        return self.ones / np.linalg.norm(self.ones) if self.sum_to_one else np.zeros(self.size)

    @cached_property
    def height(self) -> float:
        """Distance of the hull from the origin of feature space, before the shift: ``sqrt(1 / beta -
        shift)``."""
        return (
            float(np.sqrt(max(1.0 / float(self.ones @ self.ones) - self.shift, 0.0)))
            if self.sum_to_one
            else 0.0
        )

    def project(self, Y: Any, numbers: np.ndarray | None = None) -> Projected:
        """Coordinates of points, and their distances from the span (Ouimet eq. 8)."""
        return self.measure(self.coordinates(Y), Y, numbers)

    def measure(self, Z: np.ndarray, Y: Any, numbers: np.ndarray | None = None) -> Projected:
        """The same for points whose coordinates are known already."""
        length = check_finite(self.source.own(Y, numbers)[:, None])[:, 0] + self.shift
        residual = length - np.einsum("ij,ij->i", Z, Z)
        refuse_indefinite(length - self.shift, residual, length, numbers)
        if self.size == 0:  # nothing to be near to, but for a point that is the origin itself
            return Projected(Z, length, residual, np.where(length > 0, np.inf, 0.0))
        if not self.sum_to_one:
            return Projected(Z, length, residual, np.maximum(residual, 0.0))
        alpha = 1.0 - Z @ self.ones
        return Projected(Z, length, residual, np.maximum(residual + alpha**2 / (self.ones @ self.ones), 0.0))

    def error_bounds(self, Y: Any, numbers: np.ndarray, tol: float) -> np.ndarray:
        """Upper bounds of the distances from the span, exact where they exceed ``tol``.

        Coordinates come a block at a time, and points that the first members explain well enough get no more
        of them."""
        level = np.full(n_points(Y), np.inf)
        if self._inverse is None:
            return level

        def sieve(which: np.ndarray, some: Any) -> None:
            level[which] = self._error_bounds(some, numbers[which], tol)

        for _ in over_rows(sieve, ArrayRows(Y), _ROWS, self.n_jobs):
            pass
        return level

    def _error_bounds(self, Y: Any, numbers: np.ndarray, tol: float) -> np.ndarray:
        assert self._inverse is not None
        level, left = np.empty(n_points(Y)), np.arange(n_points(Y))
        values = np.empty((n_points(Y), self.size))
        residual = self.source.own(Y, numbers) + self.shift
        alpha, beta = np.ones(len(residual)), 0.0
        for start in range(0, self.size, _COLUMNS):
            block = slice(start, min(start + _COLUMNS, self.size))
            few = len(left)
            if few == 0:  # a kernel need not take no points
                break
            values[:few, block] = check_finite(self.source.values(Y[left], self.members[block])) + self.shift
            Z = values[:few, : block.stop] @ self._inverse[block, : block.stop].T
            residual = residual - np.einsum("ij,ij->i", Z, Z)
            level[left] = residual
            if self.sum_to_one:
                alpha, beta = alpha - Z @ self.ones[block], beta + float(self.ones[block] @ self.ones[block])
                level[left] += alpha**2 / beta
            stay = np.flatnonzero(level[left] > tol)
            if len(stay) < 0.75 * few:
                values[: len(stay), : block.stop] = values[stay, : block.stop]
                left, residual, alpha = left[stay], residual[stay], alpha[stay]
        return level

    def coordinates(self, Y: Any) -> np.ndarray:
        """``z(x) = L^-1 k(x)``, (n_new, m)."""
        Z = np.empty((n_points(Y), self.size))

        def solve(numbers: np.ndarray, some: Any) -> None:
            Z[numbers] = self.from_values(self.values(some))

        for _ in over_rows(solve, ArrayRows(Y), _ROWS, self.n_jobs):
            pass
        return Z

    def from_values(self, values: np.ndarray) -> np.ndarray:
        """Coordinates of points by their kernel values, which are used up."""
        if self.shift:
            values += self.shift
        return self._solve(values)

    def values(self, Y: Any) -> np.ndarray:
        """Kernel values between points and members, (n_new, m), a fresh array."""
        return check_finite(self.source.values(Y, self.members)) if self.size else np.empty((n_points(Y), 0))

    def weights(self, Y: Any) -> np.ndarray:
        """Projection weights ``A(x)`` (Ouimet eq. 10), (n_new, m)."""
        Z = self.coordinates(Y)
        if self.sum_to_one:
            Z = Z + np.outer((1.0 - Z @ self.ones) / (self.ones @ self.ones), self.ones)
        return self._solve(Z, transposed=True)

    def functional(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients (m, r) and constants (r,) of the functions ``p(x) . w_r`` as sums of kernel values,
        ``w`` (m, r)."""
        inward = w - np.outer(self.normal, self.normal @ w)
        coefficients = self._solve(inward.T, transposed=True).T
        return coefficients, self.shift * coefficients.sum(axis=0) + self.height * (self.normal @ w)

    def combination(self, P: np.ndarray, along: np.ndarray) -> np.ndarray:
        """Weights (n, m) of the members whose combination has the features ``P`` (n, m).

        Where weights sum to one, ``along`` (n,) says how far the points are along the hull's normal, in units
        of ``height``: 1 on the hull, 0 for differences of points on it. It cannot be read from ``P`` where
        the hull runs through the origin."""
        inward = P - np.outer(P @ self.normal, self.normal)
        return self._solve(inward + np.outer(along, self.normal / np.linalg.norm(self.ones)), transposed=True)

    def features(self, Z: np.ndarray) -> np.ndarray:
        """``p(x)`` from ``z(x)``: coordinates of the projection, with ``A(x) M A(y)' = p(x) . p(y)`` in
        either case."""
        if not self.sum_to_one:
            return Z
        return Z - np.outer(Z @ self.normal - self.height, self.normal)

    @cached_property
    def _inverse(self) -> np.ndarray | None:
        """``L^-1`` where it is harmless: products with it are faster than solutions, and several cores can
        make them at once."""
        pivots = np.diagonal(self.factor)
        steep = self.size == 0 or pivots.min() <= _STEEP * pivots.max()
        return None if steep else np.ascontiguousarray(dtrtri(self.factor, lower=1)[0])

    def _solve(self, values: np.ndarray, transposed: bool = False) -> np.ndarray:
        """``L^-1`` (or its transpose) applied to every row (n, m)."""
        if self.size == 0:
            return values
        if self._inverse is None:
            return dtrsm(
                1.0,
                self.factor,
                np.ascontiguousarray(values).T,
                lower=1,
                trans_a=int(transposed),
                overwrite_b=1,
            ).T
        out = np.empty_like(values, order="C")
        for start in range(0, self.size, _COLUMNS):  # the zero half of the factor is left out, block by block
            stop = start + _COLUMNS
            if transposed:
                np.matmul(values[:, start:], self._inverse[start:, start:stop], out=out[:, start:stop])
            else:
                np.matmul(values[:, :stop], self._inverse[start:stop, :stop].T, out=out[:, start:stop])
        return out


def refuse_indefinite(
    own: np.ndarray, residual: np.ndarray, length: np.ndarray, numbers: np.ndarray | None
) -> None:
    """An error where squared lengths or distances (b,) are negative by more than rounding."""
    wrong = (own < 0) | (residual < -_NEGATIVE * np.abs(length))
    if wrong.any():
        worst = int(np.argmin(np.where(wrong, np.minimum(residual, own), np.inf)))
        which = f"row {int(numbers[worst])}" if numbers is not None else f"point {worst}"
        raise ValueError(
            f"the kernel is not positive semi-definite: in feature space {which} would have a squared length of {own[worst]:g} and a"
            f" squared distance of {residual[worst]:g} from the span of the dictionary; use a kernel such as 'rbf', 'linear' or 'poly'"
        )
