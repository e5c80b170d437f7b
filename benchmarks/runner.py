"""Measure cases, eigenscape and peers in turn, and summarise the repeats."""

from __future__ import annotations

import json
import statistics
import time
from dataclasses import asdict
from typing import Any

import numpy as np
from rich.console import Console

from benchmarks.cases.model import Case, Growth, Job
from benchmarks.processes import Pool

#: Number of cores used by other processes above which a time is marked as disturbed.
DISTURBED = 0.25
#: Short cases are repeated more often, until so many seconds have passed, but at most so many times as often.
SHORT_SECONDS, MORE_REPEATS = 4.0, 3
#: A peer that takes so many times longer than eigenscape is stopped (after at least 10 s) in cases that share
#: processes, and one that takes so many times longer than the fastest correct peer is not repeated.
HOPELESS, SLOW = 25.0, 2.0


def spread(values: list[float]) -> dict[str, float]:
    """Return median, minimum and maximum."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


class Runner:
    """Measures cases; a job that is part of several cases is measured once."""

    def __init__(self, repeats: int, limit: float, console: Console) -> None:
        self.repeats = repeats
        self.limit = limit
        self.console = console
        self.pool = Pool()
        self._cache: dict[str, dict[str, Any]] = {}

    def row(self, case: Case | Growth) -> dict[str, Any]:
        """Measure a case and return its row of the results."""
        if isinstance(case, Growth):
            return self._growth(case)
        return self._case(case)

    def _measure(self, job: Job, repeat: int, limit: float) -> dict[str, Any]:
        """Return the result of a job in a repeat; results are cached for all steps of the job."""
        key = json.dumps([{**asdict(job), "name": "", "step": ""}, repeat], sort_keys=True)
        if key not in self._cache:
            with self.console.status(
                f"{job.name}: {job.estimator}, {job.data}, n = {job.n:,}, repeat {repeat + 1}"
            ):
                self._cache[key] = self.pool.measure(job, limit)
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
        answers = self._rounds(jobs)
        entries = [summarize(job, answers[job.name]) for job in jobs]
        ours, peers = entries[0], entries[1:]
        references = [summarize(job, [self._measure(job, 0, self.limit)]) for job in case.references]
        for peer in (*peers, *references):
            peer["ratio"] = ratio(ours, peer)
        return {**row, "ours": ours, "peers": peers, "against": best_peer(peers), "references": references}

    def _rounds(self, jobs: list[Job]) -> dict[str, list[dict[str, Any]]]:
        """Measure jobs in turn, in alternating order, and return the results of each.

        Short cases are repeated more often. A job that failed, took too long or is much slower than the
        fastest correct peer is not repeated.
        """
        answers: dict[str, list[dict[str, Any]]] = {job.name: [] for job in jobs}
        shared, limit, left = jobs[0].shared, self.limit, list(jobs)
        start = time.perf_counter()
        for repeat in range(self.repeats * (MORE_REPEATS if shared else 1)):
            if repeat >= self.repeats and time.perf_counter() - start > SHORT_SECONDS:
                break
            for job in left if repeat % 2 == 0 else reversed(left):
                answers[job.name].append(self._measure(job, repeat, limit))
                if job is jobs[0] and shared and "fit" in answers[job.name][-1]:
                    slowest = max(step["time_s"] for step in answers[job.name][-1].values() if is_timed(step))
                    limit = min(self.limit, max(10.0, HOPELESS * slowest))
            left = [job for job in left if is_worth_repeating(job, jobs, answers, shared)]
        return answers

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


def is_timed(step: Any) -> bool:
    """Return whether a part of a result is a measured step."""
    return isinstance(step, dict) and "time_s" in step


def is_worth_repeating(
    job: Job, jobs: list[Job], answers: dict[str, list[dict[str, Any]]], shared: bool
) -> bool:
    """Return whether a job finished and, in shared processes, is not too slow to be the fastest peer."""

    def last(job: Job) -> dict[str, Any]:
        return answers[job.name][-1].get(job.step, {})

    if not is_timed(last(job)):
        return False
    right = [last(peer)["time_s"] for peer in jobs[1:] if is_timed(last(peer)) and last(peer)["right"]]
    return job is jobs[0] or not shared or not right or last(job)["time_s"] <= SLOW * min(right)


def summarize(job: Job, answers: list[dict[str, Any]]) -> dict[str, Any]:
    """Summarise the repeats of a job.

    ``status`` is "ok", "wrong", "over" (time limit), "absent" (library or method) or "failed".
    """
    entry: dict[str, Any] = {
        "name": job.name,
        "estimator": job.estimator,
        "params": job.params,
        "data": job.data,
        "n": job.n,
        "step": job.step,
    }
    good = [answer[job.step] for answer in answers if job.step in answer]
    if len(good) < len(answers):
        bad = answers[-1]
        for status in ("over", "absent", "failed"):
            if status in bad:
                return {**entry, "status": status, status: bad[status]}
        return {**entry, "status": "absent", "absent": f"no {job.step}"}
    entry["status"] = "ok" if all(step["right"] for step in good) else "wrong"
    entry.update(numbers(good))
    entry["disturbed"] = not job.busy and statistics.median(a["others_cores"] for a in good) > DISTURBED
    placed = [answer["transform"] for answer in answers if "transform" in answer]
    if job.step == "fit" and len(placed) == len(answers):
        entry["transform"] = {
            **numbers(placed),
            "status": "ok" if all(step["right"] for step in placed) else "wrong",
            "error": placed[-1]["error"],
            "n_new": job.n_new,
        }
    kept = [{name: step[name] for name in ("time_s", "cpu_s", "peak_bytes")} for step in good]
    return {**entry, "error": good[-1]["error"], "solver": answers[-1]["solver"], "repeats": kept}


def numbers(steps: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    """Return the spread of time, processor time and peak memory."""
    return {name: spread([step[name] for step in steps]) for name in ("time_s", "cpu_s", "peak_bytes")}


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
    pairs = list(zip(ours["repeats"], peer["repeats"], strict=False))  # a slow peer has fewer
    found: dict[str, Any] = {
        "speed": spread([b["time_s"] / a["time_s"] for a, b in pairs]),
        "memory": spread([a["peak_bytes"] / max(b["peak_bytes"], 1) for a, b in pairs]),
    }
    if "transform" in ours and "transform" in peer:
        found["transform"] = peer["transform"]["time_s"]["median"] / ours["transform"]["time_s"]["median"]
    return found


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
