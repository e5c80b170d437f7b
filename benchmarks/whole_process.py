"""Whole processes: import, fit 1 000 rows of 64 columns, place 200 rows, with eigenscape and with a peer.

``python -m benchmarks.whole_process`` runs the processes of both in turn and prints the median processor and
wall times, and the median of the ratios of wall times of a round. "Installed" processes find the bytecode of
eigenscape, which pip and ``make`` store; a "clone" process is the first one in a copy of the sources without
bytecode, and compiles it. scikit-learn always has its bytecode. With ``--busy`` another process computes
meanwhile.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from benchmarks.tables import markdown_table

SOURCE = Path(__file__).parents[1] / "src" / "eigenscape"
_ROWS = "import numpy as np\nX = np.load({path!r})\nnew = X[:200] + 0.01\n"
#: The lines of both, by what they compute.
WORK = {
    "Laplacian eigenmaps": (
        "from eigenscape import LaplacianEigenmaps\nLaplacianEigenmaps(2).fit(X).transform(new)",
        "from sklearn.manifold import SpectralEmbedding\n"
        "SpectralEmbedding(2, affinity='nearest_neighbors').fit(X)",
    ),
    "Isomap": (
        "from eigenscape import Isomap\nIsomap(2).fit(X).transform(new)",
        "from sklearn.manifold import Isomap\nIsomap(n_components=2).fit(X).transform(new)",
    ),
    "LLE": (
        "from eigenscape import LocallyLinearEmbedding\nLocallyLinearEmbedding(2).fit(X).transform(new)",
        "from sklearn.manifold import LocallyLinearEmbedding\n"
        "LocallyLinearEmbedding(n_components=2).fit(X).transform(new)",
    ),
    "spectral clustering": (
        "from eigenscape import SpectralClustering\nSpectralClustering(8).fit(X).predict(new)",
        "from sklearn.cluster import SpectralClustering\n"
        "SpectralClustering(8, affinity='nearest_neighbors').fit(X)",
    ),
    "kernel PCA": (
        "from eigenscape import KernelPCA\nKernelPCA(2).fit(X).transform(new)",
        "from sklearn.decomposition import KernelPCA\nKernelPCA(2, kernel='rbf').fit(X).transform(new)",
    ),
    "a picture": (
        "from eigenscape import NeighborEmbedding\nNeighborEmbedding(2).fit(X).transform(new)",
        "from umap import UMAP\nUMAP().fit(X).transform(new)",
    ),
}


class Times(NamedTuple):
    """Seconds of a process."""

    wall: float
    processor: float


def run(code: str, path: str | None) -> Times:
    """Run Python code in a process."""
    environment = {**os.environ}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if path is not None:
        environment["PYTHONPATH"] = path
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=True, env=environment)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Times(wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def compare(name: str, rows: str, rounds: int, *, clone: bool) -> list[str]:
    """Return a line of the table."""
    ours, theirs = (_ROWS.format(path=rows) + code for code in WORK[name])
    pairs = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            path = None
            if clone:
                shutil.copytree(
                    SOURCE, Path(folder) / "eigenscape", ignore=shutil.ignore_patterns("__pycache__")
                )
                path = folder
            pairs.append((run(ours, path), run(theirs, None)))
    columns = [f"{statistics.median(one[i][j] for one in pairs):.2f}" for j in (0, 1) for i in (0, 1)]
    ratio = statistics.median(peer.wall / own.wall for own, peer in pairs)
    return [name, "clone" if clone else "installed", *columns, f"{ratio:.2f}x"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--only", nargs="*", default=list(WORK), choices=list(WORK))
    parser.add_argument("--busy", action="store_true", help="beside a process that computes")
    options = parser.parse_args()
    other = subprocess.Popen([sys.executable, "-c", "while True: pass"]) if options.busy else None
    try:
        _print_table(options)
    finally:
        if other is not None:
            other.kill()


def _print_table(options: argparse.Namespace) -> None:
    from sklearn.datasets import load_digits

    names = [name for name in options.only if name != "a picture" or find_spec("umap")]
    head = ("work", "process", "ours, s", "peer, s", "ours, processor s", "peer, processor s", "ratio")
    with tempfile.TemporaryDirectory() as folder:
        import numpy as np

        rows = str(Path(folder) / "rows.npy")
        np.save(rows, load_digits().data[:1000])
        for name in names:  # bytecode of both is stored
            compare(name, rows, 1, clone=False)
        lines = [
            compare(name, rows, options.rounds, clone=clone) for name in names for clone in (True, False)
        ]
    print("\n".join(markdown_table(head, lines)))


if __name__ == "__main__":
    main()
