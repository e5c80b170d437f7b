"""From the parts of a report to one HTML file that needs nothing else. All that users wrote is escaped
here."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

from eigenscape.app.io.atomic import whole_file
from eigenscape.app.report._facts import Facts, kept_number
from eigenscape.app.report._words import Summary

#: Nothing may be fetched, whatever the data say. (WebGL figures compile their shaders' drawing code, hence
#: unsafe-eval.)
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none';"
    " form-action 'none'"
)


def text(value: Any) -> str:
    """Anything as text of a page."""
    return escape(str(value))


def of_class(kind: str) -> str:
    """The class attribute of an element, where it has one."""
    return f' class="{kind}"' if kind else ""


def section(title: str, *parts: str, place: str = "", kind: str = "") -> str:
    """A part of the page under a heading."""
    attributes = (f' id="{place}"' if place else "") + of_class(kind)
    return (
        f"<section{attributes}>\n<h2>{text(title)}</h2>\n"
        + "\n".join(part for part in parts if part)
        + "\n</section>"
    )


def paragraph(words: str, kind: str = "") -> str:
    """One paragraph."""
    return f"<p{of_class(kind)}>{text(words)}</p>" if words else ""


def pair(*sections: str) -> str:
    """Sections side by side where there is room."""
    made = [one for one in sections if one]
    inside = "\n".join(made)
    return f'<div class="pair">\n{inside}\n</div>' if made else ""


def figure(place: str, description: str) -> str:
    """Where a chart is drawn, with what it shows for those who cannot see it."""
    return f'<div class="chart" id="{place}" role="img" aria-label="{text(description)}"></div>'


def facts_table(facts: Facts) -> str:
    """Names and values."""
    rows = "".join(
        f'<tr><th scope="row">{text(name)}</th><td>{text(value)}</td></tr>' for name, value in facts
    )
    return f'<div class="scroll"><table class="facts"><tbody>{rows}</tbody></table></div>'


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; the cells are HTML already, the first of each row its heading."""
    top = "".join(f'<th scope="col">{text(name)}</th>' for name in head)
    body = "".join(f'<tr><th scope="row">{row[0]}</th>{_cells(row[1:])}</tr>' for row in rows)
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def _cells(cells: Sequence[str]) -> str:
    return "".join(cell if cell.startswith("<td") else f"<td>{cell}</td>" for cell in cells)


def interval(value: float, low: float, high: float) -> str:
    """A number with its interval, or alone where it is exact."""
    if low == high:
        return f'{kept_number(value)}<span class="interval">exact, all points</span>'
    return f'{kept_number(value)}<span class="interval">{kept_number(low)} to {kept_number(high)}</span>'


def tile(name: str, value: str, more: str, kind: str = "") -> str:
    """A number in large print."""
    return (
        f'<li class="{kind}"><span class="what">{text(name)}</span><span class="number">{text(value)}</span>'
        f'<span class="more">{text(more)}</span></li>'
    )


def bullets(sentences: Iterable[str]) -> str:
    """Sentences, one below the other."""
    return "<ul>" + "".join(f"<li>{text(sentence)}</li>" for sentence in sentences) + "</ul>"


def words_block(summary: Summary) -> str:
    """The three parts of a summary."""
    titles = (
        ("What this map is", summary.what),
        ("How far it can be trusted", summary.trust),
        ("What to try next", summary.advice),
    )
    blocks = "".join(f"<div><h3>{title}</h3>{bullets(said)}</div>" for title, said in titles)
    return f'<div class="words">{blocks}</div>'


def map_block(n_axes: int, wide: bool, note: str) -> str:
    """The map's controls, its frame and its legend."""
    kind, axes = "mapgrid wide" if wide else "mapgrid", ""
    if n_axes > 2:
        axes = '<label>Across <select id="horizontal"></select></label><label>Up <select id="vertical"></select></label>'
    return f"""<div class="controls">
<label for="colour">Colour by <select id="colour"></select></label>{axes}
<label for="find">Find an id <input type="search" id="find" placeholder="id, then Enter" autocomplete="off"></label>
<label class="line"><input type="checkbox" id="equal"> equal scales</label>
<span id="found" role="status" class="meta"></span>
</div>
<div class="{kind}">
<div class="frame"><div id="map" role="img" aria-label="map of the points"></div><div id="card" hidden role="status"></div></div>
<div id="legend" role="group" aria-label="legend"></div>
</div>
<p id="chosen" hidden><span role="status"></span><button type="button" id="save-ids">Save their ids</button>
<button type="button" id="clear">Clear the selection</button></p>
<p class="note">{text(note)} <span id="thinned"></span></p>
<noscript><p>The map needs JavaScript, which is part of this file; all numbers are readable without it.</p></noscript>"""


def left_out_block(left_out: dict[str, str]) -> str:
    """What does not apply, one line each."""
    if not left_out:
        return ""
    lines = "".join(
        f"<li><strong>{text(name[:1].upper() + name[1:])}</strong>: {text(why)}</li>"
        for name, why in left_out.items()
    )
    return section("Left out", f'<ul class="left-out">{lines}</ul>', place="left-out")


def payload(page: dict[str, Any]) -> str:
    """Data for the script, safe inside a page whatever texts it holds."""
    made = json.dumps(page, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return made.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def document(title: str, meta: str, body: str, page: dict[str, Any]) -> str:
    """The whole page."""
    from plotly.offline import get_plotlyjs

    assets = files("eigenscape.app.report") / "assets"
    style, script = (assets / "page.css").read_text("utf-8"), (assets / "page.js").read_text("utf-8")
    made = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="generator" content="eigenscape">
<title>{text(title)}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<a class="skip" href="#map-section">Go to the map</a>
<header class="top"><h1>{text(title)}</h1><p class="meta">{text(meta)}</p></header>
<main>
{body}
</main>
<footer><p>Made by eigenscape on {made}. This file holds everything it shows; nothing is sent or fetched.</p></footer>
<script type="application/json" id="report-data">{payload(page)}</script>
<script>{get_plotlyjs()}</script>
<script>{script}</script>
</body>
</html>
"""


def write_page(path: str | Path, content: str, force: bool) -> None:
    """Put the page where it belongs, whole."""
    with whole_file(path, force=force) as part:
        Path(part).write_text(content, encoding="utf-8", errors="replace")
