"""The theory names code and tests that exist."""

from __future__ import annotations

from pathlib import Path

import code_lines
import pytest

pytestmark = pytest.mark.pages

PAGE = (Path(__file__).parents[2] / "docs" / "theory.md").read_text()


def test_functions_and_tests_exist():
    named = code_lines.REFERENCE.findall(PAGE)
    assert len(named) > 50
    assert sum(file.startswith("tests/") for file, _ in named) > 25
    assert [pair for pair in named if code_lines.line_of(*pair) is None] == []


def test_missing_functions_are_found():
    assert code_lines.line_of("methods/mds.py", "classical_mdss") is None
    assert code_lines.line_of("methods/no.py", "classical_mds") is None
