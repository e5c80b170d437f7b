"""Measures that need further fits of a model: to fewer points, or with more coordinates."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
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
from eigenscape.quality import perturbation_stability
from eigenscape.quality.stability import quiet_clone, take

#: Errors that a measure may raise for valid data, and that are shown on the page: the data or the parameters
#: do not admit the measure, a solver fails, or memory does not suffice. Others are errors of programming.
EXPECTED_ERRORS = (ValueError, NotConvergedError, ArithmeticError, MemoryError)


@contextmanager
def further_fits() -> Iterator[None]:
    """Ignore warnings, which the first fit has given already; a failure is a reason."""
    try:
        with _points.without_warnings():
            yield
    except (UnmeasuredError, UndefinedKernelError):
        raise
    except EXPECTED_ERRORS as error:
        reason = f"a further fit to some of the points failed: {first_line(error)}"
        raise UnmeasuredError(reason) from error


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
    some = points.take(rows)
    return Subset(some[:, rows] if pairwise else some, rows, pairwise, text)


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


def compute_loss(model: Any, points: Points, held_out: Points | None, seed: int) -> Loss:
    """Compute the loss, or the log likelihood of a density, for training points and for held-out points."""
    kernel = has_kernel(model)
    if not kernel and not callable(getattr(model, "score_samples", None)):
        ordinal = "stress_" in vars(model)
        reason = "an ordinal map has no kernel; see its stress instead"
        raise UnmeasuredError(reason if ordinal else f"{type(model).__name__} has no kernel")
    if held_out is None or held_out.stream:
        return _loss_of_refit(model, points, seed)
    if is_pairwise(model):
        raise UnmeasuredError("it needs the pairwise values among the held-out points, which are not given")
    rows = sample_rows(held_out.n, LIMITS.refit_rows, seed)
    few = points.n <= 4 * LIMITS.refit_rows or not has_rows(model, points) or points.stream
    with further_fits():
        known = None if few and kernel else points.take(sample_rows(points.n, LIMITS.refit_rows, 0))
        training, value = _mean_loss(model, known), _mean_loss(model, held_out.take(rows))
    some = len(rows) < held_out.n
    text = f"on {len(rows)} of the {held_out.n} held-out points" if some else "on the held-out points"
    return Loss(training, value, text, not kernel)


def has_kernel(model: BaseEstimator) -> bool:
    """Return whether the model has eigenvalues and a loss."""
    return "eigenvalues_" in vars(model) and callable(getattr(type(model), "loss", None))


def _mean_loss(model: Any, X: Any, between: Any = None) -> float:
    return float(model.loss(X, between) if has_kernel(model) else np.mean(model.score_samples(X)))


def _loss_of_refit(model: BaseEstimator, points: Points, seed: int) -> Loss:
    subset = refit_subset(model, points, seed)
    order = np.random.default_rng(seed).permutation(len(subset.rows))
    n_test = max(2, round(LIMITS.held_out * len(order)))  # a pair at least
    test, train = np.sort(order[:n_test]), np.sort(order[n_test:])
    known, new = (take(subset.X, rows, train, subset.pairwise) for rows in (train, test))
    among = take(subset.X, test, test, True) if subset.pairwise else None
    with further_fits():
        again = refit(model, known)
        training = _mean_loss(again, None if has_kernel(again) else known)
        held_out = _mean_loss(again, new, among)
    text = f"of a further fit to {len(train)} points with {n_test} held out ({subset.text})"
    return Loss(training, held_out, text, not has_kernel(again))


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


def movement(model: BaseEstimator, points: Points, subset: Subset, seed: int) -> Movement:
    """Measure the movement when a tenth of the training points is exchanged (Bengio sec. 5.3)."""
    options: dict[str, Any] = {"fraction": 0.1, "n_repeats": LIMITS.n_repeats, "random_state": seed}
    with further_fits():
        found = perturbation_stability(quiet_clone(model), subset.X, n_left_out=0, **options)
    per_point = np.full(points.n, np.nan)
    per_point[subset.rows] = found.per_point
    text = f"in {LIMITS.n_repeats} repetitions, a tenth of the training points was exchanged"
    return Movement(per_point, f"{text}, and the maps aligned ({subset.text})")
