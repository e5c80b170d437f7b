"""``make faults``: damaged files, odd data, kills and failing writes in large numbers; writes docs/faults.md.

Usage: python -m faults.run_all [PART ...] [--files N] [--valid N] [--odd N] [--writes N] [--random N]
[--seed S] [--processes N]. Parts are files, valid, data, kills and writes. Counts of each batch are stored in
build/faults, where a run that was interrupted continues. The page is made from the counts of all parts.
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
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from faults.kill_commands import COMMANDS
from faults.library import build_library
from fuzz import test_odd_data, test_valid_tables
from fuzz.harness import OUTCOMES, run
from fuzz.seeds import SEEDS

HERE = Path(__file__).parent
STORE = HERE.parents[1] / "build" / "faults"
#: Share of the files of each format; those that are read in a child process or unpacked take longer.
_SHARES = dict.fromkeys(SEEDS, 1.0) | {"h5ad": 0.4, "zarr": 0.6, "images": 0.8, "model": 0.6}
_WRITTEN = ("csv", "parquet", "arrow", "npy", "npz", "mtx", "model")
_PARTS = ("files", "valid", "data", "kills", "writes")
_COUNTS = {"files": 100_000, "valid": 100_000, "odd": 5_000, "writes": 1_000, "random": 10, "seed": 1}
#: Files and odd data sets of a batch, after which the counts are stored.
_BATCH = {"files": 5_000, "valid": 10_000, "odd": 1_000}

Counts = dict[str, dict[str, int]]
#: A name, in which all arguments occur, and a function that returns counts.
Batch = tuple[str, Callable[[], Counts]]


def fuzz_files(options: argparse.Namespace) -> Iterator[Batch]:
    """Read mutated files of all formats."""
    unit = min(options.files, _BATCH["files"]) / sum(_SHARES.values())
    cases = {kind: math.ceil(unit * share) for kind, share in _SHARES.items()}

    def count(seed: int) -> Counts:
        return run(cases, seed, options.processes, log=sys.stderr).as_dict()

    for batch in range(max(1, options.files // _BATCH["files"])):
        seed = options.seed + batch
        yield f"files-{seed}-{sum(cases.values())}", partial(count, seed)


def read_valid(options: argparse.Namespace) -> Iterator[Batch]:
    """Read valid tables of known meaning."""
    size = min(options.valid, _BATCH["valid"])

    def count(start: int) -> Counts:
        counts, faults = test_valid_tables.run(size, start)
        print(*faults, sep="\n", file=sys.stderr)
        rows: Counts = {}
        for key, number in counts.items():
            habit, _, outcome = key.rpartition(": ")
            row = rows.setdefault(
                f"valid: {habit}", {"tried": 0, "read": 0, "refused": 0, **dict.fromkeys(OUTCOMES, 0)}
            )
            row["tried"] += number
            row["differences" if outcome == "fault" else outcome] += number
        return rows

    for batch in range(max(1, options.valid // size)):
        start = options.seed * 1_000_000 + batch * size
        yield f"valid-{start}-{size}", partial(count, start)


def fuzz_data(options: argparse.Namespace) -> Iterator[Batch]:
    """Fit estimators to odd rows and tables, half of the cases each."""
    cases = min(options.odd, _BATCH["odd"]) // 2

    def count(kind: str, seed: int) -> Counts:
        return {f"odd {kind}": test_odd_data.run(kind, cases, seed)}

    for batch in range(max(1, options.odd // _BATCH["odd"])):
        seed = options.seed + batch
        for kind in ("data", "tables"):
            yield f"odd-{kind}-{seed}-{cases}", partial(count, kind, seed)


def _run_script(script: str, names: Sequence[str], *arguments: str) -> Counts:
    """Run a script of this folder with failing writes, for all names in one process, since imports take long.

    If it fails each name is tried again alone, so that the fault has a name.
    """
    with tempfile.TemporaryDirectory() as folder:
        library = build_library(Path(folder))
        work = Path(folder) / "work"
        work.mkdir()
        command = [sys.executable, str(HERE / script), str(library), str(work), ",".join(names), *arguments]
        environment = {**os.environ, "LD_PRELOAD": str(library)}
        done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=7200)
    if done.returncode == 0:
        tried = json.loads(done.stdout)
        return {name: {"tried": _total(tried[name]), "torn or lost": 0} for name in names}
    print(done.stderr[-2000:], file=sys.stderr)
    if len(names) == 1:
        return {names[0]: {"tried": 0, "torn or lost": 1}}
    alone = [_run_script(script, [name], *arguments) for name in names]
    return {name: row for counts in alone for name, row in counts.items()}


def _total(tried: int | dict[str, int]) -> int:
    return sum(tried.values()) if isinstance(tried, dict) else tried


def kill(options: argparse.Namespace) -> Iterator[Batch]:
    """Kill every command at its writes and at random moments."""
    numbers = [str(number) for number in (options.writes, options.random, options.seed)]
    yield (
        "-".join(["kill", *numbers]),
        partial(_run_script, "kill_commands.py", list(COMMANDS), *numbers),
    )


def fail_writes(options: argparse.Namespace) -> Iterator[Batch]:
    """Let every write of every format fail."""
    yield "write", partial(_run_script, "write_with_faults.py", _WRITTEN)


def run_part(part: str, batches: Iterator[Batch]) -> None:
    """Run the batches that are not stored yet, and store the sums of the part."""
    sums: dict[str, Counter[str]] = {}
    seconds, files = 0.0, []
    for name, count in batches:
        file = STORE / f"{name}.json"
        if not file.exists():
            start = _processor_seconds()
            content = {"counts": count(), "seconds": _processor_seconds() - start}
            file.write_text(json.dumps(content))
        content = json.loads(file.read_text())
        seconds += content["seconds"]
        for kind, found in content["counts"].items():
            sums.setdefault(kind, Counter()).update(found)
        files.append(file)
    content = {"counts": sums, "seconds": seconds}
    (STORE / f"{part}.json").write_text(json.dumps(content, indent=1))
    for file in files:  # the next run tries all again
        file.unlink()


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
hangs count. *Valid* tables are written in the habits of programs, so that the meaning of each cell is
known; a difference is a table that means something else and no message that says so.

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
    inputs = {**parts.get("files", {}), **parts.get("valid", {}), **parts.get("data", {})}
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
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    unknown = sorted(set(options.parts) - set(_PARTS))
    if unknown:
        parser.error(f"unknown part(s) {', '.join(unknown)}; choose from {', '.join(_PARTS)}")
    STORE.mkdir(parents=True, exist_ok=True)
    runs = {"files": fuzz_files, "valid": read_valid, "data": fuzz_data, "kills": kill, "writes": fail_writes}
    for part in options.parts or _PARTS:
        run_part(part, runs[part](options))
    found = {
        part: json.loads((STORE / f"{part}.json").read_text())
        for part in _PARTS
        if (STORE / f"{part}.json").exists()
    }
    counts = {part: content["counts"] for part, content in found.items()}
    if "files" in counts:
        arguments = " ".join(f"--{name} {getattr(options, name)}" for name in _COUNTS)
        minutes = sum(content["seconds"] for content in found.values()) / 60
        (HERE.parents[1] / "docs" / "faults.md").write_text(page(counts, arguments, minutes))
    faults = ("torn or lost", *OUTCOMES)
    return int(any(row.get(name) for part in counts.values() for row in part.values() for name in faults))


def _processor_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


if __name__ == "__main__":
    sys.exit(main())
