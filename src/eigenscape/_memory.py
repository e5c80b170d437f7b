"""Available memory, and blocks of rows that fit in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from eigenscape._format import format_bytes
from eigenscape.exceptions import NotEnoughMemoryError

#: Approximate size of temporary arrays.
BLOCK_BYTES = 64 * 2**20


def available_bytes() -> int:
    """Return the bytes available without swapping, on the machine or in the container if it has fewer."""
    free = [_machine_bytes(), *_container_bytes()]
    return min(free)


def _machine_bytes() -> int:
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    if hasattr(os, "sysconf"):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return 2**62  # unknown on this platform: the allocation itself may fail


def _container_bytes() -> Iterator[int]:
    group = Path("/sys/fs/cgroup")
    limit, used = group / "memory.max", group / "memory.current"
    if limit.exists() and used.exists():
        text = limit.read_text().strip()
        if text != "max":
            yield max(int(text) - int(used.read_text()), 0)


def fits(n_bytes: float, share: float = 0.8) -> bool:
    """Return True if ``n_bytes`` are at most ``share`` of the available memory."""
    return n_bytes <= share * available_bytes()


def require(n_bytes: float, purpose: str, remedy: str) -> None:
    """Raise NotEnoughMemoryError if ``purpose`` needs more memory than is available."""
    if not fits(n_bytes, share=0.95):
        raise NotEnoughMemoryError(
            f"{purpose} needs about {format_bytes(n_bytes)} of memory,"
            f" but only {format_bytes(available_bytes())} are free; {remedy}"
        )


def block_rows(bytes_per_row: float, budget: int = BLOCK_BYTES) -> int:
    """Return the number of rows of a block of at most ``budget`` bytes, at least one."""
    return max(1, int(budget // max(bytes_per_row, 1)))


def row_blocks(n_rows: int, bytes_per_row: float, budget: int = BLOCK_BYTES) -> Iterator[slice]:
    """Yield slices that divide ``n_rows`` rows into blocks of at most ``budget`` bytes, at least one row."""
    step = block_rows(bytes_per_row, budget)
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))


def peak_memory() -> int | None:
    """Return the largest resident size of this process so far in bytes, or None on Windows."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak  # kibibytes except on macOS
