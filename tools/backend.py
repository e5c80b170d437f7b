"""The build backend: scikit-build-core's, with a C compiler from the package index where there is none."""

from __future__ import annotations

import os
import shutil
import sys
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
        os.environ["CC"] = f"{sys.executable} -m ziglang cc"


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
    return _build.build_editable(directory, config_settings, metadata_directory)
