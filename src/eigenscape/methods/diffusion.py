"""Diffusion maps: Laplacian eigenmaps normalised for the density, with a scale that depends on time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from eigenscape.eigenfunctions import Embedding, InvertibleScale, Scale, divide_nonzero
from eigenscape.kernels.base import BoundKernel
from eigenscape.normalize import DividedKernel, divide
from eigenscape.operators import DividedOperator, Operator, gram, materialized


def normalize_density(
    affinity: BoundKernel,
    operator: Operator | None,
    alpha: float,
    diagonal: bool,
    n_jobs: int | None = None,
    measure: np.ndarray | None = None,
) -> tuple[BoundKernel, Operator]:
    """Return the kernel ``k(x, y) / (q(x) q(y))^alpha`` and its Gram operator, ``q`` the sums of ``k``.

    ``q`` estimates the density. With ``alpha=1`` the eigenfunctions converge to eigenfunctions of the
    Laplace-Beltrami operator of the manifold for any sampling density; with 1/2, of a Fokker-Planck operator;
    0 leaves the kernel unchanged (Coifman and Lafon 2006, sec. 3). ``measure`` are the weights of the points
    in the sums."""
    operator = gram(affinity, n_jobs=n_jobs) if operator is None else operator
    if alpha == 0:
        return affinity, operator
    diagonal = diagonal or not operator.diagonal().any()  # graph affinities have no diagonal
    kernel = divide(affinity, operator, diagonal, alpha, measure)
    return kernel, materialized(DividedOperator(operator, kernel.sums, alpha))


@dataclass(frozen=True, eq=False)
class DiffusionScale:
    """``l_r^t psi_r(x)``: the coordinates of Laplacian eigenmaps, ``base``, times ``factors``."""

    _shapes: ClassVar = {"factors": "r"}
    base: Scale
    factors: np.ndarray  # (r,) l_r^t and the norm of psi_r under the stationary distribution of the walk

    def __call__(self, values: np.ndarray, Y: Any) -> np.ndarray:
        return self.base(values, Y) * self.factors

    def invert(self, coordinates: np.ndarray, values: np.ndarray, Y: Any) -> np.ndarray:
        base: Any = self.base
        assert isinstance(base, InvertibleScale)
        return base.invert(divide_nonzero(coordinates, self.factors), values, Y)


def diffusion_map(model: Embedding, time: float) -> Embedding:
    """Return Laplacian eigenmaps rescaled to ``l_r^time psi_r``, ``psi_r = f_r / f_0`` of unit mean square.

    With all coordinates, the distance of two points is the diffusion distance at that time: the distance
    between the distributions of a random walk that started at one or the other."""
    values = model.eigenvalues
    if time != int(time) and values.min() < 0:
        raise ValueError(
            f"diffusion_time={time!r} is not an integer, but eigenvalue {values.min():.3g} is negative, so"
            " its power is not real; use an integer, or an affinity without negative eigenvalues such as"
            " 'rbf'"
        )
    kernel = model.kernel
    assert isinstance(kernel, DividedKernel)
    return replace(
        model, scale=DiffusionScale(model.scale, np.sqrt(kernel.mean_sum) * np.power(values, time))
    )
