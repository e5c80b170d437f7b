"""Kernel values between arbitrary points and the members of a dictionary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape._typing import Rows, is_sparse
from eigenscape.kernels.base import BoundKernel, Columns, as_float64, n_points
from eigenscape.kernels.pairwise import BoundPairwise, Linear, PairwiseKernel, Precomputed

#: Points by row: an ndarray, a CSR array, or an object array (n,).
PointArray: TypeAlias = Rows


@dataclass(frozen=True, eq=False)
class PairwiseSource:
    """A kernel of two points. Members are the points themselves; the training set is not kept."""

    kernel: PairwiseKernel

    def values(self, Y: PointArray, members: PointArray) -> np.ndarray:
        """Return the kernel values (n_new, m) between points and members."""
        return self.kernel.evaluate(as_float64(Y), members)

    def diagonal(self, Y: PointArray, indices: np.ndarray | None) -> np.ndarray:
        """Return ``k(y, y)`` (n_new,); ``indices`` are the training rows of ``Y``, None for new points."""
        return self.kernel.diagonal(as_float64(Y))

    def members(self, Y: PointArray, indices: np.ndarray | None) -> PointArray:
        """Return the representation of the points as members of a dictionary."""
        return as_float64(Y)

    def to(self, Z: PointArray) -> Columns:
        """Return the kernel between any points and the points ``Z``."""
        right = as_float64(Z)
        return lambda Y, table=None: self.kernel.evaluate(as_float64(Y), right)  # noqa: ARG005


@dataclass(frozen=True, eq=False)
class MatrixColumnSource:
    """Any other bound kernel. Members are training row indices; their values are columns of its matrix."""

    kernel: BoundKernel

    def values(self, Y: PointArray, members: PointArray) -> np.ndarray:
        values = self.kernel(Y)[:, members]
        return np.asarray(values.todense() if is_sparse(values) else values, dtype=np.float64)

    def diagonal(self, Y: PointArray, indices: np.ndarray | None) -> np.ndarray:
        if indices is None:
            raise TypeError(
                "a precomputed kernel contains only the values between new and training points, not k(y, y)"
                " of a new point"
            )
        return np.asarray(self.kernel(Y)[np.arange(n_points(Y)), indices], dtype=np.float64).ravel()

    def members(self, Y: PointArray, indices: np.ndarray | None) -> PointArray:
        if indices is None:
            raise TypeError("the dictionary of a precomputed kernel must consist of training points")
        return indices

    def to(self, Z: PointArray) -> Columns:
        return self.kernel.to(Z)


#: A kernel whose training points are selected one after another.
KernelSource: TypeAlias = "PairwiseSource | MatrixColumnSource"


def kernel_source(similarity: BoundKernel) -> KernelSource:
    """Return the source of the values of a bound kernel."""
    if not isinstance(similarity, BoundPairwise) or isinstance(similarity.kernel, Precomputed):
        return MatrixColumnSource(similarity)
    if isinstance(similarity.kernel, Linear) and similarity.kernel.around_mean:
        dense = not is_sparse(similarity.X)
        return PairwiseSource(ShiftedLinear(similarity.X.mean(axis=0)) if dense else Linear())
    return PairwiseSource(similarity.kernel)


def divided_source(source: KernelSource, sample: PointArray) -> PairwiseSource:
    """Return the source of a kernel divided by its averages over ``sample`` (Ouimet sec. 3.2)."""
    if not isinstance(source, PairwiseSource):
        raise ValueError(
            "normalize_first=True needs kernel values between any points and a sample of the data, which"
            " kernel='precomputed' does not contain; pass the points and a kernel"
        )
    return PairwiseSource(DividedPairwise(source.kernel, as_float64(sample)))


@dataclass(frozen=True, eq=False)
class DividedPairwise(PairwiseKernel):
    """``k(x, y) / sqrt(E(x) E(y))`` with averages ``E(x)`` of ``k`` over fixed points (Bengio eq. 12)."""

    kernel: PairwiseKernel
    sample: PointArray  # (s, n_features)

    def evaluate(self, Y: Any, X: Any) -> np.ndarray:
        roots = np.sqrt(self.averages(Y)), np.sqrt(self.averages(X))
        return self.kernel.evaluate(Y, X) / roots[0][:, None] / roots[1]

    def diagonal(self, Y: Any) -> np.ndarray:
        return self.kernel.diagonal(Y) / self.averages(Y)

    def averages(self, Y: Any) -> np.ndarray:
        """Return ``E(x)``, (n_new,), which must be positive."""
        averages = np.concatenate(
            [
                np.mean(self.kernel.evaluate(Y[rows], self.sample), axis=1)
                for rows in row_blocks(n_points(Y), 24 * n_points(self.sample))
            ]
        )
        if not averages.min(initial=np.inf) > 0:
            worst = int(np.argmin(averages))
            raise ValueError(
                f"divisive normalisation needs positive average similarities, but the average between point"
                f" {worst} and a sample of the data is {averages[worst]:g}; use a wider kernel (a smaller"
                " gamma) without negative values"
            )
        return averages


@dataclass(frozen=True, eq=False)
class ShiftedLinear(PairwiseKernel):
    """``<x - o, y - o>`` with an origin ``o`` near the data, which avoids cancellation for large offsets."""

    origin: np.ndarray

    def evaluate(self, Y: Any, X: Any) -> np.ndarray:
        return (Y - self.origin) @ (X - self.origin).T

    def diagonal(self, Y: Any) -> np.ndarray:
        return np.square(Y - self.origin).sum(axis=1)


def stack_rows(first: Any, second: Any) -> Any:
    """Concatenate two sets of rows, dense or sparse."""
    if is_sparse(first) or is_sparse(second):
        return sparse.csr_array(sparse.vstack([sparse.csr_array(first), sparse.csr_array(second)]))
    return np.concatenate([first, second])
