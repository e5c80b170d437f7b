"""Figures that notebooks display. Imported where a figure is made, since it needs matplotlib.

Figures made without pyplot are not displayed by notebooks, and axes never are. These are displayed as the
value of a cell, once: pyplot does not know them, so it does not display them a second time.
"""

from __future__ import annotations

import io
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

#: Pixels of the picture for each pixel of its size on the page, for screens of high resolution.
_PIXEL_RATIO = 2


class DisplayedFigure(Figure):
    """A figure with a representation for notebooks."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        FigureCanvasAgg(self)

    def _repr_png_(self) -> tuple[bytes, dict[str, int]]:
        picture = io.BytesIO()
        self.savefig(picture, format="png", dpi=_PIXEL_RATIO * self.dpi)
        width, height = self.get_size_inches() * self.dpi
        return picture.getvalue(), {"width": round(width), "height": round(height)}


class DisplayedAxes(Axes):
    """Axes that a notebook displays as their figure."""

    def _repr_png_(self) -> tuple[bytes, dict[str, int]] | None:
        root = getattr(self.figure, "figure", None)  # get_figure(root=True) needs matplotlib 3.10
        return root._repr_png_() if isinstance(root, DisplayedFigure) else None
