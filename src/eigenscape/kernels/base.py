"""Interfaces of kernels: hyper-parameters before binding to data, a function of any point after."""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from scipy import sparse

from eigenscape._display import short_repr
from eigenscape._memory import block_rows
from eigenscape._progress import stage
from eigenscape._typing import Matrix, Rows, is_sparse
from eigenscape.graph.neighborhood import NeighborGraph
from eigenscape.graph.row_index import RowIndex


class Columns(Protocol):
    """The function ``k_m(., Z)`` of points, for fixed points ``Z``; see :meth:`BoundKernel.to`."""

    def __call__(self, Y: Rows, table: Any = None) -> Any:
        """Compute the values (n_Y, n_Z), dense or sparse, between points ``Y`` and the points ``Z``.

        ``table`` (n_Y, n_Z) are the precomputed similarities or distances, if points are rows of such.
        """
        ...


class BoundKernel(Protocol):
    """A kernel bound to its training points, ``k_m(., X)``.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.kernels import Gaussian
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> bound = Gaussian(gamma=1.0).bind(X)
    >>> bound(np.array([[1.0]])).round(2)
    array([[0.37, 1.  , 0.37]])
    >>> bound.to(np.array([[3.0]]))(np.array([[3.0]]))  # between points that are both new
    array([[1.]])
    """

    @property
    def X(self) -> Any:
        """Training points, in the form that ``__call__`` accepts."""
        ...

    def __call__(self, Y: Rows) -> Any:
        """Compute the values (n_new, m), dense or sparse, between points ``Y`` and the training points."""
        ...

    def to(self, Z: Rows) -> Columns:
        """Return the function ``k_m(., Z)`` for any points ``Z`` in the place of the training points.

        ``to(X)`` is the kernel itself. Means and sums of normalisations still run over the training set, and
        paths through its graph. What depends on ``Z`` alone is computed once.
        """
        ...


@runtime_checkable
class Kernel(Protocol):
    """A similarity that is not yet bound to data.

    Examples
    --------
    An estimator with ``kernel=`` accepts any object with this method.

    >>> from eigenscape.kernels import Gaussian, Kernel
    >>> isinstance(Gaussian(gamma=1.0), Kernel)
    True
    """

    def bind(self, X: Rows) -> BoundKernel:
        """Return the kernel on the training points ``X``, with missing hyper-parameters estimated."""
        ...


class PointIndex(Protocol):
    """An index that recognises training points."""

    def find(self, Y: Rows) -> np.ndarray:
        """Return for each point the index of the training point that it is, or -1."""
        ...


def n_points(X: Any) -> int:
    """Return the number of points in a matrix or a list of objects."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def n_columns(X: Any) -> int:
    """Return the number of columns of a matrix, 1 for a list of objects."""
    return X.shape[1] if getattr(X, "ndim", 1) == 2 else 1


def as_float64(X: Any) -> Any:
    """Convert numbers to double precision; sparse matrices stay sparse, arrays of objects are unchanged."""
    if is_sparse(X):
        return sparse.csr_array(X).astype(np.float64, copy=False)
    return X if np.dtype(getattr(X, "dtype", np.float64)).kind == "O" else np.asarray(X, dtype=np.float64)


@singledispatch
def training_index(kernel: BoundKernel) -> PointIndex:
    """Return an index that recognises the training points of a kernel.

    By the values of their rows, unless an implementation is registered for the type of the kernel: graphs and
    kernels of rows also recognise points that differ by rounding errors.
    """
    return RowIndex(kernel.X)


@singledispatch
def gram_matrix(kernel: BoundKernel) -> Matrix | None:  # noqa: ARG001
    """Return the Gram matrix (m, m), or None if it is to be evaluated by blocks of rows.

    An implementation may be registered for kernels whose rows are computed together.
    """
    return None


def product_by_rows(kernel: BoundKernel, Y: Rows, V: np.ndarray) -> np.ndarray:
    """Compute ``k_m(Y, X) @ V`` (n_new, c) for ``V`` (m, c), by blocks of rows of ``Y``.

    Blocks of a sparse kernel are large: it stores a few values per row, and searches many points faster.
    """
    count, parts = Y.shape[0], []
    with stage("projection", total=count) as advance:
        done, step = 0, block_rows(24 * len(V))
        while done < count:
            rows = slice(done, min(done + step, count))
            values = kernel(Y[rows])
            parts.append(values @ V)
            advance(rows.stop - rows.start)
            done = rows.stop
            if done < count and is_sparse(values):
                step = max(step, block_rows(64 * values.nnz / values.shape[0] + 16 * n_columns(Y)))
    return np.concatenate(parts) if parts else np.zeros((0, V.shape[1]))


#: Computes ``k_m(Y, X) @ V`` by blocks of rows, unless there is an implementation for the type of the kernel.
product = singledispatch(product_by_rows)


@dataclass(frozen=True, eq=False, repr=False)
class GraphKernel(BoundKernel):
    """Base of bound kernels whose training points are the vertices of a graph."""

    graph: NeighborGraph

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.graph.vertices.X


@dataclass(frozen=True, eq=False, repr=False)
class WrappedKernel(BoundKernel):
    """Base of bound kernels that change the values of another kernel on the same training points."""

    base: BoundKernel

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.base.X


@training_index.register
def _(kernel: GraphKernel) -> PointIndex:
    return kernel.graph


@training_index.register
def _(kernel: WrappedKernel) -> PointIndex:
    return training_index(kernel.base)


@dataclass(frozen=True, eq=False, repr=False)
class FlooredKernel(WrappedKernel):
    """A dense kernel with values raised to at least ``floor``."""

    floor: float

    def __call__(self, Y: Rows) -> Matrix:
        return np.maximum(self.base(Y), self.floor)

    def to(self, Z: Rows) -> Columns:
        base = self.base.to(Z)
        return lambda Y, table=None: np.maximum(base(Y, table), self.floor)


@dataclass(frozen=True, eq=False)
class RestrictedKernel:
    """The columns ``members`` of a bound kernel."""

    base: BoundKernel
    members: np.ndarray
    _shapes: ClassVar = {"base.<points>": "n ...", "members": "m < n"}

    __repr__ = short_repr

    @property
    def X(self) -> Any:
        return self.base.X[self.members]

    def __call__(self, Y: Rows) -> Matrix:
        return self.base(Y)[:, self.members]

    def to(self, Z: Rows) -> Columns:
        return self.base.to(Z)
