"""Run each job in a process of its own, eigenscape and peers in turn, and summarise the repeats."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.cases import Case, Compilation, Growth, Job
from benchmarks.worker import RESULT_PREFIX

#: Seconds for data, warm-up and error measures, in addition to the limit of the measured fit.
SETUP_SECONDS = 900.0
#: Number of cores used by other processes above which a time is marked as disturbed.
DISTURBED = 0.25


def launch(job: Job, limit: float, cache: str | None = None) -> dict[str, Any]:
    """Run a job in a new process and return its result, or ``{"over": limit}`` if it took too long."""
    command = [sys.executable, "-m", "benchmarks.worker", json.dumps(asdict(job)), str(limit)]
    environment = {**os.environ, **({"NUMBA_CACHE_DIR": cache} if cache else {})}
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environment,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=limit + SETUP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return {"failed": "data, warm-up or error measure took too long"}
    if process.returncode == -signal.SIGALRM:
        return {"over": limit}
    answers = [line[len(RESULT_PREFIX) :] for line in output.splitlines() if line.startswith(RESULT_PREFIX)]
    return json.loads(answers[-1]) if answers else {"failed": f"process ended with code {process.returncode}"}


def spread(values: list[float]) -> dict[str, float]:
    """Return median, minimum and maximum."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


class Runner:
    """Measures cases; a job that is part of several cases is measured once."""

    def __init__(self, repeats: int, limit: float, console: Console) -> None:
        self.repeats = repeats
        self.limit = limit
        self.console = console
        self._cache: dict[str, dict[str, Any]] = {}

    def row(self, case: Case | Growth | Compilation) -> dict[str, Any]:
        """Measure a case and return its row of the results."""
        if isinstance(case, Compilation):
            return self._compilation(case)
        if isinstance(case, Growth):
            return self._growth(case)
        return self._case(case)

    def _measure(self, job: Job, repeat: int) -> dict[str, Any]:
        """Return the result of a job in a repeat; results are cached."""
        key = json.dumps([asdict(job), repeat], sort_keys=True)
        if key not in self._cache:
            with self.console.status(
                f"{job.name}: {job.estimator}, {job.data}, n = {job.n:,}, repeat {repeat + 1}"
            ):
                self._cache[key] = launch(job, self.limit)
        return self._cache[key]

    def _case(self, case: Case, drop: frozenset[str] = frozenset()) -> dict[str, Any]:
        """Return the row of a case, without the peers in ``drop``."""
        row = {
            "kind": "work",
            "key": case.key,
            "title": case.title,
            "goal": asdict(case.goal),
            "n": case.ours.n,
        }
        if case.skip:
            return {**row, "skipped": case.skip}
        jobs = [job for job in (case.ours, *case.peers) if job.name not in drop]
        answers: dict[str, list[dict[str, Any]]] = {job.name: [] for job in jobs}
        for repeat in range(self.repeats):
            for job in jobs if repeat % 2 == 0 else reversed(jobs):
                # A job that failed or took too long is not repeated.
                if not answers[job.name] or "time_s" in answers[job.name][-1]:
                    answers[job.name].append(self._measure(job, repeat))
        entries = [summarize(job, answers[job.name]) for job in jobs]
        ours, peers = entries[0], entries[1:]
        for peer in peers:
            peer["ratio"] = ratio(ours, peer)
        return {**row, "ours": ours, "peers": peers, "against": best_peer(peers)}

    def _growth(self, case: Growth) -> dict[str, Any]:
        """Return the row of a case at increasing sizes; a peer that fails is omitted at larger sizes."""
        steps: list[dict[str, Any]] = []
        drop: frozenset[str] = frozenset()
        for step in case.steps:
            steps.append(self._case(step, drop))
            drop |= {peer["name"] for peer in steps[-1]["peers"] if peer["status"] != "ok"}
        entries = [entry for step in steps for entry in (step["ours"], *step["peers"])]
        names = list(dict.fromkeys(entry["name"] for entry in entries))
        series = [
            {"name": name, **exponents([entry for entry in entries if entry["name"] == name])}
            for name in names
        ]
        goal = {"time_exponent": case.time_exponent, "memory_exponent": case.memory_exponent}
        return {
            "kind": "growth",
            "key": case.key,
            "title": case.title,
            "goal": goal,
            "series": series,
            "steps": steps,
        }

    def _compilation(self, case: Compilation) -> dict[str, Any]:
        """Return the times of the first fits with an empty and with a filled compilation cache."""
        entries = []
        for job in case.jobs:
            with tempfile.TemporaryDirectory() as cache, self.console.status(f"compilation of {job.name}"):
                first, second = launch(job, self.limit, cache), launch(job, self.limit, cache)
            entries.append({"name": job.name, "empty_cache": first, "filled_cache": second})
        return {"kind": "compilation", "key": case.key, "title": case.title, "entries": entries}


def summarize(job: Job, answers: list[dict[str, Any]]) -> dict[str, Any]:
    """Summarise the repeats of a job; ``status`` is "ok", "wrong", "over" (time limit) or "failed"."""
    good = [answer for answer in answers if "time_s" in answer]
    entry: dict[str, Any] = {
        "name": job.name,
        "estimator": job.estimator,
        "params": job.params,
        "data": job.data,
        "n": job.n,
    }
    if len(good) < len(answers):
        bad = answers[-1]
        return {**entry, "status": "over" if "over" in bad else "failed", **bad}
    entry["status"] = "ok" if all(answer["right"] for answer in good) else "wrong"
    entry.update(
        time_s=spread([a["time_s"] for a in good]), peak_bytes=spread([a["peak_bytes"] for a in good])
    )
    entry["disturbed"] = statistics.median(a["others_cores"] for a in good) > DISTURBED
    return {**entry, "error": good[-1]["error"], "solver": good[-1]["solver"], "repeats": good}


def ratio(ours: dict[str, Any], peer: dict[str, Any]) -> dict[str, Any] | None:
    """Return the ratios of times (peer / eigenscape) and of memory (eigenscape / peer) over the repeats.

    If the peer exceeded the time limit, return a lower bound of the ratio of times.
    """
    if "time_s" not in ours:
        return None
    if peer["status"] == "over":
        return {"at_least": peer["over"] / ours["time_s"]["median"]}
    if "time_s" not in peer:
        return None
    pairs = list(zip(ours["repeats"], peer["repeats"], strict=True))
    memory = [a["peak_bytes"] / max(b["peak_bytes"], 1) for a, b in pairs]
    return {"speed": spread([b["time_s"] / a["time_s"] for a, b in pairs]), "memory": spread(memory)}


def best_peer(peers: list[dict[str, Any]]) -> str | None:
    """Return the name of the peer to compare with.

    It is the fastest correct peer; if there is none, one that exceeded the time limit; otherwise the fastest
    inaccurate one.
    """
    timed = sorted((peer for peer in peers if "time_s" in peer), key=lambda peer: peer["time_s"]["median"])
    right = [peer for peer in timed if peer["status"] == "ok"]
    over = [peer for peer in peers if peer["status"] == "over"]
    chosen = right or over or timed
    return chosen[0]["name"] if chosen else None


def exponents(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Return sizes, median times and memory of a contender, and the exponents of their growth."""
    timed = [entry for entry in entries if "time_s" in entry]
    n = [entry["n"] for entry in timed]
    times, peaks = (
        [entry["time_s"]["median"] for entry in timed],
        [max(entry["peak_bytes"]["median"], 1) for entry in timed],
    )
    series: dict[str, Any] = {"n": n, "time_s": times, "peak_bytes": peaks}
    if len(n) > 1:
        series["time_exponent"] = float(np.polyfit(np.log(n), np.log(times), 1)[0])
        series["memory_exponent"] = float(np.polyfit(np.log(n), np.log(peaks), 1)[0])
    return series
