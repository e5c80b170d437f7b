"""The face images of Bengio sec. 5.2 and 5.3, or rendered heads as a stand-in."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.offsetbox import AnnotationBbox, OffsetImage

from eigenscape.datasets import heads
from experiments._experiment import Context


class Faces(NamedTuple):
    """Images (n, 1024), camera angles (n, 2), light (n,), and a description of the data."""

    images: np.ndarray
    pose: np.ndarray
    light: np.ndarray
    data: str


def load_faces(context: Context, n_samples: int = 698) -> Faces:
    """Return the face images of the data folder or, if there are none, rendered heads."""
    arrays = context.load("isomap_faces_32x32")
    if arrays is not None:
        pose = np.column_stack([arrays["pan_z"], arrays["tilt_z"]])
        return Faces(
            arrays["X"].astype(np.float64)[:n_samples],
            pose[:n_samples],
            arrays["light_z"][:n_samples],
            "Isomap faces, 32 x 32",
        )
    images, parameters = heads(n_samples, random_state=context.seed)
    return Faces(images, parameters[:, :2], parameters[:, 2], "stand-in: rendered heads")


def spread_out(Y: np.ndarray, distance: float) -> list[int]:
    """Select indices of points at pairwise distances above ``distance``, relative to the extent of ``Y``."""
    scaled = (Y - Y.min(axis=0)) / np.ptp(Y, axis=0)
    chosen: list[int] = []
    for index, point in enumerate(scaled):
        if not chosen or np.linalg.norm(scaled[chosen] - point, axis=1).min() > distance:
            chosen.append(index)
    return chosen


def put_image(axes: Axes, image: np.ndarray, at: np.ndarray, frame: str, **options: Any) -> None:
    """Draw a small image with a coloured frame at a point of the axes."""
    picture = OffsetImage(image.reshape(32, 32), cmap="gray", zoom=1.0, norm=Normalize(0, 1))
    style = {"edgecolor": frame, "linewidth": 2.2, "boxstyle": "square,pad=0"}
    box = AnnotationBbox(
        picture, (float(at[0]), float(at[1])), frameon=True, pad=0.0, bboxprops=style, **options
    )
    box.set_in_layout(False)
    axes.add_artist(box)
