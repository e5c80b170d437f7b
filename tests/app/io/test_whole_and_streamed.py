"""Every format gives the same table whether it is read whole or in chunks."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from covering import PRODUCT
from fuzz.comparing import differences, in_memory
from pyarrow import csv, feather, parquet
from scipy import sparse

import eigenscape.streams
from eigenscape import read
from eigenscape.app.io import text
from eigenscape.exceptions import InputFileError

pytestmark = pytest.mark.usefixtures("readers_here")
N = 26
RNG = np.random.default_rng(0)
VECTORS = RNG.normal(size=(N, 3))
FLOATS = pa.list_(pa.float64())


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "BLOCK_BYTES", 64 if PRODUCT else 128)
    monkeypatch.setattr(eigenscape.streams, "CHUNK_BYTES", 80)


def columns(gap: bool) -> dict[str, Any]:
    return {
        "id": pa.array([2**60 + i for i in range(N)]),
        "x": pa.array([None if gap and i % 9 == 4 else i / 3 for i in range(N)]),
        "n": pa.array([i * i for i in range(N)]),
        "flag": pa.array([i % 3 == 0 for i in range(N)]),
        "kind": pa.array([None if i == 5 else "ab"[i % 2] for i in range(N)]),
    }


def write_text(path: Path, table: pa.Table) -> None:
    delimiter = "\t" if ".tsv" in path.name else ","
    with pa.output_stream(str(path), compression="detect") as file:
        csv.write_csv(table, file, csv.WriteOptions(delimiter=delimiter))


def write_stream(path: Path, table: pa.Table) -> None:
    with pa.ipc.new_stream(str(path), table.schema) as file:
        file.write_table(table, max_chunksize=7)


def write_npz(path: Path, table: pa.Table) -> None:
    X = np.column_stack([np.asarray(table[name].cast(pa.float64())) for name in ("x", "n")])
    np.savez(
        path, X=X, labels=np.asarray(table["kind"].fill_null("").to_pylist()), ids=np.asarray(table["id"])
    )


def write_h5ad(path: Path, table: pa.Table) -> None:
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    X = np.column_stack([np.asarray(table[name].cast(pa.float64())) for name in ("x", "n")])
    obs = pandas.DataFrame({"kind": ["ab"[i % 2] for i in range(N)]}, index=[f"r{i}" for i in range(N)])
    anndata.AnnData(X, obs=obs).write_h5ad(path)


def write_zarr(path: Path, table: pa.Table) -> None:
    zarr = pytest.importorskip("zarr")
    zarr.save_array(
        str(path), np.column_stack([np.asarray(table[name].cast(pa.float64())) for name in ("x", "n")])
    )


def write_npy(path: Path, table: pa.Table) -> None:
    np.save(path, np.column_stack([np.asarray(table[name].cast(pa.float64())) for name in ("x", "n")]))


WRITERS: dict[str, Callable[[Path, pa.Table], None]] = {
    **dict.fromkeys(("csv", "tsv", "txt", "csv.gz", "csv.bz2", "tsv.zst"), write_text),
    "parquet": lambda path, table: parquet.write_table(table, path, row_group_size=7),
    "arrow": lambda path, table: feather.write_feather(table, str(path), chunksize=7),
    "feather": lambda path, table: feather.write_feather(table, str(path), chunksize=9, compression="zstd"),
    "ipc": write_stream,
    "npy": write_npy,
    "npz": write_npz,
    "zarr": write_zarr,
    "h5ad": write_h5ad,
}


@pytest.mark.long
@pytest.mark.parametrize(
    "missing",
    [
        "drop",
        *(
            pytest.param(one, marks=pytest.mark.long)
            for one in (("error", "keep", "mean") if PRODUCT else ["mean"])
        ),
    ],
)
@pytest.mark.parametrize("suffix", WRITERS)
def test_streamed_equals_whole(tmp_path: Path, suffix: str, missing: str) -> None:
    table = pa.table(columns(gap=missing != "error"))
    if WRITERS[suffix] is not write_text:
        table = table.append_column("v", pa.array(VECTORS.tolist(), FLOATS))
    path = tmp_path / f"t.{suffix}"
    WRITERS[suffix](path, table)
    options: list[dict[str, Any]] = [{}]
    if suffix in ("npy", "zarr", "npz"):
        options += [{"columns": ["x0"]}, {"columns": "x?", "exclude": "x1"}]
    elif suffix != "h5ad":
        options += [{"columns": ["n", "x"], "label": "flag"}, {"id": "kind", "label": "id"}]
        options += [{"columns": ["x*", "n*"], "exclude": "f*"}]
        options += [{"encode": "onehot", "exclude": "flag"}] if missing in ("keep", "mean") else []
    if "." in suffix and not PRODUCT:  # compressed: a choice of columns is that of csv and tsv
        del options[1:]
    for option in options:
        whole = read(path, missing=missing, **option)
        assert differences(read(path, missing=missing, stream=True, **option), whole) == []
        assert len(whole.array) == (N if missing != "drop" else N - 3)


@pytest.mark.parametrize("dtype", ["f4", ">f8", "f2", "i2", "i8", "u8", "?"])
def test_types_of_streamed_arrays(tmp_path: Path, dtype: str) -> None:
    array = (RNG.normal(size=(N, 3)) * 100).astype("i2").clip(0).astype(dtype)
    np.save(tmp_path / "t.npy", array)
    np.save(tmp_path / "i.npy", array.reshape(N // 2, 2, 3))
    for name in ("t.npy", "i.npy"):
        assert differences(read(tmp_path / name, stream=True), read(tmp_path / name)) == []


def test_sparse_matrices_are_the_same_streamed(tmp_path: Path) -> None:
    from scipy.io import mmwrite

    matrix = sparse.random_array((N, 6), density=0.3, format="csr", random_state=0)
    sparse.save_npz(tmp_path / "t.npz", matrix)
    mmwrite(tmp_path / "t.mtx", matrix)
    for name in ("t.npz", "t.mtx"):
        assert differences(read(tmp_path / name, stream=True), read(tmp_path / name)) == []


def count_parses(path: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> int:
    """Return how often a block of a streamed text table is parsed before its chunks are requested."""
    calls, parse = [], text.parse_text

    def record(*args: Any) -> Any:
        calls.append(args)
        return parse(*args)

    with monkeypatch.context() as patched:
        patched.setattr(text, "parse_text", record)
        read(path, stream=True, **options)
    return len(calls)


WIDE: dict[str, tuple[Callable[[int, int], str], dict[str, Any]]] = {
    "integers": (lambda row, column: str(row * column % 7), {}),
    "counters": (lambda row, column: str(row), {}),  # noqa: ARG005
    "words": (lambda row, column: f"w{row * column % 2}", {}),
    "categories": (lambda row, column: f"w{row * column % 2}", {"encode": "onehot"}),
    "booleans": (lambda row, column: "true" if row < 6 else "01"[(row + column) % 2], {}),
}


@pytest.mark.long
@pytest.mark.parametrize("kind", WIDE)
def test_passes_over_a_streamed_text_do_not_grow_with_its_columns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    cell, options = WIDE[kind]
    counts = []
    for width in (3, 20):
        path = tmp_path / f"{width}.csv"
        rows = [["x", *(f"c{i}" for i in range(width))]]
        rows += [[f"{row}.5", *(cell(row, i) for i in range(width))] for row in range(30)]
        path.write_text("".join(",".join(row) + "\n" for row in rows))
        monkeypatch.setattr(text, "BLOCK_BYTES", 6 * len(",".join(rows[1])))
        counts.append(count_parses(path, monkeypatch, **options))
        assert differences(read(path, stream=True, **options), read(path, **options)) == []
    assert counts[1] <= counts[0]


@pytest.mark.long
def test_many_columns_of_different_words_in_one_block(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "BLOCK_BYTES", 2**20)
    rows = [["x", *(f"c{i}" for i in range(50))]]
    rows += [[f"{row}.5", *(f"w{row}_{i}" for i in range(50))] for row in range(5)]
    (tmp_path / "t.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    assert count_parses(tmp_path / "t.csv", monkeypatch) < 10
    assert differences(read(tmp_path / "t.csv", stream=True), read(tmp_path / "t.csv")) == []


@pytest.mark.long
def test_integers_among_booleans_streamed(tmp_path: Path) -> None:
    """0 and 1 are booleans, 7 and 01 are not; blocks have one row or two."""
    column = {
        "b": ["true", "1", "", "0", "false"],
        "s": ["true", "7", "NA", "false", "true"],
        "z": ["false", "01", "", "true", "true"],
        "t": ["false", " 1", "", "true", "true"],
    }
    lines = [",".join(["x" * 60, *column])]
    lines += [",".join([f"{row}.5" + "0" * 40, *(c[row % 5] for c in column.values())]) for row in range(N)]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    for options in ({}, {"columns": ["x*", "b"]}, {"label": "s"}):
        whole = read(tmp_path / "t.csv", missing="keep", **options)
        assert "b" in whole.names
        assert not {"s", "z", "t"} & set(whole.names)
        assert differences(read(tmp_path / "t.csv", missing="keep", stream=True, **options), whole) == []


KINDS = {
    "list": FLOATS,
    "large list": pa.large_list(pa.float64()),
    "fixed list": pa.list_(pa.float64(), 3),
    "single precision": pa.list_(pa.float32()),
    "tensor": pa.fixed_shape_tensor(pa.float64(), (3,)),
}


def write_both(folder: Path, table: pa.Table) -> list[Path]:
    paths = [folder / "t.arrow", folder / "t.ipc"]
    feather.write_feather(table, str(paths[0]), chunksize=7)
    write_stream(paths[1], table)
    try:
        parquet.write_table(table, folder / "t.parquet", row_group_size=7)
    except pa.ArrowNotImplementedError:
        return paths
    return [*paths, folder / "t.parquet"]


@pytest.mark.parametrize("kind", KINDS)
def test_lists_are_columns_whole_and_streamed(tmp_path: Path, kind: str) -> None:
    dtype = KINDS[kind]
    storage = dtype.storage_type if isinstance(dtype, pa.BaseExtensionType) else dtype
    lists = pa.array(VECTORS.astype(np.float32 if kind == "single precision" else float).tolist(), storage)
    if storage is not dtype:
        lists = pa.ExtensionArray.from_storage(dtype, lists)
    for path in write_both(tmp_path, pa.table({"a": VECTORS[:, 0], "v": lists, "b": VECTORS[:, 1]})):
        whole = read(path)
        assert whole.names == ("a", "v_0", "v_1", "v_2", "b")
        assert whole.label_name is None
        np.testing.assert_allclose(whole.array[:, 1:4], VECTORS, rtol=1e-6)
        assert differences(read(path, stream=True), whole) == []


def test_missing_lists_are_missing_values(tmp_path: Path) -> None:
    lists: list[Any] = VECTORS.tolist()
    lists[0] = lists[7] = None
    for path in write_both(tmp_path, pa.table({"a": VECTORS[:, 0], "v": pa.array(lists, FLOATS)})):
        for missing, n in (("drop", N - 2), ("keep", N)):
            whole = read(path, missing=missing)
            assert whole.array.shape == (n, 4)
            assert differences(read(path, missing=missing, stream=True), whole) == []


def refused(path: Path, message: str) -> None:
    for stream in (False, True):
        with pytest.raises(InputFileError, match=message):
            in_memory(read(path, stream=stream))


def test_lists_of_unequal_length_are_refused_with_the_row(tmp_path: Path) -> None:
    lists = VECTORS.tolist()
    lists[23] = [1.0]
    for path in write_both(tmp_path, pa.table({"a": VECTORS[:, 0], "v": pa.array(lists, FLOATS)})):
        refused(path, r"'v' .* 3 in the first row, 1 in row 24")


@pytest.mark.parametrize("item", [[], None])
def test_empty_lists_are_an_empty_column(tmp_path: Path, item: Any) -> None:
    table = pa.table({"a": VECTORS[:, 0], "v": pa.array([item] * N, FLOATS)})
    for path in write_both(tmp_path, table):
        refused(path, "column 'v' of .* is empty; exclude it")
        for options in ({"missing": "keep"}, {"columns": "a"}):
            assert differences(read(path, stream=True, **options), read(path, **options)) == []


def test_names_that_occur_twice_are_refused(tmp_path: Path) -> None:
    lists = pa.array(VECTORS.tolist(), FLOATS)
    numbers = pa.array(VECTORS[:, 0])
    for path in write_both(tmp_path, pa.table([lists, numbers], names=["v", "v_0"])):
        refused(path, "two columns named 'v_0', one of them item 0 of 'v'")
    for path in write_both(tmp_path, pa.table([numbers, numbers], names=["a", "a"])):
        refused(path, "2 columns named 'a'")
    (tmp_path / "t.csv").write_text("a,a\n" + "1,2\n" * N)
    refused(tmp_path / "t.csv", "two columns named 'a'")


def test_nested_columns_are_not_labels(tmp_path: Path) -> None:
    nested = [
        pa.array([[[1.0], [2.0]]] * N),
        pa.array([{"p": 1.0}] * N),
        pa.array([[("k", 1)]] * N, pa.map_(pa.string(), pa.int64())),
    ]
    for column in nested:
        for path in write_both(tmp_path, pa.table({"a": VECTORS[:, 0], "s": column})):
            whole = read(path)
            assert whole.labels is None
            assert "column 's' contains" in whole.remarks[0]
            assert differences(read(path, stream=True), whole) == []


def test_encoded_numbers_are_features(tmp_path: Path) -> None:
    numbers = pa.array([1.5, 2.5] * (N // 2)).dictionary_encode()
    for path in write_both(tmp_path, pa.table({"a": VECTORS[:, 0], "b": numbers})):
        assert read(path).names == ("a", "b")
        assert differences(read(path, stream=True), read(path)) == []


def test_ids_beyond_2_53_with_a_missing_one_are_exact(tmp_path: Path) -> None:
    ids = [2**60 + i for i in range(N - 1)]
    for path in write_both(tmp_path, pa.table({"id": pa.array([*ids, None]), "a": VECTORS[:, 0]})):
        whole = read(path)
        assert whole.ids is not None
        assert whole.ids.tolist() == [*map(str, ids), ""]
        assert differences(read(path, stream=True), whole) == []


def test_files_without_rows(tmp_path: Path) -> None:
    for path in write_both(tmp_path, pa.table({"a": VECTORS[:0, 0], "k": pa.array([], pa.string())})):
        refused(path, "no rows")
    for suffix, compress in (("gz", gzip.compress), ("bz2", bz2.compress)):
        (tmp_path / f"t.csv.{suffix}").write_bytes(compress(b"x,y\n"))
        refused(tmp_path / f"t.csv.{suffix}", "no rows")


def test_categories_with_unsigned_codes(tmp_path: Path) -> None:
    """As polars writes them."""
    codes = pa.array([None if i == 3 else i % 2 for i in range(N)], pa.uint32())
    column = pa.DictionaryArray.from_arrays(codes, pa.array(["a", "b"]))
    for path in write_both(tmp_path, pa.table({"a": VECTORS[:, 0], "k": column})):
        whole = read(path)
        assert whole.labels is not None
        assert whole.labels.tolist()[:5] == ["a", "b", "a", "", "a"]
        assert differences(read(path, stream=True), whole) == []


def test_arrays_with_too_many_columns_are_refused(tmp_path: Path) -> None:
    sparse.save_npz(tmp_path / "t.npz", sparse.csr_array((3, 2**40)))
    refused(tmp_path / "t.npz", "1099511627776 columns")


def test_damaged_zarr_arrays_are_refused(tmp_path: Path) -> None:
    zarr = pytest.importorskip("zarr")
    zarr.save_array(str(tmp_path / "t.zarr"), VECTORS)
    for file in (tmp_path / "t.zarr").rglob("*"):
        if file.is_file() and "json" not in file.name and not file.name.startswith(".z"):
            file.write_bytes(b"damaged")
    refused(tmp_path / "t.zarr", "is damaged")
