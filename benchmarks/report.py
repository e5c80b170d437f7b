"""The page of the results in Markdown."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from typing import Any

from benchmarks.cases import all_cases
from benchmarks.goals import behind
from benchmarks.install import reasons as install_reasons
from benchmarks.tables import HEAD, cells, compared, contenders, markdown_table

PACKAGES = ("eigenscape", "scikit-learn", "scipy", "numpy")
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


def markdown(results: dict[str, Any], figures: list[str]) -> str:
    """Return the page of results in Markdown: what is behind, the figures, tables, and all contenders."""
    rows = results["rows"]
    text = [
        "# Benchmarks",
        "",
        "## Where eigenscape is behind",
        "",
        *behind(rows),
        *_absent(rows, results["quick"]),
    ]
    images = {name: f"![{title}]({name})" for name, title in figures}
    text += [images.pop("ratios.png", ""), "", *_conditions(results)]
    done: set[str] = set()
    for groups, title in SECTIONS:
        members = [row for row in rows if row["key"] not in done and row["key"].startswith(groups)]
        done |= {row["key"] for row in members}
        body = [cells(row) for row in members]
        if body:
            text += [f"## {title}", "", *markdown_table(HEAD, body)]
    text += [*images.values(), ""]
    text += ["Whole scripts under `eigenscape.accel`: [drop-in.md](drop-in.md).", ""]
    text += ["## How it is measured", "", NOTES.strip(), ""]
    head = ("case", "contender", "time", "speedup", "memory", "error", "transform", "solver")
    text += ["## All contenders", "", *markdown_table(head, contenders(rows))]
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
        "Measured before the loops were C, with loops compiled by numba; compilation is not in the times."
        if "numba" in facts
        else "",
        "The goals apply to the full sizes and are not evaluated in a quick run." if results["quick"] else "",
        "",
    ]


def _absent(rows: list[dict[str, Any]], quick: bool) -> list[str]:
    """Return the paragraph on libraries, data and cases that were not measured, with reasons."""
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
    left = [key for case in all_cases(quick) if (key := case.key) not in {row["key"] for row in rows}]
    if left:
        groups = ", ".join(dict.fromkeys(key.split("-")[0] for key in left))
        text.append(f"- {len(left)} rows have no results yet ({groups})")
    return ["Not measured:", "", *text, ""] if text else []
