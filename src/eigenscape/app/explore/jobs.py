"""Jobs in a process of their own, one after the other: started, followed, cancelled."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eigenscape.app.explore.tuning import TUNING
from eigenscape.app.io.child import start_python

#: Order in which waiting jobs are run.
_PRIORITY = {"fit": 0, "movement": 1, "scores": 1, "predicted": 1, "measure": 2, "suggestions": 3}
#: Kinds of jobs that nobody asked for, and the seconds after which they are postponed for a fit.
_UNASKED, _PATIENCE = ("measure", "suggestions"), 5.0
#: Fields of a job that the page shows.
_SHOWN = ("id", "kind", "method", "status", "stage", "fraction", "remaining", "error", "map")


@dataclass(eq=False)
class Job:
    """A request to the process that fits, and its state."""

    id: str
    kind: str  # a key of _PRIORITY
    request: dict[str, Any]
    method: str | None = None
    map: str | None = None
    status: str = "running"  # "running", "done", "failed" or "cancelled"
    stage: str = "waiting"
    fraction: float | None = None
    remaining: float | None = None
    error: str | None = None
    interrupted: str | None = None  # why its process was ended: "cancelled", or "postponed" for a fit

    def set(self, **changes: Any) -> None:
        """Change some fields."""
        vars(self).update(changes)

    def describe(self) -> dict[str, Any]:
        """Return the job for JSON."""
        return {name: getattr(self, name) for name in _SHOWN}


class JobRunner:
    """Runs jobs in a child process, one at a time.

    Parameters
    ----------
    folder : Path
        Folder with the rows, and for results.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.jobs: dict[str, Job] = {}
        self._condition = threading.Condition()
        self._waiting: list[Job] = []
        self._current: Job | None = None
        self._began = 0.0  # when the current job began
        self._process: Any = None  # subprocess.Popen
        self._closed = False
        self._numbers = itertools.count(1)

    def submit(self, kind: str, request: dict[str, Any], map_id: str | None = None) -> Job:
        """Add a job; a fit postpones a long job that nobody asked for."""
        with self._condition:
            if self._closed:
                raise RuntimeError("the explorer is closed")
            if len(self._waiting) >= TUNING.waiting_jobs:
                raise ValueError(f"{TUNING.waiting_jobs} jobs are waiting already; cancel some of them first")
            job = Job(f"j{next(self._numbers)}", kind, request, request.get("method"), map_id)
            ended = [key for key, other in self.jobs.items() if other.status != "running"]
            for key in ended[: -TUNING.ended_jobs]:
                del self.jobs[key]
            self.jobs[job.id] = job
            self._waiting.append(job)
            unasked = self._current is not None and self._current.kind in _UNASKED
            if kind == "fit" and unasked and time.monotonic() - self._began > _PATIENCE:
                self._interrupt("postponed")
            self._condition.notify_all()
        return job

    def cancel(self, job_id: str) -> Job | None:
        """Cancel a job that runs or waits, and return it; the process of a running one is ended."""
        with self._condition:
            job = self.jobs.get(job_id)
            if job is None or job.status != "running":
                return None
            if job in self._waiting:
                self._waiting.remove(job)
                job.set(status="cancelled", stage="cancelled")
            else:
                self._interrupt("cancelled")
            return job

    def close(self) -> None:
        """End the child process, and :meth:`run`."""
        with self._condition:
            self._closed = True
            self._waiting.clear()
            self._interrupt("cancelled")
            self._condition.notify_all()

    def _interrupt(self, why: str) -> None:
        if self._current is not None:
            self._current.interrupted = why
        if self._process is not None:
            self._process.kill()

    def run(self) -> Iterator[tuple[Job, dict[str, Any] | None]]:
        """Run jobs until the runner is closed; yield a job after each change, and once with its result."""
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._waiting or self._closed)
                if self._closed:
                    break
                job = min(self._waiting, key=lambda one: _PRIORITY[one.kind])
                self._waiting.remove(job)
                self._current, self._began = job, time.monotonic()
                job.set(stage="starting a process", interrupted=None)
            yield job, None
            yield from self._follow(job)
            with self._condition:
                self._current = None
            if job.interrupted:  # its process may be ending, also if the job was done before
                self._end()
        self._end()

    def _follow(self, job: Job) -> Iterator[tuple[Job, dict[str, Any] | None]]:
        for message in self._messages(job):
            if "done" in message:
                yield job, message["done"]
                return
            job.set(**message)
            yield job, None
            if job.status != "running":
                return
        reason = self._end()
        job.set(fraction=None, remaining=None)
        if job.interrupted == "postponed":
            with self._condition:
                job.set(stage="waiting")
                self._waiting.append(job)
        elif job.interrupted == "cancelled":
            job.set(status="cancelled", stage="cancelled")
        else:
            job.set(status="failed", error=reason)
        yield job, None

    def _messages(self, job: Job) -> Iterator[dict[str, Any]]:
        """Send a request and yield the messages about it, until the process ends."""
        with self._condition:
            if self._closed or job.interrupted:
                return
            if self._process is None or self._process.poll() is not None:
                self._process = start_process(self.folder)
            stdin, stdout = self._process.stdin, self._process.stdout
        # the process may be killed while it reads or writes
        with contextlib.suppress(OSError, ValueError):
            print(json.dumps({**job.request, "job": job.id, "kind": job.kind}), file=stdin, flush=True)
            for line in stdout:
                message = json.loads(line)
                if message.pop("job") == job.id:
                    yield message

    def _end(self) -> str:
        """Wait for a process that is ending and return the reason."""
        process, self._process = self._process, None
        if process is None:
            return "the process did not start"
        with contextlib.suppress(OSError), process:  # what was not sent is lost with the process
            try:
                process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                process.kill()
        if process.returncode < 0:
            name = signal.Signals(-process.returncode).name
            return f"the process that fits was ended by {name}, for example because memory ran out; fit again"
        return f"the process that fits ended with exit code {process.returncode}; fit again"


def start_process(folder: Path) -> subprocess.Popen[str]:
    """Start the process that fits."""
    return start_python(
        "eigenscape.app.explore.worker:main",
        str(folder),
        str(os.getpid()),
        stdin=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,  # Ctrl-C in the terminal ends the server, which ends this process
    )
