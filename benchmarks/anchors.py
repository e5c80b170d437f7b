"""Maps from few points with the graph of all rows: anchors, and samples.

``python -m benchmarks.anchors`` prints the errors of maps from ``m`` points against the exact maps of all
rows, in the same run, and writes them to docs/benchmarks/anchors.md with ``--write``. ``python -m
benchmarks.anchors --rows 1000000`` prints processor time and peak memory of fits to many rows instead, each
in a process of its own. The error of a map is the part of the span of the exact coordinates that is outside
the span of its own, between 0 and 1.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from scipy import linalg
from sklearn.datasets import make_swiss_roll
from sklearn.decomposition import PCA

from benchmarks.real_data import absence, load
from eigenscape import Isomap, LaplacianEigenmaps
from eigenscape.exceptions import DisconnectedGraphWarning
from eigenscape.options import Anchors

PAGE = Path(__file__).parent.parent / "docs" / "benchmarks" / "anchors.md"
SIZES, N_SEEDS = (100, 300, 1000), 3
#: Fits to many rows, by name: of a roll in 3 columns, or of 50 overlapping clusters in 20.
LARGE: dict[str, Callable[[], LaplacianEigenmaps | Isomap]] = {
    "LaplacianEigenmaps()": lambda: LaplacianEigenmaps(2, n_neighbors=10),
    "LaplacianEigenmaps(approximation=Anchors(1000))": lambda: LaplacianEigenmaps(
        2, n_neighbors=10, approximation=Anchors(1000)
    ),
    "Isomap(n_landmarks=100)": lambda: Isomap(2, n_neighbors=10, n_landmarks=100),
}


def outside(found: np.ndarray, reference: np.ndarray) -> float:
    """Return the part of the span of ``reference`` that is outside the span of ``found``."""
    first, second = (linalg.orth(values - values.mean(axis=0)) for values in (found, reference))
    return 1 - float(np.square(first.T @ second).sum()) / reference.shape[1]


def roll(n: int, seed: int) -> np.ndarray:
    """Return a Swiss roll."""
    X: np.ndarray = make_swiss_roll(n, random_state=seed)[0]
    return X


def clusters(n: int) -> np.ndarray:
    """Return rows of 50 overlapping Gaussian clusters in 20 columns."""
    rng = np.random.default_rng(0)
    centers = 2 * rng.standard_normal((50, 20))
    return centers[rng.integers(50, size=n)] + rng.standard_normal((n, 20))


def real_rows(name: str, n: int, seed: int) -> np.ndarray:
    """Return the first principal components of some rows of a data set; words have length 1."""
    X = load(name)[0]
    X = X[np.random.default_rng(seed).permutation(len(X))[:n]].astype(np.float64)
    if name == "glove":
        return X / np.linalg.norm(X, axis=1, keepdims=True)
    return PCA(50, random_state=0).fit_transform(X)


def graph_errors(X: np.ndarray, m: int, seed: int, target: np.ndarray) -> list[float]:
    """Return the errors of a map of ``m`` rows that places the others, and of a map by ``m`` anchors."""
    some = X[np.random.default_rng(seed).permutation(len(X))[:m]]
    model = LaplacianEigenmaps(target.shape[1], n_neighbors=10, random_state=seed)
    sample = model.fit(some).transform(X)
    anchors = model.set_params(approximation=Anchors(m)).fit_transform(X)
    return [outside(sample, target), outside(anchors, target)]


def tables(n: int, sizes: Sequence[int], only: str) -> Iterator[tuple[str, int, np.ndarray]]:
    """Yield data, number of points, and errors (n_seeds, 2) of the plain and of the new map."""
    real = [name for name in ("mnist_mixed", "fashion", "glove") if not absence(name)]
    for name in (name for name in ("roll", *real) if only in name):
        errors: dict[int, list[list[float]]] = {}
        for seed in range(N_SEEDS):
            X = roll(n, seed) if name == "roll" else real_rows(name, n, seed)
            count = 4 if name == "roll" else 5
            smooth = LaplacianEigenmaps(count, n_neighbors=10).fit_transform(X)
            for m in sizes:
                errors.setdefault(m, []).append(graph_errors(X, m, seed, smooth))
        for m, pairs in sorted(errors.items()):
            yield name, m, np.array(pairs)


def lines(n: int, sizes: Sequence[int], only: str) -> Iterator[str]:
    """Yield the lines of the table of errors."""
    yield "| data | m | sample | anchors |"
    yield "| --- | --- | --- | --- |"
    for name, m, errors in tables(n, sizes, only):
        half = 2 * errors.std(axis=0, ddof=1) / np.sqrt(len(errors))
        cells = [f"{mean:.4f} ± {width:.4f}" for mean, width in zip(errors.mean(axis=0), half, strict=True)]
        yield f"| {name} | {m} | {cells[0]} | {cells[1]} |"


def measure(name: str, kind: str, n: int) -> None:
    """Print processor time and peak memory of one fit, and the time to place 100 000 new rows."""
    X = (roll(n, 0) if kind == "roll" else clusters(n)).astype(np.float32)
    start = time.process_time()
    model = LARGE[name]().fit(X)
    fit = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    start = time.process_time()
    model.transform(X[:100_000] + np.float32(1e-3))
    place = time.process_time() - start
    print(f"| {kind} | {n} | `{name}` | {fit:.0f} | {place:.1f} | {peak:.2f} |", flush=True)


def main() -> None:
    """Print the errors, or time and memory of fits to many rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--n", type=int, default=5000, help="rows of the exact maps")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="numbers of points")
    parser.add_argument("--only", default="", help="data or method whose name contains this text")
    parser.add_argument("--rows", type=int, help="measure fits to this many rows")
    parser.add_argument("--one", nargs=2, help=argparse.SUPPRESS)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    options = parser.parse_args()
    warnings.simplefilter("ignore", DisconnectedGraphWarning)
    if options.one:
        return measure(*options.one, options.rows)
    if options.rows:
        print("| data | rows | model | fit, s of processor | 100 000 new rows, s | peak, GiB |")
        for kind in ("roll", "clusters"):
            for name in (name for name in LARGE if options.only in f"{kind} {name}"):
                command = [sys.executable, "-m", "benchmarks.anchors", "--rows", str(options.rows)]
                subprocess.run([*command, "--one", name, kind], check=False, env=os.environ)
        return None
    table = []
    for line in lines(options.n, options.sizes, options.only):
        print(line, flush=True)
        table.append(line)
    if options.write:
        head, _, _ = PAGE.read_text().partition("\n<!-- table -->")
        PAGE.write_text(head + "\n<!-- table -->\n\n" + "\n".join(table) + "\n")
    return None


if __name__ == "__main__":
    main()
