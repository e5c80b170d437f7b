"""Atomic writes: after an interruption the file is the old one or the complete new one."""

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
#: Errors of file systems that have no hard links.
_NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EMLINK, errno.EXDEV)


def _has_room(path: Path) -> bool:
    """Return whether another 64 KiB can be appended to a file."""
    try:
        with path.open("ab") as file:
            file.write(bytes(2**16))
    except OSError as error:
        return error.errno not in _FULL
    return True


def check_target(path: str | Path, force: bool = False) -> Path:
    """Check that a file can be written, before any work is done.

    Parameters
    ----------
    path : str or Path
        The file to write.
    force : bool, default=False
        Whether an existing file may be replaced.

    Returns
    -------
    Path
        The absolute path with symbolic links resolved.

    Raises
    ------
    FileExistsError
        If the file exists and ``force`` is False.
    WriteError
        If the target is a directory, a device or read-only, or its folder does not exist or is read-only.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from eigenscape.io import check_target
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     check_target(Path(folder) / "map.csv").name
    'map.csv'
    """
    target = Path(os.path.realpath(Path(path).expanduser()))
    if target.is_dir():
        raise WriteError(f"{path} is a directory; use the path of a file")
    if target.exists():
        if not stat.S_ISREG(target.stat().st_mode):
            raise WriteError(
                f"{path} is not a regular file and cannot be written atomically; use - for standard output"
            )
        if not force:
            raise exists_error(path)
        if not os.access(target, os.W_OK):
            raise WriteError(f"{path} is read-only; choose another name or change its permissions")
    check_parent(target)
    return target


def check_parent(target: Path) -> None:
    """Raise unless the folder of a target exists and can be written to."""
    if not target.parent.is_dir():
        raise WriteError(f"folder {target.parent} does not exist; create it first")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise WriteError(f"folder {target.parent} is read-only; choose another one")


@contextmanager
def whole_file(path: str | Path, *, force: bool = False) -> Iterator[Path]:
    """Context manager that yields a temporary path, and renames it to ``path`` at the end.

    The temporary file is in the same folder, with a hidden name and the same extension. It is synchronized to
    disk before it is renamed. After an error or an interruption it is removed and the target is unchanged. A
    temporary file left by a killed process is removed by the next write of the same target.

    Parameters
    ----------
    path : str or Path
        The file to write. Its folder must exist.
    force : bool, default=False
        Whether an existing file may be replaced.

    Yields
    ------
    Path
        The temporary path to write to.

    Raises
    ------
    FileExistsError
        If the file exists and ``force`` is False.
    WriteError
        If the file cannot be written.

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
        _synchronize(part)
        if force:
            if target.exists():
                shutil.copymode(target, part)
            os.replace(part, target)
        else:
            _publish(part, target, path)
        try:
            _synchronize(target.parent)
        except OSError as error:
            raise WriteError(
                f"{path} was written, but its folder could not be synchronized to disk ({error.strerror});"
                " the file may be lost if the machine stops now"
            ) from error
    except OSError as error:
        if error.errno in _FULL or (error.errno is None and not _has_room(part)):  # NumPy's have no number
            full = WriteError(
                f"no space left to write {path}; free some space or choose another disk (the target is"
                " unchanged)"
            )
            full.errno = errno.ENOSPC
            raise full from error
        if error.filename is not None and str(error.filename) == str(part):
            raise WriteError(f"{path} cannot be written: {error.strerror}; choose another path") from error
        raise
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        _IN_USE.discard(part)


def _publish(part: Path, target: Path, path: str | Path) -> None:
    """Give a complete file its name, unless a file of that name was created in the meantime.

    A hard link fails if the name is taken, also between two processes that write at the same time. File
    systems without hard links reserve the name by an empty file, which is then replaced.
    """
    try:
        try:
            os.link(part, target)
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            os.replace(part, target)
    except FileExistsError as error:
        raise exists_error(path) from error


def exists_error(path: str | Path) -> FileExistsError:
    """Return the error for a target that exists."""
    return FileExistsError(
        f"{path} exists already; choose another name, or overwrite it with force=True (--force)"
    )


def _synchronize(path: Path) -> None:
    """Synchronize a file, or the entries of a folder, to disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove_stale(target: Path) -> None:
    """Remove temporary files of a target whose process, on this machine, does not exist any more."""
    pattern = re.compile(
        rf"\.{re.escape(target.stem[:100])}\.{_HOST}-(\d+)-\d+\.{_PART}{re.escape(target.suffix)}"
    )
    for file in target.parent.iterdir():
        match = pattern.fullmatch(file.name)
        if match and file not in _IN_USE and not is_running(int(match[1])):
            with suppress(OSError):
                file.unlink()


def is_running(process: int) -> bool:
    """Return whether another process with this id exists."""
    if process == os.getpid():  # a file that is not in use was left by an earlier process with the same id
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
