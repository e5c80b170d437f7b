"""Eigenfunctions and embeddings: the Nystrom formula, written once, for training points and all others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from eigenscape._display import short_repr
from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape._typing import Matrix
from eigenscape.kernels.base import BoundKernel, n_points, product
from eigenscape.solvers import EigenPairs


class Functions(Protocol):
    """What an embedding is made from: functions of any point, known on the training points."""

    @property
    def kernel(self) -> Any: ...

    @property
    def pairs(self) -> EigenPairs: ...

    @property
    def n_train(self) -> int: ...

    @property
    def on_training(self) -> Any:
        """Values (n, r) at the training points."""
        ...

    def __call__(self, Y: Any) -> np.ndarray:
        """Values (n_new, r) at any points."""
        ...


@dataclass(frozen=True, eq=False)
class Eigenfunctions:
    """``f_r(x) = sqrt(m) / l_r * sum_i v_ri k_m(x, x_i)`` (Bengio eq. 20)."""

    kernel: BoundKernel
    pairs: EigenPairs
    training: np.ndarray | None = (
        None  # (m, r) their values on the training points, where the vectors are not eigenvectors
    )

    __repr__ = short_repr

    @property
    def n_train(self) -> int:
        return self.pairs.vectors.shape[0]

    @property
    def on_training(self) -> np.ndarray:
        """``f_r(x_i) = sqrt(m) v_ri`` (Bengio eq. 21), (m, r)."""
        return np.sqrt(self.n_train) * self.pairs.vectors if self.training is None else self.training

    def __call__(self, Y: Any) -> np.ndarray:
        """Values (n_new, r) at any points."""
        return product(self.kernel, Y, self._coefficients)

    @property
    def _coefficients(self) -> np.ndarray:
        return np.sqrt(self.n_train) * self.pairs.vectors / self.pairs.values  # (m, r)

    def blocks(self, Y: Any) -> Iterator[tuple[Matrix, np.ndarray]]:
        """Kernel rows (b, m) and function values (b, r) for one block of points after another."""
        coefficients = self._coefficients
        with stage("projection", total=n_points(Y)) as advance:
            for rows in row_blocks(n_points(Y), 24 * self.n_train):
                similarity = self.kernel(Y[rows])
                yield similarity, similarity @ coefficients
                advance(rows.stop - rows.start)


#: Turns function values (n, r) at points Y into coordinates (n, n_components); the same for training points
#: and new ones.
Scale = Callable[[np.ndarray, Any], np.ndarray]


@dataclass(frozen=True, eq=False)
class Landmarks:
    """The training points behind an embedding that was learnt on some of them, or on given points."""

    X: Any  # all training points; None where the model does not keep them
    which: (
        np.ndarray | None
    )  # (q,) the training points that are landmarks; None where the landmarks are other points

    __repr__ = short_repr


@dataclass(frozen=True, eq=False)
class Embedding:
    """Eigenfunctions with the scale that a method gives them. The first ``trivial`` functions are not
    coordinates.

    With ``landmarks`` the eigenfunctions live on these alone, and all training points are placed like new
    ones."""

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
    def columns(self) -> np.ndarray:
        """The training points that the kernel has columns for."""
        which = None if self.landmarks is None else self.landmarks.which
        return np.arange(self.n_train) if which is None else which

    @property
    def eigenvalues(self) -> np.ndarray:
        return self.eigenfunctions.pairs.values[self.trivial :]

    @property
    def residuals(self) -> np.ndarray:
        return self.eigenfunctions.pairs.residuals[self.trivial :]

    @property
    def solver(self) -> str:
        return self.eigenfunctions.pairs.solver

    @property
    def n_iter(self) -> int:
        return self.eigenfunctions.pairs.n_iter

    @property
    def coordinates(self) -> np.ndarray:
        """Coordinates of the training points (n, n_components)."""
        if self.landmarks is not None:
            return self.transform(self.landmarks.X)
        return self.scale(self.eigenfunctions.on_training, self.kernel.X)

    def transform(self, Y: Any) -> np.ndarray:
        """Coordinates of any points."""
        return self.scale(self.eigenfunctions(Y), Y)

    def functions(self, Y: Any) -> np.ndarray:
        """The unscaled eigenfunctions behind the coordinates."""
        return self.eigenfunctions(Y)[:, self.trivial :]

    def parts(self, Y: Any) -> Iterator[tuple[Functions, Any]]:
        """The eigenfunctions and the points they speak for."""
        yield self.eigenfunctions, Y


@dataclass(frozen=True)
class RootScale:
    """``sqrt(|l_r|) v_r`` for kernel PCA, MDS and Isomap (Bengio sec. 2.1, 2.2, 2.5)."""

    factors: np.ndarray  # sqrt(|l_r| / m), (r,)

    def __call__(self, values: np.ndarray, Y: Any) -> np.ndarray:
        return values * self.factors


@dataclass(frozen=True)
class ShiftedScale:
    """``sqrt(|l_r|) v_r`` with an origin of its own for each coordinate (FastMap, MetricMap)."""

    factors: np.ndarray  # sqrt(|l_r| / m), (r,)
    origin: np.ndarray  # (r,)

    def __call__(self, values: np.ndarray, Y: Any) -> np.ndarray:
        return values * self.factors - self.origin


@dataclass(frozen=True)
class PlainScale:
    """``sqrt(m) v_r``, the first ``trivial`` functions left out (LLE, Bengio sec. 2.6)."""

    trivial: int = 1

    def __call__(self, values: np.ndarray, Y: Any) -> np.ndarray:
        return values[:, self.trivial :]


def root_scale(pairs: EigenPairs) -> RootScale:
    """The scale of kernel PCA for these pairs; negative eigenvalues count by their magnitude."""
    return RootScale(np.sqrt(np.abs(pairs.values) / pairs.vectors.shape[0]))
