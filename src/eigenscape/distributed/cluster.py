"""Reaching a cluster: a scheduler that answers, and workers that run the same code."""

from __future__ import annotations

import logging
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from typing import Any

from eigenscape.distributed._presence import require
from eigenscape.exceptions import SchedulerError, VersionMismatchError, VersionMismatchWarning

#: What must be the same everywhere, for models travel as objects; and what should be, for they hold its
#: arrays.
_SAME, _LIKE = "eigenscape", ("numpy", "scipy", "sklearn", "dask", "distributed")


def connect(address: str, timeout: float = 5.0) -> Any:
    """A client of the scheduler at ``address``, whose workers run this version.

    Parameters
    ----------
    address : str
        Such as ``"tcp://10.0.0.1:8786"``; ``"local"`` starts one process a core on this machine, which end
        with the client. Each of them imports the script that runs: what it does must stand under ``if
        __name__ == "__main__":``.
    timeout : float, default=5
        Seconds to wait for an answer.

    Returns
    -------
    distributed.Client
        Also the current one, which everything uses from now on; close it, or use it in a ``with`` statement.

    Raises
    ------
    SchedulerError
        Nobody answers there, or the processes of ``"local"`` do not start.
    VersionMismatchError
        A worker has another eigenscape, or none.

    Examples
    --------
    >>> from eigenscape.distributed import connect
    >>> if __name__ == "__main__":  # doctest: +SKIP
    ...     with connect("local") as client:
    ...         model = PCA().fit(X)
    """
    require("distributed")
    from distributed import Client

    if address == "local":
        return _local_client()
    try:
        # a first client that is not the current one: one that fails would leave dask looking for it, long
        # after
        with Client(address, timeout=timeout, set_as_default=False) as first:
            found: Any = first.get_versions(packages=[_SAME, *_LIKE])
    except (OSError, TimeoutError, ValueError) as error:
        raise SchedulerError(
            f"no dask scheduler answers at {address} within {timeout:g} s; check the address, start one there with 'dask scheduler', or"
            " use 'local'"
        ) from error
    check_versions(found)
    return Client(address, timeout=timeout)


def _local_client() -> Any:
    """A client with workers of its own, which Ctrl-C does not reach: they end when the client does, and say
    nothing of it."""
    from distributed import Client

    try:
        with _interrupts_for_this_process_alone():
            return Client(
                processes=True, threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
            )
    except RuntimeError as error:
        raise SchedulerError(
            'the processes of "local" could not start. A script is imported by each of them: put what it does under'
            ' if __name__ == "__main__":'
        ) from error


@contextmanager
def _interrupts_for_this_process_alone() -> Iterator[None]:
    """Threads and processes started inside, and by these, have SIGINT blocked; one that comes meanwhile is
    raised at the end."""
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # where it is started by the first process, that would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def check_versions(found: dict[str, Any]) -> None:
    """Compare what ``Client.get_versions`` tells: another eigenscape is an error, another numpy or dask a
    warning."""
    here = found["client"]["packages"]
    there = {f"worker {name}": each["packages"] for name, each in found["workers"].items()}
    wrong = _differing(_SAME, here, there)
    if wrong:
        raise VersionMismatchError(
            f"this is eigenscape {here.get(_SAME)}, but {wrong}; install the same version there: models travel between them"
        )
    unlike = [
        f"{name} is {here.get(name)} here, but {other}"
        for name in _LIKE
        if (other := _differing(name, here, there))
    ]
    if unlike:
        warnings.warn(
            f"versions differ: {'; '.join(unlike)}. Results may differ in their last digits or fail to travel",
            VersionMismatchWarning,
            stacklevel=3,
        )


def _differing(name: str, here: dict[str, Any], there: dict[str, dict[str, Any]]) -> str:
    """Who has another version of ``name``, and which; the first three."""
    others = [
        f"{who} has {packages.get(name) or 'none'}"
        for who, packages in there.items()
        if packages.get(name) != here.get(name)
    ]
    return ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
