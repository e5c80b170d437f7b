"""The HTML page of results: one self-contained file with all claims and figures."""

from __future__ import annotations

import base64
import re
from html import escape
from pathlib import Path

from eigenscape.io import check_target, whole_file
from experiments._record import GENERATOR, VERSION, Record, was_generated
from experiments._summary import summary, totals

_STYLE = """
:root {
  color-scheme: light; --ink: #1c2430; --soft: #5a6472; --line: #dde2e8;
  --good: #1a7f4b; --bad: #b3261e; }
body {
  margin: 0 auto; max-width: 72rem; padding: 2rem 1.2rem;
  font: 16px/1.5 system-ui, sans-serif; color: var(--ink)
}
html { background: #f6f7f9 }
h1 { font-size: 1.7rem; margin: 0 0 .3rem } h2 { font-size: 1.2rem; margin: 0 } a { color: #0b5cad }
section {
  background: #fff; border: 1px solid var(--line); border-radius: 8px; padding: 1.2rem; margin: 1.4rem 0;
}
.soft { color: var(--soft); font-size: .9rem; margin: .2rem 0 .8rem }
table { border-collapse: collapse; width: 100%; font-size: .92rem; margin: .6rem 0 1rem }
th, td {
  text-align: left; vertical-align: top; padding: .35rem .6rem .35rem 0; border-bottom: 1px solid var(--line)
}
img { max-width: 100%; display: block; margin: .6rem auto }
.good { color: var(--good) } .bad { color: var(--bad); font-weight: 600 } .other { color: #8a5a00 }
pre { overflow-x: auto; font-size: .8rem } .why { font-size: .9rem; margin: .3rem 0 }
"""


def check_page(path: Path) -> None:
    """Raise an error if the page cannot be written or would replace a file of the user."""
    check_target(path, force=True)
    if path.is_file() and not was_generated(path):
        raise FileExistsError(
            f"{path} already exists and was not written by `python -m experiments`;"
            " choose another folder with --out"
        )


def write_page(path: Path, records: list[Record], folder: Path) -> None:
    """Write the page: a summary, then each experiment with its claims and figure."""
    body = "\n".join(
        _failed(record) if "error" in record else _experiment(record, folder) for record in records
    )
    page = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="generator" content="{GENERATOR}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Experiments of five papers</title><style>{_STYLE}</style></head><body>
<h1>Experiments of five papers, reproduced</h1>
<p class="soft">Computed by eigenscape {escape(VERSION)}. Verdicts are computed from the measured values;
claims that were not reproduced are explained below their table. A claim truly fails if its criterion was
measured on the paper's data (or on data generated as in the paper) and is not met; at the quick
size, fewer points or repetitions may be the reason. Own checks and explorations correspond to no statement
of a paper and are not counted with its claims.</p>
<p>{escape(summary(records))}</p>
{_contents(records)}
{body}
</body></html>
"""
    with whole_file(path, force=True) as part:
        part.write_text(page, encoding="utf-8")


def _contents(records: list[Record]) -> str:
    """Return a table with one row per experiment: claims of the paper and own checks in separate columns."""
    rows = []
    for record in records:
        name = escape(record["experiment"])
        states = _failed_state() if "error" in record else _states(record)
        link = f'<a href="#{name}">{name}</a>'
        rows.append(f"<tr><td>{link}</td><td>{escape(record['title'])}</td>{states}</tr>")
    heads = "".join(f"<th>{head}</th>" for head in ("experiment", "", *_COLUMNS, "own checks that hold"))
    return f"<table><tr>{heads}</tr>{''.join(rows)}</table>"


#: Columns of the table of contents, with the groups of claims that they count.
_COLUMNS = {
    "claims reproduced": ("reproduced", "reproduced on stand-ins"),
    "another outcome": ("other outcomes",),
    "truly failing": ("truly failing", "failing on stand-ins"),
}


def _states(record: Record) -> str:
    """Return the cells of an experiment in the table of contents."""
    count, cells = totals([record]), []
    for column, groups in _COLUMNS.items():
        number, stand_ins = (
            sum(count[key] for key in groups),
            sum(count[key] for key in groups if "stand-in" in key),
        )
        color = "good" if column == "claims reproduced" else "bad" if column == "truly failing" else "other"
        text = f"{number} of {count['claims']}" if column == "claims reproduced" else str(number or "")
        text += f" ({stand_ins} on a stand-in)" if stand_ins else ""
        cells.append(f'<td class="{color if number else "soft"}">{text}</td>')
    own = f"{count['own checks that hold']} of {count['own checks']}" if count["own checks"] else ""
    return "".join(cells) + f"<td>{own}</td>"


def _failed_state() -> str:
    """Return the cells of an experiment that ended with an error."""
    return f'<td class="bad" colspan="{len(_COLUMNS) + 1}">failed</td>'


def _experiment(record: Record, folder: Path) -> str:
    """Return the section of an experiment: description, claims, explanations, warnings and figure."""
    name, settings = record["experiment"], record["settings"]
    picture = base64.b64encode((folder / f"{name}.png").read_bytes()).decode()
    paper = [claim for claim in record["claims"] if not claim["own"]]
    own = [claim for claim in record["claims"] if claim["own"]]
    tables = _claims("claim of the paper", paper) + _claims("own check, not in the paper", own)
    notes = "".join(
        f'<p class="why"><b>{escape(claim["text"])}</b>: {escape(text)}</p>'
        for claim in record["claims"]
        for text in (claim["why"], f"before: {claim['previous']}" if claim["previous"] else "")
        if text
    )
    warned = "".join(f'<p class="why">{escape(text)}</p>' for text in record["warnings"])
    return f"""<section id="{escape(name)}"><h2>{escape(record["title"])}</h2>
<p class="soft">{escape(name)} · {escape(record["paper"])} · data: {escape(record["data"])}
 · size: {settings["size"]} · seed {settings["seed"]} · {record["seconds"]:g} s</p>
{_paragraphs(record["about"])}
{tables}{notes}{warned}
<img alt="{escape(record["title"])}" src="data:image/png;base64,{picture}"></section>"""


def _claims(heading: str, claims: list[Record]) -> str:
    """Return a table of claims, or an empty text if there are none."""
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{escape(claim[key])}</td>" for key in ("text", "printed", "measured", "criterion"))
        + f'<td class="{_color(claim)}">{escape(claim["verdict"])}</td></tr>'
        for claim in claims
    )
    heads = "".join(f"<th>{head}</th>" for head in (heading, "printed", "measured", "criterion", "verdict"))
    return f"<table><tr>{heads}</tr>{rows}</table>" if claims else ""


def _color(claim: Record) -> str:
    """Return the style of a verdict."""
    return "good" if claim["holds"] else "other" if claim["group"] == "other outcomes" else "bad"


def _paragraphs(text: str) -> str:
    """Convert plain text with ``code`` to HTML paragraphs."""
    parts = [re.sub(r"``(.+?)``", r"<code>\1</code>", escape(part)) for part in text.split("\n\n")]
    return "".join(f"<p>{part}</p>" for part in parts if part)


def _failed(record: Record) -> str:
    """Return the section of an experiment that ended with an error."""
    name = escape(record["experiment"])
    return (
        f'<section id="{name}"><h2>{escape(record["title"])}</h2>'
        f'<p class="soft">{name} · {escape(record["paper"])}</p>'
        f'<p class="bad">failed: {escape(record["error"])}</p>'
        f"<details><summary>traceback</summary><pre>{escape(record['traceback'])}</pre></details></section>"
    )
