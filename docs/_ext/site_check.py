"""Checks of the built site: internal links and anchors, every public name, and what a search finds."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import public_names
from sphinx.util.inventory import InventoryFile

#: Words of other libraries and the page that the search lists first for them.
_FIRST_FOUND = {"out-of-sample": "guide/new-points", "out of sample": "guide/new-points"}


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: set[str] = set()
        self.outside: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        if found.get("id"):
            self.anchors.add(str(found["id"]))
        for name in ("href", "src"):
            target = found.get(name)
            if not target:
                continue
            parts = urlsplit(target)
            if parts.scheme in ("http", "https") or target.startswith("//"):
                if tag in ("script", "link", "img"):
                    self.outside.add(target)
            elif not parts.scheme:
                self.links.add(target)


def _read(site: Path) -> dict[Path, _Page]:
    pages = {}
    for path in sorted(site.rglob("*.html")):
        if "_static" in path.parts:  # templates of the theme
            continue
        page = _Page()
        page.feed(path.read_text(encoding="utf-8"))
        pages[path.resolve()] = page
    return pages


def _broken_links(site: Path, pages: dict[Path, _Page]) -> list[str]:
    problems = []
    for path, page in pages.items():
        where = path.relative_to(site.resolve())
        problems += [f"{where}: fetches {target}" for target in page.outside]
        for link in page.links:
            parts = urlsplit(link)
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                problems.append(f"{where}: no file {link}")
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].anchors:
                problems.append(f"{where}: no anchor {link}")
    return problems


def _undocumented(site: Path) -> list[str]:
    with (site / "objects.inv").open("rb") as stream:
        inventory = InventoryFile.load(stream, "", lambda base, target: target)
    objects = getattr(inventory, "data", inventory)  # a class since Sphinx 8.2
    names = {name for kind, found in objects.items() if kind.startswith("py:") for name in found}
    return [f"{name}: not in the reference" for name in public_names.all_names() if name not in names]


def _not_found_first(site: Path) -> list[str]:
    """Return queries whose page is not the main entry of the search index."""
    text = (site / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    problems = []
    for query, page in _FIRST_FOUND.items():
        entries = index["indexentries"].get(query, [])
        if page not in [index["docnames"][entry[0]] for entry in entries if entry[2]]:
            problems.append(f"search: {page} is not the main entry of {query!r}")
    return problems


def check_site(site: Path) -> list[str]:
    """Return what is wrong with a built site, one line each."""
    return _broken_links(site, _read(site)) + _undocumented(site) + _not_found_first(site)
