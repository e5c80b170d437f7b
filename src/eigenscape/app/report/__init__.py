"""Reports on maps: one HTML file each that needs no network and no other file."""

from eigenscape.app.report.comparison import write_comparison
from eigenscape.app.report.report import write_report

__all__ = ["write_comparison", "write_report"]
