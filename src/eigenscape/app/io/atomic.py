"""Files that are written whole or not at all: whoever stops the work leaves the old file or the new one,
never half of one."""

from __future__ import annotations

import errno
import itertools
import os
import re
import shutil
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from eigenscape.exceptions import WriteError

_PART = "eigenscape-part"
_HOST = re.sub(r"[^A-Za-z0-9]", "", socket.gethostname())[:40] or "host"
_COUNT = itertools.count()
_IN_USE: set[Path] = set()
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def check_target(path: str | Path, force: bool = False) -> Path:
    """Refuse, before any work, a target that cannot or must not be written; the path with links followed.

    Raises
    ------
    FileExistsError
        There is such a file, and ``force`` is not set.
    WriteError
        The target is a directory, a device or read-only, or its folder is missing or read-only.
    """
    target = Path(os.path.realpath(Path(path).expanduser()))
    if target.is_dir():
        raise WriteError(f"{path} is a directory; name a file in it")
    if target.exists():
        if not stat.S_ISREG(target.stat().st_mode):
            raise WriteError(
                f"{path} is no ordinary file and cannot be written whole; use - for standard output"
            )
        if not force:
            raise FileExistsError(
                f"{path} exists already; choose another name, or overwrite it with force=True (--force)"
            )
        if not os.access(target, os.W_OK):
            raise WriteError(f"{path} is read-only; choose another name or change its permissions")
    if not target.parent.is_dir():
        raise WriteError(f"there is no folder {target.parent}; create it first")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise WriteError(f"the folder {target.parent} is read-only; choose another one")
    return target


@contextmanager
def whole_file(path: str | Path, *, force: bool = False) -> Iterator[Path]:
    """A path to write to in place of ``path``, which takes its place when the block ends without an error.

    The file is written beside the target, under a hidden name with the same suffix, brought to disk, and
    renamed. After an error, or Ctrl-C, it is removed and the target is as it was. What a killed process left
    is removed by the next write of the same target.

    Parameters
    ----------
    path : str or Path
        The target. Its folder must exist.
    force : bool, default=False
        Whether an existing file may be replaced.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> folder = Path(tempfile.mkdtemp())
    >>> with whole_file(folder / "numbers.txt") as part:
    ...     _ = part.write_text("1 2 3")
    >>> [file.name for file in folder.iterdir()]
    ['numbers.txt']
    """
    target = check_target(path, force)
    _remove_stale(target)
    part = target.with_name(
        f".{target.stem[:100]}.{_HOST}-{os.getpid()}-{next(_COUNT)}.{_PART}{target.suffix}"
    )
    _IN_USE.add(part)
    try:
        yield part
        _to_disk(part)
        if target.exists():
            shutil.copymode(target, part)
            if not force:  # it came while we were writing
                check_target(path, force)
        os.replace(part, target)
        _to_disk(target.parent)
    except OSError as error:
        if error.errno in _FULL or "requested and" in str(
            error
        ):  # the second is what numpy says, without a number
            raise WriteError(
                f"no space left to write {path}; free some or choose another disk (nothing there was changed)"
            ) from error
        if error.filename is not None and str(error.filename) == str(part):
            raise WriteError(f"{path} cannot be written: {error.strerror}; choose another place") from error
        raise
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        _IN_USE.discard(part)


def _to_disk(path: Path) -> None:
    """What has been written to a file, or the names in a folder, survive a power cut from here on."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_stale(target: Path) -> None:
    """Remove the parts of this target whose process, on this machine, is gone."""
    pattern = re.compile(
        rf"\.{re.escape(target.stem[:100])}\.{_HOST}-(\d+)-\d+\.{_PART}{re.escape(target.suffix)}"
    )
    for file in target.parent.iterdir():
        match = pattern.fullmatch(file.name)
        if match and file not in _IN_USE and not _runs(int(match[1])):
            with suppress(OSError):
                file.unlink()


def _runs(process: int) -> bool:
    """Whether another process of this number exists; a part of our own number that is not in use was left by
    a predecessor."""
    if process == os.getpid():
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
