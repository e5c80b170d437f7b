"""Runs each job in a process of its own, ours and the peers by turns, and sums the repeats up."""

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

from benchmarks.worker import MARK
from benchmarks.works import Compilation, Growth, Job, Work

#: Seconds granted, besides the limit of the measured work, to data, warm-up and error measures.
APART = 900.0
#: Cores that other processes may use during a fit before its time is marked as disturbed.
DISTURBED = 0.25


def launch(job: Job, limit: float, cache: str | None = None) -> dict[str, Any]:
    """The answer of one fresh process; ``{"over": limit}`` if its alarm went off."""
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
        output, _ = process.communicate(timeout=limit + APART)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return {"failed": "data, warm-up or error measure took too long"}
    if process.returncode == -signal.SIGALRM:
        return {"over": limit}
    answers = [line[len(MARK) :] for line in output.splitlines() if line.startswith(MARK)]
    return json.loads(answers[-1]) if answers else {"failed": f"process ended with code {process.returncode}"}


def spread(values: list[float]) -> dict[str, float]:
    """Median, least and greatest."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


class Runner:
    """Measures rows of the work list; a job that two rows share is measured once."""

    def __init__(self, repeats: int, limit: float, console: Console) -> None:
        self.repeats = repeats
        self.limit = limit
        self.console = console
        self._known: dict[str, dict[str, Any]] = {}

    def row(self, work: Work | Growth | Compilation) -> dict[str, Any]:
        """All numbers of one row."""
        if isinstance(work, Compilation):
            return self._compilation(work)
        if isinstance(work, Growth):
            return self._growth(work)
        return self._work(work)

    def _ask(self, job: Job, repeat: int) -> dict[str, Any]:
        key = json.dumps([asdict(job), repeat], sort_keys=True)
        if key not in self._known:
            with self.console.status(
                f"{job.name}: {job.estimator}, {job.data}, n = {job.n:,}, repeat {repeat + 1}"
            ):
                self._known[key] = launch(job, self.limit)
        return self._known[key]

    def _work(self, work: Work, drop: frozenset[str] = frozenset()) -> dict[str, Any]:
        row = {
            "kind": "work",
            "key": work.key,
            "title": work.title,
            "goal": asdict(work.goal),
            "n": work.ours.n,
        }
        if work.skip:
            return {**row, "skipped": work.skip}
        jobs = [job for job in (work.ours, *work.peers) if job.name not in drop]
        answers: dict[str, list[dict[str, Any]]] = {job.name: [] for job in jobs}
        for repeat in range(self.repeats):
            for job in jobs if repeat % 2 == 0 else reversed(jobs):
                if (
                    not answers[job.name] or "time_s" in answers[job.name][-1]
                ):  # no second try for what failed or took too long
                    answers[job.name].append(self._ask(job, repeat))
        entries = [contender(job, answers[job.name]) for job in jobs]
        ours, peers = entries[0], entries[1:]
        for peer in peers:
            peer["ratio"] = ratio(ours, peer)
        return {**row, "ours": ours, "peers": peers, "against": best(peers)}

    def _growth(self, work: Growth) -> dict[str, Any]:
        steps: list[dict[str, Any]] = []
        drop: frozenset[str] = frozenset()
        for step in work.steps:
            steps.append(self._work(step, drop))
            drop |= {peer["name"] for peer in steps[-1]["peers"] if peer["status"] != "ok"}
        entries = [entry for step in steps for entry in (step["ours"], *step["peers"])]
        names = list(dict.fromkeys(entry["name"] for entry in entries))
        series = [
            {"name": name, **exponents([entry for entry in entries if entry["name"] == name])}
            for name in names
        ]
        goal = {"time_exponent": work.time_exponent, "memory_exponent": work.memory_exponent}
        return {
            "kind": "growth",
            "key": work.key,
            "title": work.title,
            "goal": goal,
            "series": series,
            "steps": steps,
        }

    def _compilation(self, work: Compilation) -> dict[str, Any]:
        entries = []
        for job in work.jobs:
            with tempfile.TemporaryDirectory() as cache, self.console.status(f"compilation of {job.name}"):
                first, second = launch(job, self.limit, cache), launch(job, self.limit, cache)
            entries.append({"name": job.name, "empty_cache": first, "filled_cache": second})
        return {"kind": "compilation", "key": work.key, "title": work.title, "entries": entries}


def contender(job: Job, answers: list[dict[str, Any]]) -> dict[str, Any]:
    """The repeats of one job in sum. ``status`` is ok, wrong, over or failed."""
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
    """Peer's time over ours, repeat by repeat, and ours memory over peer's; a lower bound where the peer took
    too long."""
    if "time_s" not in ours:
        return None
    if peer["status"] == "over":
        return {"at_least": peer["over"] / ours["time_s"]["median"]}
    if "time_s" not in peer:
        return None
    pairs = list(zip(ours["repeats"], peer["repeats"], strict=True))
    memory = [a["peak_bytes"] / max(b["peak_bytes"], 1) for a, b in pairs]
    return {"speed": spread([b["time_s"] / a["time_s"] for a, b in pairs]), "memory": spread(memory)}


def best(peers: list[dict[str, Any]]) -> str | None:
    """The fastest right peer; else one that took too long (it may have been right); else the fastest wrong
    one."""
    timed = sorted((peer for peer in peers if "time_s" in peer), key=lambda peer: peer["time_s"]["median"])
    right = [peer for peer in timed if peer["status"] == "ok"]
    over = [peer for peer in peers if peer["status"] == "over"]
    chosen = right or over or timed
    return chosen[0]["name"] if chosen else None


def exponents(entries: list[dict[str, Any]]) -> dict[str, Any]:
    """Sizes, median times and peaks of one contender, and the slopes of their logarithms."""
    timed = [entry for entry in entries if "time_s" in entry]
    n = [entry["n"] for entry in timed]
    times, peaks = (
        [entry["time_s"]["median"] for entry in timed],
        [max(entry["peak_bytes"]["median"], 1) for entry in timed],
    )
    found: dict[str, Any] = {"n": n, "time_s": times, "peak_bytes": peaks}
    if len(n) > 1:
        found["time_exponent"] = float(np.polyfit(np.log(n), np.log(times), 1)[0])
        found["memory_exponent"] = float(np.polyfit(np.log(n), np.log(peaks), 1)[0])
    return found
