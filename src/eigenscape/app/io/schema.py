"""What a model file says its objects are: each by a loader that fits its type, each array in a member of its
own."""

from __future__ import annotations

import io
import json
import zipfile
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from eigenscape._format import format_bytes
from eigenscape._memory import fits
from eigenscape.app.io.archive import SCHEMA, UNREADABLE, one_line
from eigenscape.exceptions import ModelFileError

_SCALARS = {"str", "int", "float", "bool", "NoneType"}
_CONTAINERS = {"list", "tuple", "dict", "set"}
_NUMBERS = {"bool", "bool_", "str_", "intp", "float16", "float32", "float64", "longdouble"}
_NUMBERS |= {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_SPARSE = {"scipy.sparse._csr": {"csr_array", "csr_matrix"}, "scipy.sparse._csc": {"csc_array", "csc_matrix"}}
_LEARNERS = {
    "sklearn.cluster._kmeans": {"KMeans"},
    "sklearn.pipeline": {"Pipeline"},
    "sklearn.preprocessing._data": {"StandardScaler"},
}


class _Loader(NamedTuple):
    """The types that a loader makes, by module, and what it looks for in its part of the file."""

    types: dict[str, set[str]]
    needs: tuple[str, ...] = ("content",)
    ours: bool = False  # classes of eigenscape too


#: What may make an object of a file. None of them calls anything that the file names, but for the types
#: listed with it.
_LOADERS = {
    "ObjectNode": _Loader(_LEARNERS, (), ours=True),
    "TupleNode": _Loader({"builtins": {"tuple"}}, ours=True),
    "JsonNode": _Loader({"builtins": _SCALARS}),
    "DictNode": _Loader({"builtins": {"dict"}}, ("content", "key_types")),
    "ListNode": _Loader({"builtins": {"list"}}),
    "SetNode": _Loader({"builtins": {"set"}}),
    "NdArrayNode": _Loader({"numpy": _NUMBERS | {"ndarray"}}, ("type",)),
    "SparseMatrixNode": _Loader(_SPARSE, ("type", "file")),
    "TypeNode": _Loader({"builtins": _SCALARS | _CONTAINERS, "numpy": _NUMBERS}, ()),
    "DTypeNode": _Loader({"numpy": {"dtype"}}),
    "RandomStateNode": _Loader({"numpy.random.mtrand": {"RandomState"}}),
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
    "_omitted",
)
#: How a file of an array begins.
_ARRAY = b"\x93NUMPY"


def check_contents(archive: zipfile.ZipFile, path: Path) -> list[str]:
    """The types in the file, if each is ours or among the few others that models are made of, and its arrays
    take the room they may."""
    try:
        schema = json.loads(archive.read(SCHEMA))
    except UNREADABLE as error:
        raise ModelFileError(f"{path} is damaged: its contents are not listed") from error
    if (
        not isinstance(schema, dict)
        or "__loader__" not in schema
        or not isinstance(schema.get("protocol"), int)
    ):
        raise ModelFileError(f"{path} is damaged: its list of contents does not begin as one")
    found: set[str] = set()
    stored: dict[Any, str] = {}
    waiting: list[Any] = [schema]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting.extend(node)
        elif isinstance(node, dict):
            if "__loader__" in node:
                found.add(_checked_type(node, path))
                _note_member(node, stored, archive, path)
            waiting.extend(node.values())
    _check_room(archive, list(stored.values()), path)
    return sorted(found)


def _checked_type(node: dict[str, Any], path: Path) -> str:
    name, module, kind = node.get("__loader__"), node.get("__module__"), node.get("__class__")
    loader = _LOADERS.get(name) if isinstance(name, str) else None
    full = one_line(f"{module}.{kind}")
    if loader is None or not isinstance(module, str) or not isinstance(kind, str):
        raise ModelFileError(
            f"{path} holds {full} as {one_line(str(name))}, which no model of eigenscape has; it was not loaded"
        )
    if kind not in loader.types.get(module, ()) and not (loader.ours and _is_ours(module, kind)):
        raise ModelFileError(
            f"{path} holds a {full} as {name}, which is no type of eigenscape's models; it was not loaded"
        )
    missing = [key for key in loader.needs if key not in node]
    if missing:
        raise ModelFileError(
            f"{path} is damaged: a {full} in its list of contents has no {' and no '.join(missing)}"
        )
    return full


def _is_ours(module: str, name: str) -> bool:
    """Whether a class of that name is defined, not merely imported, in one of the rooms that models come
    from."""
    if not any(module == f"eigenscape.{room}" or module.startswith(f"eigenscape.{room}.") for room in _ROOMS):
        return False
    try:
        found = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        return False
    return isinstance(found, type) and found.__module__ == module and found.__name__ == name


def _note_member(node: dict[str, Any], stored: dict[Any, str], archive: zipfile.ZipFile, path: Path) -> None:
    """Put the member that an array is in into ``stored``. Parts of one number are loaded once, all others
    each time they come."""
    if node["__loader__"] not in ("NdArrayNode", "SparseMatrixNode") or "file" not in node:
        return
    name, number = node["file"], node.get("__id__")
    suffix = ".npy" if node["__loader__"] == "NdArrayNode" else ".npz"
    if not isinstance(name, str) or name not in archive.NameToInfo or not name.endswith(suffix):
        raise ModelFileError(
            f"{path} is damaged: an array is said to be in {one_line(str(name))}, which is no {suffix} in it"
        )
    known = isinstance(number, int) and not isinstance(number, bool)
    stored[(number, name) if known else len(stored)] = name


def _check_room(archive: zipfile.ZipFile, names: list[str], path: Path) -> None:
    """Arrays are stored as they are and take no more room than the file; sparse matrices are packed, and have
    to fit in memory."""
    whole = sum(member.file_size for member in archive.infolist())
    named = sum(archive.getinfo(name).file_size for name in names)
    if named > whole:
        raise ModelFileError(
            f"{path} would load {named} bytes of arrays from {whole}; models hold each array once, so this is none of ours"
        )
    unpacked = 0
    for name in set(names):
        if name.endswith(".npz"):
            unpacked += _unpacked(archive, name, path)
        else:
            with archive.open(name) as member:
                if member.read(len(_ARRAY)) != _ARRAY:
                    raise ModelFileError(f"{path} is damaged: {one_line(name)} is no array")
    if not fits(unpacked, share=0.5):
        raise ModelFileError(
            f"{path} holds matrices that would unpack to {format_bytes(unpacked)}, more than there is memory for"
        )


def _unpacked(archive: zipfile.ZipFile, name: str, path: Path) -> int:
    """The size that a sparse matrix, a packed archive inside the archive, says it will have."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive.read(name))) as packed:
            return sum(member.file_size for member in packed.infolist())
    except UNREADABLE as error:
        raise ModelFileError(f"{path} is damaged in {one_line(name)}") from error
