"""One run of a command: read, fit an estimator or load a model, write, print a summary."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import typer

from eigenscape._format import to_json
from eigenscape.app.cli import fitting, output
from eigenscape.app.cli import input as reader
from eigenscape.app.cli.errors import CommandError, print_message
from eigenscape.app.cli.options import Display, InputOptions, OutputOptions

if TYPE_CHECKING:
    import numpy as np
    from sklearn.preprocessing import StandardScaler

    from eigenscape.app.io.table import Table

#: Options for reading that a saved model has decided.
_DECIDED = ("standardize", "columns", "exclude", "encode")


@dataclass(eq=False)
class Run:
    """One run of a command, from the input to the files that it writes.

    The steps :meth:`read`, :meth:`load` and :meth:`fit` store what they find in the attributes.
    """

    source: str
    reading: InputOptions
    writing: OutputOptions
    display: Display
    command: str = ""  # as it was typed
    model_file: str | None = None
    folder: bool = False  # whether -o is a folder, which a cluster writes
    seconds: dict[str, float] = field(default_factory=dict)  # of each step
    stages: dict[str, float] = field(default_factory=dict)  # of each stage within the steps
    table: Table = field(init=False)  # standardised, if requested
    scaler: StandardScaler | None = None
    estimator: Any = None
    embedding: Any = None  # (n, n_components), or None if the estimator has no coordinates
    memory: float | None = None  # that the fit is estimated to need, in bytes
    dominant_columns: dict[str, float] = field(default_factory=dict)  # with their shares of the variance

    def __post_init__(self) -> None:
        """Raise CommandError if a target cannot be written."""
        files = replace(self.writing, out=None) if self.folder else self.writing
        output.check_targets(self.source, files, self.display, self.model_file)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Show progress, and add the time spent in the block to ``seconds[name]``.

        By default progress is shown unless ``quiet``: bars on a terminal, elsewhere lines of text after two
        seconds.
        """
        from eigenscape._progress import recording, reporting
        from eigenscape._progress_displays import QUIET_SECONDS

        by_default = not self.display.quiet, QUIET_SECONDS
        visible, delay = by_default if self.display.progress is None else (self.display.progress, 0.0)
        start = time.perf_counter()
        with reporting(visible and sys.stderr is not None, delay), recording() as stages:
            yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
        self.stages |= stages

    def read(self, cls: type[Any] | None = None, *parameters: Mapping[str, Any]) -> Table:
        """Read the rows to fit, as an estimator class with these parameters needs them."""
        kind = reader.input_kind(self.reading.kind, *parameters)
        self.reading = replace(self.reading, kind=kind)
        if cls is not None and (self.reading.stream or cls._method.streams):
            stream = reader.use_stream(self.source, self.reading.stream, cls)
            self.reading = replace(self.reading, stream=stream)
        if cls is not None and self.reading.weight is not None:
            fitting.check_weight_option(cls, self.reading)
        with self.step("reading"):
            self.table = reader.read_training_table(self.source, self.reading, self.display.quiet)
            if self.reading.standardize:
                self.table, self.scaler = fitting.standardize(self.table)
        return self.table

    def read_new(self, saved: reader.SavedModel) -> Table:
        """Read new rows with the columns that a model was fitted to."""
        with self.step("reading"):
            self.table = reader.read_new_table(self.source, self.reading, saved.notes, self.display.quiet)
        return self.table

    def load(self, cls: type[Any], refused: Mapping[str, object]) -> reader.SavedModel:
        """Return the saved model of a class, and read new rows; ``refused`` options must not be given."""
        decided = {f"--{name}": getattr(self.reading, name) for name in _DECIDED}
        for option, value in {"--save": self.writing.save, **decided, **refused}.items():
            if value:
                raise CommandError(f"{option} does not apply to --model, which is fitted already; omit it")
        saved = reader.load_model(str(self.model_file))
        if not isinstance(saved.estimator, cls):
            found = type(saved.estimator).__name__
            raise CommandError(
                f"{self.model_file} contains a {found}, not a {cls.__name__}; fit one to a file with --save,"
                " or use transform"
            )
        self.read_new(saved)
        return saved

    def fit(
        self, cls: type[Any], parameters: dict[str, Any], n_components: int | None = None, name: str = ""
    ) -> None:
        """Fit a method to the table, and compute the coordinates of its rows; warn of what can mislead.

        ``name`` is the method, if several are fitted.
        """
        table, weight = self.table, self.reading.weight
        estimator = fitting.build_estimator(cls, parameters, n_components, table.kind, table.array)
        weights = None if weight is None else fitting.weight_column(table, weight)
        labels = fitting.fit_labels(estimator, table)
        self.memory = fitting.announce_memory(estimator, table, self.display.quiet)
        if self.scaler is None and not self.dominant_columns:
            self.dominant_columns = fitting.warn_of_scales(estimator, table)
        with self.step(name or "fit"):
            self.embedding = fitting.fit_estimator(estimator, table, labels, weights)
        self.estimator = estimator
        fitting.warn_of_few_points(self.embedding, table, f"{name}: " if name else "")

    def fit_rows(self, estimator: Any, *labels: np.ndarray) -> None:
        """Fit an estimator that has no coordinates to the rows of the table, and to labels if given."""
        if self.table.kind not in ("rows", "images"):
            raise CommandError(f"rows of numbers are needed, but the input is {self.table.kind}")
        with self.step("fit"):
            self.estimator = estimator.fit(self.table.array, *labels)

    def report(self) -> None:
        """Write the HTML report of a fit, if there is a target."""
        if self.writing.report is None:
            return
        from eigenscape.app.report import write_report

        rest = max(0.0, self.seconds["fit"] - sum(self.stages.values()))
        timings = {"reading": self.seconds["reading"], **self.stages, "everything else": rest}
        more: dict[str, Any] = {"timings": timings, **self.report_arguments()}
        write_report(self.writing.report, self.estimator, self.table, **more)

    def report_arguments(self) -> dict[str, Any]:
        """Return the arguments that all reports have."""
        from eigenscape._memory import peak_memory

        return {
            "command": self.command,
            "memory": peak_memory(),
            "max_points": self.writing.report_points or None,
            "force": self.writing.force,
        }

    @property
    def n_rows(self) -> int:
        """Return the number of rows."""
        return len(self.embedding) if self.embedding is not None else self.table.array.shape[0]

    @property
    def rows(self) -> Any:
        """Return the rows as they were read."""
        return self.table.array if self.table.unscaled is None else self.table.unscaled

    def save(self) -> None:
        """Save the fitted model with the names of its columns, if there is a target."""
        if self.writing.save is None:
            return
        from sklearn.pipeline import Pipeline

        from eigenscape.app.io.models import save

        table = self.table
        notes = {**reader.column_notes(table, self.reading), "n_rows": self.n_rows, "command": self.command}
        model = self.estimator
        if self.scaler is not None:
            model = Pipeline([("standardize", self.scaler), ("map", model)])
        save(model, self.writing.save, force=self.writing.force, notes=json.dumps(notes))

    def say(self, text: str) -> None:
        """Print a line to standard error unless ``--quiet`` or ``--json`` is given."""
        print_message(text, self.display.quiet)

    def describe_fit(self) -> dict[str, Any]:
        """Return what ``--json`` prints of the fit."""
        if not self.display.as_json:
            return {}
        return {**fitting.describe_fit(self.estimator, self.embedding), "stages": self.stages}

    def finish(self, name: str = "coordinates", **found: Any) -> None:
        """Print the files that were written, or with ``--json`` a summary and what was found.

        ``name`` describes the rows of ``-o``.
        """
        files = {name: self.writing.out, "plot": self.writing.plot, "report": self.writing.report}
        files = {what: file for what, file in {**files, "model": self.writing.save}.items() if file}
        if self.display.as_json:
            from eigenscape._memory import peak_memory

            memory = {"estimate": self.memory, "peak": peak_memory()}
            common = {"input": reader.column_roles(self.table), "timings": self.seconds, "memory": memory}
            common["dominant_columns"] = self.dominant_columns
            typer.echo(json.dumps(to_json({**common, **found, "files": files}), indent=2))
        for what, file in files.items():
            print_message(f"wrote {file} ({what})", quiet=self.display.quiet or file == "-")
