"""The steps that commands share: read, fit an estimator or load a model, write, print a summary."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from eigenscape.app.cli.errors import CommandError, print_message
from eigenscape.app.cli.fitting import (
    announce_memory,
    check_weight_option,
    describe_dominance,
    describe_fit,
    fit_estimator,
    fit_scaler,
    given_labels,
    scale,
    training_coordinates,
    uses_classes,
    warn_of_few_points,
    warn_of_scales,
    weight_column,
)
from eigenscape.app.cli.input import (
    SavedModel,
    column_roles,
    input_kind,
    load_model,
    read_new_table,
    read_training_table,
    use_stream,
)
from eigenscape.app.cli.options import Display, InputOptions, OutputOptions
from eigenscape.app.cli.output import check_targets, print_summary, save_model, write_fit_report

if TYPE_CHECKING:
    import numpy as np
    from sklearn.base import BaseEstimator
    from sklearn.preprocessing import StandardScaler

    from eigenscape.app.io import Table
    from eigenscape.app.report.scales import Dominance


#: Options for reading that a saved model has decided.
_DECIDED = ("standardize", "columns", "exclude", "encode")


@dataclass
class Timer:
    """Seconds of each step of a command."""

    seconds: dict[str, float] = field(default_factory=dict)
    stages: dict[str, float] = field(default_factory=dict)  # stages within the fit

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        """Add the time spent in the block to ``seconds[name]``."""
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def by_stage(self) -> dict[str, float]:
        """Return the seconds of reading and of each stage of the fit, without overlap."""
        rest = max(0.0, self.seconds["fit"] - sum(self.stages.values()))
        return {"reading": self.seconds["reading"], **self.stages, "everything else": rest}


@contextmanager
def show_progress(display: Display) -> Iterator[dict[str, float]]:
    """Show progress for the block; the yielded dict holds the seconds of each stage after it.

    By default it is shown unless ``quiet``: bars on a terminal, elsewhere lines of text after two seconds.
    """
    from eigenscape._progress import recording, reporting
    from eigenscape._progress_displays import QUIET_SECONDS

    seconds: dict[str, float] = {}
    by_default = not display.quiet, QUIET_SECONDS
    visible, delay = by_default if display.progress is None else (display.progress, 0.0)
    with reporting(visible and sys.stderr is not None, delay), recording() as stages:
        yield seconds
    seconds.update({stage.name: stage.seconds for stage in stages})


@dataclass(frozen=True, eq=False)
class CommandFit:
    """An estimator fitted to a table."""

    estimator: BaseEstimator
    table: Table  # as read
    fitted_table: Table  # standardised, if requested
    scaler: StandardScaler | None
    timer: Timer
    embedding: Any = None  # (n, n_components), or None if the estimator has no coordinates
    memory_estimate: float | None = None  # in bytes
    dominance: Dominance | None = None  # columns that dominate the distances

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(self.embedding) if self.embedding is not None else self.table.array.shape[0]


@dataclass(eq=False)
class Run:
    """One run of a command, from the input to the files that it writes."""

    source: str
    reading: InputOptions
    writing: OutputOptions
    display: Display
    command: str = ""  # as it was typed
    model_file: str | None = None
    timer: Timer = field(default_factory=Timer)

    def __post_init__(self) -> None:
        """Raise CommandError if a target cannot be written."""
        check_targets(self.source, self.writing, self.display, self.model_file)

    def read(self, cls: type[Any] | None = None, parameters: Mapping[str, Any] | None = None) -> Table:
        """Read the rows to fit, as an estimator class with these parameters needs them."""
        kind = input_kind(self.reading.kind, dict(parameters or {}))
        self.reading = replace(self.reading, kind=kind)
        if cls is not None:
            stream = use_stream(self.source, self.reading.stream, cls)
            self.reading = replace(self.reading, stream=stream)
            check_weight_option(cls, self.reading)
        with self.timer.measure("reading"):
            return read_training_table(self.source, self.reading, self.display.quiet)

    def read_new(self, saved: SavedModel) -> Table:
        """Read new rows with the columns that a model was fitted to."""
        with self.timer.measure("reading"):
            return read_new_table(self.source, self.reading, saved.notes, self.display.quiet)

    def load(self, cls: type[Any], refused: Mapping[str, object]) -> tuple[SavedModel, Table]:
        """Return the saved model of a class and new rows; ``refused`` options must not be given with it."""
        decided = {f"--{name}": getattr(self.reading, name) for name in _DECIDED}
        for option, value in {"--save": self.writing.save, **decided, **refused}.items():
            if value:
                raise CommandError(f"{option} does not apply to --model, which is fitted already; omit it")
        with self.timer.measure("reading"):
            saved = load_model(str(self.model_file))
        if not isinstance(saved.estimator, cls):
            found = type(saved.estimator).__name__
            raise CommandError(
                f"{self.model_file} contains a {found}, not a {cls.__name__}; fit one to a file with --save,"
                " or use transform"
            )
        return saved, self.read_new(saved)

    def fit(self, estimator: BaseEstimator, table: Table) -> CommandFit:
        """Fit a map to a table, and compute the coordinates of its rows; warn of what can mislead."""
        weights = weight_column(table, self.reading.weight)
        if self.reading.standardize and table.kind not in ("rows", "images"):
            raise CommandError(f"--standardize needs rows of numbers, but the input is {table.kind}; omit it")
        if uses_classes(estimator):
            given_labels(table)  # raises before any work
        memory = announce_memory(estimator, table.array, self.display.quiet)
        dominance = None if self.reading.standardize else warn_of_scales([estimator], table)

        def fit_and_place(rows: Table) -> np.ndarray:
            fit_estimator(estimator, rows, weights)
            return training_coordinates(estimator, rows)

        embedding, fitted, scaler = self._fit_scaled(table, fit_and_place)
        warn_of_few_points(embedding, table)
        return CommandFit(estimator, table, fitted, scaler, self.timer, embedding, memory, dominance)

    def fit_rows(self, estimator: BaseEstimator, table: Table, y: np.ndarray | None = None) -> CommandFit:
        """Fit an estimator that has no coordinates to the rows of a table, and to labels if given."""
        if table.kind not in ("rows", "images"):
            raise CommandError(f"rows of numbers are needed, but the input is {table.kind}")
        labels = () if y is None else (y,)
        _, fitted, scaler = self._fit_scaled(table, lambda rows: estimator.fit(rows.array, *labels))
        return CommandFit(estimator, table, fitted, scaler, self.timer)

    def _fit_scaled(
        self, table: Table, fit: Callable[[Table], Any]
    ) -> tuple[Any, Table, StandardScaler | None]:
        """Standardise a table if requested, and call ``fit`` with it; show progress and measure the time."""
        with show_progress(self.display) as stages, self.timer.measure("fit"):
            scaler = fit_scaler(table.array) if self.reading.standardize else None
            scaled = table if scaler is None else scale(table, scaler)
            found = fit(scaled)
        self.timer.stages.update(stages)
        return found, scaled, scaler

    def report(self, result: CommandFit) -> None:
        """Write the report of a fit if there is a target."""
        write_fit_report(result, self.command, self.writing)

    def save(self, result: CommandFit) -> dict[str, Any] | None:
        """Save a fitted model if there is a target; return size and error of a compact model."""
        return save_model(result, self.reading, self.writing, self.command, self.display.quiet)

    def say(self, text: str) -> None:
        """Print a line to standard error unless ``--quiet`` or ``--json`` is given."""
        print_message(text, self.display.quiet)

    def finish(self, summary: dict[str, Any], name: str = "coordinates") -> None:
        """Print a summary, or the files that were written; ``name`` describes the rows of ``-o``."""
        files = {
            name: self.writing.out,
            "plot": self.writing.plot,
            "report": self.writing.report,
            "model": self.writing.save,
        }
        print_summary(summary, files, self.display)


def summarize(result: CommandFit, with_loss: bool) -> dict[str, Any]:
    """Return what ``--json`` prints about a fit; the loss, which nothing else needs, if ``with_loss``."""
    from eigenscape._memory import peak_memory

    return describe_fit(result.estimator, result.embedding, with_loss) | {
        "input": column_roles(result.table),
        "dominant_columns": describe_dominance(result.dominance),
        "timings": result.timer.seconds,
        "stages": result.timer.stages,
        "memory": {"estimate": result.memory_estimate, "peak": peak_memory()},
    }
