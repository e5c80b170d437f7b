"""Fitting on the command line: stages on standard error, memory announced, chunks where there are chunks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from eigenscape._format import format_bytes
from eigenscape._memory import peak_memory
from eigenscape.app.cli._errors import WrongCommandError
from eigenscape.app.cli._estimate import memory_estimate
from eigenscape.app.cli._methods import method_of
from eigenscape.app.cli._reading import _chunks, how_streamed, used
from eigenscape.app.cli._shared import say

#: A training loss takes a kernel evaluation for each pair of rows; beyond this many rows nobody waits for it.
_LOSS_ROWS = 5000
#: Fitted attributes that a summary tells.
_LEARNT = (
    "eigenvalues_",
    "residuals_",
    "solver_",
    "stress_",
    "ncut_",
    "n_connected_components_",
    "neighbor_recall_",
    "gram_error_bound_",
)


@dataclass
class Clock:
    """Seconds of every part of the work."""

    seconds: dict[str, float] = field(default_factory=dict)
    stages: dict[str, float] = field(default_factory=dict)  # those that the library announces

    @contextmanager
    def timed(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started


def announce_memory(estimator: Any, X: Any, quiet: bool) -> float | None:
    """Say about how much memory the fit will take; bytes, or None for a stream."""
    if how_streamed(X):
        return None
    from eigenscape._memory import available_bytes

    needed = memory_estimate(estimator, *X.shape)
    say(
        f"{method_of(estimator)}: about {format_bytes(needed)} of memory ({format_bytes(available_bytes())} free)",
        quiet,
    )
    return needed


def fit(estimator: Any, table: Any) -> Any:
    """Fit to a table, by chunks where it is streamed; a method that compares groups gets the labels."""
    if type(estimator).__name__ == "OrientedPCA":
        if table.labels is None:
            raise WrongCommandError(
                "oriented-pca needs groups of rows, whose differences are the noise; name their column with --label"
            )
        return estimator.fit(table.array, table.labels)
    if how_streamed(table.array) and type(estimator).__name__ == "PCA":
        for chunk in _chunks(table.array):
            estimator.partial_fit(chunk)
        return estimator
    return estimator.fit(table.array)


def coordinates(estimator: Any, table: Any) -> Any:
    """Coordinates of the rows that ``estimator`` was fitted to."""
    return (
        place(estimator, table.array)
        if how_streamed(table.array)
        else training_coordinates(estimator, table.array)
    )


def training_coordinates(estimator: Any, X: Any) -> Any:
    """``embedding_`` where the method keeps one, else the same by ``transform``."""
    return estimator.embedding_ if "embedding_" in vars(estimator) else estimator.transform(X)


def place(model: Any, X: Any) -> Any:
    """Coordinates of any rows, chunk by chunk where they come in chunks."""
    import numpy as np

    return (
        np.concatenate([model.transform(chunk) for chunk in _chunks(X)])
        if how_streamed(X)
        else model.transform(X)
    )


def clusters_of(model: Any, X: Any) -> Any:
    """The clusters of any rows, chunk by chunk where they come in chunks."""
    import numpy as np

    return (
        np.concatenate([model.predict(chunk) for chunk in _chunks(X)])
        if how_streamed(X)
        else model.predict(X)
    )


def summary(work: Any) -> dict[str, Any]:
    """What ``--json`` prints of a fit, without the files written."""
    return described(work.estimator, work.embedding) | {
        "input": used(work.raw),
        "timings": work.clock.seconds,
        "stages": work.clock.stages,
        "memory": {"estimate": work.memory, "peak": peak_memory()},
    }


def described(estimator: Any, embedding: Any) -> dict[str, Any]:
    """Shape, spectrum and loss of a fitted estimator."""
    found = vars(estimator)
    learnt = {name.removesuffix("_"): found[name] for name in _LEARNT if name in found}
    loss = training_loss(estimator, len(embedding))
    return {
        "method": method_of(estimator),
        "parameters": estimator.get_params(),
        "shape": list(embedding.shape),
        **learnt,
        "loss": loss,
    }


def training_loss(estimator: Any, n_rows: int) -> float | None:
    """The training loss of a method that has one, where it does not take long."""
    if (
        n_rows > _LOSS_ROWS
        or "eigenvalues_" not in vars(estimator)
        or not callable(getattr(estimator, "loss", None))
    ):
        return None
    return float(estimator.loss())
