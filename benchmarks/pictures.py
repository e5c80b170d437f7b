"""Maps in two dimensions beside UMAP, openTSNE and PHATE: what they keep, and where they place new rows.

``python -m benchmarks.pictures`` measures the data sets that are found and writes the page
docs/benchmarks/pictures.md; ``--data fashion --train 10000 --new 2000 --methods UMAP`` adds or refreshes one
part of it. All methods get the same rows, each in a process of its own. Draws are random subsets of the rows;
intervals are twice the standard error over draws. Times are those of one thread, after a first small fit, so
that compilation is not counted.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from benchmarks.real_data import SOURCES, absence, load
from benchmarks.worker import LARGE_WARM_UP_SIZE, memory, reset_peak_memory
from eigenscape import LaplacianEigenmaps, NeighborEmbedding, PotentialMap
from eigenscape.quality import aligned_error, neighbors_kept, sampled_continuity, sampled_trustworthiness

FOLDER = Path(__file__).parent.parent / "docs" / "benchmarks"
DATA = ("fashion", "mnist_mixed", "pbmc", "paul15")
K = 10
#: Measures, their titles, factors and digits; larger is better for the first group.
MEASURES = {
    "kept": ("neighbours kept, %", 100, 1),
    "trust": ("trustworthiness, %", 100, 1),
    "continuity": ("continuity, %", 100, 1),
    "new_kept": ("neighbours of new rows kept, %", 100, 1),
    "accuracy": ("accuracy of new rows, %", 100, 1),
    "instability": ("instability", 1, 3),
    "fit": ("fit, s", 1, 2),
    "fit_wall": ("fit, wall s", 1, 1),
    "place": ("place, s", 1, 2),
    "place_wall": ("place, wall s", 1, 1),
    "peak": ("peak memory, MB", 1, 0),
}
LOWER_IS_BETTER = ("instability", "fit", "fit_wall", "place", "place_wall", "peak")
#: Number of rows for which neighbours kept are counted.
SAMPLED = 2000


class OpenTSNE:
    """openTSNE with the methods of an estimator."""

    def fit(self, X: np.ndarray) -> OpenTSNE:
        """Fit the map."""
        import openTSNE

        self.map = openTSNE.TSNE(random_state=0, n_jobs=1).fit(X)
        self.embedding_ = np.asarray(self.map)
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Place new rows."""
        return np.asarray(self.map.transform(X))


class Phate:
    """PHATE with the methods of an estimator."""

    def fit(self, X: np.ndarray) -> Phate:
        """Fit the map."""
        import phate

        self.map = phate.PHATE(verbose=0, random_state=0, n_jobs=1)
        self.embedding_ = self.map.fit_transform(X)
        return self

    def transform(self, X: np.ndarray) -> np.ndarray:
        """Place new rows."""
        return self.map.transform(X)


def _umap() -> Any:
    import umap

    return umap.UMAP(random_state=0)


#: What is compared: the package that it needs, and a function that makes the estimator.
METHODS: dict[str, tuple[str, Callable[[], Any]]] = {
    "LaplacianEigenmaps": ("eigenscape", lambda: LaplacianEigenmaps(n_jobs=1)),
    "NeighborEmbedding": ("eigenscape", lambda: NeighborEmbedding(n_jobs=1)),
    "NeighborEmbedding(exaggeration=2)": ("eigenscape", lambda: NeighborEmbedding(exaggeration=2, n_jobs=1)),
    "NeighborEmbedding(exaggeration=4)": ("eigenscape", lambda: NeighborEmbedding(exaggeration=4, n_jobs=1)),
    "PotentialMap": ("eigenscape", lambda: PotentialMap(n_jobs=1)),
    "UMAP": ("umap", _umap),
    "openTSNE": ("openTSNE", OpenTSNE),
    "PHATE": ("phate", Phate),
}


def shared(one: np.ndarray, other: np.ndarray) -> float:
    """Return the mean fraction of neighbours that two lists have in common."""
    return float(np.mean([len(set(a) & set(b)) for a, b in zip(one, other, strict=True)]) / K)


def neighbors_of(new: np.ndarray, X: np.ndarray) -> np.ndarray:
    """Return the indices of the nearest rows of ``X`` to new rows."""
    return NearestNeighbors(n_neighbors=K).fit(X).kneighbors(new, return_distance=False)


class Clock:
    """Seconds since it was made, of the processor and of the wall."""

    def __init__(self) -> None:
        self.processor, self.wall = time.process_time(), time.perf_counter()

    def read(self, name: str) -> dict[str, float]:
        """Return both, named."""
        return {
            name: time.process_time() - self.processor,
            f"{name}_wall": time.perf_counter() - self.wall,
        }


@cache
def warm_up(name: str, method: str, n: int) -> None:
    """Compile what a fit of ``n`` rows needs: libraries have other code for few rows."""
    X, _ = load(name)
    few = 300 if n <= 4096 else LARGE_WARM_UP_SIZE
    model = METHODS[method][1]().fit(X[:few])
    model.transform(X[few : few + 10])


def measure(name: str, method: str, train: np.ndarray, new: np.ndarray) -> dict[str, Any]:
    """Fit a method to rows of a data set, place new rows, and return all measures and the map."""
    warnings.simplefilter("ignore")
    warm_up(name, method, len(train))
    X, y = load(name)
    assert y is not None
    model, rows, new_rows = METHODS[method][1](), X[train], X[new]
    reset_peak_memory()
    before = memory("VmRSS")
    clock = Clock()
    model.fit(rows)
    found: dict[str, Any] = clock.read("fit")
    clock = Clock()
    placed = model.transform(new_rows)
    found |= clock.read("place")
    found["peak"] = max(0, memory("VmHWM") - before) / 1e6
    Z = np.asarray(model.embedding_, dtype=np.float64)
    return found | {
        "kept": float(neighbors_kept(rows, Z, n_neighbors=K, n_samples=SAMPLED)),
        "trust": float(sampled_trustworthiness(rows, Z, n_neighbors=K)),
        "continuity": float(sampled_continuity(rows, Z, n_neighbors=K)),
        "new_kept": shared(neighbors_of(new_rows, rows), neighbors_of(placed, Z)),
        "accuracy": float(KNeighborsClassifier(K).fit(Z, y[train]).score(placed, y[new])),
        "map": Z,
    }


def draw_rows(name: str, n_train: int, n_new: int, draw: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the training rows and the new rows of a draw."""
    pool = min(SOURCES[name].n, (n_train + n_new) * 5 // 4)
    n_new = min(n_new, pool // 5)
    order = np.random.default_rng(draw).permutation(pool)
    n_train = min(n_train, pool - n_new)
    return order[:n_train], order[n_train : n_train + n_new]


def compare(name: str, n_train: int, n_new: int, n_draws: int, chosen: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the measures of each method on draws of the rows of a data set; a process for each method."""
    title = SOURCES[name].title
    rows = [draw_rows(name, n_train, n_new, draw) for draw in range(n_draws)]
    for method in chosen:
        runs: list[dict[str, Any]] = []
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            for draw, (train, new) in enumerate(rows):
                found = process.submit(measure, name, method, train, new).result()
                if draw:
                    _, i, j = np.intersect1d(rows[draw - 1][0], train, return_indices=True)
                    found["instability"] = aligned_error(runs[-1]["map"][i], found["map"][j])
                runs.append(found)
                shown = {key: round(value, 3) for key, value in found.items() if key != "map"}
                print(title, len(train), method, shown, flush=True)
        values = {key: [run[key] for run in runs if key in run] for key in MEASURES}
        train, new = rows[0]
        yield {"title": title, "train": len(train), "new": len(new), "values": {method: values}}


def cell(values: list[float], factor: float, digits: int) -> str:
    """Return a mean with its interval."""
    if not values:
        return ""
    text = f"{factor * np.mean(values):.{digits}f}"
    if len(values) > 1:
        text += f" ± {factor * 2 * np.std(values, ddof=1) / len(values) ** 0.5:.{digits}f}"
    return text


def table(part: dict[str, Any]) -> str:
    """Return a part of the page: one data set, one line for each method."""
    lines = [
        f"## {part['title']}, {part['train']} rows and {part['new']} new ones\n",
        "| method | " + " | ".join(title for title, _, _ in MEASURES.values()) + " |",
        "| --- " * (len(MEASURES) + 1) + "|",
    ]
    best = {}
    for key in MEASURES:
        means = [np.mean(values[key]) for values in part["values"].values() if values.get(key)]
        if means:
            best[key] = min(means) if key in LOWER_IS_BETTER else max(means)
    for method, values in part["values"].items():
        cells = []
        for key, (_, factor, digits) in MEASURES.items():
            text = cell(values.get(key, []), factor, digits)
            cells.append(f"**{text}**" if text and np.mean(values[key]) == best[key] else text)
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


HEAD = """# Pictures beside UMAP, t-SNE and PHATE

Two coordinates, default parameters unless given, the same rows for all. Neighbours are the ten nearest.
Neighbours kept: the share that is among the ten nearest on the map, too, of training rows and of new rows
among the training rows. Accuracy: classes of new rows by the ten nearest training rows on the map.
Instability: the root mean square distance between two maps of the rows that two draws have in common, after
alignment, relative to the spread (0: equal). Times are processor seconds of one thread without compilation,
then seconds of the wall; peak memory is that above the memory before the fit. The machine was shared and
busy: seconds of the wall are many times those of an idle machine. Methods of a table may come from different
runs, between which processor seconds vary by some ten per cent. Neighbours kept, trustworthiness and
continuity are those of at most 2 000, 1 000 and 1 000 random rows. Mean and twice the standard error over
draws; values without an interval are of one draw. The best of a column is bold. Made by `python -m
benchmarks.pictures`; methods that are not installed and data that are not found are left out, and methods
that are missing in a table were not measured.

"""


def add(
    key: str,
    part: dict[str, Any],
    page: str = "pictures",
    head: str = HEAD,
    show: Callable[[dict[str, Any]], str] = table,
) -> None:
    """Add a part to the results of a page, or replace it, and write the page."""
    file = FOLDER / f"{page}.json"
    parts = json.loads(file.read_text()) if file.exists() else {}
    merged = parts.get(key, part)["values"] | part["values"]
    part["values"] = {method: merged[method] for method in sorted(merged, key=list(METHODS).index)}
    parts[key] = part
    file.write_text(json.dumps(parts, indent=1) + "\n")
    text = "\n\n".join(show(each) for each in parts.values())
    (FOLDER / f"{page}.md").write_text(f"{head}{text}\n", encoding="utf-8")


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=DATA, choices=DATA)
    parser.add_argument("--train", type=int, default=1000, help="training rows")
    parser.add_argument("--new", type=int, default=250, help="new rows")
    parser.add_argument("--draws", type=int, default=3)
    installed = [method for method, (package, _) in METHODS.items() if find_spec(package)]
    parser.add_argument("--methods", nargs="+", default=installed, choices=installed)
    options = parser.parse_args()
    for name in options.data:
        if absence(name):
            print(absence(name))
            continue
        for part in compare(name, options.train, options.new, options.draws, options.methods):
            add(f"{name}-{part['train']}", part)


if __name__ == "__main__":
    main()
