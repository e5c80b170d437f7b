"""Goals of a row and whether they are met; the rows that are behind, in plain words."""

from __future__ import annotations

from typing import Any, NamedTuple


class Check(NamedTuple):
    """A goal: what it limits ("speed", "memory", ...), as text; what was reached; and whether it is met.

    ``met`` is None if it cannot be judged, because no correct peer was measured.
    """

    what: str
    goal: str
    reached: str
    met: bool | None
    ratio: float | None = None  # of times, for "speed"


def times(value: float) -> str:
    """Return a ratio as text."""
    return f"{value:.3g}x"


def duration(seconds: float) -> str:
    """Return a time as text."""
    return f"{1e3 * seconds:.3g} ms" if seconds < 0.01 else f"{seconds:.3g} s"


def peer_of(row: dict[str, Any]) -> dict[str, Any] | None:
    """Return the peer that a row is compared with."""
    return next((peer for peer in row.get("peers", ()) if peer["name"] == row["against"]), None)


def checks(row: dict[str, Any]) -> list[Check]:
    """Return the goals of a row."""
    if "skipped" in row:
        return []
    if row["kind"] == "growth":
        return _exponents(row)
    ours, goal = row["ours"], row["goal"]
    if not any(value for value in goal.values()):
        return []
    if ours["status"] != "ok":
        return [Check("result", "a correct result", ours["status"], False)]
    found = []
    peer = peer_of(row)
    if goal["speed"] and peer:
        found.append(_speed(goal["speed"], peer))
    found += _transform(row["peers"])
    if goal["memory"] and peer and "memory" in (peer["ratio"] or {}):
        value = peer["ratio"]["memory"]["median"]
        reached = f"{value:.2g} of the peer's memory"
        found.append(Check("memory", f"{goal['memory']:.2g}", reached, value <= goal["memory"]))
    if goal["peak"]:
        value = ours["peak_bytes"]["max"]
        found.append(
            Check("peak", f"{goal['peak'] / 1e9:g} GB", f"{value / 1e9:.2g} GB", value <= goal["peak"])
        )
    if goal.get("seconds"):
        value, limit = ours["time_s"]["median"], goal["seconds"]
        found.append(Check("seconds", duration(limit), duration(value), value <= limit))
    return found


def _speed(goal: float, peer: dict[str, Any]) -> Check:
    """Return the goal of the speed against a peer; an inaccurate peer does not count."""
    text = f"{goal:.3g}x"
    ratio = peer["ratio"]
    if ratio is None:
        return Check("speed", text, "not measured", None)
    value = ratio["at_least"] if "at_least" in ratio else ratio["speed"]["median"]
    met = None if peer["status"] == "wrong" else value >= goal
    # A peer that was stopped may be slower than the bound says.
    if "at_least" in ratio:
        return Check("speed", text, f"> {times(value)}", True if met else None, value)
    return Check("speed", text, times(value), met, value)


def _transform(peers: list[dict[str, Any]]) -> list[Check]:
    """Return the goal of placing new rows: not slower than any correct peer that can."""
    ratios = [(peer["ratio"] or {}).get("transform") for peer in peers if peer["status"] != "wrong"]
    worst = min((ratio for ratio in ratios if ratio is not None), default=None)
    if worst is None:
        return []
    return [Check("transform", "1x", f"{times(worst)} placing new rows", worst >= 1, worst)]


def _exponents(row: dict[str, Any]) -> list[Check]:
    """Return the goals of a row of kind "growth"."""
    found = []
    for name in ("time_exponent", "memory_exponent"):
        goal, reached = row["goal"][name], row["series"][0].get(name)
        if goal and reached is not None:
            found.append(Check(name, f"n^{goal:g}", f"n^{reached:.2f}", reached <= goal))
    return found


def behind(rows: list[dict[str, Any]]) -> list[str]:
    """Return the paragraph on the rows that are behind: first those slower than a peer, then other goals."""
    judged = [(row, check) for row in rows for check in checks(row)]
    if not judged:
        return ["No goal was judged in this run.", ""]
    missed = [(row, check) for row, check in judged if check.met is False]
    slower = [(row, check) for row, check in missed if check.ratio is not None and _is_slower(row, check)]
    rest = [pair for pair in missed if pair not in slower]
    unjudged = sum(check.met is None for _, check in judged)
    text = [
        f"**{len(judged) - len(missed) - unjudged} of {len(judged)} goals are met.** "
        f"{_count(len(slower), 'row')} slower than the library that a user would take instead, and "
        f"{len(rest)} more miss a goal."
        + (f" {unjudged} cannot be judged, as no correct peer finished." if unjudged else ""),
        "",
    ]
    for head, pairs in (("Slower than a peer (below 1x):", slower), ("Below a goal:", rest)):
        if pairs:
            text += [head, "", *_bullets(pairs), ""]
    return text


def _count(number: int, noun: str) -> str:
    return f"{number} {noun} is" if number == 1 else f"{number} {noun}s are"


def _is_slower(row: dict[str, Any], check: Check) -> bool:
    """Return whether a row is slower than a peer with the same task, for which the goal is at least 1x."""
    required = 1.0 if check.what == "transform" else row["goal"]["speed"]
    return check.ratio is not None and check.ratio < 1 <= required


def _bullets(pairs: list[tuple[dict[str, Any], Check]]) -> list[str]:
    """Return a line for each method and group of rows, the worst first, with its worst rows."""
    groups: dict[tuple[str, str], list[tuple[dict[str, Any], Check]]] = {}
    for row, check in pairs:
        groups.setdefault((row["title"].split(",")[0], check.what), []).append((row, check))
    lines = []
    ordered = sorted(groups.items(), key=lambda item: min(_worst(check) for _, check in item[1]))
    for (method, _), members in ordered:
        members = sorted(members, key=lambda member: _worst(member[1]))
        shown = "; ".join(
            f"{row['title'].partition(', ')[2] or row['title']}: {check.reached} (goal {check.goal})"
            for row, check in members[:3]
        )
        more = f"; and {len(members) - 3} more" if len(members) > 3 else ""
        lines.append(f"- {method}: {shown}{more}")
    return lines


def _worst(check: Check) -> float:
    """Return a number by which checks are sorted: the ratio of times, or infinity."""
    return float("inf") if check.ratio is None else check.ratio
