"""Columns, missing values and parts of files on the command line; new rows are read as training rows."""

import json

import numpy as np
import pytest
from test_cli import bad, good, rows

import eigenscape

pytestmark = pytest.mark.usefixtures("readers_here")
pd = pytest.importorskip("pandas")
N = 60


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(N, 4)), columns=[f"px{i}" for i in range(4)])
    frame["angle"] = rng.integers(0, 3, N)
    frame["color"] = rng.choice(["red", "blue"], N)
    frame["sample"] = [f"s{i}" for i in range(N)]
    frame.loc[3, "px2"] = np.nan
    frame.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


@pytest.mark.long
def test_coordinates_have_the_names_of_get_feature_names_out(table, tmp_path):
    model, out = tmp_path / "m.model", tmp_path / "o.csv"
    good("embed", table, "-m kernel-pca --missing drop -o", out, "--save", model)
    names = eigenscape.load(model).get_feature_names_out().tolist()
    assert names == ["kernelpca0", "kernelpca1"]
    assert [name for name in rows(out)[0] if name not in ("id", "color")] == names
    notes = eigenscape.io.describe(model)["notes"]
    eigenscape.save(eigenscape.load(model), model, compact=20, force=True, notes=notes)
    good("transform", model, table, "--missing drop -o", out, "--force")
    assert [name for name in rows(out)[0] if name not in ("id", "color")] == names


@pytest.mark.long
def test_the_summary_names_a_stray_column_of_integers(table, tmp_path):
    command = ("embed", table, "-m pca --missing drop -o", tmp_path / "o.csv")
    assert (
        "5 columns (px0, px1, px2, px3, angle; integers: angle), label color, id sample"
        in good(*command).stderr
    )
    found = good(*command, "--force --columns 'px*,angle' --exclude angle,px0 --json")
    assert json.loads(found.stdout)["input"]["columns"] == ["px1", "px2", "px3"]
    line = bad("embed", table, "-m pca --columns 'pz*' -o", tmp_path / "p.csv")
    assert "matches 'pz*'" in line


@pytest.mark.long
def test_rows_that_are_dropped_are_counted_and_join_the_input(table, tmp_path):
    out = tmp_path / "o.csv"
    stderr = good("embed", table, "-m pca --missing drop -o", out).stderr
    assert "dropped 1 of 60 rows with missing or infinite values" in stderr
    assert [row["id"] for row in rows(out)] == [f"s{i}" for i in range(N) if i != 3]
    found = good("embed", table, "-m pca --missing drop --exclude sample --force --json -o", out).stdout
    assert [int(row["row"]) for row in rows(out)] == [i + 1 for i in range(N) if i != 3]
    assert json.loads(found)["input"]["dropped_rows"] == 1
    good("cluster", table, "-k 2 --missing drop --exclude sample -o", out, "--force")
    assert [int(row["row"]) for row in rows(out)] == [i + 1 for i in range(N) if i != 3]


@pytest.mark.long
def test_new_rows_are_filled_in_as_training_rows(table, tmp_path):
    model, out, new = tmp_path / "m.model", tmp_path / "o.csv", tmp_path / "n.csv"
    stderr = good("embed", table, "-m pca --missing mean -o", out, "--save", model).stderr
    assert "filled in 1 missing value in 1 row" in stderr
    whole = {row["id"]: row["pca0"] for row in rows(out)}
    assert len(whole) == N
    few = tmp_path / "few.csv"
    few.write_text("".join(table.read_text().splitlines(keepends=True)[:6]))
    good("transform", model, few, "-o", new)  # its own means are others
    for row in rows(new):
        assert float(row["pca0"]) == pytest.approx(float(whole[row["id"]]), abs=1e-9)
    good("transform", model, few, "--missing drop --force -o", new)
    assert len(rows(new)) == 4
    assert "missing value" in bad("transform", model, few, "--missing error --force -o", new)
    good("embed", table, "-m pca --missing drop --force --save", tmp_path / "d.model")
    line = bad("transform", tmp_path / "d.model", few, "--missing mean --force -o", new)
    assert "--missing mean needs a model that was fitted with it" in line
    stdout = good("info", model, "--verify", table).stdout
    assert "training rows:  ok" in stdout
    assert "imputation='mean'" in stdout


@pytest.mark.long
def test_new_rows_are_encoded_as_training_rows(table, tmp_path):
    model, out, new = tmp_path / "m.model", tmp_path / "o.csv", tmp_path / "n.csv"
    good("embed", table, "-m pca --encode onehot --missing drop -o", out, "--save", model)
    whole = {row["id"]: row["pca0"] for row in rows(out)}
    lines = table.read_text().splitlines()
    new.write_text("\n".join([lines[0], lines[1], lines[2].replace("red", "mauve").replace("blue", "mauve")]))
    for stream in ("", "--stream"):
        result = good("transform", model, new, stream, "-o", tmp_path / "p.csv", "--force")
        assert (
            "not among the categories of the model, such as 'mauve'; their encoded columns are 0"
            in result.stderr
        )
        placed = rows(tmp_path / "p.csv")
        assert float(placed[0]["pca0"]) == pytest.approx(float(whole["s0"]), abs=1e-9)
        assert float(placed[1]["pca0"]) != pytest.approx(float(whole["s1"]), abs=1e-9)


def test_a_missing_column_of_text_is_named_as_in_the_file(table, tmp_path):
    model, new = tmp_path / "m.model", tmp_path / "n.csv"
    good("embed", table, "-m pca --encode onehot --missing drop --save", model)
    pd.read_csv(table).drop(columns="color").to_csv(new, index=False)
    assert "lacks columns that the model needs: 'color';" in bad(
        "transform", model, new, "-o", tmp_path / "p.csv"
    )


@pytest.mark.long
def test_a_label_that_was_found_is_the_label_of_new_rows(table, tmp_path):
    model, new, out = tmp_path / "m.model", tmp_path / "n.csv", tmp_path / "o.csv"
    good("embed", table, "-m pca --missing drop --columns 'px*' --save", model)
    frame = pd.read_csv(table).iloc[4:10]
    frame.insert(0, "comment", ["x", "x", "y", "y", "z", "z"])  # the first text column with repeated values
    frame["color"] = [f"c{i}" for i in range(6)]  # unique here
    frame.to_csv(new, index=False)
    good("transform", model, new, "-o", out)
    assert [row["color"] for row in rows(out)] == [f"c{i}" for i in range(6)]
    assert [row["id"] for row in rows(out)] == frame["sample"].tolist()
    frame.drop(columns="color").to_csv(new, index=False)
    good("transform", model, new, "-o", out, "--force")
    assert set(rows(out)[0]) == {"id", "pca0", "pca1"}  # not the comment


@pytest.mark.parametrize(
    "notes", [{"imputation": {"method": "mean"}}, {"categories": 3}, {"imputation": [1]}, {"columns": 5}]
)
def test_damaged_descriptions_of_columns_are_one_line(table, tmp_path, notes):
    model = eigenscape.PCA(2).fit(np.random.default_rng(0).normal(size=(20, 4)))
    eigenscape.save(model, tmp_path / "m.model", notes=json.dumps(notes))
    line = bad("transform", tmp_path / "m.model", table, "-o -")
    assert "the description of columns of the model is damaged" in line


def test_matrices_and_edges_are_asked_about(tmp_path):
    points = np.random.default_rng(0).normal(size=(20, 2))
    distances = np.linalg.norm(points[:, None] - points, axis=2)
    np.savetxt(tmp_path / "d.csv", distances, delimiter=",")
    command = ("embed", tmp_path / "d.csv", "-m pca --force -o", tmp_path / "o.csv")
    stderr = good(*command).stderr
    assert "warning: the table is square and symmetric with a diagonal of 0" in stderr
    assert "use --kind distances, or confirm with --kind rows" in stderr
    assert "square" not in good(*command, "--kind rows").stderr


@pytest.fixture
def cells(tmp_path):
    anndata = pytest.importorskip("anndata")
    from sklearn.neighbors import kneighbors_graph

    rng = np.random.default_rng(0)
    obs = pd.DataFrame(
        {"leiden": pd.Categorical(rng.choice(["0", "1"], N))}, index=[f"c{i}" for i in range(N)]
    )
    data = anndata.AnnData(rng.normal(size=(N, 5)), obs=obs)
    data.obsm["X_pca"] = rng.normal(size=(N, 3))
    data.obsp["distances"] = kneighbors_graph(data.obsm["X_pca"], 7, mode="distance")
    graph = data.obsp["distances"]
    data.obsp["connectivities"] = ((graph + graph.T) > 0).astype(float)
    data.X[2, 2] = np.nan
    data.write_h5ad(tmp_path / "cells.h5ad")
    return tmp_path / "cells.h5ad"


@pytest.mark.long
def test_parts_of_h5ad_files(cells, tmp_path):
    import anndata

    model, out = tmp_path / "m.model", tmp_path / "o.csv"
    good("embed", cells, "-m pca --use-rep X_pca -o", out, "--save", model)
    assert list(rows(out)[0]) == ["id", "pca0", "pca1", "leiden"]
    good("transform", model, cells, "-o", tmp_path / "new.csv")  # reads X_pca, too
    assert (tmp_path / "new.csv").read_text() == out.read_text()
    for method, graph in (("isomap", "distances"), ("le", "distances"), ("le", "connectivities")):
        good("embed", cells, "-m", method, "--obsp", graph, "--force -o", out)
        assert len(rows(out)) == N
    X = anndata.read_h5ad(cells).obsm["X_pca"]
    expected = eigenscape.Isomap(n_neighbors=7).fit(X).embedding_
    good("embed", cells, "-m isomap --obsp distances --force -o", out)
    found = np.array([[float(row["isomap0"]), float(row["isomap1"])] for row in rows(out)])
    np.testing.assert_allclose(found, expected, atol=1e-6)
    good("embed", cells, "-m pca --missing drop -o", tmp_path / "o.h5ad")
    assert anndata.read_h5ad(tmp_path / "o.h5ad").obs_names.tolist() == [f"c{i}" for i in range(N) if i != 2]
    good("embed", cells, "-m le --obsp connectivities --force --save", model)
    line = bad("transform", model, cells, "-o", out, "--force")
    assert "fitted to the graph obsp['connectivities'], which has no new rows" in line
    result = good("embed", cells, "-m pca --use-rep X_pca -o", tmp_path / "p.h5ad")
    assert f"warning: obsm['X_pca'] of {cells} is replaced in the copy" in result.stderr
    line = bad("embed", cells, "-m pca --obsp distances --force -o", out)
    assert "needs rows of numbers" in line
