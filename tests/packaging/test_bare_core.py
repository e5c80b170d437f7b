"""The core installs and works without any optional dependency."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
OFFLINE = (
    "No matching distribution found for hatchling",
    "NewConnectionError",
    "Temporary failure in name resolution",
)


@pytest.fixture(scope="module")
def bare_python(tmp_path_factory):
    """Install the package without extras in a fresh environment; return its interpreter."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, with_pip=True, symlinks=True)
    python = folder / "bin" / "python"
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(ROOT)]
    done = subprocess.run(command, capture_output=True, text=True)
    if any(sign in done.stderr for sign in OFFLINE):
        pytest.skip("no package index: the core cannot be installed in a fresh environment")
    assert done.returncode == 0, done.stderr
    return python


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})


def test_every_estimator_fits_with_the_core_alone(bare_python):
    done = run(bare_python, "-W", "ignore", Path(__file__).with_name("fit_every_estimator.py"))
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.split()) == 20


def test_the_command_names_its_extra(bare_python):
    done = run(bare_python.with_name("eigenscape"), "methods")
    assert done.returncode == 2
    assert 'pip install "eigenscape[cli]"' in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_import_is_lazy():
    """``import eigenscape`` loads neither the numerical libraries nor the estimators."""
    code = "import sys, eigenscape; print({'numpy', 'scipy', 'sklearn', 'numba'} & set(sys.modules))"
    assert run(sys.executable, "-c", code).stdout.strip() == "set()"
