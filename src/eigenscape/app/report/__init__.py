"""HTML reports on fitted models."""

from __future__ import annotations

from eigenscape._lazy import attach

TYPE_CHECKING = False  # to type checkers it is True; importing typing would take most of the import time

__all__ = ["write_comparison", "write_report"]

if TYPE_CHECKING:
    from eigenscape.app.report.comparison import write_comparison
    from eigenscape.app.report.report import write_report

_HOMES = {f"write_{module}": f"{__name__}.{module}" for module in ("comparison", "report")}
__getattr__, __dir__ = attach(__name__, _HOMES)
