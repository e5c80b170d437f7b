"""Eigenfunctions and embeddings: the Nystrom formula for training points and new points."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np

from eigenscape._display import short_repr
from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape._typing import Matrix, Rows
from eigenscape.kernels.base import BoundKernel, n_points, product, training_index
from eigenscape.solvers import EigenPairs
from eigenscape.solvers.pairs import canonical_signs


class Functions(Protocol):
    """Interface of the functions from which an embedding is made, such as :class:`Eigenfunctions`."""

    @property
    def kernel(self) -> Any: ...

    @property
    def pairs(self) -> EigenPairs: ...

    @property
    def n_train(self) -> int: ...

    @property
    def mass(self) -> float:
        """Total weight of the training points; their number if they are not weighted."""
        ...

    @property
    def on_training(self) -> Any:
        """Values (n, r) at the training points."""
        ...

    def __call__(self, Y: Rows) -> np.ndarray:
        """Compute the values (n_new, r) at any points."""
        ...


@dataclass(frozen=True, eq=False)
class Eigenfunctions:
    """``f_r(x) = sqrt(m) / l_r * sum_i v_ri k_m(x, x_i)`` (Bengio eq. 20).

    With ``weights`` these are eigenvectors of ``W^1/2 K W^1/2``, the operator under the measure
    ``sum_i w_i delta(x_i)``: ``f_r(x) = sqrt(sum_i w_i) / l_r * sum_i w_i^1/2 v_ri k_m(x, x_i)``.

    An eigenvalue of exactly zero has no such function. Its values at the training points are the entries
    of the eigenvector times ``sqrt(m)``; other points have ``sqrt(m) sum_i v_ri k_m(x, x_i)``, for a divided
    affinity the average over their neighbours.
    """

    kernel: BoundKernel
    pairs: EigenPairs
    training: np.ndarray | None = None  # (m, r) values on the training points, if not sqrt(m) times vectors
    weights: np.ndarray | None = None  # (m,) positive weights of the training points; None if all are 1
    _shapes: ClassVar = {
        "kernel.<points>": "n ...",
        "pairs.vectors": "n r",
        "training": "n r",
        "weights": "n",
    }

    __repr__ = short_repr

    @property
    def n_train(self) -> int:
        return self.pairs.vectors.shape[0]

    @property
    def mass(self) -> float:
        return float(len(self.pairs.vectors) if self.weights is None else self.weights.sum())

    @property
    def on_training(self) -> np.ndarray:
        """Values (m, r) on the training points, ``f_r(x_i) = sqrt(m) v_ri`` (Bengio eq. 21)."""
        if self.training is not None:
            return self.training
        vectors = self.pairs.vectors
        vectors = vectors if self.weights is None else vectors / np.sqrt(self.weights)[:, None]
        return np.sqrt(self.mass) * vectors

    def __call__(self, Y: Rows) -> np.ndarray:
        """Compute the values (n_new, r) at any points."""
        values = product(self.kernel, Y, self.weighted_vectors) * self._factors
        if not self.pairs.values.all():
            zero = np.flatnonzero(self.pairs.values == 0)
            vertex = training_index(self.kernel).find(Y)
            known = np.flatnonzero(vertex >= 0)
            values[np.ix_(known, zero)] = self.on_training[np.ix_(vertex[known], zero)]
        return values

    @property
    def _factors(self) -> np.ndarray:
        """Factors (r,) of the weighted vectors, ``sqrt(m) / l_r``, not divided by an eigenvalue of zero."""
        return np.sqrt(self.mass) / np.where(self.pairs.values == 0, 1.0, self.pairs.values)

    @property
    def weighted_vectors(self) -> np.ndarray:
        """``W^1/2 v_r`` (m, r), proportional to the coefficients of the functions."""
        vectors = self.pairs.vectors
        return vectors if self.weights is None else vectors * np.sqrt(self.weights)[:, None]

    def blocks(self, Y: Rows) -> Iterator[tuple[Matrix, np.ndarray]]:
        """Yield kernel rows (b, m) and function values (b, r) for blocks of points."""
        vectors, factors = self.weighted_vectors, self._factors
        with stage("projection", total=n_points(Y)) as advance:
            for rows in row_blocks(n_points(Y), 24 * self.n_train):
                similarity = self.kernel(Y[rows])
                yield similarity, similarity @ vectors * factors
                advance(rows.stop - rows.start)


def measured_eigenfunctions(
    kernel: BoundKernel, pairs: EigenPairs, weights: np.ndarray | None
) -> Eigenfunctions:
    """Return the eigenfunctions of ``W^1/2 K W^1/2``, with the signs that repeated points would give."""
    if weights is None:
        return Eigenfunctions(kernel, pairs)
    root = np.sqrt(weights)[:, None]
    vectors = canonical_signs(pairs.vectors / root) * root
    return Eigenfunctions(kernel, replace(pairs, vectors=vectors), weights=weights)


class Spectrum(NamedTuple):
    """Eigenvalues of the coordinates of an embedding, and how they were computed."""

    eigenvalues: np.ndarray  # (n_components,), or a row for each of several pieces
    residuals: np.ndarray  # in the shape of the eigenvalues
    solver: str
    n_iter: int


class Part(NamedTuple):
    """Points that belong to one set of eigenfunctions, such as a connected component."""

    functions: Functions
    trivial: int  # number of functions that are not coordinates
    points: Any  # in the form that the functions accept
    which: np.ndarray  # indices of the points


#: Converts function values (n, r) at points Y to coordinates (n, n_components), for training and new points.
Scale = Callable[[np.ndarray, Rows], np.ndarray]


@runtime_checkable
class InvertibleScale(Protocol):
    """A scale that can be inverted, point by point."""

    def invert(self, coordinates: np.ndarray, values: np.ndarray, Y: Rows) -> np.ndarray:
        """Return the functions (n, n_components) of coordinates, given all function values at ``Y``."""
        ...


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Training points of an embedding whose eigenfunctions were computed on landmarks."""

    X: Any  # all training points; None if the model does not store them
    which: np.ndarray | None  # (q,) indices of the landmarks; None if they are not training points
    _shapes: ClassVar = {"X": "n ...", "which": "q < n"}

    __repr__ = short_repr


@dataclass(frozen=True, eq=False)
class Embedding:
    """Eigenfunctions with the scaling of a method.

    The first ``trivial`` functions are not coordinates. If ``landmarks`` is given, the eigenfunctions were
    computed on the landmarks alone, and all training points are transformed like new ones.
    """

    eigenfunctions: Functions
    scale: Scale
    trivial: int = 0
    landmarks: Landmarks | None = None

    __repr__ = short_repr

    @property
    def kernel(self) -> BoundKernel:
        return self.eigenfunctions.kernel

    @property
    def n_train(self) -> int:
        return self.eigenfunctions.n_train

    @property
    def mass(self) -> float:
        """Total weight of the training points; their number if they are not weighted."""
        return self.eigenfunctions.mass

    @property
    def columns(self) -> np.ndarray:
        """Indices of the training points that belong to the columns of the kernel."""
        which = None if self.landmarks is None else self.landmarks.which
        return np.arange(self.n_train) if which is None else which

    @property
    def eigenvalues(self) -> np.ndarray:
        return self.eigenfunctions.pairs.values[self.trivial :]

    @property
    def spectrum(self) -> Spectrum:
        """The eigenvalues of the coordinates, and how they were computed."""
        pairs, kept = self.eigenfunctions.pairs, slice(self.trivial, None)
        return Spectrum(pairs.values[kept], pairs.residuals[kept], pairs.solver, pairs.n_iter)

    @property
    def coordinates(self) -> np.ndarray:
        """Coordinates of the training points (n, n_components)."""
        if self.landmarks is not None:
            return self.transform(self.landmarks.X)
        return self.scale(self.eigenfunctions.on_training, self.kernel.X)

    def transform(self, Y: Rows) -> np.ndarray:
        """Compute the coordinates (n_new, n_components) of any points."""
        return self.scale(self.eigenfunctions(Y), Y)

    def functions(self, Y: Rows) -> np.ndarray:
        """Compute the unscaled eigenfunctions of the coordinates at any points."""
        return self.eigenfunctions(Y)[:, self.trivial :]

    def parts(self, Y: Rows) -> Iterator[Part]:
        """Yield the points of each connected component; here all of them."""
        yield Part(self.eigenfunctions, self.trivial, Y, np.arange(n_points(Y)))


@dataclass(frozen=True)
class RootScale:
    """``sqrt(|l_r|) v_r`` for kernel PCA, MDS and Isomap (Bengio sec. 2.1, 2.2, 2.5).

    FastMap and MetricMap subtract an origin from each coordinate.
    """

    factors: np.ndarray  # sqrt(|l_r| / m), (r,)
    origin: np.ndarray | None = None  # (r,)
    _shapes: ClassVar = {"factors": "r", "origin": "r"}

    def __call__(self, values: np.ndarray, Y: Rows) -> np.ndarray:
        return values * self.factors - (0.0 if self.origin is None else self.origin)

    def invert(self, coordinates: np.ndarray, values: np.ndarray, Y: Rows) -> np.ndarray:
        shifted = coordinates if self.origin is None else coordinates + self.origin
        return divide_nonzero(shifted, self.factors)


@dataclass(frozen=True)
class PlainScale:
    """``sqrt(m) v_r`` without the first ``trivial`` functions (LLE, Bengio sec. 2.6)."""

    trivial: int = 1

    def __call__(self, values: np.ndarray, Y: Rows) -> np.ndarray:
        return values[:, self.trivial :]

    def invert(self, coordinates: np.ndarray, values: np.ndarray, Y: Rows) -> np.ndarray:
        return coordinates


def divide_nonzero(values: np.ndarray, divisor: np.ndarray) -> np.ndarray:
    """Return ``values / divisor``, and 0 where the divisor is 0."""
    return np.divide(values, divisor, out=np.zeros_like(values), where=divisor != 0)
