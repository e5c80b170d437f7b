"""Ten scripts written for scikit-learn, run as they are and by ``python -m eigenscape.accel``.

``python -m benchmarks.drop_in`` prints the time of each whole script, imports included, the ratio of the
times, and the largest difference between the numbers that the scripts print.
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

SCRIPTS = sorted((Path(__file__).parent / "scripts").glob("*.py"))
REPEATS = 2


def run(*command: str) -> tuple[float, str]:
    """Return the time in seconds of a Python process, and its output."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-W", "ignore", *command], capture_output=True, text=True, check=True
    )
    return time.perf_counter() - start, done.stdout


def difference(one: str, other: str) -> float:
    """Return the largest difference between the numbers of two outputs; infinite if the words differ."""
    number = r"-?\d+\.?\d*(?:e-?\d+)?"
    if re.sub(number, "", one) != re.sub(number, "", other):
        return float("inf")
    pairs = zip(re.findall(number, one), re.findall(number, other), strict=True)
    return max((abs(float(a) - float(b)) for a, b in pairs), default=0.0)


def main() -> None:
    """Run all scripts and print a table."""
    print(f"{'script':<20} {'scikit-learn':>12} {'accel':>8} {'ratio':>6} {'difference':>10}")
    for script in SCRIPTS:
        runs = [(run(str(script)), run("-m", "eigenscape.accel", str(script))) for _ in range(REPEATS)]
        theirs, ours = (min(pair[side][0] for pair in runs) for side in (0, 1))
        apart = difference(runs[0][0][1], runs[0][1][1])
        print(f"{script.stem:<20} {theirs:>10.2f} s {ours:>6.2f} s {theirs / ours:>6.2f} {apart:>10.4f}")


if __name__ == "__main__":
    main()
