"""A live explorer of maps in the browser."""

from __future__ import annotations

from eigenscape._lazy import attach

TYPE_CHECKING = False  # to type checkers it is True; importing typing would take most of the import time

__all__ = ["Explorer", "explore"]

if TYPE_CHECKING:
    from eigenscape.app.explore.opening import explore
    from eigenscape.app.explore.server import Explorer

_HOMES = {"Explorer": f"{__name__}.server", "explore": f"{__name__}.opening"}
__getattr__, __dir__ = attach(__name__, _HOMES)
