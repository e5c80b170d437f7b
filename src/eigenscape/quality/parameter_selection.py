"""Selection of parameters by the stability of the embedding."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, clone

from eigenscape._parameters import check_count
from eigenscape.kernels.base import n_points
from eigenscape.quality.intervals import Estimate, mean_estimate
from eigenscape.quality.stability import perturbation_stability

#: Names of parameters and of fields of options, in order of precedence.
_BANDWIDTHS = ("affinity__width", "gamma", "kernels__sigma")
_COUNTS = ("affinity__n_neighbors", "graph__n_neighbors", "n_neighbors")
#: Default candidates for n_neighbors.
_N_NEIGHBORS = (5, 7, 10, 14, 20)


class ParameterChoice(NamedTuple):
    """Result of :func:`choose_n_neighbors` and :func:`choose_bandwidth`.

    Attributes
    ----------
    best : int or float
        The selected value.
    candidates : list
        The values tried, in order.
    scores : list of Estimate
        Mean movement of the points for each candidate (``movement_by_split`` of :class:`Stability`), with
        its 95 % interval over the splits. Lower is better.

    Examples
    --------
    >>> from sklearn.datasets import make_swiss_roll
    >>> from eigenscape import Isomap
    >>> from eigenscape.quality import choose_n_neighbors
    >>> X, _ = make_swiss_roll(150, random_state=0)
    >>> choice = choose_n_neighbors(Isomap(2), X, candidates=[8, 12], n_repeats=2)
    >>> choice.best in choice.candidates, len(choice.scores) <= 2
    (True, True)
    """

    best: Any
    candidates: list[Any]
    scores: list[Estimate]


def choose_n_neighbors(
    estimator: BaseEstimator,
    X: Any,
    candidates: Iterable[int] | None = None,
    *,
    fraction: float = 0.1,
    n_repeats: int = 5,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> ParameterChoice:
    """Select the smallest number of neighbours with a stable embedding.

    Each candidate is scored by the movement of the points when training points are exchanged
    (:func:`perturbation_stability`). A graph with too few neighbours depends on single edges; one with too
    many has short cuts that depend on the sample: both move points. With very many neighbours the short cuts
    are present in every sample, and the embedding is stable again. Candidates are therefore examined in
    ascending order up to the first that is significantly worse than an earlier one (its interval lies
    above), and of those before it the smallest is selected whose score lies within the interval of the best.
    Short cuts present in every sample are not detected: keep the candidates small relative to the number of
    samples, and inspect ``scores``.

    Parameters
    ----------
    estimator : estimator object
        An estimator with a parameter ``n_neighbors``, or with a graph object that has it. It is cloned.
    X : array-like of shape (n_samples, n_features)
        The data.
    candidates : iterable of int or None, default=None
        Values to try. If None, 5, 7, 10, 14 and 20, without values too large for the number of samples.
    fraction : float, default=0.1
        Fraction of the training points exchanged in each split, between 0 and 0.5.
    n_repeats : int, default=5
        Number of splits, at least 2.
    random_state : int or None, default=0
        Seed of the splits.
    n_jobs : int or None, default=None
        Number of threads.

    Returns
    -------
    ParameterChoice
        The selected value, and all candidates with their scores.

    Examples
    --------
    >>> from sklearn.datasets import make_swiss_roll
    >>> from eigenscape import Isomap
    >>> from eigenscape.quality import choose_n_neighbors
    >>> X, _ = make_swiss_roll(800, random_state=0)
    >>> choose_n_neighbors(Isomap(), X, [5, 7, 10], n_repeats=3).best
    7
    """
    n = n_points(X)
    largest_default = n - int(np.ceil(fraction * n)) - 1
    if candidates is None and largest_default < _N_NEIGHBORS[0]:
        raise ValueError(f"{n} samples are too few for the default candidates; pass candidates")
    values = (
        [k for k in _N_NEIGHBORS if k <= largest_default] if candidates is None else sorted(set(candidates))
    )
    largest = int(n - np.rint(fraction * n)) - 1
    for k in values:
        check_count("candidates: n_neighbors", k)
        if not 1 <= k <= largest:
            raise ValueError(
                f"candidates: n_neighbors={k} must lie between 1 and {largest}: of {n} samples the fraction"
                f" {fraction} is left out of each training set"
            )
    params = estimator.get_params()
    name = next((name for name in _COUNTS if name in params), "n_neighbors")
    return _select(estimator, X, name, values, fraction, n_repeats, random_state, n_jobs)


def choose_bandwidth(
    estimator: BaseEstimator,
    X: Any,
    candidates: Iterable[float],
    *,
    parameter: str | None = None,
    fraction: float = 0.1,
    n_repeats: int = 5,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> ParameterChoice:
    """Select the first bandwidth of a kernel with a stable embedding.

    The rule of :func:`choose_n_neighbors` is applied in the given order. Very wide kernels are very stable
    and show little structure: with a Gaussian kernel the embedding approaches linear PCA. Pass narrow
    bandwidths first.

    Parameters
    ----------
    estimator : estimator object
        An estimator with a bandwidth parameter. It is cloned.
    X : array-like of shape (n_samples, n_features)
        The data.
    candidates : iterable of float
        Values to try, in order of preference: narrow kernels show more detail.
    parameter : str or None, default=None
        Name of the bandwidth parameter. If None, the first of "affinity__width", "gamma" and "kernels__sigma"
        that the estimator has.
    fraction : float, default=0.1
        Fraction of the training points exchanged in each split, between 0 and 0.5.
    n_repeats : int, default=5
        Number of splits, at least 2.
    random_state : int or None, default=0
        Seed of the splits.
    n_jobs : int or None, default=None
        Number of threads.

    Returns
    -------
    ParameterChoice
        The selected value, and all candidates with their scores.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import KernelPCA
    >>> from eigenscape.quality import choose_bandwidth
    >>> choice = choose_bandwidth(KernelPCA(), load_iris().data, [100.0, 1.0, 0.1], n_repeats=3)
    >>> choice.best < 100
    True
    """
    params = estimator.get_params()
    name = parameter or next((name for name in _BANDWIDTHS if name in params), None)
    if name is None or name not in params:
        raise ValueError(
            f"{type(estimator).__name__} has no parameter {name or ' or '.join(_BANDWIDTHS)};"
            " name its bandwidth parameter with parameter="
        )
    values: list[Any] = list(candidates)
    for value in values:
        if isinstance(value, (int, float)) and not 0 < value < np.inf:
            raise ValueError(f"candidates: {name}={value} must be positive and finite")
    return _select(estimator, X, name, values, fraction, n_repeats, random_state, n_jobs)


def _select(
    estimator: BaseEstimator,
    X: Any,
    name: str,
    candidates: list[Any],
    fraction: float,
    n_repeats: int,
    random_state: int | None,
    n_jobs: int | None,
) -> ParameterChoice:
    """Score all candidates by their stability and select the first stable one."""
    if not candidates:
        raise ValueError("candidates is empty; pass at least one value")
    check_count("n_repeats", n_repeats, 2)  # to estimate the variance between splits
    if name not in estimator.get_params():
        raise ValueError(f"{type(estimator).__name__} has no parameter {name}")
    scores = []
    for value in candidates:
        stability = perturbation_stability(
            clone(estimator).set_params(**{name: value}),
            X,
            fraction=fraction,
            n_repeats=n_repeats,
            n_left_out=0,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        scores.append(mean_estimate(stability.movement_by_split[0]))
    return ParameterChoice(candidates[_first_stable(scores)], candidates, scores)


def _first_stable(scores: list[Estimate]) -> int:
    """Return the index of the first score within the interval of the best.

    Scores from the first one significantly worse than an earlier one onwards are not considered.
    """
    best = scores[0]
    for score in scores:
        if score.low > best.high:
            break
        best = min(best, score, key=lambda estimate: estimate.value)
    return next(i for i, score in enumerate(scores) if score.value <= best.high)
