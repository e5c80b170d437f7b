"""Connection to a dask cluster whose workers run the same version of the library."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from multiprocessing import get_context, resource_tracker
from typing import TYPE_CHECKING, Any

from eigenscape._warnings import warn
from eigenscape.distributed._presence import require
from eigenscape.exceptions import SchedulerError, VersionMismatchError, VersionMismatchWarning

if TYPE_CHECKING:
    from distributed import Client

#: Protocols of the addresses of schedulers.
_PROTOCOLS = ("tcp", "tls", "ucx", "ws", "wss", "inproc")
#: Package whose version must be equal everywhere, since models are pickled; and packages whose versions
#: should be, since their objects are parts of the models.
_REQUIRED_EQUAL, _RECOMMENDED_EQUAL = "eigenscape", ("numpy", "scipy", "sklearn", "dask", "distributed")

#: Seconds between looks at the workers, and the number of looks without any before it is reported.
_PERIOD, _LOOKS = 2.0, 3


def connect(address: str, timeout: float = 5.0) -> Client:
    """Connect to the dask scheduler at ``address`` and check the versions of its workers.

    Parameters
    ----------
    address : str
        Address of the scheduler, such as ``"tcp://10.0.0.1:8786"``, or ``"tls://10.0.0.1:8786"`` with the
        certificates in dask's configuration (``distributed.comm.tls``). ``"local"`` starts one process per
        core on this machine; the processes end with the client. Each imports the running script, whose code
        must therefore be under ``if __name__ == "__main__":``.
    timeout : float, default=5
        Seconds to wait for the scheduler.

    Returns
    -------
    distributed.Client
        The client, which becomes dask's current client. Close it, or use it in a ``with`` statement.

    Raises
    ------
    SchedulerError
        If no scheduler answers, or if the processes of ``"local"`` do not start.
    VersionMismatchError
        If a worker has another version of eigenscape, or none.

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
    protocol = address.partition("://")[0] if "://" in address else "tcp"
    if protocol not in _PROTOCOLS:
        raise SchedulerError(
            f"address={address!r} has the protocol {protocol!r}; the address of a scheduler begins with"
            f" {', '.join(f'{name}://' for name in _PROTOCOLS)} (the dashboard has another address)"
        )
    try:
        # Not the default client: a default client that fails would leave dask trying to reconnect.
        with Client(address, timeout=timeout, set_as_default=False) as trial:
            versions: Any = trial.get_versions(packages=[_REQUIRED_EQUAL, *_RECOMMENDED_EQUAL])
    except (OSError, TimeoutError, ValueError) as error:
        raise SchedulerError(
            f"no dask scheduler answers at {address} within {timeout:g} s; check the address, start one there"
            " with 'dask scheduler', or use 'local'"
        ) from error
    check_versions(versions)
    return Client(address, timeout=timeout)


def _local_client() -> Client:
    """Start local workers that ignore Ctrl-C, log only critical messages and end with the client."""
    import dask
    from distributed import Client

    # For workers that are started again later, when another one was lost.
    safe = {"distributed.nanny.pre-spawn-environ.PYTHONSAFEPATH": "1"}
    try:
        with _safe_path(), dask.config.set(safe), _blocked_interrupts():
            _check_start()
            return Client(
                processes=True,
                threads_per_worker=1,
                dashboard_address="127.0.0.1:0",  # not reachable from other machines
                silence_logs=logging.CRITICAL,
            )
    except RuntimeError as error:
        raise SchedulerError(
            'the processes of "local" could not start. Each of them imports the running script: put its code'
            ' under if __name__ == "__main__":'
        ) from error


def _check_start() -> None:
    """Start a process that does nothing; raise RuntimeError if it fails.

    Before distributed 2026.8, workers that fail when they start are started again without end.
    """
    if tuple(int(part) for part in version("distributed").split(".")[:2]) >= (2026, 8):
        return
    process = get_context("spawn").Process(target=int)
    process.start()
    process.join()
    if process.exitcode:
        raise RuntimeError(f"a process ended with code {process.exitcode}")


@contextmanager
def _safe_path() -> Iterator[None]:
    """Leave the working folder out of the search path of processes that are started inside the context."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        yield
    finally:
        os.environ.pop("PYTHONSAFEPATH")
        if before is not None:
            os.environ["PYTHONSAFEPATH"] = before


@contextmanager
def _blocked_interrupts() -> Iterator[None]:
    """Block SIGINT in threads and processes started inside the context; deliver pending ones at its end."""
    if sys.platform == "win32":
        yield
        return
    resource_tracker.ensure_running()  # if started by the first process, it would unblock the signal
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def watched(client: Client, address: str, report: Callable[[str], None]) -> Iterator[None]:
    """Raise SchedulerError if the scheduler is lost within the block; report if all workers are.

    A computation without workers waits for new ones, which may join at any time.
    """
    ended = threading.Event()

    def watch() -> None:
        without = 0
        while not ended.wait(_PERIOD):
            if client.status != "running":
                continue
            without = 0 if client.scheduler_info(n_workers=-1)["workers"] else without + 1
            if without == _LOOKS:
                report(
                    f"warning: no worker is left at {address}, and the computation waits for one; start it"
                    " with 'dask worker', or end with Ctrl-C"
                )

    thread = threading.Thread(target=watch, name="eigenscape-workers", daemon=True)
    thread.start()
    try:
        yield
    except Exception as error:
        if client.status == "running" and getattr(error, "reason", "") != "scheduler-connection-lost":
            raise
        raise SchedulerError(
            f"the connection to the dask scheduler at {address} was lost during the computation; start it and"
            " its workers and try again"
        ) from error
    finally:
        ended.set()


def check_versions(versions: dict[str, Any]) -> None:
    """Compare the package versions of the client and the workers.

    Parameters
    ----------
    versions : dict
        The result of ``Client.get_versions``.

    Raises
    ------
    VersionMismatchError
        If a worker has another version of eigenscape, or none. Other versions of NumPy, SciPy, scikit-learn
        or dask give a VersionMismatchWarning.
    """
    here = versions["client"]["packages"]
    workers = {f"worker {name}": each["packages"] for name, each in versions["workers"].items()}
    wrong = _different_versions(_REQUIRED_EQUAL, here, workers)
    if wrong:
        raise VersionMismatchError(
            f"this is eigenscape {here.get(_REQUIRED_EQUAL)}, but {wrong}; install the same version there:"
            " models are exchanged with the workers"
        )
    differences = [
        f"{name} is {here.get(name)} here, but {others}"
        for name in _RECOMMENDED_EQUAL
        if (others := _different_versions(name, here, workers))
    ]
    if differences:
        warn(
            f"versions differ: {'; '.join(differences)}. Results may differ in their last digits, or models"
            " may fail to load",
            VersionMismatchWarning,
        )


def _different_versions(name: str, here: dict[str, Any], workers: dict[str, dict[str, Any]]) -> str:
    """Describe the workers that have another version of package ``name``, at most three of them."""
    others = [
        f"{worker} has {packages.get(name) or 'none'}"
        for worker, packages in workers.items()
        if packages.get(name) != here.get(name)
    ]
    return ", ".join(others[:3]) + (f" and {len(others) - 3} more" if len(others) > 3 else "")
