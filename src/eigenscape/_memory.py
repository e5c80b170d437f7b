"""Available memory, and blocks of rows that fit in it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from eigenscape._format import format_bytes
from eigenscape.exceptions import NotEnoughMemoryError

#: Approximate size of temporary arrays.
BLOCK_BYTES = 64 * 2**20
#: Memory that is not compared with what is available, which is read from files.
_FEW_BYTES = 2**13
_CGROUPS = Path("/sys/fs/cgroup")
_OWN_CGROUPS = Path("/proc/self/cgroup")
#: Limit, usage and page cache that is given back when needed (an entry of ``memory.stat``), of versions 2 and
#: 1 of control groups.
_GROUP_FILES = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)


def available_bytes() -> int:
    """Return the bytes that can be allocated without swapping.

    The minimum of the free memory of the machine and of what the limits of the process (``ulimit -v`` and
    ``ulimit -d``) and of its container leave.
    """
    return max(0, min([_machine_bytes(), *_process_bytes(), *_container_bytes(_CGROUPS, _OWN_CGROUPS)]))


def _machine_bytes() -> int:
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        for line in meminfo.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    if hasattr(os, "sysconf"):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return 2**62  # unknown on this platform: the allocation itself may fail


def _process_bytes() -> Iterator[int]:
    """Yield what each limit of the process leaves of its address space."""
    try:
        import resource

        pages = [int(field) for field in Path("/proc/self/statm").read_text().split()]
    except (ImportError, OSError):  # Windows; systems without /proc
        return
    for limit, used in ((resource.RLIMIT_AS, pages[0]), (resource.RLIMIT_DATA, pages[5])):
        soft = resource.getrlimit(limit)[0]
        if soft != resource.RLIM_INFINITY:
            yield soft - used * os.sysconf("SC_PAGE_SIZE")


def _container_bytes(root: Path, own: Path) -> Iterator[int]:
    """Yield the free bytes within the memory limit of each control group of the process."""
    for folder, files in _control_groups(root, own):
        yield from _group_bytes(folder, *files)


@cache
def _control_groups(root: Path, own: Path) -> tuple[tuple[Path, tuple[str, str, str]], ...]:
    """Return the existing control groups of the process and their parents, each with its ``_GROUP_FILES``.

    ``own`` lists the groups, as ``0::/path`` (version 2) or ``5:memory:/path`` (version 1, where memory has a
    hierarchy of its own). Within a container the root is usually the group of the container.
    """
    try:
        lines = own.read_text().splitlines()
    except OSError:
        lines = []
    hierarchies = {root: "/", root / "memory": "/"}
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if number == "0":
            hierarchies[root] = path
        elif "memory" in controllers.split(","):
            hierarchies[root / "memory"] = path
    folders = []
    for top, path in hierarchies.items():
        group = top / path.lstrip("/")
        folders += [folder for folder in (group, *group.parents) if folder.is_relative_to(top)]
    return tuple((each, files) for each in folders for files in _GROUP_FILES if (each / files[0]).exists())


def _group_bytes(folder: Path, limit: str, used: str, reclaimable: str) -> Iterator[int]:
    """Yield what the limit of one control group leaves, if it has one."""
    try:
        text = (folder / limit).read_text().strip()
        if text == "max" or int(text) >= 2**62:  # no limit; version 1 has 2**63 rounded to pages
            return
        usage = int((folder / used).read_text())
    except (OSError, ValueError):
        return
    try:
        statistics = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
    except (OSError, ValueError):
        statistics = {}
    yield int(text) - max(usage - int(statistics.get(reclaimable, 0)), 0)


def fits(n_bytes: float, share: float = 0.8) -> bool:
    """Return True if ``n_bytes`` are at most ``share`` of the available memory, or few."""
    return n_bytes <= _FEW_BYTES or n_bytes <= share * available_bytes()


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
