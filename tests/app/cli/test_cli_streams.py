"""Closed standard streams, and control characters from files."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from test_cli import good
from test_cli import run as run_here

import eigenscape
from eigenscape.app.cli.errors import print_message


def run(command: str) -> subprocess.CompletedProcess[str]:
    program = f"{sys.executable} -c 'from eigenscape.app.cli import main; main()'"
    return subprocess.run(
        ["sh", "-c", f"{program} {command}"], capture_output=True, text=True, timeout=300, env={**os.environ}
    )


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rows = np.random.default_rng(0).normal(size=(40, 3))
    (tmp_path / "a.csv").write_text("x,y,z\n" + "".join("{},{},{}\n".format(*row) for row in rows))
    return tmp_path / "a.csv"


@pytest.mark.process
@pytest.mark.usefixtures("forked_python")
def test_closed_standard_error(table: Path) -> None:
    done = run(f"embed {table} -m pca -o - --progress 2>&-")
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == '"pca0","pca1"'
    assert len(lines) == 41


@pytest.mark.process
@pytest.mark.usefixtures("forked_python")
def test_closed_standard_output(table: Path) -> None:
    done = run(f"embed {table} -m pca -o - >&-")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "error: standard output is closed; write to a file with -o"


@pytest.mark.process
def test_all_streams_closed_when_python_starts(table: Path) -> None:
    out = table.with_name("map.csv")
    done = run(f"embed {table} -m pca -o {out} >&- 2>&- <&-")
    assert done.returncode == 0
    assert len(out.read_text().splitlines()) == 41


@pytest.mark.process
@pytest.mark.usefixtures("forked_python")
def test_closed_standard_input(table: Path) -> None:
    done = run("embed - -m pca -o - <&-")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith("error: standard input is empty")


@pytest.mark.long
def test_control_characters_of_files_are_escaped(
    tmp_path: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    print_message("column 'a\x1b]0;title\x07b\u202e' is unknown\n")
    assert capsys.readouterr().err == "column 'a\\x1b]0;title\\x07b\\u202e' is unknown\n\n"
    bad = tmp_path / "b.csv"
    bad.write_text(table.read_text().replace("x,y,z", "x\x1b[31m,y,z", 1))
    done = run_here("embed", bad, "-m pca -o - --label nothing")
    assert "\x1b" not in done.stderr
    assert "x\\x1b[31m" in done.stderr
    model = eigenscape.PCA(2).fit(np.random.default_rng(0).normal(size=(20, 3)))
    eigenscape.save(model, tmp_path / "m.model", notes="a\x1b[2Jb\u202e")
    assert not {"\x1b", "\u202e"} & set(good("info", tmp_path / "m.model").stdout)
