"""Stability of an embedding under changes of the training set (Bengio sec. 5.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags

from eigenscape._numbers import checked_sparse
from eigenscape._parameters import check_count, check_random_state
from eigenscape._progress import reporting, stage
from eigenscape._threads import parallel_map
from eigenscape.kernels.base import n_points
from eigenscape.quality.alignment import linear_alignment
from eigenscape.quality.intervals import Estimate, interval_estimate, mean_estimate


@dataclass(frozen=True, eq=False)
class Stability:
    """Result of :func:`perturbation_stability`.

    Attributes
    ----------
    fractions : ndarray of shape (n_fractions,)
        Fractions of the points that were exchanged, ``|R1| / m``.
    delta : tuple of Estimate
        For each fraction, the mean perturbation error minus the pooled induction error, with its 95 %
        interval. If it is negative, placing a new point by the Nyström formula has a larger error than
        exchanging that fraction of the training points.
    perturbation : tuple of Estimate
        For each fraction, the mean distance of step 1 over all common points and all splits, in the units of
        the embedding. The interval is computed from the means of the splits: infinite for a single split.
    induction : tuple of Estimate
        For each fraction, the mean distance of step 2 over the points left out in its splits.
    pooled_induction : Estimate
        Mean distance of step 2 over the points left out in all splits of all fractions, which is subtracted
        in ``delta``.
    per_point : ndarray of shape (n_samples,)
        Movement of each point when training points are exchanged: root mean square over the splits that
        keep the point, relative to the spread of the embedding, averaged over the fractions. 0: no movement;
        1: as large as the spread of the embedding. NaN for a point that no split keeps.
    by_split : ndarray of shape (n_fractions, n_repeats)
        Mean perturbation error of each split minus the pooled induction error; their mean is ``delta``.
    movement_by_split : ndarray of shape (n_fractions, n_repeats)
        Root mean square movement of all points of each split, relative to the spread.
    spread : float
        Root mean square distance of the points from their mean, averaged over the embeddings: the unit of
        ``per_point``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import PCA
    >>> from eigenscape.quality import perturbation_stability
    >>> X = load_iris().data
    >>> stability = perturbation_stability(PCA(n_components=2), X, fraction=[0.1], n_repeats=3)
    >>> stability.movement_by_split.shape, bool(stability.per_point.max() < 0.5)
    ((1, 3), True)
    """

    fractions: np.ndarray
    delta: tuple[Estimate, ...]
    perturbation: tuple[Estimate, ...]
    induction: tuple[Estimate, ...]
    pooled_induction: Estimate
    per_point: np.ndarray
    by_split: np.ndarray
    movement_by_split: np.ndarray
    spread: float

    @property
    def crossing(self) -> float:
        """Fraction exchanged at which the perturbation error equals the induction error.

        The zero of the increasing function of the fraction that is nearest to ``delta`` in least squares,
        interpolated between the fractions: Bengio sec. 5.3 expects ``delta`` to increase, and to be above
        zero where the error of new points is the smaller one.

        - 0 if this function is positive at every fraction: the error of new points is smaller than the effect
          of the smallest exchange tried.
        - infinity if it is negative at every fraction: the error of new points is larger than the effect of
          the largest exchange tried.
        - NaN if the induction error was not measured (``n_left_out=0``).
        """
        return zero_crossing(self.fractions, np.array([estimate.value for estimate in self.delta]))

    @property
    def crossing_interval(self) -> tuple[float, float]:
        """Crossings of the upper and of the lower ends of the intervals of ``delta``, as in :attr:`crossing`.

        0 to infinity for a single split, whose intervals are infinite.
        """
        ends = np.array([(estimate.high, estimate.low) for estimate in self.delta])
        low, high = (zero_crossing(self.fractions, end) for end in ends.T)
        return low, high

    def __repr__(self) -> str:
        parts = ", ".join(
            f"{f:.3g}: {d.value:.3g} ({d.low:.3g} to {d.high:.3g})"
            for f, d in zip(self.fractions, self.delta, strict=True)
        )
        median = np.nanmedian(self.per_point)
        return f"Stability(delta by fraction {{{parts}}}, median movement {median:.3g} of the spread)"


def zero_crossing(fractions: np.ndarray, values: np.ndarray) -> float:
    """Return the zero of the isotonic regression of ``values``, the nearest increasing values.

    0 if it is positive everywhere, infinity if it is negative everywhere, NaN if a value is NaN. The zero
    is interpolated between the fractions; of an interval of zeros it is the smallest.
    """
    if np.isnan(values).any():
        return float("nan")
    if np.isinf(values).any():  # the ends of unknown intervals: all have the same sign
        return 0.0 if values[0] > 0 else float("inf")
    order = np.argsort(fractions, kind="stable")
    rising, fractions = isotonic_regression(values[order]).x, fractions[order]
    if rising[0] > 0:
        return 0.0
    reached = np.flatnonzero(rising >= 0)
    if not len(reached):
        return float("inf")
    i = int(reached[0])
    if rising[i] == 0:
        return float(fractions[i])
    return float(np.interp(0.0, rising[i - 1 : i + 1], fractions[i - 1 : i + 1]))


class _Split(NamedTuple):
    """One split of the points into F, R1 and R2."""

    fixed: np.ndarray  # F
    before: np.ndarray  # R1
    after: np.ndarray  # R2
    left_out: np.ndarray  # positions in F of the points left out in step 2


class _Perturbed(NamedTuple):
    """Step 1 of one split."""

    distance: np.ndarray  # (|F|,)
    embedding: np.ndarray  # of F + R1
    spread: float


def perturbation_stability(
    estimator: BaseEstimator,
    X: Any,
    *,
    fraction: float | Sequence[float] | np.ndarray = 0.05,
    n_repeats: int = 5,
    n_left_out: int | None = 30,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> Stability:
    """Compare the effect of exchanging training points with the error of out-of-sample placement.

    The experiment of Bengio sec. 5.3. The ``m`` points are split into F, R1 and R2, with R1 and R2 of equal
    size.

    1. *Perturbation*: fit on F + R1 and on F + R2, align the second embedding to the first by linear
       regression on F, and measure the distance between the two positions of each point of F.
    2. *Induction*: fit on F + R1 without one point of F, place this point by ``transform``, and measure its
       distance from its position in the embedding of F + R1. Only the signs of the coordinates are aligned.
    3. ``delta`` is the mean perturbation error minus the mean induction error.

    The perturbation error is averaged over all points of F and all splits. The induction error hardly depends
    on the fraction, and few points may have most of it: it is averaged over the points left out in the splits
    of all fractions.

    Parameters
    ----------
    estimator : estimator object
        An estimator with ``fit`` and, unless ``n_left_out=0``, ``transform``. It is cloned for each fit. The
        embedding is its ``embedding_``, or ``transform`` of the training points if it has none.
    X : array-like or sparse array of shape (n_samples, n_features)
        The data, or a matrix (n_samples, n_samples) if the estimator expects one
        (``metric="precomputed"``).
    fraction : float or sequence of float, default=0.05
        ``|R1| / m``, between 0 and 0.5. A sequence gives a curve.
    n_repeats : int, default=5
        Number of splits for each fraction; the intervals need at least 2. R1 and R2 of different splits are
        disjoint while there are enough points, so with two splits and fractions of at most 0.25 every point
        is kept by one of them.
    n_left_out : int or None, default=30
        Number of points of F left out in step 2 of each split, with one fit each. If None, all points, as in
        the paper. If 0, step 2 is skipped and ``delta`` is NaN.
    random_state : int or None, default=0
        Seed of the splits.
    n_jobs : int or None, default=None
        Number of threads. Each computes one fit at a time. None for all cores.

    Returns
    -------
    Stability
        The errors by fraction and the movement of each point.

    Notes
    -----
    The points of a split share their training sets, so the variance of the perturbation error is computed
    from the means of the splits. The variance of the induction error is computed over points, where
    the values of a point that was left out several times count as one. The interval of ``delta`` is Student's
    for the sum of the two variances, with the degrees of freedom of Welch and Satterthwaite. ``delta`` of
    different fractions share the induction error.

    Examples
    --------
    >>> from sklearn.datasets import make_swiss_roll
    >>> from eigenscape import LocallyLinearEmbedding
    >>> from eigenscape.quality import perturbation_stability
    >>> X, _ = make_swiss_roll(200, random_state=0)
    >>> result = perturbation_stability(
    ...     LocallyLinearEmbedding(), X, fraction=[0.01, 0.1], n_repeats=2, n_left_out=5
    ... )
    >>> len(result.delta), result.per_point.shape
    (2, (200,))
    """
    n = n_points(checked_sparse(X))
    fractions = _check_fractions(fraction, n)
    _check_counts(estimator, n_repeats, n_left_out)
    check_random_state(random_state)
    pairwise = bool(get_tags(estimator).input_tags.pairwise)
    splits = [
        list(_splits(n, size, n_repeats, n_left_out, (random_state, i)))
        for i, size in enumerate(np.rint(fractions * n).astype(int))
    ]
    flat = [split for family in splits for split in family]
    total = sum(len(split.left_out) + 2 for split in flat)
    verbose = bool(getattr(estimator, "verbose", False))
    model = quiet_clone(estimator)

    def induction_error(place: tuple[int, int]) -> float:
        i, position = place
        return _induction_error(model, X, pairwise, _training(flat[i])[0], position, perturbed[i].embedding)

    with reporting(verbose), stage("perturbations", total=total) as advance:
        fits = parallel_map(lambda split: _perturbation(model, X, pairwise, split), flat, n_jobs)
        perturbed = list(_counted(fits, advance, 2))
        left_out = [(i, position) for i, split in enumerate(flat) for position in split.left_out]
        errors = parallel_map(induction_error, left_out, n_jobs)
        distances = np.array(list(_counted(errors, advance, 1)), dtype=np.float64)
    return _summarize(fractions, splits, perturbed, distances, n)


def _counted(results: Iterator[Any], advance: Callable[[int], None], count: int) -> Iterator[Any]:
    """Yield the results, and report ``count`` fits for each."""
    for result in results:
        advance(count)
        yield result


def _check_fractions(fraction: float | Sequence[float] | np.ndarray, n: int) -> np.ndarray:
    fractions = np.atleast_1d(np.asarray(fraction, dtype=np.float64))
    if fractions.ndim != 1 or not len(fractions) or not ((fractions > 0) & (fractions < 0.5)).all():
        raise ValueError(f"fraction={fraction!r} must lie between 0 and 0.5, for two disjoint sets")
    if np.rint(fractions * n).min() < 1 or n - 2 * np.rint(fractions * n).max() < 3:
        raise ValueError(
            f"fraction={fraction!r} of {n} samples leaves none to exchange or fewer than 3 to compare;"
            " choose another fraction"
        )
    return fractions


def _check_counts(estimator: BaseEstimator, n_repeats: int, n_left_out: int | None) -> None:
    check_count("n_repeats", n_repeats, 1)
    if n_left_out is not None:
        check_count("n_left_out", n_left_out, 0)
    if n_left_out != 0 and not callable(getattr(estimator, "transform", None)):
        raise TypeError(
            f"{type(estimator).__name__} has no transform, so points left out cannot be placed;"
            " set n_left_out=0"
        )


def _splits(
    n: int, size: int, n_repeats: int, n_left_out: int | None, seed: tuple[int | None, int]
) -> Iterator[_Split]:
    rng = np.random.default_rng(None if seed[0] is None else [seed[0], seed[1]])
    order = rng.permutation(n)
    for repeat in range(n_repeats):
        # different points in each split, while there are enough
        exchanged = order[(repeat * 2 * size + np.arange(2 * size)) % n]
        fixed = np.setdiff1d(np.arange(n), exchanged)
        count = len(fixed) if n_left_out is None else min(n_left_out, len(fixed))
        left_out = np.sort(rng.choice(len(fixed), count, replace=False))
        yield _Split(fixed, exchanged[:size], exchanged[size:], left_out)


def _training(split: _Split) -> tuple[np.ndarray, np.ndarray]:
    """Return the training sets F + R1 and F + R2."""
    return np.concatenate([split.fixed, split.before]), np.concatenate([split.fixed, split.after])


def _perturbation(estimator: BaseEstimator, X: Any, pairwise: bool, split: _Split) -> _Perturbed:
    """Fit both training sets and compare the positions of the points of F."""
    q = len(split.fixed)
    original, other = (
        _embedding(quiet_clone(estimator).fit(take(X, which, which, pairwise)), X, which, pairwise)
        for which in _training(split)
    )
    aligned = linear_alignment(other[:q], original[:q]).aligned
    spread = float(np.linalg.norm(original - original.mean(axis=0)) / np.sqrt(len(original)))
    return _Perturbed(np.linalg.norm(aligned - original[:q], axis=1), original, spread)


def _induction_error(
    estimator: BaseEstimator, X: Any, pairwise: bool, training: np.ndarray, position: int, full: np.ndarray
) -> float:
    """Return the distance of a training point from its position by ``transform`` when it is left out."""
    rest = np.delete(training, position)
    model = quiet_clone(estimator).fit(take(X, rest, rest, pairwise))
    new = np.asarray(model.transform(take(X, training[[position]], rest, pairwise)))[0]
    signs = np.sum(_embedding(model, X, rest, pairwise) * np.delete(full, position, axis=0), axis=0)
    return float(np.linalg.norm(np.where(signs < 0, -new, new) - full[position]))


def quiet_clone(estimator: BaseEstimator) -> Any:
    """Clone an estimator and switch off its progress messages."""
    copy = clone(estimator)
    return copy.set_params(verbose=False) if "verbose" in copy.get_params(deep=False) else copy


def take(X: Any, rows: np.ndarray, columns: np.ndarray, pairwise: bool) -> Any:
    """Return the given rows, and of a pairwise matrix the given columns."""
    if hasattr(X, "iloc"):
        return X.iloc[rows, columns] if pairwise else X.iloc[rows]
    if not hasattr(X, "shape"):
        return [X[i] for i in rows]
    return X[rows][:, columns] if pairwise else X[rows]


def _embedding(model: BaseEstimator, X: Any, which: np.ndarray, pairwise: bool) -> np.ndarray:
    """Return the coordinates of the training points ``which`` of a fitted model."""
    embedding = getattr(model, "embedding_", None)
    if embedding is None:
        embedding = model.transform(take(X, which, which, pairwise))
    return np.asarray(embedding, dtype=np.float64)


def _summarize(
    fractions: np.ndarray,
    splits: list[list[_Split]],
    perturbed: list[_Perturbed],
    distances: np.ndarray,
    n: int,
) -> Stability:
    """Average the errors over splits and points."""
    shape = len(splits), len(splits[0])
    flat = [split for family in splits for split in family]
    spread = np.array([one.spread for one in perturbed])
    means = np.array([one.distance.mean() for one in perturbed]).reshape(shape)
    squares, counts = np.zeros((shape[0], n)), np.zeros((shape[0], n))
    for i, (split, one) in enumerate(zip(flat, perturbed, strict=True)):
        squares[i // shape[1], split.fixed] += np.square(one.distance / one.spread)
        counts[i // shape[1], split.fixed] += 1
    movement = np.sqrt(np.divide(squares, counts, out=np.full(squares.shape, np.nan), where=counts > 0))
    kept = np.isfinite(movement).any(axis=0)
    per_point = np.full(n, np.nan)
    per_point[kept] = np.nanmean(movement[:, kept], axis=0)
    points = [split.fixed[split.left_out] for split in flat]
    family = np.repeat(np.arange(len(flat)) // shape[1], [len(which) for which in points])
    names = np.concatenate(points)
    pooled, variance = _clustered_mean(distances, names)
    return Stability(
        fractions,
        tuple(_difference(row, pooled, variance, len(np.unique(names))) for row in means),
        tuple(mean_estimate(row) for row in means),
        tuple(_induction(distances[family == i], names[family == i]) for i in range(shape[0])),
        _induction(distances, names),
        per_point,
        means - pooled,
        np.reshape([np.sqrt(np.mean(np.square(one.distance))) for one in perturbed] / spread, shape),
        float(spread.mean()),
    )


def _clustered_mean(values: np.ndarray, names: np.ndarray) -> tuple[float, float]:
    """Return the mean of all values and its variance, where values of equal names are not independent."""
    if len(values) == 0:
        return float("nan"), float("nan")
    mean = float(values.mean())
    _, inverse = np.unique(names, return_inverse=True)
    sums = np.bincount(inverse, values - mean)  # one per name
    g = len(sums)
    return mean, float(g / (g - 1) * np.square(sums).sum() / len(values) ** 2) if g > 1 else np.inf


def _induction(values: np.ndarray, names: np.ndarray) -> Estimate:
    mean, variance = _clustered_mean(values, names)
    return interval_estimate(mean, [(variance, len(np.unique(names)) - 1)])


def _difference(split_means: np.ndarray, induction: float, variance: float, n_left_out: int) -> Estimate:
    """Return the mean of the splits minus the induction error, with the interval of both variances."""
    s = len(split_means)
    between = float(np.var(split_means, ddof=1)) / s if s > 1 else np.inf
    return interval_estimate(
        float(split_means.mean()) - induction, [(between, s - 1), (variance, n_left_out - 1)]
    )
