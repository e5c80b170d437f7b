"""Compiled functions work without a folder that can be written to."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from covering import PRODUCT

from eigenscape._compiled import jit

pytestmark = pytest.mark.packaging

#: Fits an estimator when numba finds no folder for its cache other than the one that it is given.
_FIT = """
import sys, tempfile, warnings
from numba.core import caching
implementation = getattr(caching, "CacheImpl", None) or caching._CacheImpl  # renamed in numba 0.62
implementation._locator_classes = [
    locator for locator in implementation._locator_classes if "UserProvided" in locator.__name__
]
import numpy as np, eigenscape
if sys.argv[1] == "none":
    def refuse(*args, **named):
        raise FileNotFoundError("no usable temporary directory")
    tempfile.gettempdir = refuse
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    X = np.random.default_rng(0).normal(size=(60, 3))
    print(eigenscape.LaplacianEigenmaps(2).fit(X).embedding_.shape)
    eigenscape.Isomap().fit(X)
found = [str(w.message) for w in caught if w.category.__name__ == "CompilationCacheWarning"]
print(len(found), found[0])
"""


@pytest.mark.parametrize(
    ("folder", "message"),
    [("temporary", "is stored in"), *([("none", "is compiled again in every process")] if PRODUCT else [])],
)
def test_estimators_fit_without_a_usual_cache(tmp_path: Path, folder: str, message: str) -> None:
    environment = {**os.environ, "TMPDIR": str(tmp_path), "NUMBA_CACHE_DIR": ""}
    done = subprocess.run(
        [sys.executable, "-c", _FIT, folder], capture_output=True, text=True, timeout=600, env=environment
    )
    assert done.returncode == 0, done.stderr[-2000:]
    shape, warning = done.stdout.splitlines()
    assert shape == "(60, 2)"
    assert warning.startswith("1 compiled code cannot be stored")
    assert message in warning
    assert bool([*tmp_path.glob("eigenscape-*/**/*.nbi")]) == (folder == "temporary")


def test_a_folder_of_another_user_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(jit.tempfile, "tempdir", str(tmp_path))
    usual = tmp_path / f"eigenscape-{os.getuid()}"
    usual.mkdir()
    usual.chmod(0o777)
    folder = jit._private_folder()
    assert folder is not None
    assert folder != usual
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
