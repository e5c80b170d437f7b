"""Figures of matplotlib as SVG inside a page: no style attributes, no ids, colours of the page.

The policy of the page forbids style attributes, so they become presentation attributes. Text is escaped by
the XML writer. Ink takes the colour of the surrounding text, which is light in dark mode.
"""

from __future__ import annotations

import io
import re
import warnings
from typing import Any
from xml.etree import ElementTree

from eigenscape._extras import optional_import
from eigenscape.plot._figure import FAINT, INK

_SVG, _XLINK = "{http://www.w3.org/2000/svg}", "{http://www.w3.org/1999/xlink}"
#: Options of matplotlib: text remains text, and equal figures give equal files.
_OPTIONS = {"svg.fonttype": "none", "svg.hashsalt": "eigenscape"}
_GEOMETRY = ("d", "x", "y", "width", "height", "transform", "points")
_DROPPED = ("font-family", "font-stretch", "font-variant", "font-style")


def inline_svg(figure: Any, prefix: str) -> str:
    """Return the figure as an SVG element whose ids begin with ``prefix``."""
    rc_context = optional_import("matplotlib", "writing a report").rc_context
    file = io.BytesIO()
    with warnings.catch_warnings(), rc_context(_OPTIONS):
        warnings.filterwarnings("ignore", message="Glyph")  # the fonts of the browser are used
        warnings.filterwarnings("ignore", message="constrained_layout not applied")
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    root = ElementTree.fromstring(file.getvalue())
    _remove(root, ("metadata", "style"))
    used = set(re.findall(r"#([\w-]+)", " ".join(_references(root))))
    for node in root.iter():
        node.tag = node.tag.removeprefix(_SVG)
        node.attrib = _attributes(node.attrib, used, prefix)
        node.text, node.tail = _without_space(node.text), _without_space(node.tail)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib |= {"stroke-linejoin": "round", "stroke-linecap": "butt", "aria-hidden": "true"}
    return ElementTree.tostring(root, encoding="unicode")


def _remove(node: ElementTree.Element, names: tuple[str, ...]) -> None:
    """Remove elements by name."""
    for child in list(node):
        if child.tag.removeprefix(_SVG) in names:
            node.remove(child)
        else:
            _remove(child, names)


def _references(root: ElementTree.Element) -> list[str]:
    """Return the attributes that refer to ids."""
    keys = (f"{_XLINK}href", "clip-path")
    return [node.attrib[key] for node in root.iter() for key in keys if key in node.attrib]


def _attributes(given: dict[str, str], used: set[str], prefix: str) -> dict[str, str]:
    """Return the attributes of an element as they are in the page."""
    made: dict[str, str] = {}
    for key, value in given.items():
        if key == "id":
            made |= {"id": f"{prefix}-{value}"} if value in used else {}
        elif key == "style":
            made |= _presentation(value)
        elif key == f"{_XLINK}href":
            made["href"] = value.replace("#", f"#{prefix}-")
        elif key == "clip-path":
            made[key] = value.replace("#", f"#{prefix}-")
        else:
            made[key] = value
    return {key: _rounded(value) if key in _GEOMETRY else _page_color(value) for key, value in made.items()}


def _without_space(text: str | None) -> str | None:
    return text if text is not None and text.strip() else None


def _rounded(value: str) -> str:
    """Return a geometric attribute with two decimals, and with single spaces."""
    short = re.sub(r"\d+\.\d+", lambda found: f"{float(found[0]):.2f}".rstrip("0").rstrip("."), value)
    return " ".join(short.split())


def _presentation(style: str) -> dict[str, str]:
    """Return a style attribute as presentation attributes."""
    made: dict[str, str] = {}
    for part in style.split(";"):
        key, _, value = (text.strip() for text in part.partition(":"))
        if key == "font":
            size, weight = re.search(r"([\d.]+)px", value), re.match(r"(\d{3}|bold)\s", value)
            made |= {"font-size": size[1]} if size else {}
            made |= {"font-weight": weight[1]} if weight else {}
        elif key and key not in _DROPPED:
            made[key] = value
    return made


def _page_color(value: str) -> str:
    """Return a colour of the page: the text colour for ink, the line colour for faint ink."""
    colors = {INK.lower(): "currentColor", "#000000": "currentColor", FAINT.lower(): "#8a949c"}
    return colors.get(value.lower(), value)
