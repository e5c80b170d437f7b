"""The commands in the documentation run, and the help of every command has examples."""

import inspect
import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import make_swiss_roll
from test_cli import good, rows, write_csv

from eigenscape.app.cli.app import app

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "cli").glob("*.md"))]


def commands(page):
    """Return the lines of the shell blocks of a page."""
    blocks = re.findall(r"^```sh\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    runpy.run_path(str(ROOT / "examples" / "tables.py"))["main"](folder)
    return folder


@pytest.mark.usefixtures("forked_python", "empty_charts")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page_run(page, tables, tmp_path, monkeypatch):
    for file in tables.iterdir():
        (tmp_path / file.name).symlink_to(file)
    monkeypatch.chdir(tmp_path)
    lines = commands(page)
    assert lines
    for line in lines:
        if "|" in line or "<" in line:
            _in_a_shell(line, tmp_path)
        else:
            words = shlex.split(line, comments=True)
            assert words[0] == "eigenscape"
            good(shlex.join(words[1:]))
    for line in lines:
        for flag in ("-o", "--plot", "--report", "--save"):
            for target in re.findall(rf"{flag} (\S+)", line):
                assert target == "-" or (tmp_path / target).stat().st_size > 0


def _in_a_shell(line, folder):
    script = f'set -e; eigenscape() {{ "{sys.executable}" -m eigenscape "$@"; }}; {line}'
    done = subprocess.run(
        ["bash", "-c", script], cwd=folder, capture_output=True, text=True, env=os.environ, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert "error" not in done.stderr


COMMANDS = {command.callback.__name__: command for command in app.registered_commands if not command.hidden}


def test_every_command_has_a_page_and_every_page_a_command():
    names = set(COMMANDS)
    assert {page.stem for page in PAGES} - {"README"} == names
    index = (ROOT / "docs" / "cli" / "README.md").read_text()
    assert all(f"[{name}]({name}.md)" in index for name in names)


def test_help_of_every_command_has_examples():
    for name, command in COMMANDS.items():
        examples = re.findall(r"(?m)^    (\S.*)$", inspect.getdoc(command.callback))
        shown = [line.strip() for line in good(name, "--help").stdout.splitlines()]
        assert any(example.startswith(f"eigenscape {name}") for example in examples)
        for example in examples:  # each starts a line of its own, which may be wrapped
            assert any(
                line and example.startswith(line[:40]) for line in shown if line[:20] == example[:20]
            ), example


@pytest.mark.usefixtures("empty_charts")
def test_from_a_table_to_a_report_and_new_rows_in_two_commands(tmp_path):
    X, color = make_swiss_roll(900, noise=0.05, random_state=0)
    kind = np.array(["inner", "middle", "outer"])[np.digitize(color, [7.5, 11])]
    names = ["height", "depth", "width"]
    table = write_csv(tmp_path / "roll.csv", X[:800], names, kind=kind[:800])
    new = write_csv(tmp_path / "new.csv", X[800:], names, kind=kind[800:])
    command = [
        "embed",
        table,
        "-m",
        "isomap",
        "--report",
        tmp_path / "roll.html",
        "--save",
        tmp_path / "roll.model",
    ]
    good(*command)
    page = (tmp_path / "roll.html").read_text()
    assert "eigenscape embed" in page
    assert "height" in page
    assert not re.search(r"<(?:script|link|img)[^>]+(?:src|href)=[\"']https?:", page)
    good(
        "transform",
        tmp_path / "roll.model",
        new,
        "-o",
        tmp_path / "placed.csv",
        "--plot",
        tmp_path / "placed.png",
    )
    placed = rows(tmp_path / "placed.csv")
    assert [row["kind"] for row in placed] == kind[800:].tolist()
    first = np.array([float(row["isomap0"]) for row in placed])
    assert abs(np.corrcoef(first, color[800:])[0, 1]) > 0.98  # the new rows lie along the unrolled length
