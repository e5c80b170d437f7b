"""Model files as zip archives: header and checksums, verified before the content is loaded."""

from __future__ import annotations

import hashlib
import json
import struct
import unicodedata
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

from eigenscape._format import format_bytes
from eigenscape.exceptions import ModelFileError

#: Version of the layout of model files. Later versions are rejected. Files of earlier versions can be
#: described but not loaded: format 1 (eigenscape 0.1) has other classes and private attributes.
FORMAT = 2
HEADER, SCHEMA = "eigenscape.json", "schema.json"
_MAX_HEADER_BYTES = 2**24

#: Errors that reading a damaged or malicious file may raise.
UNREADABLE = (
    zipfile.BadZipFile,
    OSError,
    ValueError,
    EOFError,
    LookupError,
    TypeError,
    RuntimeError,  # encrypted, unknown compression, nested too deeply
    OverflowError,
    struct.error,
    zlib.error,
)


def open_archive(file: IO[bytes], path: Path) -> zipfile.ZipFile:
    """Open a model file; raise unless it is complete, uncompressed and not larger than the file itself."""
    try:
        archive = zipfile.ZipFile(file)
        members = archive.infolist()
    except UNREADABLE as error:
        raise ModelFileError(f"{path} is damaged, truncated or not a model file") from error
    names = [member.filename for member in members]
    if HEADER not in names or SCHEMA not in names or len(set(names)) < len(names):
        raise ModelFileError(f"{path} is damaged, truncated or not a model file of eigenscape")
    size = path.stat().st_size
    declared = sum(member.file_size for member in members)
    if any(member.compress_type != zipfile.ZIP_STORED for member in members) or declared > size:
        raise ModelFileError(
            f"{path} has {size} bytes and would decompress to {declared}; model files are not compressed, so"
            " eigenscape did not write it"
        )
    return archive


def read_header(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    """Return the description in a model file, without control characters."""
    n_bytes = archive.getinfo(HEADER).file_size
    if n_bytes > _MAX_HEADER_BYTES:
        raise ModelFileError(
            f"{path}: the header of {format_bytes(n_bytes)} exceeds the limit of"
            f" {format_bytes(_MAX_HEADER_BYTES)}"
        )
    try:
        header = json.loads(archive.read(HEADER))
        number = header["format"]
        header = {
            name: value if name == "members" else _remove_control_characters(value)
            for name, value in header.items()
        }
    except UNREADABLE as error:
        raise ModelFileError(f"{path} is damaged: its header cannot be read") from error
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise ModelFileError(f"{path} is damaged: it has no format number")
    if number > FORMAT:
        version = one_line(str(header.get("version", "unknown")))
        raise ModelFileError(
            f"{path} was written by eigenscape {version} in format {number}, and this version reads formats"
            f" up to {FORMAT}; update eigenscape"
        )
    return header


def check_format(header: dict[str, Any], path: Path) -> None:
    """Raise if the model was written in an earlier format, whose classes no longer exist."""
    if header["format"] < FORMAT:
        version = one_line(str(header.get("version", "unknown")))
        raise ModelFileError(
            f"{path} was written by eigenscape {version} in format {header['format']}, which this version"
            f" cannot load; fit and save the model again, or install eigenscape {version}"
        )


def check_members(archive: zipfile.ZipFile, header: dict[str, Any], path: Path) -> None:
    """Raise unless the checksums of all members are those in the header."""
    checksums = header.get("members")
    names = {member.filename for member in archive.infolist()} - {HEADER}
    if not isinstance(checksums, dict) or set(checksums) != names:
        raise ModelFileError(f"{path} is damaged: it does not contain the members listed in its header")
    for name in sorted(names):
        try:
            actual = checksum(archive, name)
        except UNREADABLE as error:
            raise ModelFileError(f"{path} is damaged in {one_line(name)}") from error
        if actual != checksums[name]:
            raise ModelFileError(f"{path} is damaged: the checksum of {one_line(name)} is wrong")


def checksum(archive: zipfile.ZipFile, name: str) -> str:
    """Return the hash of a member."""
    digest = hashlib.blake2b(digest_size=16)
    with archive.open(name) as member:
        while block := member.read(2**22):
            digest.update(block)
    return digest.hexdigest()


def one_line(text: str) -> str:
    """Return text from a file in one line and without control characters, for messages on a terminal."""
    return " ".join(_remove_control_characters(text).split())


def _remove_control_characters(value: Any) -> Any:
    """Remove control characters other than line feeds and tabs from all strings of a JSON value."""
    if isinstance(value, str):
        return "".join(char for char in value if char in "\n\t" or unicodedata.category(char) != "Cc")
    if isinstance(value, list):
        return [_remove_control_characters(item) for item in value]
    if isinstance(value, dict):
        return {
            _remove_control_characters(key): _remove_control_characters(item) for key, item in value.items()
        }
    return value
