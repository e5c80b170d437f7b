"""Run random tests of the full product for a limited time, with random examples for property tests.

    python tests/random_part.py --seconds 120 --seed 7

Two processes share a shuffled list of the tests. The seed is printed first; the same seed runs the same tests
in the same order until the time is up.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent
MARKS = "hypothesis or not (process or dask or browser or packaging or pages)"


class RandomPart:
    """Plugin: keep a part of the shuffled tests, and stop when the time is up."""

    def __init__(self, seed: int, part: int, n_parts: int, seconds: float) -> None:
        self.seed, self.part, self.n_parts = seed, part, n_parts
        self.deadline = time.monotonic() + seconds
        self.n_run, self.failed = 0, []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items) -> None:
        random.Random(self.seed).shuffle(items)
        items[:] = items[self.part :: self.n_parts]

    def pytest_runtest_logreport(self, report) -> None:
        self.n_run += report.when == "call"
        if report.failed:
            self.failed.append(report.nodeid)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item) -> None:
        if time.monotonic() > self.deadline:
            item.session.shouldstop = "time is up"


def run_part(seed: int, part: int, n_parts: int, seconds: float) -> int:
    """Run one part in this process; return its exit code."""
    plugin = RandomPart(seed, part, n_parts, seconds)
    options = ["-q", "--no-header", "-p", "no:xdist", "-m", MARKS, f"--hypothesis-seed={seed + part}"]
    code = pytest.main([*options, str(FOLDER)], plugins=[plugin])
    stopped = code in (pytest.ExitCode.OK, pytest.ExitCode.INTERRUPTED)
    if plugin.failed or not stopped or not plugin.n_run:
        print("failed:", *(plugin.failed or [f"pytest ended with {code!r}"]), sep="\n  ")
        return 1
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--part", type=int, default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    n_parts = 2
    if options.part is not None:
        return run_part(options.seed, options.part, n_parts, options.seconds)
    seed = int(random.SystemRandom().randrange(10**6)) if options.seed is None else options.seed
    print(f"random tests of the product for {options.seconds:g} s, seed {seed}", flush=True)
    environment = {**os.environ, "EIGENSCAPE_PRODUCT": "1", "HYPOTHESIS_PROFILE": "random"}
    command = [sys.executable, __file__, "--seed", str(seed), "--seconds", str(options.seconds)]
    parts = [
        subprocess.Popen([*command, "--part", str(part)], env=environment, cwd=FOLDER.parent)
        for part in range(n_parts)
    ]
    codes = [process.wait() for process in parts]  # negative after a signal
    return int(any(codes))


if __name__ == "__main__":
    sys.exit(main())
