"""Damaged sparse matrices are refused by every method and function, in processes that a crash may end."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from damaged_calls import ESTIMATORS

SCRIPT = Path(__file__).with_name("damaged_calls.py")
GROUPS = [["functions", *ESTIMATORS[::2]], ESTIMATORS[1::2]]


@pytest.mark.process
@pytest.mark.usefixtures("forked_python")
@pytest.mark.parametrize("names", GROUPS, ids=lambda names: names[0])
def test_indices_out_of_range_are_refused(names):
    command = [sys.executable, str(SCRIPT), *names]
    result = subprocess.run(command, capture_output=True, text=True, timeout=300)
    lines = result.stdout.splitlines()
    assert result.returncode == 0, (lines[-1:], result.stderr[-2000:])
    assert lines[-1] == "end"
    assert [line for line in lines if line.startswith("FAULT")] == []
    assert len(lines) > 4 * len(names)
