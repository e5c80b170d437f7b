"""Ten scripts written for scikit-learn, run as they are and by ``python -m eigenscape.accel``.

``python -m benchmarks.drop_in`` prints the time of each whole script, imports included, the ratio of the
times, and the largest difference between the numbers that the scripts print, and writes
docs/benchmarks/drop-in.md. On a machine that is not idle, ``--processor`` measures processor time.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

from benchmarks.report import machine
from benchmarks.tables import markdown_table

SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.py"))
PAGE = Path(__file__).parents[1] / "docs" / "benchmarks" / "drop-in.md"
HEAD = ("script", "content", "scikit-learn", "eigenscape.accel", "ratio", "largest difference")
TEXT = """# Scripts written for scikit-learn

Whole scripts (`benchmarks/scripts`), imports included, run by `python script.py` and by
`python -m eigenscape.accel script.py`; the best of {repeats} runs in turn. A ratio above 1: faster under
eigenscape.accel. The difference is that of the numbers that the script prints. Importing scikit-learn, which
takes most of the time of a short script, is part of both times. Bytecode of both packages is cached, as it is
after installation. Processor time is measured where the machine runs other programs besides.
"""


def children_processor_time() -> float:
    """Return the processor time of the processes that have ended."""
    spent = os.times()
    return spent.children_user + spent.children_system


def run(clock: Callable[[], float], *command: str) -> tuple[float, str]:
    """Return the time in seconds of a Python process, and its output."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    start = clock()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *command],
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    return clock() - start, done.stdout


def difference(one: str, other: str) -> float:
    """Return the largest difference between the numbers of two outputs; infinite if the words differ."""
    number = r"-?\d+\.?\d*(?:e-?\d+)?"
    if re.sub(number, "", one) != re.sub(number, "", other):
        return float("inf")
    pairs = zip(re.findall(number, one), re.findall(number, other), strict=True)
    return max((abs(float(a) - float(b)) for a, b in pairs), default=0.0)


def compare(script: Path, repeats: int, clock: Callable[[], float]) -> list[str]:
    """Return the cells of the table for one script."""
    runs = [
        (run(clock, str(script)), run(clock, "-m", "eigenscape.accel", str(script))) for _ in range(repeats)
    ]
    theirs, ours = (min(pair[side][0] for pair in runs) for side in (0, 1))
    apart = difference(runs[0][0][1], runs[0][1][1])
    content = script.read_text().partition('"""')[2].partition('"""')[0]
    times = [f"{theirs:.2f} s", f"{ours:.2f} s", f"{theirs / ours:.2f}"]
    return [script.stem, content, *times, f"{apart:.4f}"]


def main() -> None:
    """Run all scripts, print a table and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--processor", action="store_true", help="measure processor time")
    parser.add_argument("--only", nargs="+", choices=[script.stem for script in SCRIPTS])
    arguments = parser.parse_args()
    clock = children_processor_time if arguments.processor else time.perf_counter
    rows = []
    for script in SCRIPTS:
        if arguments.only is None or script.stem in arguments.only:
            rows.append(compare(script, arguments.repeats, clock))
            print("  ".join(rows[-1]), flush=True)
    if arguments.only is None:
        facts = machine()
        versions = f"scikit-learn {facts['scikit-learn']}, eigenscape {facts['eigenscape']}"
        kind = "processor time" if arguments.processor else "time"
        measured = f"Measured {date.today()} on {facts['cores']} cores ({kind}); {versions}."
        written = "Written by `python -m benchmarks.drop_in`."
        text = TEXT.format(repeats=arguments.repeats)
        PAGE.write_text("\n".join([text, f"{measured} {written}", "", *markdown_table(HEAD, rows)]))


if __name__ == "__main__":
    main()
