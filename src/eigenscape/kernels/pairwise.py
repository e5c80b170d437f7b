"""Kernels of two points: the data-independent similarities that the methods start from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import cosine_similarity, euclidean_distances, manhattan_distances

from eigenscape._display import short_repr
from eigenscape.kernels.bandwidth import local_distance, median_distance
from eigenscape.kernels.base import BoundKernel, Kernel, Matrix, as_float64, n_points


@dataclass(frozen=True, eq=False)
class BoundPairwise:
    """A pairwise kernel on its training points."""

    kernel: PairwiseKernel
    X: Any

    __repr__ = short_repr

    def __call__(self, Y: Any) -> Matrix:
        return self.kernel.evaluate(as_float64(Y), self.X)


class PairwiseKernel:
    """Base of kernels that are functions of two points: subclasses say ``evaluate`` and, if need be,
    ``resolve``."""

    def evaluate(self, Y: Any, X: Any) -> np.ndarray:
        """Values (n_new, m)."""
        raise TypeError(f"{type(self).__name__} must define evaluate")

    def diagonal(self, Y: Any) -> np.ndarray:
        """``k(y, y)`` of each point, (n_new,)."""
        return np.array([float(self.evaluate(Y[i : i + 1], Y[i : i + 1])[0, 0]) for i in range(n_points(Y))])

    def resolve(self, X: Any) -> PairwiseKernel:
        """This kernel with the hyper-parameters left open taken from ``X``."""
        return self

    def bind(self, X: Any) -> BoundKernel:
        X = as_float64(X)
        return BoundPairwise(self.resolve(X), X)


def squared_euclidean(Y: Any, X: Any, factor: float = 1.0) -> np.ndarray:
    """Squared Euclidean distances, times ``factor``, around the mean of ``X`` so that an offset costs no
    digits.

    ``|x|^2 + |y|^2 - 2 <x, y>`` is one matrix product of rows with two more columns: the values are written
    once."""
    if sparse.issparse(X) or sparse.issparse(Y):
        return factor * euclidean_distances(Y, X, squared=True)
    origin = X.mean(axis=0)
    X, Y = X - origin, Y - origin
    left = np.column_stack([-2 * factor * Y, factor * np.einsum("ij,ij->i", Y, Y), np.full(len(Y), factor)])
    right = np.column_stack([X, np.ones(len(X)), np.einsum("ij,ij->i", X, X)])
    values = left @ right.T
    return np.maximum(values, 0.0, out=values) if factor > 0 else np.minimum(values, 0.0, out=values)


@dataclass(frozen=True)
class Linear(PairwiseKernel):
    """``<x, y>``; ``around_mean`` takes the mean of the training rows for the origin.

    Where the kernel is centred afterwards that changes nothing but the rounding: an offset of the data costs
    no digits."""

    around_mean: bool = False

    def evaluate(self, Y: Any, X: Any) -> np.ndarray:
        if self.around_mean and not sparse.issparse(X) and not sparse.issparse(Y):
            origin = X.mean(axis=0)
            Y, X = Y - origin, X - origin
        return _dense(Y @ X.T)

    def diagonal(self, Y: Any) -> np.ndarray:
        if self.around_mean:
            raise TypeError(
                "a linear kernel around the mean of its training rows has no values between other points"
            )
        return squared_norms(Y)


@dataclass(frozen=True)
class Polynomial(PairwiseKernel):
    """``(gamma <x, y> + coef0) ** degree``; ``gamma=None`` is one over the mean squared norm of the training
    rows."""

    degree: float = 3
    gamma: float | None = None
    coef0: float = 1.0

    def resolve(self, X: Any) -> Polynomial:
        return self if self.gamma is not None else replace(self, gamma=_per_squared_norm(X))

    def evaluate(self, Y: Any, X: Any) -> np.ndarray:
        assert self.gamma is not None
        return (self.gamma * _dense(Y @ X.T) + self.coef0) ** self.degree

    def diagonal(self, Y: Any) -> np.ndarray:
        assert self.gamma is not None
        return (self.gamma * squared_norms(Y) + self.coef0) ** self.degree


@dataclass(frozen=True)
class Sigmoid(PairwiseKernel):
    """``tanh(gamma <x, y> + coef0)`` (may be indefinite); ``gamma=None`` as for :class:`Polynomial`."""

    gamma: float | None = None
    coef0: float = 1.0

    def resolve(self, X: Any) -> Sigmoid:
        return self if self.gamma is not None else replace(self, gamma=_per_squared_norm(X))

    def evaluate(self, Y: Any, X: Any) -> np.ndarray:
        assert self.gamma is not None
        return np.tanh(self.gamma * _dense(Y @ X.T) + self.coef0)

    def diagonal(self, Y: Any) -> np.ndarray:
        assert self.gamma is not None
        return np.tanh(self.gamma * squared_norms(Y) + self.coef0)


@dataclass(frozen=True)
class Cosine(PairwiseKernel):
    """``<x, y> / (|x| |y|)``; a zero row has similarity 0 to everything."""

    def evaluate(self, Y: Any, X: Any) -> np.ndarray:
        return _dense(cosine_similarity(Y, X))

    def diagonal(self, Y: Any) -> np.ndarray:
        return (squared_norms(Y) > 0).astype(np.float64)


@dataclass(frozen=True)
class Gaussian(PairwiseKernel):
    """``exp(-gamma |x - y|^2)`` (Bengio eq. 4 with ``gamma = 1 / sigma^2``).

    ``gamma=None`` is settled by ``scale``: ``"median"`` takes one over the median squared distance of the
    training points (a broad kernel, for kernel PCA); ``"local"`` one over the squared median distance to the
    tenth neighbour (a narrow one, for Laplacian eigenmaps and spectral clustering). Both look at no more than
    1000 evenly spaced points."""

    gamma: float | None = None
    scale: Literal["median", "local"] = "median"

    def resolve(self, X: Any) -> Gaussian:
        if self.gamma is not None:
            return self
        rule = median_distance if self.scale == "median" else local_distance
        return replace(self, gamma=1.0 / rule(X, self.distance))

    distance = staticmethod(squared_euclidean)

    def evaluate(self, Y: Any, X: Any) -> np.ndarray:
        assert self.gamma is not None
        values = squared_euclidean(Y, X, -self.gamma)
        return np.exp(values, out=values)

    def diagonal(self, Y: Any) -> np.ndarray:
        return np.ones(n_points(Y))


@dataclass(frozen=True)
class Laplace(PairwiseKernel):
    """``exp(-gamma |x - y|_1)``; ``gamma=None`` and ``scale`` as for :class:`Gaussian`, with city-block
    distances."""

    gamma: float | None = None
    scale: Literal["median", "local"] = "median"

    def resolve(self, X: Any) -> Laplace:
        if self.gamma is not None:
            return self
        rule = median_distance if self.scale == "median" else local_distance
        return replace(self, gamma=1.0 / rule(X, self.distance))

    distance = staticmethod(manhattan_distances)

    def evaluate(self, Y: Any, X: Any) -> np.ndarray:
        assert self.gamma is not None
        return np.exp(-self.gamma * manhattan_distances(Y, X))

    def diagonal(self, Y: Any) -> np.ndarray:
        return np.ones(n_points(Y))


@dataclass(frozen=True)
class CallableKernel(PairwiseKernel):
    """``function(x, y)`` of two points, which may be any objects."""

    function: Callable[[Any, Any], float]

    def evaluate(self, Y: Any, X: Any) -> np.ndarray:
        return evaluate_pairs(self.function, Y, X)


@dataclass(frozen=True)
class Precomputed(PairwiseKernel):
    """Similarities the user computed: a point is its row of similarities to the training points, dense or
    sparse."""

    def evaluate(self, Y: Any, X: Any) -> Any:
        return Y


def evaluate_pairs(function: Callable[[Any, Any], float], Y: Any, X: Any) -> np.ndarray:
    """``function`` on every pair (n_new, m)."""
    values = np.empty((n_points(Y), n_points(X)))
    for i, y in enumerate(Y):
        for j, x in enumerate(X):
            values[i, j] = function(y, x)
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
    """The kernel that a user's ``argument`` means; of ``params`` those it has are used. ``also``: other names
    it may have."""
    if hasattr(kernel, "bind"):
        return kernel
    if callable(kernel):
        return CallableKernel(kernel)
    if not isinstance(kernel, str) or kernel not in _BY_NAME:
        names = ", ".join(map(repr, [*also, *_BY_NAME]))
        raise ValueError(
            f"{argument}={kernel!r} is not known; choose one of {names}, a function of two points or a Kernel"
        )
    maker = _BY_NAME[kernel]
    fields = getattr(maker, "__dataclass_fields__", {})
    return maker(**{name: value for name, value in params.items() if name in fields})


def squared_norms(X: Any) -> np.ndarray:
    """Squared lengths (n,) of dense or sparse rows."""
    squares = X.multiply(X) if sparse.issparse(X) else X * X
    return np.asarray(squares.sum(axis=1)).ravel()


def _per_squared_norm(X: Any) -> float:
    return gamma_from_norms(float(squared_norms(X).mean()))


def gamma_from_norms(mean: float) -> float:
    """``gamma`` of polynomials and sigmoids, for rows with this mean squared norm."""
    return 1.0 / mean if mean > 0 else 1.0


def _dense(values: Any) -> np.ndarray:
    return np.asarray(values.todense()) if sparse.issparse(values) else values
