"""``make faults``: damaged files, odd data, kills and failing writes in large numbers; writes docs/faults.md.

Usage: python -m faults.run_all [PART ...] [--files N] [--odd N] [--writes N] [--random N] [--seed S].
Parts are files, data, kills and writes; their counts are stored in build/faults, from which the page is made.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from faults.kill_commands import COMMANDS
from faults.library import build_library
from fuzz import test_odd_data
from fuzz.harness import OUTCOMES, run
from fuzz.seeds import SEEDS

HERE = Path(__file__).parent
STORE = HERE.parents[1] / "build" / "faults"
#: Share of the files of each format; those that are read in a child process or unpacked take longer.
_SHARES = dict.fromkeys(SEEDS, 1.0) | {"h5ad": 0.4, "zarr": 0.6, "images": 0.8, "model": 0.6}
_WRITTEN = ("csv", "parquet", "arrow", "npy", "npz", "mtx", "model")
_PARTS = ("files", "data", "kills", "writes")
_COUNTS = {"files": 100_000, "odd": 5_000, "writes": 1_000, "random": 10, "seed": 1}
#: Files of a batch, after which the counts are stored.
_BATCH = 5_000

Counts = dict[str, dict[str, int]]


def fuzz_files(total: int, seed: int) -> Iterator[Counts]:
    """Read mutated files; yield the counts of each format after each batch.

    A batch of a run that was interrupted is not repeated, so that a long run can be continued.
    """
    counts: dict[str, Counter[str]] = {kind: Counter() for kind in SEEDS}
    done: list[Path] = []
    for batch in range(max(1, total // _BATCH)):
        unit = min(total, _BATCH) / sum(_SHARES.values())
        cases = {kind: math.ceil(unit * share) for kind, share in _SHARES.items()}
        file = STORE / f"files-{seed + batch}-{total}.json"
        if not file.exists():
            result = run(cases, seed + batch, os.cpu_count() or 1, log=sys.stderr)
            file.write_text(json.dumps(result.as_dict()))
        for kind, found in json.loads(file.read_text()).items():
            counts[kind].update(found)
        done.append(file)
        yield {kind: dict(counter) for kind, counter in counts.items()}
    for file in done:  # the next run reads all files again
        file.unlink()


def fuzz_data(total: int, seed: int) -> Iterator[Counts]:
    """Fit estimators to odd rows and tables, half of the cases each."""
    counts: Counts = {}
    for kind in ("data", "tables"):
        counts[f"odd {kind}"] = test_odd_data.run(kind, total // 2, seed)
        yield counts


def _script(name: str, *arguments: str) -> tuple[bool, str]:
    """Run a script of this folder with failing writes; return whether it succeeded, and its output."""
    with tempfile.TemporaryDirectory() as folder:
        library = build_library(Path(folder))
        work = Path(folder) / "work"
        work.mkdir()
        command = [sys.executable, str(HERE / name), str(library), str(work), *arguments]
        environment = {**os.environ, "LD_PRELOAD": str(library)}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=7200)
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
    return done.returncode == 0, done.stdout


def kill(n_writes: int, n_random: int, seed: int) -> Iterator[Counts]:
    """Kill every command at its writes and at random moments."""
    counts: Counts = {}
    for command in COMMANDS:
        succeeded, output = _script("kill_commands.py", command, str(n_writes), str(n_random), str(seed))
        tried = sum(json.loads(output)[command].values()) if succeeded else 0
        counts[command] = {"tried": tried, "torn or lost": int(not succeeded)}
        yield counts


def fail_writes() -> Iterator[Counts]:
    """Let every write of every format fail."""
    counts: Counts = {}
    for kind in _WRITTEN:
        succeeded, output = _script("write_with_faults.py", kind)
        counts[kind] = {"tried": int(output) if succeeded else 0, "torn or lost": int(not succeeded)}
        yield counts


def _table(counts: Counts, first: str) -> list[str]:
    """Return a Markdown table with a row for each name and a row of sums."""
    if not counts:
        return ["Not run."]
    names = list(next(iter(counts.values())))
    total = {name: sum(row.get(name, 0) for row in counts.values()) for name in names}
    rows = [*counts.items(), ("**all**", total)]
    lines = [f"| {first} | {' | '.join(names)} |", "| --- |" + " ---: |" * len(names)]
    return lines + [
        f"| {label} | {' | '.join(f'{row.get(name, 0):,}' for name in names)} |" for label, row in rows
    ]


_TEXT = """# Faults

{tried:,} damaged files, odd data sets, kills and failing writes in {minutes:.0f} minutes of processor time.
`make faults` makes them again and writes this page: `cd tests && python -m faults.run_all {arguments}`.
A seed gives the same inputs again. What is promised is in the [threat model](threat-model.md).

## Inputs

Valid files are changed by seeded mutations (bits, numbers, lines, marks, truncation, splices; members of
archives with valid checksums) and read whole and in chunks. *Exceptions* are errors of other classes.
*Differences* are files that give another table in chunks than whole, and damaged models that load and compute
other coordinates. Changed models with valid checksums may raise any error when they are applied; signals and
hangs count.

{inputs}

## Killed commands

Commands are ended by SIGKILL at writes, renames and removals of their files, and at random moments. Each
target is then the old file or the complete new one, and the next run leaves no temporary files.

{kills}

## Failing writes

Each write of a file fails once with ENOSPC, EIO and EINTR. The file is the old one or the complete new one.

{writes}
"""


def page(parts: dict[str, Counts], arguments: str, minutes: float) -> str:
    """Return docs/faults.md."""
    inputs = {**parts.get("files", {}), **parts.get("data", {})}
    return _TEXT.format(
        tried=sum(row["tried"] for part in parts.values() for row in part.values()),
        minutes=minutes,
        arguments=arguments,
        inputs="\n".join(_table(inputs, "input")),
        kills="\n".join(_table(parts.get("kills", {}), "command")),
        writes="\n".join(_table(parts.get("writes", {}), "format")),
    )


def main() -> int:
    """Run the parts and write the page; return 1 if there was a fault."""
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(_PARTS)}; all by default")
    for name, default in _COUNTS.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    unknown = sorted(set(options.parts) - set(_PARTS))
    if unknown:
        parser.error(f"unknown part(s) {', '.join(unknown)}; choose from {', '.join(_PARTS)}")
    root = HERE.parents[1]
    STORE.mkdir(parents=True, exist_ok=True)
    runs = {
        "files": lambda: fuzz_files(options.files, options.seed),
        "data": lambda: fuzz_data(options.odd, options.seed),
        "kills": lambda: kill(options.writes, options.random, options.seed),
        "writes": fail_writes,
    }
    for part in options.parts or _PARTS:
        start = _processor_seconds()
        for counts in runs[part]():
            content = {"counts": counts, "seconds": _processor_seconds() - start}
            (STORE / f"{part}.json").write_text(json.dumps(content, indent=1))
    found = {
        part: json.loads((STORE / f"{part}.json").read_text())
        for part in _PARTS
        if (STORE / f"{part}.json").exists()
    }
    counts = {part: content["counts"] for part, content in found.items()}
    if "files" in counts:
        arguments = " ".join(f"--{name} {getattr(options, name)}" for name in _COUNTS)
        minutes = sum(content["seconds"] for content in found.values()) / 60
        (root / "docs" / "faults.md").write_text(page(counts, arguments, minutes))
    faults = ("torn or lost", *OUTCOMES)
    return int(any(row.get(name) for part in counts.values() for row in part.values() for name in faults))


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


if __name__ == "__main__":
    sys.exit(main())
