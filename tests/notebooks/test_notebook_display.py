"""What notebooks display: figures, progress bars and estimators, by the display machinery of IPython."""

from __future__ import annotations

import re
from importlib.util import find_spec

import numpy as np
import pytest
import sklearn
from cases import load

import eigenscape
from eigenscape import (
    PCA,
    Isomap,
    LaplacianEigenmaps,
    LocallyLinearEmbedding,
    MixturePPCA,
    ProjectionPursuit,
)
from eigenscape._progress import reporting, stage

IPython = pytest.importorskip("IPython", reason="IPython is not installed")


@pytest.fixture(scope="module")
def shell():
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    yield shell
    InteractiveShell.clear_instance()


@pytest.fixture(scope="module")
def X():
    return load("curve")[0]


# --- figures ------------------------------------------------------------------------------------------------


@pytest.mark.process
def test_each_figure_of_a_notebook_is_shown_once(tmp_path, monkeypatch):
    """A figure appears as the value of a cell, with ``;``, when it is assigned, and with ``plt.show()``."""
    nbconvert = pytest.importorskip("nbconvert.preprocessors", reason="nbconvert is not installed")
    pytest.importorskip("ipykernel", reason="ipykernel is not installed")
    import nbformat.v4 as notebooks

    monkeypatch.delenv("MPLBACKEND", raising=False)  # the kernel sets its own

    start = "import numpy as np; from eigenscape import plot; Y = np.eye(4)[:, :2]"
    cells = {
        "plot.scatter(Y)": 1,
        "plot.scatter(Y);": 1,
        "ax = plot.scatter(Y)": 1,
        "import matplotlib.pyplot as plt; plot.spectrum(np.arange(4.0)); plt.show()": 1,
        "plot.compare([Y, Y])": 1,
        "figure = plot.compare([Y, Y])": 1,
        "figure, axes = plt.subplots(1, 2); plot.scatter(Y, ax=axes[0]); plot.scatter(Y, ax=axes[1]);": 1,
        "plot.scatter(Y); plot.scatter(Y);": 2,
        "ax.figure": 1,
        "len(plt.get_fignums())": 0,
    }
    notebook = notebooks.new_notebook(cells=[notebooks.new_code_cell(code) for code in [start, *cells]])
    nbconvert.ExecutePreprocessor(timeout=120).preprocess(notebook, {"metadata": {"path": tmp_path}})
    shown = [sum("image/png" in out.get("data", {}) for out in cell.outputs) for cell in notebook.cells[1:]]
    assert dict(zip(cells, shown, strict=True)) == cells
    assert notebook.cells[-1].outputs[0]["data"]["text/plain"] == "0"


# --- progress -----------------------------------------------------------------------------------------------


@pytest.fixture
def outputs(monkeypatch):
    """Let rich take the process for a notebook, and collect what it displays."""
    ipywidgets = pytest.importorskip("ipywidgets")
    jupyter = pytest.importorskip("rich.jupyter")
    shown, texts = [], []
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr("IPython.display.display", shown.append)
    monkeypatch.setattr(jupyter, "display", lambda _, text: texts.append(text))
    monkeypatch.setattr(ipywidgets.Output, "__enter__", lambda self: self)
    monkeypatch.setattr(ipywidgets.Output, "__exit__", lambda *_: None)
    return shown, texts


def test_progress_is_one_output_that_is_replaced(outputs, X, capsys):
    shown, texts = outputs
    Isomap(verbose=True).fit(X)
    assert len(shown) == 1
    for name in ("neighbours", "geodesics", "eigen-solve"):
        assert re.search(rf"{name} .*100%", texts[-1])
    assert capsys.readouterr().err == ""


def test_progress_of_names_with_markup(outputs):
    with reporting(True), stage("[b]x", total=8) as advance:
        advance(2)
    assert "[b]x" in outputs[1][-1]


def test_without_widgets_a_notebook_shows_lines(outputs, monkeypatch, capsys):
    monkeypatch.setattr("eigenscape._progress_displays.find_spec", lambda _: None)
    with reporting(True), stage("solve"):
        pass
    assert outputs == ([], [])
    assert capsys.readouterr().err.startswith("solve ...\ndone: solve")


# --- estimators ---------------------------------------------------------------------------------------------


def test_a_fitted_estimator_shows_its_spectrum_and_residuals(shell, X):
    model = LaplacianEigenmaps(3)
    assert "eigenscape-spectrum" not in shell.display_formatter.format(model)[0]["text/html"]
    data = shell.display_formatter.format(model.fit(X))[0]
    assert data["text/plain"] == "LaplacianEigenmaps(n_components=3)"
    drawing = data["text/html"].partition("eigenscape-spectrum")[2]
    assert drawing.count("<rect") == 3
    for i, value in enumerate(model.eigenvalues_, 1):
        assert f"<title>{i}: {value:.6g}</title>" in drawing
    relative = np.abs(model.residuals_).max() / np.abs(model.eigenvalues_).max()
    assert f"largest residual {relative:.1e}" in drawing
    assert model._repr_html_().endswith(drawing)
    with sklearn.config_context(display="text"):
        assert "text/html" not in shell.display_formatter.format(model)[0]


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::eigenscape.exceptions.DisconnectedGraphWarning")
def test_representations_of_unusual_spectra(X):
    split = load("split")[0]
    pieces = Isomap(on_disconnected="per_component").fit(split)
    assert pieces._repr_html_().count("<rect") == pieces.eigenvalues_.size
    many = PCA(n_components=None).fit(np.random.default_rng(0).random((80, 60)))
    assert many._repr_html_().count("<rect") == 40
    assert "the first 40 are drawn" in many._repr_html_()
    assert "eigenscape-spectrum" not in ProjectionPursuit().fit(X)._repr_html_()
    for model in (LocallyLinearEmbedding(), MixturePPCA(n_mixtures=2)):
        assert "<" in model.fit(X)._repr_html_()
    damaged = PCA(2).fit(X)
    damaged.eigenvalues_, damaged.solver_ = np.array([np.nan, -1.0]), "<script>"
    assert "&lt;script&gt;" in damaged._repr_html_()
    assert "solver <script>" not in damaged._repr_html_()


# --- callbacks of scikit-learn ------------------------------------------------------------------------------

pytest_callbacks = pytest.mark.skipif(
    find_spec("sklearn.callback") is None, reason="scikit-learn before 1.9 has no callbacks"
)


class Log:
    """A callback that keeps the names of the tasks."""

    def __init__(self):
        self.begun, self.ended, self.fitted, self.closed = [], [], None, 0

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.ended.append(context.task_name)
        self.fitted = fitted_estimator

    def teardown(self, estimator, context):
        self.closed += 1


@pytest_callbacks
def test_stages_are_tasks_of_callbacks(X, capsys):
    log = Log()
    model = Isomap().set_callbacks(log).fit(X)
    stages = [name for name in log.begun if name != "step"]
    assert stages == ["fit", "neighbours", "geodesics", "eigen-solve"]
    assert [name for name in log.ended if name != "step"] == [*stages[1:], "fit"]
    assert 0 < log.begun.count("step") <= 300
    np.testing.assert_allclose(log.fitted.transform(X), model.embedding_, atol=1e-10)
    assert log.closed == 1
    assert capsys.readouterr().err == ""
    model.set_params(verbose=True).fit(X)  # both displays
    assert "eigen-solve" in capsys.readouterr().err
    assert log.begun.count("fit") == 2


@pytest_callbacks
def test_callbacks_are_closed_after_an_error_and_not_saved(X, tmp_path):
    log = Log()
    model = Isomap(n_neighbors=500).set_callbacks(log)
    with pytest.raises(ValueError, match="n_neighbors"):
        model.fit(X)
    assert (log.closed, log.ended) == (1, [])
    eigenscape.save(model.set_params(n_neighbors=8).fit(X), tmp_path / "m.eigenscape")
    assert "_skl_callbacks" not in vars(eigenscape.load(tmp_path / "m.eigenscape"))
    assert sklearn.base.clone(model).n_neighbors == 8
