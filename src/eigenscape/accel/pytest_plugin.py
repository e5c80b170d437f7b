"""Plugin of pytest that runs tests with scikit-learn accelerated: ``-p eigenscape.accel.pytest_plugin``.

``--few-points 0`` runs all sizes in eigenscape. A summary counts where the calls ran.
"""

from __future__ import annotations

from typing import Any

from eigenscape.accel import _settings, install, report


def pytest_addoption(parser: Any) -> None:
    """Add the option ``--few-points``."""
    parser.addoption(
        "--few-points",
        type=int,
        default=_settings.FEW_POINTS,
        help="number of points up to which steps are left to SciPy and scikit-learn",
    )


def pytest_configure(config: Any) -> None:
    """Install before any test module is imported."""
    install(few_points=config.getoption("--few-points"))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Print where the calls of the tests ran."""
    summary = report()
    calls = sum(row.calls for row in summary.rows)
    terminalreporter.section("eigenscape.accel")
    terminalreporter.write_line(str(summary))
    terminalreporter.write_line(f"{summary.share:.1%} of {calls} calls ran in eigenscape, at least in part")
