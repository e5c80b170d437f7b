"""Most projections of high-dimensional data are approximately normal, those of Cauchy data are not.

Burges sec. 1, after Diaconis and Freedman: if most vectors have about the same length and most pairs are
about orthogonal (note 3), the distribution of the projections on most directions tends to a normal one as
dimension and sample size grow. If the conditions are not fulfilled the opposite can hold: most projections
of Cauchy distributed data are Cauchy.

The data have independent coordinates: uniform, exponential, two-valued, Cauchy. The distance of Kolmogorov
and Smirnov between the projections on random directions and a distribution is divided by its 5 % critical
value: below 1 the sample cannot be distinguished from the distribution.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure
from scipy import stats

from eigenscape.estimators import ProjectionPursuit
from experiments._experiment import NOT_PRINTED, Claim, Context, Outcome
from experiments._style import COLORS, new_figure

PAPER = "Burges 2005, sec. 1"
EPSILON = 0.2  # of the conditions of note 3
CRITICAL = 1.358  # 5 % critical value of sqrt(m) times the distance


def samples(name: str, rng: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Return points with independent coordinates, of mean 0 and variance 1 unless they are Cauchy."""
    if name == "uniform":
        return rng.uniform(-np.sqrt(3), np.sqrt(3), shape)
    if name == "exponential":
        return rng.exponential(size=shape) - 1
    if name == "two-valued":
        return rng.choice([-1.0, 1.0], shape)
    return rng.standard_cauchy(shape)


FINITE = ("exponential", "uniform", "two-valued")


def run(context: Context) -> Outcome:
    """Measure how normal the projections of samples of increasing dimension are."""
    dimensions = context.pick([2, 5, 20, 100, 500, 2000], [2, 5, 20, 100, 500], [2, 20, 200])
    m, n_directions = context.pick((2000, 400), (1000, 200), (500, 60))
    distances: dict[str, np.ndarray] = {
        name: np.empty((len(dimensions), n_directions)) for name in (*FINITE, "Cauchy", "Cauchy as Cauchy")
    }
    conditions: dict[str, np.ndarray] = {name: np.empty((len(dimensions), 2)) for name in (*FINITE, "Cauchy")}
    examples = {}
    for i, d in enumerate(dimensions):
        for j, name in enumerate((*FINITE, "Cauchy")):
            rng = np.random.default_rng([context.seed, d, j])
            X = samples(name, rng, (m, d))
            directions = rng.standard_normal((d, n_directions))
            directions /= np.linalg.norm(directions, axis=0)
            projections = X @ directions  # (m, n_directions)
            conditions[name][i] = violations(X)
            examples[name] = projections[:, 0]
            if name == "Cauchy":
                scales = np.abs(directions).sum(axis=0)  # a sum of Cauchy variables is Cauchy
                distances["Cauchy as Cauchy"][i] = statistic(projections / scales, stats.cauchy.cdf)
                projections = (projections - np.median(projections, axis=0)) / (
                    stats.iqr(projections, axis=0) / 1.349  # a normal distribution of the same quartiles
                )
            distances[name][i] = statistic(projections, stats.norm.cdf)
    share = {name: np.mean(values < 1, axis=1) for name, values in distances.items()}
    cosines = {
        d: found_direction(context.seed, d, m) for d in context.pick([5, 10, 20, 50], [5, 10, 20, 50], [5])
    }
    numbers = {
        "dimensions": dimensions,
        "samples": m,
        "directions": n_directions,
        "share_indistinguishable": share,
        "median_distance": {name: np.median(values, axis=1) for name, values in distances.items()},
        "conditions_violated": conditions,
        "cosine_of_pursuit": {str(d): cosine for d, cosine in cosines.items()},
    }
    claims = [
        *(_normal(name, dimensions, share[name], conditions[name]) for name in FINITE),
        *_cauchy(dimensions, share, conditions["Cauchy"]),
        Claim(
            "projection pursuit finds the one direction that is not normal",
            NOT_PRINTED,
            "|cosine| with a direction of two clusters, hidden in normal data: "
            + ", ".join(f"{cosine:.3f} (d = {d})" for d, cosine in cosines.items()),
            min(cosines.values()) > 0.95,
            "" if min(cosines.values()) > 0.95 else "The search ends in a local maximum of the index.",
            criterion="above 0.95 in every dimension",
            kind="exploration",
        ),
    ]
    return Outcome(claims, _draw(dimensions, distances, examples), numbers, "generated")


def violations(X: np.ndarray) -> np.ndarray:
    """Return the fractions of vectors and of pairs that violate the two conditions of Burges note 3.

    They are ``| |x|^2 - d | > epsilon d`` and ``|<x, x'>| > epsilon d``, for points of unit variance.
    """
    d = X.shape[1]
    G = X[:500] @ X[:500].T
    pairs = np.abs(G[np.triu_indices(len(G), 1)]) > EPSILON * d
    return np.array([np.mean(np.abs(np.sum(X**2, axis=1) - d) > EPSILON * d), pairs.mean()])


def statistic(projections: np.ndarray, cdf: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """Return the Kolmogorov-Smirnov distances of the columns, divided by the 5 % critical value."""
    m = len(projections)
    F = cdf(np.sort(projections, axis=0))
    steps = np.arange(m + 1)[:, None] / m
    distance = np.maximum((steps[1:] - F).max(axis=0), (F - steps[:-1]).max(axis=0))
    return np.sqrt(m) * distance / CRITICAL


def found_direction(seed: int, d: int, m: int) -> float:
    """Return the cosine of the direction of pursuit and that of two clusters, in normal data."""
    rng = np.random.default_rng([seed, d])
    X = rng.standard_normal((m, d))
    direction = rng.standard_normal(d)
    direction /= np.linalg.norm(direction)
    clusters = rng.choice([-1.0, 1.0], m) * 0.95 + np.sqrt(1 - 0.95**2) * rng.standard_normal(m)
    X += np.outer(clusters - X @ direction, direction)
    found = ProjectionPursuit(1, random_state=seed).fit(X).components_[0]
    return float(abs(found @ direction) / np.linalg.norm(found))


def _normal(name: str, dimensions: list[int], share: np.ndarray, violated: np.ndarray) -> Claim:
    """Return the claim that most projections of one kind of data become normal."""
    return Claim(
        f"most projections of {name} data are approximately normal in high dimensions",
        "most projections",
        "indistinguishable from normal: "
        + ", ".join(f"{value:.0%} (d = {d})" for d, value in zip(dimensions, share, strict=True)),
        bool(share[-1] > 0.5),
        f"Conditions violated at d = {dimensions[-1]}: lengths {violated[-1, 0]:.0%},"
        f" pairs {violated[-1, 1]:.0%}; at d = {dimensions[0]}: {violated[0, 0]:.0%}, {violated[0, 1]:.0%}.",
        criterion=f"more than half of the directions at d = {dimensions[-1]}",
    )


def _cauchy(dimensions: list[int], share: dict[str, np.ndarray], violated: np.ndarray) -> list[Claim]:
    """Return the claims on Cauchy data."""
    return [
        Claim(
            "most projections of Cauchy data are not normal, in any dimension",
            "most projections are not normal",
            f"indistinguishable from normal: at most {share['Cauchy'].max():.0%} of the directions",
            bool(share["Cauchy"].max() < 0.5),
            f"Conditions violated at d = {dimensions[-1]}: lengths {violated[-1, 0]:.0%},"
            f" pairs {violated[-1, 1]:.0%}.",
            criterion="fewer than half of the directions, at every d",
        ),
        Claim(
            "most projections of Cauchy data are Cauchy",
            "most projections",
            f"indistinguishable from Cauchy: {share['Cauchy as Cauchy'].min():.0%} of the directions or more",
            bool(share["Cauchy as Cauchy"].min() > 0.5),
            criterion="more than half of the directions, at every d",
        ),
    ]


def _draw(dimensions: list[int], distances: dict[str, np.ndarray], examples: dict[str, np.ndarray]) -> Figure:
    """Draw the distances by dimension, and the projections on one direction."""
    figure = new_figure("Projections of high-dimensional data on random directions", 13, 4.4)
    left, right = figure.subplots(1, 2, width_ratios=[1.2, 1])
    for (name, values), color in zip(distances.items(), COLORS, strict=False):
        low, middle, high = np.quantile(values, [0.1, 0.5, 0.9], axis=1)
        label = name if name.startswith("Cauchy as") else f"{name} as normal"
        left.loglog(dimensions, middle, "o-", color=color, ms=4, label=label)
        left.fill_between(dimensions, low, high, color=color, alpha=0.12, lw=0)
    left.axhline(1, color="#555555", lw=0.8, ls="--")
    left.set(
        title="distance from the distribution (dashed: 5 % critical value)",
        xlabel="dimension",
        xticks=dimensions,
        xticklabels=dimensions,
    )
    left.set_yticks([0.5, 1, 2, 5], ["0.5", "1", "2", "5"])
    left.minorticks_off()
    left.legend(fontsize=8)
    m = len(next(iter(examples.values())))
    normal = stats.norm.ppf((np.arange(m) + 0.5) / m)
    for (name, values), color in zip(examples.items(), COLORS, strict=False):
        scaled = np.sort(values - np.median(values)) / (stats.iqr(values) / 1.349)
        right.plot(normal, scaled, color=color, lw=1.4, label=name)
    right.plot([-3.5, 3.5], [-3.5, 3.5], color="#555555", lw=0.8, ls="--")
    right.set(
        title=f"quantiles of one projection, d = {dimensions[-1]}",
        xlabel="normal quantile",
        ylabel="quantile",
        xlim=(-3.5, 3.5),
        ylim=(-6, 6),
    )
    right.legend(fontsize=8)
    return figure
