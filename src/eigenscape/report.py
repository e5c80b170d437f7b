"""HTML reports on fitted maps.

Public names of :mod:`eigenscape.app.report`.
"""

from eigenscape.app.report import write_comparison, write_report

__all__ = ["write_comparison", "write_report"]
