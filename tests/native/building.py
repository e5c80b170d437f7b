"""Builds the loops in a folder of their own, with other options than the installed ones."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "eigenscape" / "_native"


def build(folder: Path, *options: str) -> Path:
    """Build the extension with options of CMake in a folder, and return the file.

    CMake and ninja are installed for this only: an environment for development does not need them.
    """
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "cmake>=3.26", "ninja"], check=True)
    scripts = Path(sys.executable).parent
    cmake = [str(scripts / "cmake")]
    ninja = f"-DCMAKE_MAKE_PROGRAM={scripts / 'ninja'}"
    python = f"-DPython_EXECUTABLE={sys.executable}"
    shutil.rmtree(folder, ignore_errors=True)
    copy = folder / "source"  # without what an editable installation has built beside the sources
    copy.mkdir(parents=True)
    for file in [*SOURCE.glob("*.[ch]"), SOURCE / "CMakeLists.txt"]:
        shutil.copy(file, copy)
    settings = ["-G", "Ninja", ninja, python, *options]
    subprocess.run([*cmake, "-S", copy, "-B", folder / "build", *settings], check=True)
    subprocess.run([*cmake, "--build", folder / "build"], check=True)
    (found,) = (folder / "build").glob("loops*.so")
    return found
