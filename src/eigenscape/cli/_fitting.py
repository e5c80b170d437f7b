"""Fitting on the command line: stages on standard error, memory announced, chunks where there are chunks."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from eigenscape.cli._errors import WrongCommandError
from eigenscape.cli._estimate import memory_estimate, peak_memory, readable
from eigenscape.cli._methods import method_of
from eigenscape.cli._reading import _chunks, how_streamed
from eigenscape.cli._shared import say

#: A training loss takes a kernel evaluation for each pair of rows; beyond this many rows nobody waits for it.
_LOSS_ROWS = 5000


@dataclass
class Clock:
    """Seconds of every part of the work."""

    seconds: dict[str, float] = field(default_factory=dict)

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
    say(f"{method_of(estimator)}: about {readable(needed)} of memory ({readable(available_bytes())} free)", quiet)
    return needed


def fit(estimator: Any, table: Any) -> Any:
    """Fit to a table, by chunks where it is streamed; a method that compares groups gets the labels."""
    if type(estimator).__name__ == "OrientedPCA":
        if table.labels is None:
            raise WrongCommandError("oriented-pca needs groups of rows, whose differences are the noise; name their column with --label")
        return estimator.fit(table.array, table.labels)
    if how_streamed(table.array) and type(estimator).__name__ == "PCA":
        for chunk in _chunks(table.array):
            estimator.partial_fit(chunk)
        return estimator
    return estimator.fit(table.array)


def coordinates(estimator: Any, table: Any) -> Any:
    """Coordinates of the rows that ``estimator`` was fitted to."""
    return place(estimator, table.array) if how_streamed(table.array) else training_coordinates(estimator, table.array)


def training_coordinates(estimator: Any, X: Any) -> Any:
    """``embedding_`` where the method keeps one, else the same by ``transform``."""
    return estimator.embedding_ if "embedding_" in vars(estimator) else estimator.transform(X)


def place(model: Any, X: Any) -> Any:
    """Coordinates of any rows, chunk by chunk where they come in chunks."""
    import numpy as np

    return np.concatenate([model.transform(chunk) for chunk in _chunks(X)]) if how_streamed(X) else model.transform(X)


def summary(estimator: Any, embedding: Any, clock: Clock, memory: float | None) -> dict[str, Any]:
    """What ``--json`` prints, without the files written."""
    found = vars(estimator)
    names = (
        "eigenvalues_",
        "residuals_",
        "solver_",
        "stress_",
        "ncut_",
        "n_connected_components_",
        "neighbor_recall_",
        "gram_error_bound_",
    )
    learnt = {name.removesuffix("_"): found[name] for name in names if name in found}
    return {
        "method": method_of(estimator),
        "parameters": estimator.get_params(),
        "shape": list(embedding.shape),
        **learnt,
        "loss": training_loss(estimator, len(embedding)),
        "timings": clock.seconds,
        "memory": {"estimate": memory, "peak": peak_memory()},
    }


def training_loss(estimator: Any, n_rows: int) -> float | None:
    """The training loss of a method that has one, where it does not take long."""
    if n_rows > _LOSS_ROWS or "eigenvalues_" not in vars(estimator) or not callable(getattr(estimator, "loss", None)):
        return None
    return float(estimator.loss())
