"""The files of real data: what must be in them, looked at before any work."""

from __future__ import annotations

import warnings
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from eigenscape.exceptions import InputFileError

#: Arrays of each file: shape (a letter is a length that must be the same wherever it stands) and kind,
#: numbers or text.
KNOWN: dict[str, dict[str, tuple[tuple[int | str, ...], str]]] = {
    "brown_bigrams": {"X": (("n", "d"), "numbers"), "words": (("n",), "text"), "tag": (("n",), "text")},
    "ionosphere": {"X": (("n", "d"), "numbers")},
    "isomap_faces_32x32": {
        "X": (("n", 1024), "numbers"),
        **dict.fromkeys(("pan_z", "tilt_z", "light_z"), (("n",), "numbers")),
    },
    "mnist": {"X": (("n", 784), "numbers"), "y": (("n",), "numbers")},
    "nips12": {
        "data": (("k",), "numbers"),
        "indices": (("k",), "numbers"),
        "indptr": (("r",), "numbers"),
        "shape": ((2,), "numbers"),
        "words": (("n",), "text"),
        "label": (("m",), "numbers"),
        "label_names": (("l",), "text"),
    },
    "timit_sa1_stft": {"X": (("n", "d"), "numbers"), "phone_class": (("n",), "text")},
}
_LEAST = 113  # rows: what bengio-3 needs, and the others about as many
_DAMAGED = (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error)


def check_folder(folder: Path, needed: Iterable[str]) -> None:
    """Refuse files that are not what their names say; warn where the folder holds none that any experiment
    reads.

    Only the headers are read: arrays of gigabytes take no time.
    """
    if not folder.is_dir():
        raise InputFileError(f"there is no folder of data {folder}; leave it away to take stand-ins")
    if not any((folder / f"{name}.npz").is_file() for name in KNOWN):
        names = ", ".join(f"{name}.npz" for name in KNOWN)
        warnings.warn(f"the folder of data {folder} holds none of {names}: stand-ins are taken", stacklevel=3)
    for name in needed:
        path = folder / f"{name}.npz"
        if path.is_file():
            _check(path, KNOWN[name])


def read(path: Path) -> dict[str, np.ndarray]:
    """All arrays of a file."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            return dict(archive)
    except _DAMAGED as error:
        raise InputFileError(_refusal(path, f"cannot be read ({error})")) from error


def _check(path: Path, wanted: dict[str, tuple[tuple[int | str, ...], str]]) -> None:
    try:
        found = _headers(path)
    except _DAMAGED as error:
        raise InputFileError(_refusal(path, f"cannot be read ({error})")) from error
    lengths: dict[str, int] = {}
    for key, (shape, kind) in wanted.items():
        if key not in found:
            raise InputFileError(
                _refusal(path, f"has no array {key!r}, only {', '.join(sorted(found)) or 'none'}")
            )
        actual, dtype = found[key]
        if dtype.kind not in ("biuf" if kind == "numbers" else "U"):
            raise InputFileError(_refusal(path, f"{key!r} holds {dtype}, not {kind}"))
        fits = len(actual) == len(shape) and all(
            extent == (asked if isinstance(asked, int) else lengths.setdefault(asked, extent))
            for extent, asked in zip(actual, shape, strict=True)
        )
        if not fits:
            meant = ", ".join(
                str(asked if isinstance(asked, int) else lengths.get(asked, asked)) for asked in shape
            )
            raise InputFileError(_refusal(path, f"{key!r} has shape {actual}, not ({meant})"))
    if lengths["n"] < _LEAST:
        raise InputFileError(_refusal(path, f"has {lengths['n']} rows, not {_LEAST} or more"))


def _headers(path: Path) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    found = {}
    with zipfile.ZipFile(path) as archive:
        for member in archive.namelist():
            with archive.open(member) as file:
                version = np.lib.format.read_magic(file)
                header = (
                    np.lib.format.read_array_header_1_0
                    if version == (1, 0)
                    else np.lib.format.read_array_header_2_0
                )
                shape, _, dtype = header(file)
            found[member.removesuffix(".npy")] = shape, dtype
    return found


def _refusal(path: Path, what: str) -> str:
    return f"{path} {what}; put the right file there, or take it away to run on a stand-in"
