"""Few labels, many rows: accuracy and time of semi-supervised classifiers on held-out rows.

``python -m benchmarks.labels`` prints a table, and writes it to docs/benchmarks/labels.md with ``--write``.
All classifiers get the same rows and labels; rows that are neither labelled nor held out are unlabelled. The
interval is twice the standard error over the draws of the labels. Times are processor time of fit and
prediction, all threads added, since other programs do not disturb it. Supervised maps, those of UMAP if it is
installed, are followed by a nearest-neighbour classifier on their two coordinates.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier

from benchmarks.real_data import SOURCES, absence, folder, load
from eigenscape import EigenfunctionClassifier, LaplacianEigenmaps

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks" / "labels.md"
LABELS = (10, 100, 1000)


#: Endings of words that are their classes; numbers are a class too.
ENDINGS = ("ing", "ed", "ly", "ion")


class SupervisedMap:
    """A map fitted to all rows and the labels of some, and nearest neighbours on it."""

    def __init__(self, map_: Any) -> None:
        self.map = map_

    def fit(self, X: np.ndarray, y: np.ndarray) -> SupervisedMap:
        """Fit the map to all rows and their labels, of which -1 means none."""
        self.map.fit(X, y)
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
        "LaplacianEigenmaps, no labels": lambda: SupervisedMap(LaplacianEigenmaps(2)),
        "LaplacianEigenmaps, supervised": lambda: SupervisedMap(LaplacianEigenmaps(2, target_weight=0.7)),
    }
    try:
        import umap
    except ImportError:
        return found
    return {**found, "UMAP, supervised": lambda: SupervisedMap(umap.UMAP(random_state=0))}


def _words() -> tuple[np.ndarray, np.ndarray]:
    """Return vectors of words that are numbers or have a given ending, in random order, and their classes."""
    with np.load(folder() / SOURCES["glove"].file) as arrays:
        X, words = arrays["X"].astype(np.float32), arrays["words"]
    classes = np.full(len(words), -1)
    for row, word in enumerate(words):
        ending = [number for number, end in enumerate(ENDINGS, 1) if str(word).endswith(end)]
        classes[row] = 0 if any(letter.isdigit() for letter in str(word)) else (ending or [-1])[0]
    order = np.random.default_rng(1).permutation(np.flatnonzero(classes >= 0))
    return X[order], classes[order]


def data_sets(n_rows: int) -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Yield a title, rows and classes of each data set that is available."""
    for name in ("digits", "mnist_mixed", "fashion", "glove", "pbmc"):
        if not absence(name):
            X, y = _words() if name == "glove" else load(name)
            assert y is not None
            yield SOURCES[name].title, X[:n_rows], y[:n_rows].astype(np.int64)


def compare(X: np.ndarray, y: np.ndarray, n_labels: int, n_draws: int) -> dict[str, tuple[np.ndarray, float]]:
    """Return the accuracies on held-out rows, one for each draw, and the median time, by name."""
    accuracies: dict[str, list[float]] = {}
    times: dict[str, list[float]] = {}
    for draw in range(n_draws):
        order = np.random.default_rng(draw).permutation(len(X))
        rows, held_out = order[: -len(X) // 4], order[-len(X) // 4 :]
        given = np.full(len(rows), -1)
        given[:n_labels] = y[rows[:n_labels]]
        for name, make in classifiers().items():
            start = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                predicted = make().fit(X[rows], given).predict(X[held_out])
            seconds = time.process_time() - start
            accuracies.setdefault(name, []).append(float((predicted == y[held_out]).mean()))
            times.setdefault(name, []).append(seconds)
    return {name: (np.array(values), float(np.median(times[name]))) for name, values in accuracies.items()}


def table(n_rows: int, n_draws: int) -> str:
    """Return the comparison as a table in Markdown."""
    names = list(classifiers())
    few = np.random.default_rng(0).random((200, 5))
    compare(few, np.arange(200) % 2, 50, 1)  # compiles what is compiled on first use
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


def _versions() -> list[str]:
    """Return names and versions of the libraries that are compared."""
    names = ["scikit-learn", *(["umap-learn"] if "UMAP, supervised" in classifiers() else [])]
    return [f"{name} {version(name)}" for name in names]


def main() -> None:
    """Print the comparison, and write its page if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=2000, help="rows of each data set")
    parser.add_argument("--draws", type=int, default=4, help="draws of the labels")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    text = table(options.rows, options.draws)
    if options.write:
        head = (
            "# Few labels, many rows\n\nAccuracy on held-out rows (a quarter of all; mean and twice the"
            f" standard error over {options.draws} draws of the labels), and the processor time of `fit` and"
            " `predict` in seconds, the median over the draws, all in one run. The best accuracy is bold."
            " Default parameters, 10 neighbours where a graph is built; `target_weight=0.7` of the supervised"
            " map. Maps have two coordinates and are followed by a nearest-neighbour classifier. Classes of"
            f" the words of GloVe are numbers and the endings {', '.join('-' + end for end in ENDINGS)}. Made"
            f" by `python -m benchmarks.labels --rows {options.rows} --draws {options.draws} --write` with"
            f" {', '.join(_versions())}; data that are not found are left out.\n\n"
        )
        PAGE.write_text(f"{head}{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
