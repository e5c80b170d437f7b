"""Valid text tables of known meaning: ``read`` returns it, or a remark names the column."""

from __future__ import annotations

import tempfile
import warnings
from collections import Counter
from pathlib import Path

from covering import PRODUCT
from fuzz.valid_tables import HABITS, Case, difference, draw

from eigenscape import read
from eigenscape.exceptions import InputFileError

#: Files in the test suite; ``make faults`` draws more.
CASES = 30_000 if PRODUCT else 2_000


def outcome(case: Case, folder: Path) -> str:
    """Return "read", "refused", or what is wrong."""
    path = folder / f"table{case.suffix}"
    path.write_bytes(case.content)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            table = read(path, missing="keep", **case.options)
    except InputFileError as error:
        return "refused" if case.may_refuse else f"refused: {error}"
    return difference(case, table) or "read"


def run(n_cases: int, start: int = 0) -> tuple[Counter[str], list[str]]:
    """Read cases of consecutive seeds; return counts by habit and a description of each fault."""
    counts: Counter[str] = Counter()
    faults = []
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(start, start + n_cases):
            case = draw(seed)
            found = outcome(case, Path(folder))
            counts[f"{case.habit}: {found if found in ('read', 'refused') else 'fault'}"] += 1
            if found not in ("read", "refused"):
                faults.append(f"seed {seed} ({case.habit}): {found}")
    return counts, faults


def test_meanings() -> None:
    counts, faults = run(CASES)
    assert faults == []
    assert sum(counts.values()) == CASES


def test_the_harness_finds_a_wrong_meaning(tmp_path: Path) -> None:
    wrong = [draw(seed) for seed in range(len(HABITS))]
    wrong = [case for case in wrong if case.columns and not case.may_refuse]
    found = []
    for case in wrong:
        first = case.columns[-1]
        other = type(first)(first.name, first.kind, ("wrong", *first.values[1:]))
        changed = Case(case.habit, case.content, (*case.columns[:-1], other), case.suffix, case.has_names)
        found.append(outcome(changed, tmp_path))
    assert all(each not in ("read", "refused") for each in found)
