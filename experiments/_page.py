"""The HTML page of results: one self-contained file with all claims and figures."""

from __future__ import annotations

import base64
import re
from html import escape
from pathlib import Path

from eigenscape.io import check_target, whole_file
from experiments._record import GENERATOR, VERSION, Record, was_generated
from experiments._summary import summary

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
.good { color: var(--good) } .bad { color: var(--bad); font-weight: 600 }
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
claims that were not reproduced are explained below their table.</p>
<p>{escape(summary(records))}</p>
{_contents(records)}
{body}
</body></html>
"""
    with whole_file(path, force=True) as part:
        part.write_text(page, encoding="utf-8")


def _contents(records: list[Record]) -> str:
    """Return a table with one row per experiment."""
    rows = []
    for record in records:
        name = escape(record["experiment"])
        if "error" in record:
            state = '<span class="bad">failed</span>'
        else:
            claims = [claim for claim in record["claims"] if not claim["own"]]
            held, stand_ins = (
                sum(claim["holds"] for claim in claims),
                sum(claim["data"].startswith("stand-in") for claim in claims),
            )
            where = (
                ""
                if not stand_ins
                else " on a stand-in"
                if stand_ins == len(claims)
                else f", {stand_ins} judged on a stand-in"
            )
            color = "good" if held == len(claims) else "bad"
            state = f'<span class="{color}">{held} of {len(claims)} claims reproduced{where}</span>'
        link = f'<a href="#{name}">{name}</a>'
        rows.append(f"<tr><td>{link}</td><td>{escape(record['title'])}</td><td>{state}</td></tr>")
    return f"<table><tr><th>experiment</th><th></th><th>verdict</th></tr>{''.join(rows)}</table>"


def _experiment(record: Record, folder: Path) -> str:
    """Return the section of an experiment: description, claims, explanations, warnings and figure."""
    name, settings = record["experiment"], record["settings"]
    picture = base64.b64encode((folder / f"{name}.png").read_bytes()).decode()
    rows = "".join(
        "<tr>"
        + "".join(f"<td>{escape(claim[key])}</td>" for key in ("text", "printed", "measured", "criterion"))
        + f'<td class="{"good" if claim["holds"] else "bad"}">{escape(claim["verdict"])}</td></tr>'
        for claim in record["claims"]
    )
    notes = "".join(
        f'<p class="why"><b>{escape(claim["text"])}</b>: {escape(claim["why"])}</p>'
        for claim in record["claims"]
        if claim["why"]
    )
    warned = "".join(f'<p class="why">{escape(text)}</p>' for text in record["warnings"])
    return f"""<section id="{escape(name)}"><h2>{escape(record["title"])}</h2>
<p class="soft">{escape(name)} · {escape(record["paper"])} · data: {escape(record["data"])}
 · size: {settings["size"]} · seed {settings["seed"]} · {record["seconds"]:g} s</p>
{_paragraphs(record["about"])}
<table><tr><th>claim</th><th>printed</th><th>measured</th><th>criterion</th><th>verdict</th></tr>
{rows}</table>{notes}{warned}
<img alt="{escape(record["title"])}" src="data:image/png;base64,{picture}"></section>"""


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
