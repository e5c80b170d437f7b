"""Rows of a collection on disk, one parquet file a partition: the folder is there with all of them, or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import dask
import numpy as np
from dask.delayed import delayed

from eigenscape._progress import stage
from eigenscape.distributed.reduce import compute
from eigenscape.exceptions import WriteError
from eigenscape.io import write_table


def check_folder(path: str | Path, force: bool = False) -> Path:
    """Refuse, before any work, a folder that cannot or must not be written."""
    target = Path(os.path.realpath(Path(path).expanduser()))
    if target.exists() and not target.is_dir():
        raise WriteError(f"{path} is a file; name a folder for the parts")
    if target.exists() and not force:
        raise FileExistsError(f"{path} exists already; choose another name, or overwrite it with force=True (--force)")
    if not target.parent.is_dir():
        raise WriteError(f"there is no folder {target.parent}; create it first")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise WriteError(f"the folder {target.parent} is read-only; choose another one")
    return target


def write_parts(path: str | Path, array: Any, names: Sequence[str], *, force: bool = False) -> int:
    """Write a lazy array as ``part-00000.parquet`` and so on, in the order of its partitions; how many rows there are.

    Workers write to a hidden folder beside the target, which takes its place when all parts are there. After an error it is removed,
    and the target is as it was. All workers must see the folder under the same path.

    Parameters
    ----------
    path : str or Path
        The folder.
    array : dask array of shape (n, d)
    names : sequence of str
        Of the columns.
    force : bool, default=False
        Whether an existing folder may be replaced.
    """
    target = check_folder(path, force)
    hidden = target.with_name(f".{target.name}.{uuid4().hex[:12]}.eigenscape-part")
    hidden.mkdir()
    try:
        write = delayed(_write_part, pure=False)
        blocks = dask.array.rechunk(array, {1: -1}).to_delayed().ravel()
        files = [hidden / f"part-{number:05d}.parquet" for number in range(len(blocks))]
        with stage("writing"):
            counts = compute(delayed(list)([write(block, str(file), tuple(names)) for block, file in zip(blocks, files, strict=True)]))
        for left in set(hidden.iterdir()) - set(files):  # by a worker that was killed
            left.unlink()
        missing = [file.name for file in files if not file.exists()]
        if missing:
            raise WriteError(f"workers wrote {missing[0]} where this machine does not see it; use a folder on storage that all share")
        _replace(hidden, target)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
    return int(sum(counts))


def _write_part(block: np.ndarray, file: str, names: tuple[str, ...]) -> int:
    Path(file).parent.mkdir(exist_ok=True)
    write_table(file, block, names=list(names), force=True)
    return len(block)


def _replace(hidden: Path, target: Path) -> None:
    """Folders cannot be renamed over others that hold files: the old one steps aside first."""
    if not target.exists():
        os.rename(hidden, target)
        return
    aside = target.with_name(f"{hidden.name}-old")
    os.rename(target, aside)
    os.rename(hidden, target)
    shutil.rmtree(aside, ignore_errors=True)
