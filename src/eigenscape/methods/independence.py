"""Which eigenvectors say something new: local linear regression on those before (Dsilva et al. 2018, sec.
3)."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

from eigenscape._memory import row_blocks
from eigenscape._progress import stage
from eigenscape.eigenfunctions import Eigenfunctions, Embedding
from eigenscape.exceptions import DependentCoordinatesWarning

#: Widths of the regression as fractions of the median distance. Dsilva et al. take a third; high harmonics
#: need less. Every prediction leaves its own point out, so the best width is not the narrowest one.
WIDTHS = (1 / 3, 1 / 6, 1 / 12, 1 / 24, 1 / 48, 1 / 96, 1 / 192)
#: Points whose value is predicted: at most so many, evenly spaced, each from all the others.
_PREDICTED = 1000
#: Points that an eigenvector needs before it can be told from noise: the r-th swings about r times.
_POINTS = 15
#: Ridge of the local regressions, relative to the weight in each.
_RIDGE = 1e-10


@dataclass(frozen=True)
class Independence:
    """How much of an eigenvector those kept before must leave unexplained, and how many are looked at.

    ``kept`` and ``residuals`` get an array for each piece that is embedded, in turn.
    """

    threshold: float
    most: int | None  # candidates; None for 20 times as many as wanted, fewer for few points
    kept: list[np.ndarray] = field(default_factory=list)
    residuals: list[np.ndarray] = field(default_factory=list)

    def choose(self, embed: Callable[[int], Embedding], n_components: int, n_points: int) -> Embedding:
        """The first ``n_components`` coordinates that are no functions of earlier ones, of an embedding with
        as many as it takes.

        ``embed`` makes one with a given number of coordinates. Candidates are doubled until enough are found.
        """
        most = min(
            self.most or min(20 * n_components, max(2 * n_components, n_points // _POINTS)), n_points - 1
        )
        count = min(max(8, 4 * n_components), most)
        while True:
            model = embed(count)
            kept, residuals = independent(model.coordinates, n_components, self.threshold)
            if len(kept) == n_components or count >= most or len(model.eigenvalues) < count:
                break
            count = min(2 * count, most)
        if len(kept) < n_components:
            warnings.warn(
                f"only {len(kept)} of {len(residuals)} eigenvectors are independent of those before them, fewer than"
                f" n_components={n_components}; the map has no more coordinates. Raise n_candidates, lower independence_threshold or lower"
                " n_components",
                DependentCoordinatesWarning,
                stacklevel=2,
            )
        self.kept.append(kept)
        self.residuals.append(residuals)
        functions = model.eigenfunctions
        assert isinstance(functions, Eigenfunctions)
        which = np.concatenate([np.arange(model.trivial), model.trivial + kept])
        return replace(model, eigenfunctions=replace(functions, pairs=functions.pairs.take(which)))


def independent(coordinates: np.ndarray, n_wanted: int, threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the columns that are no functions of earlier kept ones, up to ``n_wanted``; and the residual
    of each column tried."""
    size = np.sqrt(np.mean(np.square(coordinates), axis=0))
    values = np.divide(coordinates, size, out=np.zeros_like(coordinates), where=size > 0)
    kept, residuals = [0], [1.0]
    for r in range(1, values.shape[1]):
        if len(kept) == n_wanted:
            break
        residuals.append(regression_residual(values[:, kept], values[:, r]))
        if residuals[-1] >= threshold:
            kept.append(r)
    return np.array(kept, dtype=np.intp), np.array(residuals)


def regression_residual(known: np.ndarray, target: np.ndarray) -> float:
    """The share ``r`` of ``target`` (n,) that a smooth function of the columns ``known`` (n, d) does not
    explain.

    ``r^2 = sum_i (y_i - a_i - b_i' x_i)^2 / sum_i y_i^2``, where ``a_i`` and ``b_i`` minimise
    ``sum_{j != i} exp(-|x_i - x_j|^2 / width^2) (y_j - a_i - b_i' x_j)^2`` (Dsilva et al. 2018, eq. 12, 13),
    at the best of several widths."""
    n = len(target)
    tried = np.unique(np.linspace(0, n - 1, min(n, _PREDICTED)).astype(np.intp))
    distances = np.sqrt(_squares(known[tried], known[tried]))
    median = float(np.median(distances[np.triu_indices(len(tried), 1)])) or 1.0
    errors = np.zeros(len(WIDTHS))
    with stage("independence", total=len(tried)) as advance:
        for rows in row_blocks(len(tried), 32 * n):
            some = tried[rows]
            squares = _squares(known[some], known)
            squares[np.arange(len(some)), some] = np.inf  # no point explains itself
            squares -= squares.min(
                axis=1, keepdims=True
            )  # the nearest has weight one, so that no sum of weights vanishes
            for place, fraction in enumerate(WIDTHS):
                weights = np.exp(-squares / (fraction * median) ** 2)
                errors[place] += np.square(
                    target[some] - _local_fits(weights, known, known[some], target)
                ).sum()
            advance(len(some))
    return float(np.sqrt(errors.min() / np.square(target[tried]).sum())) if target.any() else 0.0


def _squares(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Squared distances (a, b) of points with few coordinates, each difference taken by itself."""
    total = np.zeros((len(A), len(B)))
    for a, b in zip(A.T, B.T, strict=True):
        total += np.square(a[:, None] - b)
    return total


def _local_fits(weights: np.ndarray, x: np.ndarray, at: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Values (b,) at the points ``at`` of straight lines fitted with ``weights`` (b, n): all sums in one
    product."""
    d = x.shape[1]
    first, second = np.triu_indices(d)
    terms = np.column_stack([np.ones(len(y)), x, x[:, first] * x[:, second], y, x * y[:, None]])
    sums = weights @ terms
    sums /= sums[:, :1]
    mean, squares, level, products = np.split(sums[:, 1:], np.cumsum([d, len(first), 1]), axis=1)
    covariance = np.empty((len(at), d, d))
    covariance[:, first, second] = covariance[:, second, first] = squares
    covariance -= mean[:, :, None] * mean[:, None, :]
    covariance[:, np.arange(d), np.arange(d)] += _RIDGE
    slope = np.linalg.solve(covariance, (products - mean * level)[:, :, None])[:, :, 0]
    return level[:, 0] + np.einsum("bi,bi->b", slope, at - mean)
