"""Show files of the repository's root (CHANGELOG.md and others) as pages of ``project/``.

A page of ``project/`` that contains ``<!-- file: NAME -->`` shows that file; links to it from others lead
to the page. In the repository all links work as they are.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

_MARK = re.compile(r"<!-- file: (\S+) -->")
_LINK = re.compile(r"(\]\()([^)#\s]+?)((?:#[^)\s]*)?\))")


def _pages(docs: Path) -> dict[Path, Path]:
    """Return the page of each file that is shown."""
    found = {}
    for page in (docs / "project").glob("*.md"):
        mark = _MARK.search(page.read_text())
        if mark:
            found[(docs.parent / mark[1]).resolve()] = page
    return found


def _relink(text: str, was: Path, now: Path, docs: Path) -> str:
    """Rewrite relative links of a text that moves from one file to another."""
    pages = _pages(docs)

    def move(match: re.Match[str]) -> str:
        if "://" in match[2] or match[2].startswith(("mailto:", "/")):
            return match[0]
        target = (was.parent / match[2]).resolve()
        target = pages.get(target, target)
        return f"{match[1]}{os.path.relpath(target, now.parent)}{match[3]}"

    return _LINK.sub(move, text)


def show(app: Sphinx, docname: str, source: list[str]) -> None:
    """Insert the file, and lead links to root files to their pages."""
    docs = Path(app.srcdir)
    page = docs / f"{docname}.md"
    if not page.exists():
        return
    mark = _MARK.search(source[0])
    if mark:
        file = docs.parent / mark[1]
        source[0] = _relink(file.read_text(), file, page, docs)
        app.env.note_dependency(str(file))
    elif "](../" in source[0]:
        source[0] = _relink(source[0], page, page, docs)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the hook."""
    app.connect("source-read", show)
    return {"parallel_read_safe": True}
