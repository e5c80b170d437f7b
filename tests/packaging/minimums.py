"""``make minimums``: installs exactly the declared minimum versions in a fresh environment and tests them.

Usage: python tests/packaging/minimums.py [FOLDER [PYTEST ARGUMENTS ...]]. Default: build/minimums.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: The tests of files, commands, estimators and every extra; the whole suite also needs linters and a browser.
_TESTS = (
    "tests/app/io",
    "tests/app/cli",
    "tests/app/explore",
    "tests/app/report",
    "tests/datasets",
    "tests/dictionary",
    "tests/distributed",
    "tests/notebooks",
    "tests/operators",
    "tests/plot",
    "tests/quality",
    "tests/sc",
    "tests/estimators",
    "tests/graph",
    "tests/methods",
    "tests/solvers",
)


def minimums() -> list[str]:
    """Return a constraint for each declared dependency: ``name==minimum``."""
    content = tomllib.loads((ROOT / "pyproject.toml").read_text())
    project, groups = content["project"], content["dependency-groups"]
    declared = [*project["dependencies"], *groups["test"]]
    for extra in project["optional-dependencies"].values():
        declared += [line for line in extra if not line.startswith("eigenscape")]
    return sorted({re.sub(r"\[.*\]", "", line).replace(">=", "==") for line in declared})


def main(folder: str = str(ROOT / "build" / "minimums"), *arguments: str) -> int:
    """Install and test; return the exit code of pytest."""
    venv.create(folder, with_pip=True, symlinks=True, clear=True)
    python = str(Path(folder) / "bin" / "python")
    constraints = Path(folder) / "minimums.txt"
    constraints.write_text("\n".join(minimums()) + "\n")
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--upgrade", "pip>=25.1"], check=True)
    install = [
        *pip,
        "--constraint",
        str(constraints),
        f"{ROOT}[all]",
        "--group",
        f"{ROOT}/pyproject.toml:test",
    ]
    subprocess.run(install, check=True)
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    tests = [
        python,
        "-m",
        "pytest",
        "-n",
        "auto",
        "-q",
        "-W",
        "ignore::DeprecationWarning",
        *(arguments or _TESTS),
    ]
    return subprocess.run(tests, cwd=ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
