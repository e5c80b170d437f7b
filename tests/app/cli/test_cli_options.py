"""Parameters of estimators as options: names, types, defaults and descriptions."""

import inspect
import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

import eigenscape
from eigenscape._parameters import COUNT
from eigenscape.app.cli.app import app
from eigenscape.app.cli.errors import CommandError
from eigenscape.app.cli.input import use_stream
from eigenscape.app.methods import (
    Parameter,
    all_methods,
    estimator_class,
    make_estimator,
    method_name,
    parameters,
)
from eigenscape.options import (
    Anchors,
    Dictionary,
    Inverse,
    KNNGraph,
    Landmarks,
    Ordinal,
    RadiusGraph,
    Solver,
    SpanningTree,
    flattened,
)

METHODS = {name: cls.__name__ for name, cls in all_methods().items()}


def run(*words):
    return CliRunner().invoke(app, list(words))


def test_every_estimator_is_a_method():
    classes = {
        name
        for name in eigenscape.__all__
        if inspect.isclass(getattr(eigenscape, name)) and hasattr(getattr(eigenscape, name), "fit")
    }
    # classifiers, regressors and densities compute no coordinates; ParametricMap takes an estimator,
    # AlignedSpectralMaps several tables, and DistortionDiscriminantAnalysis sequences
    assert set(METHODS.values()) == {
        name for name in classes if hasattr(getattr(eigenscape, name), "transform")
    } - {"ParametricMap", "AlignedSpectralMaps", "DistortionDiscriminantAnalysis"}


@pytest.mark.parametrize("method", METHODS)
def test_parameters_are_those_of_the_signature_and_all_are_described(method):
    cls = estimator_class(method)
    found, signature = parameters(cls), inspect.signature(cls).parameters
    own = {name for name, each in found.items() if each.group.endswith("Parameters")}
    objects = {"affinity", "approximation", "dictionary", "graph", "kernels"}  # some are names as well
    assert set(signature) - {"verbose", *objects} <= own <= set(signature)
    for name, parameter in found.items():
        assert name not in own or parameter.default == signature[name].default
        assert parameter.doc_type or parameter.description, f"{method} does not describe {name}"
        assert "As for" not in parameter.description[:6]
        assert "``" not in parameter.description
        assert ":class:" not in parameter.description


@pytest.mark.long
@pytest.mark.parametrize(
    "method",
    [pytest.param(one, marks=[] if one in ("isomap", "kernel-pca") else pytest.mark.long) for one in METHODS],
)
def test_help_of_a_method_shows_its_parameters(method):
    result = run("embed", "-m", method, "--help")
    assert result.exit_code == 0
    for parameter in parameters(estimator_class(method)).values():
        assert parameter.option in result.stdout


@pytest.mark.parametrize(
    ("types", "text", "value"),
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
def test_values_are_parsed_by_the_annotated_types(types, text, value):
    found = Parameter("p", types, None, "", "").parse(text)
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("types", "text", "message"),
    [
        (("int", "None"), "ten", "--n-neighbors must be an integer or none, got 'ten'"),
        (("dict",), "[1]", "must be a JSON object"),
        (("array",), "a,b", "must be numbers separated by commas"),
        (("int",), "0", "must be at least 1"),
    ],
)
def test_errors_of_invalid_values(types, text, message):
    with pytest.raises(CommandError, match=message):
        Parameter("n_neighbors", types, None, "", "", limits=COUNT).parse(text)


class _Annotated:
    """An estimator with the annotations that estimators use.

    Parameters
    ----------
    solver, joined : str
        Strategies.
    """

    def __init__(
        self,
        solver: Literal["auto", "dense"] = "auto",
        joined: "Literal['union', 'mutual'] | None" = None,
        size: "int | Literal['auto']" = 5,
        index: "str | Callable[[np.ndarray], float]" = "kurtosis",
        weights: "ArrayLike | None" = None,  # noqa: F821
        points: "NDArray[np.float64] | Sequence[int]" = (),  # noqa: F821
        whiten: "Literal[True, False, 'unit']" = False,
        options: "dict[str, float] | None" = None,
        random_state: "int | np.random.RandomState | None" = None,
        kernel: "Kernel | Unheard.of" = None,  # noqa: F821
        tree: "Tree[int] | float" = 0.5,  # noqa: F821
    ):
        """Do nothing."""


def test_objects_and_neighbour_lists_are_not_offered_on_the_command_line():
    search = parameters(eigenscape.Isomap)["search"]
    assert (search.types, search.choices) == ((), ("auto", "exact", "approximate"))
    with pytest.raises(CommandError, match="must be auto or exact or approximate, got '1,2'"):
        search.parse("1,2")


def test_fields_of_option_objects_are_options():
    known = parameters(eigenscape.LaplacianEigenmaps)
    groups = {name: each.group for name, each in known.items()}
    assert list(dict.fromkeys(groups.values()))[:4] == [
        "Parameters",
        "Other Parameters",
        "KNNGraph",
        "RadiusGraph",
    ]
    assert (groups["n_neighbors"], groups["symmetrize"], groups["n_anchors"]) == (
        "Parameters",
        "KNNGraph",
        "Anchors",
    )
    assert "mutual" in known["symmetrize"].description
    assert (known["radius"].default, known["radius"].parse("none")) == (None, None)
    assert not {"approximation", "selection", "verbose"} & set(known)
    assert "selection" in parameters(eigenscape.GreedySpectralEmbedding)


@pytest.mark.parametrize(
    "model",
    [
        eigenscape.LaplacianEigenmaps(affinity=KNNGraph(7, symmetrize="mutual", weights="heat", width=2.0)),
        eigenscape.LaplacianEigenmaps(affinity=RadiusGraph(2.0), approximation=Anchors(9)),
        eigenscape.Isomap(graph=SpanningTree(4), ordinal=Ordinal(n_init=2)),
        eigenscape.Isomap(approximation=Landmarks(20, "random"), eigen_solver=Solver("dense", tol=1e-8)),
        eigenscape.KernelPCA(approximation=Dictionary(9), inverse=Inverse("ridge", alpha=0.1)),
    ],
    ids=lambda model: type(model).__name__,
)
def test_flat_parameters_make_the_same_estimator(model):
    again = make_estimator(type(model), flattened(model.get_params()))
    assert again.get_params() == model.get_params()


def test_types_and_choices_of_annotations():
    found = {name: (each.types, each.choices, each.is_flag) for name, each in parameters(_Annotated).items()}
    assert found == {
        "solver": ((), ("auto", "dense"), False),
        "joined": (("None",), ("union", "mutual"), False),
        "size": (("int",), ("auto",), False),
        "index": (("str",), (), False),
        "weights": (("array", "None"), (), False),
        "points": (("Any",), (), False),  # as is any annotation with a name that only type checkers import
        "whiten": (("bool",), ("unit",), True),
        "options": (("dict", "None"), (), False),
        "random_state": (("int", "None"), (), False),
        "kernel": (("Any",), (), False),
        "tree": (("Any",), (), False),
    }
    known = parameters(_Annotated)
    assert known["solver"].description == known["joined"].description == "Strategies."
    assert known["size"].type_text == "'auto' | int"
    assert [known["size"].parse(text) for text in ("auto", "7")] == ["auto", 7]
    assert [known["whiten"].parse(text) for text in ("unit", "yes", "no")] == ["unit", True, False]
    assert known["points"].parse("3,5") == [3, 5]
    assert known["joined"].parse("none") is None
    with pytest.raises(CommandError, match="--joined must be union or mutual or none, got 'all'"):
        known["joined"].parse("all")


def test_aliases_and_classes_name_methods():
    assert (
        method_name("LLE")
        == method_name("LocallyLinearEmbedding")
        == method_name("locally_linear_embedding")
        == "locally-linear-embedding"
    )
    for name, cls in all_methods().items():
        assert {method_name(alias) for alias in cls._method.aliases} <= {name}


@pytest.mark.parametrize(
    ("words", "messages"),
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
def test_invalid_options_are_one_line_and_code_2(words, messages, tmp_path):
    result = run("embed", "data.csv", "-o", str(tmp_path / "out.csv"), *words)
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    for message in messages:
        assert message in result.stderr


def test_methods_lists_all_and_shows_one():
    result = run("methods", "--json")
    assert set(json.loads(result.stdout)) == set(METHODS)
    listed = run("methods").stdout
    assert all(name in listed for name in METHODS)
    one = json.loads(run("methods", "kpca", "--json").stdout)
    assert one["class"] == "KernelPCA"
    assert [each["name"] for each in one["parameters"]][:2] == ["n_components", "kernel"]


@pytest.mark.long
def test_version_and_help():
    assert run("--version").stdout == f"eigenscape {eigenscape.__version__}\n"
    assert "eigenscape embed iris.csv -m isomap" in run("embed", "--help").stdout
    assert run().exit_code == 0
    assert "transform" in run().stdout


def test_help_shows_ten_options_first_and_the_others_under_headings():
    """The first panel of ``--help`` has the options without a heading."""
    command = typer.main.get_command(app).commands["embed"]
    given = [each for each in command.params if each.param_type_name == "option"]
    first = [each.opts[-1] for each in given if each.rich_help_panel is None]
    assert first == [
        *("-m", "-d", "--out", "--plot", "--report", "--save", "--force"),
        *("--label", "--columns", "--standardize"),
    ]
    assert {each.rich_help_panel for each in given} - {None} == {"Reading", "Writing", "Messages", "Cluster"}
    shown = run("embed", "--help").stdout
    headings = ["Options", "Writing", "Reading", "Messages", "Cluster"]
    places = [shown.index(f" {heading} ─") for heading in headings]
    assert places == sorted(places)


@pytest.mark.process
def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom eigenscape.app.cli.app import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit as end:\n    assert not end.code\n"
        "heavy = {'numpy', 'numba', 'sklearn', 'scipy', 'matplotlib', 'pyarrow', 'numpydoc'}\n"
        "assert not heavy & set(sys.modules), heavy & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.process
@pytest.mark.parametrize("package", ["typer", "rich"])
def test_without_the_extra_the_error_names_it(package):
    code = f"import sys\nsys.modules[{package!r}] = None\nfrom eigenscape.app.cli import main\nmain()\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == (
        f"error: the command line needs the package {package}, which is not installed;"
        ' install it with: pip install "eigenscape[cli]"\n'
    )


def test_large_files_are_streamed_by_default(tmp_path, monkeypatch):
    file = tmp_path / "rows.npy"
    file.write_bytes(bytes(2000))
    assert not use_stream(str(file), False, eigenscape.GreedySpectralEmbedding)
    monkeypatch.setattr("eigenscape.app.cli.input.STREAM_BYTES", 1000)
    assert use_stream(str(file), False, eigenscape.GreedySpectralEmbedding)
    assert not use_stream(str(file), False, eigenscape.Isomap)  # needs all rows
    assert not use_stream("-", False, eigenscape.PCA)
