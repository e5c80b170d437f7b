"""Peak memory of fits beside their estimates, each in a process of its own.

    python tests/solvers/memory.py --points 20000 200000 [--words FILE.npz]

prints the peak above the rows in MiB, the estimate, their ratio and the solver.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np

FITS = {
    "LaplacianEigenmaps": {"n_components": 2},
    "DiffusionMap": {"n_components": 2},
    "SpectralClustering": {"n_clusters": 4},
    "LocallyLinearEmbedding": {"n_components": 2, "n_neighbors": 12},
}


def rows(kind: str, n: int, words: Path | None) -> np.ndarray:
    if kind == "words":
        assert words is not None
        stored = np.load(words)
        return stored[max(stored.files, key=lambda each: stored[each].size)][:n].astype(float)
    from sweep import POINTS

    return POINTS[kind](n, np.random.default_rng(0))


def measure(name: str, kind: str, n: int, words: Path | None) -> None:
    """Fit, and print the peak above the rows, the estimate, and the solver."""
    import resource
    import warnings

    import eigenscape

    warnings.simplefilter("ignore")
    small = rows("roll", 600, None)
    make = getattr(eigenscape, name)
    make(**FITS[name]).fit(small)  # loads the libraries
    X = rows(kind, n, words)
    estimate = make._method.memory.estimate(make(**FITS[name]).get_params(), *X.shape)
    before = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    try:
        solver = make(**FITS[name]).fit(X).solver_
    except MemoryError as error:
        solver = f"refused: {error}"
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(f"{peak / 2**20:8.0f} {estimate / 2**20:8.0f} {peak / estimate:6.2f}  {solver}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--points", type=int, nargs="+", default=[20_000, 200_000])
    parser.add_argument("--kinds", nargs="+", default=["roll", "clusters"])
    parser.add_argument("--fits", nargs="+", default=list(FITS))
    parser.add_argument("--words", type=Path, help="file whose largest array are the rows of a third kind")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        name, kind, n = options.one
        measure(name, kind, int(n), options.words)
        return
    print(f"{'':42}    peak estimate  ratio  solver")
    for n in options.points:
        for kind in [*options.kinds, *["words"] * (options.words is not None)]:
            for name in options.fits:
                print(f"{name:24} {kind:9} {n:7}", end=" ", flush=True)
                given = ["--words", str(options.words)] if options.words else []
                subprocess.run([sys.executable, __file__, "--one", name, kind, str(n), *given], check=False)


if __name__ == "__main__":
    main()
