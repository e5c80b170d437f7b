"""Kernel PCA (Bengio sec. 2.1; Burges sec. 1.3)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from eigenscape._parameters import check_enough
from eigenscape._warnings import warn
from eigenscape.eigenfunctions import Eigenfunctions, Embedding, RootScale, measured_eigenfunctions
from eigenscape.exceptions import DegenerateSpectrumWarning, RankError
from eigenscape.kernels.base import BoundKernel, n_points
from eigenscape.normalize import center
from eigenscape.operators import Operator, centered, gram, weighted
from eigenscape.solvers import EigenPairs, Order, SolverConfig, principal


def kernel_pca(
    similarity: BoundKernel,
    n_components: int | None,
    solver: SolverConfig,
    *,
    order: Order = "value",
    centering: np.ndarray | None = None,
    weights: np.ndarray | None = None,
) -> Embedding:
    """Return the principal eigenfunctions of the centred kernel, scaled by ``sqrt(l_r)``.

    ``weights`` are the weights of the points in the empirical measure, and in their mean unless ``centering``
    has other coefficients; the eigenvectors are then eigenvectors of ``W^1/2 K W^1/2``.

    There are at most ``n_components`` of them (None: ``n_samples - 1``), fewer if the kernel has a lower
    rank; see :func:`with_components`.
    """
    similarities = gram(similarity, solver.storage, solver.n_jobs)
    if centering is None and weights is not None:
        centering = weights / weights.sum()
    kernel = center(similarity, similarities, centering)  # Bengio eq. 5; Burges sec. 2.2.1
    operator = centered(similarities, kernel.weights)  # Bengio eq. 1
    operator = operator if weights is None else weighted(operator, weights)
    pairs = leading_pairs(operator, n_components, order, solver)  # Bengio eq. 3
    functions = measured_eigenfunctions(kernel, pairs, weights)
    return Embedding(functions, RootScale(np.sqrt(np.abs(pairs.values) / functions.mass)))  # Bengio eq. 7


def leading_pairs(
    operator: Operator, n_components: int | None, order: Order, solver: SolverConfig
) -> EigenPairs:
    """Return at most ``n_components`` leading eigenpairs whose eigenvalues are not zero to rounding."""
    m = operator.shape[0]
    count = m - 1 if n_components is None else min(n_components, m)
    pairs = principal(operator, count, order, solver)
    usable = usable_count(pairs.values, order, m, operator.magnitude())
    if usable == len(pairs.values):
        return pairs
    return replace(pairs.take(slice(usable)), next_value=float(pairs.values[-1]))


def usable_count(values: np.ndarray, order: Order, m: int, magnitude: float) -> int:
    """Count the sorted eigenvalues that exceed rounding error (and, by value, zero)."""
    size = values if order == "value" else np.abs(values)
    eps = np.finfo(np.float64).eps
    return int(np.sum(size > 10 * eps * max(m * np.abs(values).max(initial=0.0), m**0.5 * magnitude)))


def with_components(
    embedding: Embedding, n_components: int | None, order: Order = "value", remedy: str = ""
) -> Embedding:
    """Return an embedding with at least ``n_components`` coordinates (None: 1).

    Coordinates for which the kernel has no usable eigenvalue are zero, with a warning: their eigenvalues and
    eigenfunctions are 0. Raises RankError if there is no usable eigenvalue at all.
    """
    functions, scale = embedding.eigenfunctions, embedding.scale
    m, n_found = functions.pairs.vectors.shape
    kind = "positive" if order == "value" else "nonzero"
    if n_found == 0:
        raise RankError(
            f"the centred kernel of {m} samples has no {kind} eigenvalue: all samples are equal under this"
            " kernel; there is nothing to embed"
        )
    if n_components is None or n_found >= n_components:
        return embedding
    assert isinstance(functions, Eigenfunctions)
    assert isinstance(scale, RootScale)
    next_value = functions.pairs.next_value
    if next_value is not None and next_value < 0:
        remedy += ", or set order='magnitude' to use the negative ones too"
    warn(
        f"n_components={n_components}, but the kernel of {m} points has only {n_found} {kind} eigenvalue(s);"
        f" the other coordinates are zero; lower n_components{remedy}",
        DegenerateSpectrumWarning,
    )

    def padded(values: np.ndarray) -> np.ndarray:
        missing = (0, n_components - n_found)
        return np.pad(values, [(0, 0)] * (values.ndim - 1) + [missing])

    pairs = replace(
        functions.pairs,
        values=padded(functions.pairs.values),
        vectors=padded(functions.pairs.vectors),
        residuals=padded(functions.pairs.residuals),
    )
    training = None if functions.training is None else padded(functions.training)
    origin = None if scale.origin is None else padded(scale.origin)
    return replace(
        embedding,
        eigenfunctions=replace(functions, pairs=pairs, training=training),
        scale=RootScale(padded(scale.factors), origin),
    )


def check_components(n_components: int | None, X: object) -> None:
    """Raise if ``n_components`` exceeds the largest possible rank of a centred kernel."""
    if n_components is not None:
        check_enough("n_components", n_components, n_components + 1, n_points(X))
