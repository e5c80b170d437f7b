"""A dictionary generalises about as well as the full Gram matrix.

Ouimet and Bengio fig. 3: error on new points against the number of training points, kernel PCA and spectral
clustering, spiral and MNIST zeros and ones. The reference is computed from 6600 other points; maps are
aligned with it by linear regression. The curves of a dictionary of fixed tolerance are very close to those
of the full Gram matrix, and far below those of plain Nystrom with as many points as the dictionary has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from eigenscape.options import Dictionary
from experiments._experiment import Claim, Context, Outcome
from experiments._ouimet import NAMES, Problem, image_problem, log_axes, spiral_problem
from experiments._style import COLORS, new_figure

PAPER = "Ouimet and Bengio 2005, fig. 3"
FILES = ("mnist",)
#: Two fixed tolerances, large and small; those of the paper are given only in its figure.
_TOLERANCES = {
    ("digits", "additive"): (5e-3, 5e-4),
    ("digits", "divisive"): (3e-2, 8e-3),
    ("spiral", "additive"): (1e-1, 1e-3),
    ("spiral", "divisive"): (1e-1, 1e-3),
}


def run(context: Context) -> Outcome:
    """Measure the errors of both methods on both data sets."""
    sizes = context.pick(
        full=[125, 250, 500, 900, 1400, 2200, 3333], quick=[125, 250, 500, 900, 1400], tiny=[60, 120, 400]
    )
    n_test = context.pick(full=3300, quick=1500, tiny=400)
    repeats = context.pick(full=10, quick=3, tiny=2)
    curves: dict[tuple[str, str], dict[str, Any]] = {}
    data = ""
    for normalization in NAMES:
        problem, data = image_problem(context, normalization)
        curves["digits", normalization] = _curves(
            problem, sizes, repeats, _TOLERANCES["digits", normalization]
        )
        problem = spiral_problem(context, normalization, n_test)
        curves["spiral", normalization] = _curves(
            problem, sizes, repeats, _TOLERANCES["spiral", normalization]
        )
    claims = [_close(*key, curve, data) for key, curve in curves.items()] + [
        _better_than_nystrom(*key, curve, data) for key, curve in curves.items()
    ]
    numbers = {f"{points}, {NAMES[kind]}": curve for (points, kind), curve in curves.items()}
    return Outcome(
        claims, _figure(curves, data), {"repeats": repeats, **numbers}, f"{data}; spiral (generated)"
    )


def _curves(
    problem: Problem, sizes: list[int], repeats: int, tolerances: tuple[float, ...]
) -> dict[str, Any]:
    """Return geometric means of the errors over random training sets, and the size of each dictionary."""
    sizes = sorted({min(n, len(problem.pool)) for n in sizes})
    full = np.empty((repeats, len(sizes)))
    greedy = np.empty((repeats, len(tolerances), len(sizes)))
    nystrom = np.empty((repeats, len(tolerances)))  # with as many points as the largest dictionary has
    members = np.zeros((repeats, len(tolerances), len(sizes)), dtype=int)
    for repeat in range(repeats):
        X = problem.draw(sizes[-1], repeat)
        for j, n in enumerate(sizes):
            full[repeat, j] = problem.error(problem.plain(X[:n]))
            for i, tol in enumerate(tolerances):
                model = problem.dictionary(X[:n], Dictionary(tol=tol))
                greedy[repeat, i, j], members[repeat, i, j] = problem.error(model), len(model.dictionary_)
        for i in range(len(tolerances)):
            nystrom[repeat, i] = problem.error(problem.plain(X[: members[repeat, i, -1]]))
    return {
        "n": sizes,
        "sigma": problem.sigma,
        "n_test": len(problem.test),
        "n_others": len(problem.others),
        "full": _geometric_mean(full),
        "tolerances": tolerances,
        "dictionary": _geometric_mean(greedy),
        "dictionary_size": members.max(axis=0),
        "nystrom_on_as_many": _geometric_mean(nystrom),
    }


def _geometric_mean(errors: np.ndarray) -> np.ndarray:
    """Return the geometric mean over the first axis."""
    return np.exp(np.log(errors).mean(axis=0))


def _close(points: str, normalization: str, curve: dict[str, Any], data: str) -> Claim:
    """Return the claim that the error of the dictionary is close to that of the full Gram matrix."""
    ratio, m = curve["dictionary"][1] / curve["full"], curve["dictionary_size"][1, -1]
    return Claim(
        f"{points}, {NAMES[normalization]}: the error of the dictionary is very close to that of the full"
        " Gram matrix",
        "curves close together",
        f"ratio {ratio.min():.2f} to {ratio.max():.2f} for n = {curve['n'][0]} to {curve['n'][-1]},"
        f" with at most {m} dictionary points",
        bool(ratio.max() < 1.5 and m < curve["n"][-1] / 3),
        data=_data(points, data),
        criterion="ratio below 1.5 at every n, with fewer than a third of the points",
    )


def _better_than_nystrom(points: str, normalization: str, curve: dict[str, Any], data: str) -> Claim:
    """Return the claim that the dictionary has a much lower error than plain Nystrom."""
    ratio = curve["nystrom_on_as_many"] / curve["dictionary"][:, -1]
    sizes = curve["dictionary_size"][:, -1]
    return Claim(
        f"{points}, {NAMES[normalization]}: far better than plain Nystrom with as many points",
        "much better",
        " and ".join(f"{r:.1f} times lower with m = {m}" for r, m in zip(ratio, sizes, strict=True))
        + f", n = {curve['n'][-1]}",
        bool((ratio > 2).all()),
        data=_data(points, data),
        criterion="more than 2 times lower with both tolerances",
    )


def _data(points: str, images: str) -> str:
    """Return the description of the data of a claim."""
    return "generated" if points == "spiral" else images


def _figure(curves: dict[tuple[str, str], dict[str, Any]], data: str) -> Figure:
    """Draw the errors against the number of training points, one panel per method and data set."""
    figure = new_figure("Error on new points: dictionaries and the full Gram matrix", 11, 8)
    for axes, ((points, normalization), curve) in zip(
        figure.subplots(2, 2).ravel(), curves.items(), strict=True
    ):
        axes.plot(curve["n"], curve["full"], color="black", marker="o", label="full Gram matrix")
        rows = zip(
            curve["tolerances"],
            curve["dictionary"],
            curve["dictionary_size"][:, -1],
            curve["nystrom_on_as_many"],
            COLORS,
            strict=False,
        )
        for tol, errors, m, nystrom, color in rows:
            axes.plot(
                curve["n"],
                errors,
                color=color,
                marker="s",
                linestyle="--",
                label=rf"dictionary, $\epsilon$ = {tol:g}, m $\leq$ {m}",
            )
            axes.plot(
                m,
                nystrom,
                color=color,
                marker="D",
                markersize=9,
                markerfacecolor="none",
                linestyle="",
                label=f"plain Nystrom, {m} points",
            )
        name = data if points == "digits" else points
        axes.set(
            title=rf"{name}, {NAMES[normalization]}, $\sigma$ = {curve['sigma']:g}",
            xlabel="training points n",
            ylabel="error",
        )
        log_axes(axes, [30, 60, 125, 250, 500, 1000, 2000])
        axes.legend(fontsize=8.5)
    return figure
