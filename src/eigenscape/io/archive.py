"""Model files as archives: what is looked at before anything in them is believed."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from eigenscape._memory import fits
from eigenscape.exceptions import ModelFileError

#: The version of the layout of model files. A file of a later one is refused.
FORMAT = 1
HEADER, SCHEMA = "eigenscape.json", "schema.json"
#: A header is a page of text.
_LONGEST_HEADER = 2**24

#: What may make an object of a file. None of them calls anything that the file names, but for the types listed below.
_LOADERS = {
    "ObjectNode",
    "JsonNode",
    "DictNode",
    "ListNode",
    "TupleNode",
    "SetNode",
    "NdArrayNode",
    "SparseMatrixNode",
    "TypeNode",
    "DTypeNode",
    "RandomStateNode",
}
_PLAIN = {"builtins": {"str", "int", "float", "bool", "list", "tuple", "dict", "set", "NoneType"}}
_NUMPY = {"ndarray", "dtype", "bool", "bool_", "str_", "intp", "float16", "float32", "float64", "longdouble"}
_NUMPY |= {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_OTHERS = {
    "numpy": _NUMPY,
    "numpy.random.mtrand": {"RandomState"},
    "scipy.sparse._csr": {"csr_array", "csr_matrix"},
    "scipy.sparse._csc": {"csc_array", "csc_matrix"},
    "sklearn.cluster._kmeans": {"KMeans"},
    "sklearn.pipeline": {"Pipeline"},
    "sklearn.preprocessing._data": {"StandardScaler"},
}
_ROOMS = (
    "estimators",
    "methods",
    "pieces",
    "dictionary",
    "eigenfunctions",
    "solvers",
    "operators",
    "normalize",
    "kernels",
    "graph",
    "io.lean",
)


def open_archive(file: IO[bytes], path: Path) -> zipfile.ZipFile:
    """The archive, if it is whole, holds no more than its own size, and is packed nowhere."""
    try:
        archive = zipfile.ZipFile(file)
        members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, EOFError) as error:
        raise ModelFileError(f"{path} is damaged, cut off, or no model file") from error
    names = [member.filename for member in members]
    if HEADER not in names or SCHEMA not in names or len(set(names)) < len(names):
        raise ModelFileError(f"{path} is damaged, cut off, or no eigenscape model")
    size = path.stat().st_size
    declared = sum(member.file_size for member in members)
    if any(member.compress_type != zipfile.ZIP_STORED for member in members) or declared > size:
        raise ModelFileError(f"{path} would unpack to {declared} bytes from {size}; model files are not packed, so this is none of ours")
    return archive


def read_header(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    """What the file says about itself."""
    try:
        if archive.getinfo(HEADER).file_size > _LONGEST_HEADER:
            raise ModelFileError(f"{path} has a header of {archive.getinfo(HEADER).file_size} bytes, which is none of ours")
        header = json.loads(archive.read(HEADER))
        number = header["format"]
    except (zipfile.BadZipFile, ValueError, KeyError, TypeError, RecursionError, EOFError, OSError) as error:
        if isinstance(error, ModelFileError):
            raise
        raise ModelFileError(f"{path} is damaged: its header cannot be read") from error
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise ModelFileError(f"{path} is damaged: it has no format number")
    if number > FORMAT:
        raise ModelFileError(
            f"{path} was written by eigenscape {header.get('version', 'unknown')} in format {number}, and this version reads formats"
            f" up to {FORMAT}; update eigenscape"
        )
    return header


def check_members(archive: zipfile.ZipFile, header: dict[str, Any], path: Path) -> None:
    """Every member is what it was when the file was written, and none unpacks to more than memory holds."""
    sums = header.get("members")
    names = {member.filename for member in archive.infolist()} - {HEADER}
    if not isinstance(sums, dict) or set(sums) != names:
        raise ModelFileError(f"{path} is damaged: it does not hold the members that its header lists")
    for name in sorted(names):
        try:
            actual = checksum(archive, name)
        except (zipfile.BadZipFile, EOFError, OSError, RuntimeError, NotImplementedError) as error:
            raise ModelFileError(f"{path} is damaged in {name}") from error
        if actual != sums[name]:
            raise ModelFileError(f"{path} is damaged: {name} is not what was written")
        if name.endswith(".npz"):
            _check_packed(archive, name, path)


def _check_packed(archive: zipfile.ZipFile, name: str, path: Path) -> None:
    """Sparse matrices are packed archives inside the archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive.read(name))) as packed:
            unpacked = sum(member.file_size for member in packed.infolist())
    except (zipfile.BadZipFile, EOFError, OSError, ValueError) as error:
        raise ModelFileError(f"{path} is damaged in {name}") from error
    if not fits(unpacked, share=0.5):
        raise ModelFileError(f"{path} holds a matrix that would unpack to {unpacked / 2**30:.1f} GiB, more than there is memory for")


def checksum(archive: zipfile.ZipFile, name: str) -> str:
    """Hash of a member's bytes."""
    digest = hashlib.blake2b(digest_size=16)
    with archive.open(name) as member:
        while block := member.read(2**22):
            digest.update(block)
    return digest.hexdigest()


def check_types(archive: zipfile.ZipFile, path: Path) -> list[str]:
    """The types in the file, if each is ours or among the few others that models are made of."""
    try:
        schema = json.loads(archive.read(SCHEMA))
    except (ValueError, RecursionError, zipfile.BadZipFile, EOFError) as error:
        raise ModelFileError(f"{path} is damaged: its contents are not listed") from error
    found: set[str] = set()
    waiting: list[Any] = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            if "__loader__" in node:
                found.add(_checked_type(node, path))
            waiting.extend(node.values())
    return sorted(found)


def _checked_type(node: dict[str, Any], path: Path) -> str:
    loader, module, name = node.get("__loader__"), node.get("__module__"), node.get("__class__")
    full = f"{module}.{name}"
    if loader not in _LOADERS or not isinstance(module, str) or not isinstance(name, str):
        raise ModelFileError(f"{path} holds {full} as {loader}, which no model of eigenscape has; it was not loaded")
    if name in _PLAIN.get(module, ()) or name in _OTHERS.get(module, ()):
        return full
    if loader in ("ObjectNode", "TupleNode") and _is_ours(module, name):
        return full
    raise ModelFileError(f"{path} holds a {full}, which is no type of eigenscape's models; it was not loaded")


def _is_ours(module: str, name: str) -> bool:
    """Whether a class of that name is defined, not merely imported, in one of the rooms that models come from."""
    if not any(module == f"eigenscape.{room}" or module.startswith(f"eigenscape.{room}.") for room in _ROOMS):
        return False
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError):
        return False
    return isinstance(found, type) and found.__module__ == module and found.__name__ == name
