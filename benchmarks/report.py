"""Tables of the results for the terminal and in Markdown."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from typing import Any

from rich.table import Table

HEAD = (
    "case",
    "eigenscape",
    "fastest correct peer",
    "speedup",
    "goal",
    "memory (eigenscape / peer)",
    "goal",
    "error (eigenscape / peer)",
    "solver",
)
PACKAGES = ("eigenscape", "scikit-learn", "scipy", "numpy", "numba")
NOTES = """
Every measurement runs in a process of its own, which generates the data, warms up with a small fit, then
fits; eigenscape and the peers are measured in turn. "Speedup" is the median over the repeats of the time of
the peer divided by that of eigenscape in the same round, with minimum and maximum in brackets. Memory is the
peak resident size above the size before the fit. The error is the largest residual of an eigenvector relative
to its eigenvalue (for new points of kernel PCA: the relative error of the coordinates), computed from the
matrix of each method; r² is that of the known coordinates (arc length, height) regressed on the embedding;
"agreement" is the adjusted Rand index with the true clusters; "aligned" is the squared error of held-out
points compared with exact kernel PCA after linear regression ("inaccurate" above 1e-6); "unexplained" is the
part of new rows outside the span of a dictionary, relative to their squared length; the error of imputed
values is their root mean squared error relative to that of column means; "distortion" is that of the edges of
the graph (Brand eq. 5).

A result is "inaccurate" if its relative residual is above 1e-3 and above the bound by rounding. The peer of a
row is the fastest correct one; if there is none, one that exceeded the time limit (the ratio is then a lower
bound); otherwise an inaccurate one. Rounding matters for LLE, whose eigenvalues can be below 1e-12. A star
marks times during which other processes of the machine used more than a quarter of a core; in rows with dask
these include the workers, whose memory is counted for the contender.

k = 10 in all cases. scikit-learn's spectral embedding counts the point itself as a neighbour, so that its
graphs have slightly fewer edges. LLE uses the same matrix in both libraries.
"k-d tree search alone" is that of SciPy, for 10 neighbours besides the point itself. tapkee is not compared
because there is no package on PyPI.
"""


def machine() -> dict[str, Any]:
    """Return the properties of the machine and the versions that the results depend on."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    versions = {name: importlib.metadata.version(name) for name in PACKAGES}
    return {
        "cores": os.cpu_count(),
        "memory_GB": round(pages / 2**30),
        "python": platform.python_version(),
        **versions,
    }


def seconds(entry: dict[str, Any]) -> str:
    """Return the median time of a contender as text, or the reason why there is none."""
    if entry["status"] == "over":
        return f"over {entry['over']:g} s"
    if entry["status"] == "failed":
        return "failed"
    return (
        f"{entry['time_s']['median']:.3g} s"
        + ("*" if entry["disturbed"] else "")
        + (" (inaccurate)" if entry["status"] == "wrong" else "")
    )


def times(ratio: dict[str, Any] | None) -> str:
    """Return a ratio of times with its range as text."""
    if ratio is None:
        return ""
    if "at_least" in ratio:
        return f"> {ratio['at_least']:.3g}x"
    speed = ratio["speed"]
    if speed["median"] < 1:
        return f"1/{1 / speed['median']:.3g} (1/{1 / speed['min']:.3g}..1/{1 / speed['max']:.3g})"
    return f"{speed['median']:.3g}x ({speed['min']:.3g}..{speed['max']:.3g})"


def megabytes(entry: dict[str, Any]) -> str:
    """Return the median peak memory as text."""
    return f"{entry['peak_bytes']['median'] / 1e6:.0f} MB" if "peak_bytes" in entry else "?"


def error(entry: dict[str, Any]) -> str:
    """Return the available error measures as text."""
    errors = entry.get("error", {})
    parts = [f"{errors['residual']:.0e}"] if "residual" in errors else []
    if errors.get("floor", 0.0) > 1e-3:
        parts.append(f"(rounding {errors['floor']:.0e})")
    if errors.get("r2"):
        parts.append("r² " + ", ".join(f"{value:.2f}" for value in errors["r2"]))
    if "aligned" in errors:
        parts.append(f"aligned {errors['aligned']:.0e}")
    if "of_means" in errors:
        parts.append(f"{errors['of_means']:.3f} relative to column means")
    if "left_out" in errors:
        parts.append(f"unexplained {errors['left_out']:.3g}")
    if "distortion" in errors:
        parts.append(f"distortion {errors['distortion']:.3g}")
    if "agreement" in errors:
        parts.append(f"agreement {errors['agreement']:.2f}")
    return " ".join(parts) or "–"


def verdict(met: bool) -> str:
    """Return whether a goal is met as text."""
    return "met" if met else "not met"


def goal_time(row: dict[str, Any], ratio: dict[str, Any] | None) -> str:
    """Return the goal for the speed and whether it is met."""
    target = row["goal"]["speed"]
    if target is None or ratio is None:
        return "" if target is None else f"{target:g}x"
    reached = ratio["at_least"] if "at_least" in ratio else ratio["speed"]["median"]
    return (
        f"{target:g}x: {verdict(reached >= target)}"
        if target >= 1
        else f"1/{1 / target:g}: {verdict(reached >= target)}"
    )


def goal_memory(row: dict[str, Any], ratio: dict[str, Any] | None) -> str:
    """Return the goal for the memory and whether it is met."""
    goal = row["goal"]
    if goal["peak"] and "peak_bytes" in row["ours"]:
        return f"{goal['peak'] / 1e9:g} GB: {verdict(row['ours']['peak_bytes']['max'] <= goal['peak'])}"
    if goal["memory"] and ratio and "memory" in ratio:
        return f"1/{1 / goal['memory']:g}: {verdict(ratio['memory']['median'] <= goal['memory'])}"
    return ""


def cells(row: dict[str, Any]) -> list[str]:
    """Return the cells of a row of the main table."""
    if "skipped" in row:
        return [row["title"], f"skipped: {row['skipped']}", *[""] * (len(HEAD) - 2)]
    if row["kind"] == "growth":
        return growth_cells(row)
    if row["kind"] == "compilation":
        return [row["title"], "see below", *[""] * (len(HEAD) - 2)]
    ours = row["ours"]
    peer = next((peer for peer in row["peers"] if peer["name"] == row["against"]), None)
    ratio = peer["ratio"] if peer else None
    memory = (
        f"{ratio['memory']['median']:.2f} ({megabytes(ours)} / {megabytes(peer)})"
        if ratio and "memory" in ratio
        else megabytes(ours)
    )
    against = f"{peer['name']}: {seconds(peer)}" if peer else "none"
    errors = f"{error(ours)} / {error(peer) if peer else '–'}"
    return [
        row["title"],
        seconds(ours),
        against,
        times(ratio),
        goal_time(row, ratio),
        memory,
        goal_memory(row, ratio),
        errors,
        solver(ours),
    ]


def solver(entry: dict[str, Any]) -> str:
    """Return the solver of a contender."""
    return entry.get("solver", "")


def growth_cells(row: dict[str, Any]) -> list[str]:
    """Return the cells of a row of kind "growth", with exponents instead of ratios."""
    ours, goal = row["series"][0], row["goal"]
    cells = [
        f"growth of {row['title']}",
        "",
        "",
        "",
        "",
        "",
        "",
        "",
        ", ".join(dict.fromkeys(solver(s["ours"]) for s in row["steps"])),
    ]
    for column, name in ((3, "time_exponent"), (5, "memory_exponent")):
        if name in ours:
            cells[column] = f"n^{ours[name]:.2f}"
            cells[column + 1] = f"n^{goal[name]:g}: {verdict(ours[name] <= goal[name])}" if goal[name] else ""
    return cells


def line(row: dict[str, Any]) -> str:
    """Return a row as one line of text."""
    return " | ".join(cell for cell in cells(row) if cell)


def terminal_table(rows: list[dict[str, Any]]) -> Table:
    """Return the main table for the terminal."""
    table = Table(*HEAD, show_lines=True)
    for row in rows:
        table.add_row(*cells(row))
    return table


def markdown_table(head: tuple[str, ...], body: list[list[str]]) -> list[str]:
    """Return the lines of a Markdown table."""
    return ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *body)] + [""]


def markdown(results: dict[str, Any], figures: list[str]) -> str:
    """Return the page of results in Markdown."""
    facts = results["machine"]
    rows = results["rows"]
    dates = sorted({row["date"] for row in rows})
    versions = ", ".join(f"{name} {facts[name]}" for name in ("python", *PACKAGES))
    command = f"python -m benchmarks run{' --quick' if results['quick'] else ''}"
    text = [
        "# Benchmarks",
        "",
        f"Measured {' to '.join(dict.fromkeys((dates[0], dates[-1])))} on {facts['cores']} cores,"
        f" {facts['memory_GB']} GB; {versions}.",
        f"Last run: {results['repeats']} repeat(s), time limit of a fit {results['limit_s']:g} s; rows kept"
        " from an earlier run may have other values."
        f" Written by `{command}`; all numbers are in `results.json`.",
        "The goals apply to the full sizes and are not evaluated in a quick run." if results["quick"] else "",
        "",
    ]
    text += markdown_table(HEAD, [cells(row) for row in rows if row["kind"] != "compilation"])
    text += [NOTES.strip(), ""]
    text += [f"![{name.removesuffix('.png')} against n]({name})" for name in figures] + [""]
    text += [
        "## All contenders",
        "",
        *markdown_table(
            ("case", "contender", "time", "speedup", "memory", "error", "solver"), _contenders(rows)
        ),
    ]
    text += _compilation(rows)
    return "\n".join(text).rstrip() + "\n"


def _contenders(rows: list[dict[str, Any]]) -> list[list[str]]:
    """Return the cells of the table of all contenders."""
    body = []
    compared = [
        step
        for row in rows
        for step in (row["steps"] if row["kind"] == "growth" else [row])
        if "ours" in step
    ]
    for row in compared:
        for entry in (row["ours"], *row["peers"]):
            reason = f" ({entry['failed']})" if entry["status"] == "failed" else ""
            body.append(
                [
                    row["title"],
                    entry["name"],
                    seconds(entry) + reason,
                    times(entry.get("ratio")),
                    megabytes(entry),
                    error(entry),
                    solver(entry),
                ]
            )
    return body


def _compilation(rows: list[dict[str, Any]]) -> list[str]:
    """Return the table of compilation times, which occur once because compiled code is cached on disk."""
    body = []
    for row in rows:
        for entry in row.get("entries", []):
            empty, filled = entry["empty_cache"], entry["filled_cache"]
            if "failed" in empty or "failed" in filled:
                body.append([entry["name"], "failed", "", ""])
                continue
            body.append(
                [
                    entry["name"],
                    f"{empty['warm_up_s']:.1f} s",
                    f"{empty['compile_s']:.1f} s",
                    f"{filled['warm_up_s']:.2f} s",
                ]
            )
    head = ("fit of 1,000 points", "empty cache", "compilation", "filled cache, new process")
    return ["## Compilation", "", *markdown_table(head, body)] if body else []
