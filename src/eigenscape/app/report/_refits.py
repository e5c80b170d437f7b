"""Measures that need further fits of a model: to fewer points, or with more coordinates."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from eigenscape.app.report._points import Points, has_rows, is_pairwise
from eigenscape.app.report._references import sample_rows
from eigenscape.app.report._tuning import TUNING
from eigenscape.estimators.compact_map import CompactMap
from eigenscape.exceptions import NotConvergedError, UndefinedKernelError
from eigenscape.quality import linear_alignment, perturbation_stability
from eigenscape.quality.stability import quiet_clone

#: Errors that a measure may raise for valid data, and that are shown on the page: the data or the parameters
#: do not admit the measure, a solver fails, or memory does not suffice. Others are errors of programming.
EXPECTED_ERRORS = (ValueError, NotConvergedError, ArithmeticError, MemoryError)


@dataclass(frozen=True, eq=False)
class Subset:
    """Training points of further fits: all points or a sample."""

    X: Any
    rows: np.ndarray
    pairwise: bool  # whether X has a column for each point
    text: str

    def split(self, train: np.ndarray, test: np.ndarray) -> tuple[Any, Any]:
        """Return training and test points in the form that the model takes."""
        if not self.pairwise:
            return self.X[train], self.X[test]
        return self.X[train][:, train], self.X[test][:, train]

    def among(self, test: np.ndarray) -> Any:
        """Return the pairwise values among test points; None if points are rows of features."""
        return self.X[test][:, test] if self.pairwise else None


def refit_subset(model: BaseEstimator, points: Points, seed: int) -> Subset | str:
    """Return the points of further fits, or the reason why there can be none."""
    if isinstance(model, CompactMap):
        return "a compact map cannot be fitted again"
    if get_tags(model).target_tags.required:
        return f"{type(model).__name__} cannot be fitted again without its target y"
    pairwise = is_pairwise(model)
    if pairwise and points.X.shape[0] != points.X.shape[1]:
        return "a matrix of distances to landmarks cannot be restricted to a sample"
    if pairwise and sparse.issparse(points.X) and points.n > TUNING.refit_rows:
        return (
            f"a given graph of {points.n} vertices cannot be reduced to {TUNING.refit_rows} for further fits"
        )
    if points.n < 10:
        return f"{points.n} points are too few to hold some out"
    rows = sample_rows(points.n, TUNING.refit_rows, seed)
    if len(rows) == points.n and not points.stream:
        return Subset(points.X, rows, pairwise, "all points")
    sample = points.take(rows)
    text = "all points"
    if len(rows) < points.n:
        text = f"{len(rows)} of the {points.n} points, sampled at random"
    return Subset(sample[:, rows] if pairwise else sample, rows, pairwise, text)


def refit(model: BaseEstimator, X: Any, **parameters: Any) -> Any:
    """Fit a clone of the model without warnings, which the first fit has given already."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return quiet_clone(model).set_params(**parameters).fit(X)


def refit_with_more_coordinates(
    model: BaseEstimator, subset: Subset | str, n_features: int | None
) -> Any | str:
    """Fit the model with more coordinates, or return the reason why it cannot be fitted."""
    if isinstance(subset, str):
        return subset
    n_components = model.get_params().get("n_components")
    if n_components is None:
        return "the number of coordinates is not a parameter of this model"
    if not isinstance(n_components, (int, np.integer)):
        return f"n_components={n_components!r} is not an integer"
    counts = {TUNING.refit_coordinates, 8, 6, 4, 3}
    if n_features and n_features < TUNING.refit_coordinates:
        counts.add(n_features)
    reason = "the map has all coordinates"
    for count in sorted(counts, reverse=True):
        if n_components < count < len(subset.rows) - 2:
            try:
                return refit(model, subset.X, n_components=count)
            except EXPECTED_ERRORS as error:
                reason = first_line(error)
    return reason


@dataclass(frozen=True)
class Loss:
    """Loss of the kernel expansion (Bengio sec. 4), or mean log likelihood of a density."""

    training: float
    held_out: float | None
    text: str  # how it was measured
    likelihood: bool = False

    @property
    def ratio(self) -> float | None:
        """Held-out loss divided by training loss, or None if there is no such ratio."""
        if self.likelihood or self.held_out is None or self.training <= 0:
            return None
        return self.held_out / self.training


def compute_loss(model: BaseEstimator, points: Points, held_out: Points | None, seed: int) -> Loss | str:
    """Compute the training and the held-out loss, or return the reason why they cannot be computed."""
    if not has_kernel(model) and not _is_density(model):
        if "stress_" in vars(model):
            return "an ordinal map has no kernel; see its stress instead"
        return f"{type(model).__name__} has no kernel"
    try:
        if held_out is None or held_out.stream:
            return _loss_of_refit(model, points, seed)
        rows = sample_rows(held_out.n, TUNING.refit_rows, seed)
        if is_pairwise(model):
            return "it needs the pairwise values among the held-out points, which are not given"
        training, value = _training_loss(model, points), _mean_loss(model, held_out.take(rows))
    except UndefinedKernelError as error:
        return first_line(error)
    except EXPECTED_ERRORS as error:
        return refit_failed(error)
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
    few = points.n <= 4 * TUNING.refit_rows or not has_rows(model, points) or points.stream
    if few and not _is_density(model):
        return _mean_loss(model, None)
    return _mean_loss(model, points.take(sample_rows(points.n, TUNING.refit_rows, 0)))


def _mean_loss(model: BaseEstimator, X: Any, between: Any = None) -> float:
    """Return the loss or the mean log likelihood without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(np.mean(model.score_samples(X))) if _is_density(model) else float(model.loss(X, between))


def _loss_of_refit(model: BaseEstimator, points: Points, seed: int) -> Loss | str:
    subset = refit_subset(model, points, seed)
    if isinstance(subset, str):
        return subset
    order = np.random.default_rng(seed).permutation(len(subset.rows))
    n_test = max(2, round(TUNING.held_out * len(order)))  # a pair at least
    which = np.sort(order[:n_test])
    train, test = subset.split(np.sort(order[n_test:]), which)
    again = refit(model, train)
    density = _is_density(model)
    text = f"of a further fit to {len(order) - n_test} points with {n_test} held out ({subset.text})"
    held_out = _mean_loss(again, test, subset.among(which))
    return Loss(_mean_loss(again, train if density else None), held_out, text, density)


@dataclass(frozen=True, eq=False)
class Movement:
    """Movement of each point, relative to the spread of the map; NaN if unknown."""

    per_point: np.ndarray
    text: str  # how it was measured

    @property
    def median(self) -> float:
        known = self.per_point[np.isfinite(self.per_point)]
        return float(np.median(known)) if len(known) else float("nan")


def movement(
    model: BaseEstimator, points: Points, subset: Subset | str, shown: np.ndarray, seed: int
) -> Movement | str:
    """Measure the movement of the points, or return the reason why it cannot be measured.

    Up to ``TUNING.refit_rows`` points a tenth of the training points is exchanged (Bengio sec. 5.3). Beyond,
    two maps fitted to disjoint samples are compared at the points ``shown``.
    """
    if isinstance(subset, str):
        return subset
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if len(subset.rows) < points.n:
                return _between_samples(model, points, shown, seed)
            options: dict[str, Any] = {"fraction": 0.1, "n_repeats": TUNING.n_repeats, "random_state": seed}
            result = perturbation_stability(quiet_clone(model), subset.X, n_left_out=0, **options)
    except EXPECTED_ERRORS as error:
        return refit_failed(error)
    text = (
        f"in {TUNING.n_repeats} repetitions, a tenth of the training points was exchanged, and the maps"
        " aligned"
    )
    return Movement(result.per_point, text)


def _between_samples(model: BaseEstimator, points: Points, shown: np.ndarray, seed: int) -> Movement | str:
    """Compare two maps of disjoint samples at the points ``shown``."""
    order = np.random.default_rng(seed).permutation(points.n)[: 2 * TUNING.refit_rows]
    halves = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
    if is_pairwise(model):
        pairs = [(points.X[rows][:, rows], points.X[shown][:, rows]) for rows in halves]
    else:
        others = points.take(shown)
        pairs = [(points.take(rows), others) for rows in halves]
    first, second = (
        np.asarray(refit(model, training).transform(others), dtype=np.float64) for training, others in pairs
    )
    if not (np.isfinite(first).all() and np.isfinite(second).all()):
        return "some points have no finite coordinates on the maps of the samples"
    distance = np.linalg.norm(linear_alignment(second, first).aligned - first, axis=1)
    spread = np.sqrt(np.mean(np.square(first - first.mean(axis=0)).sum(axis=1)))
    per_point = np.full(points.n, np.nan)
    per_point[shown] = distance / spread
    return Movement(
        per_point,
        f"two maps were fitted to disjoint samples of {len(halves[0])} points, the points drawn were"
        " transformed by both, and the maps were aligned",
    )


def refit_failed(error: BaseException) -> str:
    """Return the reason why a further fit failed."""
    return f"a further fit to some of the points failed: {first_line(error)}"


def first_line(error: BaseException) -> str:
    """Return the first line of an error message, shortened to 300 characters."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:300]
