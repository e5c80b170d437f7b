"""Selection of independent eigenvectors by local linear regression (Dsilva et al. 2018, sec. 3).

See docs/decisions/methods-independence.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.distance import cdist, pdist

from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape._warnings import warn
from eigenscape.eigenfunctions import Eigenfunctions, Embedding
from eigenscape.exceptions import DependentCoordinatesWarning
from eigenscape.kernels.base import BoundKernel, n_points
from eigenscape.methods.laplacian import laplacian_eigenmaps
from eigenscape.operators import Operator, gram
from eigenscape.options import Independence
from eigenscape.solvers import SolverConfig

#: Widths of the regression as fractions of the median distance. Dsilva et al. use one third; high harmonics
#: need less. Predictions are leave-one-out, so the best width is not always the smallest.
WIDTHS = (1 / 3, 1 / 6, 1 / 12, 1 / 24, 1 / 48, 1 / 96, 1 / 192)


@dataclass(frozen=True, eq=False)
class Selection:
    """An embedding by selected eigenvectors, their indices, and the residual of each candidate."""

    embedding: Embedding
    kept: np.ndarray
    residuals: np.ndarray


def independent_eigenmaps(
    affinity: BoundKernel,
    n_components: int,
    solver: SolverConfig,
    criterion: Independence,
    *,
    diagonal: bool = True,
    operator: Operator | None = None,
) -> Selection:
    """Return Laplacian eigenmaps without eigenvectors that are functions of earlier ones.

    The number of candidates is doubled until ``n_components`` of them are independent."""
    n = n_points(affinity.X)
    wanted = min(n_components, n - 1)
    # 15 points for each eigenvector distinguish it from noise: the r-th has about r oscillations.
    default = min(20 * wanted, max(2 * wanted, n // 15))
    max_count = min(criterion.n_candidates or default, n - 1)
    count = min(max(8, 4 * wanted), max_count)
    operator = gram(affinity, n_jobs=solver.n_jobs) if operator is None else operator
    while True:
        model = laplacian_eigenmaps(affinity, count, solver, diagonal=diagonal, operator=operator)
        kept, residuals = independent_columns(model.coordinates, wanted, criterion.threshold)
        if len(kept) == wanted or count >= max_count or len(model.eigenvalues) < count:
            break
        count = min(2 * count, max_count)
    if 0 < len(kept) < wanted:
        warn(
            f"only {len(kept)} of {len(residuals)} eigenvectors are independent of those before them, fewer"
            f" than n_components={wanted}; the embedding has fewer coordinates. Raise n_candidates, lower"
            " the threshold or lower n_components",
            DependentCoordinatesWarning,
        )
    functions = model.eigenfunctions
    assert isinstance(functions, Eigenfunctions)
    which = np.concatenate([np.arange(model.trivial), model.trivial + kept])
    embedding = replace(model, eigenfunctions=replace(functions, pairs=functions.pairs.take(which)))
    return Selection(embedding, kept, residuals)


def independent_columns(
    coordinates: np.ndarray, n_wanted: int, threshold: float
) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of up to ``n_wanted`` independent columns and all residuals computed."""
    size = np.sqrt(np.mean(np.square(coordinates), axis=0))
    values = np.divide(coordinates, size, out=np.zeros_like(coordinates), where=size > 0)
    kept, residuals = [0][: values.shape[1]], [1.0][: values.shape[1]]
    for r in range(1, values.shape[1]):
        if len(kept) == n_wanted:
            break
        residuals.append(regression_residual(values[:, kept], values[:, r]))
        if residuals[-1] >= threshold:
            kept.append(r)
    return np.array(kept, dtype=np.intp), np.array(residuals)


def regression_residual(known: np.ndarray, target: np.ndarray) -> float:
    """Return the relative residual ``r`` of ``target`` (n,) regressed on the columns ``known`` (n, d).

    ``r^2 = sum_i (y_i - a_i - b_i' x_i)^2 / sum_i y_i^2``, where ``a_i`` and ``b_i`` minimise
    ``sum_{j != i} exp(-|x_i - x_j|^2 / width^2) (y_j - a_i - b_i' x_j)^2`` (Dsilva et al. 2018, eq. 12, 13),
    with the best of several widths. The sums over ``i`` contain at most 1000 evenly spaced points."""
    n = len(target)
    tried = np.unique(np.linspace(0, n - 1, min(n, 1000)).astype(np.intp))
    median = float(np.median(pdist(known[tried]))) or 1.0
    errors = np.zeros(len(WIDTHS))
    with stage("independence", total=len(tried)) as advance:
        for rows in row_blocks(len(tried), 32 * n):
            some = tried[rows]
            squares = cdist(known[some], known, "sqeuclidean")
            squares[np.arange(len(some)), some] = np.inf  # leave one out
            squares -= squares.min(axis=1, keepdims=True)  # the largest weight is one: no sum underflows
            for place, fraction in enumerate(WIDTHS):
                weights = np.exp(-squares / (fraction * median) ** 2)
                errors[place] += np.square(
                    target[some] - _local_fits(weights, known, known[some], target)
                ).sum()
            advance(len(some))
    return float(np.sqrt(errors.min() / np.square(target[tried]).sum())) if target.any() else 0.0


def _local_fits(weights: np.ndarray, x: np.ndarray, at: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return values (b,) at the points ``at`` of linear functions fitted with ``weights`` (b, n)."""
    d = x.shape[1]
    first, second = np.triu_indices(d)
    terms = np.column_stack([np.ones(len(y)), x, x[:, first] * x[:, second], y, x * y[:, None]])
    sums = weights @ terms
    sums /= sums[:, :1]
    mean, squares, level, products = np.split(sums[:, 1:], np.cumsum([d, len(first), 1]), axis=1)
    covariance = np.empty((len(at), d, d))
    covariance[:, first, second] = covariance[:, second, first] = squares
    covariance -= mean[:, :, None] * mean[:, None, :]
    covariance[:, np.arange(d), np.arange(d)] += 1e-10  # a ridge, relative to the total weight
    slope = np.linalg.solve(covariance, (products - mean * level)[:, :, None])[:, :, 0]
    return level[:, 0] + np.einsum("bi,bi->b", slope, at - mean)
