"""The content of a model file: a JSON tree of values and registered classes, and its arrays as npy members.

None, booleans, integers, finite numbers and texts are themselves; every other node is a JSON object with a
key that names its kind (docs/model-format.md). Encoding leaves out what ``transform`` does not need. Decoding
creates objects without calling their constructors, and checks the fields and shapes that classes declare.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import zipfile
from collections.abc import Callable
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from eigenscape._numbers import check_indices
from eigenscape._omitted import OmittedArray
from eigenscape.app.io.archive import HEADER, TREE, write_member
from eigenscape.app.io.consistency import check_object
from eigenscape.app.io.guards import npy_bytes
from eigenscape.app.methods import extensions
from eigenscape.exceptions import ModelFileError
from eigenscape.graph.row_index import RowIndex

#: Modules and packages of eigenscape whose classes a model may contain.
PACKAGES = (
    *("_omitted", "dictionary", "eigenfunctions", "estimators", "graph", "kernels", "methods", "normalize"),
    *("operators", "options", "pieces", "solvers"),
)
_PLAIN = (type(None), bool, int, float, str)
_NUMBERS = [f"{kind}{bits}" for kind in ("int", "uint", "float") for bits in (8, 16, 32, 64)]
_SCALARS = {name: np.dtype(name).type for name in ("bool", "str", *_NUMBERS) if name != "float8"}
_SPARSE: dict[str, Any] = {
    cls.__name__: cls for cls in (sparse.csr_array, sparse.csr_matrix, sparse.csc_array, sparse.csc_matrix)
}
#: Parameters and public attributes of a scaler, the same in all versions of scikit-learn.
_SCALER = (
    *("with_mean", "with_std", "mean_", "scale_", "var_"),
    *("n_samples_seen_", "n_features_in_", "feature_names_in_"),
)

#: Attributes that contain rows of the training data. In a model of a precomputed matrix these are rows of
#: that matrix, which ``transform`` does not use: new samples bring their own.
_ROWS = ("X", "table", "points", "dictionary_")
#: Square arrays that ``transform`` does not use, in any model.
_SQUARE = ("negative",)
#: Attributes that are not stored: callbacks of scikit-learn are objects of users.
_CALLBACKS = "_skl_callbacks"
#: Streams of training data are stored as None: they may exceed memory, and may be arbitrary objects.
_STREAMS = ("chunks",)


def registered_class(name: str) -> type | None:
    """Return the class with a full name if models may contain it: of eigenscape, or an estimator in use."""
    module, _, short = name.rpartition(".")
    package, *path = module.split(".")
    if package != "eigenscape":
        return next((cls for cls in extensions() if f"{cls.__module__}.{cls.__qualname__}" == name), None)
    if not path or path[0] not in PACKAGES:
        return None
    try:
        value = getattr(import_module(module), short, None)
    except (ImportError, ValueError):
        return None
    is_own = isinstance(value, type) and (value.__module__, value.__qualname__) == (module, short)
    return value if is_own else None


class Encoder:
    """Write a model to an archive without the arrays that ``transform`` does not use.

    Objects and arrays that are shared are stored once, and so are equal arrays in single precision.

    Parameters
    ----------
    archive : ZipFile
        The archive, open for writing.
    precomputed : bool
        Whether the model was fitted on a precomputed matrix, whose rows are omitted.
    omitted : tuple of (ndarray or None), default=()
        Further arrays to omit.
    """

    def __init__(
        self, archive: zipfile.ZipFile, precomputed: bool, omitted: tuple[np.ndarray | None, ...] = ()
    ) -> None:
        self._archive = archive
        self._omitted_names = (*_ROWS, *_SQUARE) if precomputed else _SQUARE
        self._omitted = {id(array): OmittedArray(array.shape) for array in omitted if array is not None}
        #: Values and the nodes that refer to them, by id; the values are kept so that ids stay unique.
        self._known: dict[int, tuple[Any, Any]] = {}
        self._members: dict[bytes, str] = {}  # of arrays in single precision, by their hash
        self._field = ("", "")  # class and name of the attribute that is encoded

    def write(self, model: BaseEstimator, scaler: StandardScaler | None) -> None:
        """Write a model, and the scaler before it."""
        fields = {} if scaler is None else vars(scaler)
        state = {name: fields[name] for name in _SCALER if name in fields} or None
        tree = {"scaler": self(state), "model": self(model)}
        write_member(self._archive, TREE, json.dumps(tree, separators=(",", ":")).encode())

    def __call__(self, value: Any) -> Any:
        """Return the node of a value."""
        value = self._omitted.get(id(value), value)
        if type(value) in _PLAIN:
            is_finite = not isinstance(value, float) or math.isfinite(value)
            return value if is_finite else {"float": repr(value)}
        if isinstance(value, dict):
            return {"dict": [[self(key), self(item)] for key, item in value.items()]}
        if type(value) in (list, tuple, set):
            return {type(value).__name__: [self(item) for item in value]}
        if isinstance(value, np.generic) and np.dtype(type(value)).name in _SCALARS:
            return {"scalar": np.dtype(type(value)).name, "value": self(value.item())}
        if isinstance(value, type) and value in _SCALARS.values():
            return {"type": np.dtype(value).name}
        if id(value) not in self._known:
            number = len(self._known)
            self._known[id(value)] = (value, {"same": number})
            node = self._encode(value)
            if "array" in node:
                self._known[id(value)] = (value, node)
                return node
            return node | {"id": number}
        return self._known[id(value)][1]

    def _encode(self, value: Any) -> dict[str, Any]:
        """Return the node of an array or an object; raise ModelFileError if it cannot be serialized."""
        if isinstance(value, np.ndarray):
            array = np.asarray(value)
            if array.dtype.hasobject:
                return {"objects": [self(item) for item in array.ravel()], "shape": [*array.shape]}
            return {"array": self._store(array, shared=array.dtype == np.float32)}
        if type(value).__name__ in _SPARSE and sparse.issparse(value):
            parts = {name: self._store(getattr(value, name)) for name in ("data", "indices", "indptr")}
            shape = [int(n) for n in value.shape]  # type: ignore[attr-defined]
            return {"sparse": type(value).__name__, "shape": shape, **parts}
        if type(value) is np.random.RandomState:
            return {"random_state": self(value.get_state(legacy=False))}
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        if registered_class(name) is not type(value):
            raise self._refusal(value)
        return {"class": name, "fields": self._encode_fields(value)}

    def _encode_fields(self, value: Any) -> dict[str, Any]:
        """Return the nodes of the attributes of an object, without those that are computed from others."""
        if isinstance(value, tuple):
            return {name: self(item) for name, item in zip(value._fields, value, strict=True)}  # type: ignore[attr-defined]
        state = {name: item for name, item in (value.__getstate__() or {}).items() if name != _CALLBACKS}
        kept: dict[str, Any] = {}
        for name, stored in state.items():
            item = self._omitted.get(id(stored), stored)
            if isinstance(item, np.ndarray) and item.ndim == 2 and name in self._omitted_names:
                item = OmittedArray(item.shape)
            kept[name] = None if name in _STREAMS else item
        if isinstance(value, RowIndex) and isinstance(kept["X"], OmittedArray):
            kept = {"X": kept["X"], "ranked_hashes": value.ranked_hashes}
        elif not any(isinstance(item, OmittedArray) for item in kept.values()):
            kept = {name: item for name, item in kept.items() if not _is_computed(type(value), name, item)}
        nodes = {}
        for name, item in kept.items():
            self._field = (type(value).__name__, name)
            nodes[name] = self(item)
        return nodes

    def _refusal(self, value: Any) -> ModelFileError:
        """Return the error for an object of a user, such as a function, in the attribute that is encoded."""
        (owner, name), shown = self._field, getattr(value, "__name__", type(value).__name__)
        kind, remedy = "objects", f"Set {name} to one that eigenscape provides"
        if callable(value) or hasattr(value, "bind"):
            kind = "callables" if callable(value) else "kernels"
            remedy += f", compute the matrix and use {name}='precomputed'"
        return ModelFileError(
            f"{owner} was fitted with {name}={shown}; user-defined {kind} cannot be serialized. {remedy}, or"
            " pickle the model"
        )

    def _store(self, array: np.ndarray, shared: bool = False) -> str:
        """Write an array and return the name of its member; equal shared arrays have one member."""
        content = io.BytesIO()
        np.lib.format.write_array(content, array, allow_pickle=False)
        new = f"{len(self._archive.namelist())}.npy"
        digest = hashlib.blake2b(content.getbuffer(), digest_size=16).digest() if shared else b""
        name = self._members.setdefault(digest, new) if shared else new
        if name == new:
            write_member(self._archive, name, content.getvalue())
        return name


def _is_computed(cls: type, name: str, value: Any) -> bool:
    """Return whether an attribute is an array or an object that a cached property computes again."""
    return isinstance(getattr(cls, name, None), cached_property) and not isinstance(value, bool | int | float)


class Decoder:
    """Read the model of an archive whose checksums have been verified.

    Every array is allocated once, and only if its member has as many bytes as it declares.
    """

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive
        self._known: dict[Any, Any] = {}  # objects and sparse matrices by number
        self._arrays: dict[str, np.ndarray] = {}
        self._used: set[str] = set()
        self._kinds: dict[str, Callable[[Any], Any]] = {
            "float": lambda node: float(node["float"]),
            "list": lambda node: [self(item) for item in node["list"]],
            "tuple": lambda node: tuple(self(item) for item in node["tuple"]),
            "set": lambda node: {self(item) for item in node["set"]},
            "dict": lambda node: {self(key): self(item) for key, item in node["dict"]},
            "scalar": lambda node: _SCALARS[node["scalar"]](self(node["value"])),
            "type": lambda node: _SCALARS[node["type"]],
            "same": lambda node: self._known[node["same"]],
            "array": self._array,
            "objects": self._objects,
            "sparse": self._sparse,
            "random_state": self._random_state,
            "class": self._object,
        }

    def read(self) -> Any:
        """Return the model of the archive: an estimator, or a pipeline of a scaler and an estimator."""
        tree = json.loads(self._archive.read(TREE))
        state, model = self(tree["scaler"]), self(tree["model"])
        unused = {*self._archive.namelist()} - {HEADER, TREE} - self._used
        if unused:
            raise ValueError(f"{min(unused)} is not used by the model")
        if state is None:
            return model
        scaler = StandardScaler()
        vars(scaler).update({name: state[name] for name in _SCALER if name in state})
        check_object(scaler)
        return Pipeline([("standardize", scaler), ("map", model)])

    def __call__(self, node: Any) -> Any:
        """Return the value of a node."""
        if type(node) in _PLAIN:
            return node
        kind = next(filter(self._kinds.__contains__, node), None) if isinstance(node, dict) else None
        if kind is None:
            shown = ", ".join(node) if isinstance(node, dict) else type(node).__name__
            raise ValueError(f"it contains a node ({shown}) that models of eigenscape do not use")
        value = self._kinds[kind](node)
        if "id" in node:
            self._known[node["id"]] = value
        return value

    def _object(self, node: dict[str, Any]) -> Any:
        name = str(node["class"])
        cls = registered_class(name)
        if cls is None:
            raise ValueError(f"it contains {name}, a type that models of eigenscape do not use")
        fields = {name: self(item) for name, item in node["fields"].items()}
        if issubclass(cls, tuple):
            return cls(**fields)
        value = object.__new__(cls)
        vars(value).update(fields)
        check_object(value)
        return value

    def _array(self, node: dict[str, Any]) -> np.ndarray:
        name = node["array"]
        if name not in self._arrays:
            self._arrays[name] = self._load(name)
        return self._arrays[name]

    def _load(self, name: str) -> np.ndarray:
        """Load an array, once: a sparse matrix may copy its arrays."""
        if name in self._used:
            raise ValueError(f"{name} is used twice")
        self._used.add(name)
        size = self._archive.getinfo(name).file_size
        with self._archive.open(name) as member:
            if npy_bytes(member) != size:
                raise ValueError(f"{name} has {size} bytes, not as many as its array declares")
            member.seek(0)
            return np.lib.format.read_array(member, allow_pickle=False)

    def _objects(self, node: dict[str, Any]) -> np.ndarray:
        array = np.empty(len(node["objects"]), dtype=object)
        for i, item in enumerate(node["objects"]):
            array[i] = self(item)
        return array.reshape(node["shape"])

    def _sparse(self, node: dict[str, Any]) -> Any:
        parts = tuple(self._load(node[name]) for name in ("data", "indices", "indptr"))
        matrix = _SPARSE[node["sparse"]](parts, shape=tuple(node["shape"]))
        check_indices(matrix)
        return matrix

    def _random_state(self, node: dict[str, Any]) -> np.random.RandomState:
        state = self(node["random_state"])
        if not 0 <= state["state"]["pos"] <= 624:  # NumPy does not check it
            raise ValueError(f"a random state has the position {state['state']['pos']}")
        random_state = np.random.RandomState(0)
        random_state.set_state(state)
        return random_state
