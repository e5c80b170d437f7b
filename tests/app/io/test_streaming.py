"""Streamed reading: the same tables as whole reading, in bounded memory."""

from __future__ import annotations

import bz2
import gzip
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from covering import PRODUCT
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import feather, parquet

import eigenscape.streams
from eigenscape import read
from eigenscape.app.io import text
from eigenscape.app.io.guards import last_row_end
from eigenscape.app.io.table import Table
from eigenscape.app.io.writing import write_table
from eigenscape.exceptions import InputFileError
from eigenscape.options import Dictionary

RELAXED = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Read text in blocks of a few rows, and other files in chunks of 5 rows or fewer."""
    monkeypatch.setattr(text, "BLOCK_BYTES", 64 if PRODUCT else 128)
    monkeypatch.setattr(eigenscape.streams, "CHUNK_BYTES", 80)


def in_memory(table: Table) -> Table:
    """Return a streamed table with its chunks joined."""
    return replace(table, array=np.concatenate(list(table.array)))


def assert_same(streamed: Table, whole: Table) -> None:
    """Assert that two tables are equal, except for the columns in ``extra``, which streams leave out."""
    assert_equal(in_memory(streamed), whole)


def assert_equal(streamed: Table, whole: Table) -> None:
    """Assert the same of a streamed table whose chunks are joined."""
    np.testing.assert_array_equal(streamed.array, whole.array)
    for a, b in ((streamed.labels, whole.labels), (streamed.ids, whole.ids)):
        assert (a is None) == (b is None)
        if a is not None and b is not None:
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
    for name in ("names", "kind", "image_shape", "source", "label_name", "id_name", "remarks"):
        assert getattr(streamed, name) == getattr(whole, name), name
    assert streamed.extra == {}


def outcome(path: Path, **options: Any) -> Table | str:
    """Return the table, or the error of reading a file."""
    try:
        table = read(path, **options)
        return in_memory(table) if options.get("stream") else table
    except InputFileError as error:
        return str(error).replace("in at least ", "in ")


ROWS = 40
LINES = {
    "header": ["x,y,kind", *(f"{i},{i / 7},{'abc'[i % 3]}" for i in range(ROWS))],
    "no header": [f"{i},{i / 7},{'abc'[i % 3]}" for i in range(ROWS)],
    "semicolon": ["x;y;kind", *(f"{i};{i},5;{'abc'[i % 3]}" for i in range(ROWS))],
    "blanks": ["x y kind", *(f"{i}   {i / 7} {'abc'[i % 3]}" for i in range(ROWS))],
    "comments": ["# made today", "x y kind", *(f"{i}   {i / 7} a\n% a remark" for i in range(ROWS))],
    "blank lines": ["", "x,y,kind", *(f"{i},{i / 7},{'abc'[i % 3]}\n" for i in range(ROWS))],
    "blocks of blank lines": ["x,y", *(f"{i},{i / 7}" for i in range(ROWS)), "\n" * 200, "5,6", "\n" * 200],
    "blocks of comments": [
        *["# a comment"] * 30,
        "x y",
        *(f"{i} {i / 7}" for i in range(ROWS)),
        *["# a comment"] * 30,
        "5 6",
    ],
    "quotes": ['"x","y","kind"', *(f'{i},"{i / 7}","a ""b"", c"' for i in range(ROWS))],
    "line ends in quotes": ["x,y,kind", *(f'{i},1.5,"a\n{i % 3}, ""b"""' for i in range(ROWS))],
    "quotes in words": ["x,y,kind", *(f'{i},2.5,5" pipe' for i in range(ROWS)), '7,8,"a\n""b"']
    + [f"{i},3,c" for i in range(ROWS)],
    "codes": ["x,zip,kind", *(f"{i}.5,{i * 7:04d},{'ab'[i % 2]}" for i in range(ROWS))],
    "codes late": ["x,zip,kind", *(f"{i}.5,{999 - i},a" for i in range(ROWS)), "1.5,0123,b"],
    "codes and words": ["x,zip,kind", *(f"{i}.5,{i:03d},a" for i in range(ROWS)), "1.5,-5,b"],
    "codes first": [f"{i:02d},{i / 3}" for i in range(ROWS)],
    "codes of words alone": ["x,y", *(f"007 a,{i}b" for i in range(ROWS))],
    "ids": ["Id,x,y", *(f"{i:03d},{i / 3},{i}" for i in range(ROWS))],
    "row names": [",x,y", *(f"r{i},{i / 3},{i}" for i in range(ROWS))],
    "row names of R": ["x,y", *(f"r{i},{i / 3},{i}" for i in range(ROWS))],
    "trailing delimiter": ["x,y,", *(f"{i},{i / 3}," for i in range(ROWS))],
    "integers, then fractions": [
        "x,y",
        *(f"{i * 3},1" for i in range(ROWS)),
        *(f"{i}.5,2" for i in range(9)),
    ],
    "integers, then words": ["x,y", *(f"{i * 3},1" for i in range(9)), *(f"{i}.5,a" for i in range(ROWS))],
    "booleans": ["x,flag", *(f"{i * 3},{i % 2}" for i in range(ROWS)), "1,true", "2,false"],
    "integers and booleans": ["x,flag", *(f"{i * 3},{i}" for i in range(ROWS)), "1,true", "2,false"],
    "dates": ["x,day", *(f"{i * 3},2020-01-{i % 28 + 1:02d}" for i in range(ROWS)), "1,2020-01-01T10:00"],
    "dates and fractions of seconds": [
        "x,t",
        *(f"{i * 3},2020-01-01" for i in range(ROWS)),
        "1,2020-01-01T10:00:01.5",
    ],
    "label dates": ["x,label", *(f"{i * 3},2020-01-{i % 28 + 1:02d}" for i in range(ROWS))],
    "different words": ["x,first,second", *(f"{i},w{i},{'ab'[i % 2]}" for i in range(ROWS))],
    "all words different": ["x,first,second", *(f"{i},w{i},v{i}" for i in range(ROWS))],
    "a word repeated late": ["x,first,second", *(f"{i},w{i},a" for i in range(ROWS)), "3,w0,b"],
    "row counter": ["n,x", *(f"{i + 1},{i / 3}" for i in range(ROWS))],
    "row counter with a gap": ["n,x", *(f"{i + (i > 30)},{i / 3}" for i in range(ROWS))],
    "amounts": ["x,share", *(f"{i / 3},{i}%" for i in range(ROWS)), "1,few"],
    "missing": ["x,y,k", *(f"{i},{'' if i % 7 == 3 else i / 3},{'ab'[i % 2]}" for i in range(ROWS))],
    "missing with blanks": [
        "x,y,k",
        *(f"{i}, {'NA' if i > 30 else i / 3},{'ab'[i % 2]}" for i in range(ROWS)),
    ],
    "late missing with blanks": ["x,y", *(f"{i},{i}" for i in range(ROWS)), "1, NA", "2, 5"],
    "infinite": ["x,y", *(f"{i},{i / 3}" for i in range(ROWS)), "inf,2", "3,4"],
    "empty column": ["x,q,y", *(f"{i},,{i / 3}" for i in range(ROWS))],
    "integers with gaps as label": ["x,label", *(f"{i / 3},{'' if i == 33 else i % 4}" for i in range(ROWS))],
    "large integers": ["x,y", *(f"{2**60 + i},{i / 3}" for i in range(ROWS)), f"{10**20},1"],
    "a word among numbers": [
        "x,y",
        *(f"{i},{i / 3}" for i in range(ROWS)),
        "3,abc",
        *("1,2" for _ in range(9)),
    ],
    "grouped digits": ["x,y", *(f'{i},"{i},234"' for i in range(ROWS))],
    "ragged": ["x,y", *(f"{i},{i / 3}" for i in range(ROWS)), "3,4,5", "6,7"],
    "words alone": [f"{'ab'[i % 2]},w" for i in range(ROWS)],
    "carriage returns": ["x,y,kind\r" + "\r".join(f"{i},{i / 7},{'abc'[i % 3]}" for i in range(ROWS))],
}


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize(
    "missing",
    [
        "keep",
        *(pytest.param(one, marks=pytest.mark.long) for one in (("error", "drop") if PRODUCT else ["drop"])),
    ],
)
@pytest.mark.parametrize("case", list(LINES))
def test_streamed_text_is_the_table_that_is_read_whole(tmp_path: Path, case: str, missing: str) -> None:
    path = tmp_path / "t.txt"
    path.write_text("\n".join(LINES[case]) + "\n", newline="")
    streamed, whole = (outcome(path, missing=missing, stream=stream) for stream in (True, False))
    if isinstance(whole, Table):
        assert isinstance(streamed, Table), streamed
        assert_equal(streamed, whole)
        assert len(list(read(path, missing=missing, stream=True).array)) > 1
    else:
        assert isinstance(streamed, str), "the error is missing"
        assert streamed.split("(")[0] == whole.split("(")[0]


@pytest.mark.long
@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
def test_encodings_and_compression_in_chunks(tmp_path: Path, ends: str) -> None:
    content = ends.join(["größe,y,kind", *(f"{i},{i / 7},{'äöü'[i % 3]}" for i in range(ROWS))])
    packed = {"t.csv.gz": gzip.compress(content.encode()), "t.csv": content.encode("utf-16")}
    packed["t.tsv"] = content.replace(",", "\t").encode("utf-8-sig")
    packed["t.csv.bz2"] = bz2.compress(content.encode())
    packed["t.csv.zst"] = pa.Codec("zstd").compress(content.encode(), asbytes=True)
    for name, data in packed.items():
        (tmp_path / name).write_bytes(data)
        assert_same(read(tmp_path / name, stream=True), read(tmp_path / name))
    broken = content.replace("5,", "5é,").encode("latin1", errors="replace")
    (tmp_path / "latin.csv").write_bytes(broken)
    messages = [outcome(tmp_path / "latin.csv", stream=stream) for stream in (True, False)]
    assert messages[0] == messages[1]
    assert "not UTF-8" in str(messages[0])


cells = st.sampled_from(
    [
        "1",
        "2.5",
        "-3",
        "0",
        "",
        "NA",
        " 7",
        "8 ",
        "007",
        "true",
        "a",
        "a b",
        "6%",
        "2020-01-01",
        '"q"',
        "x\ny",
        "1e5",
    ]
)


def quoted(cell: str, always: bool) -> str:
    return '"' + cell.replace('"', '""') + '"' if always or "\n" in cell or '"' in cell else cell


@pytest.mark.long
@pytest.mark.usefixtures("small_blocks")
@RELAXED
@given(data=st.data(), n=st.integers(1, 30), d=st.integers(1, 4), always=st.booleans())
def test_generated_text_tables(tmp_path: Path, data: Any, n: int, d: int, always: bool) -> None:
    """Columns that have few kinds of cells each, so that most of them are understood."""
    columns = []
    for _ in range(d):
        kinds = data.draw(st.lists(cells, min_size=1, max_size=3))
        columns.append(data.draw(st.lists(st.sampled_from(kinds), min_size=n, max_size=n)))
    columns.append([f"{i}.25" for i in range(n)])
    names = [f"c{j}" for j in range(d)] + ["number"]
    rows = [",".join(quoted(column[i], always) for column in columns) for i in range(n)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join([",".join(names), *rows]) + "\n", newline="")
    for missing in ("error", "drop", "keep"):
        streamed, whole = (outcome(path, missing=missing, stream=stream) for stream in (True, False))
        if isinstance(whole, Table):
            assert isinstance(streamed, Table), streamed
            assert_equal(streamed, whole)
        else:
            assert isinstance(streamed, str)


@pytest.mark.long
@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("missing", ["error", "drop", "keep"] if PRODUCT else ["drop"])
@pytest.mark.parametrize("suffix", ["parquet", "arrow", "csv", *(("feather", "tsv") if PRODUCT else ())])
def test_streamed_typed_columns_are_the_table_that_is_read_whole(
    tmp_path: Path, suffix: str, missing: str
) -> None:
    gap = None if missing != "error" else 0.5
    table = {
        "n": list(range(1, ROWS + 1)),
        "x": [gap if i % 9 == 4 else i / 3 for i in range(ROWS)],
        "flag": [i % 3 == 0 for i in range(ROWS)],
        "different": [f"w{i}" for i in range(ROWS)],
        "share": [f"{i}%" for i in range(ROWS)],
        "kind": [None if i == 5 else "ab"[i % 2] for i in range(ROWS)],
        "ID": [f"{i:03d}" for i in range(ROWS)],
    }
    if suffix in ("csv", "tsv"):
        from pyarrow import csv

        options = csv.WriteOptions(delimiter="," if suffix == "csv" else "\t")
        csv.write_csv(pa.table(table), tmp_path / f"t.{suffix}", options)
    else:
        table["vector"] = [[float(i), i / 2] for i in range(ROWS)]
        if suffix == "parquet":
            parquet.write_table(pa.table(table), tmp_path / "t.parquet", row_group_size=7)
        else:
            feather.write_feather(pa.table(table), str(tmp_path / f"t.{suffix}"), chunksize=7)
    path = tmp_path / f"t.{suffix}"
    for options in ({}, {"columns": ["x", "n"], "label": "different"}, {"id": "kind", "label": "n"}):
        assert_same(
            read(path, missing=missing, stream=True, **options), read(path, missing=missing, **options)
        )


@pytest.mark.usefixtures("small_blocks")
def test_files_of_a_folder_may_have_different_types_and_columns(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"x": [1, 2], "k": ["a", "b"]}), tmp_path / "a.parquet")
    parquet.write_table(
        pa.table({"x": [0.5, 1.5], "y": [3.0, None], "k": ["c", "d"]}), tmp_path / "b.parquet"
    )
    parquet.write_table(pa.table({"y": [5.0], "k": ["a"]}), tmp_path / "c.parquet")
    for missing in ("drop", "keep"):
        assert_same(read(tmp_path, missing=missing, stream=True), read(tmp_path, missing=missing))
    with pytest.raises(InputFileError, match=r"missing value .* in at least 2 row\(s\): row\(s\) 1, 2"):
        list(read(tmp_path, stream=True).array)


@pytest.mark.parametrize("suffix", ["npy", "npz"])
def test_missing_values_of_streamed_arrays(tmp_path: Path, suffix: str) -> None:
    array = np.arange(20.0).reshape(10, 2)
    array[3, 1] = np.nan
    write_table(tmp_path / f"t.{suffix}", array, labels=list("abababacbc"))
    path = tmp_path / f"t.{suffix}"
    for missing in ("drop", "keep"):
        streamed, whole = in_memory(read(path, missing=missing, stream=True)), read(path, missing=missing)
        np.testing.assert_array_equal(streamed.array, whole.array)
        if suffix == "npz":
            assert streamed.labels.tolist() == whole.labels.tolist()
    with pytest.raises(InputFileError, match=r"row\(s\) 4, counted from 1"):
        list(read(path, stream=True).array)
    array[:] = np.nan
    write_table(path, array, force=True)
    with pytest.raises(InputFileError, match="every row"):
        list(read(path, missing="drop", stream=True).array)


def test_rows_end_outside_quotes() -> None:
    contents = ['a,"b\nc"\nd,e\n"f\ng', 'a,5" b\n"c\nd",e\nf,"\n"" g', '"a""\n",b\nc', "a\nb", '"\n\n']
    ends = [len('a,"b\nc"\nd,e\n'), len('a,5" b\n"c\nd",e\n'), len('"a""\n",b\n'), 2, 0]
    assert [last_row_end(content.encode(), ",") for content in contents] == ends


_MEMORY = """
import json, resource, sys
import numpy as np
import eigenscape.streams
from eigenscape.app.io import text
path = sys.argv[1]
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
list(eigenscape.read(sys.argv[2], stream=True).array)  # libraries are loaded
text.BLOCK_BYTES = 2**20
before = peak()
table = eigenscape.read(path, stream=True)
sizes = [len(chunk) for chunk in table.array]
print(json.dumps({"n": sum(sizes), "largest": max(sizes), "added": peak() - before}))
"""


@pytest.mark.process
def test_memory_of_a_streamed_text_file_is_that_of_its_blocks(tmp_path: Path) -> None:
    """A file of 40 MB, read in blocks of 1 MiB, needs less than 16 MB; read whole it needs more than 100."""
    lines = "".join(
        ",".join(f"{v:.16f}" for v in row) + "\n" for row in np.random.default_rng(0).random((2000, 10))
    )
    (tmp_path / "small.csv").write_text(lines)
    with (tmp_path / "large.csv").open("w") as file:
        for _ in range(107):
            file.write(lines)
    assert (tmp_path / "large.csv").stat().st_size > 40e6
    paths = [str(tmp_path / "large.csv"), str(tmp_path / "small.csv")]
    done = subprocess.run(
        [sys.executable, "-c", _MEMORY, *paths], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found["n"] == 107 * 2000
    assert found["largest"] < 2 * found["n"] // 40
    assert found["added"] < 16e6


def test_an_estimator_learns_from_a_text_stream(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((500, 4)) @ rng.standard_normal((4, 4))
    write_table(tmp_path / "x.csv", X)
    table = read(tmp_path / "x.csv", stream=True)
    streamed = eigenscape.GreedySpectralEmbedding(dictionary=Dictionary(tol=1e-3)).fit(table.array)
    np.testing.assert_allclose(
        streamed.transform(X),
        eigenscape.GreedySpectralEmbedding(dictionary=Dictionary(tol=1e-3)).fit(X).transform(X),
        atol=1e-8,
    )
