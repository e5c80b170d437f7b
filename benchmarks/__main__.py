"""Command line: ``python -m benchmarks run [--quick] [--only NAME ...] [--repeats R] [--limit SECONDS] [--out
DIRECTORY]``."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import date
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.figures import draw
from benchmarks.report import line, machine, markdown, printed
from benchmarks.runner import Runner
from benchmarks.works import work_list


def arguments() -> argparse.Namespace:
    """The command line, with the defaults of a full or a quick run filled in."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Measure eigenscape against its peers."
    )
    run = parser.add_subparsers(dest="command", required=True).add_parser(
        "run", help="measure, print and write the tables and figures"
    )
    run.add_argument(
        "--quick", action="store_true", help="smaller sizes, one repeat, limit 30 s: a few minutes"
    )
    run.add_argument(
        "--only", nargs="+", metavar="NAME", help="these rows only; the others are kept from the last run"
    )
    run.add_argument("--repeats", type=int, help="default 3, quick 1")
    run.add_argument("--limit", type=float, help="seconds a fit may take; default 300, quick 30")
    run.add_argument("--out", type=Path, default=Path("docs/benchmarks"))
    options = parser.parse_args()
    options.repeats = options.repeats or (1 if options.quick else 3)
    options.limit = options.limit or (30.0 if options.quick else 300.0)
    known = [work.key for work in work_list(options.quick)]
    unknown = sorted(set(options.only or ()) - set(known))
    if unknown:
        parser.error(f"--only {' '.join(unknown)} is not known; choose from: {' '.join(known)}")
    return options


def main() -> None:
    """Run the work list; results are written after every row, so an interrupted run keeps what it has."""
    options = arguments()
    console = Console(width=None if sys.stdout.isatty() else 220)
    runner = Runner(options.repeats, options.limit, console)
    results = document(options)
    order = [work.key for work in work_list(options.quick)]
    for work in work_list(options.quick):
        if options.only and work.key not in options.only:
            continue
        row = runner.row(work)
        row["date"] = date.today().isoformat()
        results["rows"] = sorted(
            [old for old in results["rows"] if old["key"] != work.key] + [row],
            key=lambda r: order.index(r["key"]),
        )
        write(results, options.out)
        console.print(line(row), highlight=False)
    console.print(printed(results["rows"]))
    console.print(f"written to {options.out}")


def document(options: argparse.Namespace) -> dict[str, Any]:
    """An empty record of a run; with ``--only`` the rows of the last run of the same kind stay."""
    fresh = {
        "machine": machine(),
        "quick": options.quick,
        "repeats": options.repeats,
        "limit_s": options.limit,
        "rows": [],
    }
    file = options.out / "results.json"
    if options.only and file.exists():
        last = json.loads(file.read_text())
        if last["quick"] == options.quick and last["machine"] == fresh["machine"]:
            fresh["rows"] = last["rows"]
    return fresh


def write(results: dict[str, Any], out: Path) -> None:
    """``results.json``, ``README.md`` and the two figures."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    figures = draw(results["rows"], out)
    (out / "README.md").write_text(markdown(results, figures))


if __name__ == "__main__":
    main()
