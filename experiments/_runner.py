"""Run experiments, keep finished results, and write the page of results."""

from __future__ import annotations

import time
import traceback
import warnings
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import matplotlib
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from threadpoolctl import threadpool_limits

from eigenscape.exceptions import WriteError
from experiments import available, experiment
from experiments._data import check_folder
from experiments._experiment import Context
from experiments._page import check_page, write_page
from experiments._record import Record, check_files, finished, make_record, settings, title, write
from experiments._style import STYLE
from experiments._summary import summary


def run(
    names: Iterable[str],
    *,
    data: str | Path | None = None,
    out: str | Path = "reproduced",
    quick: bool = False,
    force: bool = False,
    seed: int = 0,
    tiny: bool = False,
    console: Console | None = None,
    report: Callable[[str], object] | None = None,
) -> list[Record]:
    """Run experiments and write their figures, their numbers and a page of all results to a folder.

    An experiment that fails does not stop the others. Results of an earlier run with the same size, seed,
    data, version and code are kept, unless ``force`` is True.

    Parameters
    ----------
    names : iterable of str
        Names of experiments, see :data:`experiments.EXPERIMENTS`.
    data : path, optional
        Folder with the papers' data sets. If None, stand-ins are used and named in the verdicts.
    out : path, default="reproduced"
        Output folder; created if it does not exist.
    quick : bool, default=False
        Use smaller sizes.
    force : bool, default=False
        Run finished experiments again, and replace results with another size, seed or data.
    seed : int, default=0
        Random seed.
    tiny : bool, default=False
        Use the size of the tests.
    console : rich.console.Console, optional
        Console for the progress bar. If None, no progress is shown.
    report : callable, optional
        Called with a line of text when an experiment is finished.

    Returns
    -------
    list of dict
        Record of each experiment, as in its JSON file. The record of an experiment that failed has
        ``"error"`` instead of ``"claims"``.
    """
    out, names = Path(out), list(dict.fromkeys(names))
    contexts = _prepare(
        names, None if data is None else Path(data), out, Context(None, quick, seed, tiny), force
    )
    records: dict[str, Record] = {}
    columns = (TextColumn("{task.description:<16}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    try:
        with Progress(*columns, console=console, disable=console is None, transient=True) as bar:
            task = bar.add_task("", total=len(names))
            for name in names:
                bar.update(task, description=name)
                kept = None if force else finished(name, out, contexts[name])
                records[name] = kept if kept is not None else _run_one(name, out, contexts[name])
                bar.advance(task)
                if report is not None:
                    report(_line(records[name], kept is not None))
    finally:  # also write the page after an interruption
        others = {name: finished(name, out, contexts[name]) for name in contexts if name not in records}
        shown = {**{name: record for name, record in others.items() if record is not None}, **records}
        write_page(out / "index.html", [shown[name] for name in contexts if name in shown], out)
    return list(records.values())


def _prepare(
    names: list[str], data: Path | None, out: Path, context: Context, force: bool
) -> dict[str, Context]:
    """Check names, data and output folder before any long computation; return a context per experiment."""
    modules = [experiment(name) for name in names]
    if data is not None:
        check_folder(data, dict.fromkeys(file for module in modules for file in getattr(module, "FILES", ())))
    _make_folder(out)
    check_page(out / "index.html")
    contexts = {name: replace(context, data=data, files={}) for name in available()}
    for name in names:
        check_files(name, out, contexts[name], force)
    return contexts


def _make_folder(out: Path) -> None:
    """Create the output folder."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = "is a file" if out.is_file() else f"cannot be created ({error.strerror})"
        raise WriteError(f"the output folder {out} (--out) {problem}; choose another folder") from error


def _line(record: Record, kept: bool) -> str:
    """Return a line of text about a finished experiment."""
    if "error" in record:
        return f"{record['experiment']}: failed, {record['error']}"
    seconds = "kept" if kept else f"{record['seconds']:g} s"
    return f"{record['experiment']}: {summary([record])} ({seconds})"


def _run_one(name: str, out: Path, context: Context) -> Record:
    """Run an experiment, write its files and return its record."""
    module, setting = experiment(name), settings(context)
    start, start_cpu = time.perf_counter(), time.process_time()
    try:
        with (
            matplotlib.rc_context(STYLE),
            # Small products are not faster with several threads, and much slower beside a busy core.
            threadpool_limits(None if context.size == "full" else 1, user_api="blas"),
            warnings.catch_warnings(record=True) as caught,
        ):
            warnings.simplefilter("always")
            outcome = module.run(context)
            warned = list(dict.fromkeys(f"{item.category.__name__}: {item.message}" for item in caught))
            record = make_record(name, outcome, setting, context, time.perf_counter() - start, warned)
            record["cpu_seconds"] = round(time.process_time() - start_cpu, 2)
            write(record, outcome, out)
    except Exception as error:
        return {
            "experiment": name,
            "paper": module.PAPER,
            "title": title(module),
            "error": f"{type(error).__name__}: {error}",
            "traceback": traceback.format_exc(),
        }
    return record
