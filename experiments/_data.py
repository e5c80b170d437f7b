"""Data files of the papers: required arrays, and checks before an experiment starts."""

from __future__ import annotations

import warnings
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from eigenscape.exceptions import InputFileError

#: Arrays of each file: shape and kind ("numbers" or "text"). A letter in a shape is a length that must be the
#: same in all arrays of the file.
DATA_FILES: dict[str, dict[str, tuple[tuple[int | str, ...], str]]] = {
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
_MIN_ROWS = 113  # needed by bengio-3; the other experiments need about as many
_READ_ERRORS = (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error)


def check_folder(folder: Path, needed: Iterable[str]) -> None:
    """Raise an error if a needed file has wrong contents; warn if the folder has no known file.

    Only the headers of the arrays are read, which is fast for large files too.
    """
    if not folder.is_dir():
        raise InputFileError(f"the data folder {folder} does not exist; omit --data to use stand-ins")
    if not any((folder / f"{name}.npz").is_file() for name in DATA_FILES):
        names = ", ".join(f"{name}.npz" for name in DATA_FILES)
        warnings.warn(f"the data folder {folder} contains none of {names}; stand-ins are used", stacklevel=3)
    for name in needed:
        path = folder / f"{name}.npz"
        if path.is_file():
            check_arrays(path, DATA_FILES[name])


def read(path: Path) -> dict[str, np.ndarray]:
    """Return all arrays of an ``.npz`` file."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            return dict(archive)
    except _READ_ERRORS as error:
        raise InputFileError(_error_message(path, f"cannot be read ({error})")) from error


def check_arrays(path: Path, required: dict[str, tuple[tuple[int | str, ...], str]]) -> None:
    """Raise an error if an array is missing or has a wrong shape or type."""
    try:
        headers = _headers(path)
    except _READ_ERRORS as error:
        raise InputFileError(_error_message(path, f"cannot be read ({error})")) from error
    lengths: dict[str, int] = {}
    for key, (shape, kind) in required.items():
        if key not in headers:
            raise InputFileError(
                _error_message(path, f"has no array {key!r}, only {', '.join(sorted(headers)) or 'none'}")
            )
        actual, dtype = headers[key]
        if dtype.kind not in ("biuf" if kind == "numbers" else "U"):
            raise InputFileError(_error_message(path, f"{key!r} holds {dtype}, not {kind}"))
        fits = len(actual) == len(shape) and all(
            extent == (length if isinstance(length, int) else lengths.setdefault(length, extent))
            for extent, length in zip(actual, shape, strict=True)
        )
        if not fits:
            expected = ", ".join(
                str(length if isinstance(length, int) else lengths.get(length, length)) for length in shape
            )
            raise InputFileError(_error_message(path, f"{key!r} has shape {actual}, not ({expected})"))
    if lengths["n"] < _MIN_ROWS:
        raise InputFileError(_error_message(path, f"has {lengths['n']} rows, needs at least {_MIN_ROWS}"))


def _headers(path: Path) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    """Return shape and dtype of each array of an ``.npz`` file without reading the arrays."""
    headers = {}
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
            headers[member.removesuffix(".npy")] = shape, dtype
    return headers


def _error_message(path: Path, problem: str) -> str:
    """Return the text of an error about a data file."""
    return f"{path} {problem}; replace the file, or remove it to use a stand-in"
