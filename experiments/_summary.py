"""Counts and tables of the results of all experiments."""

from __future__ import annotations

from collections.abc import Iterable

from rich.markup import escape
from rich.table import Table

from experiments._record import Record


def totals(records: Iterable[Record]) -> dict[str, int]:
    """Count experiments, claims and verdicts."""
    records = list(records)
    everything = [claim for record in records if "error" not in record for claim in record["claims"]]
    claims = [
        (claim["holds"], claim["data"].startswith("stand-in")) for claim in everything if not claim["own"]
    ]
    own = [claim["holds"] for claim in everything if claim["own"]]
    return {
        "experiments": len(records),
        "failed": sum("error" in record for record in records),
        "claims": len(claims),
        "reproduced": sum(held and not stand_in for held, stand_in in claims),
        "reproduced on stand-ins": sum(held and stand_in for held, stand_in in claims),
        "not reproduced": sum(not held for held, _ in claims),
        "own checks": len(own),
        "own checks that hold": sum(own),
    }


def summary(records: Iterable[Record]) -> str:
    """Return the counts of :func:`totals` as a sentence."""
    count = totals(records)
    parts = [f"{count['reproduced']} reproduced"]
    parts += [f"{count[key]} {key}" for key in ("reproduced on stand-ins", "not reproduced") if count[key]]
    n_finished = _counted(count["experiments"] - count["failed"], "experiment")
    text = f"{_counted(count['claims'], 'claim')} of {n_finished}: {', '.join(parts)}."
    if count["own checks"]:
        text += (
            f" Of {_counted(count['own checks'], 'additional check')}, {count['own checks that hold']} hold."
        )
    return text + (f" {_counted(count['failed'], 'experiment')} failed." if count["failed"] else "")


def _counted(number: int, noun: str) -> str:
    """Return a number with its noun in singular or plural."""
    return f"{number} {noun}{'s' * (number != 1)}"


def results_table(records: Iterable[Record]) -> Table:
    """Return a table of claims with printed value, measured value and verdict."""
    table = Table("experiment", "claim", "printed", "measured", "verdict", show_lines=False, pad_edge=False)
    for record in records:
        name = record["experiment"]
        if "error" in record:
            table.add_row(name, "", "", escape(record["error"]), "[red]failed")
            continue
        for claim in record["claims"]:
            color = "green" if claim["holds"] else "red"
            cells = [escape(claim[key]) for key in ("text", "printed", "measured")]
            table.add_row(name, *cells, f"[{color}]{escape(claim['verdict'])}")
            name = ""
    return table
