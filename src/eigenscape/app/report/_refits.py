"""The same method fitted again, to less or for more: what only further fits can tell of a model."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from eigenscape.app.report._spaces import sampled_rows
from eigenscape.app.report._subject import Points, has_rows, is_pairwise

#: Fits for the report alone are made with at most so many points.
REFIT_POINTS = 2000
#: Share of the points held out where none were given.
HELD_OUT = 0.2
#: Coordinates that are looked at beyond those of the map.
_WIDEST = 12

#: What a fit may refuse with; told on the page, for a report must not fail because a further fit does.
REFUSALS = (ValueError, TypeError, RuntimeError, ArithmeticError, MemoryError, AttributeError)


@dataclass(frozen=True, eq=False)
class Smaller:
    """Training points for further fits: all, or some of them."""

    X: Any
    rows: np.ndarray
    square: bool  # whether X has a column for each point
    words: str

    def split(self, train: np.ndarray, test: np.ndarray) -> tuple[Any, Any]:
        """Training points and others in the form the model takes."""
        if not self.square:
            return self.X[train], self.X[test]
        return self.X[train][:, train], self.X[test][:, train]


def smaller(model: Any, points: Points, seed: int, most: int = REFIT_POINTS) -> Smaller | str:
    """Points to fit the method to again, or in words why it cannot be."""
    square = is_pairwise(model)
    if square and points.X.shape[0] != points.X.shape[1]:
        return "a table of distances to landmarks cannot be cut into smaller ones"
    if square and sparse.issparse(points.X) and points.n > most:
        return f"a graph given with {points.n} vertices cannot be thinned to the {most} that further fits are made with"
    if points.n < 10:
        return f"{points.n} points are too few to leave some out"
    rows = sampled_rows(points.n, most, seed)
    words = (
        "all points" if len(rows) == points.n else f"{len(rows)} of the {points.n} points, taken at random"
    )
    if len(rows) == points.n and not points.stream:
        return Smaller(points.X, rows, square, words)
    taken = points.take(rows)
    return Smaller(taken[:, rows] if square else taken, rows, square, words)


def fitted_again(model: Any, X: Any, **parameters: Any) -> Any:
    """A fresh model of the same kind; its warnings are those of the first fit and not repeated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return quiet_clone(model).set_params(**parameters).fit(X)


def quiet_clone(model: Any) -> Any:
    """An unfitted copy that shows no progress of its own."""
    copy = clone(model)
    return copy.set_params(verbose=False) if "verbose" in copy.get_params(deep=False) else copy


def wider(model: Any, some: Smaller, n_features: int | None) -> Any | str:
    """The method with more coordinates, for its spectrum beyond those of the map."""
    parameters = model.get_params()
    asked = parameters.get("n_components")
    if not isinstance(asked, (int, np.integer)):
        return (
            "the number of coordinates is not a parameter of this model"
            if asked is None
            else f"n_components={asked!r} is no number"
        )
    refusal = ""
    for count in sorted(
        {_WIDEST, 8, 6, 4, 3, *([n_features] if n_features and n_features < _WIDEST else [])}, reverse=True
    ):
        if count <= asked or count >= len(some.rows) - 2:
            continue
        try:
            return fitted_again(model, some.X, n_components=count)
        except REFUSALS as error:
            refusal = first_line(error)
    return refusal or "the map has all the coordinates there are"


@dataclass(frozen=True)
class Loss:
    """Error of the kernel's expansion on training points and on others (Bengio sec. 4); of a density its log
    likelihood instead."""

    training: float
    held_out: float | None
    words: str
    likelihood: bool = False

    @property
    def ratio(self) -> float | None:
        """Held-out loss over training loss, where there are both."""
        return (
            None
            if self.likelihood or self.held_out is None or self.training <= 0
            else self.held_out / self.training
        )


def losses(model: Any, points: Points, held_out: Points | None, seed: int) -> Loss | str:
    """The loss that the method minimises, on its own points and on new ones."""
    if not has_kernel(model) and not is_density(model):
        if "stress_" in vars(model):
            return "an ordinal map has no kernel; its stress stands in its place"
        return f"{type(model).__name__} has no kernel whose expansion could be off"
    try:
        if held_out is not None and not held_out.stream:
            rows = sampled_rows(held_out.n, REFIT_POINTS, seed)
            some = (
                f"on {len(rows)} of the {held_out.n} points given as held out"
                if len(rows) < held_out.n
                else "on the points held out"
            )
            return Loss(
                _training_loss(model, points), quiet_loss(model, held_out.take(rows)), some, is_density(model)
            )
        return _loss_by_refit(model, points, seed)
    except REFUSALS as error:
        return refused(error)


def has_kernel(model: Any) -> bool:
    """Whether the model expands a kernel in eigenfunctions, with a loss."""
    return "eigenvalues_" in vars(model) and callable(getattr(type(model), "loss", None))


def is_density(model: Any) -> bool:
    """Whether the model is a probability density of the rows."""
    return callable(getattr(model, "score_samples", None)) and not has_kernel(model)


def _training_loss(model: Any, points: Points) -> float:
    if is_density(model):
        return quiet_loss(model, points.take(sampled_rows(points.n, REFIT_POINTS, 0)))
    if points.n <= 4 * REFIT_POINTS or not has_rows(model, points) or points.stream:
        return quiet_loss(model, None)
    rows = sampled_rows(points.n, REFIT_POINTS, 0)
    return quiet_loss(model, points.take(rows))  # a mean over training points, here over some of them


def quiet_loss(model: Any, X: Any) -> float:
    """The model's loss; what it warns of stands in other parts of the report."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return float(np.mean(model.score_samples(X))) if is_density(model) else float(model.loss(X))


def _loss_by_refit(model: Any, points: Points, seed: int) -> Loss | str:
    some = smaller(model, points, seed)
    if isinstance(some, str):
        return some
    order = np.random.default_rng(seed).permutation(len(some.rows))
    held = max(1, round(HELD_OUT * len(order)))
    train, test = some.split(np.sort(order[held:]), np.sort(order[:held]))
    again = fitted_again(model, train)
    words = f"by fitting the method again to {len(order) - held} points and leaving {held} out ({some.words})"
    return Loss(
        quiet_loss(again, train if is_density(model) else None),
        quiet_loss(again, test),
        words,
        is_density(model),
    )


def refused(error: BaseException) -> str:
    """Why a further fit could not be made."""
    return f"it needs the method to be fitted again to some of the points, which was refused: {first_line(error)}"


def first_line(error: BaseException) -> str:
    """What an error says, in one line."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:300]


class Stopwatch:
    """Seconds by name, for what the report itself takes."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def time(self, name: str, work: Any, *arguments: Any, **named: Any) -> Any:
        start = time.perf_counter()
        try:
            return work(*arguments, **named)
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
