"""Runs cases of the file fuzzer in child processes, so that signals and hangs are seen and counted.

``python -m fuzz.harness FORMAT SEED NUMBER`` repeats one case in this process.
"""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

#: A case that takes longer is a hang.
SECONDS = 60.0
OUTCOMES = ("signals", "hangs", "exceptions", "differences")


@dataclass
class Result:
    """Counts of outcomes for each format, and a description of each fault."""

    counts: dict[str, Counter[str]] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)
    log: IO[str] | None = None

    def add(self, kind: str, seed: int, number: int, outcome: str) -> None:
        name, _, detail = outcome.partition(": ")
        plural = {
            "signal": "signals",
            "hang": "hangs",
            "exception": "exceptions",
            "difference": "differences",
        }
        counter = self.counts.setdefault(kind, Counter())
        counter["tried"] += 1
        counter[plural.get(name, name)] += 1
        if name in plural:
            self.faults.append(f"{kind} seed {seed} case {number}: {name} {detail}")
            if self.log is not None:
                print(self.faults[-1], file=self.log, flush=True)

    def as_dict(self) -> dict[str, dict[str, int]]:
        names = ("tried", "read", "refused", *OUTCOMES)
        return {
            kind: {name: counter[name] for name in names} for kind, counter in sorted(self.counts.items())
        }


@dataclass
class _Worker:
    jobs: list[tuple[str, int]]
    seed: int
    position: int = 0
    since: float = 0.0
    buffer: bytes = b""
    is_ready: bool = False
    process: subprocess.Popen[bytes] | None = None

    def start(self) -> IO[bytes]:
        command = [sys.executable, "-m", "fuzz.harness", "--worker"]
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
        )
        self.is_ready = False
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps([self.seed, self.jobs[self.position :]]).encode())
        self.process.stdin.close()
        self.since, self.buffer = time.monotonic() + 60.0, b""  # time for imports
        return self.process.stdout


def run(cases: dict[str, int], seed: int, processes: int = 2, log: IO[str] | None = None) -> Result:
    """Run a number of cases for each format; faults are written to a log as they are found."""
    jobs = [(kind, number) for kind, count in cases.items() for number in range(count)]
    jobs.sort(key=lambda job: job[1] / cases[job[0]])  # formats are mixed: slow ones do not come last
    result = Result(log=log)
    workers = [_Worker(jobs[start::processes], seed) for start in range(processes)]
    with selectors.DefaultSelector() as selector:
        for worker in workers:
            selector.register(worker.start(), selectors.EVENT_READ, worker)
        while selector.get_map():
            for key, _ in selector.select(timeout=1.0):
                data = os.read(key.fd, 2**16)
                if data:
                    _receive(key.data, data, result)
                else:
                    selector.unregister(key.fileobj)
                    _restart(key.data, selector, result)
            for worker in workers:
                if (
                    worker.process
                    and worker.process.poll() is None
                    and time.monotonic() - worker.since > SECONDS
                ):
                    worker.buffer = b"hang"
                    worker.process.kill()
    return result


def _receive(worker: _Worker, data: bytes, result: Result) -> None:
    *lines, worker.buffer = (worker.buffer + data).split(b"\n")
    for line in lines:
        if not worker.is_ready:
            worker.is_ready, worker.since = line == b"ready", time.monotonic()
            continue
        kind, number = worker.jobs[worker.position]
        result.add(kind, worker.seed, number, line.decode())
        worker.position += 1
        worker.since = time.monotonic()


def _restart(worker: _Worker, selector: selectors.BaseSelector, result: Result) -> None:
    """Count the case that ended a worker, and go on with the next one."""
    assert worker.process is not None
    assert worker.process.stdout is not None
    code = worker.process.wait()
    worker.process.stdout.close()
    if not worker.is_ready:
        raise RuntimeError(f"a worker of the fuzzer ended with exit code {code} before its first case")
    if worker.position < len(worker.jobs):
        kind, number = worker.jobs[worker.position]
        outcome = f"hang: over {SECONDS:g} s" if worker.buffer == b"hang" else f"signal: exit code {code}"
        result.add(kind, worker.seed, number, outcome)
        worker.position += 1
    worker.process = None
    if worker.position < len(worker.jobs):
        selector.register(worker.start(), selectors.EVENT_READ, worker)


def _environment() -> dict[str, str]:
    tests = str(Path(__file__).parents[1])
    paths = [tests, *(entry for entry in sys.path if entry)]
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ARROW_NUM_THREADS"), "1")
    memory = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"}  # pools reserve address space
    return {**os.environ, **single, **memory, "PYTHONPATH": os.pathsep.join(paths)}


def _work() -> None:
    """Run the jobs given on standard input, and write a line for each to standard output."""
    from fuzz import file_cases

    seed, jobs = json.load(sys.stdin)
    out = os.dup(1)
    os.dup2(2, 1)
    file_cases.prepare()
    os.write(out, b"ready\n")
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as folder:
        for kind, number in jobs:
            outcome = file_cases.run(kind, seed, number, Path(folder))
            os.write(out, outcome.replace("\n", " ").encode(errors="replace") + b"\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        _work()
    else:
        from fuzz import file_cases

        file_cases.prepare()
        with tempfile.TemporaryDirectory() as folder:
            print(file_cases.run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(folder)))
