"""HTML reports on fitted models. Needs the extra ``cli``."""

from eigenscape.app.report import write_comparison, write_report

__all__ = ["write_comparison", "write_report"]
