"""The build backend: scikit-build-core's, with a C compiler from the package index where there is none."""

from __future__ import annotations

import base64
import hashlib
import os
import shutil
import sys
import zipfile
from pathlib import Path
from typing import Any

from scikit_build_core import build as _build
from scikit_build_core.build import (  # noqa: F401
    build_sdist,
    get_requires_for_build_sdist,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

#: Zig contains clang, and needs nothing else on the machine.
_ZIG = "ziglang>=0.13"


def _has_compiler() -> bool:
    """Return whether CMake would find a C compiler."""
    named = os.environ.get("CC", "").split()
    names = [named[0]] if named else ["cc", "gcc", "clang", "cl"]
    return any(shutil.which(name) for name in names)


def _choose_compiler() -> None:
    """Let CMake use Zig's compiler where there is no other."""
    if not _has_compiler():
        print("no C compiler was found: compiling with the package ziglang", file=sys.stderr)
        os.environ["CC"] = f"{sys.executable} -m ziglang cc -mcpu=baseline"


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    """Return what the build needs from the package index."""
    return [*_build.get_requires_for_build_wheel(config_settings), *([] if _has_compiler() else [_ZIG])]


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    """Return what the build needs from the package index."""
    return [*_build.get_requires_for_build_editable(config_settings), *([] if _has_compiler() else [_ZIG])]


def build_wheel(directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Build a wheel and return its name."""
    _choose_compiler()
    return _build.build_wheel(directory, config_settings, metadata_directory)


def build_editable(directory: str, config_settings: Any = None, metadata_directory: str | None = None) -> str:
    """Build the extension beside its sources, and a wheel that refers to them."""
    _choose_compiler()
    name = _build.build_editable(directory, config_settings, metadata_directory)
    _keep_search_path_only(Path(directory) / name)
    return name


def _keep_search_path_only(wheel: Path) -> None:
    """Drop the import hook: a folder in sys.path suffices, and PYTHONPATH may then name another checkout."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        members = {one: archive.read(one) for one in names if "/" in one}
        lines = b"\n".join(archive.read(one) for one in names if one.endswith(".pth")).decode().splitlines()
    folders = [line for line in lines if line and not line.startswith("import ")]
    members["eigenscape.pth"] = "".join(f"{folder}\n" for folder in folders).encode()
    record = next(one for one in members if one.endswith(".dist-info/RECORD"))
    del members[record]
    rows = [f"{one},{_digest(data)},{len(data)}" for one, data in members.items()]
    members[record] = "\n".join([*rows, f"{record},,", ""]).encode()
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for one, data in members.items():
            archive.writestr(one, data)


def _digest(data: bytes) -> str:
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
