"""Words on a map, as many as there is room for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg

#: Where a label may stand about its point, in points: nearest first.
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
    """Write words at their points in the order given, each where it covers no other; those without room are
    left out.

    The first ``always`` are written wherever they are covered least, the first ``bold`` in bold; ``beside``
    their points, not on them, if so asked. Returns how many were written.
    Limits of the axes and the layout must be final.
    """
    figure = axes.figure.get_figure(root=True)
    assert figure is not None
    FigureCanvasAgg(figure).draw()
    figure.set_layout_engine("none")  # where labels stand depends on it
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
        place = point + pixel * np.array(offsets[best])
        x, y = axes.transData.inverted().transform(place)
        text.set_position((x, y))
        if max(map(abs, offsets[best])) > 7:  # far enough from its point to be taken for another's
            line = axes.transData.inverted().transform([point, place])
            axes.plot(*line.T, color=color, linewidth=0.5, alpha=0.6, zorder=1)
    return len(taken)


def _box(center: np.ndarray, width: float, height: float) -> np.ndarray:
    return np.array(
        [center[0] - width / 2, center[1] - height / 2, center[0] + width / 2, center[1] + height / 2]
    )


def _covered(box: np.ndarray, taken: list[np.ndarray]) -> float:
    """Area that a box shares with those taken."""
    if not taken:
        return 0.0
    others = np.array(taken)
    sides = np.minimum(box[2:], others[:, 2:]) - np.maximum(box[:2], others[:, :2])
    return float(np.prod(np.maximum(sides, 0), axis=1).sum())


def _outside(box: np.ndarray, frame: np.ndarray) -> bool:
    return bool((box[:2] < frame[:2]).any() or (box[2:] > frame[2:]).any())
