"""Command line ``python -m benchmarks run`` and ``python -m benchmarks report``."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from datetime import date
from pathlib import Path
from typing import Any

from rich.console import Console

from benchmarks.cases import Case, Growth, Row, all_cases, is_selected
from benchmarks.figures import draw
from benchmarks.report import machine, markdown
from benchmarks.runner import Runner
from benchmarks.tables import line, terminal_table


def arguments() -> argparse.Namespace:
    """Parse the command line and fill in the defaults of a full or quick run."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description="Compare eigenscape with other libraries."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", help="run benchmarks, print and write tables and figures")
    page = commands.add_parser("report", help="write the page and figures again from results.json")
    run.add_argument(
        "--quick",
        action="store_true",
        help="use smaller sizes, one repeat and a limit of 30 s; takes a few minutes",
    )
    run.add_argument(
        "--only",
        nargs="+",
        metavar="NAME",
        help="run only the cases with these keys or groups (beginnings of keys, as real or real-mnist); keep"
        " the results of the others from the last run",
    )
    run.add_argument("--repeats", type=int, help="number of repeats (default: 3, with --quick 1)")
    run.add_argument(
        "--limit", type=float, help="time limit of a fit in seconds (default: 300, with --quick 30)"
    )
    for command in (run, page):
        command.add_argument(
            "--out",
            type=Path,
            default=Path("docs/benchmarks"),
            help="output folder (default: docs/benchmarks)",
        )
    options = parser.parse_args()
    if options.command == "report":
        return options
    options.repeats = options.repeats or (1 if options.quick else 3)
    options.limit = options.limit or (30.0 if options.quick else 300.0)
    known = [case.key for case in all_cases(options.quick)]
    unknown = [name for name in options.only or () if not any(is_selected(key, [name]) for key in known)]
    if unknown:
        parser.error(f"--only: unknown case {', '.join(unknown)}; choose from {', '.join(known)}")
    return options


def main() -> None:
    """Run the cases, or write the page again from the results of the last run."""
    options = arguments()
    if options.command == "run":
        run(options)
        return
    results = json.loads((options.out / "results.json").read_text())
    results["rows"] = with_goals(results["rows"], all_cases(results["quick"]))
    write_page(results, options.out)


def run(options: argparse.Namespace) -> None:
    """Run the cases; results are written after each case, so that an interrupted run keeps them."""
    console = Console(width=None if sys.stdout.isatty() else 220)
    runner = Runner(options.repeats, options.limit, console)
    results = document(options)
    order = [case.key for case in all_cases(options.quick)]
    for case in all_cases(options.quick):
        if not is_selected(case.key, options.only):
            continue
        start = time.perf_counter()
        row = runner.row(case)
        row.update(date=date.today().isoformat(), measured_in_s=time.perf_counter() - start)
        row["version"] = results["machine"]["eigenscape"]
        results["rows"] = sorted(
            [old for old in results["rows"] if old["key"] != case.key] + [row],
            key=lambda r: order.index(r["key"]),
        )
        write_results(results, options.out)
        console.print(line(row), highlight=False)
    runner.pool.close()
    write_page(results, options.out)
    console.print(terminal_table(results["rows"]))
    console.print(f"wrote results to {options.out}")


def document(options: argparse.Namespace) -> dict[str, Any]:
    """Return a new results document; with ``--only`` it contains the rows of the last comparable run."""
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
        if last["quick"] == options.quick and last["machine"]["cores"] == fresh["machine"]["cores"]:
            fresh["rows"] = with_goals(last["rows"], all_cases(options.quick))
    return fresh


def with_goals(rows: list[dict[str, Any]], cases: list[Row]) -> list[dict[str, Any]]:
    """Return kept rows with the goals of today, without those of cases that no longer exist."""
    known = {case.key: case for case in cases}
    kept = [row for row in rows if row["key"] in known]
    for row in kept:
        case = known[row["key"]]
        if isinstance(case, Case):
            row["goal"] = asdict(case.goal)
        elif isinstance(case, Growth):
            row["goal"] = {"time_exponent": case.time_exponent, "memory_exponent": case.memory_exponent}
    return kept


def write_results(results: dict[str, Any], out: Path) -> None:
    """Write ``results.json``."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "results.json").write_text(json.dumps(results, indent=1) + "\n")


def write_page(results: dict[str, Any], out: Path) -> None:
    """Write ``README.md`` and the figures."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "README.md").write_text(markdown(results, draw(results["rows"], out)))


if __name__ == "__main__":
    main()
