"""Few labels, many rows: accuracy and time of semi-supervised classifiers on held-out rows.

``python -m benchmarks.labels`` prints a table, and writes it to docs/benchmarks/labels.md with ``--write``.
All classifiers get the same rows and labels; rows that are neither labelled nor held out are unlabelled. The
interval is twice the standard error over the draws of the labels. UMAP's supervised map (with a
nearest-neighbour classifier on it) is compared if it is installed.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier

from benchmarks.real_data import SOURCES, absence, load
from eigenscape import EigenfunctionClassifier

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks" / "labels.md"
LABELS = (10, 100, 1000)


class SupervisedUMAP:
    """UMAP with labels of some rows, and nearest neighbours on its map."""

    def fit(self, X: np.ndarray, y: np.ndarray) -> SupervisedUMAP:
        """Fit the map to all rows and their labels, of which -1 means none."""
        import umap

        self.map = umap.UMAP(random_state=0).fit(X, y)
        known = y >= 0
        count = int(np.clip(known.sum() // 50, 1, 15))
        self.classifier = KNeighborsClassifier(count).fit(self.map.embedding_[known], y[known])
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return the classes of new rows."""
        return self.classifier.predict(self.map.transform(X))


def classifiers() -> dict[str, Callable[[], Any]]:
    """Return what is compared, by name."""
    found: dict[str, Callable[[], Any]] = {
        "EigenfunctionClassifier": EigenfunctionClassifier,
        "LabelSpreading": lambda: LabelSpreading(kernel="knn", n_neighbors=10),
        "LabelPropagation": lambda: LabelPropagation(kernel="knn", n_neighbors=10, max_iter=3000),
        "SelfTraining": lambda: SelfTrainingClassifier(LogisticRegression(max_iter=300)),
    }
    try:
        import umap  # noqa: F401
    except ImportError:
        return found
    return {**found, "UMAP, supervised": SupervisedUMAP}


def data_sets(n_rows: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield a title, rows and classes of each data set that is available."""
    for name in ("digits", "mnist_mixed", "fashion", "pbmc", "paul15"):
        if not absence(name):
            X, y = load(name)
            assert y is not None
            yield SOURCES[name].title, X[:n_rows], y[:n_rows].astype(np.int64)


def compare(X: np.ndarray, y: np.ndarray, n_labels: int, n_draws: int) -> dict[str, tuple[np.ndarray, float]]:
    """Return the accuracies on held-out rows, one for each draw, and the least time, by name."""
    accuracies: dict[str, list[float]] = {}
    times: dict[str, float] = {}
    for draw in range(n_draws):
        order = np.random.default_rng(draw).permutation(len(X))
        rows, held_out = order[: -len(X) // 4], order[-len(X) // 4 :]
        given = np.full(len(rows), -1)
        given[:n_labels] = y[rows[:n_labels]]
        for name, make in classifiers().items():
            start = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                predicted = make().fit(X[rows], given).predict(X[held_out])
            seconds = time.perf_counter() - start
            accuracies.setdefault(name, []).append(float((predicted == y[held_out]).mean()))
            times[name] = min(times.get(name, np.inf), seconds)
    return {name: (np.array(values), times[name]) for name, values in accuracies.items()}


def table(n_rows: int, n_draws: int) -> str:
    """Return the comparison as a table in Markdown."""
    names = list(classifiers())
    lines = [
        "| data | labels | " + " | ".join(names) + " |",
        "| --- | --- | " + " | ".join("---" for _ in names) + " |",
    ]
    for data, X, y in data_sets(n_rows):
        for n_labels in LABELS:
            found = compare(X, y, n_labels, n_draws)
            best = max(values.mean() for values, _ in found.values())
            cells = []
            for values, seconds in found.values():
                text = f"{100 * values.mean():.1f} ± {200 * values.std(ddof=1) / n_draws**0.5:.1f} %"
                text = f"**{text}**" if values.mean() == best else text
                cells.append(f"{text}, {seconds:.2f} s")
            lines.append(f"| {data}, {len(X)} rows | {n_labels} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    """Print the comparison, and write its page if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=4000, help="rows of each data set")
    parser.add_argument("--draws", type=int, default=5, help="draws of the labels")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    text = table(options.rows, options.draws)
    if options.write:
        head = (
            "# Few labels, many rows\n\nAccuracy on held-out rows (a quarter of all; mean and twice the"
            f" standard error over {options.draws} draws of the labels), and the time of `fit` and `predict`."
            " The best is bold. Default parameters, 10 neighbours where a graph is built. Made by `python -m"
            " benchmarks.labels --write`; data that are not found are left out.\n\n"
        )
        PAGE.write_text(f"{head}{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
