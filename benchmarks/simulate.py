"""Cost model of reductions on a cluster: ``python -m benchmarks.simulate`` prints predicted times.

A pass over ``n`` rows in ``p`` partitions on ``w`` workers takes

    ``n / w * (row + read) + p * task + depth * (latency + message / bandwidth)``,

which is the time for the rows (in parallel), the overhead of the scheduler for each task (sequential), and
the tree reduction, in which each node combines eight results.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

#: Number of results that a node of the reduction tree combines.
FAN = 8


@dataclass(frozen=True)
class Constants:
    """Constants of the model. ``row`` is measured by :func:`measure_row_time`; the others are assumed."""

    row: float  # seconds per row of 20 columns of float32 on one core
    read: float = 80 / 200e6  # seconds: 80 bytes per row at 200 MB/s per worker
    task: float = 5e-4  # seconds of the scheduler per task; there are two tasks per partition
    latency: float = 5e-3  # seconds per message between workers
    bandwidth: float = 1e8  # bytes per second between two workers


@dataclass(frozen=True)
class Prediction:
    """Predicted seconds of one pass: rows, scheduler and tree reduction."""

    rows: float
    scheduler: float
    tree: float

    @property
    def total(self) -> float:
        """Total seconds of the pass."""
        return self.rows + self.scheduler + self.tree


def predict(
    n: float, n_workers: int, message: float, constants: Constants, partition_rows: float = 1e6
) -> Prediction:
    """Predict the time of a pass whose blocks each send ``message`` bytes."""
    partitions = max(1, math.ceil(n / partition_rows))
    depth = math.ceil(math.log(partitions, FAN)) if partitions > 1 else 0
    rows = math.ceil(partitions / n_workers) * partition_rows * (constants.row + constants.read)
    return Prediction(
        rows,
        2 * partitions * constants.task,
        depth * (constants.latency + FAN * message / constants.bandwidth),
    )


def measure_row_time(function: Callable[[np.ndarray], Any], n: int, d: int = 20) -> Constants:
    """Measure the processor time per row on this machine (set OPENBLAS_NUM_THREADS=1)."""
    X = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    function(X[:1000])
    times = []
    for _ in range(3):
        start = time.process_time()
        function(X)
        times.append(time.process_time() - start)
    return Constants(min(times) / n)


def dictionary_pass(members: int) -> Callable[[np.ndarray], Any]:
    """Return the pass of a dictionary method, which projects rows on the dictionary and sums moments."""
    from eigenscape import KernelPCA
    from eigenscape.dictionary.readers import RowReader
    from eigenscape.methods.dictionary_fit import accumulate_moments

    rows = np.random.default_rng(1).standard_normal((5000, 20))
    span = KernelPCA(2, gamma=0.02, dictionary_size=members).fit(rows).kernel_.span
    return lambda X: accumulate_moments(span, RowReader([X]))


def print_predictions(title: str, constants: Constants, message: float, passes: int) -> None:
    """Print the predicted times for several numbers of rows and workers."""
    print(
        f"SIMULATION, {title}: {1e9 * constants.row:.0f} ns per row and core measured, {passes} pass(es);"
        f" constants: {constants}"
    )
    for n, workers in ((1e7, 1), (1e7, 2), (1e8, 10), (1e9, 100), (1e9, 1000)):
        prediction = predict(n, workers, message, constants)
        parts = ", ".join(
            f"{name} {passes * seconds:{form}} s"
            for name, seconds, form in (
                ("rows", prediction.rows, ".1f"),
                ("scheduler", prediction.scheduler, ".2f"),
                ("tree", prediction.tree, ".2f"),
            )
        )
        print(f"  {n:.0e} rows, {workers:4d} workers: {passes * prediction.total:6.1f} s ({parts})")


def main() -> None:
    """Print the predictions for PCA and for a dictionary method."""
    from eigenscape.distributed.pca import block_moments

    print_predictions("PCA, one pass", measure_row_time(block_moments, 400_000), 8.0 * (20 * 20 + 22), 1)
    # With a tolerance, one pass selects the dictionary; it costs at most as much as the pass that sums.
    row_time = measure_row_time(dictionary_pass(500), 40_000)
    print_predictions("dictionary of 500 by a tolerance", row_time, 8.0 * 500 * 520, 2)


if __name__ == "__main__":
    main()
