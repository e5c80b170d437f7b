"""The n-th write fails, for every n: the old file or the new one is there, complete."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from faults.library import build_library

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_library(tmp_path_factory.mktemp("faults"))


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "npy", "npz", "mtx", "model"])
def test_every_write_fails_once(tmp_path: Path, library: Path, kind: str) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    command = [sys.executable, str(HERE / "write_with_faults.py"), str(library), str(folder), kind]
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) >= 6
