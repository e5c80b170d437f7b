"""Command line ``python -m experiments``: run experiments and compare printed with measured values."""

from __future__ import annotations

import argparse
import json
import os
import sys
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import experiments

#: Exit codes, the same as those of the command ``eigenscape``.
FAILED, USAGE_ERROR, INTERRUPTED = 1, 2, 130

_EPILOG = """\
examples:
  python -m experiments --list
  python -m experiments belkin-1 bengio-2 --out figures
  python -m experiments --all --quick --data data

Each experiment writes a figure (PNG, SVG) and a JSON file with every number; index.html shows all of them.
Finished experiments are kept, so that the same command continues a run that was stopped. The exit code is
1 if an experiment failed with an error; "not reproduced" is a result, not a failure.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Parse the arguments, run the experiments and return the exit code."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.all and options.names:
        parser.error("give names of experiments or --all, not both")
    if options.list:
        _list(options.json)
        return 0
    if not (options.names or options.all):
        parser.print_help()
        print()
        _list(as_json=False)
        return 0
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: print(f"warning: {message}", file=sys.stderr)
        try:
            return _run(options)
        except (ValueError, OSError) as error:
            print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
            return USAGE_ERROR
        except KeyboardInterrupt:
            print(
                f"interrupted; finished experiments are kept in {options.out}; the same command continues",
                file=sys.stderr,
            )
            return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        "python -m experiments",
        description="Run the experiments of the five papers; compare printed values with measured ones.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    data = os.environ.get("EIGENSCAPE_DATA")
    add("names", nargs="*", metavar="NAME", help="names of experiments, see --list")
    add("--all", action="store_true", help="run all experiments")
    add("--list", action="store_true", help="list the experiments and exit")
    add(
        "--data",
        type=Path,
        metavar="DIR",
        default=Path(data) if data else None,
        help="folder with the papers' data sets, made by `python -m experiments.recipes` (default:"
        " $EIGENSCAPE_DATA; if unset, stand-ins are used)",
    )
    add("--out", "-o", type=Path, metavar="DIR", default=Path("reproduced"), help="output folder")
    add("--quick", action="store_true", help="use smaller sizes: all experiments in a few minutes")
    add("--force", action="store_true", help="run finished experiments again and replace their results")
    add("--seed", type=_seed, default=0, help="random seed (default: 0)")
    add(
        "--progress",
        action=argparse.BooleanOptionalAction,
        help="show a progress bar (default: on a terminal)",
    )
    add("--json", action="store_true", help="print the results as JSON")
    add("--quiet", "-q", action="store_true", help="print warnings and errors only")
    return parser


def _seed(text: str) -> int:
    """Convert the argument of ``--seed`` to a non-negative integer."""
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"must be an integer of at least 0, got {text!r}")
    return int(text)


def _run(options: argparse.Namespace) -> int:
    """Run the selected experiments, print their results and return the exit code."""
    from rich.console import Console

    from experiments._runner import run
    from experiments._summary import results_tables, summary, totals

    stderr = Console(stderr=True)
    show_bar = stderr.is_terminal and not options.quiet if options.progress is None else options.progress
    records = run(
        experiments.available() if options.all else options.names,
        data=options.data,
        out=options.out,
        quick=options.quick,
        force=options.force,
        seed=options.seed,
        console=stderr if show_bar else None,
        report=None if show_bar or options.quiet else partial(print, file=sys.stderr, flush=True),
    )
    page = options.out / "index.html"
    if options.json:
        print(json.dumps({"totals": totals(records), "page": str(page), "experiments": records}, indent=1))
    elif not options.quiet:
        for table in results_tables(records):
            Console().print(table)
            print()
        print(summary(records))
        print(f"wrote {page} (page)", file=sys.stderr)
    return FAILED if any("error" in record for record in records) else 0


def _list(as_json: bool) -> None:
    """Print name, title and paper of each experiment."""
    from experiments._record import title

    modules = {name: experiments.experiment(name) for name in experiments.available()}
    about = {name: {"paper": module.PAPER, "title": title(module)} for name, module in modules.items()}
    if as_json:
        print(json.dumps(about, indent=1))
        return
    width = max(map(len, about)) + 2
    for name, entry in about.items():
        print(f"{name:<{width}}{entry['title']} ({entry['paper']})")


if __name__ == "__main__":
    sys.exit(main())
