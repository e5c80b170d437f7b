"""Writes every format again and again while one write after the other fails; see test_writes.py.

Usage: write_with_faults.py LIBRARY FOLDER FORMAT[,FORMAT...]. Prints the numbers of failures that were tried
as JSON.
"""

from __future__ import annotations

import ctypes
import errno
import json
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import mmread

import eigenscape
from eigenscape.app.io.writing import write_table
from eigenscape.exceptions import WriteError

#: No space left, an error of the device, and an interruption, after which a write is repeated.
NUMBERS = (errno.ENOSPC, errno.EIO, errno.EINTR)


def writer(kind: str) -> Any:
    """Return a function that writes the format to a path."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3000, 4))
    if kind == "model":
        model = eigenscape.LaplacianEigenmaps(2).fit(rows[:200])
        return lambda path: eigenscape.save(model, path, force=True)
    labels = np.array([f"word {i % 7}" for i in range(len(rows))], dtype=object)
    beside = {} if kind in ("npy", "mtx") else {"labels": labels, "ids": np.arange(len(rows)).astype(str)}
    return lambda path: write_table(path, rows, force=True, **beside)


def fail_writes(faults: ctypes.CDLL, folder: str, kind: str) -> int:
    """Let each write fail once with each error number; the file is the old one or the new one."""
    path, write = Path(folder) / f"out.{kind}", writer(kind)
    write(path)
    faults.arm(folder.encode(), 0, 0)
    write(path)
    n_writes, tried = faults.count(), 0
    assert n_writes > 0
    for number in NUMBERS:
        for n in range(1, n_writes + 1):
            path.write_bytes(b"old")
            faults.arm(folder.encode(), n, number)
            caught: OSError | None = None
            try:
                write(path)
            except OSError as error:
                caught = error
            faults.arm(b"", 0, 0)
            assert caught is None or caught.errno == number or isinstance(caught, WriteError), repr(caught)
            message = None if caught is None else str(caught)
            if path.read_bytes() == b"old":
                assert message is not None, f"write {n} failed with {number}, and nobody noticed"
                assert "was written" not in message
            else:
                check(path, kind)
                assert message is None or "was written" in message, message
            assert [file.name for file in Path(folder).iterdir()] == [path.name]
            tried += 1
    path.unlink()
    return tried


def main(library: str, folder: str, kinds: str) -> dict[str, int]:
    """Let the writes of each format fail; return the numbers of failures."""
    faults = ctypes.CDLL(library)
    faults.arm.argtypes = [ctypes.c_char_p, ctypes.c_long, ctypes.c_int]
    faults.count.restype = ctypes.c_long
    return {kind: fail_writes(faults, folder, kind) for kind in kinds.split(",")}


def check(path: Path, kind: str) -> None:
    """Raise if a file is not complete."""
    if kind == "model":
        eigenscape.load(path)
    elif kind == "mtx":  # eigenscape.read starts a process for each file
        assert mmread(path).shape == (3000, 4)
    else:
        assert eigenscape.read(path).array.shape == (3000, 4)


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        print(json.dumps(main(*sys.argv[1:])))
