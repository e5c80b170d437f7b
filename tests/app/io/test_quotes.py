"""A quotation mark that hides rows of a text table is an error that names its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from eigenscape import read
from eigenscape.app.io import guards, text
from eigenscape.exceptions import InputFileError

ROWS = [f"{i},{i / 7:.3f},word{i % 5}" for i in range(1000)]


def write(path: Path, rows: list[str]) -> Path:
    path.write_text("\n".join(["x,y,kind", *rows, ""]))
    return path


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("closing", [None, 503, 510, 999])
def test_a_lone_quotation_mark_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: bool, closing: int | None
) -> None:
    monkeypatch.setattr(text, "BLOCK_BYTES", 2**12)
    rows = list(ROWS)
    rows[499] = '499,71.2,"word4'
    if closing is not None:
        rows[closing] = f'{closing},1.5,word"'
    with pytest.raises(InputFileError, match=r"line 501.*quotation mark"):
        read(write(tmp_path / "a.csv", rows), stream=stream)


def test_a_quotation_mark_closed_by_the_next_quoted_cell_is_named(tmp_path: Path) -> None:
    rows = [f'{i},{i / 7:.3f},"word{i % 5}"' for i in range(100)]
    rows[49] = '49,7,"word4'
    with pytest.raises(InputFileError, match=r"line 51.*followed by text"):
        read(write(tmp_path / "a.csv", rows))


@pytest.mark.parametrize("stream", [False, True])
def test_empty_quoted_cells_do_not_hide_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stream: bool
) -> None:
    """Within a quoted cell, the marks of an empty cell are a doubled mark, which does not close it."""
    monkeypatch.setattr(text, "BLOCK_BYTES", 2**12)
    rows = [f'{i},{i / 7:.3f},""' for i in range(100)]
    rows[49], rows[59] = '49,7,"word4', '59,7,word4"'
    with pytest.raises(InputFileError, match=r"line 51.*10 line ends, so the rows in it would be lost"):
        read(write(tmp_path / "a.csv", rows), stream=stream)


def test_cells_with_several_lines_are_read(tmp_path: Path) -> None:
    rows = [f'{i},{i / 7:.3f},"first line, with a comma\nsecond ""line""\nthird"' for i in range(100)]
    table = read(write(tmp_path / "a.csv", rows))
    assert table.array.shape == (100, 2)
    assert table.labels is not None
    assert table.labels[0] == 'first line, with a comma\nsecond "line"\nthird'


def test_doubled_quotation_marks_need_no_slow_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """The search of one mark after the other is for marks inside cells that are not quoted."""
    monkeypatch.setattr(guards, "_IN_QUOTES", None)
    guards.check_quotes(b'1,"a ""b"" c"\n2,"""d"""\n', ",", 2, "a.csv")
    with pytest.raises(AttributeError):
        guards.check_quotes(b'1,"a"\n2,3" pipe\n', ",", 2, "a.csv")
