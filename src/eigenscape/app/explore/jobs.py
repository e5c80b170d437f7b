"""Jobs in a process of their own, one after the other: started, followed, cancelled."""

from __future__ import annotations

import contextlib
import itertools
import json
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from eigenscape.app.explore.tuning import TUNING
from eigenscape.app.io.child import start_python

#: Order in which waiting jobs are run.
_PRIORITY = {"fit": 0, "movement": 1, "scores": 1, "predicted": 1, "measure": 2, "suggestions": 3}
_WAITING = "waiting"
#: Kinds of jobs that nobody asked for, and the seconds after which they are postponed for a fit.
_UNASKED, _PATIENCE = ("measure", "suggestions"), 5.0


@dataclass(frozen=True)
class Job:
    """State of a job, as the page shows it."""

    id: str
    kind: str  # a key of _PRIORITY
    method: str | None = None
    status: str = "running"  # "running", "done", "failed" or "cancelled"
    stage: str = _WAITING
    fraction: float | None = None
    remaining: float | None = None
    error: str | None = None
    map: str | None = None

    def describe(self) -> dict[str, Any]:
        """Return the job for JSON."""
        return asdict(self)


@dataclass(eq=False)
class _Entry:
    """A job with its request and the function that takes its result."""

    job: Job
    request: dict[str, Any]
    on_done: Callable[[dict[str, Any]], str | None]
    cancelled: bool = False
    postponed: bool = False  # its process was ended for a fit, and it is run again
    began: float = 0.0
    order: int = 0


def _order(entry: _Entry) -> tuple[int, int]:
    """Return the sort key of waiting jobs."""
    return _PRIORITY[entry.job.kind], entry.order


@dataclass(eq=False)
class JobRunner:
    """Runs jobs in a child process, one at a time; a thread follows them.

    Parameters
    ----------
    folder : Path
        Folder with the rows, and for results.
    on_change : callable
        Receives every new state of a job.
    """

    folder: Path
    on_change: Callable[[Job], None]
    jobs: dict[str, Job] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._condition = threading.Condition()
        self._waiting: list[_Entry] = []
        self._current: _Entry | None = None
        self._process: subprocess.Popen[str] | None = None
        self._closed = False
        self._numbers = itertools.count(1)
        self._thread = threading.Thread(target=self._run, name="eigenscape jobs", daemon=True)
        self._thread.start()

    def submit(
        self,
        kind: str,
        request: dict[str, Any],
        on_done: Callable[[dict[str, Any]], str | None],
        method: str | None = None,
        map_id: str | None = None,
    ) -> Job:
        """Add a job; ``on_done(result)``, called in the thread of the runner, may return the id of a map."""
        with self._condition:
            if self._closed:
                raise RuntimeError("the explorer is closed")
            if len(self._waiting) >= TUNING.waiting_jobs:
                raise ValueError(f"{TUNING.waiting_jobs} jobs are waiting already; cancel some of them first")
            number = next(self._numbers)
            job = Job(f"j{number}", kind, method, map=map_id)
            entry = _Entry(job, {**request, "job": job.id, "kind": kind}, on_done, order=number)
            self._waiting.append(entry)
            self._waiting.sort(key=_order)
            self._postpone_for(kind)
            self._condition.notify_all()
        self._update(entry)
        return job

    def _postpone_for(self, kind: str) -> None:
        """End the process of a long job that nobody asked for, if a fit waits; it is run again later."""
        current = self._current
        if kind != "fit" or current is None or current.job.kind not in _UNASKED:
            return
        if time.monotonic() - current.began > _PATIENCE:
            current.postponed = True
            self._kill()

    def cancel(self, job_id: str) -> bool:
        """Cancel a job; return whether it was running or waiting. Its process is ended."""
        with self._condition:
            entry = next((one for one in self._waiting if one.job.id == job_id), None)
            if entry is not None:
                self._waiting.remove(entry)
                entry.cancelled = True
            elif self._current is not None and self._current.job.id == job_id:
                self._current.cancelled = True
                self._kill()
                return True
        if entry is None:
            return False
        self._update(entry, status="cancelled", stage="cancelled")
        return True

    def running(self, kind: str, map_id: str) -> Job | None:
        """Return the job of a kind for a map that runs or waits, if there is one."""
        for job in list(self.jobs.values()):
            if job.kind == kind and job.map == map_id and job.status == "running":
                return job
        return None

    @property
    def pid(self) -> int | None:
        """Id of the child process, if there is one."""
        process = self._process
        return None if process is None or process.poll() is not None else process.pid

    def close(self) -> None:
        """End the child process and the thread."""
        with self._condition:
            self._closed = True
            self._waiting.clear()
            self._kill()
            self._condition.notify_all()
        self._thread.join(timeout=10)

    def _kill(self) -> None:
        process = self._process
        if process is not None:
            process.kill()

    def _update(self, entry: _Entry, **changes: Any) -> None:
        entry.job = replace(entry.job, **changes)
        self.jobs[entry.job.id] = entry.job
        ended = [key for key, job in list(self.jobs.items()) if job.status != "running"]
        for key in ended[: max(0, len(ended) - TUNING.ended_jobs)]:
            self.jobs.pop(key, None)
        self.on_change(entry.job)

    def _run(self) -> None:
        while True:
            with self._condition:
                self._condition.wait_for(lambda: self._waiting or self._closed)
                if self._closed:
                    self._end()
                    return
                self._current = self._waiting.pop(0)
            try:
                self._follow(self._current)
            except Exception as error:  # a result that cannot be used fails its job, not the server
                self._update(self._current, status="failed", error=str(error) or type(error).__name__)
            with self._condition:
                self._current = None

    def _follow(self, entry: _Entry) -> None:
        entry.began = time.monotonic()
        self._update(entry, stage="starting a process")
        for message in self._messages(entry):
            if "progress" in message:
                self._update(entry, **message["progress"])
            elif "error" in message:
                self._update(entry, status="failed", error=message["error"], remaining=None)
                return
            elif "done" in message:
                found = entry.on_done(message["done"])
                self._update(
                    entry,
                    status="done",
                    stage="done",
                    fraction=1.0,
                    remaining=None,
                    map=found or entry.job.map,
                )
                return
        reason = self._end()
        if entry.postponed and not entry.cancelled:
            entry.postponed = False
            self._update(entry, stage=_WAITING, fraction=None, remaining=None)
            with self._condition:
                self._waiting = sorted([*self._waiting, entry], key=_order)
        elif entry.cancelled:
            self._update(entry, status="cancelled", stage="cancelled", fraction=None, remaining=None)
        else:
            self._update(entry, status="failed", error=reason, remaining=None)

    def _messages(self, entry: _Entry) -> Iterator[dict[str, Any]]:
        """Send a request and yield the messages about it, until the process ends."""
        with self._condition:
            if self._closed or entry.cancelled:
                return
            if self._process is None or self._process.poll() is not None:
                self._process = start_process(self.folder)
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(json.dumps(entry.request) + "\n")
            process.stdin.flush()
            for line in process.stdout:
                message = json.loads(line)
                if message.pop("job") == entry.job.id:
                    yield message
        except (OSError, ValueError):  # the process was killed while it read or wrote
            return

    def _end(self) -> str:
        """Wait for a process that is ending and return the reason."""
        process, self._process = self._process, None
        if process is None:
            return "the process did not start"
        if self._closed:
            process.kill()
        try:
            code = process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):  # what was not sent is lost with the process
                    pipe.close()
        if code < 0:
            name = signal.Signals(-code).name
            return f"the process that fits was ended by {name}, for example because memory ran out; fit again"
        return f"the process that fits ended with exit code {code}; fit again"


def start_process(folder: Path) -> subprocess.Popen[str]:
    """Start the process that fits."""
    return start_python(
        "eigenscape.app.explore.worker:main",
        str(folder),
        stdin=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        start_new_session=True,  # Ctrl-C in the terminal ends the server, which ends this process
    )
