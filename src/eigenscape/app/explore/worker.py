"""The process that fits: it reads requests from a pipe and writes progress and results to another.

Messages are lines of JSON, arrays and models are files in the folder of the server; nothing is pickled. The
process ends when the pipe of requests closes, so that it does not survive a server that was killed.

See docs/decisions/app-explorer.md.
"""

from __future__ import annotations

import json
import os
import queue
import shutil
import sys
import threading
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from eigenscape._progress import Line
from eigenscape.app.explore.tuning import TUNING


class PipeDisplay:
    """Display of progress that sends stage, fraction and remaining seconds."""

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        self._send, self._sent = send, 0.0

    def show(self, line: Line) -> None:
        now = time.perf_counter()
        if line.running and line.completed > line.earlier and now - self._sent < TUNING.report_seconds:
            return
        self._sent = now
        fraction = min(1.0, line.completed / line.total) if line.total else None
        self._send({"stage": line.name, "fraction": fraction, "remaining": line.remaining_seconds(now)})

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


def main(path: str, server: str) -> None:
    """Answer requests about the rows in a folder until the process ``server`` closes the pipe."""
    folder = Path(path)
    output = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what libraries print is not part of the answers
    if hasattr(os, "nice"):
        os.nice(TUNING.niceness)
    requests: queue.Queue[dict[str, Any]] = queue.Queue()
    listener = threading.Thread(target=_listen, args=(requests, folder, int(server)), daemon=True)
    listener.start()
    from eigenscape.app.explore.tasks import TASKS, WorkerData

    data = WorkerData(folder)
    try:
        while True:
            request = requests.get()
            _answer(TASKS[request["kind"]], data, request, output)
    except OSError:  # nobody reads the answers: the listener removes the folder and ends the process
        listener.join()


def _listen(requests: queue.Queue[dict[str, Any]], folder: Path, server: int) -> None:
    """Read requests; end the process when the server closes the pipe or does not exist any more."""
    for line in sys.stdin:
        requests.put(json.loads(line))
    # the pipe of a killed server closes a moment before the process has another parent, and a task that is
    # still running may add a file to the folder while it is removed
    limit = time.monotonic() + TUNING.grace_seconds
    while folder.exists() and time.monotonic() < limit:
        if os.getppid() != server:  # the server was killed and cannot remove its files
            shutil.rmtree(folder, ignore_errors=True)
        time.sleep(0.01)
    os._exit(1)


def _answer(
    task: Callable[[Any, Mapping[str, Any]], dict[str, Any]],
    data: Any,
    request: Mapping[str, Any],
    output: IO[str],
) -> None:
    from eigenscape._progress import reporting
    from eigenscape.app.explore.events import encode

    def send(message: dict[str, Any]) -> None:
        print(encode({"job": request["job"], **message}).decode(), file=output, flush=True)

    send({"stage": "starting", "fraction": None, "remaining": None})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", UserWarning)
        try:
            with reporting(False, also=PipeDisplay(send)):
                result = task(data, request)
        except Exception as error:
            text = " ".join(str(error).split()) or type(error).__name__
            if isinstance(error, MemoryError) and not str(error):
                text = "the fit needs more memory than is available; use fewer rows"
            send({"status": "failed", "error": text, "remaining": None})
            return
    remarks = list(dict.fromkeys(" ".join(str(item.message).split()) for item in caught))
    send({"done": {**result, "warnings": remarks}})
