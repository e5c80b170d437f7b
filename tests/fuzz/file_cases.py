"""One case of the file fuzzer: a mutated file, and what its reader makes of it."""

from __future__ import annotations

import io
import os
import shutil
import time
import warnings
import zipfile
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from fuzz import reader_process
from fuzz.comparing import differences, in_memory
from fuzz.mutations import BINARY, TEXT, mutate
from fuzz.seeds import COMPRESS, SEEDS, rows

import eigenscape
from eigenscape import streams
from eigenscape.app.io import child, text
from eigenscape.exceptions import InputFileError, NotEnoughMemoryError

#: Errors that a reader may raise.
OWN = (InputFileError, NotEnoughMemoryError)
_TEXTUAL = ("csv", "tsv", "txt", "edges", "distances", "mtx", *COMPRESS)
#: Libraries of formats that making the seeds does not load.
_MODULES = {"zarr": "zarr", "images": "PIL.Image", "h5ad": "anndata"}
SUFFIX = {"distances": "csv", "model": "eigenscape", "images": "images"}


@cache
def _seeds(kind: str) -> list[bytes]:
    return SEEDS[kind]()


@cache
def _plain(kind: str) -> list[bytes]:
    return SEEDS["csv"]() if kind in COMPRESS else []


def make(kind: str, seed: int, number: int) -> tuple[bytes, bytes]:
    """Return a valid file and its mutation, the same for the same arguments."""
    rng = np.random.default_rng([seed, sorted(SEEDS).index(kind), number])
    mutations = TEXT if kind in _TEXTUAL else BINARY
    if kind in COMPRESS and rng.random() < 0.5:  # the content is changed, and the compression is valid
        plain = _plain(kind)
        return b"", COMPRESS[kind](mutate(plain[int(rng.integers(len(plain)))], rng, plain, TEXT))
    seeds = _seeds(kind)
    original = seeds[int(rng.integers(len(seeds)))]
    if kind in ("zarr", "images") or (kind in ("npz", "model") and rng.random() < 0.5):
        return original, _change_member(original, rng)
    return original, mutate(original, rng, seeds, mutations)


def _change_member(original: bytes, rng: np.random.Generator) -> bytes:
    """Change one member of an archive, with valid checksums."""
    with zipfile.ZipFile(io.BytesIO(original)) as content:
        members = {name: content.read(name) for name in content.namelist()}
    name = list(members)[int(rng.integers(len(members)))]
    mutations = TEXT if name.endswith("json") or name.startswith(".z") else BINARY
    members[name] = mutate(members[name], rng, list(members.values()), mutations)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as content:
        for name, data in members.items():
            content.writestr(name, data)
    return buffer.getvalue()


def run(kind: str, seed: int, number: int, folder: Path) -> str:
    """Return the outcome of a case: "read", "refused", "exception: ..." or "difference: ..."."""
    if kind in _FAULTS:
        return _FAULTS[kind]()
    original, data = make(kind, seed, number)
    path = folder / f"f.{SUFFIX.get(kind, kind)}"
    write(path, data, kind)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return (
                load_model(path, original, data)
                if kind == "model"
                else read_twice(path, kind, ("keep", "error", "drop")[number % 3])
            )
        except Exception as error:
            return f"exception: {type(error).__name__}: {' '.join(str(error).split())[:200]}"


def _hang() -> str:
    time.sleep(600)
    return "read"


#: Faults on purpose, for the test of the harness.
_FAULTS: dict[str, Callable[[], str]] = {
    "_abort": lambda: os.abort(),
    "_hang": _hang,
    "_raise": lambda: "exception: ValueError",
}


def write(path: Path, data: bytes, kind: str) -> None:
    if kind not in ("zarr", "images"):
        path.write_bytes(data)
        return
    shutil.rmtree(path, ignore_errors=True)
    with zipfile.ZipFile(io.BytesIO(data)) as content:
        content.extractall(path)


def read_twice(path: Path, kind: str, missing: str) -> str:
    """Read a file whole and in chunks; both must give the same table, or both must be refused."""
    options: dict[str, Any] = {"missing": missing, "kind": "distances" if kind == "distances" else None}
    try:
        whole = eigenscape.read(path, **options)
    except OWN as error:
        whole = error
    if kind in ("h5ad", "images", "edges", "distances"):  # read whole in both cases
        return "refused" if isinstance(whole, Exception) else "read"
    try:
        streamed = in_memory(eigenscape.read(path, **options, stream=True))
    except OWN as error:
        streamed = error
    if isinstance(whole, Exception) and isinstance(streamed, Exception):
        return "refused"
    if isinstance(whole, Exception) or isinstance(streamed, Exception):
        first, second = (str(t)[:150] if isinstance(t, Exception) else "read" for t in (whole, streamed))
        return f"difference: whole {first!r}, streamed {second!r}"
    different = differences(streamed, whole)
    return f"difference: {', '.join(different)}" if different else "read"


@cache
def _places(original: bytes, folder: Path) -> bytes:
    path = folder / "original.eigenscape"
    path.write_bytes(original)
    return eigenscape.load(path).transform(rows()[:7]).tobytes()


def load_model(path: Path, original: bytes, data: bytes) -> str:
    """Load a model and place points. A damaged model is refused, or unchanged in what it computes.

    A changed model with valid checksums may place points elsewhere or raise any error, but not crash.
    """
    try:
        model = eigenscape.load(path)
    except OWN:
        return "refused"
    is_crafted = not _has_same_checksums(original, data)
    try:
        places = model.transform(rows()[:7])
    except Exception:
        if is_crafted:
            return "refused"
        raise
    if not is_crafted and places.tobytes() != _places(original, path.parent):
        return "difference: a damaged model computes other coordinates"
    return "read"


def _has_same_checksums(original: bytes, data: bytes) -> bool:
    checksums = []
    for content in (original, data):
        with zipfile.ZipFile(io.BytesIO(content)) as members:
            checksums.append({member.filename: member.CRC for member in members.infolist()})
    return checksums[0] == checksums[1]


def prepare(kinds: Iterable[str]) -> None:
    """Let streams have several chunks, and keep the child process of readers for the next file."""
    import resource

    text.BLOCK_BYTES = 256
    streams.CHUNK_BYTES = 8 * 27
    child._SECONDS = 10.0
    child._start = reader_process.start  # type: ignore[assignment]
    for module in (
        "eigenscape.app.io.reading",
        "eigenscape.app.io.text",
        "pyarrow.csv",
        "pyarrow.compute",
    ):
        import_module(module)
    for kind in set(kinds) & set(SEEDS):  # libraries are loaded before the first case, whose time is limited
        _seeds(kind)
        if kind in _MODULES:
            import_module(_MODULES[kind])
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (8 * 2**30, hard))
