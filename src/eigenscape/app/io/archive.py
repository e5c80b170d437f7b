"""Model files as archives: what is looked at before anything in them is believed."""

from __future__ import annotations

import hashlib
import json
import struct
import unicodedata
import zipfile
from pathlib import Path
from typing import IO, Any

from eigenscape.exceptions import ModelFileError

#: The version of the layout of model files. A file of a later one is refused.
FORMAT = 1
HEADER, SCHEMA = "eigenscape.json", "schema.json"
#: A header is a page of text.
_LONGEST_HEADER = 2**24

#: What reading a file may raise that was damaged, or made to do harm.
UNREADABLE = (
    zipfile.BadZipFile,
    OSError,
    ValueError,
    EOFError,
    LookupError,
    TypeError,
    RuntimeError,  # encrypted, packed in an unknown way, nested too deeply
    OverflowError,
    struct.error,
)


def open_archive(file: IO[bytes], path: Path) -> zipfile.ZipFile:
    """The archive, if it is whole, holds no more than its own size, and is packed nowhere."""
    try:
        archive = zipfile.ZipFile(file)
        members = archive.infolist()
    except UNREADABLE as error:
        raise ModelFileError(f"{path} is damaged, cut off, or no model file") from error
    names = [member.filename for member in members]
    if HEADER not in names or SCHEMA not in names or len(set(names)) < len(names):
        raise ModelFileError(f"{path} is damaged, cut off, or no eigenscape model")
    size = path.stat().st_size
    declared = sum(member.file_size for member in members)
    if any(member.compress_type != zipfile.ZIP_STORED for member in members) or declared > size:
        raise ModelFileError(
            f"{path} would unpack to {declared} bytes from {size}; model files are not packed, so this is none of ours"
        )
    return archive


def read_header(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    """What the file says about itself."""
    length = archive.getinfo(HEADER).file_size
    if length > _LONGEST_HEADER:
        raise ModelFileError(f"{path} has a header of {length} bytes, which is none of ours")
    try:
        header = json.loads(archive.read(HEADER))
        number = header["format"]
        header = {name: part if name == "members" else _steering_free(part) for name, part in header.items()}
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


def check_members(archive: zipfile.ZipFile, header: dict[str, Any], path: Path) -> None:
    """Every member is what it was when the file was written."""
    sums = header.get("members")
    names = {member.filename for member in archive.infolist()} - {HEADER}
    if not isinstance(sums, dict) or set(sums) != names:
        raise ModelFileError(f"{path} is damaged: it does not hold the members that its header lists")
    for name in sorted(names):
        try:
            actual = checksum(archive, name)
        except UNREADABLE as error:
            raise ModelFileError(f"{path} is damaged in {one_line(name)}") from error
        if actual != sums[name]:
            raise ModelFileError(f"{path} is damaged: {one_line(name)} is not what was written")


def checksum(archive: zipfile.ZipFile, name: str) -> str:
    """Hash of a member's bytes."""
    digest = hashlib.blake2b(digest_size=16)
    with archive.open(name) as member:
        while block := member.read(2**22):
            digest.update(block)
    return digest.hexdigest()


def one_line(text: str) -> str:
    """Text out of a file as a message may show it: in one line, without what steers a terminal."""
    return " ".join(_steering_free(text).split())


def _steering_free(thing: Any) -> Any:
    """Strings without control characters, but for the ends of lines, at any depth."""
    if isinstance(thing, str):
        return "".join(letter for letter in thing if letter in "\n\t" or unicodedata.category(letter) != "Cc")
    if isinstance(thing, list):
        return [_steering_free(part) for part in thing]
    if isinstance(thing, dict):
        return {_steering_free(key): _steering_free(part) for key, part in thing.items()}
    return thing
