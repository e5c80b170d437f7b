"""Model files as zip archives: sizes, checksums and the header are verified before the content is loaded."""

from __future__ import annotations

import json
import re
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from eigenscape._format import format_bytes
from eigenscape._memory import fits
from eigenscape.exceptions import ModelFileError

#: Version of model files. Every version of eigenscape reads the files of all earlier formats.
FORMAT = 1
HEADER, TREE = "eigenscape.json", "model.json"
_MAX_HEADER_BYTES, _MAX_TREE_BYTES = 2**24, 2**28
#: Share of its size that compression must save in the first bytes of a member, and their number.
_LEAST_SAVED, _FIRST_BYTES = 0.1, 2**18


@contextmanager
def open_archive(path: str | Path) -> Iterator[tuple[zipfile.ZipFile, dict[str, Any]]]:
    """Open a model file and read its header; raise unless it is complete and fits in memory."""
    path = Path(path).expanduser()
    if not path.is_file():
        special = "is a directory" if path.is_dir() else "is a pipe or a device"
        reason = special if path.exists() else "does not exist"
        raise ModelFileError(f"{path} {reason}; use the path of a model file")
    if path.stat().st_size == 0:
        raise ModelFileError(f"{path} is empty")
    try:
        archive = zipfile.ZipFile(path)
    except PermissionError:
        raise
    except Exception as error:  # damaged archives cause errors of many kinds
        raise ModelFileError(f"{path} is damaged, truncated or not a model file") from error
    with archive:
        _check_sizes(archive.infolist(), path)
        yield archive, _read_header(archive, path)


def _check_sizes(members: list[zipfile.ZipInfo], path: Path) -> None:
    """Raise unless an archive has header and tree, and what it declares fits in memory."""
    sizes = {member.filename: member.file_size for member in members}
    if not {HEADER, TREE} <= set(sizes) or len(sizes) < len(members):
        raise ModelFileError(f"{path} is damaged, truncated or not a model file of eigenscape")
    if not {member.compress_type for member in members} <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise ModelFileError(f"{path} is compressed by a method that eigenscape does not use")
    for name, limit in ((HEADER, _MAX_HEADER_BYTES), (TREE, _MAX_TREE_BYTES)):
        if sizes[name] > limit:
            size = format_bytes(sizes[name])
            raise ModelFileError(f"{path}: {name} of {size} exceeds the limit of {format_bytes(limit)}")
    if not fits(sum(sizes.values()), share=0.5):
        declared = format_bytes(sum(sizes.values()))
        raise ModelFileError(f"{path} would decompress to {declared}, which do not fit in memory")


def write_member(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Add a member to an archive, compressed if that makes it smaller by a tenth."""
    first = content[:_FIRST_BYTES]
    pays = len(zlib.compress(first, 1)) < (1 - _LEAST_SAVED) * len(first)
    archive.writestr(name, content, zipfile.ZIP_DEFLATED if pays else zipfile.ZIP_STORED)


def _read_header(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    """Return the description in a model file, without control characters."""
    try:
        header = _remove_control_characters(json.loads(archive.read(HEADER)))
        number = header["format"]
    except Exception as error:
        raise ModelFileError(f"{path} is damaged: its header cannot be read") from error
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise ModelFileError(f"{path} is damaged: it has no format number")
    if number > FORMAT:
        version = one_line(str(header.get("version", "(unknown version)")))
        raise ModelFileError(
            f"{path} was written by eigenscape {version} in format {number}, and eigenscape {own_version()}"
            f" reads formats up to {FORMAT}; install eigenscape {version} or later"
        )
    return header


def own_version() -> str:
    """Return the version of eigenscape."""
    return str(sys.modules["eigenscape"].__version__)  # an import would point upwards in the layers


def check_members(archive: zipfile.ZipFile, path: str | Path) -> None:
    """Raise if the content of a member does not agree with its checksum in the archive."""
    try:
        damaged = archive.testzip()
    except Exception as error:
        raise ModelFileError(f"{path} is damaged: {one_line(str(error))}") from error
    if damaged is not None:
        raise ModelFileError(f"{path} is damaged: the checksum of {one_line(damaged)} is wrong")


def one_line(text: str) -> str:
    """Return text from a file in one line and without control characters, for messages on a terminal."""
    return " ".join(_remove_control_characters(text).split())


def _remove_control_characters(value: Any) -> Any:
    """Remove control characters other than line feeds and tabs from all strings of a JSON value."""
    if isinstance(value, str):
        return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", "", value)
    if isinstance(value, list):
        return [_remove_control_characters(item) for item in value]
    clean = _remove_control_characters
    return {clean(key): clean(item) for key, item in value.items()} if isinstance(value, dict) else value
