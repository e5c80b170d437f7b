"""Which extension generalises better: the Nystrom formula, or a regression of the coordinates on the rows.

``python -m benchmarks.parametric`` prints a table, and writes it to docs/benchmarks/parametric.md with
``--write``. Each embedder is fitted to some rows and extended to held-out ones by its Nystrom formula and by
:class:`eigenscape.ParametricMap`. Two measures:

- the held-out loss of the kernel (Bengio sec. 4), that of the regression relative to that of Nystrom;
- the error of the coordinates of held-out rows against those of the same embedder fitted to four times as
  many rows, the held-out ones among them: relative to the spread, after the best affine alignment.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_swiss_roll
from sklearn.neighbors import KNeighborsRegressor

from benchmarks.real_data import SOURCES, absence, load
from eigenscape import (
    DiffusionMap,
    Isomap,
    KernelPCA,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    ParametricMap,
)
from eigenscape.exceptions import UndefinedKernelError
from eigenscape.quality.loss import map_loss

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks" / "parametric.md"
COORDINATES = 5


def embedders() -> dict[str, Callable[[], Any]]:
    """Return the embedders, by name."""
    return {
        "KernelPCA": lambda: KernelPCA(COORDINATES),
        "LaplacianEigenmaps": lambda: LaplacianEigenmaps(COORDINATES, n_neighbors=10),
        "DiffusionMap": lambda: DiffusionMap(COORDINATES, affinity="rbf"),
        "Isomap": lambda: Isomap(COORDINATES, n_neighbors=10),
        "LLE": lambda: LocallyLinearEmbedding(COORDINATES, n_neighbors=15),
    }


def data_sets(n_rows: int, seed: int) -> Iterator[tuple[str, np.ndarray]]:
    """Yield a title and rows of each data set that is available."""
    yield "swiss roll", make_swiss_roll(n_rows, noise=0.1, random_state=seed)[0]
    for name in ("digits", "mnist_mixed", "fashion", "pbmc"):
        if not absence(name):
            X = load(name)[0]
            rows = np.random.default_rng(seed).permutation(len(X))[:n_rows]
            yield SOURCES[name].title, X[rows].astype(np.float64)


def error(found: np.ndarray, expected: np.ndarray) -> float:
    """Return the error of the best affine function of coordinates, relative to the spread."""
    design = np.column_stack([found, np.ones(len(found))])
    rest = expected - design @ np.linalg.lstsq(design, expected, rcond=None)[0]
    return float(np.sqrt((rest.var(axis=0) / expected.var(axis=0)).mean()))


def compare(X: np.ndarray, make: Callable[[], Any]) -> dict[str, float]:
    """Return the measures of one embedder on one data set; a quarter of the rows is fitted."""
    n = len(X) // 4
    train, new = X[:n], X[n : 2 * n]
    reference = make().fit(X).embedding_[n : 2 * n]
    model = ParametricMap(make()).fit(train)
    neighbors = ParametricMap(model.embedder_, KNeighborsRegressor(5), prefit=True).fit(train)
    nystrom = model.embedder_
    found: dict[str, float] = {}
    for name, extension in (("nystrom", nystrom), ("fourier", model), ("neighbors", neighbors)):
        start = time.process_time()
        coordinates = extension.transform(new)
        found[f"{name} time"] = time.process_time() - start
        found[f"{name} error"] = error(coordinates, reference)
        try:
            found[f"{name} loss"] = map_loss(nystrom._model_, new, coordinates)
        except UndefinedKernelError:
            found[f"{name} loss"] = np.nan
    return found


def table(n_rows: int, n_seeds: int) -> str:
    """Return the comparison as a table in Markdown."""
    results: dict[tuple[str, str], list[dict[str, float]]] = {}
    for seed in range(n_seeds):
        for title, X in data_sets(n_rows, seed):
            for name, make in embedders().items():
                results.setdefault((title, name), []).append(compare(X, make))
                print(seed, title, name, results[title, name][-1], flush=True)
    lines = [
        "| data | embedder | loss, Fourier / Nystrom | loss, 5 neighbours / Nystrom | error, Nystrom"
        " | error, Fourier | error, 5 neighbours | time, Fourier / Nystrom |",
        "| --- " * 8 + "|",
    ]
    for (title, name), runs in results.items():
        column = {key: np.array([run[key] for run in runs]) for key in runs[0]}
        errors = [column[f"{kind} error"] for kind in ("nystrom", "fourier", "neighbors")]
        best = min(values.mean() for values in errors)
        cells = [
            title,
            name,
            _interval(column["fourier loss"] / column["nystrom loss"]),
            _interval(column["neighbors loss"] / column["nystrom loss"]),
            *(
                f"**{_interval(values)}**" if values.mean() == best else _interval(values)
                for values in errors
            ),
            f"{column['fourier time'].sum() / column['nystrom time'].sum():.2g}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _interval(values: np.ndarray) -> str:
    if np.isnan(values).any():
        return "not defined"
    spread = 2 * values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.nan
    return f"{values.mean():.3f} ± {spread:.3f}"


def main() -> None:
    """Print the comparison, and write its page if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1200, help="rows of each data set; a quarter is fitted")
    parser.add_argument("--seeds", type=int, default=4, help="draws of the rows")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    text = table(options.rows, options.seeds)
    print(text)
    if options.write:
        head = (
            "# Nystrom formula or regression\n\n"
            f"Embedders of {COORDINATES} coordinates are fitted to a quarter of {options.rows} rows and"
            " extended to another quarter by the Nystrom formula (`transform`), by `ParametricMap` (random"
            " Fourier features and ridge) and by the mean of the five nearest neighbours"
            " (`ParametricMap(embedder, KNeighborsRegressor(5))`). Mean and twice the standard error over"
            f" {options.seeds} seeds, each with other rows. Made by `python -m benchmarks.parametric"
            " --write`; data that are not found are left out.\n\n"
            "- **loss**: held-out loss of the kernel (Bengio sec. 4) relative to that of the Nystrom formula;"
            " below 1 the regression generalises better. It is not defined for LLE.\n"
            "- **error**: of the coordinates of held-out rows against those of the same embedder fitted to"
            " all rows, four times as many, after the best affine alignment; relative to the spread, the best"
            " in bold.\n"
            "- **time**: processor time of `transform`, on a machine with other work.\n\n"
        )
        PAGE.write_text(f"{head}{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
