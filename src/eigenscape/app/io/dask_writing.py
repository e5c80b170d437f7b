"""Rows of a collection on disk, one parquet file a partition: the folder is there with all of them, or not at
all."""

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
from eigenscape.app.io.writing import write_table
from eigenscape.distributed.graphs import compute
from eigenscape.exceptions import WriteError

#: What folders are called before they are complete, and while another takes their place.
_SUFFIX, _ASIDE = ".eigenscape-part", "-old"
_PART = re.compile(r"part-\d{5,}\.parquet")


def check_folder(
    path: str | Path, force: bool = False, apart: Mapping[str, str | Path] | None = None
) -> Path:
    """Refuse, before any work, a folder that cannot or must not be written.

    Parameters
    ----------
    path : str or Path
        The folder.
    force : bool, default=False
        Whether a folder of parts that is there may be replaced; one that holds anything else never is.
    apart : mapping of str to path, optional
        What must neither be the folder nor lie in it nor hold it, by what it is.
    """
    target = Path(os.path.realpath(Path(path).expanduser()))
    for what, other in (apart or {}).items():
        place = Path(os.path.realpath(Path(other).expanduser()))
        if target == place or place in target.parents or target in place.parents:
            how = "is also" if target == place else "holds" if target in place.parents else "lies in"
            raise WriteError(f"{path} {how} {what}, {other}; name another folder for the parts")
    _restore(target)
    if target.exists() and not target.is_dir():
        raise WriteError(f"{path} is a file; name a folder for the parts")
    if target.exists() and not force:
        raise FileExistsError(
            f"{path} exists already; choose another name, or overwrite it with force=True (--force)"
        )
    _refuse_foreign(target)
    if not target.parent.is_dir():
        raise WriteError(f"there is no folder {target.parent}; create it first")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise WriteError(f"the folder {target.parent} is read-only; choose another one")
    return target


def _refuse_foreign(target: Path) -> None:
    """Only parts may be replaced by parts: whatever else a folder holds cannot be made again."""
    others = (
        [each.name for each in target.iterdir() if not (_PART.fullmatch(each.name) and each.is_file())]
        if target.exists()
        else []
    )
    if others:
        raise WriteError(
            f"{target} holds {min(others)}, which is no part-NNNNN.parquet file, and is not overwritten; name another folder"
        )


def write_parts(path: str | Path, array: Any, names: Sequence[str], *, force: bool = False) -> int:
    """Write a lazy array as ``part-00000.parquet`` and so on, in the order of its partitions; how many rows
    there are.

    Workers write to a hidden folder beside the target, which takes its place when all parts are there. After
    an error it is removed, and the target is as it was. All workers must see the folder under the same path.

    Parameters
    ----------
    path : str or Path
        The folder.
    array : dask array of shape (n, d)
    names : sequence of str
        Of the columns.
    force : bool, default=False
        Whether an existing folder may be replaced, if it holds nothing but parts.
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
        for left in set(hidden.iterdir()) - set(files):  # by a worker that was killed
            left.unlink()
        missing = [file.name for file in files if not file.exists()]
        if missing:
            raise WriteError(
                f"workers wrote {missing[0]} where this machine does not see it; use a folder on storage that all share"
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
    """Folders cannot be renamed over others that hold files: the old one steps aside first, and comes back if
    the new one cannot come."""
    if not target.exists():
        os.rename(hidden, target)
        return
    _refuse_foreign(target)
    aside = target.with_name(f"{hidden.name}{_ASIDE}")
    os.rename(target, aside)
    try:
        os.rename(hidden, target)
    except BaseException:
        os.rename(aside, target)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _restore(target: Path) -> None:
    """The folder that had stepped aside when a run was killed between the two renames, back in its place."""
    if target.exists() or not target.parent.is_dir():
        return
    aside = [
        each
        for each in target.parent.iterdir()
        if each.name.startswith(f".{target.name}.") and each.name.endswith(_SUFFIX + _ASIDE)
    ]
    if aside:
        os.rename(aside[0], target)
