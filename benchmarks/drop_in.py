"""Ten scripts written for scikit-learn, run as they are and by ``python -m eigenscape.accel``.

``python -m benchmarks.drop_in`` prints processor and wall time of each whole script, imports included, at its
own size and at a larger one, the ratios of the times, and the largest difference between the numbers that
the scripts print, and writes docs/benchmarks/drop-in.md.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from datetime import date
from pathlib import Path
from typing import NamedTuple

from benchmarks.report import machine
from benchmarks.tables import markdown_table

SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("[!_]*.py"))
#: Rows of the larger runs: fewer where scikit-learn decomposes dense matrices, which takes minutes.
LARGER = {script.stem: 3500 for script in SCRIPTS} | {"denoise": 3000, "lle_variants": 2500}
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "drop-in.md"
HEAD = (
    "script",
    "content",
    "rows",
    "processor time of scikit-learn",
    "of eigenscape.accel",
    "ratio",
    "wall time of scikit-learn",
    "of eigenscape.accel",
    "ratio",
    "largest difference",
)
TEXT = """# Scripts written for scikit-learn

Whole scripts (`benchmarks/scripts`), imports included, run by `python script.py` and by
`python -m eigenscape.accel script.py` in turn: at their own size, of 1 500 to 2 000 rows (the best of
{repeats} runs), and with a larger number of rows as their argument (the best of {larger}). A ratio above 1:
faster under eigenscape.accel. The difference is that of the numbers that the script prints. Importing
scikit-learn, which takes most of the time of a short script, is part of both times. Bytecode of both packages
is cached, as it is after installation. Compare processor times where the machine runs other programs besides,
as wall times then depend on these.
"""


class Run(NamedTuple):
    """Times in seconds of a process, and its output."""

    processor: float
    wall: float
    output: str


def run(*command: str) -> Run:
    """Run Python with a command line."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before, start = os.times(), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *command],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    after, end = os.times(), time.perf_counter()
    user, system = after.children_user - before.children_user, after.children_system - before.children_system
    return Run(user + system, end - start, done.stdout)


def difference(one: str, other: str) -> float:
    """Return the largest difference between the numbers of two outputs; infinite if the words differ."""
    number = r"-?\d+\.?\d*(?:e-?\d+)?"
    if re.sub(number, "", one) != re.sub(number, "", other):
        return float("inf")
    pairs = zip(re.findall(number, one), re.findall(number, other), strict=True)
    return max((abs(float(a) - float(b)) for a, b in pairs), default=0.0)


def compare(script: Path, rows: int | None, repeats: int) -> list[str]:
    """Return the cells of the table for one script, of its own number of rows if None."""
    command = [str(script)] if rows is None else [str(script), str(rows)]
    runs = [(run(*command), run("-m", "eigenscape.accel", *command)) for _ in range(repeats)]
    content = script.read_text().partition('"""')[2].partition('"""')[0]
    times = []
    for kind in ("processor", "wall"):
        theirs, ours = (min(getattr(pair[side], kind) for pair in runs) for side in (0, 1))
        times += [f"{theirs:.2f} s", f"{ours:.2f} s", f"{theirs / ours:.2f}"]
    apart = difference(runs[0][0].output, runs[0][1].output)
    return [script.stem, content, "own" if rows is None else str(rows), *times, f"{apart:.4f}"]


def main() -> None:
    """Run all scripts, print a table and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--repeats-larger", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=LARGER)
    parser.add_argument("--sizes", nargs="+", choices=("own", "larger"), default=["own", "larger"])
    arguments = parser.parse_args()
    rows = []
    for larger in (size == "larger" for size in arguments.sizes):
        repeats = arguments.repeats_larger if larger else arguments.repeats
        for script in SCRIPTS:
            if arguments.only is None or script.stem in arguments.only:
                rows.append(compare(script, LARGER[script.stem] if larger else None, repeats))
                print("  ".join(rows[-1]), flush=True)
    if arguments.only is None and len(arguments.sizes) == 2:
        write(rows, TEXT.format(repeats=arguments.repeats, larger=arguments.repeats_larger))


def write(rows: list[list[str]], text: str) -> None:
    """Write the page."""
    facts = machine()
    versions = f"scikit-learn {facts['scikit-learn']}, eigenscape {facts['eigenscape']}"
    limit = os.environ.get("OMP_NUM_THREADS")
    threads = f"OMP_NUM_THREADS={limit}" if limit else "threads of BLAS not limited"
    measured = f"Measured {date.today()} on {facts['cores']} cores, {threads}; {versions}."
    written = "Written by `python -m benchmarks.drop_in`."
    PAGE.write_text("\n".join([text, f"{measured} {written}", "", *markdown_table(HEAD, rows)]))


if __name__ == "__main__":
    main()
