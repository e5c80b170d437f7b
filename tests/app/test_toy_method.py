"""A method is one class: this one, defined nowhere else, is known to every part of the application."""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from typer.testing import CliRunner

import eigenscape
from eigenscape import io
from eigenscape.app.cli.app import app
from eigenscape.app.explore.forms import describe_methods, parse_request
from eigenscape.estimators._base import FitResult, KernelEstimator
from eigenscape.estimators._method import Memory, Method
from eigenscape.kernels import Gaussian, Linear
from eigenscape.methods.kernel_pca import kernel_pca

sys.path.append(str(Path(__file__).parents[1] / "estimators"))
import test_laws
from cases import Case


class ToyMap(KernelEstimator):
    """A toy with a kernel of a fixed width.

    Parameters
    ----------
    n_components : int, default=2
        Number of coordinates.
    shape : {"bump", "plane"}, default="bump"
        Shape of the kernel.
    sigma : float, default=0.4
        Width of the bump.
    """

    _method = Method("toy-map", aliases=("tm",), memory=Memory(square=1, blocked=True))
    _meaning = "Toys that are alike are close."

    def __init__(
        self, n_components: int = 2, *, shape: Literal["bump", "plane"] = "bump", sigma: float = 0.4
    ) -> None:
        self.n_components = n_components
        self.shape = shape
        self.sigma = sigma

    eigen_solver = "auto"
    tol, max_iter, random_state, n_jobs = 1e-10, None, 0, None

    def _embed(self, X: Any, blocks: Any = None) -> FitResult:
        kernel = Gaussian(self.sigma) if self.shape == "bump" else Linear()
        return FitResult(kernel_pca(kernel.bind(X), self.n_components, self._solver()))


#: Other tests of this process list all methods, so the toy has its description in these tests only.
DESCRIPTION, ToyMap._method = ToyMap._method, None


@pytest.fixture(autouse=True)
def described(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ToyMap, "_method", DESCRIPTION)


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    np.savetxt(
        path, np.random.default_rng(0).normal(size=(40, 3)), delimiter=",", header="a,b,c", comments=""
    )
    return path


def run(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.output
    return result.output


def test_command_line(rows: Path, tmp_path: Path) -> None:
    assert "toy-map" in run("methods")
    shown = json.loads(run("methods", "TM", "--json"))
    assert [each["name"] for each in shown["parameters"]] == ["n_components", "shape", "sigma"]
    assert "Width of the bump." in run("embed", "-m", "toy-map", "--help")
    out, again, saved = (tmp_path / name for name in ("out.csv", "again.csv", "toy.eigenscape"))
    run("embed", rows, "-m", "tm", "--sigma", "0.2", "-o", out, "--save", saved)
    assert out.read_text().startswith('"toymap0","toymap1"')
    run("transform", saved, rows, "-o", again)
    np.testing.assert_allclose(*(np.loadtxt(path, delimiter=",", skiprows=1) for path in (out, again)))
    wrong = CliRunner().invoke(app, ["embed", str(rows), "-m", "tm", "--sigma", "0", "-o", "x.csv"])
    assert "--sigma must be above 0, got '0'" in wrong.output


def test_form() -> None:
    form = next(each for each in describe_methods(40, has_labels=False) if each["name"] == "toy-map")
    assert [(each["name"], each["type"]) for each in form["parameters"]] == [
        ("n_components", "int"),
        ("shape", "choice"),
        ("sigma", "float"),
    ]
    assert parse_request("toy-map", {"sigma": 0.5}, 40, has_labels=False) == ("toy-map", {"sigma": 0.5})


def test_report_and_model_file(tmp_path: Path) -> None:
    X = np.random.default_rng(1).normal(size=(60, 3))
    model = ToyMap().fit(X)
    eigenscape.report.write_report(tmp_path / "toy.html", model, X)
    assert "Toys that are alike are close." in (tmp_path / "toy.html").read_text()
    eigenscape.save(model, tmp_path / "toy.eigenscape")
    assert io.describe(tmp_path / "toy.eigenscape")["method"] == "ToyMap"
    loaded = eigenscape.load(tmp_path / "toy.eigenscape")
    assert isinstance(loaded, ToyMap)
    np.testing.assert_array_equal(loaded.transform(X), model.transform(X))


@pytest.mark.parametrize("params", [{"sigma": 0}, {"sigma": "wide"}, {"shape": "cone"}, {"n_components": 0}])
def test_parameters_are_checked(params: dict[str, Any]) -> None:
    (name, value) = next(iter(params.items()))
    with pytest.raises(ValueError, match=f"{name}={value!r}"):
        ToyMap(**params).fit(np.eye(9))


def laws() -> dict[str, Any]:
    """The laws that kernel PCA obeys, by name."""
    first = next(case.id for case in test_laws.CASES if case.id.startswith("KernelPCA"))
    found = {}
    for name, law in vars(test_laws).items():
        for mark in getattr(law, "pytestmark", ()):
            if mark.name == "parametrize" and (first in mark.args[1] or (first, "float64") in mark.args[1]):
                found[name] = law
    return found


@pytest.mark.parametrize("law", laws())
def test_law(law: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(test_laws.CASE, "ToyMap", Case("ToyMap", ToyMap, "curve"))
    function = laws()[law]
    dtype = ("float64",) if "dtype" in inspect.signature(function).parameters else ()
    function("ToyMap", *dtype)
