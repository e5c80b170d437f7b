"""Odd files on the command line: pipes, names in no encoding, control characters, full disks, formulas."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from xml.dom import minidom

import numpy as np
import pytest
from test_cli import good

import eigenscape
from eigenscape.app.io import atomic
from eigenscape.app.io.writing import write_table
from eigenscape.exceptions import InputFileError, ModelFileError, WriteError

ROWS = np.random.default_rng(0).normal(size=(30, 3))


def write_rows(path: Path | bytes, labels: list[str]) -> None:
    lines = ['x,y,"ki\x02nd"'] + [
        f'{a!r},{b!r},"{labels[i % len(labels)]}"' for i, (a, b, _) in enumerate(ROWS.tolist())
    ]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


@pytest.mark.parametrize("name", ["pipe.csv", "pipe.npy", "pipe.parquet", "pipe.csv.gz"])
def test_pipes_are_refused_without_opening_them(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    for stream in (False, True):
        with pytest.raises(InputFileError, match="is a pipe or a device"):
            eigenscape.read(tmp_path / name, stream=stream)
    with pytest.raises(ModelFileError, match="is a pipe or a device"):
        eigenscape.load(tmp_path / name)


@pytest.mark.process
@pytest.mark.usefixtures("readers_here", "forked_python")
def test_file_names_that_are_not_utf8(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path)
    try:
        write_rows(folder + b"/caf\xe9.csv", ["a", "b"])
    except OSError:
        pytest.skip("the file system accepts names in UTF-8 only")
    outputs = [folder + b"/\xe9" + suffix for suffix in (b".csv", b".svg", b".html", b".eigenscape")]
    options = [
        word
        for pair in zip((b"-o", b"--plot", b"--report", b"--save"), outputs, strict=True)
        for word in pair
    ]
    command = [sys.executable, "-m", "eigenscape", "embed", folder + b"/caf\xe9.csv", "-m", "pca", *options]
    done = subprocess.run(command, capture_output=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert all(os.path.getsize(path) for path in outputs)
    for suffix in ("npy", "npz", "parquet", "arrow", "mtx", "tsv", "h5ad"):
        path = os.fsdecode(folder + b"/t\xe9." + suffix.encode())
        write_table(path, ROWS)
        for stream in (False, True):
            array = eigenscape.read(path, stream=stream).array
            n_rows = array.shape[0] if hasattr(array, "shape") else sum(map(len, array))
            assert n_rows == len(ROWS)


@pytest.mark.long
def test_control_characters_in_figures_and_reports(tmp_path: Path) -> None:
    write_rows(tmp_path / "a.csv", ["a\x01", "b\x1b[2J", "c\ufffe", "d\x7f\x85", "<e>"])
    svg, html = tmp_path / "a.svg", tmp_path / "a.html"
    done = good("embed", tmp_path / "a.csv", "-m pca --plot", svg, "--report", html)
    assert "<e>" in "".join(node.toxml() for node in minidom.parse(str(svg)).childNodes).replace(
        "&lt;", "<"
    ).replace("&gt;", ">")
    assert "\x1b" not in done.stderr

    class Text(HTMLParser):
        """Collects the text of the page without its scripts and styles."""

        inside = ""
        parts: list[str] = []  # noqa: RUF012

        def handle_starttag(self, tag: str, attrs: object) -> None:
            self.inside = tag

        def handle_data(self, data: str) -> None:
            if self.inside not in ("script", "style"):
                self.parts.append(data)

    parser = Text()
    parser.feed(html.read_text())
    assert not set("\x01\x02\x1b\x7f\x85\ufffe") & set("".join(parser.parts))


#: Commands in one process, since it takes a second to start: prints the exit code of each.
_COMMANDS = """
import resource, sys
from eigenscape.app.cli import main
resource.setrlimit(resource.RLIMIT_FSIZE, (51_200, 51_200))
for target in sys.argv[1:]:
    sys.argv = ["eigenscape", "embed", "a.npy", "-m", "pca", "-o", target, "-q"]
    try:
        main()
    except SystemExit as ended:
        print(ended.code)
"""


@pytest.mark.process
@pytest.mark.usefixtures("forked_python")
def test_a_full_disk_is_one_line_and_code_1(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.random.default_rng(0).normal(size=(20_000, 3)))
    targets = ["out.csv", "out.npy", "out.parquet", "out.h5ad"]  # one for each library that writes
    command = [sys.executable, "-c", _COMMANDS, *targets]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
    assert done.stdout.split() == ["1"] * len(targets), done.stderr
    for target, line in zip(targets, done.stderr.splitlines(), strict=True):
        assert line.startswith("error: ")
        assert f"no space left to write {target}" in line
    assert [path.name for path in tmp_path.iterdir()] == ["a.npy"]


def test_errors_of_full_disks_have_their_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def save(*arguments: object, **options: object) -> None:
        raise OSError("1000 requested and 10 written")  # as NumPy

    monkeypatch.setattr(np, "save", save)
    monkeypatch.setattr(atomic, "_has_room", lambda _: False)
    with pytest.raises(WriteError) as caught:
        write_table(tmp_path / "a.npy", ROWS)
    assert caught.value.errno == errno.ENOSPC


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_spreadsheet_safe(tmp_path: Path, suffix: str) -> None:
    labels = ["=1+1", "+5", "-5", "@a", "\ta", "\ra", "plain", "'a", "a=1"]
    coordinates = -np.arange(9.0)[:, None]
    options = {"ids": labels, "labels": labels, "names": ["x"], "label_name": "=kind"}
    for safe in (False, True):
        path = tmp_path / f"{safe}.{suffix}"
        write_table(path, coordinates, spreadsheet_safe=safe, **options)
        table = eigenscape.read(path, label="'=kind" if safe else "=kind", id="id")
        assert table.array.ravel().tolist() == coordinates.ravel().tolist()
        assert table.ids is not None
        expected = [f"'{text}" for text in labels[:6]] + labels[6:] if safe else labels
        assert table.ids.tolist() == [text.strip() for text in expected]


@pytest.mark.long
def test_spreadsheet_safe_on_the_command_line(tmp_path: Path) -> None:
    write_rows(tmp_path / "a.csv", ["=cmd()", "b"])
    for command, options in (("embed", "-m pca"), ("cluster", "-k 2")):
        written = good(command, tmp_path / "a.csv", options, "-o - --spreadsheet-safe").stdout
        assert '"\'=cmd()"' in written
        assert '"=cmd()' not in written
