"""Files with distorted versions of the input, for oriented PCA and distortion discriminant analysis."""

import json

import numpy as np
import pytest
from test_cli import bad, good, numbers, rows, write_csv

import eigenscape

NAMES = ["left", "right"]
LAYERS = [[3, 4, 2], [2, 3, 2]]
DDA = "-m dda --layers '[[3, 4, 2], [2, 3, 2]]'"


@pytest.fixture(scope="module")
def values():
    rng = np.random.default_rng(0)
    steps = np.cumsum(rng.standard_normal((124, 2)), axis=0)
    clean = steps[2:-2]
    noisy = [clean + size * rng.standard_normal(clean.shape) for size in (0.5, 1)]
    return {"clean": clean, "a": noisy[0], "b": noisy[1], "early": steps[3:-1], "late": steps[1:-3]}


@pytest.fixture
def files(tmp_path, values):
    steps = [f"t{i}" for i in range(120)]
    phase = [f"p{i // 40}" for i in range(120)]
    return {
        name: write_csv(tmp_path / f"{name}.csv", X, NAMES, id=steps, species=phase)
        for name, X in values.items()
    }


def model_of(values, shared=(), own=None):
    model = eigenscape.DistortionDiscriminantAnalysis(LAYERS)
    layers = None if own is None else [names and [values[name] for name in names] for names in own]
    distorted = [values[name] for name in shared] or None
    return model.fit(values["clean"], distorted=distorted, layer_distorted=layers)


def assert_same_rows(one, other):
    """Equal labels, and coordinates up to rounding: products depend on where arrays lie in memory."""
    for name in ("id", "species"):
        assert [row[name] for row in rows(one)] == [row[name] for row in rows(other)]
    size = np.abs(numbers(other)).max()
    np.testing.assert_allclose(numbers(one), numbers(other), rtol=0, atol=1e-13 * size)


# --- embed and transform ------------------------------------------------------------------------------------


@pytest.mark.long
def test_sequences_are_embedded_saved_and_transformed(tmp_path, files, values):
    out, model, again = tmp_path / "out.csv", tmp_path / "dda.model", tmp_path / "again.csv"
    plots = tmp_path / "out.png", tmp_path / "again.png"
    distorted = ("--distorted", files["a"], "--distorted", files["b"])
    result = good(
        "embed", files["clean"], DDA, *distorted, "-o", out, "--save", model, "--plot", plots[0], "--json"
    )
    expected = model_of(values, "ab")
    features = expected.transform(values["clean"])
    np.testing.assert_allclose(numbers(out), features, rtol=1e-9, atol=1e-12)
    found = json.loads(result.stdout)
    assert found["method"] == "distortion-discriminant-analysis"
    assert found["shape"] == [len(features), 2]
    assert (found["receptive_field"], found["hop"]) == (expected.receptive_field_, 4)
    # ids and labels are those of the first step of each window
    assert [row["id"] for row in rows(out)] == [f"t{4 * i}" for i in range(len(features))]
    assert [row["species"] for row in rows(out)] == [f"p{4 * i // 40}" for i in range(len(features))]

    good("transform", model, files["clean"], "-o", again, "--plot", plots[1], "-q")
    assert_same_rows(again, out)
    assert all(plot.stat().st_size for plot in plots)
    good("transform", model, files["late"], "-o", again, "--force -q")
    np.testing.assert_allclose(numbers(again), expected.transform(values["late"]), rtol=1e-9, atol=1e-9)
    assert json.loads(good("info", model, "--json").stdout)["n_samples"] == 120


@pytest.mark.long
def test_layers_have_their_own_files(tmp_path, files, values):
    out = tmp_path / "out.csv"
    shared = ("--distorted", files["a"], "--distorted", files["b"])
    late = (f"--layer-distorted 2={files['early']}", f"--layer-distorted=2={files['late']}")
    first = (f"--layer-distorted 1={files['a']}", f"--layer-distorted 1={files['b']}")
    expected = model_of(values, "", ["ab", ["early", "late"]]).transform(values["clean"])
    for versions in ((*shared, *late), (*first, *late)):
        good("embed", files["clean"], DDA, *versions, "-o", out, "--force -q")
        np.testing.assert_allclose(numbers(out), expected, rtol=1e-9, atol=1e-12)
    assert not np.allclose(expected, model_of(values, "ab").transform(values["clean"]))


@pytest.mark.long
def test_versions_are_standardized_like_the_input(tmp_path, files, values):
    out, model, again = tmp_path / "out.csv", tmp_path / "dda.model", tmp_path / "again.csv"
    distorted = ("--distorted", files["a"], "--distorted", files["b"])
    good("embed", files["clean"], DDA, "--standardize", *distorted, "-o", out, "--save", model, "-q")
    mean, scale = values["clean"].mean(axis=0), values["clean"].std(axis=0)
    scaled = {name: (X - mean) / scale for name, X in values.items()}
    np.testing.assert_allclose(
        numbers(out), model_of(scaled, "ab").transform(scaled["clean"]), rtol=1e-7, atol=1e-9
    )
    good("transform", model, files["clean"], "-o", again, "-q")
    assert_same_rows(again, out)


@pytest.mark.long
@pytest.mark.parametrize("scaling", ["", "--standardize"])
def test_windows_extend_over_the_chunks_of_a_stream(scaling, tmp_path, files, monkeypatch):
    from eigenscape.app.cli import run

    chunks = []

    def short_chunks(X, original=run.row_chunks):
        for chunk in original(X):
            parts = np.array_split(np.asarray(chunk), 50)
            chunks.extend(parts)
            yield from parts

    whole, model, parts = tmp_path / "whole.csv", tmp_path / "dda.model", tmp_path / "parts.csv"
    distorted = ("--distorted", files["a"], "--distorted", files["b"])
    good("embed", files["clean"], DDA, scaling, *distorted, "-o", whole, "--save", model, "-q")
    monkeypatch.setattr(run, "row_chunks", short_chunks)
    good("transform", model, files["clean"], "--stream -o", parts, "-q")
    assert len(chunks) >= 50
    np.testing.assert_allclose(numbers(parts), numbers(whole), rtol=1e-9, atol=1e-9)


def test_oriented_pca_is_fitted_to_distorted_versions(tmp_path, files, values):
    out = tmp_path / "out.csv"
    versions = ("--distorted", files["a"], "--distorted", files["b"])
    good("embed", files["clean"], "-m oriented-pca", *versions, "-o", out, "-q")
    expected = eigenscape.OrientedPCA().fit(values["clean"], distorted=[values["a"], values["b"]])
    np.testing.assert_allclose(numbers(out), expected.embedding_, rtol=1e-9, atol=1e-12)
    assert [row["species"] for row in rows(out)][::40] == ["p0", "p1", "p2"]  # labels are not groups here


def test_columns_of_versions_are_matched_by_name(tmp_path, files, values):
    out, other = tmp_path / "out.csv", tmp_path / "other.csv"
    swapped = write_csv(tmp_path / "swapped.csv", values["b"][:, ::-1], NAMES[::-1])
    for last, target in ((files["b"], out), (swapped, other)):
        good("embed", files["clean"], DDA, "--distorted", files["a"], "--distorted", last, "-o", target, "-q")
    np.testing.assert_allclose(numbers(other), numbers(out), rtol=1e-9, atol=1e-12)


# --- errors -------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_mismatched_files_raise(tmp_path, files, values):
    short = write_csv(tmp_path / "short.csv", values["a"][:-1], NAMES)
    named = write_csv(tmp_path / "named.csv", values["a"], ["left", "middle"])
    order = [f"t{i}" for i in range(118, -1, -1)]
    shuffled = write_csv(tmp_path / "shuffled.csv", values["a"][::-1], NAMES, id=["t119", *order])
    out = tmp_path / "out.csv"
    for method in ("-m opca", DDA):
        message = bad("embed", files["clean"], method, "--distorted", short, "-o", out)
        assert "short.csv has 119 rows and 2 columns, but" in message
        assert "clean.csv has 120 rows and 2 columns; a distorted version has a row for each row" in message
        message = bad("embed", files["clean"], method, "--distorted", named, "-o", out)
        assert "named.csv lacks columns that the model needs: right" in message
        message = bad("embed", files["clean"], method, "--distorted", shuffled, "-o", out)
        assert "shuffled.csv is t119, but in" in message
        message = bad("embed", files["clean"], method, "--distorted", tmp_path / "none.csv", "-o", out)
        assert "none.csv" in message
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            "-m pca --distorted A",
            "--distorted is for -m oriented-pca and -m distortion-discriminant-analysis",
        ),
        (
            "-m opca --layer-distorted 1=A",
            "--layer-distorted is for -m distortion-discriminant-analysis, but",
        ),
        ("-m opca --distorted A --missing drop", "--missing drop would drop different rows"),
        (DDA, "needs distorted versions of the input, whose differences from it are the noise; give each as"),
        (f"{DDA} --layer-distorted 2=A", "layer 1 of distortion-discriminant-analysis needs distorted"),
        (f"{DDA} --distorted A --layer-distorted 3=A", "there is no layer 3; layers are counted from 1 to 2"),
        (f"{DDA} --distorted A --layer-distorted 0=A", "there is no layer 0; layers are counted"),
        (f"{DDA} --distorted A --layer-distorted A", "--layer-distorted must be LAYER=FILE, such as 2="),
        (f"{DDA} --distorted A --layer-distorted 1=A --layer-distorted 2=A", "--distorted is not used"),
        (f"{DDA} --distorted -", "- for standard input is not supported"),
        (f"{DDA} --distorted A -d 2", "-d does not apply to distortion-discriminant-analysis; --layers sets"),
        (f"{DDA} --distorted A --report x.html", "--report needs coordinates for each row"),
        (f"{DDA} --distorted A --save m --compact 9", "--compact does not apply"),
        (f"{DDA} --distorted A --missing drop", "--missing drop would"),
        (f"{DDA} --distorted A --stream", "--stream is supported by -m greedy and -m pca only"),
        (f"{DDA} --distorted A --dask local", "does not work with --dask; omit it"),
        (
            f"{DDA} --distorted A --kind distances",
            "needs rows of numbers, but the input is a distance matrix",
        ),
        ("-m dda --layers 4,5,2 --distorted A", "layers[0]=4 must be (n_components, window, step)"),
    ],
)
def test_invalid_options_raise(words, message, tmp_path, files):
    source = version = files["clean"]
    if "--kind distances" in words:
        source = version = tmp_path / "square.csv"
        np.savetxt(source, 1 - np.eye(4), delimiter=",")
    words = words.replace("=A", f"={version}").replace(" A", f" {version}")
    assert message in bad("embed", source, words, "-o", tmp_path / "out.csv", "-q")


def test_files_are_not_overwritten(tmp_path, files):
    before = files["a"].read_bytes()
    words = ("embed", files["clean"], DDA, "--distorted", files["a"], "--force -q -o")
    assert "is also a distorted version of the input" in bad(*words, files["a"])
    assert "an h5ad file has coordinates for each row" in bad(*words, tmp_path / "out.h5ad")
    assert files["a"].read_bytes() == before


@pytest.mark.long
def test_commands_for_rows_do_not_apply_to_sequences(tmp_path, files, values):
    model, short = tmp_path / "dda.model", write_csv(tmp_path / "short.csv", values["a"][:7], NAMES)
    good("embed", files["clean"], DDA, "--distorted", files["a"], "--save", model, "-q")
    out = ("-o", tmp_path / "out.csv", "-q")
    assert "at least 8 time steps, but X has 7" in bad("transform", model, short, *out)
    assert "has fewer rows than the 8 that one output" in bad("transform", model, short, "--stream", *out)
    assert "--missing drop would leave gaps" in bad("transform", model, files["a"], "--missing drop", *out)
    message = bad("transform", model, files["a"], "--dask local -q -o", tmp_path / "folder")
    assert "extend over partitions, so it does not work with --dask; use --stream" in message
    assert "no inverse_transform" in bad("inverse", model, files["a"], *out)
    message = bad("compare", files["clean"], "-m pca", DDA, "--report", tmp_path / "c.html")
    assert "outputs features of windows of rows, which are not compared" in message
