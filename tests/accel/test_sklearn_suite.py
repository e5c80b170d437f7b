"""A part of scikit-learn's own tests, with its classes replaced; ``make accel`` runs all of them."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.suite, pytest.mark.usefixtures("uninstalled")]

SUITE = Path(__file__).with_name("sklearn_suite.py")
PAGE = Path(__file__).parents[2] / "docs" / "accel.md"


@pytest.mark.product
def test_part_of_the_suite() -> None:
    pytest.importorskip("sklearn.manifold.tests.test_spectral_embedding", reason="no tests in this wheel")
    done = subprocess.run(
        [sys.executable, str(SUITE), "--fast"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    share = float(re.search(r"ran in eigenscape: ([\d.]+)%", done.stdout)[1])
    assert share >= 70


def test_known_failures_are_documented() -> None:
    names = re.findall(r'^    "(test_\w+)":', SUITE.read_text(), flags=re.MULTILINE)
    assert names
    assert all(f"`{name}`" in PAGE.read_text() for name in names)
