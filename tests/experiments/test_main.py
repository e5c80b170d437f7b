"""``python -m experiments``: options, exit codes and output."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from test_papers import _module, made_up  # noqa: F401 (made_up is a fixture)

import experiments
from experiments.__main__ import main

pytestmark = pytest.mark.pages

PAGE = Path(__file__).parents[2] / "docs" / "experiments.md"


@pytest.fixture
def run(capsys, monkeypatch):
    """Return a function that runs the program and returns exit code, standard output and errors."""
    monkeypatch.delenv("EIGENSCAPE_DATA", raising=False)

    def run(*arguments):
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as end:
            code = end.code
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return run


def test_the_list_names_every_experiment(run):
    code, listed, _ = run("--list")
    assert code == 0
    assert [line.split("  ")[0] for line in listed.splitlines()] == list(experiments.available())
    assert set(json.loads(run("--list", "--json")[1])) == set(experiments.available())


def test_without_arguments_help_and_list_are_printed(run):
    code, shown, _ = run()
    assert code == 0
    assert "usage" in shown
    assert "bengio-1 " in shown


def test_wrong_arguments_exit_with_code_2_before_any_computation(run, tmp_path):
    (tmp_path / "file").write_text("")
    for arguments, message in [
        (["belkin1", "--out", tmp_path / "x"], "did you mean belkin-1"),
        (["bengio-1", "--data", tmp_path / "none", "--out", tmp_path / "x"], "does not exist; omit --data"),
        (["bengio-1", "--all"], "not both"),
        (["bengio-1", "--seed", "-1"], "at least 0"),
        (["bengio-1", "--out", tmp_path / "file"], "(--out) is a file"),
    ]:
        code, shown, error = run(*arguments)
        assert (code, shown) == (2, "")
        assert message in error.splitlines()[-1]
        assert "error: " in error.splitlines()[-1]
    assert not (tmp_path / "x").exists()


def test_printed_value_measured_value_and_verdict_are_shown(run, tmp_path):
    code, shown, error = run("bengio-1", "--quick", "--out", tmp_path)
    assert code == 0
    assert f"wrote {tmp_path / 'index.html'} (page)" in error
    for text in ("printed", "measured", "verdict", "reproduced", "3 claims of 1 experiment: 3 reproduced."):
        assert text in shown
    found = json.loads(run("bengio-1", "--quick", "--out", tmp_path, "--json")[1])
    record = json.loads((tmp_path / "bengio-1.json").read_text())
    assert found["totals"]["reproduced"] == 3
    assert found["experiments"][0]["numbers"] == record["numbers"]
    assert run("bengio-1", "--quick", "--out", tmp_path, "--quiet") == (0, "", "")


def test_a_failed_experiment_exits_with_code_1(run, made_up, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.setattr(experiments, "available", lambda: list(made_up))
    code, shown, _ = run("--all", "--out", tmp_path)
    assert code == 1
    assert "failed" in shown
    assert (tmp_path / "one.json").exists()


def test_an_interrupted_run_keeps_finished_results(run, made_up, tmp_path, monkeypatch):  # noqa: F811
    made_up["two"] = _module(error=KeyboardInterrupt())
    monkeypatch.setattr(experiments, "available", lambda: ["one", "two"])
    code, _, error = run("--all", "--out", tmp_path)
    assert code == 130
    assert "one: 1 claim of 1 experiment: 1 reproduced." in error
    assert f"finished experiments are kept in {tmp_path}" in error


def test_the_commands_of_the_page_run(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    block = re.search(r"^```sh\n(.*?)^```", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)[1]
    for line in block.splitlines():
        words = shlex.split(line, comments=True)
        assert words[:3] == ["python", "-m", "experiments"]
        assert run(*words[3:])[0] == 0
    assert (tmp_path / "figures" / "index.html").stat().st_size > 0
