"""Kernel PCA (Bengio sec. 2.1; Burges sec. 1.3)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eigenscape.eigenfunctions import Embedding, measured_eigenfunctions, root_scale
from eigenscape.exceptions import RankError
from eigenscape.kernels.base import BoundKernel, n_points
from eigenscape.normalize import center
from eigenscape.operators import Operator, centered, gram, weighted
from eigenscape.operators.gram import Storage
from eigenscape.solvers import EigenPairs, Order, SolverConfig, principal


def kernel_pca(
    similarity: BoundKernel,
    n_components: int | None,
    solver: SolverConfig,
    *,
    order: Order = "value",
    centering: np.ndarray | None = None,
    storage: Storage = "auto",
    weights: np.ndarray | None = None,
) -> Embedding:
    """Return the principal eigenfunctions of the centred kernel, scaled by ``sqrt(l_r)``.

    ``weights`` are the weights of the points in the empirical measure, and in their mean unless ``centering``
    has other coefficients; the eigenvectors are then eigenvectors of ``W^1/2 K W^1/2``.

    There are at most ``n_components`` of them (None: ``n_samples - 1``), fewer if the kernel has a lower
    rank; :func:`require_components` raises an error in that case.
    """
    similarities = gram(similarity, storage, solver.n_jobs)
    coefficients = centering_coefficients(centering, weights)
    kernel = center(similarity, similarities, coefficients)  # Bengio eq. 5; Burges sec. 2.2.1
    operator = centered(similarities, kernel.weights)  # Bengio eq. 1
    operator = operator if weights is None else weighted(operator, weights)
    pairs = leading_pairs(operator, n_components, order, solver)  # Bengio eq. 3
    functions = measured_eigenfunctions(kernel, pairs, weights)
    return Embedding(functions, root_scale(pairs, weights))  # Bengio eq. 7


def centering_coefficients(centering: np.ndarray | None, weights: np.ndarray | None) -> np.ndarray | None:
    """Return the given centring coefficients, or the coefficients of the weighted mean."""
    return weights / weights.sum() if centering is None and weights is not None else centering


def leading_pairs(
    operator: Operator, n_components: int | None, order: Order, solver: SolverConfig
) -> EigenPairs:
    """Return at most ``n_components`` leading eigenpairs whose eigenvalues are not zero to rounding."""
    m = operator.shape[0]
    count = m - 1 if n_components is None else min(n_components, m)
    pairs = principal(operator, count, order, solver)
    usable = usable_count(pairs.values, order, m, operator.magnitude())
    if usable == len(pairs):
        return pairs
    return replace(pairs.take(slice(usable)), next_value=float(pairs.values[-1]))


def usable_count(values: np.ndarray, order: Order, m: int, magnitude: float) -> int:
    """Count the sorted eigenvalues that exceed rounding error (and, by value, zero)."""
    size = values if order == "value" else np.abs(values)
    eps = np.finfo(np.float64).eps
    return int(np.sum(size > 10 * eps * max(m * np.abs(values).max(initial=0.0), m**0.5 * magnitude)))


def require_components(embedding: Embedding, n_components: int | None, order: Order = "value") -> Embedding:
    """Return ``embedding``; raise RankError if it has fewer than ``n_components`` (None: 1) coordinates."""
    m, n_found = embedding.n_train, len(embedding.eigenvalues)
    kind = "positive" if order == "value" else "nonzero"
    if n_found == 0:
        raise RankError(
            f"the centred kernel of {m} samples has no {kind} eigenvalue: all samples are equal under this"
            " kernel; there is nothing to embed"
        )
    if n_components is not None and n_found < n_components:
        next_value = embedding.eigenfunctions.pairs.next_value
        negative = next_value is not None and next_value < 0
        remedy = ", or set order='magnitude' to use the negative ones too" if negative else ""
        raise RankError(
            f"n_components={n_components}, but the kernel of {m} samples has only {n_found} {kind}"
            f" eigenvalue(s); lower n_components{remedy}"
        )
    return embedding


def check_components(n_components: int | None, X: object) -> None:
    """Raise if ``n_components`` exceeds the largest possible rank of a centred kernel."""
    m = n_points(X)
    if n_components is not None and n_components > m - 1:
        raise ValueError(
            f"n_components={n_components} needs at least {n_components + 1} samples, got n_samples={m};"
            " lower n_components"
        )
