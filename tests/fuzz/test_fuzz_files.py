"""Damaged files of every format: no signal, no hang, no error of another class, no silent difference."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from covering import PRODUCT
from fuzz import file_cases
from fuzz.harness import OUTCOMES, Result, run
from fuzz.seeds import SEEDS

#: Inputs of each format in the test suite; formats that are read in a child process take longer.
CASES = dict.fromkeys(SEEDS, 500) | {"h5ad": 150, "zarr": 200, "images": 300, "model": 300}
if not PRODUCT:  # ``make faults`` draws 30 000 and more
    CASES = {kind: number // 5 for kind, number in CASES.items()}

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform != "linux", reason="the harness forks and limits address space"),
]


@pytest.mark.usefixtures("forked_python")
@pytest.mark.parametrize("kind", SEEDS)
def test_seeds_are_valid(tmp_path: Path, kind: str) -> None:
    for original in SEEDS[kind]():
        path = tmp_path / f"f.{file_cases.SUFFIX.get(kind, kind)}"
        file_cases.write(path, original, kind)
        if kind == "model":
            assert file_cases.load_model(path, original, original) == "read"
        else:
            assert file_cases.read_twice(path, kind, "keep") == "read"


@pytest.mark.product
def test_mutated_files() -> None:
    result = run(CASES, seed=0, processes=min(2, os.cpu_count() or 1))
    counts = result.as_dict()
    assert {kind: counter["tried"] for kind, counter in counts.items()} == CASES
    assert result.faults == []
    assert all(counter["read"] > 0 for counter in counts.values()), "all files are refused"


@pytest.mark.product
def test_the_harness_counts_signals_hangs_and_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fuzz.harness.SECONDS", 12.0)  # a busy machine must not look like a hang
    result = run({"_abort": 2, "_hang": 1, "_raise": 3, "csv": 1}, seed=0, processes=1)
    totals = {name: sum(counter[name] for counter in result.counts.values()) for name in ("tried", *OUTCOMES)}
    assert totals == {"tried": 7, "signals": 2, "hangs": 1, "exceptions": 3, "differences": 0}
    assert isinstance(result, Result)
    assert len(result.faults) == 6


@pytest.mark.parametrize(
    ("kind", "seed", "number"),
    [
        ("parquet", 14, 125),  # pages of one column end early: a stream of batches ended without an error
        ("parquet", 12, 297),  # fewer rows than declared, in all columns
    ],
)
def test_cases_that_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, seed: int, number: int
) -> None:
    monkeypatch.setattr("eigenscape.streams.CHUNK_BYTES", 8 * 27)  # as in the harness
    assert file_cases.run(kind, seed, number, tmp_path) in ("read", "refused")
