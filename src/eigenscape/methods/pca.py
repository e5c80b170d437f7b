"""Principal component analysis (Burges sec. 1.1): the eigenproblem of the scatter or the Gram matrix.

The scatter matrix (d, d) and the Gram matrix (n, n) share their nonzero eigenvalues (Burges sec. 3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import linalg, sparse

from eigenscape import _memory
from eigenscape._progress import stage
from eigenscape._warnings import warn
from eigenscape.exceptions import DegenerateSpectrumWarning, RankError
from eigenscape.kernels import BoundKernel, Linear
from eigenscape.methods.component_count import NComponents, count_by_evidence, count_for_ratio
from eigenscape.methods.tuning import TUNING
from eigenscape.normalize import center
from eigenscape.operators import CenteredRows, DenseOperator, Operator, ScatterOperator
from eigenscape.operators.centered_rows import SMALL_OFFSET
from eigenscape.quality.loss import squares_of_expansion
from eigenscape.quality.pair_moments import PairMoments, add_moments, n_pairs
from eigenscape.solvers import EigenPairs, SolverConfig, principal
from eigenscape.solvers.pairs import canonical_signs


@dataclass(frozen=True, eq=False)
class ScatterMoments:
    """Weighted mean and scatter matrix ``sum_i w_i (x_i - mu)(x_i - mu)'`` (d, d) of samples."""

    mean: np.ndarray  # mu, (d,)
    scatter: np.ndarray  # (d, d)
    weight: float  # sum of the sample weights
    n_rows: int  # samples with a positive weight

    @property
    def covariance(self) -> np.ndarray:
        """Covariance (d, d), divided by the weight."""
        return self.scatter / self.weight

    def merge(self, other: ScatterMoments) -> ScatterMoments:
        """Return the moments of both sets of samples.

        Only the difference of the two means is squared, so a large offset of the data causes no
        cancellation.
        """
        weight = self.weight + other.weight
        shift = other.mean - self.mean
        scatter = self.scatter + other.scatter
        scatter += np.outer(shift, shift) * (self.weight * other.weight / weight)
        mean = self.mean + shift * (other.weight / weight)
        return ScatterMoments(mean, scatter, weight, self.n_rows + other.n_rows)


def scatter_moments(rows: CenteredRows) -> ScatterMoments:
    """Compute the moments of one chunk, centred on its own mean. Samples of weight zero are not counted."""
    d = rows.shape[1]
    _memory.require(
        4 * 8.0 * d * d,
        f"a scatter matrix of {d} x {d} features",
        "use fewer features, or call fit on all rows instead of partial_fit",
    )
    n_rows = rows.shape[0] if rows.weights is None else int(np.count_nonzero(rows.weights))
    return ScatterMoments(rows.mean, rows.scatter(), rows.total_weight, n_rows)


_EPS = np.finfo(np.float64).eps
_NO_VARIANCE = "all rows are equal up to rounding; there is nothing to embed"


@dataclass(frozen=True, eq=False)
class PrincipalAxes:
    """Principal directions, the corresponding eigenvalues of the Gram matrix, and details of the solution."""

    _shapes: ClassVar = {"mean": "d", "directions": "r d", "eigenvalues": "r", "residuals": "r"}
    mean: np.ndarray  # mu, (d,)
    directions: np.ndarray  # e_r, (q, d)
    eigenvalues: np.ndarray  # l_r, (q,)
    residuals: np.ndarray  # (q,)
    weight: float  # number of samples, or the sum of their weights
    trace: float  # sum of all eigenvalues
    solver: str
    n_iter: int

    @property
    def discarded(self) -> float:
        """Sum of the discarded eigenvalues, not negative despite rounding."""
        return max(self.trace - float(self.eigenvalues.sum()), 0.0)

    def project(self, X: Any) -> np.ndarray:
        """Compute ``<e_r, x - mu>`` (n, q), which is the Nystrom formula for the linear kernel."""
        if X.dtype == np.float64 and self.mean @ self.mean <= SMALL_OFFSET * self.trace / self.weight:
            coordinates = X @ np.ascontiguousarray(self.directions.T)
            coordinates -= self.directions @ self.mean
            return coordinates
        return CenteredRows(X, self.mean).times(self.directions.T)


def pca(
    rows: CenteredRows, n_components: NComponents, solver: SolverConfig
) -> tuple[PrincipalAxes, np.ndarray]:
    """Return the leading axes and the coordinates (n, q) of the training samples on them.

    The largest entry of each axis is positive, so that signs do not depend on how the samples are read.
    """
    count = n_components if isinstance(n_components, int) else min(rows.shape)
    axes = select_components(leading_axes(rows, count, solver), n_components)
    axes = replace(axes, directions=canonical_signs(axes.directions.T).T)
    return axes, axes.project(rows.X)


def leading_axes(rows: CenteredRows, count: int, solver: SolverConfig) -> PrincipalAxes:
    """Return up to ``count`` axes of nonzero variance, from the smaller matrix (Burges sec. 3)."""
    n, d = rows.shape
    operator = ScatterOperator(rows, "features" if d <= n else "samples")
    pairs, trace = _leading_pairs(operator, count, solver)
    # Small eigenvalues lose their precision in a scatter matrix; the singular values of the rows retain it.
    imprecise = pairs.values[-1] < 1e-6 * pairs.values[0]
    if imprecise and not sparse.issparse(rows.X) and pairs.solver == "dense":
        return _axes_by_svd(rows, count)
    pairs = pairs.take(slice(min(_numerical_rank(pairs.values, max(n, d)), _rank_bound(rows))))
    residuals = pairs.residuals
    if operator.side == "features":
        directions = pairs.vectors.T
        residuals = _gram_residuals(pairs)
    else:
        directions = (rows.transposed_times(pairs.vectors) / np.sqrt(pairs.values)).T
    return PrincipalAxes(
        rows.mean, directions, pairs.values, residuals, rows.total_weight, trace, pairs.solver, pairs.n_iter
    )


def pca_of_scatter(moments: ScatterMoments, n_components: NComponents, solver: SolverConfig) -> PrincipalAxes:
    """Return the axes selected by ``n_components`` of samples, given their scatter matrix (d, d)."""
    if not _varies(moments):
        raise RankError(_NO_VARIANCE)
    axes = axes_of_scatter(moments, _most_components(moments, n_components), solver)
    return select_components(axes, n_components)


def axes_of_scatter(moments: ScatterMoments, count: int, solver: SolverConfig) -> PrincipalAxes:
    """Return up to ``count`` axes of numerically nonzero variance; the largest entry of each is positive."""
    pairs, trace = _leading_pairs(DenseOperator(moments.scatter), count, solver)
    pairs = pairs.take(slice(min(_numerical_rank(pairs.values, len(moments.mean)), moments.n_rows - 1)))
    return PrincipalAxes(
        moments.mean,
        canonical_signs(pairs.vectors).T,
        pairs.values,
        _gram_residuals(pairs),
        moments.weight,
        trace,
        pairs.solver,
        pairs.n_iter,
    )


def axes_if_determined(
    moments: ScatterMoments, n_components: NComponents, solver: SolverConfig
) -> PrincipalAxes | None:
    """Return the axes of the samples seen so far, or None if these do not determine them yet."""
    required = n_components if isinstance(n_components, int) else 1
    if moments.weight <= 1 or moments.n_rows <= required or np.trace(moments.scatter) == 0:
        return None
    if not _varies(moments):
        return None
    axes = axes_of_scatter(moments, _most_components(moments, n_components), solver)
    if len(axes.eigenvalues) < required:  # further samples may vary in other directions
        return None
    return select_components(axes, n_components)


def _varies(moments: ScatterMoments) -> bool:
    """Return whether any feature varies by more than rounding."""
    rounding = offset_rounding(np.eye(len(moments.mean)), moments.mean, moments.weight)
    return bool((np.sqrt(np.diag(moments.scatter)) > rounding).any())


def _most_components(moments: ScatterMoments, n_components: NComponents) -> int:
    return n_components if isinstance(n_components, int) else len(moments.mean)


def _leading_pairs(operator: Operator, count: int, solver: SolverConfig) -> tuple[EigenPairs, float]:
    """Return leading eigenpairs of the smaller matrix and its trace.

    The matrix is formed if it is small or if most of its spectrum is required.
    """
    m = operator.shape[0]
    if solver.method == "dense" or (solver.method == "auto" and (m <= TUNING.dense_size or 5 * count > m)):
        _memory.require(3 * 8.0 * m * m, f"a matrix of {m} x {m}", "lower n_components")
        with stage("covariance"):
            operator = DenseOperator(np.asarray(operator.matrix()))
        solver = replace(solver, method="dense")
        return principal(operator, count, "value", solver), float(np.trace(operator.array))
    if solver.method == "auto" and m > 8000:  # forming the matrix takes longer than any number of iterations
        solver = replace(solver, method="lanczos")
    return principal(operator, min(count, m), "value", solver), float(operator.diagonal().sum())


def _axes_by_svd(rows: CenteredRows, count: int) -> PrincipalAxes:
    """Return the axes by a singular value decomposition of the rows, precise for small variances too."""
    n, d = rows.shape
    _memory.require(
        3 * 8.0 * n * d, f"a singular value decomposition of {n} x {d} numbers", "lower n_components"
    )
    centered = np.concatenate([block for _, block in rows.blocks()])
    root_weights = np.ones(n) if rows.weights is None else np.sqrt(rows.weights)
    offset = root_weights @ centered / rows.total_weight  # rounding error of the mean
    centered -= np.outer(root_weights, offset)
    mean = rows.mean + offset
    with stage("singular values"):
        U, singular_values, directions = linalg.svd(centered, full_matrices=False, check_finite=False)
    significant = singular_values > np.maximum(
        4 * _EPS * max(n, d) ** 0.5 * singular_values[0],
        offset_rounding(directions, mean, rows.total_weight * max(1.0, d / n)),
    )
    kept = np.flatnonzero(significant)[: min(_rank_bound(rows), count)]
    values = np.square(singular_values)
    products = centered @ (centered.T @ U[:, kept])
    residuals = np.linalg.norm(products - U[:, kept] * values[kept], axis=0)
    return PrincipalAxes(
        mean, directions[kept], values[kept], residuals, rows.total_weight, float(values.sum()), "svd", 1
    )


def offset_rounding(directions: np.ndarray, mean: np.ndarray, weight: float) -> np.ndarray:
    """Return the norm (r,) along each direction that rounding of values around ``mean`` accounts for."""
    return 4 * _EPS * np.sqrt(weight * (np.square(directions) @ np.square(mean)))


def _with_empty_axes(axes: PrincipalAxes, count: int) -> PrincipalAxes:
    """Add orthonormal directions without variance; warn that the coordinates along them are zero."""
    rank = len(axes.eigenvalues)
    warn(
        f"n_components={count}, but the data have only rank {rank} around their mean; the last {count - rank}"
        " coordinates are zero",
        DegenerateSpectrumWarning,
    )
    directions = axes.directions
    for _ in range(count - rank):
        direction = np.zeros(directions.shape[1])
        direction[np.argmin(np.square(directions).sum(axis=0))] = 1.0  # the farthest from their span
        for _ in range(2):
            direction -= (directions @ direction) @ directions
        directions = np.vstack([directions, direction / np.linalg.norm(direction)])
    nothing = np.zeros(count - rank)
    return replace(
        axes,
        directions=directions,
        eigenvalues=np.concatenate([axes.eigenvalues, nothing]),
        residuals=np.concatenate([axes.residuals, nothing]),
    )


def select_components(axes: PrincipalAxes, n_components: NComponents) -> PrincipalAxes:
    """Return the axes selected by ``n_components``, with axes of no variance if there are fewer than that."""
    rank = len(axes.eigenvalues)
    if rank == 0:
        raise RankError(_NO_VARIANCE)
    if n_components is None:
        return axes
    if isinstance(n_components, int):
        if rank < n_components:
            return _with_empty_axes(axes, n_components)
        count = n_components
    elif isinstance(n_components, str):
        variances = np.zeros(axes.directions.shape[1])
        variances[:rank] = axes.eigenvalues / (axes.weight - 1)
        count = min(rank, count_by_evidence(variances, axes.weight))
    else:
        count = count_for_ratio(axes.eigenvalues, n_components)
    return replace(
        axes,
        directions=axes.directions[:count],
        eigenvalues=axes.eigenvalues[:count],
        residuals=axes.residuals[:count],
    )


def _gram_residuals(pairs: EigenPairs) -> np.ndarray:
    """Bound ``|K v - l v|`` for ``v = X u / sqrt(l)`` with ``u`` an eigenvector of the scatter matrix."""
    return pairs.residuals * np.sqrt(pairs.values[:1] / pairs.values)


def _numerical_rank(values: np.ndarray, size: int) -> int:
    """Return the number of eigenvalues that exceed the rounding error of their matrix."""
    return int(np.sum(values > 10 * _EPS * size**0.5 * max(float(values[0]), np.finfo(np.float64).tiny)))


def _rank_bound(rows: CenteredRows) -> int:
    """Return the largest possible rank of centred rows; rows of weight zero are not counted."""
    n, d = rows.shape
    return min(n - 1 if rows.weights is None else int(np.count_nonzero(rows.weights)) - 1, d)


def centered_linear_kernel(rows: CenteredRows) -> BoundKernel:
    """Return ``<x - mu, x_i - mu>``, the kernel for which kernel PCA is PCA (Bengio eq. 5)."""
    linear = Linear(around_mean=True).bind(rows.X)
    origin = np.zeros(rows.shape[1]) if sparse.issparse(rows.X) else rows.X.mean(axis=0, dtype=np.float64)
    weights = None if rows.weights is None else rows.weights / rows.total_weight
    return center(linear, ScatterOperator(CenteredRows(rows.X, origin), "samples"), weights)


def reconstruction_error(axes: PrincipalAxes, X: Any) -> float:
    """Compute ``1/n sum |x - x~|^2`` with ``x~`` the projection of ``x`` (Burges eq. 1.4)."""
    errors = (_project_out(axes, block) for _, block in CenteredRows(X, axes.mean).blocks())
    return sum(float(np.einsum("ij,ij->", error, error)) for error in errors) / X.shape[0]


def entropy(variances: np.ndarray) -> float:
    """Compute the entropy in bits of a Gaussian (Burges eq. 1.6, corrected to ``(2 pi e)^d'``)."""
    with np.errstate(divide="ignore"):  # -inf if a variance is zero
        return float(0.5 * np.sum(np.log2(2 * math.pi * math.e * variances)))


def training_losses(axes: PrincipalAxes, training: CenteredRows | np.ndarray) -> np.ndarray:
    """Compute the loss on the training samples with the first ``N = 1, ..., r`` axes (Bengio sec. 4).

    The kernel is ``<x - mu, y - mu>``, the mean is over all pairs of training samples, both weighted. With
    ``R`` the projection onto the complement of the axes and ``S`` the scatter matrix, the sum of the squares
    over all pairs is ``|R S R|^2``: where ``S`` is the smaller matrix, no pair is formed. ``training`` is
    ``S`` itself if the training samples are not stored. Axes left out add the squares of their eigenvalues.
    """
    if isinstance(training, CenteredRows) and training.shape[1] <= min(training.shape[0], TUNING.dense_size):
        training = training.scatter()
    if isinstance(training, CenteredRows):
        errors = (_project_out(axes, block) for _, block in training.blocks())
        rest = sum(float(np.square(training.times(error.T)).sum()) for error in errors)
    else:
        rest = float(np.square(_project_out(axes, _project_out(axes, training).T)).sum())
    left_out = np.append(np.cumsum(np.square(axes.eigenvalues)[::-1])[::-1][1:], 0.0)
    return (rest + left_out) / axes.weight**2


def has_pair_moments(axes: PrincipalAxes) -> bool:
    """Return whether the held-out loss is computed from sums over rows: a matrix (d, d) of them."""
    return axes.directions.shape[1] <= TUNING.dense_size


def pair_moments(axes: PrincipalAxes, points: CenteredRows) -> PairMoments:
    """Return the sums over rows from which their loss follows."""

    def moments(block: np.ndarray) -> PairMoments:
        c = block @ axes.directions.T
        return PairMoments.of(c, block - c @ axes.directions)

    return add_moments(moments(block) for _, block in points.blocks())


def pair_squares(axes: PrincipalAxes, points: CenteredRows, others: CenteredRows, same: bool) -> np.ndarray:
    """Return the sums of the squared errors over pairs of rows with the first ``N = 1, ..., r`` axes.

    If ``same``, the two are the same rows, and pairs of a row with itself are left out.
    """
    right, counts = others.times(axes.directions.T), np.arange(1, len(axes.eigenvalues) + 1)
    total = np.zeros(len(counts))
    for rows in _memory.row_blocks(points.shape[0], 8 * (points.shape[1] + 3 * len(right))):
        block = CenteredRows(points.X[rows], points.mean)
        values = others.times(np.concatenate([one for _, one in block.blocks()]).T).T  # (b, n)
        left = block.times(axes.directions.T)
        total += squares_of_expansion(values, left, right, counts, rows.start if same else None)
    return total


def held_out_losses(axes: PrincipalAxes, points: CenteredRows) -> np.ndarray:
    """Compute the loss on new rows with the first ``N = 1, ..., r`` axes (Bengio sec. 4).

    The mean is over all pairs of two different new rows.
    """
    if has_pair_moments(axes):
        return pair_moments(axes, points).mean_squares()[1:]
    return pair_squares(axes, points, points, same=True) / n_pairs(points.shape[0])


def _project_out(axes: PrincipalAxes, block: np.ndarray) -> np.ndarray:
    """Return the component of centred rows orthogonal to the axes."""
    return block - (block @ axes.directions.T) @ axes.directions
