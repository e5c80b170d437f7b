"""Thumbnails of image data, of limited size."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eigenscape.app.report._columns import pack
from eigenscape.app.report._formatting import format_count
from eigenscape.app.report._points import Points
from eigenscape.app.report._tables import LIMITS


def thumbnails(
    points: Points, images: ArrayLike | None, rows: np.ndarray
) -> tuple[dict[str, Any] | None, str]:
    """Return the images of the points drawn, reduced until they fit, and a sentence if they are left out.

    Parameters
    ----------
    points : Points
        Rows of pixels, as those read from image files, are used unless ``images`` are given.
    images : array-like of shape (n_samples, height, width[, channels]) or None
        Images of the samples: numbers of any range, or bytes.
    rows : ndarray
        The points drawn.
    """
    found = _find_images(points, images)
    if found is None:
        return None, ""
    side = max(found.shape[1:3])
    factor = max(1, -(-side // LIMITS.image_side))
    while len(rows) * _reduce(found[:1], factor).size > LIMITS.image_bytes:
        factor += 1
        if side // factor < min(LIMITS.least_image_side, side):
            remark = f"Thumbnails of {format_count(len(rows))} points would be too large and are left out."
            return None, remark
    # in parts, so that not all are copied in double precision at once
    step = max(1, 50_000_000 // max(1, 8 * int(np.prod(found.shape[1:]))))
    parts = [_reduce(np.asarray(found[rows[i : i + step]]), factor) for i in range(0, len(rows), step)]
    made = _as_bytes(np.concatenate(parts), found.dtype == np.uint8)
    shape = [*made.shape[1:3], 1 if made.ndim == 3 else made.shape[3]]
    return {"shape": shape, "pixels": pack(made.ravel(), "<u1")}, ""


def _find_images(points: Points, images: ArrayLike | None) -> np.ndarray | None:
    """Return the images (n, height, width[, channels]) of all points, or None if there are none."""
    if images is None:
        if points.image_shape is None or points.stream:
            return None
        rows = points.X if points.unscaled is None else points.unscaled
        return np.asarray(rows).reshape(-1, *points.image_shape)
    pictures = np.asarray(images)
    if pictures.ndim not in (3, 4) or len(pictures) != points.n or pictures.shape[3:] not in ((), (1,), (3,)):
        raise ValueError(
            f"images must have shape ({points.n}, height, width) or ({points.n}, height, width, 3), one per"
            f" point, got {pictures.shape}"
        )
    if pictures.dtype.kind not in "fiub":
        raise ValueError(f"images must contain numbers, got dtype {pictures.dtype}")
    return pictures[..., 0] if pictures.shape[3:] == (1,) else pictures


def _reduce(images: np.ndarray, factor: int) -> np.ndarray:
    """Return means over squares of ``factor`` x ``factor`` pixels; the rest at the edges is cut off."""
    if factor == 1:
        return images
    height, width = (max(1, side // factor) for side in images.shape[1:3])
    cut = images[:, : height * factor, : width * factor].astype(np.float32)
    blocks = cut.reshape(len(images), height, min(factor, cut.shape[1]), width, -1, *images.shape[3:])
    return blocks.mean(axis=(2, 4))


def _as_bytes(images: np.ndarray, are_bytes: bool) -> np.ndarray:
    """Return images as bytes: the smallest number is black and the largest white, of all images together."""
    if are_bytes:
        return np.rint(images).astype(np.uint8)
    numbers = np.nan_to_num(np.asarray(images, dtype=np.float64))
    low, high = float(numbers.min()), float(numbers.max())
    return np.rint(255 * (numbers - low) / (high - low) if high > low else 0 * numbers).astype(np.uint8)
