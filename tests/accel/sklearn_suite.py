"""Run scikit-learn's own tests with its classes replaced: ``python tests/accel/sklearn_suite.py``.

The exit code is 1 if a test fails that is not listed in KNOWN.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from typing import Any

import pytest

from eigenscape import accel

#: Tests that fail, with the reason; docs/accel.md lists them, too.
KNOWN = {
    "test_spectral_eigen_tol_auto": "expects that scipy's eigsh or lobpcg is called, which a mock replaces",
}
FAST = ("manifold.tests.test_classical_mds", "manifold.tests.test_spectral_embedding")
MODULES = (
    *FAST,
    "manifold.tests.test_isomap",
    "manifold.tests.test_locally_linear",
    "manifold.tests.test_t_sne",
    "decomposition.tests.test_kernel_pca",
    "cluster.tests.test_spectral",
)


class Outcomes:
    """Plugin of pytest that collects the names of passed and failed tests."""

    def __init__(self) -> None:
        self.passed: list[str] = []
        self.failed: list[str] = []

    def pytest_runtest_logreport(self, report: Any) -> None:
        name = report.nodeid.rpartition("::")[2]
        if report.failed:
            self.failed.append(name)
        elif report.when == "call" and report.passed:
            self.passed.append(name)

    @property
    def rate(self) -> float:
        return len(self.passed) / max(len(self.passed) + len(self.failed), 1)


def available(module: str) -> bool:
    """Return whether the installed scikit-learn has the module."""
    from importlib.util import find_spec

    return find_spec(f"sklearn.{module}") is not None


def run(fast: bool) -> Outcomes:
    """Run the tests in this process and return their outcomes."""
    os.environ.setdefault("SKLEARN_RUN_FLOAT32_TESTS", "1")
    accel.install()  # before the test modules import anything
    accel.reset()
    modules = [f"sklearn.{module}" for module in (FAST if fast else MODULES) if available(module)]
    options = ["-q", "-c", os.devnull, "--tb=short", "-p", "no:cacheprovider", "--disable-warnings"]
    outcomes = Outcomes()
    os.chdir(tempfile.mkdtemp())  # where pytest finds no configuration and no tests of ours
    # Of the tests of t-SNE only those of trustworthiness concern us.
    pytest.main([*options, "-k", "not t_sne or trustworthiness", "--pyargs", *modules], plugins=[outcomes])
    return outcomes


def main() -> int:
    """Run the tests and print the rate of passes and the share of calls that ran in eigenscape."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--fast", action="store_true", help="run a part that takes seconds")
    outcomes = run(parser.parse_args().fast)
    report = accel.report()
    unexpected = [name for name in outcomes.failed if name.partition("[")[0] not in KNOWN]
    print(report)
    print(f"passed: {outcomes.rate:.1%} of {len(outcomes.passed) + len(outcomes.failed)} tests")
    print(f"ran in eigenscape: {report.share:.1%} of {sum(row.calls for row in report.rows)} calls")
    for name in outcomes.failed:
        print(f"failed: {name}: {KNOWN.get(name.partition('[')[0], 'not expected')}")
    return 1 if unexpected or not outcomes.passed else 0


if __name__ == "__main__":
    sys.exit(main())
