"""HTML of a report page. All text from users is escaped here."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from typing import Any

from eigenscape._format import escape_controls
from eigenscape.app.io.atomic import whole_file
from eigenscape.app.page import asset, bundle
from eigenscape.app.report._charts import Charts
from eigenscape.app.report._details import Details
from eigenscape.app.report._formatting import format_score
from eigenscape.app.report._summary import Summary
from eigenscape.quality import Estimate

#: Forbids all network access, and every script and style except the page's own, named by their hashes.
_POLICY = (
    "default-src 'none'; script-src 'sha256-{script}'; style-src 'sha256-{style}';"
    " img-src data: blob:; base-uri 'none'; form-action 'none'"
)


def text(value: object) -> str:
    """Return a value as escaped text, with control characters as escape sequences."""
    return escape(escape_controls(str(value)))


def class_attribute(name: str) -> str:
    """Return the class attribute of an element, or nothing for an empty name."""
    return f' class="{name}"' if name else ""


def section(title: str, *parts: str, place: str = "", kind: str = "") -> str:
    """Return a section with a heading; ``place`` is its id and ``kind`` its class."""
    attributes = (f' id="{place}"' if place else "") + class_attribute(kind)
    content = "\n".join(part for part in parts if part)
    return f"<section{attributes}>\n<h2>{text(title)}</h2>\n{content}\n</section>"


def note(content: str) -> str:
    """Return a paragraph in small print."""
    return f'<p class="note">{text(content)}</p>' if content else ""


def columns(*sections: str) -> str:
    """Return sections side by side."""
    content = "\n".join(one for one in sections if one)
    return f'<div class="pair">\n{content}\n</div>' if content else ""


def figure(charts: Charts, place: str, description: str) -> str:
    """Return a chart with a description for screen readers, or "" if there is none of this name."""
    if place not in charts:
        return ""
    return (
        f'<div class="chart" id="{place}" role="img" aria-label="{text(description)}">{charts[place]}</div>'
    )


def details_table(details: Details) -> str:
    """Return a table of names and values."""
    rows = "".join(
        f'<tr><th scope="row">{text(name)}</th><td>{text(value)}</td></tr>' for name, value in details
    )
    return f'<div class="scroll"><table class="facts"><tbody>{rows}</tbody></table></div>' if rows else ""


def parameters_block(title: str, changed: Details, unchanged: Details) -> str:
    """Return the parameters of a model, those at their defaults folded."""
    summary = f"<summary>{len(unchanged)} parameters at their defaults</summary>"
    folded = f"<details>{summary}{details_table(unchanged)}</details>"
    return f"<div><h3>{text(title)}</h3>{details_table(changed)}{folded}</div>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are HTML, the first of a row is its heading."""
    top = "".join(f'<th scope="col">{text(name)}</th>' for name in head)
    body = "".join(f'<tr><th scope="row">{row[0]}</th>{_cells(row[1:])}</tr>' for row in rows)
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _cells(cells: Sequence[str]) -> str:
    return "".join(cell if cell.startswith("<td") else f"<td>{cell}</td>" for cell in cells)


def interval(estimate: Estimate, write: Callable[[float], str] = format_score) -> str:
    """Return a value with its interval."""
    value, low, high = (write(number) for number in estimate)
    limits = "exact, all points" if estimate.low == estimate.high else f"{low} to {high}"
    return f'{value}<span class="interval">{limits}</span>'


def tile(name: str, value: str, more: str, kind: str = "") -> str:
    """Return a number in large print."""
    return (
        f'<li class="{kind}"><span class="what">{text(name)}</span><span class="number">{text(value)}</span>'
        f'<span class="more">{text(more)}</span></li>'
    )


def bullets(sentences: Iterable[str]) -> str:
    """Return a list of sentences."""
    return "<ul>" + "".join(f"<li>{text(sentence)}</li>" for sentence in sentences) + "</ul>"


def summary_block(summary: Summary) -> str:
    """Return the three parts of a summary."""
    titles = (
        ("What this map is", summary.description),
        ("How reliable it is", summary.quality),
        ("What to try next", summary.suggestions),
    )
    blocks = "".join(f"<div><h3>{title}</h3>{bullets(sentences)}</div>" for title, sentences in titles)
    return f'<div class="words">{blocks}</div>'


def map_block(n_axes: int, wide: bool, remark: str, placing: bool = False) -> str:
    """Return the controls, the frame and the legend of a map, and a form for a row to be placed."""
    kind, axes = "mapgrid wide" if wide else "mapgrid", ""
    if n_axes > 2:
        axes = (
            '<label>Horizontal axis <select id="horizontal"></select></label>'
            '<label>Vertical axis <select id="vertical"></select></label>'
            '<label>Depth <select id="depth"></select></label>'
        )
    tools = "".join(
        f'<button type="button" data-tool="{tool}" aria-pressed="false" title="{title}">{name}</button>'
        for tool, name, title in (
            ("pan", "Move", "Drag to move the map"),
            ("box", "Box", "Drag a box to select points"),
            ("lasso", "Lasso", "Draw around points to select them"),
        )
    )
    steps = "".join(
        f'<button type="button" id="{place}" title="{title}">{name}</button>'
        for place, name, title in (
            ("zoom-in", "+", "Magnify (also Ctrl and the wheel)"),
            ("zoom-out", "−", "Reduce"),
            ("zoom-all", "All", "Show all points"),
            ("save-picture", "Save picture", "Save the map as a PNG file"),
        )
    )
    return f"""<div class="controls">
<label for="colour">Colour by <select id="colour"></select></label>{axes}
<label for="find">Find an id
<input type="search" id="find" placeholder="id, then Enter" autocomplete="off"></label>
<label class="line"><input type="checkbox" id="equal"> equal scales</label>
</div>
<div class="controls tools" role="group" aria-label="tools of the map">{tools}{steps}
<span id="found" role="status" class="meta"></span></div>
<div class="{kind}">
<div class="frame" id="frame"><div id="maps"></div><div id="card" hidden role="status"></div></div>
<div id="legend" role="group" aria-label="legend"></div>
</div>
<p id="chosen" hidden><span role="status"></span><button type="button" id="save-ids">Save ids</button>
<button type="button" id="clear">Clear selection</button></p>
{_placing_block() if placing else ""}<p class="note">{text(remark)}</p>
<noscript><p>The map needs JavaScript, which is part of this file. The numbers are readable without it.</p>
</noscript>"""


def _placing_block() -> str:
    return """<form id="place-form"><label for="row">Place a new row <textarea id="row" rows="2"
spellcheck="false" autocomplete="off"></textarea></label>
<p class="actions"><button type="submit">Place</button>
<button type="button" id="remove-rows">Remove</button></p>
<p id="placed" role="status" class="meta"></p></form>
"""


def omitted_section(reasons: Iterable[tuple[str, str]]) -> str:
    """Return the list of measures that were not computed, with the reasons."""
    lines = "".join(f"<li><strong>{text(name)}</strong>: {text(reason)}</li>" for name, reason in reasons)
    return section("Not computed", f'<ul class="left-out">{lines}</ul>', place="left-out") if lines else ""


def command_block(command: str | None) -> str:
    """Return the command, if there is one."""
    return f"<h3>Command</h3><pre>{text(command)}</pre>" if command else ""


def _script_json(page: dict[str, Any]) -> str:
    """Return the data of the script as JSON without characters that end a script element."""
    content = json.dumps(page, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return content.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hash(content: str) -> str:
    """Return the hash of a script or style as it is written in a content policy."""
    return base64.b64encode(hashlib.sha256(content.encode("utf-8")).digest()).decode("ascii")


def document(title: str, meta: str, body: str, page: dict[str, Any]) -> str:
    """Return the whole page."""
    style, script = f"{asset('map.css')}\n{asset('report.css')}", bundle("report.js")
    policy = _POLICY.format(script=_hash(script), style=_hash(style))
    now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="eigenscape">
<title>{text(title)}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<a class="skip" href="#summary">Skip to the summary</a>
<header class="top"><h1>{text(title)}</h1><p class="meta">{text(meta)}</p></header>
<main>
{body}
</main>
<footer><p>Created by eigenscape on {now}. This file is self-contained; it loads
and sends nothing.</p></footer>
<script type="application/json" id="report-data">{_script_json(page)}</script>
<script type="module">{script}</script>
</body>
</html>
"""


def write_page(path: str | Path, content: str, force: bool) -> None:
    """Write the page atomically."""
    with whole_file(path, force=force) as part:
        Path(part).write_text(content, encoding="utf-8", errors="replace")
