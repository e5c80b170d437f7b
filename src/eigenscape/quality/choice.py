"""Parameters chosen so that the map does not depend on which points happened to be drawn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from eigenscape.kernels.base import n_points
from eigenscape.quality.arguments import check_whole
from eigenscape.quality.estimate import Estimate, mean_estimate
from eigenscape.quality.stability import perturbation_stability

#: Names that a width goes by, in the order in which they are looked for.
_WIDTHS = ("bandwidth", "t", "gamma", "sigma")
#: Numbers of neighbours to try.
_USUAL = (5, 7, 10, 14, 20)


class Choice(NamedTuple):
    """The value to use, all that were tried, and how far points moved with each (see :class:`Stability`; less
    is better)."""

    best: Any
    candidates: list[Any]
    scores: list[Estimate]


def choose_n_neighbors(
    estimator: Any,
    X: Any,
    candidates: Iterable[int] | None = None,
    *,
    fraction: float = 0.1,
    n_repeats: int = 5,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> Choice:
    """The smallest number of neighbours with a stable map.

    Each candidate is scored by how far points move when training points are exchanged
    (:func:`perturbation_stability`), as a share of the map's spread. Too few neighbours make a graph that
    hangs on single edges, too many make short cuts that come and go: both move points. Very many are stable
    again, since all short cuts are there for good. So the candidates are looked at in ascending order up to
    the first that is clearly worse than an earlier one (its interval lies above), and of those before it the
    smallest wins whose score lies within the interval of the best. Stability does not know short cuts that
    are always there: offer candidates that are small beside the data, and look at ``scores``.

    Parameters
    ----------
    estimator : estimator with a parameter ``n_neighbors``
        Cloned, never changed.
    X : array-like of shape (n, n_features)
        The data.
    candidates : iterable of int or None, default=None
        None: 5, 7, 10, 14, 20, as far as there are points for them.
    fraction, n_repeats, random_state, n_jobs
        As for :func:`perturbation_stability`; at least two repeats.

    Returns
    -------
    Choice
        ``best``, ``candidates`` and their ``scores``, a mean over splits with its 95 % interval.

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
    room = n - int(np.ceil(fraction * n)) - 1
    if candidates is None and room < _USUAL[0]:
        raise ValueError(
            f"{n} points are too few for {_USUAL[0]} neighbours, the fewest of the usual candidates; give candidates"
        )
    tried = [k for k in _USUAL if k <= room] if candidates is None else sorted(set(candidates))
    for k in tried:
        check_whole("candidates: n_neighbors", k)
        if not 1 <= k <= n - np.rint(fraction * n) - 1:
            raise ValueError(
                f"candidates: n_neighbors={k} must lie between 1 and {int(n - np.rint(fraction * n)) - 1}, for of {n} points all but"
                f" the fraction of {fraction} are trained on at a time"
            )
    return _most_stable(estimator, X, "n_neighbors", tried, fraction, n_repeats, random_state, n_jobs)


def choose_bandwidth(
    estimator: Any,
    X: Any,
    candidates: Iterable[float],
    *,
    parameter: str | None = None,
    fraction: float = 0.1,
    n_repeats: int = 5,
    random_state: int | None = 0,
    n_jobs: int | None = None,
) -> Choice:
    """The first of some widths of a kernel that has a stable map, by the rule of :func:`choose_n_neighbors`.

    Very wide kernels are very stable and show little: a Gaussian one comes to linear PCA. Offer the narrow
    ones first.

    Parameters
    ----------
    estimator : estimator with a width
        Cloned, never changed.
    X : array-like of shape (n, n_features)
        The data.
    candidates : iterable of float
        Widths to try, the preferred first: narrow ones show more detail. They are tried in the order given.
    parameter : str or None, default=None
        What the width is called. None: the first of "bandwidth", "t", "gamma" and "sigma" that the estimator
        has.
    fraction, n_repeats, random_state, n_jobs
        As for :func:`perturbation_stability`; at least two repeats.

    Returns
    -------
    Choice
        As from :func:`choose_n_neighbors`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from eigenscape import KernelPCA
    >>> from eigenscape.quality import choose_bandwidth
    >>> choice = choose_bandwidth(KernelPCA(), load_iris().data, [100.0, 1.0, 0.1], n_repeats=3)
    >>> choice.best < 100
    True
    """
    known = estimator.get_params(deep=False)
    name = parameter or next((name for name in _WIDTHS if name in known), None)
    if name is None or name not in known:
        raise ValueError(
            f"{type(estimator).__name__} has no parameter {name or ' or '.join(_WIDTHS)}; name its width with parameter="
        )
    widths = list(candidates)
    for width in widths:
        if isinstance(width, (int, float)) and not 0 < width < np.inf:
            raise ValueError(f"candidates: {name}={width} must be above 0 and finite")
    return _most_stable(estimator, X, name, widths, fraction, n_repeats, random_state, n_jobs)


def _most_stable(
    estimator: Any,
    X: Any,
    name: str,
    candidates: list,
    fraction: float,
    n_repeats: int,
    random_state: int | None,
    n_jobs: int | None,
) -> Choice:
    if not candidates:
        raise ValueError("candidates is empty; give at least one value to try")
    check_whole("n_repeats", n_repeats)
    if n_repeats < 2:
        raise ValueError(
            f"n_repeats={n_repeats} must be at least 2: one split says nothing of how much is chance"
        )
    if name not in estimator.get_params(deep=False):
        raise ValueError(f"{type(estimator).__name__} has no parameter {name}")
    options: dict[str, Any] = {
        "fraction": fraction,
        "n_repeats": n_repeats,
        "n_left_out": 0,
        "random_state": random_state,
        "n_jobs": n_jobs,
    }
    scores = []
    for value in candidates:
        found = perturbation_stability(clone(estimator).set_params(**{name: value}), X, **options)
        scores.append(mean_estimate(found.movement_by_split[0]))
    return Choice(candidates[_first_valley(scores)], candidates, scores)


def _first_valley(scores: list[Estimate]) -> int:
    """The first score as good as the best before the first ridge, a score whose interval lies above that of
    the best so far."""
    best = scores[0]
    for score in scores:
        if score.low > best.high:
            break
        best = min(best, score, key=lambda estimate: estimate.value)
    return next(i for i, score in enumerate(scores) if score.value <= best.high)
