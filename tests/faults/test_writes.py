"""The n-th write fails, for every n: the old file or the new one is there, complete."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs a C compiler on Linux")
    target = tmp_path_factory.mktemp("faults") / "failing_writes.so"
    source = HERE / "failing_writes.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", target, source, "-ldl"], check=True)
    return target


@pytest.mark.parametrize("kind", ["csv", "parquet", "arrow", "npy", "npz", "mtx", "model"])
def test_every_write_fails_once(tmp_path: Path, library: Path, kind: str) -> None:
    folder = tmp_path / "out"
    folder.mkdir()
    command = [sys.executable, str(HERE / "write_with_faults.py"), str(library), str(folder), kind]
    environment = {**os.environ, "LD_PRELOAD": str(library)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    assert int(done.stdout) >= 6
