"""The core installs and works without any optional dependency."""

from __future__ import annotations

import inspect
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest

from eigenscape import estimators

ROOT = Path(__file__).parents[2]
OLDEST = Path(__file__).with_name("oldest.txt")
OFFLINE = (
    "No matching distribution found for hatchling",
    "NewConnectionError",
    "Temporary failure in name resolution",
)


def install_core(folder, constraints):
    """Install the package without extras in a fresh environment; return its interpreter."""
    venv.create(folder, with_pip=True, symlinks=True)
    python = folder / "bin" / "python"
    command = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ROOT, *constraints]
    done = subprocess.run(command, capture_output=True, text=True)
    if any(sign in done.stderr for sign in OFFLINE):
        pytest.skip("no package index: the core cannot be installed in a fresh environment")
    assert done.returncode == 0, done.stderr
    return python


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin"})


@pytest.mark.parametrize("constraints", [[], ["--constraint", OLDEST]], ids=["newest", "oldest"])
def test_the_core_works_alone(tmp_path, constraints):
    """With the newest and the oldest dependencies every estimator fits, and errors name the missing extra."""
    python = install_core(tmp_path / "env", constraints)
    done = run(python, "-W", "ignore", Path(__file__).with_name("fit_every_estimator.py"))
    assert done.returncode == 0, done.stderr
    classes = [name for name in estimators.__all__ if inspect.isclass(getattr(estimators, name))]
    assert done.stdout.split() == classes
    command = run(python.with_name("eigenscape"), "methods")
    assert command.returncode == 2
    assert 'pip install "eigenscape[cli]"' in command.stderr
    assert len(command.stderr.strip().splitlines()) == 1


def test_oldest_versions_are_those_of_the_package():
    """The constraints of the oldest environment agree with pyproject.toml."""
    dependencies = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    lines = OLDEST.read_text().splitlines()
    oldest = [line.replace("==", ">=").removesuffix(".*") for line in lines if not line.startswith("#")]
    assert sorted(oldest) == sorted(dependencies)


def test_import_is_lazy():
    """``import eigenscape`` loads neither the numerical libraries nor typing, which takes most of 50 ms."""
    code = (
        "import sys; before = set(sys.modules); import eigenscape;"
        " print({'numpy', 'scipy', 'sklearn', 'numba', 'typing'} & (set(sys.modules) - before))"
    )
    assert run(sys.executable, "-c", code).stdout.strip() == "set()"
