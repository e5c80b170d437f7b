"""Measures that need further fits of a model: to fewer points, or with more coordinates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from eigenscape.app.io.guards import first_line
from eigenscape.app.report import _points
from eigenscape.app.report._points import Points, UnmeasuredError, has_rows, is_pairwise, sample_rows
from eigenscape.app.report._texts import LIMITS
from eigenscape.estimators.compact_map import CompactMap
from eigenscape.exceptions import NotConvergedError, UndefinedKernelError
from eigenscape.quality import linear_alignment, perturbation_stability
from eigenscape.quality.stability import quiet_clone, take

#: Errors that a measure may raise for valid data, and that are shown on the page: the data or the parameters
#: do not admit the measure, a solver fails, or memory does not suffice. Others are errors of programming.
EXPECTED_ERRORS = (ValueError, NotConvergedError, ArithmeticError, MemoryError)


def _failed_fit(error: BaseException) -> UnmeasuredError:
    """Return the error of a further fit as a reason."""
    if isinstance(error, (UnmeasuredError, UndefinedKernelError)):
        return UnmeasuredError(first_line(error))
    return UnmeasuredError(f"a further fit to some of the points failed: {first_line(error)}")


@dataclass(frozen=True, eq=False)
class Subset:
    """Training points of further fits: all points or a sample."""

    X: Any
    rows: np.ndarray
    pairwise: bool  # whether X has a column for each point
    text: str


def refit_subset(model: BaseEstimator, points: Points, seed: int) -> Subset:
    """Return the points of further fits."""
    pairwise, n, name = is_pairwise(model), points.n, type(model).__name__
    narrow = pairwise and points.X.shape[1] != n
    large = pairwise and sparse.issparse(points.X) and n > LIMITS.refit_rows
    reasons = {
        "a compact map cannot be fitted again": isinstance(model, CompactMap),
        f"{name} cannot be fitted again without its target y": get_tags(model).target_tags.required,
        "a matrix of distances to landmarks cannot be restricted to a sample": narrow,
        f"a given graph of {n} vertices cannot be reduced to {LIMITS.refit_rows} for further fits": large,
        f"{n} points are too few to hold some out": n < 10,
    }
    for reason, applies in reasons.items():
        if applies:
            raise UnmeasuredError(reason)
    rows = sample_rows(points.n, LIMITS.refit_rows, seed)
    if len(rows) == points.n:
        return Subset(points.take(rows) if points.stream else points.X, rows, pairwise, "all points")
    text = f"{len(rows)} of the {points.n} points, sampled at random"
    return Subset(_take(points, rows, rows, pairwise), rows, pairwise, text)


def _take(points: Points, rows: np.ndarray, columns: np.ndarray, pairwise: bool) -> Any:
    """Return the points ``rows`` in the form that a model of the points ``columns`` takes."""
    return points.take(rows)[:, columns] if pairwise else points.take(rows)


def refit(model: BaseEstimator, X: Any, **parameters: Any) -> Any:
    """Fit a clone of the model without warnings, which the first fit has given already."""
    with _points.without_warnings():
        return quiet_clone(model).set_params(**parameters).fit(X)


def refit_wider(model: BaseEstimator, points: Points, subset: Subset) -> Any:
    """Fit the model with more coordinates."""
    n_components = model.get_params().get("n_components")
    if n_components is None:
        raise UnmeasuredError("the number of coordinates is not a parameter of this model")
    if not isinstance(n_components, (int, np.integer)):
        raise UnmeasuredError(f"n_components={n_components!r} is not an integer")
    counts = {LIMITS.coordinates, 8, 6, 4, 3}
    if has_rows(model, points) and not points.stream:
        counts.add(min(int(points.X.shape[1]), LIMITS.coordinates))
    reason = "the map has all coordinates"
    for count in sorted(counts, reverse=True):
        if n_components < count < len(subset.rows) - 2:
            try:
                return refit(model, subset.X, n_components=count)
            except EXPECTED_ERRORS as error:
                reason = first_line(error)
    raise UnmeasuredError(reason)


@dataclass(frozen=True)
class Loss:
    """Loss of the kernel expansion (Bengio sec. 4), or mean log likelihood of a density."""

    training: float
    held_out: float
    text: str  # how it was measured
    likelihood: bool = False

    @property
    def ratio(self) -> float | None:
        """Held-out loss divided by training loss, or None if there is no such ratio."""
        return None if self.likelihood or self.training <= 0 else self.held_out / self.training


def compute_loss(model: BaseEstimator, points: Points, held_out: Points | None, seed: int) -> Loss:
    """Compute the training and the held-out loss."""
    if not has_kernel(model) and not _is_density(model):
        if "stress_" in vars(model):
            raise UnmeasuredError("an ordinal map has no kernel; see its stress instead")
        raise UnmeasuredError(f"{type(model).__name__} has no kernel")
    try:
        if held_out is None or held_out.stream:
            return _loss_of_refit(model, points, seed)
        if is_pairwise(model):
            reason = "it needs the pairwise values among the held-out points, which are not given"
            raise UnmeasuredError(reason)
        rows = sample_rows(held_out.n, LIMITS.refit_rows, seed)
        training, value = _training_loss(model, points), _mean_loss(model, held_out.take(rows))
    except EXPECTED_ERRORS as error:
        raise _failed_fit(error) from error
    some = len(rows) < held_out.n
    text = f"on {len(rows)} of the {held_out.n} held-out points" if some else "on the held-out points"
    return Loss(training, value, text, _is_density(model))


def has_kernel(model: BaseEstimator) -> bool:
    """Return whether the model has eigenvalues and a loss."""
    return "eigenvalues_" in vars(model) and callable(getattr(type(model), "loss", None))


def _is_density(model: BaseEstimator) -> bool:
    """Return whether the model is a probability density."""
    return callable(getattr(model, "score_samples", None)) and not has_kernel(model)


def _training_loss(model: BaseEstimator, points: Points) -> float:
    few = points.n <= 4 * LIMITS.refit_rows or not has_rows(model, points) or points.stream
    if few and not _is_density(model):
        return _mean_loss(model, None)
    return _mean_loss(model, points.take(sample_rows(points.n, LIMITS.refit_rows, 0)))


def _mean_loss(model: BaseEstimator, X: Any, between: Any = None) -> float:
    """Return the loss or the mean log likelihood without warnings."""
    with _points.without_warnings():
        return float(np.mean(model.score_samples(X))) if _is_density(model) else float(model.loss(X, between))


def _loss_of_refit(model: BaseEstimator, points: Points, seed: int) -> Loss:
    subset = refit_subset(model, points, seed)
    order = np.random.default_rng(seed).permutation(len(subset.rows))
    n_test = max(2, round(LIMITS.held_out * len(order)))  # a pair at least
    test, train = np.sort(order[:n_test]), np.sort(order[n_test:])
    training = take(subset.X, train, train, subset.pairwise)
    again, density = refit(model, training), _is_density(model)
    among = take(subset.X, test, test, True) if subset.pairwise else None
    held_out = _mean_loss(again, take(subset.X, test, train, subset.pairwise), among)
    text = f"of a further fit to {len(train)} points with {n_test} held out ({subset.text})"
    return Loss(_mean_loss(again, training if density else None), held_out, text, density)


@dataclass(frozen=True, eq=False)
class Movement:
    """Movement of each point, relative to the spread of the map; NaN if unknown."""

    per_point: np.ndarray
    text: str  # how it was measured

    @property
    def median(self) -> float | None:
        """Half of the points move by more than this; None if it is unknown."""
        known = self.per_point[np.isfinite(self.per_point)]
        return float(np.median(known)) if len(known) else None


def movement(model: BaseEstimator, points: Points, subset: Subset, shown: np.ndarray, seed: int) -> Movement:
    """Measure the movement of the points.

    Up to ``LIMITS.refit_rows`` points a tenth of the training points is exchanged (Bengio sec. 5.3). Beyond,
    two maps fitted to disjoint samples are compared at the points ``shown``.
    """
    options: dict[str, Any] = {"fraction": 0.1, "n_repeats": LIMITS.n_repeats, "random_state": seed}
    try:
        with _points.without_warnings():
            if len(subset.rows) < points.n:
                return _between_samples(model, points, shown, seed)
            result = perturbation_stability(quiet_clone(model), subset.X, n_left_out=0, **options)
    except EXPECTED_ERRORS as error:
        raise _failed_fit(error) from error
    text = f"in {LIMITS.n_repeats} repetitions, a tenth of the training points was exchanged"
    return Movement(result.per_point, f"{text}, and the maps aligned")


def _between_samples(model: BaseEstimator, points: Points, shown: np.ndarray, seed: int) -> Movement:
    """Compare two maps of disjoint samples at the points ``shown``."""
    order = np.random.default_rng(seed).permutation(points.n)[: 2 * LIMITS.refit_rows]
    halves = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
    pairwise = is_pairwise(model)
    first, second = (
        np.asarray(
            refit(model, _take(points, rows, rows, pairwise)).transform(_take(points, shown, rows, pairwise)),
            dtype=np.float64,
        )
        for rows in halves
    )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        raise UnmeasuredError("some points have no finite coordinates on the maps of the samples")
    distance = np.linalg.norm(linear_alignment(second, first).aligned - first, axis=1)
    per_point = np.full(points.n, np.nan)
    per_point[shown] = distance / np.sqrt(np.mean(np.square(first - first.mean(axis=0)).sum(axis=1)))
    text = (
        f"two maps were fitted to disjoint samples of {len(halves[0])} points, the points drawn were"
        " transformed by both, and the maps were aligned"
    )
    return Movement(per_point, text)
