"""``eigenscape reproduce``: the papers' experiments, printed beside measured."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from eigenscape.app.cli._errors import FAILED, WrongCommandError
from eigenscape.app.cli._shared import AsJson, Progress, Quiet, say


def reproduce(
    context: typer.Context,
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Experiments, as --list names them.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", metavar="", help="All of them.")] = False,
    listing: Annotated[bool, typer.Option("--list", metavar="", help="List them and stop.")] = False,
    data: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            envvar="EIGENSCAPE_DATA",
            help="Folder of the real data sets; else stand-ins, and it is said.",
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="DIR", help="Folder of the figures, numbers and page.")
    ] = Path("reproduced"),
    quick: Annotated[
        bool, typer.Option("--quick", metavar="", help="Smaller sizes: all of them in minutes.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option(
            "--force", metavar="", help="Run again what is finished; replace results of another size or seed."
        ),
    ] = False,
    seed: Annotated[int, typer.Option(help="Of everything random.", min=0)] = 0,
    progress: Progress = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Run the experiments of the five papers, and print what was printed beside what comes out here.

    Examples

        eigenscape reproduce --list
        eigenscape reproduce belkin-1 bengio-2 --out figures
        eigenscape reproduce --all --quick --data data

    Each leaves a figure (PNG, SVG) and a JSON file with every number in the folder; index.html shows them
    all. What is finished is kept, so that a run that was stopped goes on where it was. Exit code 1 if an
    experiment failed; "not reproduced" is a result."""
    from experiments import available

    if everything and names:
        raise WrongCommandError("name experiments or take --all, not both")
    if listing:
        _list(available(), as_json)
        return
    if not names and not everything:
        typer.echo(context.get_help())
        _list(available(), as_json=False)
        return
    _run(
        available() if everything else list(names or []),
        data,
        out,
        quick,
        force,
        seed,
        progress,
        as_json,
        quiet,
    )


def _run(
    names: list[str],
    data: Path | None,
    out: Path,
    quick: bool,
    force: bool,
    seed: int,
    progress: bool | None,
    as_json: bool,
    quiet: bool,
) -> None:
    from rich.console import Console

    from experiments._runner import run
    from experiments._summary import results_table, summary, totals

    errors = Console(stderr=True)
    shown = errors.is_terminal and not quiet if progress is None else progress
    said = None if shown or quiet else partial(typer.echo, err=True)
    try:
        records = run(
            names,
            data=data,
            out=out,
            quick=quick,
            force=force,
            seed=seed,
            console=errors if shown else None,
            said=said,
        )
    except KeyboardInterrupt:
        typer.echo(
            f"stopped; what is finished is kept in {out}, and the same command goes on from there", err=True
        )
        raise
    if as_json:
        typer.echo(
            json.dumps(
                {"totals": totals(records), "page": str(out / "index.html"), "experiments": records}, indent=1
            )
        )
    elif not quiet:
        Console().print(results_table(records))
        typer.echo(summary(records))
    say(f"wrote {out / 'index.html'} (page)", quiet or as_json)
    if any("error" in record for record in records):
        raise typer.Exit(FAILED)


def _list(names: list[str], as_json: bool) -> None:
    from experiments import experiment
    from experiments._record import title

    found: dict[str, dict[str, Any]] = {
        name: {"paper": experiment(name).PAPER, "title": title(experiment(name))} for name in names
    }
    if as_json:
        typer.echo(json.dumps(found, indent=1))
        return
    for name, about in found.items():
        typer.echo(f"{name:<16}{about['title']} ({about['paper']})")
