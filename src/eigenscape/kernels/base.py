"""What a kernel is: hyper-parameters before it sees data, a function of any point after."""

from __future__ import annotations

from functools import singledispatch
from typing import Any, Protocol, TypeAlias

import numpy as np
from scipy import sparse

from eigenscape._memory import row_blocks
from eigenscape._progress import stage

#: A block of kernel values: dense, or sparse where the kernel is.
Matrix: TypeAlias = Any  # np.ndarray | sparse.csr_array; scipy's types are not known to the checker


class BoundKernel(Protocol):
    """``k_m(., X)``: a kernel that knows its training points."""

    @property
    def X(self) -> Any:
        """The training points, in the form that ``__call__`` takes."""
        ...

    def __call__(self, Y: Any) -> Matrix:
        """Values (n_new, m) between the points of ``Y`` and the training points. ``Y`` may be the training
        set itself."""
        ...


class Kernel(Protocol):
    """A similarity not yet bound to data."""

    def bind(self, X: Any) -> BoundKernel:
        """The kernel on the training points ``X``; hyper-parameters left open are settled here."""
        ...


def n_points(X: Any) -> int:
    """How many points a training set has, whether matrix or list of objects."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def as_float64(X: Any) -> Any:
    """Numbers in double precision, sparse kept sparse; anything else as it is."""
    if sparse.issparse(X):
        return sparse.csr_array(X, dtype=np.float64)
    return X if np.dtype(getattr(X, "dtype", np.float64)).kind == "O" else np.asarray(X, dtype=np.float64)


@singledispatch
def product(kernel: BoundKernel, Y: Any, V: np.ndarray) -> np.ndarray:
    """``k_m(Y, X) @ V`` (n_new, c) for ``V`` (m, c): by rows, unless the kernel knows a better way."""
    return product_by_rows(kernel, Y, V)


def product_by_rows(kernel: BoundKernel, Y: Any, V: np.ndarray) -> np.ndarray:
    """The product for one block of new points after another."""
    parts = []
    with stage("projection", total=n_points(Y)) as advance:
        for rows in row_blocks(n_points(Y), 24 * len(V)):
            parts.append(kernel(Y[rows]) @ V)
            advance(rows.stop - rows.start)
    return np.concatenate(parts)
