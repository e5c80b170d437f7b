"""Fits write nothing and need no folder: no cache, no home, many processes at once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from covering import PRODUCT

pytestmark = pytest.mark.packaging

#: Fits and places points; any file that is opened for writing, and any new folder, is an error.
_FIT = """
import os, sys

def refuse(event, arguments):
    if event == "open" and isinstance(arguments[2], int):
        writes = arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if writes and arguments[0] != os.devnull:
            raise PermissionError(f"{arguments[0]} is written to")
    if event in ("os.mkdir", "os.rename", "os.remove", "tempfile.mkstemp", "tempfile.mkdtemp"):
        raise PermissionError(f"{event} {arguments}")

sys.dont_write_bytecode = True
sys.addaudithook(refuse)
import numpy as np
import eigenscape

X = np.random.default_rng(0).normal(size=(300, 3))
for name in ("LaplacianEigenmaps", "Isomap", "LocallyLinearEmbedding", "KernelPCA", "NeighborEmbedding"):
    print(getattr(eigenscape, name)().fit(X).transform(X[:5]).shape)
"""


def test_many_processes_without_a_folder(tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if key not in ("HOME", "TMPDIR")}
    environment |= {"HOME": str(tmp_path / "none"), "XDG_CACHE_HOME": str(tmp_path / "none")}
    started = [
        subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", _FIT],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=environment,
        )
        for _ in range(50 if PRODUCT else 1)
    ]
    for process in started:
        out, errors = process.communicate(timeout=600)
        assert process.returncode == 0, errors[-2000:]
        assert out.split("\n")[0] == "(5, 2)"
    assert not list(tmp_path.iterdir())
