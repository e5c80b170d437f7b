"""Kernels of two points: the data-independent similarities from which the methods start."""

from __future__ import annotations

import reprlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.lib.stride_tricks import as_strided
from scipy.spatial.distance import cdist

from eigenscape._display import short_repr
from eigenscape._native.loops import exponential_tile
from eigenscape._threads import run_parallel
from eigenscape._typing import Matrix, Rows, is_sparse
from eigenscape.graph.blocks import of_unit_magnitude
from eigenscape.graph.near_rows import NearRowIndex
from eigenscape.graph.precomputed import require_table
from eigenscape.graph.row_index import RowIndex
from eigenscape.kernels.bandwidth import local_distance, median_distance
from eigenscape.kernels.base import (
    BoundKernel,
    Columns,
    Kernel,
    PointIndex,
    as_float64,
    n_points,
    product,
    product_by_rows,
    training_index,
)

#: Writes the values of a kernel between two slices of the training rows to an array.
Tiles = Callable[[slice, slice, np.ndarray], None]
#: Replaces scalar products (n, m) by a function of distances in place, given halves of the squared norms.
Finish = Callable[[np.ndarray, np.ndarray, np.ndarray], None]


@dataclass(frozen=True, eq=False)
class BoundPairwise:
    """A pairwise kernel on its training points."""

    kernel: PairwiseKernel
    X: Any
    _shapes: ClassVar = {"X": "n *"}

    __repr__ = short_repr

    def __call__(self, Y: Rows) -> Matrix:
        return self.kernel.evaluate(as_float64(Y), self.X)

    def to(self, Z: Rows) -> Columns:
        Z = as_float64(Z)
        return lambda Y, table=None: self.kernel.between(as_float64(Y), Z, self.X, table)


@product.register
def _(kernel: BoundPairwise, Y: Rows, V: np.ndarray) -> np.ndarray:
    """Compute ``A (B'V)`` if the values are a product ``A B'`` of thin matrices."""
    factors = kernel.kernel.factors(as_float64(Y), kernel.X)
    if factors is None:
        return product_by_rows(kernel, Y, V)
    left, right = factors
    return np.asarray(left @ (right.T @ V))


@training_index.register
def _(kernel: BoundPairwise) -> PointIndex:
    """Recognise rows up to rounding errors, but rows of a table, which model files omit, by equality."""
    is_table = isinstance(kernel.kernel, Precomputed) or getattr(kernel.kernel, "metric", "") == "precomputed"
    return (RowIndex if is_table else NearRowIndex)(kernel.X)


class PairwiseKernel(ABC):
    """Base of kernels that are functions of two points.

    Subclasses implement ``evaluate`` and, if they have hyper-parameters estimated from data, ``resolve``.
    """

    @abstractmethod
    def evaluate(self, Y: Rows, X: Rows) -> np.ndarray:
        """Compute the values (n_new, m)."""

    def tiles(self, X: Rows) -> Tiles | None:
        """Return a function that writes the values between two slices of training rows, for a Gram matrix.

        What depends on single rows is computed once. None if the kernel is not known to be symmetric.
        """
        return None

    def factors(self, Y: Rows, X: Rows) -> tuple[Matrix, Matrix] | None:
        """Return ``A`` (n_new, d) and ``B`` (m, d) with ``k(Y, X) = A B'``, or None if there are none.

        ``B`` does not depend on ``Y``, and the Gram matrix is ``B B'``.
        """
        return None

    def between(self, Y: Rows, Z: Rows, X: Rows, table: Any = None) -> Any:
        """Compute the values (n_Y, n_Z) between any points, of the kernel bound to ``X``.

        ``table`` (n_Y, n_Z) are the precomputed values, for kernels whose points are rows of such values.
        """
        return self.evaluate(Y, Z)

    def diagonal(self, Y: Rows) -> np.ndarray:
        """Compute ``k(y, y)`` (n_new,) of each point."""
        return np.array([float(self.evaluate(Y[i : i + 1], Y[i : i + 1])[0, 0]) for i in range(n_points(Y))])

    def resolve(self, X: Rows) -> Self:
        """Return this kernel with hyper-parameters of None estimated from ``X``."""
        return self

    def bind(self, X: Rows) -> BoundKernel:
        X = as_float64(X)
        return BoundPairwise(self.resolve(X), X)


#: Error of a Gaussian kernel's exponent above which distances are computed from differences.
_CANCELLED = 1e-9
_EPS = float(np.finfo(np.float64).eps)


def squared_euclidean(Y: Rows, X: Rows, factor: float = 1.0) -> np.ndarray:
    """Compute squared Euclidean distances times ``factor``.

    The mean of ``X`` is subtracted to avoid cancellation. ``|x|^2 + |y|^2 - 2 <x, y>`` is
    computed as one matrix product of rows with two additional columns, so that the values are written once.
    """
    if is_sparse(X) or is_sparse(Y):
        from sklearn.metrics.pairwise import euclidean_distances

        return factor * euclidean_distances(Y, X, squared=True)
    origin = X.mean(axis=0)
    X, Y = np.asarray(X - origin), np.asarray(Y - origin)
    left = np.column_stack([-2 * factor * Y, factor * np.einsum("ij,ij->i", Y, Y), np.full(len(Y), factor)])
    right = np.column_stack([X, np.ones(len(X)), np.einsum("ij,ij->i", X, X)])
    values = left @ right.T
    return np.maximum(values, 0.0, out=values) if factor > 0 else np.minimum(values, 0.0, out=values)


@dataclass(frozen=True)
class Linear(PairwiseKernel):
    """``<x, y>``; with ``around_mean`` the mean of the training rows is the origin.

    If the kernel is centred afterwards, this only reduces rounding errors of data with a large offset.

    Examples
    --------
    >>> from eigenscape.kernels import Linear
    >>> Linear().bind([[0.0, 0.0], [3.0, 4.0]])([[1.0, 1.0]]).tolist()
    [[0.0, 7.0]]
    """

    around_mean: bool = False

    def evaluate(self, Y: Rows, X: Rows) -> np.ndarray:
        return self.between(Y, X, X)

    def between(self, Y: Rows, Z: Rows, X: Rows, table: Any = None) -> np.ndarray:
        if self.around_mean and not is_sparse(X):
            origin = X.mean(axis=0)
            Y, Z = _dense(Y) - origin, _dense(Z) - origin
        return _dense(Y @ Z.T)

    def factors(self, Y: Rows, X: Rows) -> tuple[Matrix, Matrix]:
        if not self.around_mean or is_sparse(X):
            return Y, X
        origin = X.mean(axis=0)
        return _dense(Y) - origin, X - origin

    def tiles(self, X: Rows) -> Tiles:
        return product_tiles(X - X.mean(axis=0) if self.around_mean and not is_sparse(X) else X)

    def diagonal(self, Y: Rows) -> np.ndarray:
        if self.around_mean:
            raise TypeError(
                "a linear kernel around the mean of its training rows is not defined between other points"
            )
        return squared_norms(Y)


@dataclass(frozen=True)
class _ProductKernel(PairwiseKernel):
    """Base of functions of ``gamma <x, y> + coef0``."""

    gamma: float | None = None
    coef0: float = 1.0

    @abstractmethod
    def apply(self, values: np.ndarray) -> np.ndarray:
        """Compute the kernel from ``gamma <x, y> + coef0``."""

    def resolve(self, X: Rows) -> Self:
        if self.gamma is not None:
            return self
        return replace(self, gamma=gamma_from_norms(float(squared_norms(X).mean())))

    def evaluate(self, Y: Rows, X: Rows) -> np.ndarray:
        assert self.gamma is not None
        return self.apply(self.gamma * _dense(Y @ X.T) + self.coef0)

    def tiles(self, X: Rows) -> Tiles:
        return evaluated_tiles(self, X)

    def diagonal(self, Y: Rows) -> np.ndarray:
        assert self.gamma is not None
        return self.apply(self.gamma * squared_norms(Y) + self.coef0)


@dataclass(frozen=True)
class Polynomial(_ProductKernel):
    """``(gamma <x, y> + coef0) ** degree``.

    If ``gamma`` is None, it is one over the mean squared norm of the training rows.

    Examples
    --------
    >>> from eigenscape.kernels import Polynomial
    >>> Polynomial(degree=2, gamma=1.0).bind([[0.0, 0.0], [3.0, 4.0]])([[1.0, 1.0]]).tolist()
    [[1.0, 64.0]]
    """

    degree: float = 3

    def apply(self, values: np.ndarray) -> np.ndarray:
        # Products are faster than np.power for a small integer.
        return values * values * values if self.degree == 3 else values**self.degree


@dataclass(frozen=True)
class Sigmoid(_ProductKernel):
    """``tanh(gamma <x, y> + coef0)``, which may be indefinite.

    If ``gamma`` is None, it is one over the mean squared norm of the training rows.

    Examples
    --------
    >>> from eigenscape.kernels import Sigmoid
    >>> Sigmoid(gamma=1.0, coef0=0.0).bind([[1.0], [0.0]])([[0.0]])
    array([[0., 0.]])
    """

    def apply(self, values: np.ndarray) -> np.ndarray:
        return np.tanh(values)


@dataclass(frozen=True)
class Cosine(PairwiseKernel):
    """``<x, y> / (|x| |y|)``; a zero row has similarity 0 to all points.

    Examples
    --------
    >>> from eigenscape.kernels import Cosine
    >>> Cosine().bind([[0.0, 2.0], [3.0, 4.0]])([[0.0, 1.0]]).tolist()
    [[1.0, 0.8]]
    """

    def evaluate(self, Y: Rows, X: Rows) -> np.ndarray:
        return _dense(_unit_rows(Y) @ _unit_rows(X).T)

    def tiles(self, X: Rows) -> Tiles:
        return product_tiles(_unit_rows(X))

    def factors(self, Y: Rows, X: Rows) -> tuple[Matrix, Matrix]:
        return _unit_rows(Y), _unit_rows(X)

    def diagonal(self, Y: Rows) -> np.ndarray:
        return (squared_norms(Y) > 0).astype(np.float64)


@dataclass(frozen=True)
class _DistanceKernel(PairwiseKernel):
    """Base of exponentials of a distance; see :class:`Gaussian` for the parameters."""

    gamma: float | None = None
    scale: Literal["median", "local"] = "median"

    @staticmethod
    @abstractmethod
    def distance(Y: Rows, X: Rows) -> np.ndarray:
        """Compute the distances (n_new, m) that ``gamma`` multiplies."""

    def resolve(self, X: Rows) -> Self:
        if self.gamma is not None:
            return self
        rule = median_distance if self.scale == "median" else local_distance
        return replace(self, gamma=1.0 / rule(X, self.distance))

    def diagonal(self, Y: Rows) -> np.ndarray:
        return np.ones(n_points(Y))


@dataclass(frozen=True)
class Gaussian(_DistanceKernel):
    """``exp(-gamma |x - y|^2)`` (Bengio eq. 4 with ``gamma = 1 / sigma^2``).

    If ``gamma`` is None, it is estimated by the rule ``scale``: ``"median"`` is one over the median squared
    distance between training points (a wide kernel, for kernel PCA); ``"local"`` is one over the median
    squared distance to the tenth neighbour (a narrow one, for Laplacian eigenmaps and spectral clustering).
    Both use at most 1000 evenly spaced points.

    Examples
    --------
    >>> from eigenscape.kernels import Gaussian
    >>> Gaussian(gamma=0.1).bind([[0.0, 0.0], [3.0, 4.0]])([[0.0, 0.0]]).round(3).tolist()
    [[1.0, 0.082]]
    """

    distance = staticmethod(squared_euclidean)

    def evaluate(self, Y: Rows, X: Rows) -> np.ndarray:
        assert self.gamma is not None
        if is_sparse(X) or is_sparse(Y):
            values = squared_euclidean(Y, X, -self.gamma)
            return np.exp(values, out=values)
        # Scalar products times 2 gamma are gamma (|x|^2 + |y|^2 - |x - y|^2).
        return distance_values(Y, X, _exponential, 2 * self.gamma, _CANCELLED)

    def tiles(self, X: Rows) -> Tiles:
        assert self.gamma is not None
        if is_sparse(X):
            return evaluated_tiles(self, X)
        return distance_tiles(X, _exponential, 2 * self.gamma, _CANCELLED)


@dataclass(frozen=True)
class Laplace(_DistanceKernel):
    """``exp(-gamma |x - y|_1)``.

    If ``gamma`` is None, it is estimated by the rule ``scale``: one over the median city-block distance
    between training points (``"median"``) or to the tenth neighbour (``"local"``), from at most 1000 evenly
    spaced points.

    Examples
    --------
    >>> from eigenscape.kernels import Laplace
    >>> Laplace(gamma=0.1).bind([[0.0, 0.0], [3.0, 4.0]])([[0.0, 0.0]]).round(3).tolist()
    [[1.0, 0.497]]
    """

    @staticmethod
    def distance(Y: Rows, X: Rows) -> np.ndarray:
        from sklearn.metrics.pairwise import manhattan_distances

        return manhattan_distances(Y, X)

    def evaluate(self, Y: Rows, X: Rows) -> np.ndarray:
        assert self.gamma is not None
        return np.exp(-self.gamma * self.distance(Y, X))

    def tiles(self, X: Rows) -> Tiles:
        return evaluated_tiles(self, X)


@dataclass(frozen=True)
class CallableKernel(PairwiseKernel):
    """``function(x, y)`` of two points, which may be arbitrary objects.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.kernels import CallableKernel
    >>> kernel = CallableKernel(lambda x, y: float(len(set(x) & set(y))))
    >>> kernel.bind(np.array(["map", "tree"], dtype=object))(np.array(["path"], dtype=object))
    array([[2., 1.]])
    """

    function: Callable[[Any, Any], float]

    def evaluate(self, Y: Rows, X: Rows) -> np.ndarray:
        return evaluate_pairs(self.function, Y, X)


@dataclass(frozen=True)
class Precomputed(PairwiseKernel):
    """Precomputed similarities: a point is its row of similarities to the training points.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape.kernels import Precomputed
    >>> similarity = np.array([[1.0, 0.5], [0.5, 1.0]])
    >>> Precomputed().bind(similarity)(similarity[:1])
    array([[1. , 0.5]])
    """

    def evaluate(self, Y: Rows, X: Rows) -> Any:
        return Y

    def between(self, Y: Rows, Z: Rows, X: Rows, table: Any = None) -> Any:
        return as_float64(require_table(table))


def evaluated_tiles(kernel: PairwiseKernel, X: Rows) -> Tiles:
    """Return the tiles of a symmetric kernel that computes nothing in advance."""

    def tile(rows: slice, columns: slice, out: np.ndarray) -> None:
        out[...] = kernel.evaluate(X[rows], X[columns])

    return tile


def product_tiles(X: Rows) -> Tiles:
    """Return the tiles of ``<x, y>``."""

    def tile(rows: slice, columns: slice, out: np.ndarray) -> None:
        if is_sparse(X):
            out[...] = _dense(X[rows] @ X[columns].T)
        else:
            np.matmul(X[rows], X[columns].T, out=out)

    return tile


def distance_tiles(X: np.ndarray, finish: Finish, factor: float = 1.0, tol: float = np.inf) -> Tiles:
    """Return the tiles of a kernel that is a function of distances; see :func:`distance_values`."""
    scaled, norms = _around(X, _origin(X), factor)
    cancels = norms.max(initial=0.0) * _EPS > tol

    def tile(rows: slice, columns: slice, out: np.ndarray) -> None:
        if cancels:
            _finish_differences(X[rows], X[columns], finish, factor, out)
            return
        np.matmul(scaled[rows], scaled[columns].T, out=out)
        finish(out, norms[rows], norms[columns])

    return tile


def distance_values(
    Y: np.ndarray, X: np.ndarray, finish: Finish, factor: float = 1.0, tol: float = np.inf
) -> np.ndarray:
    """Compute a kernel (n_new, m) that is a function of Euclidean distances.

    ``finish`` is applied to the scalar products of rows times ``factor``, about an origin amid the training
    rows to avoid cancellation. Training rows come in blocks that stay in the cache while they are shifted.
    If the rounding error of a block may exceed ``tol`` (clusters that are far apart), its differences are
    squared instead.
    """
    origin, m, step = _origin(X), len(X), 512
    left, left_norms = _around(Y, origin, factor)
    values = np.empty((len(Y), m))

    def fill(start: int) -> None:
        columns = slice(start, start + step)
        right, norms = _around(X[columns], origin, factor)
        block = values[:, columns]
        if norms.max(initial=0.0) * _EPS > tol:
            _finish_differences(Y, X[columns], finish, factor, block)
            return
        np.matmul(left, right.T, out=block)
        finish(block, left_norms, norms)

    # Threads take longer for few multiplications.
    run_parallel(fill, range(0, m, step), 1 if X.size * max(len(Y), 2) < 8_000_000 else None)
    return values


def _finish_differences(Y: np.ndarray, X: np.ndarray, finish: Finish, factor: float, out: np.ndarray) -> None:
    """Write the values of a kernel that is a function of distances, from the squares of differences."""
    np.multiply(cdist(Y, X, "sqeuclidean"), -factor / 2, out=out)
    finish(out, np.zeros(len(Y)), np.zeros(len(X)))


def half_squared(products: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
    """Replace ``<x, y>`` by ``-|x - y|^2 / 2``."""
    products -= left[:, None]
    products -= right
    np.minimum(products, 0.0, out=products)


def _exponential(products: np.ndarray, left: np.ndarray, right: np.ndarray) -> None:
    """Replace ``2 gamma <x, y>`` by ``exp(-gamma |x - y|^2)``."""
    if products.size:  # a tile of a larger matrix is passed as one vector with the distance of its rows
        stride = products.strides[0] // products.itemsize
        length = (products.shape[0] - 1) * stride + products.shape[1]
        exponential_tile(as_strided(products, (length,), (products.itemsize,)), stride, left, right)


def _origin(X: np.ndarray) -> np.ndarray:
    """Return the mean of at most 256 evenly spaced rows."""
    return X[:: max(1, len(X) // 256)].mean(axis=0)


def _around(X: np.ndarray, origin: np.ndarray, factor: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows about an origin times ``sqrt(factor)``, and halves of their squared norms."""
    shifted = X - origin
    shifted *= np.sqrt(factor)
    return shifted, np.einsum("ij,ij->i", shifted, shifted) / 2


def evaluate_pairs(function: Callable[[Any, Any], float], Y: Rows, X: Rows) -> np.ndarray:
    """Evaluate ``function`` for every pair (n_new, m)."""
    values = np.empty((n_points(Y), n_points(X)))
    for i, y in enumerate(Y):
        for j, x in enumerate(X):
            value = function(y, x)
            try:
                values[i, j] = value
            except (TypeError, ValueError) as error:
                found = reprlib.repr(value)
                raise TypeError(f"{function!r} must return a number for two points, got {found}") from error
    return values


_BY_NAME: dict[str, Callable[..., PairwiseKernel]] = {
    "linear": Linear,
    "poly": Polynomial,
    "polynomial": Polynomial,
    "rbf": Gaussian,
    "gaussian": Gaussian,
    "laplacian": Laplace,
    "laplace": Laplace,
    "cosine": Cosine,
    "sigmoid": Sigmoid,
    "precomputed": Precomputed,
}


def kernel_by_name(
    kernel: str | Callable | Kernel, argument: str = "kernel", also: tuple[str, ...] = (), **params: Any
) -> Kernel:
    """Return the kernel that is named, or given, by a parameter of an estimator.

    Parameters
    ----------
    kernel : str, callable or Kernel
        Name, function of two points, or kernel.
    argument : str, default="kernel"
        Name of the estimator's parameter, for the error message.
    also : tuple of str
        Further names that the parameter accepts, for the error message.
    **params
        Hyper-parameters; those that the named kernel does not have are ignored.

    Examples
    --------
    >>> from eigenscape.kernels import kernel_by_name
    >>> kernel_by_name("rbf", gamma=0.5, degree=3)
    Gaussian(gamma=0.5, scale='median')
    """
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return CallableKernel(kernel)
    name: object = kernel
    if not isinstance(name, str) or name not in _BY_NAME:
        names = ", ".join(map(repr, [*also, *_BY_NAME]))
        raise ValueError(
            f"{argument}={kernel!r} is not known; choose one of {names}, a function of two points or a Kernel"
        )
    maker = _BY_NAME[name]
    fields = getattr(maker, "__dataclass_fields__", {})
    return maker(**{name: value for name, value in params.items() if name in fields})


def squared_norms(X: Rows) -> np.ndarray:
    """Compute the squared norms (n,) of dense or sparse rows."""
    squares = X.multiply(X) if is_sparse(X) else X * X
    return np.asarray(squares.sum(axis=1)).ravel()


def gamma_from_norms(mean: float) -> float:
    """Return the ``gamma`` of polynomial and sigmoid kernels for rows of the given mean squared norm."""
    return 1.0 / mean if mean > 0 else 1.0


def _dense(values: Any) -> np.ndarray:
    return values.toarray() if is_sparse(values) else values


def _unit_rows(X: Rows) -> Any:
    """Return rows of unit length; zero rows stay zero."""
    from sklearn.preprocessing import normalize

    return normalize(of_unit_magnitude(X))
