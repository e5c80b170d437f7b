"""Checks of npz archives before their arrays are allocated."""

from __future__ import annotations

import zipfile
from math import prod
from pathlib import Path
from typing import IO

from numpy.lib import format as npy_format

from eigenscape._format import format_bytes
from eigenscape._memory import fits
from eigenscape.app.io.guards import check_expansion
from eigenscape.exceptions import InputFileError


def check_npz(path: Path) -> None:
    """Raise if the arrays of an archive do not fit in memory, or a member is shorter than its array.

    Other damage is left to NumPy, whose errors name it.
    """
    with zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        n_bytes = sum(member.file_size for member in members)
        check_expansion(n_bytes, path.stat().st_size, str(path))
        if not fits(n_bytes):
            raise InputFileError(
                f"{path} needs {format_bytes(n_bytes)} of memory, more than is available; store the array"
                " as npy"
            )
        for member in members:
            with archive.open(member) as file:
                declared = _declared_bytes(file)
            if declared > member.file_size:
                raise InputFileError(
                    f"{path} is truncated or damaged: its array {member.filename.removesuffix('.npy')!r}"
                    f" needs {format_bytes(declared)}, and {format_bytes(member.file_size)} are stored; write"
                    " the file again"
                )


def _declared_bytes(file: IO[bytes]) -> int:
    """Return the size of an array and its header, as the header declares it; 0 if it is not an npy file."""
    if file.read(npy_format.MAGIC_LEN)[: len(npy_format.MAGIC_PREFIX)] != npy_format.MAGIC_PREFIX:
        return 0
    file.seek(0)
    version = npy_format.read_magic(file)
    # Version 3 differs from 2 in the encoding of field names, which does not change the size.
    read_header = npy_format.read_array_header_1_0 if version[0] == 1 else npy_format.read_array_header_2_0
    shape, _, dtype = read_header(file)
    return 0 if dtype.hasobject else file.tell() + prod(shape) * dtype.itemsize
