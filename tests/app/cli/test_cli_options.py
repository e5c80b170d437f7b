"""Parameters of estimators as options: names, values and explanations come from the estimators themselves."""

import inspect
import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import eigenscape
from eigenscape.app.cli.app import app
from eigenscape.app.cli.errors import CommandError
from eigenscape.app.cli.estimators import (
    ALIASES,
    METHODS,
    Parameter,
    estimator_class,
    method_name,
    parameters,
)
from eigenscape.app.cli.input import use_stream


def run(*words):
    return CliRunner().invoke(app, list(words))


def test_every_estimator_is_a_method():
    classes = {
        name
        for name in eigenscape.__all__
        if inspect.isclass(getattr(eigenscape, name)) and hasattr(getattr(eigenscape, name), "fit")
    }
    # sequences of time steps are no table of rows
    assert set(METHODS.values()) == classes - {"DistortionDiscriminantAnalysis"}


@pytest.mark.parametrize("method", METHODS)
def test_parameters_are_those_of_the_signature_and_all_are_explained(method):
    cls = estimator_class(method)
    found = parameters(cls)
    assert set(found) == set(inspect.signature(cls).parameters) - {"verbose"}
    for name, parameter in found.items():
        assert parameter.default == inspect.signature(cls).parameters[name].default
        assert parameter.doc_type or parameter.description, f"{method} says nothing of {name}"
        assert "As for" not in parameter.description[:6]
        assert "``" not in parameter.description
        assert ":class:" not in parameter.description


@pytest.mark.parametrize("method", METHODS)
def test_help_of_a_method_shows_its_parameters(method):
    result = run("embed", "-m", method, "--help")
    assert result.exit_code == 0
    for parameter in parameters(estimator_class(method)).values():
        assert parameter.option in result.stdout


@pytest.mark.parametrize(
    ("types", "word", "value"),
    [
        (("int", "None"), "12", 12),
        (("int", "None"), "none", None),
        (("float",), "1e-3", 1e-3),
        (("int", "float", "str", "None"), "0.95", 0.95),
        (("int", "float", "str", "None"), "mle", "mle"),
        (("float", "str"), "auto", "auto"),
        (("bool", "None"), "false", False),
        (("bool",), "Yes", True),
        (("dict", "None"), '{"p": 3}', {"p": 3}),
        (("Any",), "3,5,8", [3, 5, 8]),
        (("Any",), "[0.5, 1]", [0.5, 1]),
        (("Any",), "cosine", "cosine"),
        (("Any",), "none", None),
        (("Any",), "7", 7),
        (("str",), "none", "none"),
    ],
)
def test_values_are_read_by_the_annotated_types(types, word, value):
    found = Parameter("p", types, None, "", "").parse(word)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("types", "word", "says"),
    [(("int", "None"), "ten", "an integer or none"), (("dict",), "[1]", "a JSON object")],
)
def test_a_wrong_value_says_what_is_wanted(types, word, says):
    with pytest.raises(CommandError, match=says):
        Parameter("n_neighbors", types, None, "", "").parse(word)


def test_aliases_and_classes_name_methods():
    assert (
        method_name("LLE")
        == method_name("LocallyLinearEmbedding")
        == method_name("locally_linear_embedding")
        == "locally-linear-embedding"
    )
    assert set(ALIASES.values()) <= set(METHODS)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["-m", "isomap", "--n-neighbours", "5"],
            ["no such option: --n-neighbours", "options of isomap", "did you mean --n-neighbors"],
        ),
        (["-m", "isomap", "--n-neighbors", "ten"], ["--n-neighbors must be an integer or none, got 'ten'"]),
        (["-m", "isomap", "--n-neighbors"], ["--n-neighbors needs a value"]),
        (["-m", "isomop"], ["no such method: isomop", "did you mean isomap"]),
        (
            ["-m", "pca", "--n-neighbors", "5"],
            ["no such option: --n-neighbors", "options of pca", "--whiten"],
        ),
        ([], ["Missing option '-m'"]),
        (["--n-neighbors", "5"], ["no such option", "need -m METHOD"]),
        (["-m", "pca", "--frobnicate"], ["no such option: --frobnicate"]),
    ],
)
def test_wrong_words_are_one_line_and_code_2(words, says, tmp_path):
    result = run("embed", "data.csv", "-o", str(tmp_path / "out.csv"), *words)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    for text in says:
        assert text in result.stderr


def test_methods_lists_all_and_shows_one():
    result = run("methods", "--json")
    assert set(json.loads(result.stdout)) == set(METHODS)
    listed = run("methods").stdout
    assert all(name in listed for name in METHODS)
    one = json.loads(run("methods", "kpca", "--json").stdout)
    assert one["class"] == "KernelPCA"
    assert [each["name"] for each in one["parameters"]][:2] == ["n_components", "kernel"]


def test_version_and_help():
    assert run("--version").stdout == f"eigenscape {eigenscape.__version__}\n"
    assert "eigenscape embed iris.csv -m isomap" in run("embed", "--help").stdout
    assert run().exit_code == 0
    assert "transform" in run().stdout


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom eigenscape.app.cli.app import app\ntry:\n    app(['--help'])\nexcept SystemExit as end:\n    assert not end.code\n"
        "heavy = {'numpy', 'numba', 'sklearn', 'scipy', 'matplotlib', 'pyarrow'} & set(sys.modules)\nassert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_large_files_are_read_in_chunks_without_being_asked(tmp_path, monkeypatch):
    file = tmp_path / "rows.npy"
    file.write_bytes(bytes(2000))
    assert not use_stream(str(file), False, "GreedySpectralEmbedding")
    monkeypatch.setattr("eigenscape.app.cli.input.STREAM_BYTES", 1000)
    assert use_stream(str(file), False, "GreedySpectralEmbedding")
    assert not use_stream(str(file), False, "Isomap")  # needs all rows
    assert not use_stream("-", False, "PCA")
