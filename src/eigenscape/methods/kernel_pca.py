"""Kernel PCA (Bengio sec. 2.1; Burges sec. 1.3)."""

from __future__ import annotations

import numpy as np

from eigenscape.eigenfunctions import Eigenfunctions, Embedding, root_scale
from eigenscape.exceptions import RankError
from eigenscape.kernels.base import BoundKernel, n_points
from eigenscape.normalize import center
from eigenscape.operators import CenteredOperator, Operator, gram
from eigenscape.operators.gram import Storage
from eigenscape.solvers import EigenPairs, SolverConfig, principal


def kernel_pca(
    similarity: BoundKernel,
    n_components: int | None,
    solver: SolverConfig,
    *,
    order: str = "value",
    weights: np.ndarray | None = None,
    storage: Storage = "auto",
    fewer: bool = False,
) -> Embedding:
    """Principal eigenfunctions of the centred kernel, scaled by ``sqrt(l_r)``."""
    similarities = gram(similarity, storage, solver.n_jobs)
    kernel = center(similarity, similarities, weights)  # Bengio eq. 5; Burges sec. 2.2.1 for general weights
    pairs = leading_pairs(
        CenteredOperator(similarities, kernel.weights), n_components, order, solver, fewer
    )  # Bengio eq. 1
    return Embedding(Eigenfunctions(kernel, pairs), root_scale(pairs))  # Bengio eq. 7


def leading_pairs(
    operator: Operator, n_components: int | None, order: str, solver: SolverConfig, fewer: bool = False
) -> EigenPairs:
    """Leading eigenpairs that can be divided by: ``n_components`` of them, or all for None, or ``fewer`` if
    need be."""
    m = operator.shape[0]
    if n_components is None:
        n_components, fewer = m - 1, True
    pairs = principal(operator, min(n_components, m), order, solver)
    usable = usable_count(pairs.values, order, m, operator.magnitude())
    if usable == 0:
        raise RankError(
            f"the centred kernel of {m} samples is zero: they are all alike to it; there is nothing to embed"
        )
    if usable < n_components and not fewer:
        kind = "positive" if order == "value" else "nonzero"
        remedy = ", or order='magnitude' to use the negative ones too" if pairs.values[-1] < 0 else ""
        raise RankError(
            f"n_components={n_components}, but the kernel of {m} samples has only {usable} {kind} eigenvalue(s); lower n_components{remedy}"
        )
    return pairs.take(slice(usable))


def usable_count(values: np.ndarray, order: str, m: int, magnitude: float) -> int:
    """How many of the sorted eigenvalues stand above rounding (and, by value, above zero)."""
    size = values if order == "value" else np.abs(values)
    eps = np.finfo(np.float64).eps
    return int(np.sum(size > 10 * eps * max(m * np.abs(values).max(initial=0.0), m**0.5 * magnitude)))


def check_components(n_components: int | None, X: object) -> None:
    """More components than a centred kernel can have are refused before any work."""
    m = n_points(X)
    if n_components is not None and n_components > m - 1:
        raise ValueError(
            f"n_components={n_components} needs at least {n_components + 1} samples, got n_samples={m}; lower n_components"
        )
