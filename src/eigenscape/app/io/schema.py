"""Schema of a model file: the type and loader of each object, verified before anything is loaded."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from eigenscape._format import format_bytes
from eigenscape._memory import fits
from eigenscape._numbers import check_indices
from eigenscape.app.io.archive import HEADER, SCHEMA, UNREADABLE, one_line
from eigenscape.app.methods import extensions
from eigenscape.exceptions import ModelFileError


def _by_module(*classes: type) -> dict[str, set[str]]:
    """Return the names of classes by module."""
    modules: dict[str, set[str]] = {}
    for cls in classes:
        modules.setdefault(cls.__module__, set()).add(cls.__name__)
    return modules


_SCALARS = {"str", "int", "float", "bool", "NoneType"}
_CONTAINERS = {"list", "tuple", "dict", "set"}
_NUMBERS = {"bool", "bool_", "str_", "intp", "float16", "float32", "float64", "longdouble"}
_NUMBERS |= {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
_SPARSE = _by_module(sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix)
#: Modules and packages of eigenscape whose classes a model may contain.
_IN_MODELS = {
    "_omitted",
    "dictionary",
    "eigenfunctions",
    "estimators",
    "graph",
    "kernels",
    "methods",
    "normalize",
    "operators",
    "options",
    "pieces",
    "solvers",
}
#: First bytes of an npy file.
_NPY_MAGIC = b"\x93NUMPY"


class _Loader(NamedTuple):
    """A loader of skops: the types it creates, by module, and the entries that it requires."""

    types: dict[str, set[str]]
    required: tuple[str, ...] = ("content",)
    own_classes: bool = False  # whether it also creates classes of eigenscape


#: The permitted loaders. They call nothing that is named in a file, except the types listed here.
_LOADERS = {
    "ObjectNode": _Loader({}, (), own_classes=True),
    "TupleNode": _Loader({"builtins": {"tuple"}}, own_classes=True),
    "JsonNode": _Loader({"builtins": _SCALARS}),
    "DictNode": _Loader({"builtins": {"dict"}}, ("content", "key_types")),
    "ListNode": _Loader({"builtins": {"list"}}),
    "SetNode": _Loader({"builtins": {"set"}}),
    "NdArrayNode": _Loader({"numpy": _NUMBERS | {"ndarray"}}, ("type",)),
    "SparseMatrixNode": _Loader(_SPARSE, ("type", "file")),
    "TypeNode": _Loader({"builtins": _SCALARS | _CONTAINERS, "numpy": _NUMBERS}, ()),
    "DTypeNode": _Loader({"numpy": {"dtype"}}),
    "RandomStateNode": _Loader(_by_module(np.random.RandomState)),
}


def read_schema(archive: zipfile.ZipFile, path: Path) -> dict[str, Any]:
    """Return the schema of a model file: a tree of nodes, each an object with its type and loader."""
    try:
        schema = json.loads(archive.read(SCHEMA))
    except UNREADABLE as error:
        raise ModelFileError(f"{path} is damaged: its schema cannot be read") from error
    is_schema = isinstance(schema, dict) and "__loader__" in schema
    if not is_schema or not isinstance(schema.get("protocol"), int):
        raise ModelFileError(f"{path} is damaged: its schema has no loader or no protocol number")
    return schema


def nodes_of(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield all nodes of a schema."""
    pending: list[Any] = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending.extend(node)
        elif isinstance(node, dict):
            if "__loader__" in node:
                yield node
            pending.extend(node.values())


def check_contents(schema: dict[str, Any], archive: zipfile.ZipFile, path: Path) -> list[str]:
    """Return the types in a model file.

    Raises
    ------
    ModelFileError
        If a type is not one that models of eigenscape consist of, or the arrays need too much memory.
    """
    types: set[str] = set()
    members: dict[Any, str] = {}
    for node in nodes_of(schema):
        types.add(_check_type(node, path))
        _record_member(node, members, archive, path)
    unused = {member.filename for member in archive.infolist()} - {*members.values(), SCHEMA, HEADER}
    if unused:
        raise ModelFileError(
            f"{path} contains {one_line(min(unused))}, which its schema does not refer to; eigenscape did not"
            " write it"
        )
    _check_memory(archive, list(members.values()), path)
    return sorted(types)


def _check_type(node: dict[str, Any], path: Path) -> str:
    """Return the full name of the type of a node; raise unless its loader and type are permitted."""
    loader_name, module, name = node.get("__loader__"), node.get("__module__"), node.get("__class__")
    loader = _LOADERS.get(loader_name) if isinstance(loader_name, str) else None
    full_name = one_line(f"{module}.{name}")
    if loader is None or not isinstance(module, str) or not isinstance(name, str):
        raise ModelFileError(
            f"{path} contains {full_name} with the loader {one_line(str(loader_name))}, which models of"
            " eigenscape do not use; it was not loaded"
        )
    if name not in loader.types.get(module, ()) and not (loader.own_classes and _is_own_class(module, name)):
        raise ModelFileError(
            f"{path} contains {full_name} with the loader {loader_name}, a type that models of eigenscape do"
            " not use; it was not loaded"
        )
    missing = [key for key in loader.required if key not in node]
    if missing:
        raise ModelFileError(
            f"{path} is damaged: the entry of a {full_name} in its schema has no {' and no '.join(missing)}"
        )
    return full_name


def _is_own_class(module: str, name: str) -> bool:
    """Return whether models contain a class: of a module of eigenscape, or an estimator that is in use."""
    if any((cls.__module__, cls.__qualname__) == (module, name) for cls in extensions()):
        return True
    package, *path = module.split(".")
    if package != "eigenscape" or not path or path[0] not in _IN_MODELS:
        return False
    try:
        value = getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError):
        return False
    return isinstance(value, type) and value.__module__ == module and value.__name__ == name


def _record_member(
    node: dict[str, Any], members: dict[Any, str], archive: zipfile.ZipFile, path: Path
) -> None:
    """Add the archive member of an array to ``members``: once per id, and each time if there is no id."""
    if node["__loader__"] not in ("NdArrayNode", "SparseMatrixNode") or "file" not in node:
        return
    name, number = node["file"], node.get("__id__")
    suffix = ".npy" if node["__loader__"] == "NdArrayNode" else ".npz"
    if not isinstance(name, str) or name not in archive.NameToInfo or not name.endswith(suffix):
        raise ModelFileError(
            f"{path} is damaged: the schema refers to {one_line(str(name))}, which is not a {suffix} member"
        )
    has_id = isinstance(number, int) and not isinstance(number, bool)
    members[(number, name) if has_id else len(members)] = name


def _check_memory(archive: zipfile.ZipFile, names: list[str], path: Path) -> None:
    """Raise if arrays need more memory than the file has bytes, or sparse matrices more than is free."""
    stored = sum(member.file_size for member in archive.infolist())
    loaded = sum(archive.getinfo(name).file_size for name in names)
    if loaded > stored:
        raise ModelFileError(
            f"{path} would load {loaded} bytes of arrays from {stored}; models contain each array once, so"
            " eigenscape did not write it"
        )
    decompressed = 0
    for name in set(names):
        if name.endswith(".npz"):  # sparse matrices are compressed
            decompressed += _decompressed_bytes(archive, name, path)
        else:
            with archive.open(name) as member:
                if member.read(len(_NPY_MAGIC)) != _NPY_MAGIC:
                    raise ModelFileError(f"{path} is damaged: {one_line(name)} is not an array")
    if not fits(decompressed, share=0.5):
        raise ModelFileError(
            f"{path} contains sparse matrices of {format_bytes(decompressed)}, which do not fit in memory"
        )
    for name in set(names):
        if name.endswith(".npz"):
            _check_sparse(archive, name, path)


def _check_sparse(archive: zipfile.ZipFile, name: str, path: Path) -> None:
    """Raise if a sparse matrix has indices out of range, which compiled functions do not check."""
    try:
        check_indices(sparse.load_npz(io.BytesIO(archive.read(name))))
    except Exception as error:  # a consistent file with wrong content can cause any error
        raise ModelFileError(f"{path} is damaged in {one_line(name)}: {one_line(str(error))}") from error


def _decompressed_bytes(archive: zipfile.ZipFile, name: str, path: Path) -> int:
    """Return the declared size of a sparse matrix, which is a compressed archive inside the archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive.read(name))) as matrix:
            return sum(member.file_size for member in matrix.infolist())
    except UNREADABLE as error:
        raise ModelFileError(f"{path} is damaged in {one_line(name)}") from error
