"""Whether steps may load compiled code, which takes a quarter of a second, once in a process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _Loading(threading.local):
    """Whether this thread avoids compiled code."""

    avoided = False


_loading = _Loading()


@contextmanager
def without_compiled_code() -> Iterator[None]:
    """Let the eigensolvers use NumPy and SciPy within a block, where compiled code would be faster.

    Results are the same up to rounding. For small problems in short processes; calls may be nested.
    """
    before, _loading.avoided = _loading.avoided, True
    try:
        yield
    finally:
        _loading.avoided = before


def avoids_compiled_code() -> bool:
    """Return True within :func:`without_compiled_code`."""
    return _loading.avoided
