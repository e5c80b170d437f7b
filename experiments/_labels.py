"""Text labels of points without overlaps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg

#: Possible offsets of a label from its point in points, nearest first.
_OFFSETS = [
    (0, 0),
    *(
        (r * x, r * y)
        for r in (7, 13, 20)
        for x, y in ((0, 1), (0, -1), (1, 0.6), (-1, 0.6), (1, -0.6), (-1, -0.6))
    ),
]


def label_points(
    axes: Axes,
    Y: np.ndarray,
    words: Sequence[str],
    colors: Sequence[str],
    *,
    always: int = 0,
    size: float = 8.0,
    bold: int = 0,
    beside: bool = False,
) -> int:
    """Label points in the given order without overlaps and return the number of labels.

    Labels for which there is no free place are omitted, except for the first ``always``, which are put where
    they overlap least. The first ``bold`` labels are bold. If ``beside`` is True, labels are placed next to
    their points, not on them. Limits of the axes and the layout must be final.
    """
    figure = axes.figure.get_figure(root=True)
    assert figure is not None
    FigureCanvasAgg(figure).draw()
    figure.set_layout_engine("none")  # positions of labels depend on the layout
    renderer = FigureCanvasAgg(figure).get_renderer()
    pixel = figure.dpi / 72
    frame = np.array(axes.get_window_extent(renderer).extents)
    offsets = _OFFSETS[1:] if beside else _OFFSETS
    taken: list[np.ndarray] = []
    for rank, (point, word, color) in enumerate(zip(axes.transData.transform(Y), words, colors, strict=True)):
        text = axes.text(
            0,
            0,
            word,
            fontsize=size,
            color=color,
            ha="center",
            va="center",
            weight="bold" if rank < bold else "normal",
        )
        width, height = np.array(text.get_window_extent(renderer).size) + pixel
        boxes = [_box(point + pixel * np.array(offset), width, height) for offset in offsets]
        covered = [_covered(box, taken) + (1e6 if _outside(box, frame) else 0.0) for box in boxes]
        best = int(np.argmin(covered))
        if covered[best] > 0 and rank >= always:
            text.remove()
            continue
        taken.append(boxes[best])
        position = point + pixel * np.array(offsets[best])
        x, y = axes.transData.inverted().transform(position)
        text.set_position((x, y))
        if max(map(abs, offsets[best])) > 7:  # connect a distant label with its point
            line = axes.transData.inverted().transform([point, position])
            axes.plot(*line.T, color=color, linewidth=0.5, alpha=0.6, zorder=1)
    return len(taken)


def _box(center: np.ndarray, width: float, height: float) -> np.ndarray:
    """Return the corners (left, bottom, right, top) of a box."""
    return np.array(
        [center[0] - width / 2, center[1] - height / 2, center[0] + width / 2, center[1] + height / 2]
    )


def _covered(box: np.ndarray, taken: list[np.ndarray]) -> float:
    """Return the area of the intersections of a box with the boxes taken."""
    if not taken:
        return 0.0
    others = np.array(taken)
    sides = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    return float(np.prod(np.maximum(sides, 0), axis=1).sum())


def _outside(box: np.ndarray, frame: np.ndarray) -> bool:
    """Return whether a part of the box is outside the frame."""
    return bool((box[:2] < frame[:2]).any() or (box[2:] > frame[2:]).any())
