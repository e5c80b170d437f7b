"""What a kernel is: hyper-parameters before it sees data, a function of any point after."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
from scipy import sparse

#: A block of kernel values: dense, or sparse where the kernel is.
Matrix: TypeAlias = Any  # np.ndarray | sparse.csr_array; scipy's types are not known to the checker


class BoundKernel(Protocol):
    """``k_m(., X)``: a kernel that knows its training points."""

    @property
    def X(self) -> Any:
        """The training points, in the form that ``__call__`` takes."""
        ...

    def __call__(self, Y: Any) -> Matrix:
        """Values (n_new, m) between the points of ``Y`` and the training points. ``Y`` may be the training set itself."""
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
