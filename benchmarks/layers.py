"""Maps of maps (Bengio's third direction): is a data set served better by several layers than by one?

``python -m benchmarks.layers`` prints the table of docs/layers.md. A layer is
fitted to the coordinates of the layer before; new rows pass through all of them. The measure is the accuracy
of the classes of held-out rows, by the ten nearest training rows on the last map. The loss of a layer is that
of its kernel on held-out rows, relative to the mean square of the kernel.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.real_data import SOURCES, absence, load
from eigenscape import PCA, DiffusionMap, KernelPCA, LaplacianEigenmaps

DATA = ("digits", "fashion", "pbmc", "paul15")
WIDTH = 20
#: Sequences of maps by name; the last has as many coordinates as are compared.
LAYERS: dict[str, tuple[Callable[[int], Any], ...]] = {
    "one map": (LaplacianEigenmaps,),
    "PCA, eigenmap": (PCA, LaplacianEigenmaps),
    "kernel PCA, eigenmap": (KernelPCA, LaplacianEigenmaps),
    "diffusion map, eigenmap": (DiffusionMap, LaplacianEigenmaps),
    "eigenmap, eigenmap": (LaplacianEigenmaps, LaplacianEigenmaps),
    "three eigenmaps": (LaplacianEigenmaps, LaplacianEigenmaps, LaplacianEigenmaps),
}


def run(
    layers: tuple[Callable[[int], Any], ...], n_components: int, X: np.ndarray, new: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[float]]:
    """Fit all layers; return the coordinates of training and new rows, and the losses of the layers."""
    losses = []
    for number, make in enumerate(layers):
        model = make(n_components if number == len(layers) - 1 else WIDTH).fit(X)
        losses.append(model.loss(new) / _mean_square(model, new))
        X, new = model.embedding_, model.transform(new)
    return X, new, losses


def _mean_square(model: Any, new: np.ndarray) -> float:
    """Return the mean square of the kernel between different new rows."""
    K = model.kernel_.to(new)(new)
    K = K.toarray() if hasattr(K, "toarray") else np.asarray(K)
    return float(np.square(K[~np.eye(len(K), dtype=bool)]).mean())


def print_table(data: list[str], n_rows: int, n_draws: int) -> None:
    """Print the comparison as a table in Markdown."""
    names = list(LAYERS)
    print("| data | coordinates | " + " | ".join(names) + " |")
    print("| --- | --- | " + " | ".join("---" for _ in names) + " |")
    for name in data:
        if absence(name):
            continue
        X, y = load(name)
        assert y is not None
        X, y = X[:n_rows].astype(np.float64), y[:n_rows].astype(np.int64)
        for n_components in (2, 10):
            cells = []
            for layers in LAYERS.values():
                values, losses = [], []
                for draw in range(n_draws):
                    order = np.random.default_rng(draw).permutation(len(X))
                    train, new = order[: -len(X) // 4], order[-len(X) // 4 :]
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        Z, placed, found = run(layers, n_components, X[train], X[new])
                    classifier = KNeighborsClassifier(10).fit(Z, y[train])
                    values.append(classifier.score(placed, y[new]))
                    losses.append(found)
                text = f"{100 * np.mean(values):.1f} ± {200 * np.std(values, ddof=1) / n_draws**0.5:.1f} %"
                cells.append(f"{text} (loss {', '.join(f'{each:.2f}' for each in np.mean(losses, axis=0))})")
            title = f"{SOURCES[name].title}, {len(X)} rows"
            print(f"| {title} | {n_components} | " + " | ".join(cells) + " |", flush=True)


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", nargs="+", default=list(DATA), choices=DATA)
    parser.add_argument("--rows", type=int, default=1000, help="rows of each data set")
    parser.add_argument("--draws", type=int, default=4, help="draws of the held-out rows")
    options = parser.parse_args()
    print_table(options.data, options.rows, options.draws)


if __name__ == "__main__":
    main()
