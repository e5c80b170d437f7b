"""One measurement in a process of its own: ``python -m benchmarks.worker JOB LIMIT`` prints one line of JSON.

Data are made and a tiny fit warms up imports and compilation before the clock starts. The limit is an alarm
that ends the process; it counts during the measured work only."""

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

from benchmarks.data import SETS
from benchmarks.errors import MEASURES, WRONG, placed
from benchmarks.works import Job

#: Points of the tiny fit: more than what any solver does densely.
TINY = 1000
#: Marks the line of the answer, should a library print something.
MARK = "RESULT "


class NeighborSearch:
    """scipy's k-d tree alone, as a yardstick: k neighbours of every point besides itself."""

    def __init__(self, n_neighbors: int) -> None:
        self.n_neighbors = n_neighbors

    def fit(self, X: Any) -> NeighborSearch:
        """Build the tree and ask it for all neighbours, on all cores."""
        from scipy.spatial import KDTree

        self.distances_, self.neighbors_ = KDTree(X).query(X, k=self.n_neighbors + 1, workers=-1)
        return self


class Coordinates:
    """scikit-learn's PCA with the coordinates of the rows it was fitted to, which eigenscape's fit gives
    too."""

    def __init__(self, **params: Any) -> None:
        self.params = params

    def fit(self, X: Any) -> Coordinates:
        """Fit and transform."""
        from sklearn.decomposition import PCA

        model = PCA(**self.params)
        self.embedding_ = model.fit_transform(X)
        self.components_ = model.components_
        return self


class ChainedImputer:
    """scikit-learn's imputer by regression of each feature on the others."""

    def __init__(self, **params: Any) -> None:
        self.params = params

    def fit(self, X: Any) -> ChainedImputer:
        """Fit and fill."""
        from sklearn.experimental import enable_iterative_imputer  # noqa: F401
        from sklearn.impute import IterativeImputer

        self.filled_ = IterativeImputer(**self.params).fit_transform(X)
        return self


def estimator(job: Job) -> Any:
    """The unfitted estimator that the job names."""
    module, _, name = job.estimator.rpartition(".")
    return getattr(importlib.import_module(module), name)(**job.params)


def memory(field: str) -> int:
    """A field of ``/proc/self/status`` in bytes: ``VmRSS`` now, ``VmHWM`` the highest."""
    try:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith(field))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def forget_peak() -> None:
    """Give freed memory back and reset the highest resident size to the present one, where the system allows
    it."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)  # else a small fit would live in what the warm-up left, unseen
    with suppress(OSError), open("/proc/self/clear_refs", "w") as file:
        file.write("5")


def busy() -> tuple[float, float]:
    """Seconds of processor time used so far by all processes of the machine (0 where unknown), and by this
    one."""
    own = time.process_time()
    try:
        with open("/proc/stat") as file:
            ticks = [
                int(word) for word in file.readline().split()[1:9]
            ]  # user nice system idle iowait irq softirq steal
    except OSError:
        return 0.0, own
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK"), own


@contextmanager
def compile_timer(ours: bool) -> Iterator[list[float]]:
    """Collects the seconds that numba compiles in the block."""
    spent: list[float] = []
    if not ours:
        yield spent
        return
    from numba.core import event

    with event.install_timer("numba:compile", spent.append):
        yield spent


def measured(job: Job, work: Callable[[], Any], limit: float) -> tuple[Any, dict[str, float]]:
    """The work's result, its wall time, and its peak memory above what was resident before.

    Work during which numba compiled something that the tiny fit did not reach is measured once more.
    """
    for _ in range(2):
        result = None
        forget_peak()
        before = memory("VmRSS")
        with compile_timer(job.ours) as compiled:
            signal.setitimer(signal.ITIMER_REAL, limit)
            everybody, own = busy()
            start = time.perf_counter()
            result = work()
            seconds = time.perf_counter() - start
            signal.setitimer(signal.ITIMER_REAL, 0)
        if not compiled:
            break
    peak = max(0, memory("VmHWM") - before)
    cpu = busy()[1] - own
    others = max(0.0, busy()[0] - everybody - cpu) / max(seconds, 0.05)  # clock ticks are coarse
    return result, {"time_s": seconds, "peak_bytes": peak, "cpu_s": cpu, "others_cores": others}


def warm_up(job: Job) -> dict[str, float]:
    """Two tiny fits: the first pays for compilation (or for loading it from the cache) and late imports, the
    second does not."""
    tiny = SETS[job.data](TINY)
    with compile_timer(job.ours) as compiled:
        times = []
        for _ in range(2 if job.n == 0 else 1):
            start = time.perf_counter()
            model = estimator(job).fit(tiny.X)
            if job.n_new:
                model.transform(tiny.X[:100] + 1e-3)
            times.append(time.perf_counter() - start)
    return {"warm_up_s": times[0], "tiny_s": times[-1], "compile_s": max(compiled, default=0.0)}


def remember_alignment() -> list[Any]:
    """scikit-learn's LLE keeps no alignment matrix; catch it on its way to the solver (which holds it
    anyway)."""
    from sklearn.manifold import _locally_linear

    seen: list[Any] = []
    solve = _locally_linear.null_space

    def remembering(M: Any, *args: Any, **kwargs: Any) -> Any:
        seen[:] = [M]
        return solve(M, *args, **kwargs)

    _locally_linear.null_space = remembering
    return seen


def run(job: Job, limit: float) -> dict[str, Any]:
    """Everything that is to know about one job."""
    if job.n == 0:
        return warm_up(job)
    seen = remember_alignment() if job.measure == "alignment" and not job.ours else []
    train, new = SETS[job.data](job.n + job.n_new).split(job.n)
    answer: dict[str, Any] = warm_up(job)
    model = estimator(job)
    if job.n_new:
        model.fit(train.X)
        coordinates, numbers = measured(job, lambda: model.transform(new.X), limit)
        error = placed(model, train, new, coordinates)
    else:
        _, numbers = measured(job, lambda: model.fit(train.X), limit)
        error = MEASURES[job.measure](model, train, *seen)
    right = error.get("excess", error.get("residual", 0.0) / WRONG) <= 1
    found = vars(model)
    numbers["peak_bytes"] += found.get("worker_bytes_", 0)
    solver = (
        found.get("solver_", found.get("method_", "")) if job.ours else job.params.get("eigen_solver", "")
    )
    return {**answer, **numbers, "error": error, "right": bool(right), "solver": solver}


def main() -> None:
    """Read the job, print the answer."""
    warnings.simplefilter("ignore")
    job = Job(**json.loads(sys.argv[1]))
    try:
        answer = run(job, float(sys.argv[2]))
    except Exception as failure:  # a peer may fail in any way; that is a result too
        answer = {
            "failed": f"{type(failure).__name__}: {str(failure).splitlines()[0][:120] if str(failure) else ''}"
        }
    print(MARK + json.dumps(answer))


if __name__ == "__main__":
    main()
