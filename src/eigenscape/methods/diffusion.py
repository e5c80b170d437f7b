"""Diffusion maps: a second divisive normalisation, before that of Laplacian eigenmaps, and a scale that knows
time."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigenscape.eigenfunctions import Embedding, Scale
from eigenscape.kernels.base import BoundKernel
from eigenscape.normalize import DividedKernel, divide
from eigenscape.operators import DividedOperator, Operator, gram, materialized


def without_density(
    affinity: BoundKernel, weights: Operator | None, alpha: float, diagonal: bool, n_jobs: int | None = None
) -> tuple[BoundKernel, Operator]:
    """``k(x, y) / (q(x) q(y))^alpha`` and the operator of its Gram matrix; ``q``, the sums of ``k``,
    estimates the density.

    With ``alpha=1`` what follows tends to the Laplace-Beltrami operator of the manifold, however densely its
    parts were sampled; with 1/2 to a Fokker-Planck operator; 0 leaves the kernel as it is (Coifman and Lafon
    2006, sec. 3)."""
    weights = gram(affinity, n_jobs=n_jobs) if weights is None else weights
    if alpha == 0:
        return affinity, weights
    kernel = divide(
        affinity, weights, diagonal or not weights.diagonal().any(), alpha
    )  # graph affinities have no diagonal
    return kernel, materialized(DividedOperator(weights, kernel.sums, alpha))


@dataclass(frozen=True, eq=False)
class DiffusionScale:
    """``l_r^t psi_r(x)`` from the solutions of the generalised problem, which ``base`` gives."""

    base: Scale
    factors: (
        np.ndarray
    )  # l_r^t and what makes psi_r of unit mean square under the walk's stationary distribution, (r,)

    def __call__(self, values: np.ndarray, Y: Any) -> np.ndarray:
        return self.base(values, Y) * self.factors


def diffused(model: Embedding, time: float) -> Embedding:
    """Laplacian eigenmaps as a diffusion map: ``psi_r = f_r / f_0``, of unit mean square, times ``l_r^time``.

    All coordinates together, the squared distance of two points is then the diffusion distance at that time:
    how far apart the distributions are that a random walk has reached from each."""
    values = model.eigenvalues
    if time != int(time) and values.min() < 0:
        raise ValueError(
            f"diffusion_time={time!r} is no whole number, and eigenvalue {values.min():.3g} is negative, so its power is not real; use a"
            " whole number, or an affinity without negative eigenvalues such as 'rbf'"
        )
    kernel: DividedKernel = model.kernel  # type: ignore[assignment]
    return replace(
        model, scale=DiffusionScale(model.scale, np.sqrt(kernel.sums.mean()) * np.power(values, time))
    )
