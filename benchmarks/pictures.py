"""Maps in two dimensions beside UMAP, openTSNE and PHATE: what they keep, and where they place new rows.

``python -m benchmarks.pictures`` measures the data sets that are found and writes the page
docs/benchmarks/pictures.md; ``--data fashion --train 10000 --new 2000 --draws 1`` adds or refreshes one part
of it. All methods get the same rows. Draws are random subsets of the rows; intervals are twice the standard
error over draws. Times are processor times of one thread, after a first small fit, so that compilation is
not counted.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from benchmarks.real_data import SOURCES, absence, load
from eigenscape import LaplacianEigenmaps, NeighborEmbedding, PotentialMap
from eigenscape.quality import aligned_error, continuity, trustworthiness

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
    "place": ("place, s", 1, 2),
}
LOWER_IS_BETTER = ("instability", "fit", "place")


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


def methods() -> dict[str, Callable[[], Any]]:
    """Return what is compared, by name; libraries that are not installed are left out."""
    found: dict[str, Callable[[], Any]] = {
        "LaplacianEigenmaps": lambda: LaplacianEigenmaps(n_jobs=1),
        "NeighborEmbedding": lambda: NeighborEmbedding(n_jobs=1),
        "NeighborEmbedding(exaggeration=2)": lambda: NeighborEmbedding(exaggeration=2, n_jobs=1),
        "NeighborEmbedding(exaggeration=4)": lambda: NeighborEmbedding(exaggeration=4, n_jobs=1),
        "PotentialMap": lambda: PotentialMap(n_jobs=1),
    }
    peers = {"UMAP": ("umap", _umap), "openTSNE": ("openTSNE", OpenTSNE), "PHATE": ("phate", Phate)}
    for name, (package, make) in peers.items():
        try:
            __import__(package)
        except ImportError:
            continue
        found[name] = make
    return found


def neighbors(X: np.ndarray, Y: np.ndarray | None = None) -> np.ndarray:
    """Return the indices of the nearest rows of ``X``, of its own rows or of ``Y``."""
    return NearestNeighbors(n_neighbors=K).fit(X).kneighbors(Y, return_distance=False)


def shared(one: np.ndarray, other: np.ndarray) -> float:
    """Return the mean fraction of neighbours that two lists have in common."""
    return float(np.mean([len(set(a) & set(b)) for a, b in zip(one, other, strict=True)]) / K)


def measure(model: Any, X: np.ndarray, y: np.ndarray, new: np.ndarray, labels: np.ndarray) -> dict[str, Any]:
    """Fit a model, place new rows, and return all measures."""
    start = time.process_time()
    model.fit(X)
    fitted = time.process_time()
    placed = model.transform(new)
    end = time.process_time()
    Z = np.asarray(model.embedding_, dtype=np.float64)
    return {
        "kept": shared(neighbors(X), neighbors(Z)),
        "trust": trustworthiness(X, Z, n_neighbors=K),
        "continuity": continuity(X, Z, n_neighbors=K),
        "new_kept": shared(neighbors(X, new), neighbors(Z, placed)),
        "accuracy": float(KNeighborsClassifier(K).fit(Z, y).score(placed, labels)),
        "fit": fitted - start,
        "place": end - fitted,
        "map": Z,
    }


def compare(name: str, n_train: int, n_new: int, n_draws: int) -> Iterator[dict[str, Any]]:
    """Yield the measures of all methods on draws of the rows of a data set, after each draw."""
    X, y = load(name)
    assert y is not None
    y = y.astype(np.int64)
    pool = min(len(X), (n_train + n_new) * 5 // 4)
    n_new = min(n_new, pool // 5)
    n_train = min(n_train, pool - n_new)
    results: dict[str, list[dict[str, Any]]] = {}
    before = None
    for draw in range(n_draws):
        order = np.random.default_rng(draw).permutation(pool)
        train, new = order[:n_train], order[n_train : n_train + n_new]
        for method, make in methods().items():
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                if method not in results:
                    make().fit(X[:300]).transform(X[300:310])
                found = measure(make(), X[train], y[train], X[new], y[new])
            if before is not None:
                _, i, j = np.intersect1d(before, train, return_indices=True)
                found["instability"] = aligned_error(results[method][-1]["map"][i], found["map"][j])
            results.setdefault(method, []).append(found)
            shown = {key: round(value, 3) for key, value in found.items() if key != "map"}
            print(SOURCES[name].title, method, shown, flush=True)
        before = train
        values = {
            method: {key: [run[key] for run in runs if key in run] for key in MEASURES}
            for method, runs in results.items()
        }
        title = SOURCES[name].title
        yield {"title": title, "train": n_train, "new": n_new, "draws": draw + 1, "values": values}


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
        f"## {part['title']}, {part['train']} rows and {part['new']} new ones, {part['draws']} draw(s)\n",
        "| method | " + " | ".join(title for title, _, _ in MEASURES.values()) + " |",
        "| --- " * (len(MEASURES) + 1) + "|",
    ]
    best = {}
    for key in MEASURES:
        means = [np.mean(values[key]) for values in part["values"].values() if values[key]]
        if means:
            best[key] = min(means) if key in LOWER_IS_BETTER else max(means)
    for method, values in part["values"].items():
        cells = []
        for key, (_, factor, digits) in MEASURES.items():
            text = cell(values[key], factor, digits)
            cells.append(f"**{text}**" if text and np.mean(values[key]) == best[key] else text)
        lines.append(f"| {method} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


HEAD = """# Pictures beside UMAP, t-SNE and PHATE

Two coordinates, default parameters unless given, the same rows for all. Neighbours are the ten nearest.
Neighbours kept: the share that is among the ten nearest on the map, too, of training rows and of new rows
among the training rows. Accuracy: classes of new rows by the ten nearest training rows on the map.
Instability: the root mean square distance between two maps of the rows that two draws have in common, after
alignment, relative to the spread (0: equal). Times are processor seconds of one thread without compilation,
on a loaded machine: compare them within a table. Mean and twice the standard error over draws. The best of a
column is bold. Made by `python -m benchmarks.pictures`; methods that are not installed and data that are not
found are left out.

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
    options = parser.parse_args()
    for name in options.data:
        if absence(name):
            print(absence(name))
            continue
        for part in compare(name, options.train, options.new, options.draws):
            add(f"{name}-{part['train']}", part)


if __name__ == "__main__":
    main()
