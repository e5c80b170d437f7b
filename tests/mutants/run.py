"""Seed faults into copies of the package, one at a time, and report which of them the tests find.

    python tests/mutants/run.py                       # all mutants, tier "check", then "all" for survivors
    python tests/mutants/run.py --only diffusion-time --tests tests/methods
    python tests/mutants/run.py --write               # and write docs/mutants.md

A mutant is killed if a test fails, if the tests crash, or if they exceed the time limit. The tests first run
on a copy without a fault: they must pass, and the time that they take determines the limit.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "eigenscape"
LIST = Path(__file__).with_name("mutants.toml")
PAGE = ROOT / "docs" / "mutants.md"
#: Tests that killed a mutant in an earlier run, which are tried first.
KILLERS = Path(__file__).with_name("killers.json")
#: The tiers of tests: options of pytest, and variables of the environment.
TIERS: dict[str, tuple[list[str], dict[str, str]]] = {
    "check": (["-m", "not (process or dask or browser or packaging or pages or suite or long)"], {}),
    "all": ([], {"EIGENSCAPE_PRODUCT": "1"}),
}
#: Folders of tests that are run first for a mutant of any room but app/io, after the folder of the room.
CORE = ("methods", "operators", "solvers", "dictionary", "quality", "graph", "estimators", "sc", "accel")
#: Largest difference between the numbers that both tiers kill.
_DIFFERENCE = 2
_WORKERS = 2


@dataclass(frozen=True)
class Mutant:
    """A fault: ``new`` in place of ``old``, which occurs once in ``file``."""

    name: str
    file: str
    kind: str
    old: str
    new: str
    equivalent: str = ""  # why no test can find it

    @property
    def room(self) -> str:
        return self.file.rpartition("/")[0] or self.file

    def apply(self, text: str) -> str:
        if text.count(self.old) != 1:
            raise ValueError(
                f"{self.name}: old occurs {text.count(self.old)} times in {self.file}; update it"
            )
        return text.replace(self.old, self.new)


@dataclass(frozen=True)
class Outcome:
    """Result of the tests of one tier; ``how`` names the test that failed, a crash or the time limit."""

    killed: bool
    how: str = ""
    seconds: float = 0.0


def read_mutants() -> list[Mutant]:
    return [Mutant(**entry) for entry in tomllib.loads(LIST.read_text())["mutant"]]


def ordered_tests(room: str, paths: Sequence[Path]) -> list[Path]:
    """Return files of tests, those nearest to a room first."""
    first = ("app", "io", "faults") if room.startswith("app") else (room.removesuffix(".py"), *CORE)

    def distance(path: Path) -> tuple[int, str]:
        parts = path.relative_to(ROOT).with_suffix("").parts[1:]
        if room.startswith("app"):
            return (-sum(name in parts for name in first), str(path))
        near = [i for i, name in enumerate(first) if any(name in part for part in parts)]
        return (min(near, default=len(first)), str(path))

    files = {file for path in paths for file in (path.rglob("test_*.py") if path.is_dir() else [path])}
    return sorted(files, key=distance)


def stages(room: str, files: Sequence[Path]) -> list[list[Path]]:
    """Return files of tests in the order in which they run: short tests of the core or of files, the laws,
    then all others. A stage that finds the fault saves collecting the next."""

    def stage(file: Path) -> int:
        folder = file.parent.name
        if room.startswith("app"):
            return 0 if folder == "io" else 2
        return 1 if folder == "estimators" else 0 if folder in CORE or folder == room else 2

    return [chosen for number in range(3) if (chosen := [file for file in files if stage(file) == number])]


class Copy:
    """A copy of the package whose files are changed; compiled code and its cache are shared."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.package = folder, folder / "eigenscape"
        shutil.copytree(SOURCE, self.package, ignore=shutil.ignore_patterns("_native"))
        (self.package / "_native").symlink_to(SOURCE / "_native", target_is_directory=True)
        self._changes = 0

    def write(self, file: str, text: str) -> None:
        """Write a file with a new time, by which Python recognises that its bytecode is out of date."""
        path = self.package / file
        path.write_text(text)
        self._changes += 1
        changed = time.time() + 10 * self._changes
        os.utime(path, (changed, changed))

    def examples(self, tests: Sequence[Path]) -> list[Path]:
        """Return the modules whose docstrings contain examples, if all tests are run."""
        if ROOT / "tests" not in tests:
            return []
        return sorted(
            path
            for path in self.package.iterdir()
            if path.suffix == ".py" or (path.is_dir() and path.name not in ("_compiled", "__pycache__"))
        )

    def run(self, tier: str, tests: Sequence[Path | str], limit: float) -> Outcome:
        """Run tests until one fails."""
        options, variables = TIERS[tier]
        common = ["-x", "-q", "-p", "no:cacheprovider", "-c", "pyproject.toml", "--rootdir", str(ROOT)]
        command = [sys.executable, "-m", "pytest", *common, *options, *map(str, tests)]
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        environment = {**os.environ, **threads, **variables, "PYTHONPATH": str(self.folder)}
        began = time.monotonic()
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=output, stderr=output, start_new_session=True
            )
            try:
                code = process.wait(limit)
            except subprocess.TimeoutExpired:
                return Outcome(True, f"time limit of {limit:.0f} s", limit)
            finally:
                if process.poll() is None:
                    os.killpg(process.pid, signal.SIGKILL)
                    process.wait()
            output.seek(0)
            return outcome_of(code, output.read(), time.monotonic() - began)


def outcome_of(code: int, output: str, seconds: float) -> Outcome:
    """Return the outcome of pytest from its exit code and its output."""
    if code in (0, 5):  # 5: the tier has no test in these files
        return Outcome(False, "", seconds)
    if code < 0:
        return Outcome(True, f"crash ({signal.Signals(-code).name})", seconds)
    found = re.search(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", output, flags=re.MULTILINE)
    if code not in (1, 2) or found is None:
        raise RuntimeError(f"pytest ended with exit code {code}:\n{output[-3000:]}")
    return Outcome(True, found[1], seconds)


def judge(mutant: Mutant, tier: str, copy: Copy, tests: Sequence[Path], limit: float, killer: str) -> Outcome:
    """Run the tests of a tier on a mutant, the one that killed it before first."""
    original = (SOURCE / mutant.file).read_text()
    copy.write(mutant.file, mutant.apply(original))
    files = ordered_tests(mutant.room, tests)
    try:
        if ROOT / killer.partition("::")[0] in files:
            try:
                first = copy.run(tier, [killer], limit)
            except RuntimeError:  # the test does not exist any more, or is of another tier
                first = Outcome(False)
            if first.killed:
                return first
        found, seconds = Outcome(False), 0.0
        for paths in [*stages(mutant.room, files), copy.examples(tests)]:
            found = copy.run(tier, paths, limit) if paths else found
            seconds += found.seconds
            if found.killed:
                break
        return Outcome(found.killed, found.how, seconds)
    finally:
        copy.write(mutant.file, original)


def run_tier(
    mutants: Sequence[Mutant], tier: str, tests: Sequence[Path], limit: float | None, folder: Path
) -> dict[str, Outcome]:
    """Return the outcome of each mutant; print it as soon as it is known."""
    folder.mkdir()
    copies: queue.Queue[Copy] = queue.Queue()
    for i in range(_WORKERS):
        (folder / str(i)).mkdir()
        copies.put(Copy(folder / str(i)))
    if limit is None:
        limit = _baseline(tier, copies, tests)
    killers = json.loads(KILLERS.read_text()) if KILLERS.exists() else {}
    writing = threading.Lock()

    def one(mutant: Mutant) -> Outcome:
        copy = copies.get()
        try:
            found = judge(mutant, tier, copy, tests, limit, killers.get(mutant.name, ""))
        finally:
            copies.put(copy)
        if found.killed and "::" in found.how:
            with writing:
                killers[mutant.name] = found.how
                KILLERS.write_text(json.dumps(killers, indent=1, sort_keys=True) + "\n")
        word = f"killed by {found.how}" if found.killed else "survived"
        print(f"{tier:6} {mutant.name:36} {found.seconds:6.0f} s  {word}", flush=True)
        return found

    with ThreadPoolExecutor(_WORKERS) as pool:
        outcomes = dict(zip((mutant.name for mutant in mutants), pool.map(one, mutants), strict=True))
    return outcomes


def _baseline(tier: str, copies: queue.Queue[Copy], tests: Sequence[Path]) -> float:
    """Run the tests on the package without a fault; return the time limit for mutants."""
    copy = copies.get()
    found = copy.run(tier, [*ordered_tests("", tests), *copy.examples(tests)], 4 * 3600)
    copies.put(copy)
    if found.killed:
        raise SystemExit(f"tier {tier} fails without a mutant: {found.how}")
    print(f"{tier:6} {'(no fault)':36} {found.seconds:6.0f} s  passed", flush=True)
    return 3 * found.seconds + 60  # two run side by side, and a fault may slow an iteration down


def score(
    mutants: Sequence[Mutant], check: dict[str, Outcome], whole: dict[str, Outcome]
) -> tuple[int, int, int]:
    """Return the numbers killed by "check" and by "all", and of mutants that are not equivalent.

    ``whole`` has the survivors of "check" only, since "all" contains "check".
    """
    counted = [mutant.name for mutant in mutants if not mutant.equivalent]
    by_check = sum(check[name].killed for name in counted)
    by_all = by_check + sum(name in whole and whole[name].killed for name in counted)
    return by_check, by_all, len(counted)


def summary(by_check: int, by_all: int, total: int) -> str:
    within = "yes" if by_all - by_check <= _DIFFERENCE else "no"
    return f"check kills {by_check} of {total}, test-all kills {by_all} of {total}; within two: {within}"


def page(mutants: Sequence[Mutant], check: dict[str, Outcome], whole: dict[str, Outcome]) -> str:
    """Return the page of the documentation."""
    by_check, by_all, total = score(mutants, check, whole)
    rooms: dict[str, Counter[str]] = {}
    survivors = []
    for mutant in mutants:
        counts = rooms.setdefault(mutant.room, Counter())
        late = whole.get(mutant.name)
        counts["total"] += 1
        counts["check"] += check[mutant.name].killed
        counts["all"] += check[mutant.name].killed or (late is not None and late.killed)
        if not check[mutant.name].killed:
            reason = mutant.equivalent and f"equivalent: {mutant.equivalent}"
            if late is not None and late.killed:
                reason = f"killed by `make test-all` only: `{late.how}`"
            survivors.append(
                f"| `{mutant.name}` | `{mutant.file}` | {mutant.kind} | {reason or 'not found'} |"
            )
    table = [
        f"| `{room}` | {counts['total']} | {counts['check']} | {counts['all']} |"
        for room, counts in rooms.items()
    ]
    none = ["| none | | | |"]
    return "\n".join(
        [
            "# Seeded faults",
            "",
            f"`make mutants` changes one line of the package at a time, {len(mutants)} times, and runs the",
            "tests. The changes are chosen by hand and listed in `tests/mutants/mutants.toml`: a sign, a",
            "normaliser, a comparison, a dropped term. A fault is killed if a test fails.",
            "",
            f"`make check` kills {by_check} and `make test-all` kills {by_all} of the {total} faults that",
            "change a result. A fault is equivalent if no test can find it; these are not counted.",
            "",
            "| room | faults | killed by `make check` | killed by `make test-all` |",
            "| --- | --- | --- | --- |",
            *table,
            "",
            "## Faults that `make check` does not find",
            "",
            "| fault | file | kind | reason |",
            "| --- | --- | --- | --- |",
            *(survivors or none),
            "",
        ]
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", nargs="+", metavar="NAME", help="names of mutants")
    parser.add_argument("--sample", type=int, metavar="N", help="a random sample of the mutants")
    parser.add_argument("--seed", type=int, default=0, help="seed of the sample")
    parser.add_argument("--tier", choices=list(TIERS), help="this tier only")
    parser.add_argument("--tests", nargs="+", type=Path, help="files or folders of tests; default: all tests")
    parser.add_argument(
        "--limit", type=float, metavar="SECONDS", help="time limit; skips the run without a fault"
    )
    parser.add_argument("--write", action="store_true", help="write docs/mutants.md")
    options = parser.parse_args(arguments)
    mutants = read_mutants()
    if options.only:
        unknown = set(options.only) - {mutant.name for mutant in mutants}
        if unknown:
            parser.error(f"unknown mutants: {', '.join(sorted(unknown))}")
        mutants = [mutant for mutant in mutants if mutant.name in options.only]
    if options.sample is not None:
        mutants = random.Random(options.seed).sample(mutants, min(options.sample, len(mutants)))
    tests = [path.resolve() for path in options.tests or [ROOT / "tests"]]
    if options.write and (options.tier or options.tests or len(mutants) < len(read_mutants())):
        parser.error("--write needs both tiers, all tests and all mutants")
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        first = options.tier or "check"
        check = run_tier(mutants, first, tests, options.limit, Path(folder) / first)
        survivors = [mutant for mutant in mutants if not check[mutant.name].killed]
        if options.tier:
            print(f"{first} kills {len(mutants) - len(survivors)} of {len(mutants)}")
            return 0
        whole = run_tier(survivors, "all", tests, options.limit, Path(folder) / "all") if survivors else {}
    for mutant in survivors:
        if not whole[mutant.name].killed:
            print(f"survivor: {mutant.name} ({mutant.equivalent or 'no test finds it'})")
    by_check, by_all, total = score(mutants, check, whole)
    print(summary(by_check, by_all, total))
    if options.write:
        PAGE.write_text(page(mutants, check, whole))
    return 0 if by_all - by_check <= _DIFFERENCE else 1


if __name__ == "__main__":
    sys.exit(main())
