"""Processes that measure jobs: one for each job, or one for all jobs of a library."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from benchmarks.cases.model import Job
from benchmarks.worker import END, RESULT_PREFIX

#: Seconds for data, warm-up and error measures, in addition to the limits of the measured calls.
SETUP_SECONDS = 900.0


class Process:
    """A worker process."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def measure(self, job: Job, limit: float) -> dict[str, Any]:
        """Return the result of a job; steps after one that took longer than the limit are missing."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([asdict(job), limit]) + "\n")
        self._process.stdin.flush()
        late = threading.Timer(2 * limit + SETUP_SECONDS, self._kill)
        late.start()
        answer: dict[str, Any] = {}
        try:
            for line in self._process.stdout:
                if line.startswith(RESULT_PREFIX):
                    answer = json.loads(line[len(RESULT_PREFIX) :])
                elif line.startswith(END):
                    return answer
        finally:
            late.cancel()
        code = self._process.wait()
        with suppress(ProcessLookupError):  # its children, if it has any left
            self._kill()
        if code == -signal.SIGALRM:
            return {**answer, "over": limit}
        reason = "data, warm-up or error measure took too long" if code == -signal.SIGKILL else "ended"
        return {**answer, "failed": f"{reason} (code {code})"}

    @property
    def is_alive(self) -> bool:
        """Whether the process takes jobs."""
        return self._process.poll() is None

    def _kill(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._kill()
            self._process.wait()
        self._process.stdout.close()


class Pool:
    """Processes by library, for jobs that share one, so that libraries do not share threads or memory."""

    def __init__(self) -> None:
        self._processes: dict[str, Process] = {}

    def measure(self, job: Job, limit: float) -> dict[str, Any]:
        """Measure a job in the process of its library, or in a new one if the job does not share it."""
        if not job.shared:
            return measure_alone(job, limit)
        library = job.estimator if job.estimator.startswith("benchmarks.") else job.estimator.split(".")[0]
        process = self._processes.get(library)
        if process is None or not process.is_alive:
            process = self._processes[library] = Process()
        answer = process.measure(job, limit)
        if not process.is_alive:
            self._processes.pop(library).close()
        return answer

    def close(self) -> None:
        """End all processes."""
        for process in self._processes.values():
            process.close()
        self._processes.clear()


def measure_alone(job: Job, limit: float) -> dict[str, Any]:
    """Run a job in a new process and return its result."""
    process = Process()
    try:
        return process.measure(job, limit)
    finally:
        process.close()
