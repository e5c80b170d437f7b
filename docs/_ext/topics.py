"""The pages of ``docs/*.md`` that no other page lists are the topics."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

MARK = "<!-- topics: all other pages of this folder -->"


def _listed(docs: Path) -> set[str]:
    """Return the pages named in the toctrees of other pages."""
    entries: set[str] = set()
    for page in [*docs.glob("*.md"), *docs.glob("*/index.md")]:
        for block in re.findall(r"```\{toctree\}(.*?)```", page.read_text(), flags=re.DOTALL):
            for line in block.splitlines():
                target = re.sub(r".*<(.+)>", r"\1", line.strip())
                if target and not target.startswith(":"):
                    entries.add(str((page.parent / target).resolve()))
    return entries


def topics(docs: Path) -> list[str]:
    """Return the names of the topic pages in alphabetical order."""
    listed = _listed(docs)
    names = sorted(page.stem for page in docs.glob("*.md"))
    return [
        n for n in names if n not in {"index", "topics", "README"} and str((docs / n).resolve()) not in listed
    ]


def fill(app: Sphinx, docname: str, source: list[str]) -> None:
    """Replace the mark in ``topics.md`` by a toctree."""
    if MARK in source[0]:
        tree = "\n".join(["```{toctree}", ":maxdepth: 1", "", *topics(Path(app.srcdir)), "```"])
        source[0] = source[0].replace(MARK, tree)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the hook."""
    app.connect("source-read", fill)
    return {"parallel_read_safe": True}
