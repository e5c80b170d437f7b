"""Link the code and the tests that the theory names, with their lines."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
REFERENCE = re.compile(r"`((?:\w+/)*\w+\.py)` `(\w+)`")


def find(file: str) -> Path:
    """Return the path of a file of the package or of the repository."""
    inside = ROOT / "src" / "eigenscape" / file
    return inside if inside.exists() else ROOT / file


def line_of(file: str, name: str) -> int | None:
    """Return the line on which a function or class is defined; None if there is none."""
    path = find(file)
    if not path.exists():
        return None
    for number, line in enumerate(path.read_text().splitlines(), start=1):
        if re.match(rf"\s*(def|class) {name}\b", line):
            return number
    return None


def link(app: Sphinx, docname: str, source: list[str]) -> None:
    """Turn references of the theory into links to the files."""
    if docname != "theory":
        return
    docs = Path(app.srcdir)

    def replace(match: re.Match[str]) -> str:
        target = os.path.relpath(find(match[1]), docs)
        return f"[`{match[1]}:{line_of(match[1], match[2])}` `{match[2]}`]({target})"

    source[0] = REFERENCE.sub(replace, source[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the hook."""
    app.connect("source-read", link)
    return {"parallel_read_safe": True}
