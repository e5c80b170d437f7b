"""Tables of the results for the terminal and in Markdown."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from typing import Any

from rich.table import Table

from benchmarks.goals import behind, checks, duration, peer_of, times
from benchmarks.install import reasons as install_reasons

HEAD = (
    "case",
    "eigenscape",
    "fastest correct peer",
    "speedup",
    "goal",
    "memory (eigenscape / peer)",
    "goal",
    "error (eigenscape / peer)",
    "transform (eigenscape / peer)",
    "solver",
)
PACKAGES = ("eigenscape", "scikit-learn", "scipy", "numpy", "numba", "faiss-cpu")
#: Libraries that are measured only if they are installed (``make bench``).
PEERS = ("umap-learn", "tapkee", "scanpy", "snapatac2")
#: Sections of the page: beginnings of keys and a title.
SECTIONS = (
    (("real",), "Real rows"),
    (("search",), "Real rows against the neighbour search alone"),
    (("busy",), "Real rows while another process keeps one core busy"),
    (("gaussians",), "Gaussian clusters"),
    (("cells",), "Words and cells"),
    (("placing",), "60,000 images and new rows"),
    (("cosine",), "Cosine kernel"),
    (("",), "Rolls, mixtures, dictionaries, growth and dask"),
)
NOTES = """
Every measurement runs in a process of its own, or, for real rows and clusters, in one process for each
library, which reads or generates the data, warms up with a small fit, then fits; eigenscape and the peers are
measured in turn. "Speedup" is the median over the repeats of the time of the peer divided by that of
eigenscape in the same round, with minimum and maximum in brackets. "Processor" is the time of all cores.
Memory is the peak resident size above the size before the fit. The error is the largest residual of an
eigenvector relative to its eigenvalue (for new points of kernel PCA: the relative error of the coordinates),
computed from the matrix of each method; where eigenscape returns single precision, it is the residual of its
vectors in double precision. "Recall" is the part of the true nearest neighbours of 300 rows that are
neighbours in the graph of a model; r² is that of the known coordinates (arc length, height) regressed on the
embedding; "agreement" is the adjusted Rand index with the true clusters or classes; "accuracy" is the part of
new rows whose class is that of most of their ten nearest training rows in the embedding; "aligned" is the
squared error of held-out points compared with exact kernel PCA after linear regression ("inaccurate" above
1e-6); "unexplained" is the part of new rows outside the span of a dictionary, relative to their squared
length; the error of imputed values is their root mean squared error relative to that of column means;
"distortion" is that of the edges of the graph (Brand eq. 5).

A result is "inaccurate" if its relative residual is above 1e-3 and above the bound by rounding, or its recall
below 0.9. The peer of a row is the fastest correct one; if there is none, one that exceeded the time limit
(the ratio is then a lower bound); otherwise an inaccurate one, with which no goal is judged. Rounding matters
for LLE, whose eigenvalues can be below 1e-12. If a graph has several components, a residual of 1e-9 is
accepted for eigenvalues of zero. A star marks times during which other processes of the machine used more
than a quarter of a core; in rows with dask these include the workers, whose memory is counted for the
contender.

All parameters are the defaults except those that make the tasks equal: k = 10 neighbours besides the point
itself, the same kernel width, `n_jobs=-1` for peers that have it. On rolls and the mixture scikit-learn's
spectral embedding counts the point itself as a neighbour, so that its graphs have slightly fewer edges. LLE
uses the same matrix in both libraries. tapkee's graph is directed: if it is not connected, its Isomap doubles
the number of neighbours, and as its matrix of distances is not symmetric, no residual is defined. UMAP solves
another problem; on real rows it is shown for comparison and no goal refers to it.
"""


def version(package: str) -> str:
    """Return the version of a package, or "absent"."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "absent"


def machine() -> dict[str, Any]:
    """Return the properties of the machine and the versions that the results depend on."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {
        "cores": os.cpu_count(),
        "memory_GB": round(pages / 2**30),
        "python": platform.python_version(),
        **{name: version(name) for name in (*PACKAGES, *PEERS)},
    }


def seconds(entry: dict[str, Any]) -> str:
    """Return the median time of a contender and its processor time as text, or why there is none."""
    if entry["status"] == "over":
        return f"over {entry['over']:.3g} s"
    if entry["status"] in ("failed", "absent"):
        return entry["status"]
    processor = f", processor {duration(entry['cpu_s']['median'])}" if "cpu_s" in entry else ""
    return (
        duration(entry["time_s"]["median"])
        + ("*" if entry["disturbed"] else "")
        + (" (inaccurate)" if entry["status"] == "wrong" else "")
        + processor
    )


def speedup(ratio: dict[str, Any] | None) -> str:
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
    for name in ("agreement", "accuracy"):
        if name in errors:
            parts.append(f"{name} {errors[name]:.2f}")
    if errors.get("recall") is not None:
        parts.append(f"recall {errors['recall']:.3f}")
    return " ".join(parts) or "–"


def goals(row: dict[str, Any], *kinds: str) -> str:
    """Return the goals of some kinds and whether they are met."""
    words = {True: "met", False: "not met", None: "no correct peer"}
    return ", ".join(f"{check.goal}: {words[check.met]}" for check in checks(row) if check.what in kinds)


def placed(ours: dict[str, Any], peer: dict[str, Any] | None) -> str:
    """Return the times of the transform of new rows, and their ratio."""
    if "transform" not in ours:
        return ""
    mine = ours["transform"]
    text = f"{mine['n_new']:,} rows: {duration(mine['time_s']['median'])}"
    if peer is None or "transform" not in peer:
        return text
    other = peer["transform"]["time_s"]["median"]
    return f"{text} / {duration(other)}: {times(other / mine['time_s']['median'])}"


def cells(row: dict[str, Any]) -> list[str]:
    """Return the cells of a row of the main table."""
    if "skipped" in row:
        return [row["title"], f"skipped: {row['skipped']}", *[""] * (len(HEAD) - 2)]
    if row["kind"] == "growth":
        return growth_cells(row)
    if row["kind"] == "compilation":
        return [row["title"], "see below", *[""] * (len(HEAD) - 2)]
    ours = row["ours"]
    peer = peer_of(row)
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
        speedup(ratio),
        goals(row, "result", "speed", "seconds"),
        memory,
        goals(row, "memory", "peak"),
        errors,
        placed(ours, peer),
        solver(ours),
    ]


def solver(entry: dict[str, Any]) -> str:
    """Return the solver of a contender."""
    return entry.get("solver", "")


def growth_cells(row: dict[str, Any]) -> list[str]:
    """Return the cells of a row of kind "growth", with exponents instead of ratios."""
    ours = row["series"][0]
    texts = dict.fromkeys(range(len(HEAD)), "")
    texts[0] = f"growth of {row['title']}"
    texts[len(HEAD) - 1] = ", ".join(dict.fromkeys(solver(s["ours"]) for s in row["steps"]))
    for column, name in ((3, "time_exponent"), (5, "memory_exponent")):
        if name in ours:
            texts[column] = f"n^{ours[name]:.2f}"
            texts[column + 1] = goals(row, name)
    return list(texts.values())


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
    """Return the page of results in Markdown: what is behind, the figures, tables, and all contenders."""
    rows = results["rows"]
    text = ["# Benchmarks", "", "## Where eigenscape is behind", "", *behind(rows), *_absent(rows)]
    text += [f"![{title}]({name})" for name, title in figures] + [""]
    text += _conditions(results)
    done: set[str] = set()
    for groups, title in SECTIONS:
        members = [row for row in rows if row["key"] not in done and row["key"].startswith(groups)]
        done |= {row["key"] for row in members}
        body = [cells(row) for row in members if row["kind"] != "compilation"]
        if body:
            text += [f"## {title}", "", *markdown_table(HEAD, body)]
    text += ["## How it is measured", "", NOTES.strip(), ""]
    head = ("case", "contender", "time", "speedup", "memory", "error", "transform", "solver")
    text += ["## All contenders", "", *markdown_table(head, _contenders(rows))]
    text += _compilation(rows)
    return "\n".join(text).rstrip() + "\n"


def _conditions(results: dict[str, Any]) -> list[str]:
    """Return the paragraph on the machine, the versions and the command."""
    facts = results["machine"]
    dates = sorted({row["date"] for row in results["rows"]})
    versions = ", ".join(f"{name} {facts[name]}" for name in ("python", *PACKAGES, *PEERS) if name in facts)
    command = f"python -m benchmarks run{' --quick' if results['quick'] else ''}"
    return [
        f"Measured {' to '.join(dict.fromkeys((dates[0], dates[-1])))} on {facts['cores']} cores,"
        f" {facts['memory_GB']} GB; {versions}."
        if dates
        else "",
        f"Last run: {results['repeats']} repeat(s), time limit of a fit {results['limit_s']:g} s; rows kept"
        " from an earlier run may have other values."
        f" Written by `{command}`; all numbers are in `results.json`.",
        "The goals apply to the full sizes and are not evaluated in a quick run." if results["quick"] else "",
        "",
    ]


def _absent(rows: list[dict[str, Any]]) -> list[str]:
    """Return the paragraph on libraries and data that were not measured, with reasons."""
    reasons: dict[str, str] = {}
    installs = install_reasons()
    for row in compared(rows):
        for entry in (*row["peers"], *row.get("references", ())):
            if entry["status"] == "absent" and not entry["absent"].startswith("no "):
                reasons[entry["name"]] = entry["absent"]
    skipped: dict[str, int] = {}
    for row in rows:
        if "skipped" in row:
            skipped[row["skipped"]] = skipped.get(row["skipped"], 0) + 1
    text = [f"- {name} was not measured: {installs.get(name, reason)}" for name, reason in reasons.items()]
    text += [f"- {count} rows were skipped: {reason}" for reason, count in skipped.items()]
    return ["Not measured:", "", *text, ""] if text else []


def compared(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows with contenders, and the steps of growth."""
    steps = [step for row in rows for step in (row["steps"] if row["kind"] == "growth" else [row])]
    return [step for step in steps if "ours" in step]


def _contenders(rows: list[dict[str, Any]]) -> list[list[str]]:
    """Return the cells of the table of all contenders."""
    body = []
    for row in compared(rows):
        for entry in (row["ours"], *row["peers"], *row.get("references", ())):
            reason = f" ({entry[entry['status']]})" if entry["status"] in ("failed", "absent") else ""
            body.append(
                [
                    row["title"],
                    entry["name"],
                    seconds(entry) + reason,
                    speedup(entry.get("ratio")),
                    megabytes(entry),
                    error(entry),
                    placed(entry, None),
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
