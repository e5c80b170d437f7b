"""Stages of estimators, progress displays on standard error, recorded times, and short representations."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
import warnings
from time import sleep

import numpy as np
import pytest
from sklearn.datasets import make_swiss_roll

import eigenscape
from eigenscape import _progress, _progress_displays
from eigenscape._progress import Line, _listener, recording, reporting, stage
from eigenscape.options import Dictionary
from eigenscape.quality import perturbation_stability

X, _ = make_swiss_roll(120, random_state=0)

STAGES = [
    (eigenscape.PCA(2), ["covariance", "eigen-solve"]),
    (eigenscape.KernelPCA(), ["kernel matrix", "eigen-solve"]),
    (eigenscape.KernelPCA(approximation=Dictionary(10)), ["dictionary", "second pass"]),
    (eigenscape.ClassicalMDS(), ["kernel matrix", "eigen-solve"]),
    (eigenscape.Isomap(), ["neighbours", "geodesics", "eigen-solve"]),
    (eigenscape.Isomap(n_landmarks=20), ["neighbours", "landmarks", "geodesics", "eigen-solve"]),
    (eigenscape.LocallyLinearEmbedding(), ["neighbours", "local solves", "eigen-solve"]),
    (eigenscape.LocallyLinearEmbedding(method="ltsa"), ["neighbours", "local solves", "eigen-solve"]),
    (eigenscape.LaplacianEigenmaps(), ["neighbours", "kernel matrix", "eigen-solve"]),
    (eigenscape.DiffusionMap(affinity="rbf"), ["kernel matrix", "eigen-solve"]),
    (eigenscape.SpectralClustering(3), ["neighbours", "kernel matrix", "eigen-solve", "clustering"]),
    (eigenscape.LandmarkMDS(n_landmarks=20), ["landmarks", "eigen-solve", "projection"]),
    (eigenscape.FastMap(), ["pivots", "projection"]),
    (eigenscape.MetricMap(), ["kernel matrix", "projection"]),
    (eigenscape.GreedySpectralEmbedding(), ["dictionary", "second pass", "projection"]),
    (eigenscape.KernelEigenmap(), ["neighbours", "assembly", "eigen-solve"]),
    (eigenscape.LocalityPreservingProjection(), ["neighbours", "assembly", "eigen-solve"]),
    (eigenscape.ProjectionPursuit(1), ["pursuit"]),
    (eigenscape.ProbabilisticPCA(2), ["eigen-solve"]),
    (eigenscape.MixturePPCA(), ["expectation maximisation"]),
    (eigenscape.OrdinalMDS(), ["starts"]),
    (eigenscape.NeighborEmbedding(max_iter=50), ["neighbours", "kernel matrix", "eigen-solve", "layout"]),
    (eigenscape.PotentialMap(), ["neighbours", "diffusion", "metric MDS"]),
]
FITS_WITHOUT_COORDINATES = [
    (eigenscape.EigenspaceDensity(cv=2), ["cross-validation"]),
    (eigenscape.ManifoldParzen(), ["cross-validation", "tangents"]),
    (eigenscape.ProjectionPursuitDensity(n_init=1), ["pursuit", "marginals"]),
    (eigenscape.EigenfunctionRegressor(), ["neighbours", "regression"]),
]


@pytest.mark.parametrize(("estimator", "expected"), FITS_WITHOUT_COORDINATES, ids=lambda _: None)
def test_densities_and_regressions_announce_their_stages(estimator, expected):
    with warnings.catch_warnings(), recording() as stages:
        warnings.simplefilter("ignore")
        estimator.fit(X, X[:, 0])
    assert set(expected) <= set(stages)


def test_work_outside_of_stages_is_reported_after_two_seconds(monkeypatch, capsys):
    clock = iter([0.0, 1.9, 2.1, 5.0, 17.2, 20.0])
    monkeypatch.setattr(_progress_displays, "perf_counter", lambda: next(clock, 0.0))
    monkeypatch.setattr(threading.Thread, "start", lambda _: None)  # lines are printed below
    display, shown = _progress_displays.TextDisplay(), []
    for _ in range(4):
        display._print_due()
        shown.append(capsys.readouterr().err)
    assert shown == ["", "working: 2 s so far\n", "", "working: 20 s so far\n"]
    display.show(Line("neighbours"))
    assert capsys.readouterr().err == "neighbours ...\n"


def test_components_and_eigenvalues_of_a_repaired_kernel_are_stages(monkeypatch):
    with recording() as stages:
        eigenscape.ClassicalMDS(indefinite="clip").fit(X)
    assert "eigen-solve" in dict(stages)
    monkeypatch.setattr("eigenscape._memory.available_bytes", lambda: 10_000)
    with recording() as stages:
        eigenscape.LaplacianEigenmaps(affinity="rbf").fit(X)
    assert "components" in dict(stages)


@pytest.mark.parametrize(
    ("estimator", "expected"), STAGES, ids=lambda value: value if isinstance(value, str) else None
)
def test_every_estimator_announces_its_stages(estimator, expected):
    rows = X[:50] if isinstance(estimator, (eigenscape.OrdinalMDS, eigenscape.MixturePPCA)) else X
    with warnings.catch_warnings(), recording() as fitting:
        warnings.simplefilter("ignore")
        estimator.fit(rows)
    assert [name for name in expected if name not in fitting] == []
    with recording() as placing:
        estimator.transform(rows[:5] + 0.01)
    assert "projection" in placing
    assert all(seconds >= 0 for seconds in [*fitting.values(), *placing.values()])


# --- recordings ---------------------------------------------------------------------------------------------


def test_times_exclude_stages_within_and_add_up():
    with recording() as stages:
        with stage("outer"):
            sleep(0.02)
            with stage("inner"):
                sleep(0.05)
        with stage("inner"):
            sleep(0.05)
    assert list(stages) == ["inner", "outer"]
    assert stages["inner"] >= 0.1
    assert 0.02 <= stages["outer"] < 0.05 + stages["inner"] / 2
    assert len(stages) == 2


def test_recordings_nest_and_survive_errors():
    with recording() as outer:
        with stage("before"):
            pass
        with pytest.raises(RuntimeError), recording() as inner, stage("fails"):
            raise RuntimeError
    assert list(inner) == ["fails"]
    assert list(outer) == ["before", "fails"]
    assert _listener.get() is None


def test_nobody_listening_costs_nothing():
    with stage("quiet", total=3) as advance:
        advance(1)
    assert _listener.get() is None
    heard = []

    def elsewhere():
        heard.append(_listener.get())

    with recording():
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert heard == [None]


def test_a_stage_that_ends_late_disturbs_no_other():
    def generator():
        with stage("slow"):
            yield 1
            yield 2

    with recording() as stages:
        items = generator()
        next(items)
        with stage("meanwhile"):
            items.close()
    assert sorted(stages) == ["meanwhile", "slow"]


# --- bars ---------------------------------------------------------------------------------------------------


@pytest.mark.process
@pytest.mark.usefixtures("forked_python")
def test_progress_goes_to_standard_error():
    code = (
        "import warnings; warnings.simplefilter('error')\n"
        "from sklearn.datasets import make_swiss_roll\n"
        "from eigenscape import Isomap\n"
        "X, _ = make_swiss_roll(300, random_state=0)\n"
        "model = Isomap(n_neighbors=12, verbose=True).fit(X)\n"
        "print(len(model.transform(X[:10])))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "10\n"
    for name in ("neighbours", "geodesics", "eigen-solve"):
        assert name in done.stderr
    assert "\x1b" not in done.stderr  # not a terminal: lines of text
    assert re.search(r"^eigen-solve \.\.\.$", done.stderr, re.MULTILINE)
    assert re.search(r"^done: .*eigen-solve \d+\.\d s", done.stderr, re.MULTILINE)


@pytest.fixture
def terminal(monkeypatch):
    """Let rich take standard error for a terminal."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")


def display():
    return _listener.get().displays[0]


def tasks():
    """The lines of rich's progress display."""
    return display().progress.tasks


def test_lines_are_shared_and_lent(capsys, terminal):
    with reporting(True):
        outer = display()
        with reporting(True):
            assert display() is outer  # no second display
        for _ in range(3):  # the same stage again: the same line
            with stage("piece", total=10) as advance:
                advance(4)
        with stage("around"), stage("within", total=8) as advance:
            advance(2)
            assert [(task.description, task.total, task.completed) for task in tasks()] == [
                ("piece", 30, 30),
                ("around", 8, 2),
            ]
        with stage("known", total=5), stage("within", total=8) as advance:
            advance(2)
            assert [(task.total, task.completed) for task in tasks()][-1] == (5, 0)
        assert all(task.finished for task in tasks())
    assert capsys.readouterr().out == ""


def test_a_bar_and_a_recording_hear_the_same(capsys, terminal):
    with recording() as stages, reporting(True), stage("work", total=2) as advance:
        advance(2)
    assert list(stages) == ["work"]
    with reporting(True), recording() as stages, stage("work"):
        assert len(tasks()) == 1
    assert list(stages) == ["work"]
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("100%") == 2


def test_without_rich_progress_is_plain_text(capsys, monkeypatch):
    for module in [name for name in sys.modules if name.partition(".")[0] == "rich"]:
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    with reporting(True):
        for _ in range(2):
            with stage("search", total=10) as advance:
                advance(4)
        line = _listener.get().lines["search"]
        assert (line.completed, line.total) == (20, 20)
        with stage("solve"):
            pass
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[:2] == ["search ...", "solve ..."]
    assert re.fullmatch(r"done: search \d+\.\d s, solve \d+\.\d s", captured.err.splitlines()[2])


def lines_of(monkeypatch, capsys, seconds, **options):
    """Return the lines of a stage of ten steps within ``seconds`` that is not on a terminal."""
    monkeypatch.setattr(_progress_displays, "LINE_SECONDS", 0.1)
    with reporting(True, **options), stage("search", total=10) as advance:
        for _ in range(10):
            sleep(seconds / 10)
            advance(1)
    return capsys.readouterr().err.splitlines()


@pytest.mark.long
def test_lines_with_the_remaining_time_come_now_and_then(monkeypatch, capsys):
    monkeypatch.setattr(_progress, "_MIN_SECONDS", 0.2)
    first, *between, last = lines_of(monkeypatch, capsys, 1.0)
    assert first == "search ..."
    assert last.startswith("done: search ")
    assert 2 <= len(between) <= 12
    assert all(re.fullmatch(r"search: \d+ %, 1 s so far(, about 1 s left)?", line) for line in between)
    assert any("left" in line for line in between)
    shares = [int(re.search(r"(\d+) %", line)[1]) for line in between]
    assert shares == sorted(shares)


@pytest.mark.long
def test_stages_without_steps_are_reported_too(monkeypatch, capsys):
    monkeypatch.setattr(_progress_displays, "LINE_SECONDS", 0.1)
    with reporting(True), stage("solve"):
        sleep(0.5)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "solve ..."
    assert "solve: 1 s so far" in lines


@pytest.mark.long
def test_nothing_is_printed_before_the_delay(monkeypatch, capsys):
    assert lines_of(monkeypatch, capsys, 0.2, delay=5.0) == []
    late = lines_of(monkeypatch, capsys, 1.0, delay=0.4)
    assert late[0] == "search ..."
    assert late[-1].startswith("done: ")


def test_remaining_times_are_those_of_the_steps():

    def remaining(elapsed, completed, total, bound=False):
        line = Line("solve", total, bound, completed)
        return line.remaining(line.stage_began + elapsed)

    assert remaining(60, 25, 100) == "about 3 min left"
    assert remaining(60, 25, 100, bound=True) == "at most 3 min left"
    assert remaining(10, 50, 100) == "about 10 s left"
    assert remaining(3600, 10, 100) == "about 9.0 h left"
    for unknown in ((60, 25, None), (0.5, 25, 100), (60, 0, 100), (60, 0.5, 100), (60, 100, 100)):
        assert remaining(*unknown) == ""


@pytest.mark.long
def test_steps_of_an_earlier_stage_do_not_count(monkeypatch):
    """An iteration that converges early completes its line, which says nothing about the next one."""
    monkeypatch.setattr(_progress, "_MIN_SECONDS", 0.0)
    with reporting(True):
        with stage("iterations", total=1000, bound=True) as advance:
            advance(10)
        with stage("iterations", total=1000, bound=True) as advance:
            sleep(0.3)
            advance(100)
            line = _listener.get().lines["iterations"]
            text = _progress_displays.describe(line, line.stage_began + 30.0)
    assert text.endswith("at most 4 min left")


def test_estimators_within_others_open_no_second_bar(capsys):
    perturbation_stability(eigenscape.PCA(2, verbose=True), X, n_repeats=1, n_left_out=3, n_jobs=2)
    captured = capsys.readouterr()
    assert "perturbations" in captured.err
    assert "covariance" not in captured.err
    assert captured.out == ""


# --- reprs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [e for e, _ in STAGES[:14]], ids=repr)
def test_fitted_things_print_one_line(estimator):
    before = repr(estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = estimator.fit(X)
    assert repr(model) == before
    assert type(model).__name__ in model._repr_html_()
    for thing in (model.kernel_, getattr(model, "_model_", None)):
        text = repr(thing)
        assert "\n" not in text
        assert len(text) < 900
        assert "0x" not in text


def test_shapes_are_told():
    model = eigenscape.KernelPCA(gamma=0.5).fit(X)
    assert repr(model.kernel_).startswith(
        "CenteredKernel(base=BoundPairwise(kernel=Gaussian(gamma=0.5, scale='median'), X=array(120, 3))"
    )
    assert np.shape(model.kernel_.weights) == (120,)
