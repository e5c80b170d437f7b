"""Files as other tools write them: the index of pandas, row names of R, spreadsheets, scanpy, polars."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.comparing import differences
from scipy import sparse

from eigenscape import read
from eigenscape.app.io.writing import write_table
from eigenscape.exceptions import InputFileError

pytestmark = pytest.mark.usefixtures("readers_here")
pd = pytest.importorskip("pandas")
N = 30
RNG = np.random.default_rng(0)


def frame() -> Any:
    numbers = pd.DataFrame(RNG.normal(size=(N, 3)), columns=["px0", "px1", "px2"])
    numbers["angle"] = RNG.integers(0, 90, N)
    return numbers.assign(kind=["ab"[i % 2] for i in range(N)], sample=[f"s{i}" for i in range(N)])


def both(path: Path, **options: Any) -> Any:
    """Read a file whole, which must be the same as in chunks."""
    whole = read(path, **options)
    assert differences(read(path, stream=True, **options), whole) == []
    return whole


# --- text ---------------------------------------------------------------------------------------------------


def test_csv_of_pandas_and_of_r_with_row_names(tmp_path: Path) -> None:
    table = frame().drop(columns="sample").set_index(pd.Index([f"r{i}" for i in range(N)]))
    table.to_csv(tmp_path / "pandas.csv")
    lines = [",".join(f'"{name}"' for name in table.columns)]
    lines += [
        ",".join([f'"{row}"', *(str(v) for v in cells[:-1]), f'"{cells[-1]}"'])
        for row, *cells in table.itertuples()
    ]
    (tmp_path / "r.csv").write_text("\n".join(lines) + "\n")  # write.csv(table), without a name for them
    for name in ("pandas.csv", "r.csv"):
        found = both(tmp_path / name)
        assert found.names == ("px0", "px1", "px2", "angle")
        assert (found.label_name, found.ids[:2].tolist()) == ("kind", ["r0", "r1"])
        np.testing.assert_allclose(found.array, table.iloc[:, :4])


def test_csv_of_a_german_spreadsheet(tmp_path: Path) -> None:
    table = frame()
    table.to_csv(tmp_path / "t.csv", sep=";", decimal=",", index=False, encoding="utf-8-sig")
    found = both(tmp_path / "t.csv", columns="px*")
    np.testing.assert_allclose(found.array, table[["px0", "px1", "px2"]])
    assert (found.label_name, found.id_name) == ("kind", "sample")


# --- columns ------------------------------------------------------------------------------------------------

WRITERS = {
    "csv": lambda table, path: table.to_csv(path, index=False),
    "parquet": lambda table, path: table.to_parquet(path),
    "feather": lambda table, path: table.to_feather(path),
}


@pytest.mark.parametrize("suffix", WRITERS)
def test_wildcards_and_exclusions(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"t.{suffix}"
    WRITERS[suffix](frame(), path)
    for options, names in (
        ({"columns": "px*"}, ("px0", "px1", "px2")),
        ({"columns": ["angle", "px[01]"]}, ("angle", "px0", "px1")),
        ({"columns": "*", "exclude": "angle"}, ("px0", "px1", "px2")),
        ({"exclude": ["px?"]}, ("angle",)),
    ):
        found = both(path, **options)
        assert found.names == names
        assert (found.label_name, found.id_name) == ("kind", "sample")
    assert both(path, exclude=["kind", "sample"]).label_name is None
    assert both(path).dtypes == ("float", "float", "float", "int")
    for options, message in (
        ({"columns": "pz*"}, "no column of .* matches 'pz\\*'"),
        ({"exclude": "angel"}, "no column 'angel'"),
        ({"columns": "dtype:int"}, "no column 'dtype:int'"),  # types choose no columns
        ({"columns": "sam*"}, "no column of .* matches"),
        ({"columns": ["kind"]}, "--encode onehot"),
    ):
        with pytest.raises(InputFileError, match=message):
            read(path, **options)


def test_a_column_with_a_star_in_its_name_is_meant_by_it(tmp_path: Path) -> None:
    pd.DataFrame({"a*": [1.0, 2.0], "ab": [3.0, 4.0]}).to_csv(tmp_path / "t.csv", index=False)
    assert both(tmp_path / "t.csv", columns="a*").names == ("a*",)


def test_mistakes_in_columns_that_are_not_used_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,y\n" + "1,2\n" * 9 + "3,oops\n")
    with pytest.raises(InputFileError, match="'oops' in line 11"):
        read(tmp_path / "t.csv")
    assert both(tmp_path / "t.csv", exclude="y").names == ("x",)
    assert both(tmp_path / "t.csv", columns="x*").names == ("x",)


def test_text_that_is_unique_is_an_id_and_text_that_repeats_a_label(tmp_path: Path) -> None:
    table = frame()[["sample", "kind", "px0"]]
    table.to_csv(tmp_path / "t.csv", index=False)
    found = both(tmp_path / "t.csv")
    assert (found.label_name, found.id_name) == ("kind", "sample")
    table.drop(columns="kind").to_csv(tmp_path / "t.csv", index=False)
    found = both(tmp_path / "t.csv")
    assert (found.label_name, found.id_name) == (None, "sample")


@pytest.mark.parametrize("suffix", WRITERS)
def test_encoded_categories(tmp_path: Path, suffix: str) -> None:
    table = frame().assign(
        color=pd.Categorical(["red", "blue", None] * (N // 3)), other=["none", "x"] * (N // 2)
    )
    WRITERS[suffix](table, tmp_path / f"t.{suffix}")
    found = both(
        tmp_path / f"t.{suffix}", encode="onehot", missing="keep", label="kind", columns=["color", "o*"]
    )
    assert found.names == ("color_blue", "color_red", "other_none", "other_x")
    assert found.categories == {"color": ("blue", "red"), "other": ("none", "x")}
    expected = [[0, 1, 1, 0], [1, 0, 0, 1], [np.nan, np.nan, 1, 0]]
    np.testing.assert_array_equal(found.array[:3], expected)
    dropped = both(tmp_path / f"t.{suffix}", encode="onehot", missing="drop")
    assert dropped.n_dropped == N // 3
    assert dropped.rows.tolist() == [i for i in range(N) if i % 3 < 2]


def test_columns_of_many_texts_are_not_encoded(tmp_path: Path) -> None:
    pd.DataFrame({"x": range(500), "t": [f"t{i % 300}" for i in range(500)]}).to_csv(tmp_path / "t.csv")
    with pytest.raises(InputFileError, match=r"more than 200 different values.*--exclude t"):
        read(tmp_path / "t.csv", encode="onehot")


@pytest.mark.long
def test_tables_of_polars(tmp_path: Path) -> None:
    pl = pytest.importorskip("polars")
    table = pl.from_pandas(frame()).with_columns(pl.col("kind").cast(pl.Categorical))
    table.write_parquet(tmp_path / "t.parquet")
    table.write_ipc(tmp_path / "t.arrow")
    for name in ("t.parquet", "t.arrow"):
        found = both(tmp_path / name, exclude="angle")
        assert (found.names, found.label_name, found.id_name) == (("px0", "px1", "px2"), "kind", "sample")


# --- missing values -----------------------------------------------------------------------------------------


def test_means_are_those_of_the_columns(tmp_path: Path) -> None:
    table = frame()[["px0", "px1", "px2"]]
    gaps = table.mask(RNG.random(table.shape) < 0.2)
    gaps.to_csv(tmp_path / "t.csv", index=False)
    found = both(tmp_path / "t.csv", missing="mean")
    np.testing.assert_allclose(found.array, gaps.fillna(gaps.mean()))
    assert found.imputation.n_values == int(gaps.isna().to_numpy().sum())
    np.save(tmp_path / "t.npy", gaps.to_numpy(dtype=np.float32))
    assert both(tmp_path / "t.npy", missing="mean").array.dtype == np.float32


def test_columns_without_values_and_infinite_values_are_errors(tmp_path: Path) -> None:
    rows = RNG.normal(size=(N, 3))
    rows[:, 1] = np.nan
    np.save(tmp_path / "t.npy", rows)
    with pytest.raises(InputFileError, match=r"column 'x1' .* is empty; .*--exclude x1"):
        read(tmp_path / "t.npy", missing="mean")
    rows[:, 1] = np.inf
    np.save(tmp_path / "t.npy", rows)
    with pytest.raises(InputFileError, match="infinite value"):
        read(tmp_path / "t.npy", missing="mean")
    distances = np.full((4, 4), np.nan)
    np.save(tmp_path / "t.npy", distances)
    with pytest.raises(InputFileError, match="missing distances are not filled in"):
        read(tmp_path / "t.npy", missing="mean", kind="distances")


# --- matrices and graphs that are asked about ---------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", "npy", "parquet"])
def test_matrices_of_distances_are_asked_about(tmp_path: Path, suffix: str) -> None:
    points = RNG.normal(size=(12, 2))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    for matrix, kind in ((distances, "distances"), (np.exp(-(distances**2)), "affinities")):
        path = tmp_path / f"t.{suffix}"
        if suffix == "npy":
            np.save(path, matrix)
        else:
            table = pd.DataFrame(matrix, columns=[f"p{i}" for i in range(12)])
            table.to_csv(path, index=False) if suffix == "csv" else table.to_parquet(path)
        assert f"--kind {kind}" in both(path).remarks[0]
        assert both(path, kind="rows").remarks == ()
        assert read(path, kind=kind).remarks == ()
    np.save(tmp_path / "u.npy", np.triu(distances))
    assert both(tmp_path / "u.npy").remarks == ()
    np.save(tmp_path / "v.npy", distances[:11])
    assert both(tmp_path / "v.npy").remarks == ()


def test_lists_of_edges_are_asked_about(tmp_path: Path) -> None:
    edges = pd.DataFrame({"Source": [0, 1, 2], "Target": [1, 2, 0], "Weight": [1.0, 2.0, 0.5]})
    edges.to_csv(tmp_path / "t.csv", index=False)  # as Gephi writes it
    assert "--kind edges" in both(tmp_path / "t.csv").remarks[0]
    assert both(tmp_path / "t.csv", kind="rows").remarks == ()
    assert read(tmp_path / "t.csv", kind="edges").array.shape == (3, 3)


# --- npz and h5ad -------------------------------------------------------------------------------------------


def test_npz_keeps_the_name_of_the_label(tmp_path: Path) -> None:
    kinds, names = np.array(["a", "b"] * 5), np.array([f"n{i}" for i in range(10)])
    np.savez(tmp_path / "t.npz", X=RNG.normal(size=(10, 2)), who=names, kind=kinds)
    found = both(tmp_path / "t.npz")
    assert (found.label_name, found.id_name) == ("kind", "who")
    write_table(tmp_path / "o.npz", found.array, labels=np.arange(10), label_name="digit")
    again = both(tmp_path / "o.npz")
    assert (again.label_name, again.labels.tolist()) == ("digit", list(range(10)))


def test_roles_in_npz_follow_the_rule_of_text_tables(tmp_path: Path) -> None:
    columns = {"kind": np.array(["a", "b"] * 5), "who": np.array([f"n{i}" for i in range(10)])}
    X, names = RNG.normal(size=(10, 3)), np.array(["px0", "y", "px2"])
    np.savez(tmp_path / "t.npz", X=X, names=names, **columns)
    pd.DataFrame(X, columns=names).assign(**columns).to_csv(tmp_path / "t.csv", index=False)
    for options in ({}, {"label": "y"}, {"id": "kind"}, {"exclude": ["kind", "px*"]}, {"columns": ["px*"]}):
        archive, text = both(tmp_path / "t.npz", **options), both(tmp_path / "t.csv", **options)
        assert (archive.names, archive.label_name, archive.id_name) == (
            text.names, text.label_name, text.id_name
        )  # fmt: skip
        assert archive.labels is None or archive.labels.tolist() == text.labels.tolist()
        assert np.array_equal(archive.array, text.array)
    with pytest.raises(InputFileError, match="has no column 'age'; it has 'kind', 'who', 'px0'"):
        read(tmp_path / "t.npz", label="age")


def test_the_index_of_pandas_is_the_id_of_a_parquet_file(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": RNG.normal(size=5), "word": list("abcde")}, index=[7, 3, 9, 1, 5])
    frame.to_parquet(tmp_path / "t.parquet")
    found = both(tmp_path / "t.parquet")
    assert (found.names, found.ids.tolist()) == (("x",), [7, 3, 9, 1, 5])
    frame.reset_index(drop=True).to_parquet(tmp_path / "t.parquet")
    assert both(tmp_path / "t.parquet").id_name == "word"


@pytest.fixture
def cells(tmp_path: Path) -> Path:
    """A file as scanpy leaves it: genes, PCA, a neighbour graph, clusters with a gap, raw counts."""
    anndata = pytest.importorskip("anndata")
    from sklearn.neighbors import kneighbors_graph

    obs = pd.DataFrame(
        {
            "n_genes": np.arange(N),
            "leiden": pd.Categorical([None if i == 7 else str(i % 2) for i in range(N)]),
            "batch": [f"b{i % 3}" for i in range(N)],
        },
        index=[f"cell{i}" for i in range(N)],
    )
    counts = sparse.random_array((N, 6), density=0.4, format="csr", random_state=np.random.default_rng(0))
    data = anndata.AnnData(counts, obs=obs, var=pd.DataFrame(index=[f"gene{i}" for i in range(6)]))
    data.raw = data
    data.layers["counts"] = counts.toarray() * 3
    data.obsm["X_pca"] = RNG.normal(size=(N, 4)).astype(np.float32)
    data.obsm["frame"] = pd.DataFrame(RNG.normal(size=(N, 2)), index=obs.index, columns=["u", "v"])
    graph = kneighbors_graph(data.obsm["X_pca"], 5, mode="distance")
    data.obsp["distances"], data.obsp["connectivities"] = graph, ((graph + graph.T) > 0).astype(np.float32)
    data.uns["neighbors"] = {"params": {"n_neighbors": 6}}
    data.write_h5ad(tmp_path / "cells.h5ad")
    return tmp_path / "cells.h5ad"


@pytest.mark.long
def test_parts_of_h5ad_files(cells: Path) -> None:
    found = both(cells)
    assert (found.names[0], found.label_name, found.id_name) == ("gene0", "leiden", None)
    assert found.labels[:8].tolist() == ["0", "1", "0", "1", "0", "1", "0", ""]
    assert found.ids[0] == "cell0"
    assert set(found.extra) == {"n_genes", "batch"}
    np.testing.assert_allclose(read(cells, layer="counts").array, 3 * found.array.toarray())
    pca = both(cells, use_rep="X_pca", label="batch")
    assert (pca.array.shape, pca.array.dtype, pca.names[3]) == ((N, 4), np.float32, "X_pca3")
    assert pca.label_name == "batch"
    assert read(cells, use_rep="frame").names == ("u", "v")
    assert both(cells, columns="gene[01]").names == ("gene0", "gene1")
    assert read(cells, label="n_genes").labels.tolist() == list(range(N))
    assert read(cells, obsp="distances").kind == "distances"
    assert read(cells, obsp="connectivities").kind == "affinities"
    for options, message in (
        ({"use_rep": "pca"}, "no 'pca' in obsm; it has X_pca, frame; did you mean 'X_pca'"),
        ({"layer": "spliced"}, "no 'spliced' in layers; it has counts"),
        ({"label": "louvain"}, "no column of obs named 'louvain'"),
    ):
        with pytest.raises(InputFileError, match=message):
            read(cells, **options)
    with pytest.raises(ValueError, match="exclude each other"):
        read(cells, use_rep="X_pca", layer="counts")
    with pytest.raises(InputFileError, match="not an h5ad file"):
        read(cells.with_suffix(".csv"), use_rep="X_pca")


@pytest.mark.parametrize("null", [False, True])
def test_h5ad_without_x_names_what_there_is(cells: Path, null: bool) -> None:
    """``X`` is missing, or the null that anndata 0.12.0 writes."""
    anndata, h5py = pytest.importorskip("anndata"), pytest.importorskip("h5py")
    data = anndata.read_h5ad(cells)
    data.X = None
    data.write_h5ad(cells.with_name("no.h5ad"))
    with h5py.File(cells.with_name("no.h5ad"), "a") as file:
        file.pop("X", None)
        if null:
            file["X"] = h5py.Empty("f4")
    with pytest.raises(InputFileError, match="no X, only annotations; --use-rep reads obsm: X_pca"):
        read(cells.with_name("no.h5ad"))
    assert read(cells.with_name("no.h5ad"), use_rep="X_pca").array.shape == (N, 4)


def test_only_the_part_that_is_used_is_read(cells: Path) -> None:
    """A damaged matrix elsewhere in the file does not matter."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(cells, "a") as file:
        del file["layers/counts"], file["raw"]
        file["layers/counts"] = np.zeros(3)
        file["raw"] = np.zeros(1)
    assert read(cells, use_rep="X_pca").array.shape == (N, 4)


@pytest.mark.parametrize("quote", ['"', ""])
def test_a_table_as_write_table_of_r_writes_it(tmp_path: Path, quote: str) -> None:
    lines = ["x y group", "r1 1.5 2 a", "r2 2.5 3 b", "r3 0.5 -1 a"]
    path = tmp_path / "table.txt"
    path.write_text("\n".join(re.sub(r"([a-z]\w*)", rf"{quote}\1{quote}", line) for line in lines) + "\n")
    table = read(path)
    assert table.names == ("x", "y")
    assert list(table.ids) == ["r1", "r2", "r3"]
    assert list(table.labels) == ["a", "b", "a"]
    np.testing.assert_array_equal(table.array, [[1.5, 2], [2.5, 3], [0.5, -1]])
