"""Figures that notebooks display once. Imported where a figure is made, since it needs matplotlib."""

from __future__ import annotations

from typing import Any

from matplotlib import get_backend, pyplot
from matplotlib.figure import Figure


class DisplayedFigure(Figure):
    """A figure that is displayed as the value of a cell or at its end, whichever comes first."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        """Tell pyplot that the figure is displayed; the notebook's own formatter of figures draws it."""
        if "inline" in get_backend():
            pyplot.close(self)
        return {}
