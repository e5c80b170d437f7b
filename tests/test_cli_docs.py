"""The commands on the pages do what the pages say, and the help teaches what works."""

import os
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from test_cli import good

from eigenscape.cli.app import app

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs" / "cli").glob("*.md"))]


def commands(page):
    """The lines of the shell blocks of a page."""
    blocks = re.findall(r"^```sh\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    return [line for block in blocks for line in block.splitlines() if line.strip()]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    runpy.run_path(str(ROOT / "examples" / "tables.py"))["main"](folder)
    return folder


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
            good(*words[1:])
    for line in lines:
        for flag in ("-o", "--plot", "--report", "--save"):
            for target in re.findall(rf"{flag} (\S+)", line):
                assert target == "-" or (tmp_path / target).stat().st_size > 0


def _in_a_shell(line, folder):
    script = f'set -e; eigenscape() {{ "{sys.executable}" -m eigenscape "$@"; }}; {line}'
    done = subprocess.run(["bash", "-c", script], cwd=folder, capture_output=True, text=True, env=os.environ, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout
    assert "error" not in done.stderr


def test_every_command_has_a_page_and_every_page_a_command():
    names = {command.name or command.callback.__name__ for command in app.registered_commands}
    assert {page.stem for page in PAGES} - {"README"} == names
    index = (ROOT / "docs" / "cli" / "README.md").read_text()
    assert all(f"[{name}]({name}.md)" in index for name in names)


def test_help_of_every_command_teaches_by_example():
    for command in app.registered_commands:
        name = command.name or command.callback.__name__
        assert f"eigenscape {name} " in good(name, "--help").stdout.split("Arguments")[0].replace("Usage: ", "", 1)
