"""The page of the explorer: scripts, styles and markup, shared with reports and the notebook widget.

See docs/decisions/app-page.md.
"""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import PurePosixPath
from posixpath import dirname, join, normpath

__all__ = ["asset", "asset_names", "bundle"]

#: Extensions of the files of the page, and their media types.
MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css", ".html": "text/html", ".svg": "image/svg+xml"}

_IMPORT = re.compile(r'^import\s+(?:\{([^}]*)\}\s+from\s+)?"(\.[^"]+)";\n', flags=re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const|let)\b)", flags=re.MULTILINE)


def asset_names() -> list[str]:
    """Return the names of all files of the page, with "/" between folders."""
    root = files(__name__)
    names = [entry.name for entry in root.iterdir() if entry.is_file()]
    names += [f"panels/{entry.name}" for entry in root.joinpath("panels").iterdir() if entry.is_file()]
    return sorted(name for name in names if PurePosixPath(name).suffix in MEDIA_TYPES)


def asset(name: str) -> str:
    """Return the text of a file of the page, such as "map.js" or "panels/fit.js".

    Raises
    ------
    KeyError
        If the page has no such file.
    """
    if name not in asset_names():
        raise KeyError(f"the page has no file {name!r}; its files are {', '.join(asset_names())}")
    return files(__name__).joinpath(*name.split("/")).read_text(encoding="utf-8")


def bundle(entry: str) -> str:
    """Return a module and all modules it imports as the text of one module.

    Modules are joined in the order of their dependencies, without ``import`` lines. ``export`` is kept in the
    entry only. Names at the top level of two modules must differ.

    Parameters
    ----------
    entry : str
        Name of a module, such as "map.js".

    Examples
    --------
    >>> text = bundle("map.js")
    >>> "import " in text, "class MapView" in text
    (False, True)
    """
    parts: dict[str, str] = {}
    _collect(entry, parts, ())
    return "\n".join(parts.values())


def _collect(name: str, parts: dict[str, str], above: tuple[str, ...]) -> None:
    """Append a module after the modules it imports."""
    if name in above:
        raise ValueError(f"modules import each other: {' -> '.join([*above, name])}")
    if name in parts:
        return
    text = asset(name)
    for match in _IMPORT.finditer(text):
        _collect(normpath(join(dirname(name), match[2])), parts, (*above, name))
    text = _IMPORT.sub("", text)
    parts[name] = text if not above else _EXPORT.sub("", text)
