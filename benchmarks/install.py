"""Install the libraries to compare with: ``python -m benchmarks.install`` (run by ``make bench``).

They are the dependency group ``bench``, installed one by one without changing the versions of the libraries
that eigenscape uses. One that cannot be installed is left out, and the benchmark page states the reason.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from importlib.metadata import version
from pathlib import Path

#: Packages whose versions stay as they are, since the results depend on them.
FIXED = ("numpy", "scipy", "scikit-learn")
#: Seconds for the installation of one library, some of which are compiled.
LIMIT = 1200
#: File with the reasons why libraries could not be installed.
REASONS = Path(sys.prefix) / "benchmark-peers.json"


def peers(file: Path = Path("pyproject.toml")) -> list[str]:
    """Return the requirements of the group ``bench``."""
    return tomllib.loads(file.read_text())["dependency-groups"]["bench"]


def package(requirement: str) -> str:
    """Return the name of the package of a requirement."""
    return re.split(r"[<>=!~ \[;]", requirement, maxsplit=1)[0]


def install(requirement: str, constraints: Path) -> str:
    """Install a requirement and return an empty string, or the reason why it failed."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    command += ["--prefer-binary", "--constraint", str(constraints), requirement]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return f"installation took longer than {LIMIT} s"
    errors = [line for line in done.stderr.splitlines() if line.startswith("ERROR")]
    return "" if done.returncode == 0 else (errors or ["pip failed"])[0][:160]


def install_all() -> dict[str, str]:
    """Install all libraries and return the reasons of those that failed."""
    with tempfile.TemporaryDirectory() as folder:
        constraints = Path(folder) / "constraints.txt"
        constraints.write_text("".join(f"{name}=={version(name)}\n" for name in FIXED))
        found = {package(peer): install(peer, constraints) for peer in peers()}
    return {name: reason for name, reason in found.items() if reason}


def reasons() -> dict[str, str]:
    """Return the reasons of the last installation."""
    return json.loads(REASONS.read_text()) if REASONS.exists() else {}


if __name__ == "__main__":
    failed = install_all()
    REASONS.write_text(json.dumps(failed))
    for name, reason in failed.items():
        print(f"{name} is not compared: {reason}")
