"""The library that lets writes fail."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def build_library(folder: Path) -> Path:
    """Compile the library; skip the test where this is not possible."""
    compiler = shutil.which("cc")
    if compiler is None or sys.platform != "linux":
        pytest.skip("needs a C compiler on Linux")
    target = folder / "failing_writes.so"
    source = Path(__file__).parent / "failing_writes.c"
    subprocess.run([compiler, "-shared", "-fPIC", "-o", target, source, "-ldl"], check=True)
    return target
