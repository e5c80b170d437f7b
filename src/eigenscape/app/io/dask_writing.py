"""Dask arrays as folders of parquet files, one per partition, written atomically."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import dask
import numpy as np
from dask.delayed import delayed

from eigenscape._progress import stage
from eigenscape.app.io.atomic import check_parent, exists_error
from eigenscape.app.io.writing import write_table
from eigenscape.distributed.graphs import compute
from eigenscape.exceptions import WriteError

#: Name endings of folders that are incomplete, and of folders that are being replaced.
_SUFFIX, _ASIDE = ".eigenscape-part", "-old"
_PART = re.compile(r"part-\d{5,}\.parquet")


def check_folder(
    path: str | Path, force: bool = False, separate: Mapping[str, str | Path] | None = None
) -> Path:
    """Check that a folder of parts can be written, before any work is done.

    Parameters
    ----------
    path : str or Path
        The folder to write.
    force : bool, default=False
        Whether an existing folder of parts may be replaced. A folder with other files is never replaced.
    separate : mapping of str to path, optional
        Paths that must not be the folder, inside it or contain it, by a description for the error message.

    Returns
    -------
    Path
        The absolute path with symbolic links resolved.

    Raises
    ------
    FileExistsError
        If the folder exists and ``force`` is False.
    WriteError
        If the folder cannot be written.
    """
    target = Path(os.path.realpath(Path(path).expanduser()))
    for what, other in (separate or {}).items():
        place = Path(os.path.realpath(Path(other).expanduser()))
        if target == place or place in target.parents or target in place.parents:
            how = "is also" if target == place else "contains" if target in place.parents else "is inside"
            raise WriteError(f"{path} {how} {what}, {other}; choose another folder for the parts")
    _restore(target)
    if target.exists() and not target.is_dir():
        raise WriteError(f"{path} is a file; use a folder for the parts")
    if target.exists() and not force:
        raise exists_error(path)
    _reject_other_files(target)
    check_parent(target)
    return target


def _reject_other_files(target: Path) -> None:
    """Raise if a folder contains files other than parts: replacing it would lose them."""
    files = list(target.iterdir()) if target.exists() else []
    others = [file.name for file in files if not (_PART.fullmatch(file.name) and file.is_file())]
    if others:
        raise WriteError(
            f"{target} contains {min(others)}, which is not a part-NNNNN.parquet file, and is not"
            " overwritten; choose another folder"
        )


def write_parts(path: str | Path, array: Any, names: Sequence[str], *, force: bool = False) -> int:
    """Write the partitions of a dask array as ``part-00000.parquet``, ``part-00001.parquet``, ...

    Workers write to a hidden folder next to the target, which is renamed when it is complete. After an error
    it is removed and the target is unchanged. All workers must access the folder under the same path.

    Parameters
    ----------
    path : str or Path
        The folder to write.
    array : dask array of shape (n_samples, n_columns)
        The rows.
    names : sequence of str
        Names of the columns.
    force : bool, default=False
        Whether an existing folder may be replaced, if it contains only parts.

    Returns
    -------
    int
        Number of rows.
    """
    target = check_folder(path, force)
    hidden = target.with_name(f".{target.name}.{uuid4().hex[:12]}{_SUFFIX}")
    hidden.mkdir()
    try:
        write = delayed(_write_part, pure=False)
        blocks = dask.array.rechunk(array, {1: -1}).to_delayed().ravel()
        files = [hidden / f"part-{number:05d}.parquet" for number in range(len(blocks))]
        with stage("writing"):
            counts = compute(
                delayed(list)(
                    [write(block, str(file), tuple(names)) for block, file in zip(blocks, files, strict=True)]
                )
            )
        for file in set(hidden.iterdir()) - set(files):  # left by a worker that was killed
            file.unlink()
        missing = [file.name for file in files if not file.exists()]
        if missing:
            raise WriteError(
                f"{missing[0]}, written by a worker, is not visible on this machine; use a folder on shared"
                " storage"
            )
        _replace(hidden, target)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
    return int(sum(counts))


def _write_part(block: np.ndarray, file: str, names: tuple[str, ...]) -> int:
    Path(file).parent.mkdir(exist_ok=True)
    write_table(file, block, names=list(names), force=True)
    return len(block)


def _replace(hidden: Path, target: Path) -> None:
    """Replace a folder: the old one is renamed first, and restored if the new one cannot be renamed."""
    if not target.exists():
        os.rename(hidden, target)
        return
    _reject_other_files(target)
    aside = target.with_name(f"{hidden.name}{_ASIDE}")
    os.rename(target, aside)
    try:
        os.rename(hidden, target)
    except BaseException:
        os.rename(aside, target)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _restore(target: Path) -> None:
    """Restore a folder that was renamed by a process killed while replacing it."""
    if target.exists() or not target.parent.is_dir():
        return
    prefix, suffix = f".{target.name}.", _SUFFIX + _ASIDE
    for folder in target.parent.iterdir():
        if folder.name.startswith(prefix) and folder.name.endswith(suffix):
            os.rename(folder, target)
            return
