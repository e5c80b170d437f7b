"""Maps of several tables in common coordinates beside AlignedUMAP: rows that belong together, and new rows.

``python -m benchmarks.aligned`` measures the data sets that are found and writes the page
docs/benchmarks/aligned.md; ``--data pbmc --draws 5`` adds or refreshes one part of it. All methods get the
same tables and links. Draws are random subsets of the rows and of the links; intervals are twice the standard
error over draws. Times are processor times of one thread, after a first small fit, so that compilation is
not counted.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.pictures import K, add, cell, neighbors, shared
from benchmarks.real_data import SOURCES, absence, load
from eigenscape import AlignedSpectralMaps, LaplacianEigenmaps, align

DATA = ("digits", "fashion", "pbmc")
#: Measures, their titles, factors and digits.
MEASURES = {
    "linked": ("distance of linked rows", 1, 3),
    "held_out": ("of rows whose link is left out", 1, 3),
    "across": ("accuracy across tables, %", 100, 1),
    "kept": ("neighbours kept, %", 100, 1),
    "new_kept": ("neighbours of new rows kept, %", 100, 1),
    "new_pairs": ("distance of new rows", 1, 3),
    "fit": ("fit, s", 1, 2),
    "place": ("place, s", 1, 3),
}
_compiled: set[str] = set()  # methods that have been fitted once, so that compilation is not measured
LOWER_IS_BETTER = ("linked", "held_out", "new_pairs", "fit", "place")


class Tables(NamedTuple):
    """Tables with rows in common; ids, classes and the links between consecutive tables that are given."""

    X: list[np.ndarray]
    ids: list[np.ndarray]
    y: list[np.ndarray]
    given: set[int]  # ids whose links are given
    new: list[np.ndarray]  # rows of the same samples that are not in the tables, as each table has them

    def pairs(self, given: bool) -> list[np.ndarray]:
        """Return pairs of rows of consecutive tables with the same id, whose links are given or not."""
        found = []
        for a, b in pairwise(self.ids):
            common, i, j = np.intersect1d(a, b, return_indices=True)
            which = np.isin(common, list(self.given)) == given
            found.append(np.column_stack([i[which], j[which]]))
        return found


def weeks(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Tables:
    """Return three tables over time: half of the rows stay for the next one, and all are measured anew."""
    order, size, step, n = rng.permutation(len(X)), 400, 200, 3
    noise = 0.3 * X.std()
    ids = [order[t * step : t * step + size] for t in range(n)]
    used, new = order[: (n - 1) * step + size], order[-100:]
    given = set(rng.permutation(used)[: len(used) // 2].tolist())

    def measured(rows: np.ndarray) -> np.ndarray:
        return (X[rows] + noise * rng.standard_normal(X[rows].shape)).astype(np.float32)

    return Tables(
        [measured(rows) for rows in ids], ids, [y[rows] for rows in ids], given, [measured(new) for _ in ids]
    )


def halves(X: np.ndarray, y: np.ndarray, rng: np.random.Generator) -> Tables:
    """Return two tables of different columns of the same rows, of which a fifth is known to be the same."""
    order = rng.permutation(len(X))
    rows, new, side = order[:800], order[800:900], int(np.sqrt(X.shape[1]))
    left = np.arange(X.shape[1]) % 2 == 0  # coordinates by turns, or halves of images
    if side * side == X.shape[1]:
        left = np.arange(X.shape[1]) % side < side // 2
    parts = [X[:, left], X[:, ~left]]
    given = set(rng.permutation(rows)[: len(rows) // 5].tolist())
    return Tables(
        [part[rows] for part in parts], [rows, rows], [y[rows]] * 2, given, [part[new] for part in parts]
    )


SCENES: dict[str, tuple[str, Callable[..., Tables]]] = {
    "weeks": ("three tables over time", weeks),
    "halves": ("two halves of the columns", halves),
}


class Spectral:
    """AlignedSpectralMaps."""

    def __init__(self, n_components: int = 2) -> None:
        self.n_components = n_components

    def fit(self, tables: Tables) -> list[np.ndarray]:
        """Return the maps of the tables."""
        pairs = {(t, t + 1): pairs for t, pairs in enumerate(tables.pairs(True))}
        self.model = AlignedSpectralMaps(self.n_components, n_jobs=1).fit(tables.X, links=pairs)
        return self.model.embeddings_

    def transform(self, X: np.ndarray, table: int) -> np.ndarray:
        """Place new rows of a table."""
        return self.model.transform(X, table)


class Separate:
    """One map for each table, aligned to that of the table before by the linked rows."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make

    def fit(self, tables: Tables) -> list[np.ndarray]:
        """Return the maps of the tables."""
        self.models = [self.make().fit(tables.X[0])]
        for t, pairs in enumerate(tables.pairs(True)):
            rows = tables.X[t + 1][pairs[:, 1]], tables.X[t][pairs[:, 0]]
            self.models.append(align(self.make().fit(tables.X[t + 1]), self.models[t], *rows))
        return [model.embedding_ for model in self.models]

    def transform(self, X: np.ndarray, table: int) -> np.ndarray:
        """Place new rows of a table."""
        return self.models[table].transform(X)


class AlignedUMAP:
    """AlignedUMAP of umap-learn, which has no transform."""

    def fit(self, tables: Tables) -> list[np.ndarray]:
        """Return the maps of the tables."""
        import umap

        relations = [{int(i): int(j) for i, j in pairs} for pairs in tables.pairs(True)]
        model = umap.AlignedUMAP(random_state=0).fit(tables.X, relations=relations)
        return [np.asarray(each, dtype=np.float64) for each in model.embeddings_]


def methods() -> dict[str, Callable[[], Any]]:
    """Return what is compared, by name; umap-learn is left out if it is not installed."""
    found: dict[str, Callable[[], Any]] = {
        "AlignedSpectralMaps": Spectral,
        "AlignedSpectralMaps(10)": lambda: Spectral(10),
        "LaplacianEigenmaps, align": lambda: Separate(lambda: LaplacianEigenmaps(n_jobs=1)),
    }
    try:
        __import__("umap")
    except ImportError:
        return found
    return {**found, "AlignedUMAP": AlignedUMAP}


def distance(maps: list[np.ndarray], pairs: list[np.ndarray]) -> float:
    """Return the root mean square distance of pairs of rows, relative to that of unrelated rows."""
    spread = 2 * np.concatenate(maps).var(axis=0).sum()
    gaps = [
        np.square(a[ij[:, 0]] - b[ij[:, 1]]).sum(axis=1)
        for (a, b), ij in zip(pairwise(maps), pairs, strict=True)
    ]
    return float(np.sqrt(np.concatenate(gaps).mean() / spread))


def measure(model: Any, tables: Tables) -> dict[str, float]:
    """Fit a model, place new rows if it can, and return all measures."""
    start = time.process_time()
    maps = model.fit(tables)
    found = {"fit": time.process_time() - start}
    found["linked"] = distance(maps, tables.pairs(True))
    found["held_out"] = distance(maps, tables.pairs(False))
    found["kept"] = float(
        np.mean([shared(neighbors(X), neighbors(Z)) for X, Z in zip(tables.X, maps, strict=True)])
    )
    found["across"] = float(
        np.mean(
            [
                KNeighborsClassifier(K).fit(maps[t], tables.y[t]).score(maps[t + 1], tables.y[t + 1])
                for t in range(len(maps) - 1)
            ]
        )
    )
    if hasattr(model, "transform"):
        start = time.process_time()
        placed = [np.asarray(model.transform(new, t)) for t, new in enumerate(tables.new)]
        found["place"] = time.process_time() - start
        found["new_kept"] = float(
            np.mean(
                [
                    shared(neighbors(X, new), neighbors(Z, own))
                    for X, Z, new, own in zip(tables.X, maps, tables.new, placed, strict=True)
                ]
            )
        )
        gaps = [np.square(a - b).sum(axis=1).mean() for a, b in pairwise(placed)]
        found["new_pairs"] = float(np.sqrt(np.mean(gaps) / (2 * np.concatenate(maps).var(axis=0).sum())))
    return found


def compare(name: str, scene: str, n_draws: int) -> Iterator[dict[str, Any]]:
    """Yield the measures of all methods on draws of tables of a data set, after each draw."""
    X, y = load(name)
    assert y is not None
    X, y = X[:3000], np.unique(y, return_inverse=True)[1][:3000]
    title, make_tables = SCENES[scene]
    values: dict[str, dict[str, list[float]]] = {}
    for draw in range(n_draws):
        tables = make_tables(X, y, np.random.default_rng(draw))
        for method, make in methods().items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if method not in _compiled:
                    make().fit(make_tables(X, y, np.random.default_rng(n_draws)))
                    _compiled.add(method)
                found = measure(make(), tables)
            kept = values.setdefault(method, {key: [] for key in MEASURES})
            for key, value in found.items():
                kept[key].append(value)
            print(SOURCES[name].title, scene, method, {k: round(v, 3) for k, v in found.items()}, flush=True)
        shape = ", ".join(f"{table.shape[0]} x {table.shape[1]}" for table in tables.X)
        links = sum(len(pairs) for pairs in tables.pairs(True))
        yield {
            "title": f"{SOURCES[name].title}, {title} ({shape}), {links} links",
            "draws": draw + 1,
            "values": values,
        }


def table(part: dict[str, Any]) -> str:
    """Return a part of the page: one data set and scene, one line for each method."""
    lines = [
        f"## {part['title']}, {part['draws']} draw(s)\n",
        "| method | " + " | ".join(title for title, _, _ in MEASURES.values()) + " |",
        "| --- " * (len(MEASURES) + 1) + "|",
    ]
    planar = {method: values for method, values in part["values"].items() if "(10)" not in method}
    for method, values in part["values"].items():
        cells = []
        for key, (_, factor, digits) in MEASURES.items():
            means = [np.mean(each[key]) for each in planar.values() if each[key]]
            best = min(means) if key in LOWER_IS_BETTER else max(means)
            text = cell(values[key], factor, digits) or "cannot"
            cells.append(
                f"**{text}**" if method in planar and np.mean(values[key] or [np.nan]) == best else text
            )
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


HEAD = """# Aligned maps beside AlignedUMAP

Two coordinates unless given, default parameters, the same tables and links for all. Three tables over time:
half of the rows of each are in the next one, every row is measured anew in each table with noise of 0.3
standard deviations, and half of the common rows are linked. Two halves: the same rows with different columns,
of which a fifth is linked. "align" is one map for each table, turned onto the one before by
`eigenscape.align` with the linked rows.

Distances are root mean squares between the places of the same row in two consecutive tables, relative to
those of unrelated rows (0: the same place, 1: unrelated): of rows whose link is given, of rows whose link is
left out, and of new rows, which are in no table. Accuracy across tables: classes of the rows of a table by
the ten nearest rows of the table before, on the map. Neighbours kept: the share of the ten nearest that is
among the ten nearest on the map, within a table. AlignedUMAP cannot place new rows. Times are processor
seconds of one thread without compilation, on a loaded machine: compare them within a table. Mean and twice
the standard error over draws. The best of a column in two dimensions is bold. Made by
`python -m benchmarks.aligned`; methods that are not installed and data that are not found are left out.

"""


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=DATA, choices=DATA)
    parser.add_argument("--draws", type=int, default=3)
    options = parser.parse_args()
    for name in options.data:
        if absence(name):
            print(absence(name))
            continue
        for scene in SCENES:
            for part in compare(name, scene, options.draws):
                add(f"{name}-{scene}", part, "aligned", HEAD, table)


if __name__ == "__main__":
    main()
