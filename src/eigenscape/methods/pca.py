"""Principal components (Burges sec. 1.1): the linear kernel, solved on whichever side is smaller (Burges sec.
3)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg, sparse

from eigenscape import _memory
from eigenscape._progress import stage
from eigenscape.exceptions import RankError
from eigenscape.kernels import BoundKernel, Linear
from eigenscape.methods.dimension import dimension_for_share, evidence_dimension
from eigenscape.methods.moments import Moments
from eigenscape.normalize import center
from eigenscape.operators import CenteredRows, DenseOperator, Operator, ScatterOperator
from eigenscape.operators.centered_rows import SMALL_OFFSET
from eigenscape.solvers import EigenPairs, SolverConfig, principal
from eigenscape.solvers.pairs import canonical_signs

#: Up to this many rows or columns forming the smaller matrix is as fast as iterating.
FORMED = 2000
#: Above this many it would take longer than any number of iterations.
NEVER_FORMED = 8000
#: Below this share of the largest eigenvalue a scatter matrix has lost the digits of a direction; the rows
#: themselves have not.
_LOST = 1e-6

_EPS = np.finfo(np.float64).eps
_NO_SPREAD = "all rows are equal up to rounding; there is nothing to embed"

#: A number, a share of the variance, "mle", or None for all.
Wish = int | float | str | None


@dataclass(frozen=True, eq=False)
class PrincipalAxes:
    """Directions (q, d) around a mean, the eigenvalues ``l_r`` of the Gram matrix that belong to them, and
    how they were found.

    ``weight`` is the number of samples (the sum of their weights), ``trace`` the sum of all eigenvalues.
    """

    mean: np.ndarray
    directions: np.ndarray
    eigenvalues: np.ndarray
    residuals: np.ndarray
    weight: float
    trace: float
    solver: str
    n_iter: int

    @property
    def discarded(self) -> float:
        """The sum of the eigenvalues left out; rounding may not make it negative."""
        return max(self.trace - float(self.eigenvalues.sum()), 0.0)

    def project(self, X: Any) -> np.ndarray:
        """``<e_r, x - mu>`` (n, q): for the linear kernel the Nystrom formula is this."""
        if X.dtype == np.float64 and self.mean @ self.mean <= SMALL_OFFSET * self.trace / self.weight:
            coordinates = X @ np.ascontiguousarray(self.directions.T)
            coordinates -= self.directions @ self.mean
            return coordinates
        return CenteredRows(X, self.mean).times(self.directions.T)

    def flipped(self, signs: np.ndarray) -> PrincipalAxes:
        """With some directions reversed."""
        return replace(self, directions=self.directions * signs[:, None])


def pca(rows: CenteredRows, wish: Wish, solver: SolverConfig) -> tuple[PrincipalAxes, np.ndarray]:
    """Leading axes and the training points' coordinates (n, q) on them."""
    axes = restricted(leading_axes(rows, wish if isinstance(wish, int) else min(rows.shape), solver), wish)
    coordinates = axes.project(rows.X)
    standing = (
        coordinates if rows.weights is None else coordinates[rows.weights > 0]
    )  # a row of weight zero is not there
    signs = _signs(standing)
    coordinates *= signs
    return axes.flipped(signs), coordinates


def leading_axes(rows: CenteredRows, count: int, solver: SolverConfig) -> PrincipalAxes:
    """Up to ``count`` axes, as many as stand above rounding, from the smaller of scatter and Gram matrix
    (Burges sec. 3)."""
    n, d = rows.shape
    operator = ScatterOperator(rows, "features" if d <= n else "samples")
    pairs, trace = _leading(operator, count, solver)
    lost = pairs.values[-1] < _LOST * pairs.values[0]
    if lost and not sparse.issparse(rows.X) and pairs.solver == "dense":
        return _by_singular_values(rows, count)
    pairs = pairs.take(slice(min(usable_count(pairs.values, max(n, d)), rank_bound(rows))))
    residuals = pairs.residuals
    if operator.side == "features":
        directions = pairs.vectors.T
        residuals = residuals * np.sqrt(
            pairs.values[:1] / pairs.values
        )  # |K v - l v| for v = X u / sqrt(l) is at most this
    else:
        directions = (rows.transposed_times(pairs.vectors) / np.sqrt(pairs.values)).T
    return PrincipalAxes(
        rows.mean, directions, pairs.values, residuals, rows.total_weight, trace, pairs.solver, pairs.n_iter
    )


def pca_of_scatter(
    scatter: np.ndarray, mean: np.ndarray, weight: float, n_rows: int, wish: Wish, solver: SolverConfig
) -> PrincipalAxes:
    """The axes asked for of a scatter matrix (d, d) gathered over chunks."""
    if (np.sqrt(np.diag(scatter)) <= offset_rounding(np.eye(len(mean)), mean, weight)).all():
        raise RankError(_NO_SPREAD)
    count = wish if isinstance(wish, int) else len(scatter)
    return restricted(axes_of_scatter(Moments(mean, scatter, weight, n_rows), count, solver), wish)


def axes_of_scatter(total: Moments, count: int, solver: SolverConfig) -> PrincipalAxes:
    """Up to ``count`` axes, as many as stand above rounding; each direction's largest entry is positive."""
    scatter, d = total.scatter, len(total.mean)
    pairs, trace = _leading(DenseOperator(scatter), count, solver)
    usable = pairs.take(slice(min(usable_count(pairs.values, d), total.n_rows - 1)))
    directions = canonical_signs(usable.vectors).T
    gram_residuals = usable.residuals * np.sqrt(usable.values[:1] / usable.values)
    return PrincipalAxes(
        total.mean,
        directions,
        usable.values,
        gram_residuals,
        total.weight,
        trace,
        usable.solver,
        usable.n_iter,
    )


def axes_so_far(total: Moments, wish: Wish, solver: SolverConfig) -> PrincipalAxes | None:
    """Leading axes of the rows seen so far; None while these do not determine them, or weigh too little to
    have a variance."""
    if (
        total.weight <= 1
        or total.n_rows <= (wish if isinstance(wish, int) else 1)
        or np.trace(total.scatter) == 0
    ):
        return None
    try:
        return pca_of_scatter(total.scatter, total.mean, total.weight, total.n_rows, wish, solver)
    except RankError:
        return None  # further rows may vary in other directions


def _leading(operator: Operator, count: int, solver: SolverConfig) -> tuple[EigenPairs, float]:
    """Leading pairs of the smaller matrix, and its trace. It is formed where that is cheap or most of the
    spectrum is wanted."""
    m = operator.shape[0]
    if solver.method == "dense" or (solver.method == "auto" and (m <= FORMED or 5 * count > m)):
        _memory.require(3 * 8.0 * m * m, f"a matrix of {m} x {m}", "ask for fewer components")
        with stage("covariance"):
            operator = DenseOperator(np.asarray(operator.matrix()))
        solver = replace(solver, name="dense")
        return principal(operator, count, "value", solver), float(np.trace(operator.array))
    if solver.method == "auto" and m > NEVER_FORMED:
        solver = replace(solver, name="lanczos")
    return principal(operator, min(count, m), "value", solver), float(operator.diagonal().sum())


def _by_singular_values(rows: CenteredRows, count: int) -> PrincipalAxes:
    """The singular value decomposition of the rows: directions that a squared matrix would lose."""
    n, d = rows.shape
    _memory.require(
        3 * 8.0 * n * d, f"a singular value decomposition of {n} x {d} numbers", "ask for fewer components"
    )
    centred = np.concatenate([block for _, block in rows.blocks()])
    roots_of_weights = np.ones(n) if rows.weights is None else np.sqrt(rows.weights)
    rest = roots_of_weights @ centred / rows.total_weight  # what rounding left of an offset
    centred -= np.outer(roots_of_weights, rest)
    mean = rows.mean + rest
    with stage("singular values"):
        U, roots, directions = linalg.svd(centred, full_matrices=False, check_finite=False)
    real = roots > np.maximum(
        4 * _EPS * max(n, d) ** 0.5 * roots[0],
        offset_rounding(directions, mean, rows.total_weight * max(1.0, d / n)),
    )
    kept = np.flatnonzero(real)[: min(rank_bound(rows), count)]
    products = centred @ (centred.T @ U[:, kept])
    residuals = np.linalg.norm(products - U[:, kept] * np.square(roots[kept]), axis=0)
    values = np.square(roots)
    return PrincipalAxes(
        mean, directions[kept], values[kept], residuals, rows.total_weight, float(values.sum()), "svd", 1
    )


def offset_rounding(directions: np.ndarray, mean: np.ndarray, weight: float) -> np.ndarray:
    """The length that rounding of values around ``mean`` gives rows of this total weight along each direction
    (r,)."""
    return 4 * _EPS * np.sqrt(weight * (np.square(directions) @ np.square(mean)))


def restricted(axes: PrincipalAxes, wish: Wish) -> PrincipalAxes:
    """The axes that were asked for; fewer than a number asked for are an error."""
    found = len(axes.eigenvalues)
    if found == 0:
        raise RankError(_NO_SPREAD)
    if wish is None:
        return axes
    if isinstance(wish, int):
        if found < wish:
            raise RankError(
                f"n_components={wish}, but the data have only rank {found} around their mean; lower n_components"
            )
        count = wish
    elif wish == "mle":
        count = min(found, evidence_dimension(_all_variances(axes), axes.weight))
    else:
        assert isinstance(wish, float)
        count = dimension_for_share(axes.eigenvalues, wish)
    kept = slice(count)
    return replace(
        axes,
        directions=axes.directions[kept],
        eigenvalues=axes.eigenvalues[kept],
        residuals=axes.residuals[kept],
    )


def _all_variances(axes: PrincipalAxes) -> np.ndarray:
    """Eigenvalues of the covariance, with zeros for directions without variance."""
    values = np.zeros(axes.directions.shape[1])
    values[: len(axes.eigenvalues)] = axes.eigenvalues / (axes.weight - 1)
    return values


def usable_count(values: np.ndarray, size: int) -> int:
    """How many eigenvalues stand above the rounding of the matrix they are from."""
    return int(np.sum(values > 10 * _EPS * size**0.5 * max(float(values[0]), np.finfo(np.float64).tiny)))


def rank_bound(rows: CenteredRows) -> int:
    """Centred rows have at most this rank; rows without weight do not count."""
    n, d = rows.shape
    return min(n - 1 if rows.weights is None else int(np.count_nonzero(rows.weights)) - 1, d)


def _signs(coordinates: np.ndarray) -> np.ndarray:
    """The sign for each column that makes its largest entry positive; looks twice only where two are equally
    large."""
    columns = np.ascontiguousarray(
        coordinates.T
    )  # numpy's maxima of long, thin arrays are slow along the long axis
    most, least = columns.max(axis=1), -columns.min(axis=1)
    signs = np.where(least > most, -1.0, 1.0)
    tied = np.abs(most - least) <= 1e-6 * np.maximum(most, least)
    if tied.any():
        signs[tied] = np.where(
            (canonical_signs(coordinates[:, tied]) == coordinates[:, tied]).all(axis=0), 1.0, -1.0
        )
    return signs


def centered_linear_kernel(rows: CenteredRows) -> BoundKernel:
    """``<x - mu, x_i - mu>``, the kernel that PCA is the kernel PCA of (Bengio eq. 5), with the mean that the
    rows are around."""
    linear = Linear(around_mean=True).bind(rows.X)
    origin = np.zeros(rows.shape[1]) if sparse.issparse(rows.X) else rows.X.mean(axis=0, dtype=np.float64)
    weights = None if rows.weights is None else rows.weights / rows.total_weight
    return center(linear, ScatterOperator(CenteredRows(rows.X, origin), "samples"), weights)


# --- what the axes lose -------------------------------------------------------------------------------------


def reconstruction_error(axes: PrincipalAxes, X: Any) -> float:
    """``1/n sum |x - x~|^2`` with ``x~`` the projection of ``x`` (Burges eq. 1.4)."""
    rests = (off_axes(axes, block) for _, block in CenteredRows(X, axes.mean).blocks())
    return sum(float(np.einsum("ij,ij->", rest, rest)) for rest in rests) / X.shape[0]


def entropy(variances: np.ndarray) -> float:
    """Differential entropy in bits of a Gaussian with these variances (Burges eq. 1.6; its first term should
    read ``(2 pi e)^d'``)."""
    return float(0.5 * np.sum(np.log2(2 * math.pi * math.e * variances)))


def linear_loss(axes: PrincipalAxes, training: CenteredRows | np.ndarray, points: CenteredRows) -> float:
    """Mean squared error of the kernel against its expansion (Bengio sec. 4), over the pairs of a point and a
    training point.

    The kernel is ``<x - mu, x_i - mu>``. With ``R`` the projection off the axes and ``S`` the scatter matrix
    of the training points the sum over them is ``x' R S R x``: where ``S`` is the smaller matrix no pair is
    looked at. ``training`` is ``S`` itself where the points are not kept. Both sides are weighted."""
    if isinstance(training, CenteredRows) and training.shape[1] <= min(training.shape[0], FORMED):
        training = training.scatter()
    total = 0.0
    for _, block in points.blocks():
        rest = off_axes(axes, block)
        if isinstance(training, CenteredRows):
            total += float(np.square(training.times(rest.T)).sum())
        else:
            total += float(np.einsum("ij,ij->", rest @ training, rest))
    return total / (points.total_weight * axes.weight)


def scatter_loss(axes: PrincipalAxes, scatter: np.ndarray) -> float:
    """The loss on the training set where only its scatter matrix is there: the squares of the discarded
    eigenvalues."""
    rest = scatter - (axes.directions.T * axes.eigenvalues) @ axes.directions
    return float(np.square(rest).sum()) / axes.weight**2


def off_axes(axes: PrincipalAxes, block: np.ndarray) -> np.ndarray:
    """What the axes do not reach of centred rows."""
    return block - (block @ axes.directions.T) @ axes.directions
