"""Folders of images as rows of grey levels."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np

from eigenscape._extras import optional_import
from eigenscape._memory import require
from eigenscape.app.io.table import IMAGES, Table
from eigenscape.exceptions import InputFileError, NotEnoughMemoryError


def read_images(folder: Path, size: int | tuple[int, int] | None) -> Table:
    """Read all images of a folder as grey levels from 0 to 1, in natural order of the names (2 before 10).

    The label of an image in a subfolder is the name of the subfolder.
    """
    files = sorted(
        (file for file in [*folder.glob("*"), *folder.glob("*/*")] if file.suffix.lower() in IMAGES),
        key=_natural_order,
    )
    if not files:
        raise InputFileError(
            f"{folder} is a directory without images or parquet files; use the path of a file"
        )
    shape = None if size is None else (size, size) if isinstance(size, (int, np.integer)) else tuple(size)
    if shape is not None and (len(shape) != 2 or min(shape) < 1):
        raise ValueError(f"size={size!r} must be a positive number of pixels, or two: (height, width)")
    first = read_image(files[0], shape)
    require(
        8 * first.size * len(files),
        f"reading {len(files)} images of {first.shape[0]} x {first.shape[1]}",
        "use a smaller size",
    )
    array = np.empty((len(files), first.size))
    for row, file in zip(array, files, strict=True):
        grey = read_image(file, shape)
        if grey.shape != first.shape:
            raise InputFileError(
                f"{file} is {grey.shape[0]} x {grey.shape[1]} and {files[0].name} is {first.shape[0]} x"
                f" {first.shape[1]}; resize them with size=(height, width) (--size)"
            )
        row[:] = grey.ravel()
    ids = np.array([file.relative_to(folder).as_posix() for file in files], dtype=object)
    parents = [file.parent.name if file.parent != folder else "" for file in files]
    labels = np.array(parents, dtype=object) if any(parents) else None
    names = tuple(f"pixel_{i}_{j}" for i in range(first.shape[0]) for j in range(first.shape[1]))
    return Table(array, labels, ids, names, {}, "images", (first.shape[0], first.shape[1]), str(folder))


def read_image(file: Path, shape: tuple[int, int] | None = None, colour: bool = False) -> np.ndarray:
    """Return an image as values from 0 to 1: grey levels (height, width), or colours (height, width, 3).

    Grey levels are resized to ``shape``.
    """
    Image = optional_import("PIL.Image", "reading images")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(file) as image:
                deep = image.mode.startswith(("I", "F")) and not colour
                pixels = image if deep else image.convert("RGB" if colour else "L")
                if shape is not None and pixels.size != (shape[1], shape[0]):
                    pixels = (pixels.convert("F") if deep else pixels).resize(
                        (shape[1], shape[0]), Image.Resampling.BILINEAR, reducing_gap=3.0
                    )
                return np.asarray(pixels, dtype=np.float64) / (65535.0 if deep else 255.0)
    except MemoryError as error:
        raise NotEnoughMemoryError(f"reading {file} needs more memory than is available") from error
    except Exception as error:  # the readers of image formats raise errors of many classes
        raise InputFileError(f"{file} is damaged, truncated, too large or not an image: {error}") from error


def _natural_order(file: Path) -> list[tuple[int, int, str]]:
    """Return a sort key that compares digits as numbers."""
    return [
        (0, int(part), "") if part.isdecimal() else (1, 0, part.lower())
        for part in re.split(r"(\d+)", file.as_posix())
        if part
    ]
