"""Reuse of freed memory within a process while a task runs."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

#: Parameters of glibc's ``mallopt``.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
#: Arrays of up to _LARGEST bytes (the maximum glibc allows) are taken from freed memory; _KEPT bytes of it
#: are retained.
_LARGEST, _KEPT = 2**25, 2**28
#: Default of the mmap threshold once the trim threshold is set.
_DEFAULT = 2**17

_lock = Lock()
_n_running = 0


@contextmanager
def reuse_freed_memory() -> Iterator[None]:
    """Reuse freed memory inside the context; return it to the system when the last thread leaves.

    Dask starts its workers with ``MALLOC_TRIM_THRESHOLD_=65536``, so that freed memory is not reported as
    used. As a side effect every array larger than 128 kB is mapped anew, page by page, which can take longer
    than the computation itself: the kernel values of a block of rows are such arrays. Does nothing if that
    variable is not set, if ``MALLOC_MMAP_THRESHOLD_`` is set, or if the C library is not glibc.
    """
    global _n_running
    usual = os.environ.get("MALLOC_TRIM_THRESHOLD_", "")
    configured = "MALLOC_MMAP_THRESHOLD_" in os.environ or not (usual.isascii() and usual.isdigit())
    libc = None if configured or os.name != "posix" else ctypes.CDLL(None)
    if libc is None or not hasattr(libc, "mallopt") or not hasattr(libc, "malloc_trim"):
        yield
        return
    with _lock:
        _n_running += 1
        libc.mallopt(_MMAP_THRESHOLD, _LARGEST)
        libc.mallopt(_TRIM_THRESHOLD, _KEPT)
    try:
        yield
    finally:
        with _lock:
            _n_running -= 1
            if _n_running == 0:
                libc.mallopt(_MMAP_THRESHOLD, _DEFAULT)
                libc.mallopt(_TRIM_THRESHOLD, int(usual))
                libc.malloc_trim(0)
