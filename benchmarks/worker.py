"""Measurements in a process of their own: ``python -m benchmarks.worker`` reads jobs and prints results.

A line of the input is ``[job, limit]`` in JSON, and so is a line of results. Data are read or generated, and
imports and compilation are warmed up by a small fit, before the time is measured. If a measured call exceeds
the limit, an alarm ends the process.
"""

from __future__ import annotations

import ctypes
import gc
import importlib
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, lru_cache
from typing import Any

import numpy as np

from benchmarks.cases.model import Job
from benchmarks.data import SETS, Data
from benchmarks.errors import MEASURES, is_right, out_of_sample
from eigenscape.options import assembled

#: Number of points of the warm-up fit, so large that no solver uses dense matrices.
WARM_UP_SIZE = 1000
#: The same for UMAP and scanpy, which search approximately, by other compiled code, above 4 096 points.
LARGE_WARM_UP_SIZE = 4200
#: Beginning of the line with the result, as libraries may print other lines.
RESULT_PREFIX = "RESULT "
#: Line after the last result of a job.
END = "END"
#: Program that keeps one core busy as long as its parent lives, which an alarm may end.
SPINNER = """import os
parent = os.getppid()
while os.getppid() == parent:
    sum(range(100_000))
"""


def estimator(job: Job, X: Any) -> Any:
    """Return the unfitted estimator of a job; ``gamma="scale"`` is one over number and variance of features.

    Parameters of jobs are values of JSON, so fields of option objects are given by their flat names.

    Raises
    ------
    ImportError
        If the package of the estimator is not installed.
    """
    module, _, name = job.estimator.rpartition(".")
    params = dict(job.params)
    if params.get("gamma") == "scale":
        params["gamma"] = 1 / float(X.shape[1] * X.var(dtype=np.float64))
    cls = getattr(importlib.import_module(module), name)
    return cls(**(assembled(cls, params) if job.is_eigenscape else params))


@lru_cache(maxsize=2)
def rows(data: str, n: int, dtype: str) -> Data:
    """Return the first ``n`` rows of a data set; the last two are kept for the next job."""
    made = SETS[data](n)
    return made._replace(X=made.X.astype(dtype)) if dtype else made


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


def uses_numba(job: Job) -> bool:
    """Return whether the library of a job compiles its code when it is first called."""
    return job.estimator.endswith((".UMAP", ".ScanpyDiffusionMap"))


@contextmanager
def compile_timer(job: Job) -> Iterator[list[float]]:
    """Collect the compilation times of numba in the block, for libraries that use it."""
    spent: list[float] = []
    if not uses_numba(job):
        yield spent
        return
    from numba.core import event

    with event.install_timer("numba:compile", spent.append):
        yield spent


@contextmanager
def busy_core(busy: bool) -> Iterator[None]:
    """Keep one core busy by another process during the block."""
    if not busy:
        yield
        return
    # Without the output of this process, at whose end the runner waits.
    with subprocess.Popen([sys.executable, "-c", SPINNER], stdout=subprocess.DEVNULL) as process:
        try:
            yield
        finally:
            process.kill()


def measure(job: Job, function: Callable[[], Any], limit: float) -> tuple[Any, dict[str, float]]:
    """Call a function and return its result, its time, and its peak memory above the memory before.

    If numba compiled something that the warm-up did not reach, the call is measured once more.
    """
    for _ in range(2):
        result = None
        reset_peak_memory()
        before = memory("VmRSS")
        with compile_timer(job) as compiled, busy_core(job.busy):
            signal.setitimer(signal.ITIMER_REAL, limit)
            everybody, own = processor_seconds()
            start = time.perf_counter()
            result = function()
            seconds = time.perf_counter() - start
            signal.setitimer(signal.ITIMER_REAL, 0)
            cpu = processor_seconds()[1] - own
            total = processor_seconds()[0] - everybody
        if not compiled:
            break
    peak = max(0, memory("VmHWM") - before)
    others = max(0.0, total - cpu) / max(seconds, 0.05)  # clock ticks are coarse
    return result, {"time_s": seconds, "peak_bytes": peak, "cpu_s": cpu, "others_cores": others}


def median_of_singles(model: Any, new: Any, count: int) -> dict[str, float]:
    """Place ``count`` rows one at a time and return the median time of a call."""
    model.transform(new[:1])
    reset_peak_memory()
    before, cpu, seconds = memory("VmRSS"), time.process_time(), []
    for i in range(count):
        start = time.perf_counter()
        model.transform(new[i : i + 1])
        seconds.append(time.perf_counter() - start)
    return {
        "time_s": statistics.median(seconds),
        "slowest_tenth_s": float(np.quantile(seconds, 0.9)),
        "cpu_s": (time.process_time() - cpu) / count,
        "peak_bytes": max(0, memory("VmHWM") - before),
        "others_cores": 0.0,
    }


@cache
def warm_up(text: str) -> dict[str, float]:
    """Return the times of a fit of a few points, which imports and compiles; once for equal jobs."""
    job = Job(**json.loads(text))
    large = job.n > LARGE_WARM_UP_SIZE and uses_numba(job)
    tiny = rows(job.data, LARGE_WARM_UP_SIZE if large else WARM_UP_SIZE, job.dtype)
    with compile_timer(job) as compiled:
        start = time.perf_counter()
        model = estimator(job, tiny.X).fit(tiny.X)
        if job.n_new and hasattr(model, "transform"):
            model.transform(tiny.X[:100] * 1.001)
        seconds = time.perf_counter() - start
    return {"warm_up_s": seconds, "compile_s": max(compiled, default=0.0)}


@cache
def patch_sklearn() -> list[Any]:
    """Patch scikit-learn to store the last matrix of LLE, or the last vectors of clustering, in a list."""
    from sklearn.cluster import _spectral
    from sklearn.manifold import _locally_linear

    captured: list[Any] = []
    null_space, spectral_embedding = _locally_linear.null_space, _spectral._spectral_embedding

    def storing_matrix(M: Any, *args: Any, **kwargs: Any) -> Any:
        captured[:] = [M.copy()]  # the dense solver overwrites it
        return null_space(M, *args, **kwargs)

    def storing_vectors(*args: Any, **kwargs: Any) -> Any:
        captured[:] = [spectral_embedding(*args, **kwargs)]
        return captured[0]

    _locally_linear.null_space, _spectral._spectral_embedding = storing_matrix, storing_vectors
    return captured


def run(job: Job, limit: float) -> Iterator[dict[str, Any]]:
    """Run a job and yield, after each step, time, memory and error of all steps so far, and the solver."""
    captured = patch_sklearn() if job.estimator.startswith("sklearn.") else []
    train, new = rows(job.data, job.n + job.n_new, job.dtype).split(job.n)
    n = LARGE_WARM_UP_SIZE + 1 if job.n > LARGE_WARM_UP_SIZE else 1
    likely = {"n": n, "n_new": min(job.n_new, 1), "n_single": 0, "step": "fit", "name": "", "busy": False}
    answer: dict[str, Any] = {**warm_up(json.dumps({**vars(job), **likely}))}
    model = estimator(job, train.X)
    del captured[:]
    _, numbers = measure(job, lambda: model.fit(train.X), limit)
    numbers["peak_bytes"] += vars(model).get("worker_bytes_", 0)
    error = once(job, "fit", lambda: MEASURES[job.measure](model, train, *captured))
    answer.update(fit={**numbers, "error": error, "right": is_right(error)}, solver=solver(job, model))
    yield answer
    if not job.n_new or not hasattr(model, "transform"):
        return
    placed, numbers = measure(job, lambda: model.transform(new.X), limit)
    outside = once(job, "transform", lambda: out_of_sample(model, train, new, placed))
    right = is_right(outside) and is_right(error)
    answer["transform"] = {**numbers, "error": outside, "right": right}
    yield answer
    if job.n_single:
        single = median_of_singles(model, new.X, job.n_single)
        yield {**answer, "single": {**single, "error": outside, "right": right}}


_ERRORS: dict[str, dict[str, Any]] = {}


def once(job: Job, step: str, error: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return the error of a job, which is computed in its first repeat only."""
    key = json.dumps([vars(job), step])
    if key not in _ERRORS:
        _ERRORS[key] = error()
    return _ERRORS[key]


def solver(job: Job, model: Any) -> str:
    """Return the solver of a fitted model."""
    if not job.is_eigenscape:
        return job.params.get("eigen_solver", "")
    attributes = vars(model)
    return attributes.get("solver_", attributes.get("method_", ""))


def answers(line: str) -> Iterator[dict[str, Any]]:
    """Yield the results of the job in a line of the input; a failure of a library is a result too."""
    values, limit = json.loads(line)
    last: dict[str, Any] = {}
    try:
        for last in run(Job(**values), limit):
            yield last
    except ImportError as failure:
        yield {**last, "absent": f"{type(failure).__name__}: {failure}"[:160]}
    except Exception as failure:
        message = str(failure).splitlines()[0][:120] if str(failure) else ""
        yield {**last, "failed": f"{type(failure).__name__}: {message}"}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main() -> None:
    """Answer the jobs on the standard input until it is closed."""
    warnings.simplefilter("ignore")
    for line in sys.stdin:
        for result in answers(line):
            print(f"\n{RESULT_PREFIX}{json.dumps(result)}", flush=True)
        print(f"\n{END}", flush=True)


if __name__ == "__main__":
    main()
