"""Selection of the number of components by the held-out loss (Bengio sec. 4)."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import get_tags

from eigenscape._numbers import checked_sparse
from eigenscape._parameters import check_count, check_random_state
from eigenscape._threads import parallel_map
from eigenscape.exceptions import RankError
from eigenscape.kernels.base import n_points
from eigenscape.quality.intervals import Estimate, mean_estimate
from eigenscape.quality.stability import quiet_clone, take


class ComponentChoice(NamedTuple):
    """Result of :func:`choose_n_components`.

    Attributes
    ----------
    best : int
        The number of components with the smallest mean held-out loss. If it is the last candidate, the
        minimum may be beyond it: raise ``max_components``.
    low, high : int
        Smallest and largest number next to ``best`` whose loss is not significantly larger than the loss of
        ``best`` (95 % interval of the difference over the splits). ``low`` is the simplest map that is as
        good as the best.
    candidates : list of int
        The numbers of components, 1, 2, ...
    scores : list of Estimate
        Mean held-out loss for each, with its 95 % interval over the splits. Lower is better.
    training : list of float
        Mean training loss for each, which decreases with every component.

    Examples
    --------
    >>> import numpy as np
    >>> from eigenscape import ClassicalMDS
    >>> from eigenscape.quality import choose_n_components
    >>> X = np.random.default_rng(0).standard_normal((60, 5)) * [3, 2, 0.1, 0.1, 0.1]
    >>> choice = choose_n_components(ClassicalMDS(metric="chebyshev"), X, 4)
    >>> choice.candidates, len(choice.scores), len(choice.training)
    ([1, 2, 3, 4], 4, 4)
    """

    best: int
    low: int
    high: int
    candidates: list[int]
    scores: list[Estimate]
    training: list[float]


def choose_n_components(
    estimator: BaseEstimator,
    X: Any,
    max_components: int | None = None,
    *,
    n_splits: int = 5,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> ComponentChoice:
    """Select the number of components with the smallest loss on held-out points.

    The points are divided into ``n_splits`` parts. Each is held out once, and the estimator is fitted to the
    others with the largest number of components. The loss of the first ``N`` components on the pairs of
    held-out points (:func:`kernel_loss`) follows for all ``N`` from this one fit.

    For an indefinite or noisy kernel the loss has a minimum: later components are not determined by the
    training points. For a positive semi-definite kernel without noise, such as a Gaussian one, a further
    component does not increase its expectation, since the map is a projection: the loss levels off, and
    ``low`` is the choice.

    Parameters
    ----------
    estimator : estimator object
        An estimator with a parameter ``n_components`` and a method ``loss_curve``. It is cloned.
    X : array-like of shape (n_samples, n_features)
        The data, or a precomputed matrix of shape (n_samples, n_samples).
    max_components : int or None, default=None
        Largest number of components, at least 1. If None, 50, or fewer if the kernel, the number of samples,
        features or landmarks admits fewer.
    n_splits : int, default=5
        Number of parts, at least 2.
    random_state : int or None, default=0
        Seed of the division.
    n_jobs : int or None, default=None
        Number of threads.

    Returns
    -------
    ComponentChoice
        The selected number with its interval, and the curves of the loss.

    Raises
    ------
    ValueError
        If ``max_components`` components cannot be fitted to the training samples of a split.
    UndefinedKernelError
        If the kernel is not defined between two new points (LLE).

    Examples
    --------
    Points near a plane in five dimensions, with a metric that is not Euclidean.

    >>> import numpy as np
    >>> from eigenscape import ClassicalMDS
    >>> from eigenscape.quality import choose_n_components
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((150, 5)) * [3, 2, 0.1, 0.1, 0.1]
    >>> choice = choose_n_components(ClassicalMDS(metric="chebyshev"), X, 20)
    >>> choice.low <= choice.best <= choice.high
    True
    """
    _check_estimator(estimator)
    check_count("n_splits", n_splits, 2)
    check_random_state(random_state)
    n = n_points(checked_sparse(X))
    if n < 2 * n_splits:
        raise ValueError(
            f"n_splits={n_splits} needs at least {2 * n_splits} samples, so that each part has 2,"
            f" got {n}; lower n_splits"
        )
    n_train = n - -(-n // n_splits)
    if max_components is not None:
        check_count("max_components", max_components, 1)
    limit = max(1, min(50, n_train - 2)) if max_components is None else int(max_components)
    parts = np.array_split(np.random.default_rng(random_state).permutation(n), n_splits)
    curves = parallel_map(
        lambda part: _curves(estimator, X, np.sort(part), limit, max_components is None), parts, n_jobs
    )
    return _choose(list(curves))


def _check_estimator(estimator: BaseEstimator) -> None:
    """Raise TypeError unless the estimator has components and a loss."""
    name = type(estimator).__name__
    if not callable(getattr(estimator, "loss_curve", None)):
        raise TypeError(f"{name} has no kernel, hence no loss to choose n_components by")
    if "n_components" not in estimator.get_params(deep=False):
        raise TypeError(f"{name} has no parameter n_components")


def _curves(
    estimator: BaseEstimator, X: Any, held_out: np.ndarray, limit: int, fewer: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the held-out and the training loss for each number of components, from one fit."""
    pairwise = bool(get_tags(estimator).input_tags.pairwise)
    training = np.setdiff1d(np.arange(n_points(X)), held_out)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = _fit(estimator, take(X, training, training, pairwise), limit, fewer)
        among = take(X, held_out, held_out, True) if pairwise else None
        points = take(X, held_out, training, pairwise)
        rank = max(
            1, np.count_nonzero(np.atleast_2d(model.eigenvalues_).any(axis=0))
        )  # further coordinates are zero
        return model.loss_curve(points, among)[:rank], model.loss_curve()[:rank]


def _fit(estimator: BaseEstimator, X: Any, limit: int, fewer: bool) -> Any:
    """Fit with ``limit`` components, or with as many as there are if ``fewer``."""
    try:
        return _fit_count(estimator, X, limit)
    except ValueError as error:  # of the number of components, if fewer can be fitted
        if limit == 1:
            raise
        fitted = _fit_or_none(estimator, X, 1)
        if fitted is None:
            raise
        if not fewer:
            kind = RankError if isinstance(error, RankError) else ValueError
            raise kind(
                f"max_components={limit} cannot be fitted to the {n_points(X)} training samples of a split:"
                f" {error}; lower max_components"
            ) from error
    least, most = 1, limit - 1
    while least < most:  # bisection: all numbers up to the largest can be fitted
        count = (least + most + 1) // 2
        model = _fit_or_none(estimator, X, count)
        if model is None:
            most = count - 1
        else:
            fitted, least = model, count
    return fitted


def _fit_or_none(estimator: BaseEstimator, X: Any, count: int) -> Any:
    """Fit with ``count`` components; return None if the data or the kernel do not admit as many."""
    try:
        return _fit_count(estimator, X, count)
    except ValueError:
        return None


def _fit_count(estimator: BaseEstimator, X: Any, count: int) -> Any:
    return quiet_clone(estimator).set_params(n_components=count).fit(X)


def _choose(curves: list[tuple[np.ndarray, np.ndarray]]) -> ComponentChoice:
    """Return the minimum of the mean held-out curve, and the range that is not significantly worse."""
    length = min(len(held_out) for held_out, _ in curves)
    losses = np.array([held_out[:length] for held_out, _ in curves])  # (n_splits, n_components)
    scores = [mean_estimate(column) for column in losses.T]
    best = int(np.argmin(losses.mean(axis=0)))
    worse = [mean_estimate(column - losses[:, best]).low > 0 for column in losses.T]
    low, high = best, best
    while low > 0 and not worse[low - 1]:
        low -= 1
    while high < length - 1 and not worse[high + 1]:
        high += 1
    training = np.mean([own[:length] for _, own in curves], axis=0)
    candidates = list(range(1, length + 1))
    return ComponentChoice(best + 1, low + 1, high + 1, candidates, scores, [float(own) for own in training])
