"""Kernels and rows that bring misfortune to a worker, once, when the work is in a given phase; for the tests
of faults."""

from __future__ import annotations

import os
import runpy
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eigenscape.kernels import Gaussian

#: The function that a worker is in during each phase.
PHASES = {"selection": "screen_partition", "accumulation": "_moments", "transform": "_map_one"}


@dataclass(frozen=True)
class Deadly(Gaussian):
    """A Gaussian kernel that ends the process which evaluates it in ``phase``: by kill -9, or by filling its
    memory."""

    phase: str = "none"
    marker: str = ""
    how: str = "kill"
    times: int = 1

    def evaluate(self, Y, X):
        if self.phase in PHASES and _called_by(PHASES[self.phase]):
            for time_ in range(self.times):
                if _first(Path(self.marker) / f"{self.how}-{time_}"):
                    _kill() if self.how == "kill" else _fill_memory()
        return super().evaluate(Y, X)


def _called_by(function: str) -> bool:
    """Whether a function of this name is being executed. inspect.stack looks up files, which takes longer."""
    frame = sys._getframe()
    while frame is not None and frame.f_code.co_name != function:
        frame = frame.f_back
    return frame is not None


def die_when_joining(marker: str) -> None:
    """From now on the process ends, once, when it joins what blocks of rows gave; no kernel is evaluated
    there."""
    from eigenscape.distributed import reduce as module

    join = module.reduce

    def deadly(*given):
        if _first(Path(marker) / "joining"):
            _kill()
        return join(*given)

    module.reduce = deadly


def _first(marker: Path) -> bool:
    """Whether nobody was here before; two workers may come at once."""
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _fill_memory() -> None:
    kept = []
    for _ in range(40):  # 2 GB in two seconds, unless the nanny comes before
        kept.append(np.ones(50 * 2**20 // 8))
        time.sleep(0.05)
    time.sleep(5)


def made_rows(number: int, rows: int) -> np.ndarray:
    """The rows of one partition, made on the fly."""
    return np.random.default_rng([3, number]).uniform(size=(rows, 3)) * [3.0, 1.5, 0.5]


def unlucky_rows(number: int, rows: int, marker: str, failures: int) -> np.ndarray:
    """The same rows, from a disk that fails the first times partition 1 is read."""
    if number == 1:
        for time_ in range(failures):
            if _first(Path(marker) / f"read-{time_}"):
                raise OSError(f"read error number {time_ + 1}")
    return made_rows(number, rows)


def wide_rows(number: int, rows: int) -> np.ndarray:
    """Twenty columns in single precision."""
    rng = np.random.default_rng([5, number])
    hidden = rng.random((rows, 3), dtype=np.float32) * np.float32([3.0, 1.5, 0.5])
    mixing = np.random.default_rng(1).standard_normal((3, 20), dtype=np.float32) / 4
    return hidden @ mixing


def peak_megabytes() -> float:
    """The most memory that this process has had."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run_quietly(folder: Path, words: list[str]) -> None:
    """Run a module with arguments in a folder, without standard error, as ``python -m`` does."""
    os.chdir(folder)
    with open(os.devnull, "w") as nothing:
        os.dup2(nothing.fileno(), 2)
    sys.argv = words
    runpy.run_module(words[0], run_name="__main__", alter_sys=True)
