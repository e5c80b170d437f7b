"""Projecting all points matters more than the selection of the dictionary.

Ouimet and Bengio fig. 4, n = 3365 and three components: below about 65 points a greedy dictionary has a
lower error than a random one of the same size, with a larger difference for smaller dictionaries; with all
other points projected on the span of the dictionary, fewer than 100 points are as good as about 900 points
of plain Nystrom with a random subset.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from eigenscape.options import Dictionary
from experiments._experiment import Claim, Context, Outcome
from experiments._ouimet import image_problem, log_axes
from experiments._style import COLORS, new_figure

PAPER = "Ouimet and Bengio 2005, fig. 4"
FILES = ("mnist",)
_NAMES = {
    "greedy": "greedy dictionary, others projected",
    "random": "random dictionary, others projected",
    "plain": "plain Nystrom",
}


def run(context: Context) -> Outcome:
    """Measure the errors of the three methods for each subset size, over random training sets."""
    problem, data = image_problem(context, "additive")
    n = min(context.pick(full=3365, quick=2000, tiny=800), len(problem.pool))
    small = context.pick(full=[8, 15, 22, 34, 44, 65, 100], quick=[8, 15, 22, 34, 65, 100], tiny=[8, 22, 65])
    large = [size for size in (200, 400, 600, 900, 1300, 2000, 3365) if size < n] + [n]
    repeats, few = context.pick(full=(40, 10), quick=(12, 4), tiny=(2, 2))
    errors = {name: np.empty((repeats, len(small))) for name in ("greedy", "random")}
    errors["plain"] = np.empty((few, len(small) + len(large)))
    for repeat in range(repeats):
        X = problem.draw(n, repeat)
        for j, size in enumerate(small):
            errors["greedy"][repeat, j] = problem.error(problem.greedy(X, size))
            random_models = [
                problem.dictionary(X, Dictionary(size, selection="random"), 10 * repeat + i) for i in range(3)
            ]
            errors["random"][repeat, j] = np.exp(
                np.mean([np.log(problem.error(model)) for model in random_models])
            )
        for j, size in enumerate([*small, *large] if repeat < few else []):
            errors["plain"][repeat, j] = problem.error(problem.plain(X[:size]))
    means = {name: np.exp(np.log(values).mean(axis=0)) for name, values in errors.items()}
    return Outcome(
        _claims(errors, means, small, large),
        _figure(errors, means, small, large, n),
        {
            "n": n,
            "n_test": len(problem.test),
            "n_others": len(problem.others),
            "sizes": small,
            "plain_sizes": [*small, *large],
            "repeats": repeats,
            "geometric_mean": means,
            "errors": errors,
        },
        data,
    )


def _claims(
    errors: dict[str, np.ndarray], means: dict[str, np.ndarray], small: list[int], large: list[int]
) -> list[Claim]:
    """Return the claims on greedy and random dictionaries and on plain Nystrom."""
    advantage = np.log(errors["random"] / errors["greedy"])
    middle = advantage.mean(axis=0)
    half = 1.96 * advantage.std(axis=0, ddof=1) / np.sqrt(len(advantage))
    below, sizes = np.array(small) < 65, [*small, *large]
    pooled = advantage[:, below].mean(axis=1)
    low = pooled.mean() - 1.96 * pooled.std(ddof=1) / np.sqrt(len(pooled))
    ratios = ", ".join(
        f"m = {m}: {np.exp(a):.2f} ({np.exp(a - h):.2f} to {np.exp(a + h):.2f})"
        for m, a, h in zip(small, middle, half, strict=True)
    )
    lower = [m for m, a, h in zip(small, middle, half, strict=True) if m < 65 and a > h]
    significant = ", ".join(f"m = {m}" for m in lower) or "none"
    at_100 = means["greedy"][-1]
    needed = next((size for size, error in zip(sizes, means["plain"], strict=True) if error <= at_100), None)
    return [
        Claim(
            "below 65 points a greedy dictionary has the lower error",
            "significantly, the more so for smaller ones",
            f"over all sizes below 65 together {np.exp(pooled.mean()):.2f} times lower; ratio of random to"
            f" greedy for {ratios}",
            bool(low > 0),
            criterion="95 % interval of the ratio over all sizes below 65 above 1",
            why=f"Significant for single sizes: {significant}; the intervals are wide because training sets"
            " are random. The greedy dictionary is selected by algorithm 1; that of algorithm 2, which adds"
            " the farthest points, is not better than a random one here.",
        ),
        Claim(
            "from 65 points on both errors are similar",
            "similar",
            f"ratio {np.exp(middle[~below].min()):.2f} to {np.exp(middle[~below].max()):.2f}",
            bool(np.abs(middle[~below]).max() < np.log(1.5)),
            criterion="every ratio below 1.5",
        ),
        Claim(
            f"with projection, {small[-1]} points are as good as about 900 of plain Nystrom",
            "fewer than 100 compared with about 900",
            f"{small[-1]} points: {at_100:.1e}; plain Nystrom needs"
            f" {f'about {needed}' if needed else f'more than {sizes[-1]}'}",
            needed is None or needed >= 7 * small[-1],
            criterion=f"plain Nystrom needs at least {7 * small[-1]}",
        ),
    ]


def _figure(
    errors: dict[str, np.ndarray], means: dict[str, np.ndarray], small: list[int], large: list[int], n: int
) -> Figure:
    """Draw the error of each method against the subset size."""
    figure = new_figure(f"Error with a subset of m points out of n = {n}", 9, 5.2)
    axes: Any = figure.subplots()
    for (name, label), color in zip(_NAMES.items(), COLORS, strict=False):
        sizes = [*small, *large] if name == "plain" else small
        spread = np.exp(1.96 * np.log(errors[name]).std(axis=0, ddof=1) / np.sqrt(len(errors[name])))
        axes.plot(sizes, means[name], marker="o", color=color, label=label)
        axes.fill_between(
            sizes, means[name] / spread, means[name] * spread, color=color, alpha=0.15, linewidth=0
        )
    log_axes(axes, [8, 15, 30, 65, 125, 250, 500, 1000, 2000])
    axes.set(
        xlabel="points in the subset m",
        ylabel="error on new points (mean of training sets, 95 %)",
        title="kernel PCA, three components",
    )
    axes.legend()
    return figure
