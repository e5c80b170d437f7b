"""Where kernel values between any points and the members of a dictionary come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from eigenscape.kernels.base import BoundKernel, as_float64, n_points
from eigenscape.kernels.pairwise import BoundPairwise, Linear, PairwiseKernel, Precomputed


class Source(Protocol):
    """A kernel whose training points may be chosen one after another."""

    def values(self, Y: Any, members: Any) -> np.ndarray:
        """Kernel values (n_new, m) between points and members."""
        ...

    def own(self, Y: Any, numbers: np.ndarray | None) -> np.ndarray:
        """``k(y, y)`` of each point; ``numbers`` are their places among the training points, None for new
        points."""
        ...

    def members(self, Y: Any, numbers: np.ndarray | None) -> Any:
        """What stands for these points in a dictionary."""
        ...


@dataclass(frozen=True, eq=False)
class Points:
    """A kernel of two points: members are the points themselves, and the training set need not be at hand."""

    kernel: PairwiseKernel

    def values(self, Y: Any, members: Any) -> np.ndarray:
        return self.kernel.evaluate(as_float64(Y), members)

    def own(self, Y: Any, numbers: np.ndarray | None) -> np.ndarray:
        return self.kernel.diagonal(as_float64(Y))

    def members(self, Y: Any, numbers: np.ndarray | None) -> Any:
        return as_float64(Y)


@dataclass(frozen=True, eq=False)
class Columns:
    """Any other bound kernel: members are training points by number, their values some columns of its
    matrix."""

    kernel: BoundKernel

    def values(self, Y: Any, members: Any) -> np.ndarray:
        return _dense(self.kernel(Y)[:, members])

    def own(self, Y: Any, numbers: np.ndarray | None) -> np.ndarray:
        if numbers is None:
            raise TypeError(
                "a kernel given by its values to the training points does not tell the similarity of a new point to itself"
            )
        return np.asarray(self.kernel(Y)[np.arange(n_points(Y)), numbers], dtype=np.float64).ravel()

    def members(self, Y: Any, numbers: np.ndarray | None) -> Any:
        if numbers is None:
            raise TypeError("the dictionary of such a kernel is made of training points")
        return numbers


def source_of(similarity: BoundKernel) -> Source:
    """The source of a bound kernel's values."""
    if not isinstance(similarity, BoundPairwise) or isinstance(similarity.kernel, Precomputed):
        return Columns(similarity)
    if isinstance(similarity.kernel, Linear) and similarity.kernel.around_mean:
        dense = not sparse.issparse(similarity.X)
        return Points(LinearAround(similarity.X.mean(axis=0)) if dense else Linear())
    return Points(similarity.kernel)


@dataclass(frozen=True, eq=False)
class LinearAround(PairwiseKernel):
    """``<x - o, y - o>`` about an origin near the data, so that their offset costs no digits."""

    origin: np.ndarray

    def evaluate(self, Y: Any, X: Any) -> np.ndarray:
        return (Y - self.origin) @ (X - self.origin).T

    def diagonal(self, Y: Any) -> np.ndarray:
        return np.square(Y - self.origin).sum(axis=1)


def joined(first: Any, second: Any) -> Any:
    """Members one after the other."""
    if sparse.issparse(first) or sparse.issparse(second):
        return sparse.csr_array(sparse.vstack([sparse.csr_array(first), sparse.csr_array(second)]))
    return np.concatenate([first, second])


def _dense(values: Any) -> np.ndarray:
    return np.asarray(values.todense() if sparse.issparse(values) else values, dtype=np.float64)
