"""The commands with input and output files."""

import csv
import json
import shlex

import numpy as np
import pytest
from sklearn.datasets import load_iris
from typer.testing import CliRunner

import eigenscape
from eigenscape.app.cli.app import app
from eigenscape.app.methods import all_methods
from eigenscape.options import RadiusGraph

NAMES = ["sepal_length", "sepal_width", "petal_length", "petal_width"]


def run(*words, stdin=None):
    """Run a command given as text and paths: ``run("embed", path, "-m pca -o -")``."""
    text = " ".join(word if isinstance(word, str) else shlex.quote(str(word)) for word in words)
    return CliRunner().invoke(app, shlex.split(text), input=stdin)


def good(*words, stdin=None):
    """Run a command that must succeed."""
    result = run(*words, stdin=stdin)
    assert result.exit_code == 0, result.stderr
    return result


def bad(*words, code=2, stdin=None):
    """Run a command that must fail with one line on standard error; return the line."""
    result = run(*words, stdin=stdin)
    assert result.exit_code == code, (result.exit_code, result.stderr)
    lines = [line for line in result.stderr.splitlines() if not line.startswith("read ")]
    assert len(lines) == 1, result.stderr
    assert lines[0].startswith("error: ")
    assert "Traceback" not in result.stderr
    return lines[0]


def rows(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def numbers(path):
    """Return the coordinates in a CSV file."""
    found = rows(path)
    names = [name for name in found[0] if name not in ("id", "species", "cluster")]
    return np.array([[float(row[name]) for name in names] for row in found])


def write_csv(path, X, names=NAMES, **text):
    lines = [",".join([*text, *names])]
    for place, row in enumerate(X):
        lines.append(
            ",".join(
                [*(str(column[place]) for column in text.values()), *(repr(float(value)) for value in row)]
            )
        )
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(scope="module")
def flowers():
    data = load_iris()
    order = np.random.default_rng(0).permutation(150)
    X = data.data[order] + np.random.default_rng(1).normal(0, 0.01, (150, 4))  # distinct rows
    return X, np.array([str(data.target_names[each]) for each in data.target[order]])


@pytest.fixture
def table(tmp_path, flowers):
    X, species = flowers
    return write_csv(
        tmp_path / "flowers.csv", X[:100], flower=[f"f{i}" for i in range(100)], species=species[:100]
    )


@pytest.fixture
def new(tmp_path, flowers):
    X, species = flowers
    return write_csv(
        tmp_path / "new.csv", X[100:], flower=[f"f{i}" for i in range(100, 150)], species=species[100:]
    )


# --- every method -------------------------------------------------------------------------------------------

#: Options that a method needs for this table.
NEEDS = {
    "spectral-clustering": "--n-clusters 3",
    "oriented-pca": "--label species",
    "ordinal-mds": "--n-init 1",
}


#: Methods with a row of coordinates for each row; the others have tests of their own.
ROW_METHODS = list(all_methods())


@pytest.mark.long
@pytest.mark.parametrize("method", ROW_METHODS)
def test_every_method_embeds_saves_and_transforms(method, tmp_path, table, new, flowers):
    out, model, placed, again = (
        tmp_path / name for name in ("map.csv", "map.model", "new-map.csv", "again.csv")
    )
    result = good(
        "embed",
        table,
        "-m",
        method,
        "-o",
        out,
        "--save",
        model,
        "--id flower",
        NEEDS.get(method, ""),
        "--json",
    )
    found = json.loads(result.stdout)
    assert found["method"] == method
    assert found["files"] == {"coordinates": str(out), "model": str(model)}
    assert found["shape"] == [100, 3 if method == "spectral-clustering" else 2]
    map_rows = rows(out)
    assert [row["id"] for row in map_rows] == [f"f{i}" for i in range(100)]
    assert [row["species"] for row in map_rows] == flowers[1][:100].tolist()

    good("transform", model, new, "-o", placed)
    assert [row["id"] for row in rows(placed)] == [f"f{i}" for i in range(100, 150)]
    assert [row["species"] for row in rows(placed)] == flowers[1][100:].tolist()
    np.testing.assert_allclose(
        numbers(placed), eigenscape.load(model).transform(flowers[0][100:]), rtol=1e-9, atol=1e-12
    )

    good("transform", model, table, "-o", again, "-q")
    scale = np.abs(numbers(out)).max()
    np.testing.assert_allclose(numbers(again), numbers(out), atol=1e-7 * scale)  # law 1

    described = json.loads(good("info", model, "--json").stdout)
    assert described["method"] == all_methods()[method].__name__
    assert described["n_samples"] == 100
    assert described["feature_names"] == NAMES
    assert "100" in good("info", model).stdout


# --- embed --------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_parameters_reach_the_estimator(tmp_path, table):
    out = tmp_path / "map.npy"
    options = "--n_neighbors 7 --symmetrize=mutual --n-landmarks auto --no-ordinal --radius none"
    found = json.loads(good("embed", table, "-m isomap -d 3 -o", out, options, "--json").stdout)
    chosen = found["parameters"]
    assert (chosen["n_components"], chosen["n_neighbors"], chosen["symmetrize"], chosen["n_landmarks"]) == (
        3,
        7,
        "mutual",
        "auto",
    )
    assert chosen["ordinal"] is False
    assert np.load(out).shape == (100, 3)


def test_results_equal_those_of_python(tmp_path, table, flowers):
    out = tmp_path / "map.npy"
    found = json.loads(
        good("embed", table, "-m diffusion-map --affinity rbf --alpha 0.5 -o", out, "--json").stdout
    )
    model = eigenscape.DiffusionMap(affinity="rbf", alpha=0.5).fit(flowers[0][:100])
    np.testing.assert_allclose(np.load(out), model.embedding_, rtol=1e-12)
    np.testing.assert_allclose(found["eigenvalues"], model.eigenvalues_)
    assert found["loss"] == pytest.approx(model.loss())
    assert set(found["timings"]) >= {"reading", "fit"}
    assert found["memory"]["peak"] > 0


@pytest.mark.long
def test_method_as_a_parameter_of_lle_and_as_the_long_form(tmp_path, table):
    out = tmp_path / "map.npy"
    lle = json.loads(good("embed", table, "-m lle --method modified -o", out, "--json").stdout)
    assert lle["parameters"]["method"] == "modified"
    assert (
        json.loads(good("embed", table, "--method pca -o", out, "--force --json").stdout)["method"] == "pca"
    )
    assert (
        json.loads(good("embed", table, "-mpca --whiten -o", out, "--force --json").stdout)["parameters"][
            "whiten"
        ]
        is True
    )


@pytest.mark.long
def test_columns_and_scaling_are_saved_with_the_model(tmp_path, table, new, flowers):
    out, model, placed = tmp_path / "map.npy", tmp_path / "map.model", tmp_path / "new.npy"
    good(
        "embed", table, "-m pca --columns 'petal_width, sepal_length' --standardize -o", out, "--save", model
    )
    good("transform", model, new, "-o", placed)
    X = flowers[0][:, [3, 0]]
    mean, spread = X[:100].mean(axis=0), X[:100].std(axis=0)
    expected = eigenscape.PCA().fit((X[:100] - mean) / spread)
    np.testing.assert_allclose(np.load(out), expected.embedding_, atol=1e-10)
    np.testing.assert_allclose(np.load(placed), expected.transform((X[100:] - mean) / spread), atol=1e-10)
    np.testing.assert_allclose(eigenscape.load(model).transform(X[100:]), np.load(placed), atol=1e-10)


@pytest.mark.long
def test_numeric_labels(tmp_path, flowers):
    X, species = flowers
    kinds = np.unique(species, return_inverse=True)[1].astype(float)
    names = [*NAMES, "kind"]
    table = write_csv(tmp_path / "a.csv", np.column_stack([X[:100], kinds[:100]]), names)
    new = write_csv(tmp_path / "b.csv", np.column_stack([kinds[100:], X[100:]]), ["kind", *NAMES])
    good("embed", table, "-m pca --label kind -o", tmp_path / "map.csv", "--save", tmp_path / "m.model")
    good("transform", tmp_path / "m.model", new, "-o", tmp_path / "new.csv")
    assert [float(row["kind"]) for row in rows(tmp_path / "new.csv")] == kinds[100:].tolist()


@pytest.mark.long
def test_distances_edges_and_affinities(tmp_path, flowers):
    X = flowers[0][:60]
    D = np.linalg.norm(X[:, None] - X[None], axis=2)
    np.save(tmp_path / "d.npy", D)
    np.savetxt(tmp_path / "d.csv", D, delimiter=",")
    good(
        "embed",
        tmp_path / "d.npy",
        "-m mds --metric precomputed -o",
        tmp_path / "a.npy",
        "--save",
        tmp_path / "m.model",
    )
    good("embed", tmp_path / "d.csv", "-m mds --kind distances -o", tmp_path / "b.npy")
    expected = eigenscape.ClassicalMDS(metric="precomputed").fit(D).embedding_
    np.testing.assert_allclose(np.load(tmp_path / "a.npy"), expected, atol=1e-9)
    np.testing.assert_allclose(np.load(tmp_path / "b.npy"), expected, atol=1e-9)
    np.save(tmp_path / "few.npy", D[:5])
    good("transform", tmp_path / "m.model", tmp_path / "few.npy", "-o", tmp_path / "placed.npy")
    np.testing.assert_allclose(np.load(tmp_path / "placed.npy"), expected[:5], atol=1e-9)
    lle = eigenscape.LocallyLinearEmbedding(graph=RadiusGraph(3.0, metric="precomputed")).fit(D)
    files = [tmp_path / name for name in ("d.npy", "lle.npy", "lle.model", "few.npy", "few-lle.npy")]
    good("embed", files[0], "-m lle --kind distances --radius 3.0 -o", files[1], "--save", files[2])
    np.testing.assert_allclose(np.load(files[1]), lle.embedding_, atol=1e-9)
    good("transform", files[2], files[3], "-o", files[4])
    np.testing.assert_allclose(np.load(files[4]), lle.embedding_[:5], atol=1e-9)
    K = np.exp(-(D**2))
    np.save(tmp_path / "k.npy", K)
    good("embed", tmp_path / "k.npy", "-m kpca --kernel precomputed -o", tmp_path / "k-map.npy")
    np.testing.assert_allclose(
        np.load(tmp_path / "k-map.npy"),
        eigenscape.KernelPCA(kernel="precomputed").fit(K).embedding_,
        atol=1e-9,
    )
    near = np.argsort(D, axis=1)[:, 1:6]
    (tmp_path / "g.edges").write_text("".join(f"{i} {j}\n" for i in range(60) for j in near[i]))
    good("embed", tmp_path / "g.edges", "-m le --on-disconnected per_component -o", tmp_path / "g.npy")
    assert len(np.load(tmp_path / "g.npy")) == 60
    assert "needs rows of numbers" in bad(
        "embed", tmp_path / "d.npy", "-m pca --kind distances -o", tmp_path / "x.npy"
    )


def test_standard_input_and_output(table, flowers):
    result = good("embed - -m pca -o -", stdin=table.read_text())
    found = list(csv.DictReader(result.stdout.splitlines()))
    got = np.array([[float(row["pca0"]), float(row["pca1"])] for row in found])
    np.testing.assert_allclose(got, eigenscape.PCA().fit(flowers[0][:100]).embedding_, atol=1e-10)


def test_json_and_coordinates_do_not_share_standard_output(table):
    assert "--json" in bad("embed", table, "-m pca -o - --json")


@pytest.mark.long
def test_streams(tmp_path, flowers):
    X = np.tile(flowers[0], (20, 1)) + np.random.default_rng(0).normal(0, 0.1, (3000, 4))
    np.save(tmp_path / "x.npy", X)
    for method, parameters in (("pca", []), ("greedy", ["--dictionary-tol", "0.01", "--gamma", "0.1"])):
        good("embed", tmp_path / "x.npy", "-m", method, *parameters, "-o", tmp_path / "whole.npy", "--force")
        good(
            "embed",
            tmp_path / "x.npy",
            "-m",
            method,
            *parameters,
            "--stream -o",
            tmp_path / "s.npy",
            "--save",
            tmp_path / "m",
            "--force",
        )
        whole, streamed = np.load(tmp_path / "whole.npy"), np.load(tmp_path / "s.npy")
        signs = np.sign((whole * streamed).sum(axis=0))
        np.testing.assert_allclose(streamed * signs, whole, atol=1e-6 * np.abs(whole).max())
        good("transform", tmp_path / "m", tmp_path / "x.npy", "--stream -o", tmp_path / "t.npy", "--force")
        np.testing.assert_allclose(np.load(tmp_path / "t.npy"), streamed, atol=1e-9)
    good("embed", tmp_path / "x.npy", "-m pca --stream --standardize -o", tmp_path / "z.npy")
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    np.testing.assert_allclose(
        np.abs(np.load(tmp_path / "z.npy")), np.abs(eigenscape.PCA().fit(Z).embedding_), atol=1e-8
    )
    write_csv(tmp_path / "x.csv", X)
    good("embed", tmp_path / "x.csv", "-m pca --stream -o", tmp_path / "c.npy", "--save", tmp_path / "c")
    expected = eigenscape.PCA().fit(X).embedding_
    np.testing.assert_allclose(np.abs(np.load(tmp_path / "c.npy")), np.abs(expected), atol=1e-8)
    good("transform", tmp_path / "c", tmp_path / "x.csv", "--stream -o", tmp_path / "d.npy")
    np.testing.assert_allclose(np.load(tmp_path / "d.npy"), np.load(tmp_path / "c.npy"), atol=1e-9)
    assert "--stream is supported by -m greedy and -m pca only" in bad(
        "embed", tmp_path / "x.npy", "-m isomap --stream -o", tmp_path / "i.npy"
    )


def test_warnings_are_one_line_each(tmp_path, flowers):
    X = np.concatenate([flowers[0][:40], flowers[0][:40] + 100])
    table = write_csv(tmp_path / "two.csv", X)
    result = good("embed", table, "-m isomap --n-neighbors 5 -o", tmp_path / "map.csv")
    warned = [line for line in result.stderr.splitlines() if line.startswith("warning: ")]
    assert len(warned) == 1
    assert "components" in warned[0]
    assert ".py" not in result.stderr


# --- the other commands -------------------------------------------------------------------------------------


@pytest.mark.long
def test_cluster(tmp_path, table, flowers):
    result = good(
        "cluster",
        table,
        "-k 3 --affinity rbf -o",
        tmp_path / "c.csv",
        "--save",
        tmp_path / "m",
        "--plot",
        tmp_path / "c.png",
    )
    expected = eigenscape.SpectralClustering(3, affinity="rbf").fit(flowers[0][:100]).labels_
    assert [int(row["cluster"]) for row in rows(tmp_path / "c.csv")] == expected.tolist()
    assert ", ".join(map(str, np.bincount(expected))) in result.stderr
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    found = json.loads(good("cluster", table, "-k 2 -m mixture-ppca --json").stdout)
    assert found["parameters"]["n_mixtures"] == 2
    assert sum(found["sizes"]) == 100
    assert "does not compute clusters" in bad("cluster", table, "-m isomap")


@pytest.mark.long
def test_inverse_reconstructs_the_rows(tmp_path, table, flowers):
    good(
        "embed",
        table,
        "-m pca -d 4 --standardize -o",
        tmp_path / "map.csv",
        "--save",
        tmp_path / "m",
        "--id flower",
    )
    good("inverse", tmp_path / "m", tmp_path / "map.csv", "-o", tmp_path / "rows.csv")
    found = rows(tmp_path / "rows.csv")
    assert [float(row["petal_width"]) for row in found] == pytest.approx(
        flowers[0][:100, 3].tolist(), abs=1e-9
    )
    good("embed", table, "-m fastmap --save", tmp_path / "f")
    assert "has no inverse_transform" in bad(
        "inverse", tmp_path / "f", tmp_path / "map.csv", "-o", tmp_path / "x.csv"
    )


@pytest.mark.long
def test_columns_are_matched_by_name(tmp_path, table, flowers):
    X = flowers[0][100:]
    good("embed", table, "-m pca --save", tmp_path / "m", "-o", tmp_path / "map.csv")
    expected = eigenscape.PCA().fit(flowers[0][:100]).transform(X)
    other = write_csv(
        tmp_path / "other.csv",
        np.column_stack([X[:, 2], np.full(50, np.nan), X[:, [3, 0, 1]]]),
        [NAMES[2], "rain", NAMES[3], *NAMES[:2]],
    )
    result = good("transform", tmp_path / "m", other, "-o", tmp_path / "a.npy")
    assert "are ignored: 'rain'" in result.stderr
    np.testing.assert_allclose(np.load(tmp_path / "a.npy"), expected, atol=1e-10)
    nameless = "\n".join(",".join(repr(float(value)) for value in row) for row in X)
    result = good("transform", tmp_path / "m", "- -o", tmp_path / "b.npy", stdin=nameless)
    np.testing.assert_allclose(np.load(tmp_path / "b.npy"), expected, atol=1e-10)
    lacking = write_csv(tmp_path / "lacking.csv", X[:, :2], NAMES[:2])
    line = bad("transform", tmp_path / "m", lacking, "-o", tmp_path / "c.npy")
    assert "'petal_length', 'petal_width'" in line
    np.save(tmp_path / "narrow.npy", X[:, :3])
    assert "3 numeric columns" in bad(
        "transform", tmp_path / "m", tmp_path / "narrow.npy", "-o", tmp_path / "c.npy"
    )


@pytest.mark.long
def test_missing_values_in_new_rows(tmp_path, table, flowers):
    X = flowers[0][100:].copy()
    X[3, 1] = np.nan
    new = write_csv(tmp_path / "gaps.csv", X)
    good("embed", table, "-m pca --save", tmp_path / "m")
    assert "--missing drop" in bad("transform", tmp_path / "m", new, "-o", tmp_path / "a.npy")
    good("transform", tmp_path / "m", new, "-o", tmp_path / "a.npy", "--missing drop")
    assert len(np.load(tmp_path / "a.npy")) == 49
    good("embed", table, "-m ppca --save", tmp_path / "p")
    good("transform", tmp_path / "p", new, "-o", tmp_path / "b.npy", "--missing keep")
    assert np.isfinite(np.load(tmp_path / "b.npy")).all()


def test_pipelines_of_other_steps_are_not_saved(tmp_path, flowers):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler

    model = make_pipeline(MinMaxScaler(), eigenscape.PCA()).fit(flowers[0])
    with pytest.raises(eigenscape.exceptions.ModelFileError, match="StandardScaler"):
        eigenscape.save(model, tmp_path / "m")
    assert not (tmp_path / "m").exists()
