"""Errors of a dictionary and of plain training at equal sizes and at equal running time.

Ouimet and Bengio table 1, MNIST, n = 1300: at equal running time the error of a dictionary on new points is
far lower than that of plain training on as many points as the time allows, 22 times for kernel PCA (m = 34)
and 4.7 times for spectral clustering (m = 41). Three questions are asked. (1) Errors at the printed sizes,
which need no clock. (2) Errors at equal time, if plain training computes all eigenvectors of its Gram matrix,
the O(n^3) operation that the paper avoids, and if the time includes placing the test images: without the
5.7 seconds that all rows of the table have in common, the printed times of n = 550 and 1300 grow like
n^2.7. (3) As an own check, the same with today's solver, which computes only the eigenvectors needed.

Times are processor times on one core, the minimum of several rounds in which all candidates are run in turn.
The size of equal time is interpolated between the sizes measured; errors are those of the next larger size,
geometric means over random training sets, so that the factor is their ratio.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from threadpoolctl import threadpool_limits

from eigenscape.options import Dictionary
from experiments._experiment import NOT_PRINTED, Claim, Context, Outcome
from experiments._ouimet import NAMES, Problem, image_problem, log_axes, tolerance
from experiments._style import COLORS, new_figure

PAPER = "Ouimet and Bengio 2005, table 1"
FILES = ("mnist",)
#: For each dictionary size the printed values: plain size of equal time, seconds, and both errors.
PRINTED = {
    "additive": {
        34: (250, 5.71, 1.48e-4, 6.64e-6),
        55: (250, 5.72, 1.48e-4, 6.40e-6),
        126: (550, 6.46, 8.27e-6, 3.99e-6),
    },
    "divisive": {
        41: (325, 5.80, 2.41e-4, 5.16e-5),
        65: (400, 5.95, 2.37e-4, 5.61e-5),
        138: (700, 7.18, 1.58e-4, 8.74e-5),
    },
}
#: Solvers of plain training.
SOLVERS = {"all": "all eigenvectors", "few": "today's solver"}
_MAX_ALL = 900  # larger Gram matrices take far longer than the largest dictionary
_LOWER = "95 % interval of the factor above 1.05"
_CURVES = {
    "dictionary": (COLORS[1], "o", "dictionary of m points"),
    "all": ("black", "s", "plain, all eigenvectors"),
    "few": (COLORS[5], "D", "plain, today's solver"),
}


def run(context: Context) -> Outcome:
    """Measure errors, which depend on the seed only, then times."""
    repeats, rounds = context.pick(full=(48, 15), quick=(24, 5), tiny=(2, 1))
    sizes = context.pick(
        full=(60, 90, 125, 175, 250, 325, 400, 550, 700, 900, 1300),
        quick=(90, 175, 250, 325, 400, 550, 700, 1300),
        tiny=(60, 125, 250, 325, 400, 550, 700),
    )
    tables: dict[str, Any] = {}
    data = ""
    for normalization, printed in PRINTED.items():
        problem, data = image_problem(context, normalization)
        n = min(context.pick(full=1300, quick=1300, tiny=800), len(problem.pool))
        table = _errors(problem, n, [size for size in sizes if size <= n], list(printed), repeats)
        table["n_test"], table["n_others"] = len(problem.test), len(problem.others)
        table["seconds"] = _seconds(problem, problem.draw(n, 0), table, rounds)
        table["rows"] = [_row(table, m, values[0]) for m, values in printed.items()]
        tables[normalization] = table
    claims = [claim for normalization, table in tables.items() for claim in _claims(normalization, table)]
    numbers = {
        NAMES[key]: {
            name: table[name] for name in ("n", "n_test", "n_others", "plain", "dictionary", "tolerances")
        }
        for key, table in tables.items()
    }
    timings = {
        NAMES[key]: {name: table[name] for name in ("seconds", "rows")} for key, table in tables.items()
    }
    return Outcome(claims, _figure(tables, data), {"repeats": repeats, **numbers}, data, timings)


def _errors(problem: Problem, n: int, plain: list[int], sizes: list[int], repeats: int) -> dict[str, Any]:
    """Return the errors for each size of the plain training set and of the dictionary.

    The tolerance of a dictionary is the same for all training sets.
    """
    first = problem.draw(n, 0)
    tolerances = {m: tolerance(first, m, problem.gamma, problem.normalization == "additive") for m in sizes}
    errors: dict[str, dict[int, list[float]]] = {
        "plain": {size: [] for size in plain},
        "dictionary": {m: [] for m in sizes},
    }
    for repeat in range(repeats):
        X = problem.draw(n, repeat)
        for size, values in errors["plain"].items():
            values.append(problem.error(problem.plain(X[:size])))
        for m, values in errors["dictionary"].items():
            values.append(problem.error(problem.dictionary(X, Dictionary(tol=tolerances[m]))))
    return {"n": n, **errors, "tolerances": tolerances}


def _seconds(
    problem: Problem, X: np.ndarray, table: dict[str, Any], rounds: int
) -> dict[str, dict[str, dict[int, float]]]:
    """Return the minimum times on one core: of training ("fit"), and with placing the test data ("total").

    All candidates are run in turn, so that other load of the machine affects all of them.
    """
    candidates: dict[tuple[str, int], Callable[[], Any]] = {
        ("few", size): partial(problem.plain, X[:size]) for size in table["plain"]
    }
    candidates |= {
        ("all", size): partial(problem.decomposed, X[:size]) for size in table["plain"] if size <= _MAX_ALL
    }
    candidates |= {
        ("dictionary", m): partial(problem.dictionary, X, Dictionary(tol=tol))
        for m, tol in table["tolerances"].items()
    }
    best: dict[str, dict[str, dict[int, float]]] = {
        part: {kind: {} for kind in _CURVES} for part in ("fit", "total")
    }
    with threadpool_limits(1):
        for _ in range(rounds):
            for (kind, size), train in candidates.items():
                start = time.process_time()
                model = train()
                trained = time.process_time()
                model.eigenfunctions(problem.test)
                for part, seconds in (("fit", trained - start), ("total", time.process_time() - start)):
                    best[part][kind][size] = min(best[part][kind].get(size, np.inf), seconds)
    return best


def equal_size(seconds: dict[int, float], wanted: float) -> tuple[float, int]:
    """Return the size whose time is ``wanted``, interpolated, and the smallest measured size not below it.

    Both are the largest size if all sizes take less time. Times are interpolated linearly in logarithms;
    below the smallest size the size is the smallest.
    """
    sizes = sorted(seconds)
    times = np.maximum.accumulate([seconds[size] for size in sizes])  # a larger size does not take less
    interpolated = float(np.exp(np.interp(np.log(wanted), np.log(times), np.log(sizes))))
    return interpolated, next((size for size in sizes if seconds[size] >= wanted), sizes[-1])


def _row(table: dict[str, Any], m: int, printed: int) -> dict[str, Any]:
    """Return the comparison of one dictionary with plain training, for each of the questions."""
    seconds = table["seconds"]
    comparisons = {"printed": _compare(table, m, printed)}
    for name, part, kind in (("all", "total", "all"), ("few", "total", "few"), ("fit", "fit", "few")):
        wanted = seconds[part]["dictionary"][m]
        interpolated, size = equal_size(seconds[part][kind], wanted)
        comparisons[name] = {"seconds": wanted, "interpolated": interpolated, **_compare(table, m, size)}
    return {"m": m, **comparisons}


def _compare(table: dict[str, Any], m: int, n: int) -> dict[str, float]:
    """Return both errors and their ratio with its 95 % interval over the training sets."""
    logs = np.log(np.array(table["plain"][n]) / table["dictionary"][m])
    half = 1.96 * logs.std(ddof=1) / np.sqrt(len(logs))
    low, ratio, high = np.exp([logs.mean() - half, logs.mean(), logs.mean() + half])
    plain, dictionary = (np.exp(np.mean(np.log(e))) for e in (table["plain"][n], table["dictionary"][m]))
    return {"n": n, "plain": plain, "dictionary": dictionary, "ratio": ratio, "low": low, "high": high}


def _claims(normalization: str, table: dict[str, Any]) -> list[Claim]:
    """Return the claims of one method: errors at the printed sizes, at equal time, and the factor."""
    name, rows, printed = NAMES[normalization], table["rows"], PRINTED[normalization]
    claims = [
        _lower(name, row, "printed", values) for row, values in zip(rows, printed.values(), strict=True)
    ]
    claims += [_lower(name, row, "all", values) for row, values in zip(rows, printed.values(), strict=True)]
    sizes = [row["all"]["interpolated"] for row in rows]
    wanted = [n for n, *_ in printed.values()]
    near = all(0.5 <= size / n <= 2 for size, n in zip(sizes, wanted, strict=True))
    claims.append(
        Claim(
            f"{name}: the plain sizes of equal time, with all eigenvectors, are near the printed ones",
            f"n = {', '.join(map(str, wanted))}",
            f"n = {', '.join(f'{size:.0f}' for size in sizes)}",
            near,
            criterion="within a factor of 2",
            kind="check",
            why="" if near else "The ratio of the speeds of both programs depends on machine and libraries.",
        )
    )
    few = all(row["few"]["low"] > 1.05 for row in rows)
    claims.append(
        Claim(
            f"{name}: lower error than plain training of equal time with today's solver",
            NOT_PRINTED,
            "; ".join(f"m = {row['m']}: {_shown(row['few'])}" for row in rows),
            few,
            criterion=_LOWER + " in all rows",
            kind="check",
            why=""
            if few
            else "A Krylov solver computes only the three eigenvectors needed, so that plain training can use"
            f" {', '.join(str(row['few']['n']) for row in rows)} of {table['n']} points in the time of the"
            " dictionaries.",
        )
    )
    return [*claims, _factor(name, rows[0], next(iter(printed.values())), table)]


def _shown(comparison: dict[str, Any]) -> str:
    """Return the errors and their ratio as text."""
    before = f"{1e3 * comparison['seconds']:.0f} ms, " if "seconds" in comparison else ""
    return (
        f"{before}n = {comparison['n']}: {comparison['plain']:.2e} and {comparison['dictionary']:.2e},"
        f" {comparison['ratio']:.1f} times lower ({comparison['low']:.1f} to {comparison['high']:.1f})"
    )


def _lower(name: str, row: dict[str, Any], question: str, printed: tuple[int, float, float, float]) -> Claim:
    """Return the claim that a dictionary has a lower error, at the printed sizes or at equal time."""
    n, seconds, plain, dictionary = printed
    comparison, holds = row[question], bool(row[question]["low"] > 1.05)
    against = f"plain training on {n} points" if question == "printed" else "plain training of equal time"
    return Claim(
        f"{name}, m = {row['m']}: lower error than {against}",
        f"{seconds} s, n = {n}: {plain:.2e} and {dictionary:.2e}, {plain / dictionary:.1f} times lower",
        _shown(comparison),
        holds,
        criterion=_LOWER + (", all eigenvectors, placing included" if question == "all" else ""),
        why=""
        if holds
        else f"The interval of the factor is {comparison['low']:.2f} to {comparison['high']:.2f}.",
        previous=f"equal time of today's fit alone: {_shown(row['fit'])}" if question == "all" else "",
    )


def _factor(
    name: str, row: dict[str, Any], printed: tuple[int, float, float, float], table: dict[str, Any]
) -> Claim:
    """Return the claim that the factor is as large as the printed one in the first row of a method."""
    n, _, plain, dictionary = printed
    wanted, found = (
        (plain / dictionary) ** 0.5,
        max(row[question]["ratio"] for question in ("printed", "all")),
    )
    holds = bool(found > wanted)
    return Claim(
        f"{name}: the error is {plain / dictionary:.0f} times lower, as printed",
        f"{plain / dictionary:.1f} times with m = {row['m']}",
        f"{row['printed']['ratio']:.1f} times at the printed sizes, {row['all']['ratio']:.1f} times at equal"
        " time",
        holds,
        criterion=f"more than {wanted:.1f} times (root of the printed factor) for one of both",
        why=""
        if holds
        else f"The printed error of plain training on {n} points, {plain:.2e}, is about the variance of one"
        " of the three coordinates (1/6599 = 1.5e-4) or more, as if one coordinate had not been found."
        f" {_compare_plain(table, plain)}",
        previous=f"equal time of today's fit alone: {row['fit']['ratio']:.1f} times",
    )


def _compare_plain(table: dict[str, Any], printed: float) -> str:
    """Describe for how many points the error of plain training is as large as printed."""
    mean = {n: float(np.exp(np.mean(np.log(errors)))) for n, errors in table["plain"].items()}
    as_large = [n for n, error in mean.items() if error > printed / 2]
    smallest = min(mean)
    return (
        f"Here the error is as large with {max(as_large)} points."
        if as_large
        else f"Here the error with {smallest} points is only {mean[smallest]:.1e}."
    )


def _figure(tables: dict[str, Any], data: str) -> Figure:
    """Draw the errors against the time to train and to place the test images."""
    figure = new_figure(f"Error against time to train and to place the test data ({data})", 11.5, 4.8)
    for axes, (normalization, table) in zip(figure.subplots(1, 2), tables.items(), strict=True):
        for kind, (color, marker, label) in _CURVES.items():
            errors = table["dictionary" if kind == "dictionary" else "plain"]
            seconds = table["seconds"]["total"][kind]
            errors = {size: values for size, values in errors.items() if size in seconds}
            x = [1e3 * seconds[size] for size in errors]
            logs = np.log(list(errors.values()))  # (sizes, repeats)
            mean = np.exp(logs.mean(axis=1))
            spread = np.exp(1.96 * logs.std(axis=1, ddof=1) / np.sqrt(logs.shape[1]))
            bars = [mean - mean / spread, mean * spread - mean]
            axes.errorbar(
                x,
                mean,
                yerr=bars,
                color=color,
                marker=marker,
                markersize=5,
                capsize=2,
                linewidth=1,
                label=label,
            )
            for size, at, height in zip(errors, x, mean, strict=True):
                if kind == "dictionary" or (
                    kind == "all" and size in {n for n, *_ in PRINTED[normalization].values()}
                ):
                    letter, offset = ("m", (-5, -11)) if kind == "dictionary" else ("n", (6, 6))
                    axes.annotate(
                        f"{letter} = {size}",
                        (at, height),
                        xytext=offset,
                        ha="right" if kind == "dictionary" else "left",
                        textcoords="offset points",
                        fontsize=8.5,
                        color=color,
                    )
        times = [1e3 * value for values in table["seconds"]["total"].values() for value in values.values()]
        low, high = min(times), max(times)
        log_axes(
            axes,
            [tick for tick in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if low / 1.5 < tick < 1.5 * high],
        )
        axes.set_xlim(low / 1.4, high * 1.4)
        axes.set(
            title=NAMES[normalization], xlabel="time (milliseconds, one core)", ylabel="error on new points"
        )
        axes.legend(loc="upper right")
    return figure
