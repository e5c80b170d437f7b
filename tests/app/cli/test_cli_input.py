"""Roles of columns in training files and new files, and messages about them."""

import json

import numpy as np
import pytest
from test_cli import bad, good, rows, run, write_csv

X = np.random.default_rng(0).normal(size=(40, 3)).round(3)
NEW = np.random.default_rng(1).normal(size=(6, 3)).round(3)


@pytest.fixture
def plain(tmp_path):
    return write_csv(tmp_path / "plain.csv", X, ["x", "y", "z"], species=["a", "b"] * 20)


@pytest.fixture
def model(tmp_path, plain):
    good("embed", plain, "-m pca -o", tmp_path / "map.csv", "--save", tmp_path / "m.model", "-q")
    return tmp_path / "m.model"


def text(path, head, *lines):
    path.write_text("\n".join([head, *lines]) + "\n")
    return path


# --- inverse ------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_inverse_finds_coordinates_by_name(tmp_path, model):
    good("inverse", model, tmp_path / "map.csv", "-o", tmp_path / "rows.csv")
    placed = rows(tmp_path / "map.csv")
    lines = [f"7,{row['pca1']},{row['pca0']}" for row in placed]
    swapped = text(tmp_path / "swapped.csv", "height,pca1,pca0", *lines)
    stderr = good("inverse", model, swapped, "-o", tmp_path / "again.csv").stderr
    assert "are ignored: 'height'" in stderr
    expected, found = rows(tmp_path / "rows.csv"), rows(tmp_path / "again.csv")
    assert [row["x"] for row in found] == [row["x"] for row in expected]
    assert [row["species"] for row in expected] == ["a", "b"] * 20


@pytest.mark.long
def test_inverse_by_position(tmp_path, model):
    by_name = good("inverse", model, "- -o - -q", stdin="pca0,pca1\n0.5,-1\n").stdout
    for other in ("a,b\n0.5,-1\n", "0.5,-1\n"):
        assert good("inverse", model, "- -o - -q", stdin=other).stdout == by_name
    assert "pca1" in bad("inverse", model, "- -o -", stdin="pca0,b\n0.5,-1\n")
    assert "3 numeric column(s)" in bad("inverse", model, "- -o -", stdin="a,b,c\n0.5,-1,2\n")


@pytest.mark.long
@pytest.mark.parametrize("command", ["transform", "inverse"])
def test_the_model_is_never_overwritten(command, tmp_path, model, plain):
    before = model.read_bytes()
    assert "is also the model" in bad(command, model, plain, "-o", model, "--force")
    assert "is also the input" in bad(command, model, plain, "-o", plain, "--force")
    assert model.read_bytes() == before


# --- ids and codes ------------------------------------------------------------------------------------------


def test_leading_zeros_of_ids_and_codes_are_kept(tmp_path):
    ids = [f"{i:05d}" for i in range(40)]
    table = write_csv(
        tmp_path / "a.csv", X, ["x", "y", "z"], ID=ids, zip=[f"{7 * (i // 2):04d}" for i in range(40)]
    )
    stderr = good("embed", table, "-m pca -o", tmp_path / "map.csv").stderr
    assert "warning: column 'zip' has numbers with leading zeros" in stderr
    found = rows(tmp_path / "map.csv")
    assert [row["id"] for row in found] == ids
    assert found[2]["zip"] == "0007"
    asked = json.loads(good("embed", table, "-m pca --columns zip,x -o", tmp_path / "b.csv", "--json").stdout)
    assert asked["input"] == {"columns": ["zip", "x"], "label": None, "id": "ID", "dropped_rows": 0}


def test_a_column_that_numbers_the_rows_is_a_warning(tmp_path):
    table = text(tmp_path / "a.csv", "number,x,y", *(f"{i + 1},{a},{b}" for i, (a, b, _) in enumerate(X)))
    stderr = good("embed", table, "-m pca -o", tmp_path / "map.csv").stderr
    assert "warning: column 'number' counts the rows" in stderr
    assert "--id number" in stderr
    assert "id='number'" not in stderr
    assert "warning" not in good("embed", table, "-m pca --id number -o", tmp_path / "b.csv").stderr


def test_the_columns_used_are_printed(tmp_path, plain):
    result = good("embed", plain, "-m pca -o", tmp_path / "map.csv")
    assert "40 rows, 3 columns (x, y, z), label species" in result.stderr
    found = json.loads(good("cluster", plain, "-k 2 --json").stdout)
    assert found["input"] == {"columns": ["x", "y", "z"], "label": "species", "id": None, "dropped_rows": 0}


@pytest.mark.parametrize("pattern", ["{}%", "${}", "{} €"])
def test_text_that_looks_like_numbers_is_a_warning(pattern, tmp_path):
    table = text(tmp_path / "a.csv", "x,y,share", *(f"{a},{b},{pattern.format(abs(c))}" for a, b, c in X))
    stderr = good("embed", table, "-m pca -o", tmp_path / "map.csv").stderr
    assert f"warning: column 'share' contains text such as '{pattern.format(abs(X[0, 2]))}'" in stderr


# --- transform ----------------------------------------------------------------------------------------------


@pytest.mark.long
def test_errors_about_columns_that_the_model_needs(tmp_path, model):
    words = text(tmp_path / "words.csv", "x,y,z", "1,2,abc", "3,4,def")
    line = bad("transform", model, words, "-o", tmp_path / "o.csv")
    assert "column 'z'" in line
    assert "contains text such as 'abc', but the model needs numbers" in line
    upper = write_csv(tmp_path / "upper.csv", NEW, ["X", "y", "z"])
    assert "did you mean 'X' for 'x'?" in bad("transform", model, upper, "-o", tmp_path / "o.csv")


@pytest.mark.long
def test_codes_are_parsed_if_the_model_needs_numbers(tmp_path, model):
    padded = text(tmp_path / "padded.csv", "x,y,z", "01,2,3", "02,3,5")
    good("transform", model, padded, "-o", tmp_path / "a.csv")
    good("transform", model, text(tmp_path / "b.csv", "x,y,z", "1,2,3", "2,3,5"), "-o", tmp_path / "c.csv")
    assert rows(tmp_path / "a.csv") == rows(tmp_path / "c.csv")


@pytest.mark.long
@pytest.mark.parametrize("method", ["spectral-clustering", "mixture-ppca"])
def test_new_rows_get_their_cluster(method, tmp_path, plain):
    good(
        "cluster",
        plain,
        "-m",
        method,
        "-k 2 -o",
        tmp_path / "c.csv",
        "--save",
        tmp_path / "m",
        "--standardize",
    )
    good("transform", tmp_path / "m", plain, "-o", tmp_path / "again.csv")
    assert [row["cluster"] for row in rows(tmp_path / "again.csv")] == [
        row["cluster"] for row in rows(tmp_path / "c.csv")
    ]


@pytest.mark.long
def test_the_default_number_of_clusters_is_printed(plain):
    assert "8 clusters by default; set it with -k" in good("cluster", plain).stderr
    assert "set it with -k" not in good("cluster", plain, "-k 2").stderr


# --- edges --------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_edges_are_neighbours_for_isomap(tmp_path):
    path = text(tmp_path / "g.edges", "0 1 1", *(f"{i} {i + 1} {1 + i / 10}" for i in range(1, 12)))
    good("embed", path, "-m isomap -d 1 -o", tmp_path / "line.csv")
    placed = {int(row["id"]): float(row["isomap0"]) for row in rows(tmp_path / "line.csv")}
    lengths = [abs(placed[i + 1] - placed[i]) for i in range(12)]
    np.testing.assert_allclose(lengths, [1] + [1 + i / 10 for i in range(1, 12)], atol=1e-6)
    for method in ("mds", "pca"):
        assert "use laplacian-eigenmaps" in bad("embed", path, "-m", method, "-o", tmp_path / "x.csv")


# --- options ------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_options_are_checked_before_the_file_is_read(tmp_path, plain):
    nothing, out = tmp_path / "nothing.csv", tmp_path / "o.csv"
    assert "--n-neighbors must be" in bad("embed", nothing, "-m isomap --n-neighbors -3 -o", out)
    assert "--random-state must be" in bad("embed", nothing, "-m pca --random-state abc -o", out)
    assert "two different methods" in bad("compare", nothing, "-m pca -m PCA --report", tmp_path / "r.html")
    found = json.loads(good("embed", plain, "-m pca --whiten yes -o", out, "--json").stdout)
    assert found["parameters"]["whiten"] is True


def test_messages_name_options_instead_of_parameters(tmp_path):
    gaps = text(tmp_path / "gaps.csv", "a,b", "1,2", "3,", "5,6")
    line = bad("embed", gaps, "-m pca -o", tmp_path / "o.csv")
    assert "column(s) 'b'" in line
    assert "missing='" not in line
    exists = text(tmp_path / "exists.csv", "x")
    assert bad("embed", gaps, "-m pca -o", exists).endswith("overwrite it with --force")


@pytest.mark.long
def test_help_of_parameters():
    shown = run("embed -m isomap --help").stdout
    assert shown.count("<bool>") <= 1  # at typer's own --help
    assert "Number of coordinates." in shown
    assert "--metric-params" in shown
