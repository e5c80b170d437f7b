"""HTML reports on fitted models."""

from eigenscape.app.report.comparison import write_comparison
from eigenscape.app.report.report import write_report

__all__ = ["write_comparison", "write_report"]
