"""Commands that are killed: every file is the old one or the complete new one, and the next run cleans up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from covering import PRODUCT
from faults.library import build_library

pytestmark = pytest.mark.process

HERE = Path(__file__).parent


def kill(
    commands: str, folder: Path, n_writes: int, n_random: int, seed: int = 0
) -> dict[str, dict[str, int]]:
    """Kill commands at some of their writes and at random moments; return the number of kills of each."""
    library = build_library(folder.parent)
    script = [sys.executable, str(HERE / "kill_commands.py"), str(library), str(folder), commands]
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    done = subprocess.run(
        [*script, str(n_writes), str(n_random), str(seed)],
        capture_output=True,
        text=True,
        timeout=3600,
        env=environment,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)


@pytest.mark.product
def test_killed_commands(tmp_path: Path) -> None:
    """In one process, since imports take longer than the commands."""
    folder = tmp_path / "work"
    folder.mkdir()
    commands = ("embed", "report", "transform", "inverse", "cluster", "compare")
    n_writes, n_random = (4, 2) if PRODUCT else (2, 1)
    expected = {command: {"writes": n_writes, "random": n_random} for command in commands}
    assert kill(",".join(commands), folder, n_writes, n_random) == expected
