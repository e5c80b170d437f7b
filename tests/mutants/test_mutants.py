"""The seeded faults of ``make mutants`` apply to the present code, and the runner tells what kills them."""

from __future__ import annotations

import importlib.util
import sys
from collections import Counter
from pathlib import Path

import pytest

_SPEC = importlib.util.spec_from_file_location("run_mutants", Path(__file__).with_name("run.py"))
run = importlib.util.module_from_spec(_SPEC)
sys.modules[_SPEC.name] = run
_SPEC.loader.exec_module(run)

MUTANTS = run.read_mutants()
ROOMS = [
    "kernels",
    "normalize.py",
    "operators",
    "eigenfunctions.py",
    "solvers",
    "pieces",
    "dictionary",
    "methods",
]


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_every_mutant_applies(mutant):
    text = (run.SOURCE / mutant.file).read_text()
    changed = mutant.apply(text)
    assert changed != text
    compile(changed, mutant.file, "exec")


def test_rooms_have_several_mutants():
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 70
    counts = Counter(mutant.room for mutant in MUTANTS)
    assert sorted(counts) == sorted([*ROOMS, "app/io"])
    assert min(counts.values()) >= 6


def test_tests_of_the_room_come_first():
    ordered = [str(path.relative_to(run.ROOT)) for path in run.ordered_tests("solvers", [run.ROOT / "tests"])]
    assert ordered[0].startswith("tests/solvers/")
    assert len(ordered) > 100
    ordered = [str(path.relative_to(run.ROOT)) for path in run.ordered_tests("app/io", [run.ROOT / "tests"])]
    assert ordered[0].startswith("tests/app/io/")


def test_outcomes():
    assert run.outcome_of(0, "3 passed", 1.0) == run.Outcome(False, "", 1.0)
    output = "E  x\nFAILED tests/a/test_b.py::test_c[x y] - assert 1\n"
    assert run.outcome_of(1, output, 1.0).how == "tests/a/test_b.py::test_c[x y]"
    assert run.outcome_of(2, "ERROR tests/a/test_b.py - ImportError: no\n", 1.0).how == "tests/a/test_b.py"
    assert run.outcome_of(-11, "", 1.0).how == "crash (SIGSEGV)"
    with pytest.raises(RuntimeError, match="exit code 4"):
        run.outcome_of(4, "ERROR: file not found", 1.0)


def test_the_score_leaves_out_equivalent_mutants():
    names = ["found", "late", "missed", "same"]
    mutants = [run.Mutant(name, "a/b.py", "sign", "+", "-") for name in names[:3]]
    mutants.append(run.Mutant("same", "a/b.py", "sign", "+", "-", "nothing changes"))
    killed, survived = run.Outcome(True, "tests/t.py::t"), run.Outcome(False)
    check = {"found": killed, "late": survived, "missed": survived, "same": survived}
    whole = {"late": killed, "missed": survived, "same": survived}
    assert run.score(mutants, check, whole) == (1, 2, 3)
    assert run.summary(1, 2, 3) == "check kills 1 of 3, test-all kills 2 of 3; within two: yes"
    page = run.page(mutants, check, whole)
    assert "| `a` | 4 | 1 | 2 |" in page
    assert "killed by `make test-all` only" in page
    assert "equivalent: nothing changes" in page


@pytest.mark.process
def test_copies_are_changed_and_restored(tmp_path, monkeypatch):
    """By a test of its own, since those of the package import what takes seconds."""
    monkeypatch.setattr(run, "ROOT", tmp_path)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    (tmp_path / "pyproject.toml").write_text("[tool.pytest.ini_options]\n")
    tests = [tmp_path / "tests" / "test_format.py"]
    tests[0].parent.mkdir()
    tests[0].write_text("def test_import():\n    import eigenscape._format\n")
    copy = run.Copy(tmp_path)
    text = (run.SOURCE / "_format.py").read_text()
    harmless = run.Mutant("harmless", "_format.py", "test", text, text + "\n# nothing\n")
    wrong = run.Mutant("wrong", "_format.py", "test", text, text + "\nraise SystemError\n")
    assert run.judge(wrong, "all", copy, tests, 120, "").killed
    assert not run.judge(harmless, "all", copy, tests, 120, "").killed
    assert (copy.package / "_format.py").read_text() == text
    assert run.judge(harmless, "all", copy, tests, 0.1, "").how == "time limit of 0 s"
