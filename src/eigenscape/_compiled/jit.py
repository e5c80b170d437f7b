"""The decorator of compiled functions: numba's, with a cache on disk wherever one can be written.

numba stores compiled code beside the source or in the user's cache folder, and raises an error if it can
write to neither, as with a read-only installation and no home folder.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba

from eigenscape._warnings import warn
from eigenscape.exceptions import CompilationCacheWarning


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return numba's decorator with the given options, and ``cache=True`` if a cache can be written."""

    def decorate(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError as error:
            if "locator" not in str(error):
                raise
        folder = _temporary_cache()
        if folder is None:
            return numba.njit(**options)(function)
        config: Any = numba.config
        before, config.CACHE_DIR = config.CACHE_DIR, str(folder)
        try:
            return numba.njit(cache=True, **options)(function)
        finally:
            config.CACHE_DIR = before

    return decorate


@cache
def _temporary_cache() -> Path | None:
    """Return a folder for compiled code in the folder of temporary files, or None; warn in either case."""
    folder = _private_folder()
    stored = "is compiled again in every process" if folder is None else f"is stored in {folder}"
    warn(
        f"compiled code cannot be stored beside the package or in the user's cache folder, and {stored}; set"
        " NUMBA_CACHE_DIR to a folder that can be written",
        CompilationCacheWarning,
    )
    return folder


def _private_folder() -> Path | None:
    """Return a folder that only this user can write to, since compiled code is executed when it is loaded."""
    try:
        user = os.getuid() if hasattr(os, "getuid") else os.getpid()
        folder = Path(tempfile.gettempdir()) / f"eigenscape-{user}"
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        is_private = stat.S_ISDIR(found.st_mode) and not stat.S_IMODE(found.st_mode) & 0o077
        if is_private and found.st_uid == user and os.access(folder, os.W_OK | os.X_OK):
            return folder
        return Path(tempfile.mkdtemp(prefix="eigenscape-"))
    except OSError:
        return None
