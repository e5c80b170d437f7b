"""Reading and writing tables in all formats, and the errors of invalid files."""

from __future__ import annotations

import gzip
import io
import json
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from pyarrow import feather, parquet
from scipy import sparse
from scipy.io import mmwrite
from scipy.spatial.distance import cdist

import eigenscape
from eigenscape import read
from eigenscape.app.io.table import Table
from eigenscape.app.io.writing import write_table
from eigenscape.exceptions import InputFileError, MissingDependencyError
from eigenscape.options import Dictionary
from eigenscape.streams import as_chunks

X = np.random.default_rng(0).standard_normal((12, 3))
IDS = [f"row {i}" for i in range(12)]
LABELS = ["a", "b", "b"] * 4


def text(tmp_path: Path, content: str | bytes, name: str = "t.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


# --- text ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "names"),
    [
        ("x,y,kind\n1,2.5,a\n3,4,b\n5,6,b\n", ("x", "y")),
        ("1,2.5,a\n3,4,b\n5,6,b\n", ("x0", "x1")),
        ("x;y;kind\n1;2,5;a\n3;4,0;b\n5;6;b\n", ("x", "y")),
        ("x\ty\tkind\n1\t2.5\ta\n3\t4\tb\n5\t6\tb\n", ("x", "y")),
        ("x|y|kind\r\n1|2.5|a\r\n3|4|b\r\n5|6|b\r\n", ("x", "y")),
        ("\n\nx,y,kind\n1,2.5,a\n3,4,b\n5,6,b\n", ("x", "y")),
        ("\ufeffx,y,kind\n1,2.5,a\n3,4,b\n5,6,b\n", ("x", "y")),
        ('"x","y","kind"\n1,2.5,"a"\n3,4,"b"\n\n5,6,"b"\n', ("x", "y")),
        ("x y kind\n1   2.5 a\n 3 4  b\n5 6 b\n", ("x", "y")),
        ("2019,2020,kind\n1,2.5,a\n3,4,b\n5,6,b\n", ("2019", "2020")),
    ],
)
def test_layouts_of_text_tables(tmp_path: Path, content: str, names: tuple[str, ...]) -> None:
    table = read(text(tmp_path, content))
    if names == ("x0", "x1") or content[0] != "2":
        assert table.names == names
        np.testing.assert_array_equal(table.array, [[1, 2.5], [3, 4], [5, 6]])
        assert table.labels.tolist() == ["a", "b", "b"]
    else:  # a header of numbers cannot be distinguished from a row
        assert table.array.shape == (4, 2)


def test_utf16_and_compressed_text(tmp_path: Path) -> None:
    content = "größe,y\n1,2\n3,4\n"
    (tmp_path / "a.csv").write_bytes(content.encode("utf-16"))
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(content.encode()))
    for name in ("a.csv", "b.csv.gz"):
        assert read(tmp_path / name).names == ("größe", "y")


def test_row_names_of_pandas_and_r_are_ids(tmp_path: Path) -> None:
    for content in (",x,y\nr1,1,2\nr2,3,4\n", "x,y\nr1,1,2\nr2,3,4\n", ",x,y\n0,1,2\n1,3,4\n"):
        table = read(text(tmp_path, content))
        assert table.names == ("x", "y")
        assert table.array.tolist() == [[1, 2], [3, 4]]
        assert table.ids is not None


def test_the_index_and_the_numbered_columns_of_pandas_are_a_header(tmp_path: Path) -> None:
    table = read(text(tmp_path, ",0,1\n0,1.5,2\n1,3.5,4\n2,5,6\n"))
    assert (table.names, table.id_name) == (("0", "1"), "row")
    assert table.array.tolist() == [[1.5, 2], [3.5, 4], [5, 6]]
    assert table.ids.tolist() == [0, 1, 2]


def test_decimal_commas_are_not_mixed_with_points(tmp_path: Path) -> None:
    """In a table with decimal commas 1.234 may be a thousand, so it is not read as a number among others."""
    lines = "".join(f"{i},5; NA;{i}\n" for i in range(60))
    table = read(text(tmp_path, "x;y;z\n" + lines + "1,5;7,5;3\n"), missing="keep")
    assert table.array[-1].tolist() == [1.5, 7.5, 3]
    with pytest.raises(InputFileError, match=r"column 'x' .* such as '0,5'; write them without commas"):
        read(text(tmp_path, "x;y;z\n" + lines + "1.234;7,5;3\n"), missing="keep")


def test_selected_columns_and_extra(tmp_path: Path) -> None:
    path = text(
        tmp_path, "n,x,y,z,kind,day\n7,1,2,3,a,2020-01-01\n8,4,5,6,b,2020-01-02\n9,7,8,9,b,2020-01-03\n"
    )
    table = read(path, columns=["z", "x"], label="kind", id="n")
    assert table.array.tolist() == [[3, 1], [6, 4], [9, 7]]
    assert table.names == ("z", "x")
    assert table.ids.tolist() == [7, 8, 9]
    assert sorted(table.extra) == ["day", "y"]
    rows, labels, ids = table
    assert (rows is table.array, labels is table.labels, ids is table.ids) == (True, True, True)
    numeric = read(path, label="z")
    assert numeric.labels.tolist() == [3, 6, 9]
    assert numeric.names == ("n", "x", "y")
    with pytest.raises(InputFileError, match=r"no column 'w'; it has 'n', 'x'"):
        read(path, columns=["w"])
    with pytest.raises(InputFileError, match=r"column 'kind' .* not numbers"):
        read(path, columns=["kind"])


def test_codes_ids_and_labels_are_text(tmp_path: Path) -> None:
    lines = "".join(f"{i:04d},0{i}.5, {'ab'[i % 2]} ,{i + 10:03d}\n" for i in range(6))
    table = read(text(tmp_path, "Id,x, kind,zip\n" + lines))
    assert table.ids.tolist() == [f"{i:04d}" for i in range(6)]
    assert (table.id_name, table.label_name, table.names) == ("Id", "kind", ("x",))
    assert table.labels.tolist() == ["a", "b"] * 3  # without surrounding blanks
    assert table.extra["zip"].tolist() == [f"{i + 10:03d}" for i in range(6)]
    assert "'zip'" in table.remarks[0]
    assert read(tmp_path / "t.csv", columns=["zip"]).array[:, 0].tolist() == list(range(10, 16))
    ids = ["2020-01-01T00:00", "2020-01-02T00:00"]
    assert read(text(tmp_path, f"id,x,label\n{ids[0]},1,true\n{ids[1]},2,false\n")).ids.tolist() == ids
    assert read(tmp_path / "t.csv").labels.tolist() == ["true", "false"]


def test_a_delimiter_at_the_end_of_lines_adds_no_column(tmp_path: Path) -> None:
    for content in ("x,y,\n1,2,\n3,4,\n", "x,y\n1,2,\n3,4,\n", "1,2,\n3,4,\n"):
        assert read(text(tmp_path, content)).array.tolist() == [[1, 2], [3, 4]]


def test_markers_of_missing_values(tmp_path: Path) -> None:
    path = text(tmp_path, "x,y\n1, 2\nNone, NA\n<NA>,4\nNAN,5\nNull, none\n")
    assert np.isnan(read(path, missing="keep").array).sum(axis=0).tolist() == [4, 2]


@pytest.mark.long
def test_types_may_change_after_the_first_block(tmp_path: Path) -> None:
    """Integers for a megabyte, then a fraction; labels that begin as numbers."""
    lines = ["x,k"] + ["1,2"] * 400_000 + ["0.5,b"] * 500_000
    table = read(text(tmp_path, "\n".join(lines)), label="k")
    assert table.array.shape == (900_000, 1)
    assert table.array[-1, 0] == 0.5
    assert set(table.labels.tolist()) == {"2", "b"}


def test_missing_values(tmp_path: Path) -> None:
    path = text(tmp_path, "x,y\n1,2\n,3\n4,5\nNA,?\n6,7\n")
    with pytest.raises(
        InputFileError,
        match=r"missing value \(NaN\) in 2 row\(s\): row\(s\) 2, 4.*missing='drop'.*missing='keep'",
    ):
        read(path)
    assert read(path, missing="drop").array.tolist() == [[1, 2], [4, 5], [6, 7]]
    assert np.isnan(read(path, missing="keep").array).sum() == 3
    with pytest.raises(ValueError, match="missing='fill' must be one of"):
        read(path, missing="fill")
    infinite = text(tmp_path, "x,y\n1,2\n3,inf\n", "i.csv")
    for missing in ("error", "keep"):
        with pytest.raises(InputFileError, match=r"infinite value in 1 row\(s\): row\(s\) 2"):
            read(infinite, missing=missing)
    np.save(tmp_path / "n.npy", np.array([[1.0, 2], [np.nan, 3], [4, 5]]))
    with pytest.raises(InputFileError, match=r"row\(s\) 2, counted from 1"):
        read(tmp_path / "n.npy")
    assert read(tmp_path / "n.npy", missing="drop").array.tolist() == [[1, 2], [4, 5]]


@pytest.mark.process
@pytest.mark.usefixtures("forked_python")
def test_standard_input_and_output() -> None:
    code = (
        "import sys, eigenscape\nfrom eigenscape.app.io.writing import write_table\n"
        "X, labels, ids = eigenscape.read('-')\nwrite_table('-', 2 * X, labels=labels)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        input="x,y,k\n1,2,a\n3,4,a\n",
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.splitlines() == ['"x0","x1","label"', '2,4,"a"', '6,8,"a"'], done.stderr[-1000:]


cells = st.floats(allow_nan=False, allow_infinity=False)
words = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=8
).filter(lambda word: word.strip() == word and not _numeric(word))


def _numeric(word: str) -> bool:
    try:
        float(word.replace(",", "."))
    except ValueError:
        return word in (
            "NA",
            "N/A",
            "n/a",
            "#N/A",
            "NULL",
            "null",
            "?",
            "true",
            "false",
            "TRUE",
            "FALSE",
            "True",
            "False",
        )
    return True


@pytest.mark.long
@settings(
    max_examples=30,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    data=st.data(),
    n=st.integers(1, 6),
    d=st.integers(1, 4),
    suffix=st.sampled_from(["csv", "tsv", "parquet", "feather", "npz"]),
)
def test_written_tables_are_read_unchanged(tmp_path: Path, data: Any, n: int, d: int, suffix: str) -> None:
    array = np.array(data.draw(st.lists(st.lists(cells, min_size=d, max_size=d), min_size=n, max_size=n)))
    labels = data.draw(st.lists(words, min_size=n, max_size=n))
    ids = [f"r{i}" for i in range(n)]
    write_table(tmp_path / f"t.{suffix}", array, ids=ids, labels=labels, force=True)
    table = read(tmp_path / f"t.{suffix}")
    np.testing.assert_array_equal(table.array, array)
    assert table.labels.tolist() == labels
    assert table.ids.tolist() == ids


# --- other formats ------------------------------------------------------------------------------------------


@pytest.mark.process
@pytest.mark.usefixtures("forked_python")
@pytest.mark.parametrize(
    "suffix", ["csv", "tsv", "parquet", "pq", "arrow", "feather", "npy", "npz", "mtx", "h5ad"]
)
def test_every_format(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t.{suffix}"
    write_table(path, X, ids=IDS, labels=LABELS)
    table = read(path)
    np.testing.assert_allclose(table.array, X, rtol=1e-12)
    assert (table.kind, table.source) == ("rows", str(path))
    if suffix not in ("npy", "mtx"):
        assert table.labels.tolist() == LABELS
        assert table.ids.tolist() == IDS
    with pytest.raises(FileExistsError):
        write_table(path, X)


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "npy"])
def test_streams_have_the_same_rows(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t.{suffix}"
    write_table(path, X, ids=IDS, labels=LABELS)
    table = read(path, stream=True)
    np.testing.assert_array_equal(np.concatenate(list(table.array)), X)
    np.testing.assert_array_equal(np.concatenate(list(table.array)), X)  # repeatedly
    assert as_chunks(table.array) is table.array
    if suffix != "npy":
        assert table.labels.tolist() == LABELS
        chosen = read(path, stream=True, columns=["x2", "x0"])
        np.testing.assert_array_equal(np.concatenate(list(chosen.array)), X[:, [2, 0]])
    whole = eigenscape.GreedySpectralEmbedding(dictionary=Dictionary(tol=1e-3)).fit(X)
    streamed = eigenscape.GreedySpectralEmbedding(dictionary=Dictionary(tol=1e-3)).fit(table.array)
    np.testing.assert_allclose(streamed.transform(X), whole.transform(X), atol=1e-8)


def test_a_folder_of_parquet_files_and_arrow_streams(tmp_path: Path) -> None:
    (tmp_path / "many").mkdir()
    for part in range(3):
        write_table(tmp_path / "many" / f"part{part}.parquet", X + part, labels=LABELS)
    table = read(tmp_path / "many")
    np.testing.assert_array_equal(table.array, np.concatenate([X, X + 1, X + 2]))
    assert table.labels.tolist() == 3 * LABELS
    np.testing.assert_array_equal(
        np.concatenate(list(read(tmp_path / "many", stream=True).array)), table.array
    )
    rows = pa.table({"x": [1.0, 2.0], "y": [3.0, 4.0]})
    with pa.OSFile(str(tmp_path / "s.arrow"), "wb") as file, pa.ipc.new_stream(file, rows.schema) as stream:
        stream.write_table(rows)
    assert read(tmp_path / "s.arrow").array.tolist() == [[1, 3], [2, 4]]
    assert next(iter(read(tmp_path / "s.arrow", stream=True).array)).tolist() == [[1, 3], [2, 4]]


def test_arrow_types(tmp_path: Path) -> None:
    table = pa.table(
        {
            "vector": pa.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], pa.list_(pa.float32())),
            "flag": [True, False, True],
            "kind": pa.array(["a", "b", "b"]).dictionary_encode(),
            "when": pa.array([0, 1, 2], pa.timestamp("s")),
        }
    )
    parquet.write_table(table, tmp_path / "t.parquet")
    found = read(tmp_path / "t.parquet")
    assert found.names == ("vector_0", "vector_1", "flag")
    assert found.array.tolist() == [[1, 2, 1], [3, 4, 0], [5, 6, 1]]
    assert found.labels.tolist() == ["a", "b", "b"]
    assert list(found.extra) == ["when"]
    parquet.write_table(
        pa.table({"x": [1.0, 2, 3], "post code": ["12345", "23456", "AB1"]}), tmp_path / "p.parquet"
    )
    ids = read(tmp_path / "p.parquet").ids
    assert ids is not None
    assert ids.tolist() == ["12345", "23456", "AB1"]  # the type of the column is text
    feather.write_feather(pa.table({"v": [[1.0], [1.0, 2.0]]}), tmp_path / "r.feather")
    with pytest.raises(InputFileError, match="different lengths"):
        read(tmp_path / "r.feather")


@pytest.mark.process
@pytest.mark.usefixtures("forked_python")
def test_arrays_are_copied_and_sparse_arrays_stay_sparse(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", X.astype(np.float32))
    table = read(tmp_path / "a.npy")
    assert table.array.dtype == np.float32
    streamed = read(tmp_path / "a.npy", stream=True).array
    (tmp_path / "a.npy").write_bytes((tmp_path / "a.npy").read_bytes()[:200])  # while both are in use
    np.testing.assert_array_equal(table.array, X.astype(np.float32))
    with pytest.raises(InputFileError, match="has become shorter"):
        list(streamed)
    np.save(tmp_path / "i.npy", np.arange(6).reshape(3, 2))
    assert read(tmp_path / "i.npy").array.dtype == np.float64
    np.save(tmp_path / "images.npy", np.arange(24.0).reshape(2, 3, 4))
    pictures = read(tmp_path / "images.npy")
    assert (pictures.array.shape, pictures.image_shape, pictures.kind) == ((2, 12), (3, 4), "images")
    S = sparse.random_array((8, 5), density=0.4, format="coo", random_state=0)
    sparse.save_npz(tmp_path / "s.npz", S)
    mmwrite(tmp_path / "s.mtx", S)
    for name in ("s.npz", "s.mtx"):
        found = read(tmp_path / name).array
        assert isinstance(found, sparse.csr_array)
        np.testing.assert_allclose(found.toarray(), S.toarray(), rtol=1e-12)
    np.savez(tmp_path / "b.npz", X=X, other=np.eye(3), y=np.arange(12), age=np.ones(12))
    table = read(tmp_path / "b.npz")
    assert table.labels.tolist() == list(range(12))
    assert list(table.extra) == ["age"]
    assert read(tmp_path / "b.npz", columns="other").array.shape == (3, 3)


def test_zarr(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    array = zarr.open_array(str(tmp_path / "a.zarr"), mode="w", shape=X.shape, chunks=(5, 3), dtype="f8")
    array[:] = X
    np.testing.assert_array_equal(read(tmp_path / "a.zarr").array, X)
    np.testing.assert_array_equal(np.concatenate(list(read(tmp_path / "a.zarr", stream=True).array)), X)


def test_images_become_rows(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    pictures = {number: (rng.random((6, 4)) * 255).astype(np.uint8) for number in (10, 2, 1)}
    for number, grey in pictures.items():
        Image.fromarray(grey).save(tmp_path / f"face{number}.png")
    table = read(tmp_path)
    assert table.ids.tolist() == ["face1.png", "face2.png", "face10.png"]
    assert (table.kind, table.image_shape) == ("images", (6, 4))
    np.testing.assert_allclose(table.array, [pictures[number].ravel() / 255 for number in (1, 2, 10)])
    small = read(tmp_path, size=(3, 2))
    assert small.array.shape == (3, 6)
    assert read(tmp_path, size=5).image_shape == (5, 5)
    Image.fromarray(np.zeros((5, 4, 3), np.uint8)).save(tmp_path / "face3.jpg")
    with pytest.raises(InputFileError, match=r"face3\.jpg is 5 x 4 and face1\.png is 6 x 4.*size"):
        read(tmp_path)
    assert read(tmp_path, size=4).array.shape == (4, 16)
    (tmp_path / "face4.png").write_bytes((tmp_path / "face1.png").read_bytes()[:40])
    with pytest.raises(InputFileError, match=r"face4\.png is damaged"):
        read(tmp_path, size=4)


def test_folders_of_images_are_labels(tmp_path: Path) -> None:
    for kind in ("cat", "dog"):
        (tmp_path / kind).mkdir()
        Image.fromarray(np.zeros((3, 3), np.uint8)).save(tmp_path / kind / "1.png")
    table = read(tmp_path)
    assert table.labels.tolist() == ["cat", "dog"]
    assert table.ids.tolist() == ["cat/1.png", "dog/1.png"]


@pytest.mark.long
@pytest.mark.usefixtures("readers_here")
def test_coordinates_are_added_to_annotated_data(tmp_path: Path) -> None:
    anndata = pytest.importorskip("anndata")
    import pandas as pd

    obs = pd.DataFrame({"depth": np.arange(12.0), "cell": pd.Categorical(LABELS)}, index=IDS)
    given_data = anndata.AnnData(
        sparse.csr_matrix(np.maximum(X, 0)), obs=obs, var=pd.DataFrame(index=["g1", "g2", "g3"])
    )
    given_data.write_h5ad(tmp_path / "in.h5ad")
    table = read(tmp_path / "in.h5ad")
    np.testing.assert_array_equal(table.array.toarray(), np.maximum(X, 0))
    assert (table.labels.tolist(), table.ids.tolist(), table.names) == (LABELS, IDS, ("g1", "g2", "g3"))
    assert table.extra["depth"].tolist() == list(range(12))
    assert read(tmp_path / "in.h5ad", columns=["g3", "g1"]).array.shape == (12, 2)
    write_table(tmp_path / "out.h5ad", X[:, :2], like=tmp_path / "in.h5ad", method="isomap")
    back = anndata.read_h5ad(tmp_path / "out.h5ad")
    np.testing.assert_array_equal(back.obsm["X_isomap"], X[:, :2])
    assert back.obs["cell"].tolist() == LABELS
    with pytest.raises(InputFileError, match="12 observations, but there are 5 rows"):
        write_table(tmp_path / "wrong.h5ad", X[:5], like=tmp_path / "in.h5ad")
    assert not (tmp_path / "wrong.h5ad").exists()


def test_annotated_data_without_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(MissingDependencyError, match=r'pip install "eigenscape\[anndata\]"'):
        read(text(tmp_path, "x", "a.h5ad"))


_WITHOUT_EXTRAS = """
import sys
for package in ("anndata", "dask", "PIL", "pyarrow", "zarr", "zstandard"):
    sys.modules[package] = None
import numpy as np
import eigenscape
import eigenscape.io
from eigenscape.exceptions import MissingDependencyError
folder = sys.argv[1]
X = np.arange(12.0).reshape(4, 3)
for suffix in ("npy", "npz", "mtx"):
    eigenscape.io.write_table(f"{folder}/t.{suffix}", X)
    assert np.array_equal(eigenscape.read(f"{folder}/t.{suffix}").array, X)
    assert np.array_equal(np.concatenate(list(eigenscape.read(f"{folder}/t.{suffix}", stream=True).array)), X)
model = eigenscape.PCA(1).fit(X)
eigenscape.save(model, f"{folder}/m")
assert np.array_equal(eigenscape.load(f"{folder}/m").transform(X), model.transform(X))
calls = [lambda name=name: eigenscape.read(f"{folder}/{name}") for name in sys.argv[2:]]
calls += [
    lambda: eigenscape.read(f"{folder}/a.csv", stream=True),
    lambda: eigenscape.read(f"{folder}/t.npy", dask=True),
    lambda: eigenscape.io.write_table(f"{folder}/b.csv", X),
    lambda: eigenscape.io.write_table(f"{folder}/b.parquet", X),
    lambda: eigenscape.io.write_table(f"{folder}/b.h5ad", X),
]
for call in calls:
    try:
        call()
    except MissingDependencyError as error:
        print(error)
"""


@pytest.mark.process
@pytest.mark.usefixtures("forked_libraries")
def test_files_without_optional_packages(tmp_path: Path) -> None:
    """Arrays and models need the core only; other formats raise an error with the package and the remedy."""
    names = ["a.csv", "a.csv.gz", "a.parquet", "a.arrow", "a.h5ad", "a.zarr", "images"]
    for name in names[:5]:
        (tmp_path / name).write_text("x,y\n1,2\n")
    (tmp_path / "a.zarr").mkdir()
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "1.png").write_text("")
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_EXTRAS, str(tmp_path), *names],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = done.stdout.splitlines()
    packages = ["pyarrow"] * 4 + ["anndata", "zarr", "PIL", "pyarrow", "dask"]
    packages += ["pyarrow", "pyarrow", "anndata"]
    assert [line.split("needs the package ")[1].split(",")[0] for line in lines] == packages
    assert all("install it with: pip install " in line for line in lines)


@pytest.mark.process
def test_reading_a_text_table_does_not_import_scikit_learn(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n3,4\n")
    code = "import sys, eigenscape; eigenscape.read(sys.argv[1]); print('sklearn' in sys.modules)"
    command = [sys.executable, "-c", code, str(tmp_path / "a.csv")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"


# --- distances and edges ------------------------------------------------------------------------------------


def test_matrices_of_distances_are_checked(tmp_path: Path) -> None:
    D = cdist(X, X)
    np.save(tmp_path / "d.npy", D)
    table = read(tmp_path / "d.npy", kind="distances")
    assert table.kind == "distances"
    eigenscape.ClassicalMDS(metric="precomputed").fit(table.array)
    names = ",".join(["", *IDS])
    rows = "\n".join(",".join([name, *map(repr, map(float, row))]) for name, row in zip(IDS, D, strict=True))
    named = read(text(tmp_path, f"{names}\n{rows}\n"), kind="distances")
    assert named.ids.tolist() == IDS
    np.testing.assert_array_equal(named.array, D)
    bare = read(text(tmp_path, "0,1\n1,0\n", "bare.csv"), kind="distances")
    assert bare.array.tolist() == [[0, 1], [1, 0]]
    wrong = {
        "square": D[:5],
        "not symmetric": D + np.triu(D),
        "to itself is 1": D + np.eye(12),
        "negative": -D,
    }
    for message, matrix in wrong.items():
        np.save(tmp_path / "w.npy", matrix)
        with pytest.raises(InputFileError, match=message):
            read(tmp_path / "w.npy", kind="distances")
    np.save(tmp_path / "a.npy", np.exp(-D))
    assert read(tmp_path / "a.npy", kind="affinities").kind == "affinities"


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("e.csv", "source,target,weight\na,b,1\nb,c,2\nc,b,2\n"),
        ("e.csv", "weight,target,source\n1,a,b\n2,b,c\n"),
        ("e.edges", "# a comment\na b 1\nb   c 2\n"),
        ("e.tsv", "a\tb\t1\nb\tc\t2\n"),
    ],
)
def test_edge_lists_become_symmetric_matrices(tmp_path: Path, name: str, content: str) -> None:
    table = read(text(tmp_path, content, name), kind="edges")
    assert isinstance(table.array, sparse.csr_array)
    assert table.ids.tolist() == ["a", "b", "c"]
    assert table.array.toarray().tolist() == [[0, 1, 0], [1, 0, 2], [0, 2, 0]]


def test_edges_in_parquet_without_weights(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"from": [1, 2, 3], "to": [2, 3, 1]}), tmp_path / "e.parquet")
    table = read(tmp_path / "e.parquet", kind="edges")
    assert table.array.sum() == 6
    assert (table.array != table.array.T).nnz == 0
    for weight, message in (("-1", "is -1"), ("x", "not numbers")):
        with pytest.raises(InputFileError, match=message):
            read(text(tmp_path, f"source,target,weight\na,b,{weight}\n"), kind="edges")


# --- invalid files ------------------------------------------------------------------------------------------


def _parquet_cut() -> bytes:
    buffer = io.BytesIO()
    parquet.write_table(pa.table({"x": np.arange(1000.0)}), buffer)
    return buffer.getvalue()[:1500]


def _npy(array: np.ndarray, cut: int | None = None) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, allow_pickle=True)
    return buffer.getvalue()[:cut]


def _npz(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def _bomb() -> bytes:
    """Return an archive that declares an array of 2**50 bytes."""
    shape = {"descr": "<f8", "fortran_order": False, "shape": (2**27, 2**20)}
    header = np.lib.format.magic(1, 0) + b"\x76\x00" + str(shape).ljust(117).encode() + b"\n"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("X.npy", header + bytes(1000))
    return buffer.getvalue()


BAD: dict[str, tuple[str, str | bytes, str]] = {
    "empty": ("a.csv", "", "is empty"),
    "blank": ("a.csv", "\n \n", "is empty"),
    "names alone": ("a.csv", "x,y\n", "no rows"),
    "ragged": ("a.csv", "x,y\n1,2\n3\n4,5\n", "line 3 has 1 cells instead of 2"),
    "ragged late": ("a.csv", "x,y\n" + 5 * "1,2\n" + "1,2,3\n", "line 7 has 3 cells instead of 2"),
    "a word among numbers": ("a.csv", "x,y\n1,2\n3,abc\n4,5\n", "column 'y' .* except for 'abc' in line 3"),
    "a word among gaps": (
        "a.csv",
        "x,y\n1,2\n3,None\n4,abc\n5,6\n6,7\n",
        "except for 'abc' in line 4; .*--missing drop",
    ),
    "an empty column": ("a.csv", "x,q,y\n1,,2\n3,,4\n", "column 'q' .* is empty; .*--exclude q"),
    "a remark": ("a.csv", "# made by me\nx,y\n1,2\n", "first line is a comment"),
    "thousands": (
        "a.csv",
        'x,y\n"1,234",2\n"2,345",3\n',
        "contains numbers such as '1,234'; write them without commas",
    ),
    "words alone": ("a.csv", "a,b\nc,d\ne,f\n", "no numeric column; its first line is 'a', 'b'"),
    "Latin-1": (
        "a.csv",
        "x,name\n1,b\n2,é\n".encode("latin1"),
        "not UTF-8: byte 0xe9 in line 3.*save it as UTF-8",
    ),
    "binary": ("a.csv", b"\x00\x01\x02\x03,\n", "binary data"),
    "a million columns": ("a.csv", ",".join(["1.5"] * 1_000_000) + "\n", "1000000 columns.*npy or parquet"),
    "two names": ("a.csv", "x,x\n1,2\n3,4\n", "two columns named 'x'"),
    "cut parquet": ("a.parquet", _parquet_cut(), "damaged, truncated"),
    "text as parquet": ("a.parquet", "x,y\n1,2\n", "damaged, truncated or not a file in parquet format"),
    "text as arrow": ("a.arrow", "x,y\n1,2\n", "damaged, truncated or not a file in arrow format"),
    "pickle as npy": ("a.npy", pickle.dumps({"a": 1}), "pickles .* are not loaded"),
    "objects as npy": ("a.npy", _npy(np.array([[{}]], dtype=object)), "objects are not loaded"),
    "cut npy": ("a.npy", _npy(X, 150), "is truncated"),
    "one-dimensional": ("a.npy", _npy(X[0]), r"shape \(3,\)"),
    "no rows": ("a.npy", _npy(X[:0]), r"empty: .* \(0, 3\)"),
    "complex": ("a.npy", _npy(X.astype(complex)), "not real numbers"),
    "text array": ("a.npy", _npy(np.array([["a", "b"]])), "not real numbers"),
    "objects as npz": (
        "a.npz",
        _npz(X=np.array([[{}]], dtype=object)),
        "contains objects, which are not loaded",
    ),
    "two arrays": ("a.npz", _npz(A=X, B=X), "matrix to read is ambiguous"),
    "no archive": ("a.npz", "hello", "is damaged"),
    "promises": ("a.npz", _bomb(), "damaged|more than is available"),
    "no matrix": ("a.mtx", "hello", "not a Matrix Market file"),
    "no h5ad": ("a.h5ad", "hello", "damaged or not an h5ad"),
    "unknown": ("a.xyz", "1,2\n", "unsupported file extension '.xyz'"),
    "an image": ("a.png", "1,2\n", "use the folder"),
    "no suffix": ("a", "1,2\n", "unsupported file extension ''"),
    "comments": ("a.edges", "# nothing\n", "no edges"),
    "lonely": ("a.edges", "a\nb\n", "source and a target"),
    "not packed": ("a.csv.gz", "x,y\n1,2\n", "cannot be decompressed"),
}


@pytest.mark.process
@pytest.mark.usefixtures("forked_python")
@pytest.mark.parametrize("kind", list(BAD))
def test_errors_name_the_file_the_place_and_the_remedy(tmp_path: Path, kind: str) -> None:
    name, content, message = BAD[kind]
    path = text(tmp_path, content, name)
    with pytest.raises(InputFileError, match=message) as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_paths_that_are_not_files(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match="does not exist"):
        read(tmp_path / "none.csv")
    with pytest.raises(InputFileError, match="is a directory without images or parquet files"):
        read(tmp_path)
    with pytest.raises(ValueError, match="kind='table' must be one of"):
        read(text(tmp_path, "1,2\n"), kind="table")


def test_a_table_of_one_row(tmp_path: Path) -> None:
    table = read(text(tmp_path, "x,y\n1,2\n"))
    assert table.array.shape == (1, 2)
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        eigenscape.KernelPCA().fit(table.array)


def test_errors_of_write_table(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unsupported file extension; tables are written as"):
        write_table(tmp_path / "a.xls", X)
    with pytest.raises(ValueError, match="'label' has 2 values for 12 rows"):
        write_table(tmp_path / "a.csv", X, labels=["a", "b"])
    with pytest.raises(ValueError, match="2 names for 3 columns"):
        write_table(tmp_path / "a.csv", X, names=["a", "b"])
    with pytest.raises(ValueError, match="two columns are named 'x0'"):
        write_table(tmp_path / "a.csv", X, extra={"x0": np.ones(12)})
    assert list(tmp_path.iterdir()) == []


def test_repr_of_a_table() -> None:
    assert repr(Table(X, source="a.csv")) == "Table(rows, (12, 3), labels=False, ids=False, source='a.csv')"


# --- larger than memory -------------------------------------------------------------------------------------

_LARGE = """
import json, resource, sys
import numpy as np
import eigenscape
from eigenscape.options import Dictionary
path = sys.argv[1]
small = np.random.default_rng(0).random((200, 8))
# load compiled code first
eigenscape.GreedySpectralEmbedding(dictionary=Dictionary(10), gamma=1.0).fit([small])
resource.setrlimit(resource.RLIMIT_DATA, (800_000_000, 800_000_000))
table = eigenscape.read(path, stream=True)
model = eigenscape.GreedySpectralEmbedding(dictionary=Dictionary(20), gamma=1e-3).fit(table.array)
# Not ru_maxrss, which includes the size of the parent when the process was started.
peak = next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM:"))
print(json.dumps({"n": int(model.n_samples_seen_), "peak": peak}))
"""


HEADERS = {
    "0,1,2\n0.5,1.5,2.5\n3.5,4.5,5.5\n": (2, ("0", "1", "2"), "are names"),
    "0,1,2\n3,4,5\n6,7,8\n": (3, ("x0", "x1", "x2"), "are values"),
    "1,2,3\n4,5,6\n": (2, ("x0", "x1", "x2"), "are values"),
    "2001,2002,2003\n4,5,6\n7,8,9\n": (2, ("2001", "2002", "2003"), "are names"),
    "3,1,2\n4.5,5,6\n": (2, ("x0", "x1", "x2"), ""),
    "a,b\n1,2\n3,4\n": (2, ("a", "b"), ""),
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("text", HEADERS)
def test_numbers_in_the_first_line(tmp_path: Path, text: str, stream: bool) -> None:
    n_rows, names, decision = HEADERS[text]
    path = tmp_path / "a.csv"
    path.write_text(text)
    table = read(path, stream=stream)
    rows = np.concatenate(list(table.array)) if stream else table.array
    assert (len(rows), table.names) == (n_rows, names)
    said = [remark for remark in table.remarks if "first line" in remark]
    assert [("are names" if "header=False" in each else "are values") for each in said] == [decision][
        : len(said)
    ]
    assert bool(said) == bool(decision)
    n_lines = text.count("\n")
    assert len(read(path, header=True).array) == n_lines - 1
    if "a" not in text:
        assert len(read(path, header=False).array) == n_lines


def test_row_names_are_unique(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a;b\n" + "".join(f"{i};{i / 2};1\n" for i in range(1, 80)))
    assert read(path).id_name == "row"
    path.write_text(path.read_text() + "5;2.5;1\n")  # a repeated number, in no line of the sample
    with pytest.raises(InputFileError, match="neither row names"):
        read(path)
    path.write_text("a,b\n1,5,2,5\n2,5,3,5\n")
    with pytest.raises(InputFileError, match="line 2 has 4 cells instead of 2"):
        read(path)


@pytest.mark.process
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="needs /proc/self/status")
@pytest.mark.product
def test_a_file_larger_than_memory_is_embedded(tmp_path: Path) -> None:
    """A sparse file of 1.2 GB is read with 800 MB of data and less than 1.1 GB in total."""
    rows, columns = 19_000, 8_192
    array = np.lib.format.open_memmap(
        tmp_path / "large.npy", mode="w+", dtype=np.float64, shape=(rows, columns)
    )
    array[::1000] = np.random.default_rng(0).random((rows // 1000, columns))
    array.flush()
    del array
    assert (tmp_path / "large.npy").stat().st_size > 1.2e9
    done = subprocess.run(
        [sys.executable, "-c", _LARGE, str(tmp_path / "large.npy")],
        capture_output=True,
        text=True,
        timeout=300,
    )
    (tmp_path / "large.npy").unlink()
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout)
    assert found["n"] == rows
    assert found["peak"] < 1.1e9
