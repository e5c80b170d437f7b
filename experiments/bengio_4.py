"""The error of the Nystrom formula equals that of exchanging about 2 % of the training points.

Bengio et al. fig. 4, sec. 5.3: delta is the displacement of points when a fraction of the training points is
exchanged, minus the distance between their out-of-sample embedding and their embedding as training points.
It increases with the fraction, almost monotonically, and crosses zero between 1 and 5 %. For MDS, spectral
clustering, Isomap and LLE on 698 faces; with similar results on Ionosphere and the swiss roll.

The paper's bandwidth of 0.01 applies to images in units that are not known: here it is the median distance
to the 10th neighbour. The crossing is that of the isotonic regression of delta on the fraction; its interval
is that of the regressions of the 95 % bounds. An interval that extends below 0.5 % or above 10 % is
inconclusive.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import spearmanr
from sklearn.datasets import load_digits
from sklearn.isotonic import isotonic_regression
from sklearn.neighbors import NearestNeighbors

from eigenscape.datasets import swiss_roll
from eigenscape.estimators import ClassicalMDS, Isomap, LaplacianEigenmaps, LocallyLinearEmbedding
from eigenscape.exceptions import DisconnectedGraphWarning
from eigenscape.quality import perturbation_stability
from eigenscape.quality.stability import Stability
from experiments._experiment import Claim, Context, Outcome
from experiments._faces import load_faces
from experiments._style import COLORS, new_figure

PAPER = "Bengio et al. 2004, fig. 4"
FILES = ("isomap_faces_32x32", "ionosphere")
NEIGHBORS = 10  # as printed
PRINTED = (0.01, 0.05)
INFORMATIVE = (0.005, 0.1)  # wider intervals of the crossing are inconclusive
FRACTIONS = [0.003, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2]


def run(context: Context) -> Outcome:
    """Measure delta for each method on each data set."""
    fractions = context.pick(FRACTIONS, FRACTIONS, [0.01, 0.05, 0.2])
    n_repeats, n_left_out = context.pick((8, 12), (3, 5), (2, 2))
    sets = _sets(context)
    stability: dict[str, dict[str, Stability]] = {}
    for name, (X, _) in sets.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DisconnectedGraphWarning)  # expected for Ionosphere
            stability[name] = {
                method: perturbation_stability(
                    estimator,
                    X,
                    fraction=fractions,
                    n_repeats=n_repeats,
                    n_left_out=n_left_out,
                    random_state=context.seed,
                    n_jobs=-1,
                )
                for method, estimator in _methods(X).items()
            }
    results = {
        name: {method: _numbers(one) for method, one in methods.items()}
        for name, methods in stability.items()
    }
    numbers = {
        "points": {name: len(X) for name, (X, _) in sets.items()},
        "n_neighbors": NEIGHBORS,
        "splits": n_repeats,
        "left_out": n_left_out,
        "fractions": fractions,
        "results": results,
    }
    data = {name: description for name, (_, description) in sets.items()}
    return Outcome(_claims(results, data), _draw(stability), numbers, "; ".join(data.values()))


def _sets(context: Context) -> dict[str, tuple[np.ndarray, str]]:
    """Return points and description of each data set."""
    faces = load_faces(context, context.pick(698, 698, 150))
    radar = context.load("ionosphere")
    roll = swiss_roll(context.pick(698, 500, 150), random_state=context.seed)[0]
    sets = {"faces": (faces.images, faces.data)}
    if radar is not None:
        sets["Ionosphere"] = radar["X"], "Ionosphere"
    elif not context.tiny:
        sets["digits"] = load_digits().data[:351], "stand-in: digits"
    return sets | {"swiss roll": (roll, "swiss roll (generated)")}


def _methods(X: np.ndarray) -> dict[str, Any]:
    """Return the four estimators; the bandwidth depends on the data."""
    bandwidth = np.median(NearestNeighbors(n_neighbors=NEIGHBORS).fit(X).kneighbors()[0][:, -1])
    return {
        "MDS": ClassicalMDS(2),
        "spectral clustering": LaplacianEigenmaps(2, affinity="rbf", gamma=1 / (2 * bandwidth**2)),
        "Isomap": Isomap(2, n_neighbors=NEIGHBORS),
        "LLE": LocallyLinearEmbedding(2, n_neighbors=NEIGHBORS),
    }


def crossing(fractions: np.ndarray, values: np.ndarray) -> float:
    """Return the fraction at which the isotonic regression of the values crosses zero.

    The result is 0 if the regression is positive everywhere, and infinity if it is never positive.
    """
    rising = isotonic_regression(values)
    if rising[0] > 0:
        return 0.0
    above = np.flatnonzero(rising > 0)
    if not len(above):
        return float("inf")
    i = above[0]
    return float(np.interp(0, rising[i - 1 : i + 1], fractions[i - 1 : i + 1]))


def _numbers(one: Stability) -> dict[str, Any]:
    """Return the numbers of one method on one data set, with the crossing and its interval."""
    low, value, high = (
        crossing(one.fractions, np.array([getattr(d, key) for d in one.delta]))
        for key in ("high", "value", "low")
    )
    return {
        "delta": one.delta,
        "perturbation": one.perturbation,
        "induction": one.induction,
        "by_split": one.by_split,
        "spread": one.spread,
        "fractions": one.fractions,
        "rank_correlation": float(spearmanr(one.fractions, [d.value for d in one.delta]).statistic),
        "crossing": [low, value, high],
    }


def _claims(results: dict[str, dict[str, dict[str, Any]]], data: dict[str, str]) -> list[Claim]:
    """Return the claims on each data set; those on the first data set are separate for each method."""
    claims = []
    for number, (name, methods) in enumerate(results.items()):
        rises = {method: one["rank_correlation"] for method, one in methods.items()}
        shown = "rank correlation " + ", ".join(f"{value:.2f} ({method})" for method, value in rises.items())
        claims.append(
            Claim(
                f"{name}: delta increases with the fraction exchanged",
                "almost monotonically",
                shown,
                min(rises.values()) > 0.8,
                _rise(methods),
                criterion="above 0.8 for every method",
                data=data[name],
            )
        )
        if number == 0:
            claims += [
                crosses(f"{name}, {method}", {method: one}, 1, data[name]) for method, one in methods.items()
            ]
        else:
            claims.append(crosses(f"{name}, most methods", methods, 3, data[name]))
    return claims


def _rise(methods: dict[str, dict[str, Any]]) -> str:
    """Explain why delta does not increase: instability of the map, and differences between splits."""
    notes = []
    for method, one in methods.items():
        if one["rank_correlation"] <= 0.8:
            moved = one["perturbation"][0].value / one["spread"]
            split_range = np.ptp(one["by_split"], axis=1).max() / one["spread"]
            splits = f"; the {np.shape(one['by_split'])[1]} splits differ by up to {split_range:.0%}"
            notes.append(
                f"{method}: the smallest exchange moves the map by {moved:.0%} of its spread{splits}"
            )
    return ". ".join(notes)


def crosses(name: str, methods: dict[str, dict[str, Any]], least: int, data: str) -> Claim:
    """Return the claim that delta crosses zero in the printed range, with a conclusive interval."""
    missed = {method: reason for method, one in methods.items() if (reason := _missed(one))}
    held = len(methods) - len(missed) >= least
    shown = "; ".join(
        f"{method} " * (len(methods) > 1) + "{1} ({0} to {2})".format(*map(_share, one["crossing"]))
        for method, one in methods.items()
    )
    low, high = (f"{100 * bound:g}" for bound in INFORMATIVE)
    criterion = f"crossing in 1 to 5 %, its interval within {low} to {high} %"
    return Claim(
        f"{name}: delta crosses zero between 1 and 5 %",
        "about 2 %, 1 to 5 %",
        f"at {shown}",
        held,
        ". ".join(f"{method}: {reason}" for method, reason in missed.items()),
        criterion=criterion
        if len(methods) == 1
        else f"{criterion}, for at least {least} of {len(methods)} methods",
        data=data,
    )


def _missed(one: dict[str, Any]) -> str:
    """Explain why a crossing differs from the printed range; return an empty text if it does not."""
    low, value, high = one["crossing"]
    if PRINTED[0] <= value <= PRINTED[1]:
        certain = INFORMATIVE[0] <= low and high <= INFORMATIVE[1]
        return (
            ""
            if certain
            else f"at {_share(value)}, but the interval, {_share(low)} to {_share(high)}, is too wide"
        )
    early = value < PRINTED[0]
    index = int(np.argmin(np.abs(np.asarray(one["fractions"]) - PRINTED[0 if early else 1])))
    moved, error_new = (
        100 * error / one["spread"]
        for error in (one["perturbation"][index].value, one["induction"][index].value)
    )
    beyond = (PRINTED[0] <= high) if early else (low <= PRINTED[1])
    return (
        f"{'earlier' if early else 'later'}: with {_share(one['fractions'][index])} exchanged the map moves"
        f" by {moved:.2g} % of its spread, and the error of new points is {error_new:.2g} %"
        + "; the interval overlaps the printed range"
        * bool(beyond)
    )


def _share(fraction: float) -> str:
    """Return a fraction as text in percent."""
    return "never" if fraction == np.inf else "below 0.3 %" if fraction == 0 else f"{100 * fraction:.1f} %"


def _draw(stability: dict[str, dict[str, Stability]]) -> Figure:
    """Draw delta against the fraction exchanged, one panel for each data set and method."""
    figure = new_figure(
        "Displacement by exchanging training points minus error of new points",
        13,
        2.9 * len(stability) + 0.4,
    )
    panels = figure.subplots(len(stability), 4, squeeze=False, sharex=True)
    for row, (name, methods) in zip(panels, stability.items(), strict=True):
        for axes, (method, one) in zip(row, methods.items(), strict=True):
            low, value, high = (
                100 / one.spread * np.array([getattr(d, key) for d in one.delta])
                for key in ("low", "value", "high")
            )
            axes.axvspan(100 * PRINTED[0], 100 * PRINTED[1], color="#e8edf3", zorder=0)
            axes.axhline(0, color="#555555", lw=0.8)
            axes.errorbar(
                100 * one.fractions,
                value,
                [value - low, high - value],
                color=COLORS[0],
                marker="o",
                ms=4,
                capsize=3,
                lw=1.4,
            )
            axes.set(
                title=f"{name}: {method}",
                xscale="log",
                xticks=[0.3, 1, 2, 5, 10, 20],
                xticklabels=["0.3", "1", "2", "5", "10", "20"],
            )
            axes.minorticks_off()
        row[0].set_ylabel("delta, % of the map's spread")
    for axes in panels[-1]:
        axes.set_xlabel("training points exchanged, %")
    return figure
