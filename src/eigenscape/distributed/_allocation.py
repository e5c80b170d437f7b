"""Memory that stays with a process from one array to the next, while a task runs."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

#: Parameters of glibc's ``mallopt``.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
#: Bytes: arrays up to the first (the largest value allowed) come from memory that was freed before, of which
#: the second is kept.
_LARGEST, _KEPT = 2**25, 2**28
#: glibc's own threshold once somebody sets the other one.
_DEFAULT = 2**17

_lock = Lock()
_running = 0


@contextmanager
def kept_memory() -> Iterator[None]:
    """Within it freed memory is used again; at its end, when no other thread is within it, what is free goes
    back to the system.

    Dask starts its workers with ``MALLOC_TRIM_THRESHOLD_=65536``, so that memory which is free does not look
    used. But it also means that every array of more than 128 kB is mapped anew, page by page, which can take
    longer than what is done with it: kernel values of a block of rows are such arrays. Nothing is touched
    where that variable is not set, where the user has set ``MALLOC_MMAP_THRESHOLD_``, or where the C library
    is another one."""
    global _running
    usual = os.environ.get("MALLOC_TRIM_THRESHOLD_", "")
    set_otherwise = "MALLOC_MMAP_THRESHOLD_" in os.environ or not (usual.isascii() and usual.isdigit())
    libc = None if set_otherwise or os.name != "posix" else ctypes.CDLL(None)
    if libc is None or not hasattr(libc, "mallopt") or not hasattr(libc, "malloc_trim"):
        yield
        return
    with _lock:
        _running += 1
        libc.mallopt(_MMAP_THRESHOLD, _LARGEST)
        libc.mallopt(_TRIM_THRESHOLD, _KEPT)
    try:
        yield
    finally:
        with _lock:
            _running -= 1
            if _running == 0:
                libc.mallopt(_MMAP_THRESHOLD, _DEFAULT)
                libc.mallopt(_TRIM_THRESHOLD, int(usual))
                libc.malloc_trim(0)
