"""How much memory there is, and how to stay within it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from eigenscape._format import format_bytes
from eigenscape.exceptions import NotEnoughMemoryError

#: Temporary arrays are made in blocks of about this size.
BLOCK_BYTES = 64 * 2**20


def available_bytes() -> int:
    """Bytes that can be taken without swapping: the machine's, or the container's if it has fewer."""
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
    return 2**62  # no way to ask this platform: let the allocation itself speak


def _container_bytes() -> Iterator[int]:
    group = Path("/sys/fs/cgroup")
    limit, used = group / "memory.max", group / "memory.current"
    if limit.exists() and used.exists():
        text = limit.read_text().strip()
        if text != "max":
            yield max(int(text) - int(used.read_text()), 0)


def fits(n_bytes: float, share: float = 0.8) -> bool:
    """Whether an array of ``n_bytes`` leaves some of the free memory to others."""
    return n_bytes <= share * available_bytes()


def require(n_bytes: float, purpose: str, remedy: str) -> None:
    """Raise before the work starts when ``purpose`` needs more memory than there is."""
    if not fits(n_bytes, share=0.95):
        raise NotEnoughMemoryError(
            f"{purpose} needs about {format_bytes(n_bytes)} of memory,"
            f" but only {format_bytes(available_bytes())} are free; {remedy}"
        )


def row_blocks(n_rows: int, bytes_per_row: float, budget: int = BLOCK_BYTES) -> Iterator[slice]:
    """Slices that cut ``n_rows`` rows into blocks of at most ``budget`` bytes (at least one row)."""
    step = max(1, int(budget // max(bytes_per_row, 1)))
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
