"""One measurement in a process of its own: ``python -m benchmarks.worker JOB LIMIT`` prints one line of JSON.

Data are generated, and imports and compilation are warmed up by a small fit, before the time is measured. If
the measured fit exceeds the limit, an alarm ends the process.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import resource
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from benchmarks.cases import Job
from benchmarks.data import SETS
from benchmarks.errors import MAX_RESIDUAL, MEASURES, out_of_sample

#: Number of points of the warm-up fit, so large that no solver uses dense matrices.
WARM_UP_SIZE = 1000
#: Beginning of the line with the result, as libraries may print other lines.
RESULT_PREFIX = "RESULT "


class NeighborSearch:
    """Neighbour search by SciPy's k-d tree, as a reference: k neighbours of each point besides itself."""

    def __init__(self, n_neighbors: int) -> None:
        self.n_neighbors = n_neighbors

    def fit(self, X: Any) -> NeighborSearch:
        """Build the tree and search the neighbours of all points, on all cores."""
        from scipy.spatial import KDTree

        self.distances_, self.neighbors_ = KDTree(X).query(X, k=self.n_neighbors + 1, workers=-1)
        return self


class PCAWithEmbedding:
    """PCA of scikit-learn with the embedding of the training rows, which eigenscape's ``fit`` computes."""

    def __init__(self, **params: Any) -> None:
        self.params = params

    def fit(self, X: Any) -> PCAWithEmbedding:
        """Fit and transform."""
        from sklearn.decomposition import PCA

        model = PCA(**self.params)
        self.embedding_ = model.fit_transform(X)
        self.components_ = model.components_
        return self


class ChainedImputer:
    """Imputer of scikit-learn by regression of each feature on the others."""

    def __init__(self, **params: Any) -> None:
        self.params = params

    def fit(self, X: Any) -> ChainedImputer:
        """Fit and impute."""
        from sklearn.experimental import enable_iterative_imputer  # noqa: F401
        from sklearn.impute import IterativeImputer

        self.filled_ = IterativeImputer(**self.params).fit_transform(X)
        return self


def estimator(job: Job) -> Any:
    """Return the unfitted estimator of a job."""
    module, _, name = job.estimator.rpartition(".")
    return getattr(importlib.import_module(module), name)(**job.params)


def memory(field: str) -> int:
    """Return a field of ``/proc/self/status`` in bytes: ``VmRSS`` (resident size) or ``VmHWM`` (its peak)."""
    try:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def reset_peak_memory() -> None:
    """Release freed memory and, if the system supports it, reset the peak resident size."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)  # otherwise a small fit would reuse memory freed by the warm-up
    with suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def processor_seconds() -> tuple[float, float]:
    """Return the processor time in seconds used by all processes (0 if unknown), and by this process."""
    own = time.process_time()
    try:
        with open("/proc/stat") as file:
            # user nice system idle iowait irq softirq steal
            ticks = [int(word) for word in file.readline().split()[1:9]]
    except OSError:
        return 0.0, own
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK"), own


@contextmanager
def compile_timer(is_eigenscape: bool) -> Iterator[list[float]]:
    """Collect the compilation times of numba in the block; nothing is collected for other libraries."""
    spent: list[float] = []
    if not is_eigenscape:
        yield spent
        return
    from numba.core import event

    with event.install_timer("numba:compile", spent.append):
        yield spent


def measure(job: Job, function: Callable[[], Any], limit: float) -> tuple[Any, dict[str, float]]:
    """Call a function and return its result, its time, and its peak memory above the memory before.

    If numba compiled something that the warm-up did not reach, the call is measured once more.
    """
    for _ in range(2):
        result = None
        reset_peak_memory()
        before = memory("VmRSS")
        with compile_timer(job.is_eigenscape) as compiled:
            signal.setitimer(signal.ITIMER_REAL, limit)
            everybody, own = processor_seconds()
            start = time.perf_counter()
            result = function()
            seconds = time.perf_counter() - start
            signal.setitimer(signal.ITIMER_REAL, 0)
        if not compiled:
            break
    peak = max(0, memory("VmHWM") - before)
    cpu = processor_seconds()[1] - own
    others = max(0.0, processor_seconds()[0] - everybody - cpu) / max(seconds, 0.05)  # clock ticks are coarse
    return result, {"time_s": seconds, "peak_bytes": peak, "cpu_s": cpu, "others_cores": others}


def warm_up(job: Job) -> dict[str, float]:
    """Fit a few points for compilation and late imports and return the times.

    If ``job.n`` is 0, fit a second time to measure the time without compilation.
    """
    tiny = SETS[job.data](WARM_UP_SIZE)
    with compile_timer(job.is_eigenscape) as compiled:
        times = []
        for _ in range(2 if job.n == 0 else 1):
            start = time.perf_counter()
            model = estimator(job).fit(tiny.X)
            if job.n_new:
                model.transform(tiny.X[:100] + 1e-3)
            times.append(time.perf_counter() - start)
    return {"warm_up_s": times[0], "tiny_s": times[-1], "compile_s": max(compiled, default=0.0)}


def capture_alignment_matrix() -> list[Any]:
    """Patch scikit-learn's LLE to store the alignment matrix that is passed to its solver."""
    from sklearn.manifold import _locally_linear

    captured: list[Any] = []
    solve = _locally_linear.null_space

    def capturing(M: Any, *args: Any, **kwargs: Any) -> Any:
        captured[:] = [M]
        return solve(M, *args, **kwargs)

    _locally_linear.null_space = capturing
    return captured


def run(job: Job, limit: float) -> dict[str, Any]:
    """Run a job and return its time, memory, error and solver."""
    if job.n == 0:
        return warm_up(job)
    captured = capture_alignment_matrix() if job.measure == "alignment" and not job.is_eigenscape else []
    train, new = SETS[job.data](job.n + job.n_new).split(job.n)
    answer: dict[str, Any] = warm_up(job)
    model = estimator(job)
    if job.n_new:
        model.fit(train.X)
        coordinates, numbers = measure(job, lambda: model.transform(new.X), limit)
        error = out_of_sample(model, train, new, coordinates)
    else:
        _, numbers = measure(job, lambda: model.fit(train.X), limit)
        error = MEASURES[job.measure](model, train, *captured)
    right = error.get("excess", error.get("residual", 0.0) / MAX_RESIDUAL) <= 1
    attributes = vars(model)
    numbers["peak_bytes"] += attributes.get("worker_bytes_", 0)
    solver = (
        attributes.get("solver_", attributes.get("method_", ""))
        if job.is_eigenscape
        else job.params.get("eigen_solver", "")
    )
    return {**answer, **numbers, "error": error, "right": bool(right), "solver": solver}


def main() -> None:
    """Run the job given on the command line and print the result."""
    warnings.simplefilter("ignore")
    job = Job(**json.loads(sys.argv[1]))
    try:
        answer = run(job, float(sys.argv[2]))
    except Exception as failure:  # a failure of a library is a result too
        message = str(failure).splitlines()[0][:120] if str(failure) else ""
        answer = {"failed": f"{type(failure).__name__}: {message}"}
    print(RESULT_PREFIX + json.dumps(answer))


if __name__ == "__main__":
    main()
