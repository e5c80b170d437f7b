"""Model files as zip archives: header and checksums, verified before the content is loaded."""

from __future__ import annotations

import hashlib
import json
import sys
import unicodedata
import zipfile
import zlib
from pathlib import Path
from typing import IO, Any

from eigenscape._format import format_bytes
from eigenscape._memory import fits
from eigenscape.exceptions import ModelFileError

#: Version of model files. Every version of eigenscape reads the files of all earlier formats.
FORMAT = 1
HEADER, TREE = "eigenscape.json", "model.json"
_MAX_HEADER_BYTES, _MAX_TREE_BYTES = 2**24, 2**28
#: Share of its size that compression must save in the first bytes of a member, and their number.
_LEAST_SAVED, _FIRST_BYTES = 0.1, 2**18


def open_archive(file: IO[bytes], path: Path) -> zipfile.ZipFile:
    """Open a model file; raise unless it is complete and fits in memory."""
    try:
        archive = zipfile.ZipFile(file)
        members = archive.infolist()
    except Exception as error:  # damaged archives cause errors of many kinds
        raise ModelFileError(f"{path} is damaged, truncated or not a model file") from error
    names = [member.filename for member in members]
    if HEADER not in names or TREE not in names or len(set(names)) < len(names):
        raise ModelFileError(f"{path} is damaged, truncated or not a model file of eigenscape")
    declared = sum(member.file_size for member in members)
    methods = {member.compress_type for member in members}
    if not methods <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
        raise ModelFileError(f"{path} is compressed by a method that eigenscape does not use")
    if archive.getinfo(TREE).file_size > _MAX_TREE_BYTES or not fits(declared, share=0.5):
        raise ModelFileError(
            f"{path} would decompress to {format_bytes(declared)}, which do not fit in memory, or its tree"
            f" exceeds {format_bytes(_MAX_TREE_BYTES)}"
        )
    return archive


def write_member(archive: zipfile.ZipFile, name: str, content: bytes) -> str:
    """Add a member to an archive, compressed if that makes it smaller by a tenth; return its checksum."""
    first = content[:_FIRST_BYTES]
    pays = len(zlib.compress(first, 1)) < (1 - _LEAST_SAVED) * len(first)
    archive.writestr(name, content, zipfile.ZIP_DEFLATED if pays else zipfile.ZIP_STORED)
    return hashlib.blake2b(content, digest_size=16).hexdigest()


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


def check_members(archive: zipfile.ZipFile, header: dict[str, Any], path: Path) -> None:
    """Raise unless the checksums of all members are those in the header."""
    checksums = header.get("members")
    names = {member.filename for member in archive.infolist()} - {HEADER}
    if not isinstance(checksums, dict) or set(checksums) != names:
        raise ModelFileError(f"{path} is damaged: it does not contain the members listed in its header")
    for name in sorted(names):
        try:
            actual = checksum(archive, name)
        except Exception as error:
            raise ModelFileError(f"{path} is damaged in {one_line(name)}") from error
        if actual != checksums[name]:
            raise ModelFileError(f"{path} is damaged: the checksum of {one_line(name)} is wrong")


def checksum(archive: zipfile.ZipFile, name: str) -> str:
    """Return the hash of a member."""
    total = hashlib.blake2b(digest_size=16)
    with archive.open(name) as member:
        while block := member.read(2**22):
            total.update(block)
    return total.hexdigest()


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
