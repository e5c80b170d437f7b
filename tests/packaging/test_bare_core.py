"""The core installs and works without any optional dependency."""

from __future__ import annotations

import inspect
import os
import re
import subprocess
import sys
import tomllib
import venv
from importlib import metadata
from pathlib import Path

import pytest

from eigenscape import estimators

pytestmark = pytest.mark.packaging

ROOT = Path(__file__).parents[2]
OLDEST = Path(__file__).with_name("oldest.txt")
OFFLINE = (
    "No matching distribution found for scikit-build-core",
    "NewConnectionError",
    "Temporary failure in name resolution",
)


def run(*command, **environment):
    return subprocess.run(
        command, capture_output=True, text=True, env={"PATH": "/usr/bin:/bin", **environment}
    )


def check_core(python, **environment):
    """Check that every estimator fits, and that errors name the missing extra."""
    done = run(python, "-W", "ignore", Path(__file__).with_name("fit_every_estimator.py"), **environment)
    assert done.returncode == 0, done.stderr
    classes = [name for name in estimators.__all__ if inspect.isclass(getattr(estimators, name))]
    assert done.stdout.split() == classes
    command = run(python, "-m", "eigenscape", "methods", **environment)
    assert command.returncode == 2
    assert 'pip install "eigenscape[cli]"' in command.stderr
    assert len(command.stderr.strip().splitlines()) == 1


@pytest.mark.skipif("EIGENSCAPE_OLDEST" not in os.environ, reason="run by make minimums")
def test_the_core_works_with_the_oldest_dependencies(tmp_path):
    """Installed in a fresh environment, from this folder, with the oldest dependencies and no extra."""
    venv.create(tmp_path, with_pip=False, symlinks=True)
    python = tmp_path / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-compile"]
    command = [*pip, "--disable-pip-version-check", ROOT, "--constraint", OLDEST]
    done = subprocess.run(command, capture_output=True, text=True)
    if any(sign in done.stderr for sign in OFFLINE):
        pytest.skip("no package index: the core cannot be installed in a fresh environment")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "bin" / "eigenscape").is_file()
    check_core(python)


def test_the_core_works_without_extras(tmp_path):
    """With the dependencies of this environment, of which only those of the core can be imported."""
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    packages = tmp_path / "packages"
    packages.mkdir()
    for file in required_files("eigenscape", set()):
        if not (packages / file.name).exists():
            (packages / file.name).symlink_to(file)
    source = Path(estimators.__file__).parents[2]
    check_core(tmp_path / "env" / "bin" / "python", PYTHONPATH=f"{source}{os.pathsep}{packages}")


def required_files(name, seen):
    """Yield the files and folders that a distribution and those that it requires have in site-packages."""
    found = metadata.distribution(name)
    for entry in found.files if name != "eigenscape" else ():
        if entry.parts[0] != "..":
            yield Path(found.locate_file(entry.parts[0]))
    for line in found.requires or ():
        required = re.match(r"[\w.-]+", line)[0]
        if "extra ==" not in line and required not in seen:
            seen.add(required)
            yield from required_files(required, seen)


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
