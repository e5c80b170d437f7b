"""What embed and cluster share: read a file, fit a method to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eigenscape.app.cli._building import build
from eigenscape.app.cli._errors import WrongCommandError
from eigenscape.app.cli._fitting import Clock, announce_memory, coordinates, fit
from eigenscape.app.cli._reading import Reading, fitted_scaler, read_for_fitting, scaled
from eigenscape.app.cli._shared import showing


@dataclass(frozen=True, eq=False)
class Work:
    """A method fitted to a file."""

    estimator: Any
    embedding: Any
    raw: Any  # the table as it was read
    table: Any  # as it was fitted: standardised, where that was asked for
    scaler: Any
    how: Reading
    clock: Clock
    memory: float | None  # bytes expected

    def timings(self) -> dict[str, float]:
        """Seconds of every stage, none counted twice."""
        stages = self.clock.stages
        rest = max(0.0, self.clock.seconds["fit"] - sum(stages.values()))
        return {"reading": self.clock.seconds["reading"], **stages, "everything else": rest}


def read_and_fit(
    source: str,
    cls: Any,
    chosen: dict[str, Any],
    dimensions: int | None,
    how: Reading,
    standardize: bool,
    progress: bool | None,
    quiet: bool,
) -> Work:
    """Read ``source`` and fit the method to it, showing what goes on."""
    clock = Clock()
    with clock.timed("reading"):
        raw = read_for_fitting(source, how, quiet)
    if standardize and raw.kind not in ("rows", "images"):
        raise WrongCommandError(
            f"--standardize is for columns of numbers, and the input is {raw.kind}; leave it out"
        )
    estimator = build(cls, chosen, dimensions, raw.kind, raw.array)
    memory = announce_memory(estimator, raw.array, quiet)
    with showing(progress, quiet) as stages, clock.timed("fit"):
        scaler = fitted_scaler(raw.array) if standardize else None
        table = raw if scaler is None else scaled(raw, scaler)
        fit(estimator, table)
        embedding = coordinates(estimator, table)
    clock.stages.update(stages)
    return Work(estimator, embedding, raw, table, scaler, how, clock, memory)
