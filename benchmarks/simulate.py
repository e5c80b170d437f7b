"""A cost model of reductions on a cluster: ``python -m benchmarks.simulate``. What it prints is computed, not
measured.

A pass over ``n`` rows in ``p`` partitions on ``w`` workers takes

    ``n / w * (row + read) + p * task + depth * (latency + message / bandwidth)``,

the work of the rows shared out, the scheduler's own work for each task, which is not, and the tree of
reductions, eight results a node."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

FAN = 8


@dataclass(frozen=True)
class Constants:
    """Seconds and bytes. ``row`` is measured here by :func:`measured`; the others are those of common
    hardware."""

    row: float  # seconds for a row of 20 columns of float32 in one core
    read: float = 80 / 200e6  # 80 bytes a row at 200 MB/s a worker
    task: float = 5e-4  # of the scheduler for one task, and two tasks a partition
    latency: float = 5e-3  # of a message between workers
    bandwidth: float = 1e8  # bytes a second between two workers


@dataclass(frozen=True)
class Prediction:
    """Seconds of one pass, by what they are spent on."""

    rows: float
    scheduler: float
    tree: float

    @property
    def total(self) -> float:
        """Seconds of the pass."""
        return self.rows + self.scheduler + self.tree


def predict(
    n: float, n_workers: int, message: float, constants: Constants, partition_rows: float = 1e6
) -> Prediction:
    """One pass whose blocks each send ``message`` bytes up the tree."""
    partitions = max(1, math.ceil(n / partition_rows))
    depth = math.ceil(math.log(partitions, FAN)) if partitions > 1 else 0
    rows = math.ceil(partitions / n_workers) * partition_rows * (constants.row + constants.read)
    return Prediction(
        rows,
        2 * partitions * constants.task,
        depth * (constants.latency + FAN * message / constants.bandwidth),
    )


def measured(work: Callable[[np.ndarray], Any], n: int, d: int = 20) -> Constants:
    """The work of a row on this machine: processor time of one core (set OPENBLAS_NUM_THREADS=1)."""
    X = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    work(X[:1000])
    times = []
    for _ in range(3):
        start = time.process_time()
        work(X)
        times.append(time.process_time() - start)
    return Constants(min(times) / n)


def projected(members: int) -> Callable[[np.ndarray], Any]:
    """The pass of a dictionary method: rows projected on so many members, and summed."""
    from eigenscape import KernelPCA
    from eigenscape.dictionary.readers import ArrayReader
    from eigenscape.methods.dictionary_fit import accumulate_moments

    rows = np.random.default_rng(1).standard_normal((5000, 20))
    span = KernelPCA(2, gamma=0.02, dictionary_size=members).fit(rows).kernel_.span
    return lambda X: accumulate_moments(span, ArrayReader(X))


def printed(title: str, constants: Constants, message: float, passes: int) -> None:
    """What clusters of several sizes would take."""
    print(
        f"SIMULATION, {title}: {1e9 * constants.row:.0f} ns a row and core measured, {passes} pass(es);"
        f" assumed: {constants}"
    )
    for n, workers in ((1e7, 1), (1e7, 2), (1e8, 10), (1e9, 100), (1e9, 1000)):
        found = predict(n, workers, message, constants)
        parts = f"rows {passes * found.rows:.1f} s, scheduler {passes * found.scheduler:.2f} s, tree {passes * found.tree:.2f} s"
        print(f"  {n:.0e} rows, {workers:4d} workers: {passes * found.total:6.1f} s ({parts})")


def main() -> None:
    """Print the predictions for 10^9 rows on 100 workers, and what fewer would do with less."""
    from eigenscape.distributed.pca import block_moments

    printed("PCA, one pass", measured(block_moments, 400_000), 8.0 * (20 * 20 + 22), 1)
    # A tolerance: one pass that looks for what is beyond it, which costs no more than the one that sums.
    printed("dictionary of 500 by a tolerance", measured(projected(500), 40_000), 8.0 * 500 * 520, 2)


if __name__ == "__main__":
    main()
