"""Kills commands at every write and at random moments; see test_kills.py.

Usage: kill_commands.py LIBRARY FOLDER COMMAND[,COMMAND...] N_WRITES N_RANDOM SEED. Prints the number of kills
of each command as JSON.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import time
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np

import eigenscape

ROWS = 60
#: Modules that are loaded before the commands are forked.
_MODULES = (
    "anndata", "matplotlib.backends.backend_agg", "matplotlib.backends.backend_svg", "matplotlib.figure",
    "pyarrow.csv", "pyarrow.feather", "pyarrow.parquet", "sklearn.pipeline",
    "eigenscape.app.cli.app", "eigenscape.app.cli.run", "eigenscape.app.io.models", "eigenscape.app.report",
    "eigenscape.app.io.reading", "eigenscape.app.io.writing", "eigenscape.plot",
    "eigenscape.estimators.pca", "eigenscape.estimators.spectral_clustering",
)  # fmt: skip
#: Arguments of each command; targets begin with @.
COMMANDS: dict[str, list[str]] = {
    "embed": ["embed", "data.csv", "-m", "pca", "-o", "@m.csv", "--plot", "@m.svg",
              "--save", "@m.eigenscape"],
    "report": ["embed", "data.csv", "-m", "pca", "--report", "@map.html"],
    "transform": ["transform", "model.eigenscape", "data.csv", "-o", "@new.parquet"],
    "inverse": ["inverse", "model.eigenscape", "map.csv", "-o", "@rows.csv"],
    "cluster": ["cluster", "data.csv", "-k", "2", "-o", "@clusters.csv", "--plot", "@clusters.png"],
    "compare": ["compare", "data.csv", "-m", "pca", "-m", "mds", "--report", "@compare.html"],
    **{suffix: ["transform", "model.eigenscape", "data.csv", "-o", f"@new.{suffix}"] for suffix in
       ("tsv", "arrow", "npy", "npz", "mtx", "h5ad")},
}  # fmt: skip


def prepare(folder: Path) -> None:
    """Write the inputs of the commands."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 4))
    model = eigenscape.PCA(2).fit(X)
    header = "a,b,c,d,kind\n"
    lines = [",".join([*map(repr, row.tolist()), "ab"[i % 2]]) for i, row in enumerate(X)]
    (folder / "data.csv").write_text(header + "\n".join(lines) + "\n")
    np.savetxt(folder / "map.csv", model.transform(X), delimiter=",", header="p,q", comments="")
    eigenscape.save(model, folder / "model.eigenscape")


def is_complete(path: Path) -> bool:
    """Return whether a file is a complete result; raise if it cannot be read."""
    if path.suffix == ".eigenscape":
        return eigenscape.load(path).transform(np.zeros((1, 4))).shape == (1, 2)
    data = path.read_bytes()
    ends = {".svg": b"</svg>", ".html": b"</html>", ".png": b"IEND\xaeB`\x82"}
    if path.suffix in ends:
        return data.rstrip().endswith(ends[path.suffix])
    return eigenscape.read(path).array.shape[0] == ROWS


class Killer:
    """Runs a command in forked processes that are killed."""

    def __init__(self, library: str, folder: Path, command: str) -> None:
        self.faults = ctypes.CDLL(library)
        self.faults.arm.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int]
        self.faults.count.restype = ctypes.c_long
        self.out = folder / f"out-{command}"
        self.out.mkdir()
        self.targets = [self.out / word[1:] for word in COMMANDS[command] if word.startswith("@")]
        words = [f"{self.out}/{word[1:]}" if word.startswith("@") else word for word in COMMANDS[command]]
        self.arguments = [str(folder / word) if (folder / word).is_file() else word for word in words]

    def run(self, n: int, delay: float | None = None, count: Path | None = None) -> int:
        """Run the command; kill it at write ``n`` (0: never) or after a delay. Return the wait status."""
        process = os.fork()
        if process == 0:
            self._run_here(n, count)
        if delay is not None:
            time.sleep(delay)
            os.kill(process, signal.SIGKILL)
        return os.waitpid(process, 0)[1]

    def _run_here(self, n: int, count: Path | None) -> None:
        code = 1
        try:
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 1)
            self.faults.arm(str(self.out).encode(), n, -1)
            try:
                import_module("eigenscape.app.cli.app").app([*self.arguments, "--force", "-q"])
            except SystemExit as error:
                code = int(error.code or 0)
            if count is not None:
                count.write_text(str(self.faults.count()))
        finally:
            os._exit(code)

    def check(self, old: bool) -> None:
        """Raise unless every target is the old file, or absent if there was none, or complete."""
        for path in self.targets:
            if path.exists() and path.read_bytes() == b"old":
                assert old
            elif path.exists():
                assert is_complete(path), path.name
            else:
                assert not old, f"{path.name} is lost"

    def reset(self, old: bool) -> None:
        for path in self.targets:
            path.write_bytes(b"old") if old else path.unlink(missing_ok=True)

    def finish(self) -> None:
        """Run the command to its end: the files are complete, and no temporary files are left."""
        assert self.run(0) == 0
        self.check(old=False)
        names = sorted(path.name for path in self.out.iterdir())
        assert names == sorted(path.name for path in self.targets), names


def kill(killer: Killer, folder: Path, n_writes: int, n_random: int, seed: int) -> dict[str, int]:
    """Kill a command at ``n_writes`` of its writes and at ``n_random`` random moments."""
    count = folder / "count"
    start = time.monotonic()
    assert killer.run(0, count=count) == 0, "the command fails"
    seconds = time.monotonic() - start
    total = int(count.read_text())
    killed = {"writes": 0, "random": 0}
    rng = np.random.default_rng(seed)
    moments = sorted(set(np.linspace(1, total, min(n_writes, total)).astype(int).tolist()))
    for i, n in enumerate(moments):
        killer.reset(old=i % 2 == 0)
        status = killer.run(n)
        assert os.WIFSIGNALED(status), f"{total} writes, but write {n} did not happen"
        killer.check(old=i % 2 == 0)
        killed["writes"] += 1
    for i in range(n_random):
        killer.reset(old=i % 2 == 0)
        killer.run(0, delay=float(rng.uniform(0, 1.2 * seconds)))
        killer.check(old=i % 2 == 0)
        killed["random"] += 1
    killer.finish()
    return killed


def main(library: str, folder: str, commands: str, *numbers: int) -> dict[str, dict[str, int]]:
    """Kill each command; return the numbers of kills."""
    prepare(Path(folder))
    for module in _MODULES:
        import_module(module)
    return {
        command: kill(Killer(library, Path(folder), command), Path(folder), *numbers)
        for command in commands.split(",")
    }


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        print(json.dumps(main(*sys.argv[1:4], *map(int, sys.argv[4:7]))))
