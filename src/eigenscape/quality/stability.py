"""Stability of an embedding under changes of the training set (Bengio sec. 5.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import get_tags

from eigenscape._progress import reporting, stage
from eigenscape.kernels.base import n_points
from eigenscape.quality._validation import check_integer, check_random_state
from eigenscape.quality.alignment import linear_alignment
from eigenscape.quality.estimate import Estimate, mean_estimate


@dataclass(frozen=True, eq=False)
class Stability:
    """Result of :func:`perturbation_stability`.

    Attributes
    ----------
    fractions : ndarray of shape (n_fractions,)
        Fractions of the points that were exchanged, ``|R1| / m``.
    delta : tuple of Estimate
        For each fraction, the mean difference between perturbation and induction error with its 95 %
        interval. If it is negative, placing a new point by the Nyström formula has a larger error than
        exchanging that fraction of the training points.
    perturbation, induction : tuple of Estimate
        The two errors: mean distances in the units of the embedding.
    per_point : ndarray of shape (n_samples,)
        Movement of each point when training points are exchanged: root mean square over the splits that
        keep the point, relative to the spread of the embedding, averaged over the fractions. 0: no movement;
        1: as large as the spread of the embedding. NaN for a point that no split keeps.
    by_split : ndarray of shape (n_fractions, n_repeats)
        ``delta`` of each split.
    movement_by_split : ndarray of shape (n_fractions, n_repeats)
        Root mean square movement of all points of each split, relative to the spread.
    spread : float
        Root mean square distance of the points from their mean, averaged over the embeddings: the unit of
        ``per_point``.
    """

    fractions: np.ndarray
    delta: tuple[Estimate, ...]
    perturbation: tuple[Estimate, ...]
    induction: tuple[Estimate, ...]
    per_point: np.ndarray
    by_split: np.ndarray
    movement_by_split: np.ndarray
    spread: float

    @property
    def crossing(self) -> float:
        """Fraction at which ``delta`` first changes from negative to positive, or NaN.

        There the induction error equals the perturbation error. Interpolated between the given fractions.
        """
        values = np.array([estimate.value for estimate in self.delta])
        for i in range(1, len(values)):
            if values[i - 1] < 0 <= values[i]:
                share = values[i - 1] / (values[i - 1] - values[i])
                return float(self.fractions[i - 1] + share * (self.fractions[i] - self.fractions[i - 1]))
        return float("nan")

    def __repr__(self) -> str:
        parts = ", ".join(
            f"{f:.3g}: {d.value:.3g} ({d.low:.3g} to {d.high:.3g})"
            for f, d in zip(self.fractions, self.delta, strict=True)
        )
        median = np.nanmedian(self.per_point)
        return f"Stability(delta by fraction {{{parts}}}, median movement {median:.3g} of the spread)"


class _Split(NamedTuple):
    """One split of the points into F, R1 and R2."""

    fixed: np.ndarray  # F
    before: np.ndarray  # R1
    after: np.ndarray  # R2
    left_out: np.ndarray  # positions in F of the points left out in step 2


class _SplitErrors(NamedTuple):
    perturbation: np.ndarray  # (|F|,) distances of step 1
    induction: np.ndarray  # (n_left_out,) distances of step 2
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
        Number of splits for each fraction. R1 and R2 of different splits are disjoint while there are enough
        points, so with two splits and fractions of at most 0.25 every point is kept by one of them.
    n_left_out : int or None, default=30
        Number of points of F left out in step 2 of each split, with one fit each. If None, all points, as in
        the paper. If 0, step 2 is skipped and ``delta`` is NaN.
    random_state : int or None, default=0
        Seed of the splits.
    n_jobs : int or None, default=None
        Number of threads for the fits of step 2.

    Returns
    -------
    Stability
        The errors by fraction and the movement of each point.

    Notes
    -----
    The intervals are Student's over the points, as in the paper. The points of a split share their training
    sets, so ``by_split`` varies more than these intervals suggest.

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
    n = n_points(X)
    fractions = _check_fractions(fraction, n)
    _check_counts(estimator, n_repeats, n_left_out)
    check_random_state(random_state)
    pairwise = bool(get_tags(estimator).input_tags.pairwise)
    splits = [
        list(_splits(n, size, n_repeats, n_left_out, (random_state, i)))
        for i, size in enumerate(np.rint(fractions * n).astype(int))
    ]
    total = sum(len(split.left_out) + 2 for family in splits for split in family)
    verbose = bool(getattr(estimator, "verbose", False))
    with reporting(verbose), stage("perturbations", total=total) as advance:
        errors = [
            [_split_errors(estimator, X, pairwise, split, n_jobs, advance) for split in family]
            for family in splits
        ]
    return _summarize(fractions, splits, errors, n)


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
    check_integer("n_repeats", n_repeats, 1)
    if n_left_out is not None:
        check_integer("n_left_out", n_left_out, 0)
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


def _split_errors(
    estimator: BaseEstimator,
    X: Any,
    pairwise: bool,
    split: _Split,
    n_jobs: int | None,
    advance: Callable[[int], None],
) -> _SplitErrors:
    """Compute the perturbation and induction errors of one split."""
    q = len(split.fixed)
    first, second = np.concatenate([split.fixed, split.before]), np.concatenate([split.fixed, split.after])
    original, other = (
        _embedding(quiet_clone(estimator).fit(_subset(X, which, which, pairwise)), X, which, pairwise)
        for which in (first, second)
    )
    advance(2)
    aligned = linear_alignment(other[:q], original[:q]).aligned
    perturbation = np.linalg.norm(aligned - original[:q], axis=1)
    placed = joblib.Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
        joblib.delayed(_induction_error)(estimator, X, pairwise, first, position, original)
        for position in split.left_out
    )
    induction = []
    for distance in placed:
        induction.append(distance)
        advance(1)
    spread = float(np.linalg.norm(original - original.mean(axis=0)) / np.sqrt(len(original)))
    return _SplitErrors(perturbation, np.array(induction), spread)


def _induction_error(
    estimator: BaseEstimator, X: Any, pairwise: bool, training: np.ndarray, position: int, full: np.ndarray
) -> float:
    """Return the distance of a training point from its position by ``transform`` when it is left out."""
    rest = np.delete(training, position)
    model = quiet_clone(estimator).fit(_subset(X, rest, rest, pairwise))
    new = np.asarray(model.transform(_subset(X, training[[position]], rest, pairwise)))[0]
    signs = np.sum(_embedding(model, X, rest, pairwise) * np.delete(full, position, axis=0), axis=0)
    return float(np.linalg.norm(np.where(signs < 0, -new, new) - full[position]))


def quiet_clone(estimator: BaseEstimator) -> Any:
    """Clone an estimator and switch off its progress messages."""
    copy = clone(estimator)
    return copy.set_params(verbose=False) if "verbose" in copy.get_params(deep=False) else copy


def _subset(X: Any, rows: np.ndarray, columns: np.ndarray, pairwise: bool) -> Any:
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
        embedding = model.transform(_subset(X, which, which, pairwise))
    return np.asarray(embedding, dtype=np.float64)


def _summarize(
    fractions: np.ndarray, splits: list[list[_Split]], errors: list[list[_SplitErrors]], n: int
) -> Stability:
    """Average the errors over splits and points."""
    delta, perturbation, induction, by_split, movements, movement_by_split = [], [], [], [], [], []
    for family, moves in zip(splits, errors, strict=True):
        squares, counts = np.zeros(n), np.zeros(n)
        differences = []
        for split, moved in zip(family, moves, strict=True):
            squares[split.fixed] += np.square(moved.perturbation / moved.spread)
            counts[split.fixed] += 1
            differences.append(moved.perturbation[split.left_out] - moved.induction)
        movements.append(np.sqrt(np.divide(squares, counts, out=np.full(n, np.nan), where=counts > 0)))
        delta.append(mean_estimate(np.concatenate(differences)))
        perturbation.append(mean_estimate(np.concatenate([moved.perturbation for moved in moves])))
        induction.append(mean_estimate(np.concatenate([moved.induction for moved in moves])))
        by_split.append([float(d.mean()) if len(d) else np.nan for d in differences])
        movement_by_split.append([np.sqrt(np.mean(np.square(m.perturbation))) / m.spread for m in moves])
    kept = np.isfinite(movements).any(axis=0)
    per_point = np.full(n, np.nan)
    per_point[kept] = np.nanmean(np.array(movements)[:, kept], axis=0)
    spread = float(np.mean([moved.spread for moves in errors for moved in moves]))
    return Stability(
        fractions,
        tuple(delta),
        tuple(perturbation),
        tuple(induction),
        per_point,
        np.array(by_split),
        np.array(movement_by_split),
        spread,
    )
