"""The n-th write fails, for every n: the old file or the new one is there, complete."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from faults.library import build_library

pytestmark = pytest.mark.process

HERE = Path(__file__).parent
KINDS = ("csv", "parquet", "arrow", "npy", "npz", "mtx", "model")


@pytest.mark.product
def test_every_write_fails_once(tmp_path: Path) -> None:
    """All formats in one process, since imports take longer than the writes."""
    library = build_library(tmp_path)
    folder = tmp_path / "out"
    folder.mkdir()
    command = [sys.executable, str(HERE / "write_with_faults.py"), str(library), str(folder), ",".join(KINDS)]
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    tried = json.loads(done.stdout)
    assert tuple(tried) == KINDS
    assert min(tried.values()) >= 6
