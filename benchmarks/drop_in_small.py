"""Small problems under ``eigenscape.accel`` beside scikit-learn: it must not be slower by more than a tenth.

``python -m benchmarks.drop_in_small`` prints, for each class, data set and size, the times of ``fit``,
``fit_transform`` and ``transform`` of both in one process, measured in turn, and of a whole process that
imports, fits and ends. ``--write`` writes docs/benchmarks/drop-in-small.md.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.tables import markdown_table

SIZES = (100, 300, 1000)
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "drop-in-small.md"
TEXT = """# Small problems under eigenscape.accel

Calls of scikit-learn's classes and of those of `eigenscape.accel` in one process, in turn, up to 1000 rows.
A ratio above 1: faster under eigenscape.accel. It must not be below 1 / 1.1.

Measured {date}, the best of {repeats}, {clock}; {slow} of {total} are slower by more than a tenth. Written by
`python -m benchmarks.drop_in_small --write`.
"""
REPEATS = 7
#: Least time of a measurement in seconds: short calls are repeated.
LEAST = 0.02
CLASSES: dict[str, tuple[str, dict[str, Any]]] = {
    "Isomap": ("manifold", {"n_neighbors": 10}),
    "LocallyLinearEmbedding": ("manifold", {"n_neighbors": 10, "random_state": 0}),
    "SpectralEmbedding": ("manifold", {"n_neighbors": 10, "random_state": 0}),
    "ClassicalMDS": ("manifold", {}),
    "KernelPCA": ("decomposition", {"n_components": 2, "kernel": "rbf", "random_state": 0}),
    "SpectralClustering": (
        "cluster",
        {"n_clusters": 4, "affinity": "nearest_neighbors", "random_state": 0},
    ),
}
DATA = ("digits", "roll", "clusters")


class Row(NamedTuple):
    """Times in seconds of one call, of scikit-learn and of eigenscape.accel."""

    name: str
    data: str
    n: int
    call: str
    theirs: float
    ours: float

    @property
    def ratio(self) -> float:
        """Time of scikit-learn divided by that of eigenscape.accel."""
        return self.theirs / self.ours


def rows_of(data: str, n: int) -> np.ndarray:
    """Return training rows."""
    from sklearn.datasets import load_digits, make_blobs, make_swiss_roll

    if data == "digits":
        return load_digits().data[:n]
    if data == "roll":
        return make_swiss_roll(n, random_state=0)[0]
    return make_blobs(n, n_features=10, centers=4, cluster_std=4.0, random_state=0)[0]


def calls(model: Any, X: np.ndarray) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the calls that are measured."""
    yield "fit", lambda: model.fit(X)
    if hasattr(model, "fit_transform"):
        yield "fit_transform", lambda: model.fit_transform(X)
    if hasattr(model, "transform"):
        new = X + 0.01
        yield "transform", lambda: model.transform(new)


def in_turn(
    one: Callable[[], Any], other: Callable[[], Any], clock: Callable[[], float], repeats: int
) -> tuple[float, float]:
    """Return the least time of a call of both functions, which are called in turn."""
    counts, best = [1, 1], [np.inf, np.inf]
    for repeat in range(repeats + 1):
        for side, call in enumerate((one, other)):
            start = clock()
            for _ in range(counts[side]):
                call()
            spent = (clock() - start) / counts[side]
            if repeat:
                best[side] = min(best[side], spent)
            else:  # the first one warms up and tells how many calls are needed
                counts[side] = max(1, int(LEAST / max(spent, 1e-6)))
    return best[0], best[1]


def warm(names: list[str], sizes: list[int], clock: Callable[[], float], repeats: int) -> Iterator[Row]:
    """Measure calls within one process."""
    import sklearn

    from eigenscape import accel

    for name in names:
        package, params = CLASSES[name]
        original = getattr(__import__(f"sklearn.{package}", fromlist=[name]), name, None)
        if original is None:
            print(f"scikit-learn {sklearn.__version__} has no {name}")
            continue
        for data in DATA:
            for n in sizes:
                X = rows_of(data, n)
                try:
                    theirs = original(**params).fit(X)
                except ValueError as error:
                    print(f"scikit-learn's {name} fails on {data}, {n} rows: {str(error).split('. ')[0]}")
                    continue
                ours = getattr(accel, name)(**params).fit(X)
                both = dict(calls(ours, X))
                for call, function in calls(theirs, X):
                    if call in both:
                        yield Row(name, data, n, call, *in_turn(function, both[call], clock, repeats))


def cold(names: list[str], sizes: list[int], clock: Callable[[], float], repeats: int) -> Iterator[Row]:
    """Measure whole processes: imports, one fit, exit."""
    if clock is time.process_time:
        clock = _processor_time_of_children
    n = min(sizes, key=lambda size: abs(size - 300))
    for name in names:
        package, params = CLASSES[name]
        code = (  # of rolls, since scikit-learn's LLE fails on some digits
            f"from sklearn.{package} import {name}; from sklearn.datasets import make_swiss_roll;"
            f"{name}(**{params!r}).fit(make_swiss_roll({n}, random_state=0)[0])"
        )
        install = "from eigenscape import accel; accel.install();"
        best = [np.inf, np.inf]
        for _ in range(repeats):
            for side, text in enumerate((code, install + code)):
                start = clock()
                subprocess.run([sys.executable, "-W", "ignore", "-c", text], check=True)
                best[side] = min(best[side], clock() - start)
        yield Row(name, "roll", n, "process", *best)


def _processor_time_of_children() -> float:
    spent = os.times()
    return spent.children_user + spent.children_system


def main() -> None:
    """Print a line for each measurement and the number of those that are slower by more than a tenth."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=CLASSES, default=list(CLASSES))
    parser.add_argument(
        "--processor", action="store_true", help="measure processor time, on a machine that is not idle"
    )
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--repeats", type=int, default=REPEATS)
    parser.add_argument("--write", action="store_true", help="write the page")
    arguments = parser.parse_args()
    names, clock = arguments.only, time.process_time if arguments.processor else time.perf_counter
    warnings.simplefilter("ignore")
    slow, rows = 0, []
    print(f"{'class':<24}{'data':<10}{'n':>5} {'call':<14}{'scikit-learn':>12}{'accel':>12}{'ratio':>7}")
    for measure in (warm, cold):
        for row in measure(names, arguments.sizes, clock, arguments.repeats):
            rows.append(row)
            slow += row.ratio < 1 / 1.1
            mark = " slower" if row.ratio < 1 / 1.1 else ""
            times = f"{1e3 * row.theirs:>9.2f} ms{1e3 * row.ours:>9.2f} ms{row.ratio:>7.2f}"
            print(f"{row.name:<24}{row.data:<10}{row.n:>5} {row.call:<14}{times}{mark}", flush=True)
    print(f"slower by more than a tenth: {slow}")
    if arguments.write:
        kind = "processor time on a machine that is not idle" if arguments.processor else "time"
        text = TEXT.format(
            date=date.today(), repeats=arguments.repeats, clock=kind, slow=slow, total=len(rows)
        )
        head = ("class", "data", "n", "call", "scikit-learn", "eigenscape.accel", "ratio")
        cells = [
            [
                row.name,
                row.data,
                str(row.n),
                row.call,
                f"{1e3 * row.theirs:.1f} ms",
                f"{1e3 * row.ours:.1f} ms",
                f"{row.ratio:.2f}",
            ]
            for row in rows
        ]
        PAGE.write_text("\n".join([text, *markdown_table(head, cells)]))


if __name__ == "__main__":
    main()
