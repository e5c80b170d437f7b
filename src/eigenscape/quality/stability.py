"""Whether a map would look the same had other points been drawn (Bengio sec. 5.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.utils import get_tags

from eigenscape._progress import reporting, stage
from eigenscape.kernels.base import n_points
from eigenscape.quality.alignment import linear_alignment
from eigenscape.quality.arguments import check_seed, check_whole
from eigenscape.quality.estimate import Estimate, mean_estimate


@dataclass(frozen=True, eq=False)
class Stability:
    """What :func:`perturbation_stability` found.

    Attributes
    ----------
    fractions : ndarray of shape (f,)
        Shares of the points that were exchanged, ``|R1| / m``.
    delta : tuple of Estimate
        For each fraction the mean difference of perturbation and induction error with its 95 % interval.
        Below zero, placing a new point by the Nystrom formula costs more than exchanging so many training
        points does.
    perturbation, induction : tuple of Estimate
        The two errors themselves, mean distances in the units of the map.
    per_point : ndarray of shape (n,)
        How far each point moves when training points are exchanged: root mean square over the splits in which
        it stayed, as a share of the map's spread, averaged over the fractions. 0 stands still; 1 may be
        anywhere. NaN for a point that stayed in no split.
    by_split : ndarray of shape (f, n_repeats)
        ``delta`` of every split by itself: how much one split's result owes to chance.
    movement_by_split : ndarray of shape (f, n_repeats)
        Root mean square movement of all points of a split, as a share of the spread.
    spread : float
        Root mean square distance of the points from their mean, averaged over the maps: the unit of
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
        """The fraction at which ``delta`` first rises through zero, between two fractions tried; NaN where it
        does not.

        About there, placing a point by induction is as good as a map of points so exchanged.
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
        return f"Stability(delta by fraction {{{parts}}}, median movement {np.nanmedian(self.per_point):.3g} of the spread)"


class _Split(NamedTuple):
    """One split of the points into F, R1 and R2, and which of F are left out in turn."""

    fixed: np.ndarray  # F
    before: np.ndarray  # R1
    after: np.ndarray  # R2
    left_out: np.ndarray  # places in F


def perturbation_stability(
    estimator: Any,
    X: Any,
    *,
    fraction: Any = 0.05,
    n_repeats: int = 5,
    n_left_out: int | None = 30,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> Stability:
    """How far points move when some of the training points are exchanged, against the error of placing them
    by induction.

    Bengio sec. 5.3. The ``m`` points are split into F, R1 and R2, the last two of equal size.

    1. *Perturbation*: train on F + R1 and on F + R2, lay the second map over the first by linear regression on F, and take the
       distance of each point of F from itself.
    2. *Induction*: train on F + R1 without one point of F, place that point by ``transform``, and take its distance from where it is
       with the point in the training set. Nothing is aligned, save that each coordinate's sign is that of the
       whole map.
    3. ``delta`` is the mean of the first less the second.

    Parameters
    ----------
    estimator : estimator with ``fit`` and, for the second step, ``transform``
        Cloned for each fit; never changed. Its map is ``embedding_``, or ``transform`` of the training points
        where it has none.
    X : array-like or sparse matrix of shape (m, n_features)
        All points; or their matrix (m, m) where the estimator says it takes one (``metric="precomputed"``).
    fraction : float or sequence of float, default=0.05
        ``|R1| / m``, between 0 and 0.5. Several give a curve.
    n_repeats : int, default=5
        Splits for each fraction. R1 and R2 of different splits have no point in common as long as there are
        enough, so that with two splits and fractions of at most 0.25 every point stays in one.
    n_left_out : int or None, default=30
        Points of F that step 2 leaves out in each split, one fit for each; None for all, as in the paper. 0
        skips step 2, and ``delta`` is NaN.
    random_state : int or None, default=0
        Which points.
    n_jobs : int or None, default=None
        Threads for the fits of step 2.

    Returns
    -------
    Stability

    Notes
    -----
    Intervals are Student's over the points, as the paper's. All points of one split share two training sets,
    so that ``by_split`` spreads wider than these intervals say.

    Examples
    --------
    >>> from sklearn.datasets import make_swiss_roll
    >>> from eigenscape import LocallyLinearEmbedding
    >>> from eigenscape.quality import perturbation_stability
    >>> X, _ = make_swiss_roll(200, random_state=0)
    >>> found = perturbation_stability(LocallyLinearEmbedding(), X, fraction=[0.01, 0.1], n_repeats=2, n_left_out=5)
    >>> len(found.delta), found.per_point.shape
    (2, (200,))
    """
    n = n_points(X)
    fractions = _check_fractions(fraction, n)
    _check_counts(estimator, n_repeats, n_left_out)
    check_seed(random_state)
    pairwise = bool(get_tags(estimator).input_tags.pairwise)
    splits = [
        [*_splits(n, size, n_repeats, n_left_out, (random_state, i))]
        for i, size in enumerate(np.rint(fractions * n).astype(int))
    ]
    total = sum(len(split.left_out) + 2 for family in splits for split in family)
    with (
        reporting(bool(getattr(estimator, "verbose", False))),
        stage("perturbations", total=total) as advance,
    ):
        found = [
            [_one_split(estimator, X, pairwise, split, n_jobs, advance) for split in family]
            for family in splits
        ]
    return _gather(fractions, splits, found, n)


def _check_fractions(fraction: Any, n: int) -> np.ndarray:
    fractions = np.atleast_1d(np.asarray(fraction, dtype=np.float64))
    if fractions.ndim != 1 or not len(fractions) or not ((fractions > 0) & (fractions < 0.5)).all():
        raise ValueError(
            f"fraction={fraction!r} must lie between 0 and 0.5: two sets of that share of the points are set apart"
        )
    if np.rint(fractions * n).min() < 1 or n - 2 * np.rint(fractions * n).max() < 3:
        raise ValueError(
            f"fraction={fraction!r} of {n} points leaves none to exchange or fewer than 3 to compare; choose another"
        )
    return fractions


def _check_counts(estimator: Any, n_repeats: int, n_left_out: int | None) -> None:
    check_whole("n_repeats", n_repeats)
    if n_left_out is not None:
        check_whole("n_left_out", n_left_out)
    if n_repeats < 1:
        raise ValueError(f"n_repeats={n_repeats} must be at least 1")
    if n_left_out is not None and n_left_out < 0:
        raise ValueError(f"n_left_out={n_left_out} must be at least 0, or None for all points")
    if n_left_out != 0 and not callable(getattr(estimator, "transform", None)):
        raise TypeError(
            f"{type(estimator).__name__} has no transform, so points left out cannot be placed; set n_left_out=0"
        )


def _splits(n: int, size: int, n_repeats: int, n_left_out: int | None, seed: tuple) -> Iterator[_Split]:
    rng = np.random.default_rng([0 if s is None else s for s in seed] if seed[0] is not None else None)
    order = rng.permutation(n)
    for repeat in range(n_repeats):
        apart = order[
            (repeat * 2 * size + np.arange(2 * size)) % n
        ]  # other points each time, as long as there are any
        fixed = np.setdiff1d(np.arange(n), apart)
        count = len(fixed) if n_left_out is None else min(n_left_out, len(fixed))
        yield _Split(fixed, apart[:size], apart[size:], np.sort(rng.choice(len(fixed), count, replace=False)))


class _Moved(NamedTuple):
    perturbation: np.ndarray  # (|F|,) distances of step 1
    induction: np.ndarray  # (left out,) distances of step 2
    spread: float


def _one_split(
    estimator: Any, X: Any, pairwise: bool, split: _Split, n_jobs: int | None, advance: Any
) -> _Moved:
    q = len(split.fixed)
    first, second = np.concatenate([split.fixed, split.before]), np.concatenate([split.fixed, split.after])
    whole, other = (
        _map(_fresh(estimator).fit(_rows(X, which, which, pairwise)), X, which, pairwise)
        for which in (first, second)
    )
    advance(2)
    aligned = linear_alignment(other[:q], whole[:q]).aligned
    perturbation = np.linalg.norm(aligned - whole[:q], axis=1)
    placed = joblib.Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(
        joblib.delayed(_left_out)(estimator, X, pairwise, first, place, whole) for place in split.left_out
    )
    induction = []
    for distance in placed:
        induction.append(distance)
        advance(1)
    return _Moved(
        perturbation,
        np.array(induction),
        float(np.linalg.norm(whole - whole.mean(axis=0)) / np.sqrt(len(whole))),
    )


def _left_out(
    estimator: Any, X: Any, pairwise: bool, training: np.ndarray, place: int, whole: np.ndarray
) -> float:
    """Distance of one training point from where ``transform`` puts it when it is left out."""
    rest = np.delete(training, place)
    model = _fresh(estimator).fit(_rows(X, rest, rest, pairwise))
    new = np.asarray(model.transform(_rows(X, training[[place]], rest, pairwise)))[0]
    sides = np.sum(_map(model, X, rest, pairwise) * np.delete(whole, place, axis=0), axis=0)
    return float(np.linalg.norm(np.where(sides < 0, -new, new) - whole[place]))


def _fresh(estimator: Any) -> Any:
    """An estimator of the same kind that says nothing of its own progress."""
    fresh = clone(estimator)
    return fresh.set_params(verbose=False) if "verbose" in fresh.get_params(deep=False) else fresh


def _rows(X: Any, rows: np.ndarray, columns: np.ndarray, pairwise: bool) -> Any:
    """The points ``rows``; of a matrix of pairs, their values with ``columns``."""
    if hasattr(X, "iloc"):
        return X.iloc[rows, columns] if pairwise else X.iloc[rows]
    if not hasattr(X, "shape"):
        return [X[i] for i in rows]
    return X[rows][:, columns] if pairwise else X[rows]


def _map(model: Any, X: Any, which: np.ndarray, pairwise: bool) -> np.ndarray:
    """Where a fitted model has its training points."""
    embedding = getattr(model, "embedding_", None)
    if embedding is None:
        embedding = model.transform(_rows(X, which, which, pairwise))
    return np.asarray(embedding, dtype=np.float64)


def _gather(
    fractions: np.ndarray, splits: list[list[_Split]], found: list[list[_Moved]], n: int
) -> Stability:
    spread = float(np.mean([moved.spread for family in found for moved in family]))
    delta, perturbation, induction, by_split, per_point = [], [], [], [], []
    for family, moves in zip(splits, found, strict=True):
        squares, counts = np.zeros(n), np.zeros(n)
        differences = []
        for split, moved in zip(family, moves, strict=True):
            squares[split.fixed] += np.square(moved.perturbation / moved.spread)
            counts[split.fixed] += 1
            differences.append(moved.perturbation[split.left_out] - moved.induction)
        per_point.append(np.sqrt(np.divide(squares, counts, out=np.full(n, np.nan), where=counts > 0)))
        delta.append(_mean(np.concatenate(differences)))
        perturbation.append(_mean(np.concatenate([moved.perturbation for moved in moves])))
        induction.append(_mean(np.concatenate([moved.induction for moved in moves])))
        by_split.append([float(d.mean()) if len(d) else np.nan for d in differences])
    stayed = np.isfinite(per_point).any(axis=0)
    movement = np.full(n, np.nan)
    movement[stayed] = np.nanmean(np.array(per_point)[:, stayed], axis=0)
    together = np.array(
        [
            [np.sqrt(np.mean(np.square(moved.perturbation))) / moved.spread for moved in family]
            for family in found
        ]
    )
    return Stability(
        fractions,
        tuple(delta),
        tuple(perturbation),
        tuple(induction),
        movement,
        np.array(by_split),
        together,
        spread,
    )


def _mean(values: np.ndarray) -> Estimate:
    return mean_estimate(values) if len(values) else Estimate(np.nan, np.nan, np.nan)
