"""A cost model of reductions on a cluster: ``python -m benchmarks.simulate``. What it prints is computed, not measured.

A pass over ``n`` rows in ``p`` partitions on ``w`` workers takes

    ``n / w * (row + read) + p * task + depth * (latency + message / bandwidth)``,

the work of the rows shared out, the scheduler's own work for each task, which is not, and the tree of reductions, eight results a node.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import numpy as np

FAN = 8


@dataclass(frozen=True)
class Constants:
    """Seconds and bytes. ``row`` is measured here by :func:`measured`; the others are those of common hardware."""

    row: float  # seconds for a row of float32 in one core, moments of d = 20 columns
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


def predict(n: float, n_workers: int, message: float, constants: Constants, partition_rows: float = 1e6) -> Prediction:
    """One pass whose blocks each send ``message`` bytes up the tree."""
    partitions = max(1, math.ceil(n / partition_rows))
    depth = math.ceil(math.log(partitions, FAN)) if partitions > 1 else 0
    rows = math.ceil(partitions / n_workers) * partition_rows * (constants.row + constants.read)
    return Prediction(rows, 2 * partitions * constants.task, depth * (constants.latency + FAN * message / constants.bandwidth))


def measured(n: int = 400_000, d: int = 20) -> Constants:
    """The work of a row on this machine: moments of a block, processor time of one core (set OPENBLAS_NUM_THREADS=1)."""
    from eigenscape.distributed.pca import block_moments

    X = np.random.default_rng(0).standard_normal((n, d), dtype=np.float32)
    block_moments(X[:1000])
    times = []
    for _ in range(3):
        start = time.process_time()
        block_moments(X)
        times.append(time.process_time() - start)
    return Constants(min(times) / n)


def main() -> None:
    """Print the prediction for 10^9 rows on 100 workers, and what two workers would do with less."""
    constants = measured()
    print(f"measured: {1e9 * constants.row:.0f} ns a row of 20 columns and core; assumed: {constants}")
    print("SIMULATION, one pass for PCA (d = 20):")
    for n, workers in ((1e7, 1), (1e7, 2), (1e8, 10), (1e9, 100), (1e9, 1000)):
        found = predict(n, workers, 8.0 * (20 * 20 + 22), constants)
        parts = f"rows {found.rows:.1f} s, scheduler {found.scheduler:.2f} s, tree {found.tree:.2f} s"
        print(f"  {n:.0e} rows, {workers:4d} workers: {found.total:6.1f} s ({parts})")


if __name__ == "__main__":
    main()
