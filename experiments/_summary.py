"""Counts and tables of the results of all experiments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from rich.markup import escape
from rich.table import Table

from experiments._record import GROUPS, Record


def totals(records: Iterable[Record]) -> dict[str, int]:
    """Count experiments, and claims by their group; own checks are not claims."""
    records = list(records)
    everything = [claim for _, claim in _claims(records)]
    counts = Counter(claim["group"] for claim in everything)
    return {
        "experiments": len(records),
        "failed": sum("error" in record for record in records),
        "claims": sum(not claim["own"] for claim in everything),
        **{group: counts[group] for group in GROUPS},
        "own checks that hold": sum(claim["holds"] for claim in everything if claim["own"]),
    }


def _claims(records: Iterable[Record]) -> Iterator[tuple[str, Record]]:
    """Yield name of the experiment and claim, for all experiments without an error."""
    for record in records:
        if "error" not in record:
            yield from ((record["experiment"], claim) for claim in record["claims"])


def summary(records: Iterable[Record]) -> str:
    """Return the counts of :func:`totals` as text."""
    count = totals(records)
    phrases = {
        "reproduced on stand-ins": "{} reproduced on stand-ins",
        "other outcomes": "{} with another outcome",
        "failing on stand-ins": "{} failing on stand-ins",
        "truly failing": "{} truly failing",
    }
    parts = [f"{count['reproduced']} reproduced"]
    parts += [phrase.format(count[key]) for key, phrase in phrases.items() if count[key]]
    n_finished = _counted(count["experiments"] - count["failed"], "experiment")
    text = f"{_counted(count['claims'], 'claim')} of {n_finished}: {', '.join(parts)}."
    if count["own checks"]:
        text += f" Of {_counted(count['own checks'], 'own check')}, {count['own checks that hold']} hold."
    return text + (f" {_counted(count['failed'], 'experiment')} failed." if count["failed"] else "")


def _counted(number: int, noun: str) -> str:
    """Return a number with its noun in singular or plural."""
    return f"{number} {noun}{'s' * (number != 1)}"


def results_tables(records: Iterable[Record]) -> list[Table]:
    """Return a table for each group of claims that is not empty, and one of the experiments that failed.

    The rows are printed value, measured value and verdict; where a criterion has changed, also the former.
    """
    records = list(records)
    tables = []
    for group, heading in GROUPS.items():
        claims = [(name, claim) for name, claim in _claims(records) if claim["group"] == group]
        if claims:
            tables.append(_table(f"{heading} ({len(claims)})", claims))
    errors = [record for record in records if "error" in record]
    if errors:
        table = Table("experiment", "error", title="experiments that failed", title_justify="left")
        for record in errors:
            table.add_row(record["experiment"], f"[red]failed: {escape(record['error'])}")
        tables.append(table)
    return tables


def _table(heading: str, claims: list[tuple[str, Record]]) -> Table:
    """Return a table of claims, in which the name of an experiment is written once."""
    table = Table(
        "experiment",
        "claim",
        "printed",
        "measured",
        "verdict",
        title=heading[0].upper() + heading[1:],
        title_justify="left",
        pad_edge=False,
    )
    before = ""
    for name, claim in claims:
        color = "green" if claim["holds"] else "yellow" if claim["group"] == "other outcomes" else "red"
        measured = claim["measured"] + (f" [before: {claim['previous']}]" if claim["previous"] else "")
        cells = [escape(text) for text in (claim["text"], claim["printed"], measured)]
        table.add_row(name if name != before else "", *cells, f"[{color}]{escape(claim['verdict'])}")
        before = name
    return table
