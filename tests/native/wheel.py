"""``make wheel``: fits every estimator with the wheel in an environment without a compiler."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]


def main(folder: str) -> None:
    """Install and use the wheel in a folder."""
    (wheel,) = Path(folder).glob("eigenscape-*-cp311-abi3-*.whl")
    environment = ROOT / "build" / "wheel"
    venv.create(environment, with_pip=True, symlinks=True, clear=True)
    python = str(environment / "bin" / "python")
    bare = {"PATH": str(environment / "bin")}  # no compiler is found
    pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]
    subprocess.run([*pip, wheel], check=True)
    subprocess.run(
        [python, "-W", "ignore", ROOT / "tests" / "packaging" / "fit_every_estimator.py"],
        check=True,
        env=bare,
    )
    print(f"{wheel.name} works in a fresh environment")


if __name__ == "__main__":
    main(sys.argv[1])
