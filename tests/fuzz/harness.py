"""Runs cases of the file fuzzer in child processes, so that signals and hangs are seen and counted.

``python -m fuzz.harness FORMAT SEED NUMBER`` repeats one case in this process.
"""

from __future__ import annotations

import json
import os
import select
import selectors
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

#: A case that takes longer is a hang.
SECONDS = 60.0
#: Time for a worker to import the libraries and to make valid files.
_IMPORTS = 300.0
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


def run(cases: dict[str, int], seed: int, processes: int = 2, log: IO[str] | None = None) -> Result:
    """Run a number of cases for each format; faults are written to a log as they are found."""
    jobs = [(kind, number) for kind, count in cases.items() for number in range(count)]
    jobs.sort(key=lambda job: job[1] / cases[job[0]])  # formats are mixed: slow ones do not come last
    result = Result(log=log)
    with selectors.DefaultSelector() as selector, ExitStack() as stack:
        for start in range(processes):
            mine = jobs[start::processes]
            process = stack.enter_context(_start(seed, mine))
            stack.callback(process.kill)
            assert process.stdout is not None
            selector.register(process.stdout, selectors.EVENT_READ, (process, iter(mine)))
        while selector.get_map():
            ready = selector.select(timeout=_IMPORTS + SECONDS)
            if not ready:
                raise RuntimeError("the workers of the fuzzer do not answer")
            for key, _ in ready:
                process, waiting = key.data
                line = process.stdout.readline()
                if line:
                    kind, number = next(waiting)
                    result.add(kind, seed, number, line.decode().rstrip("\n"))
                    continue
                selector.unregister(key.fileobj)
                if process.wait() != 0 or next(waiting, None) is not None:
                    raise RuntimeError(f"a worker of the fuzzer ended with exit code {process.returncode}")
    return result


def _start(seed: int, jobs: list[tuple[str, int]]) -> subprocess.Popen[bytes]:
    """Start a worker, which forks the processes that run its cases."""
    command = [sys.executable, "-m", "fuzz.harness", "--worker"]
    process = subprocess.Popen(
        command,
        bufsize=0,  # a line that is read is a case; none waits in a buffer that select does not see
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=_environment(),
    )
    assert process.stdin is not None
    process.stdin.write(json.dumps([SECONDS, seed, jobs]).encode())
    process.stdin.close()
    return process


def _environment() -> dict[str, str]:
    tests = str(Path(__file__).parents[1])
    paths = [tests, *(entry for entry in sys.path if entry)]
    single = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ARROW_NUM_THREADS"), "1")
    memory = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"}  # pools reserve address space
    return {**os.environ, **single, **memory, "PYTHONPATH": os.pathsep.join(paths)}


def _work() -> None:
    """Run the jobs given on standard input, and write a line for each to standard output."""
    from fuzz import file_cases

    seconds, seed, jobs = json.load(sys.stdin)
    out = os.dup(1)
    os.dup2(2, 1)
    file_cases.prepare(kind for kind, _ in jobs)
    shared = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=shared if shared.is_dir() else None) as folder:
        while jobs:
            jobs = jobs[_run_forked(seed, jobs, seconds, Path(folder), out) :]


def _run_forked(seed: int, jobs: list[tuple[str, int]], seconds: float, folder: Path, out: int) -> int:
    """Run jobs in a forked process until the last one, or one that ends the process; return their number."""
    from fuzz import file_cases

    receiving, sending = os.pipe()
    pid = os.fork()
    if pid == 0:
        for kind, number in jobs:
            outcome = file_cases.run(kind, seed, number, folder)
            os.write(sending, outcome.replace("\n", " ").encode(errors="replace") + b"\n")
        os._exit(0)
    os.close(sending)
    done, hangs = 0, False
    while not hangs:
        if not select.select([receiving], [], [], seconds)[0]:
            hangs = True
            os.kill(pid, signal.SIGKILL)
        elif data := os.read(receiving, 2**16):
            os.write(out, data)  # whole lines, since each was written at once
            done += data.count(b"\n")
        else:
            break
    os.close(receiving)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if done == len(jobs):
        return done
    os.write(out, f"hang: over {seconds:g} s\n".encode() if hangs else f"signal: exit code {code}\n".encode())
    return done + 1


if __name__ == "__main__":
    if sys.argv[1:] == ["--worker"]:
        _work()
    else:
        from fuzz import file_cases

        file_cases.prepare(sys.argv[1:2])
        with tempfile.TemporaryDirectory() as folder:
            print(file_cases.run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(folder)))
