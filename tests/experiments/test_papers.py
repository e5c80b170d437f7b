"""Claims and files of all experiments at a small size, and tests of the runner."""

from __future__ import annotations

import json
import os
import re
from functools import cache
from pathlib import Path
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from covering import PRODUCT
from threadpoolctl import threadpool_info, threadpool_limits

import experiments as papers
from eigenscape._format import to_json
from eigenscape.exceptions import InputFileError
from experiments import Claim, Context, Outcome, _record, _runner, _summary
from experiments._data import check_folder
from experiments._style import STYLE, new_figure

pytestmark = pytest.mark.pages

DATA = Path(os.environ.get("EIGENSCAPE_DATA", "no such folder"))

#: Part of the text of claims that need not hold at this size; all other claims must hold.
UNCERTAIN: dict[str, str | tuple[str, ...]] = {
    "bengio-4": "",
    "ouimet-2": "alone",
    "ouimet-table1": "",  # measured times
    "ouimet-4": "below 65",
    "brand-3": "",  # some claims do not hold at any size, see test_papers_b.py
    "brand-6": "more of the structure",
    "brand-7": "areas",
    "belkin-outliers": "relatively insensitive",  # 300 points do not show the roll itself
    "belkin-lle": ("constant of proportionality is 1/2", "random points"),  # see test_new_experiments.py
}


@cache
def tiny(name: str, data: Path | None = None) -> tuple[Outcome, Context]:
    """Run an experiment at the size of the tests."""
    context = Context(data, tiny=True)
    with matplotlib.rc_context(STYLE):
        return papers.experiment(name).run(context), context


#: Experiments of more than three seconds, whose methods have literal transcriptions in tests/methods.
LONG = ("ouimet-table1", "brand-3", "bengio-3", "bengio-4")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.product if name in LONG else ()) for name in papers.available()],
)
def test_claims_hold_at_a_small_size(name):
    """One test runs an experiment once, or in the product twice; results are not shared between processes."""
    outcome, context = tiny(name)
    _check_claims(name, outcome, context)
    _check_record(name, outcome)
    if PRODUCT and name in ("bengio-convergence", "belkin-outliers"):
        again = papers.experiment(name).run(Context(tiny=True))
        assert to_json(outcome.numbers) == to_json(again.numbers)
        assert [claim.measured for claim in outcome.claims] == [claim.measured for claim in again.claims]


def _check_claims(name: str, outcome: Outcome, context: Context) -> None:
    """All claims are complete, and hold unless they are uncertain at this size."""
    assert outcome.claims
    assert len({claim.text for claim in outcome.claims}) == len(outcome.claims)
    assert outcome.data.startswith("stand-in") == bool(context.files)
    assert set(context.files) == set(getattr(papers.experiment(name), "FILES", ()))
    for claim in outcome.claims:
        assert claim.printed
        assert claim.measured
        assert claim.criterion
        uncertain = UNCERTAIN.get(name, ())
        parts = (uncertain,) if isinstance(uncertain, str) else uncertain
        if not any(part in claim.text for part in parts):
            assert claim.holds, claim
    if name.startswith(("ouimet", "burges", "brand")):
        assert all(claim.why for claim in outcome.claims if not claim.holds)
        assert all(axes.get_title() for axes in outcome.figure.axes)


def _check_record(name: str, outcome: Outcome) -> None:
    """The record is valid JSON and contains numbers."""
    record = _record.make_record(name, outcome, {}, Context(), 0.0, [])
    json.dumps(record, allow_nan=False)
    numbers = re.findall(r"[-+]?\d+\.?\d*(?:e[-+]?\d+)?", json.dumps(record["numbers"]))
    assert len(numbers) >= 3


@pytest.mark.parametrize("name", papers.available())
def test_metadata_of_an_experiment(name):
    module = papers.experiment(name)
    assert re.match(r"(Bengio|Ouimet|Belkin|Burges|Brand)", module.PAPER)
    assert module.PAPER.lower().startswith(name.split("-")[0])
    assert 20 < len(_record.title(module)) < 110


@pytest.mark.parametrize("name", ["bengio-3", "belkin-3"])
def test_claims_hold_on_the_papers_data(name):
    if not DATA.is_dir():
        pytest.skip("EIGENSCAPE_DATA names no folder of data")
    outcome, context = tiny(name, DATA)
    assert None not in context.files.values()
    assert not outcome.data.startswith("stand-in")
    assert all(claim.holds for claim in outcome.claims)


def test_tips_and_centre_of_a_map_of_speech():
    from experiments.belkin_5 import centre, tip

    # one spoke: 4 closures and, farther out, 6 frames of silence; vowels in the middle
    along = np.r_[np.linspace(-1, 1, 30), 2, 3, 4, 5, np.arange(6, 12)]
    Y = np.column_stack([along, -along])
    labels = np.array(["vowel"] * 30 + ["closure"] * 4 + ["silence"] * 6)
    assert tip(Y, labels, ["closure"], speech=True) == {"closure": 1.0}
    assert "closure" not in tip(Y, labels, ["closure"])  # the 4 outermost of 40 frames are silence
    claim, share = centre(Y, labels)
    assert claim.holds
    assert share == 1
    labels[:30] = "stop"
    assert not centre(Y, labels)[0].holds


def test_closures_are_counted_among_frames_of_speech():
    if not DATA.is_dir():
        pytest.skip("EIGENSCAPE_DATA names no folder of data")
    claims = {claim.text: claim for claim in tiny("belkin-5", DATA)[0].claims}
    closures = claims["the tip of one spoke is closures"]
    assert closures.holds
    assert "of the outermost 46 frames of speech closure 57%" in closures.measured
    assert "closure 9%" in closures.previous
    assert claims["the tip of one spoke is closures or silence"].kind == "check"
    assert "78%" in claims["the centre of the map is periodic sounds"].measured


def test_gaussian_kernels_have_the_bandwidth_of_equation_4():
    """Bengio eq. 4 is ``exp(-d^2 / sigma^2)``, without a factor 2."""
    from experiments import bengio_1, bengio_2

    points = np.random.default_rng(0).random((30, 2))
    kernel = bengio_1._fit(points, 0.5, 0).kernel_
    plain = np.exp(-np.sum((points[0] - points) ** 2, axis=1) / 0.5**2)
    sums = np.exp(-np.sum((points[:, None] - points) ** 2, axis=2) / 0.5**2).sum(axis=1)
    np.testing.assert_allclose(np.asarray(kernel(points[:1]))[0], plain / np.sqrt(sums[0] * sums), rtol=1e-12)
    assert [bengio_2.METHODS[name].gamma for name in ("kernel PCA", bengio_2.SPECTRAL)] == [1 / 0.2**2] * 2
    for name in ("bengio-1", "bengio-2"):
        assert any("2 sigma^2" in claim.previous for claim in tiny(name)[0].claims)


def test_spectral_clustering_of_bengio_4_has_unit_eigenfunctions():
    """Bengio secs. 2.3 and 2.4: the coordinates are ``sqrt(m) v_r``, not ``v_r / sqrt(S)``."""
    from experiments.bengio_4 import _methods, gaussian

    X = np.random.default_rng(0).random((40, 3))
    estimator, K = _methods(X)["spectral clustering"]
    bandwidth = np.median(np.sort(np.linalg.norm(X[:, None] - X, axis=2))[:, 10])
    literal = np.exp(-np.sum((X[:, None] - X) ** 2, axis=2) / bandwidth**2)  # eq. 4
    np.testing.assert_allclose(K, literal, rtol=1e-10)
    np.testing.assert_allclose(gaussian(np.array([0.0, 2.0]), 2.0), [1, np.exp(-1)])
    S = literal.sum(axis=1)
    v = np.linalg.eigh(literal / np.sqrt(np.outer(S, S)))[1][:, [-2, -3]]
    expected = np.sqrt(40) * v
    np.testing.assert_allclose(np.abs(estimator.fit(K).embedding_), np.abs(expected), atol=1e-8)
    np.testing.assert_allclose(estimator.transform(K[:5]), estimator.embedding_[:5], atol=1e-10)


def _stability(crossing, spread=2.0):
    """Return made-up numbers of one method, with the given crossing and its interval."""
    return {
        "crossing": crossing,
        "fractions": [0.01, 0.05],
        "perturbation": [SimpleNamespace(value=value) for value in (0.6, 0.8)],
        "pooled_induction": SimpleNamespace(value=0.4),
        "spread": spread,
    }


@pytest.mark.parametrize(
    ("crossing", "outcome", "reason"),
    [
        ((0.012, 0.02, 0.04), "", ""),
        ((0.002, 0.02, 0.04), "inconclusive", "at 2.0 % (0.2 % to 4.0 %): the interval is too wide"),
        ((0.012, 0.02, np.inf), "inconclusive", "is too wide"),
        (
            (0.001, 0.004, 0.008),
            "earlier",
            "earlier: with 1.0 % exchanged the map moves by 30 % of its spread,"
            " and the error of new points is 20 %",
        ),
        ((0.001, 0.004, 0.012), "inconclusive", "; the interval overlaps the printed range"),
        ((0.0, 0.02, np.inf), "inconclusive", "at 2.0 % (below 1 % to never): the interval is too wide"),
        (
            (0.07, 0.08, 0.09),
            "",
            "later: with 5.0 % exchanged the map moves by 40 % of its spread,"
            " and the error of new points is 20 %",
        ),
        ((0.04, np.inf, np.inf), "inconclusive", "the interval overlaps the printed range"),
    ],
)
def test_a_crossing_must_be_in_the_range_with_a_narrow_interval(crossing, outcome, reason):
    from experiments.bengio_4 import crosses

    claim = crosses("faces, MDS", {"MDS": _stability(crossing)}, 1, "faces", "before")
    assert claim.holds == (not reason)
    assert claim.outcome == outcome
    assert claim.previous == "before"
    assert reason in claim.why
    assert bool(claim.why) == bool(reason)


def test_crossings_of_most_methods():
    from experiments.bengio_4 import crosses

    inside, early, late = (0.012, 0.02, 0.04), (0.001, 0.004, 0.008), (0.07, 0.08, 0.09)
    wide = (0.001, 0.02, np.inf)
    for crossings, held, outcome in [
        ((inside, inside, inside, late), True, ""),
        ((inside, inside, early, late), False, "earlier"),
        ((inside, wide, early, late), False, "inconclusive"),
        ((inside, inside, late, late), False, ""),
    ]:
        methods = {str(i): _stability(crossing) for i, crossing in enumerate(crossings)}
        claim = crosses("roll", methods, 3, "roll")
        assert (claim.holds, claim.outcome) == (held, outcome)


def test_errors_are_comparable_unless_delta_is_significantly_negative():
    from experiments.bengio_4 import comparable

    below, includes = (SimpleNamespace(value=-1.0, low=-2.0, high=high) for high in (-0.1, 0.1))
    for deltas, held in [((below, includes, includes, includes), True), ((below, below, includes), False)]:
        methods = {
            str(i): {"fractions": [0.01, 0.02], "delta": [below, delta], "spread": 10.0}
            for i, delta in enumerate(deltas)
        }
        claim = comparable("faces", methods, "faces")
        assert claim.holds == held
        assert "0 -10 (-20 to -1)" in claim.measured
        assert claim.why.startswith("Larger for 0")


# --- the runner, with fake experiments ----------------------------------------------------------------------


def _module(
    value: float = 1.0,
    error: BaseException | None = None,
    data: str = "generated",
    more: tuple[Claim, ...] = (),
) -> SimpleNamespace:
    """Return a fake module of an experiment, which counts its calls."""
    calls: list[int] = []

    def run(context: Context) -> Outcome:
        calls.append(context.seed)
        if data == "file":
            context.load("table")
        if error is not None:
            raise error
        figure = new_figure("A figure", width=2, height=1)
        axes = figure.subplots()
        axes.plot([0, value])
        axes.set_axis_off()  # drawing numbers at ticks takes most of the time
        numbers = {
            "value": np.float64(value),
            "draw": np.random.default_rng(context.seed).random(3),
            "gap": float("nan"),
        }
        claim = Claim(
            "it is one",
            "1",
            f"{value:g}",
            value == 1,
            "" if value == 1 else "it is not <b>",
            criterion="exactly one",
        )
        return Outcome([claim, *more], figure, numbers, data)

    return SimpleNamespace(
        __doc__="A title of the experiment.\n\nHow ``it`` was <done>.\n",
        PAPER="Nobody 1900",
        run=run,
        calls=calls,
        __name__="made_up",
    )


@pytest.fixture
def made_up(monkeypatch):
    """Replace the experiments of the papers by "one", "two" and "broken"."""
    modules = {
        "one": _module(),
        "two": _module(2.0, data="stand-in: nothing"),
        "broken": _module(error=ZeroDivisionError("of no use")),
    }

    def find(name):
        if name not in modules:
            raise ValueError(f"no such experiment: {name}")
        return modules[name]

    for place in (_runner, _record):
        monkeypatch.setattr(place, "experiment", find)
    monkeypatch.setattr(_runner, "available", lambda: list(modules))
    monkeypatch.setattr(
        _record, "code_fingerprint", lambda: f"sources of {[id(module) for module in modules.values()]}"
    )
    return modules


def test_each_experiment_writes_a_figure_and_its_numbers(made_up, tmp_path):
    out = tmp_path / "new" / "folder"
    records = _runner.run(["one", "two"], out=out, quick=True, seed=3)
    names = {"one.json", "one.png", "one.svg", "two.json", "two.png", "two.svg", "index.html"}
    assert {file.name for file in out.iterdir()} == names
    assert (out / "one.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (out / "one.svg").read_text()
    record = json.loads((out / "one.json").read_text())
    assert record == records[0]
    assert record["settings"]["seed"] == 3
    assert record["settings"]["size"] == "quick"
    assert record["numbers"]["gap"] is None
    assert record["claims"][0]["verdict"] == "reproduced"
    assert records[1]["claims"][0]["verdict"] == "not reproduced (on a stand-in: nothing)"
    assert {"python", "numpy", "scipy"} <= set(record["versions"])
    assert record["seconds"] >= 0
    assert record["cpu_seconds"] >= 0


def test_the_page_is_self_contained_and_shows_failures(made_up, tmp_path):
    _runner.run(["one", "two", "broken"], out=tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert page.count("data:image/png;base64,") == 2
    assert not re.findall(r'(?:src|href)="(?!data:|#)', page)
    assert "2 claims of 2 experiments: 1 reproduced, 1 failing on stand-ins. 1 experiment failed." in page
    assert "it is not &lt;b&gt;" in page
    assert "ZeroDivisionError: of no use" in page
    assert "exactly one" in page
    assert "How <code>it</code> was &lt;done&gt;." in page


def test_a_failure_does_not_stop_the_others(made_up, tmp_path):
    records = _runner.run(["broken", "one"], out=tmp_path)
    assert records[0]["error"] == "ZeroDivisionError: of no use"
    assert records[1]["claims"][0]["holds"]
    assert not (tmp_path / "broken.json").exists()
    assert _summary.totals(records) == {
        "experiments": 2,
        "failed": 1,
        "claims": 1,
        "reproduced": 1,
        "reproduced on stand-ins": 0,
        "other outcomes": 0,
        "failing on stand-ins": 0,
        "truly failing": 0,
        "own checks": 0,
        "own checks that hold": 0,
    }


def test_own_checks_and_data_of_single_claims_are_distinguished(made_up, tmp_path):
    own = Claim("we looked", "not printed", "2", True, criterion="two", kind="check")
    real = Claim("on real data", "3", "3", True, criterion="three", data="faces")
    made_up["one"] = _module(data="stand-in: heads", more=(own, real))
    records = _runner.run(["one"], out=tmp_path)
    assert [claim["verdict"] for claim in records[0]["claims"]] == [
        "reproduced (on a stand-in: heads)",
        "holds (on a stand-in: heads)",
        "reproduced",
    ]
    assert _summary.summary(records) == (
        "2 claims of 1 experiment: 1 reproduced, 1 reproduced on stand-ins. Of 1 own check, 1 hold."
    )
    page = (tmp_path / "index.html").read_text()
    assert '<td class="good">2 of 2 (1 on a stand-in)</td>' in page
    assert page.index("<th>claim of the paper</th>") < page.index("on real data</td>")
    assert page.index("on real data</td>") < page.index("<th>own check, not in the paper</th>")
    assert page.index("<th>own check, not in the paper</th>") < page.index("we looked</td>")


def test_failing_claims_other_outcomes_and_own_checks_are_counted_apart(made_up, tmp_path):
    made_up["one"] = _module(
        more=(
            Claim("it fails", "1", "2", False, "it does", criterion="one", previous="none: 7 of 9"),
            Claim("it is early", "1 to 5", "0.5", False, criterion="in 1 to 5", outcome="earlier"),
            Claim("a scan", "not printed", "2", False, criterion="three", kind="exploration"),
        )
    )
    quick = _runner.run(["one"], out=tmp_path / "quick", quick=True)
    assert [claim["verdict"] for claim in quick[0]["claims"]] == [
        "reproduced",
        "not reproduced (at the quick size)",
        "earlier (at the quick size)",
        "does not hold",
    ]
    records = _runner.run(["one"], out=tmp_path)
    assert [claim["verdict"] for claim in records[0]["claims"]] == [
        "reproduced",
        "not reproduced",
        "earlier",
        "does not hold",
    ]
    assert _summary.summary(records) == (
        "3 claims of 1 experiment: 1 reproduced, 1 with another outcome, 1 truly failing."
        " Of 1 own check, 0 hold."
    )
    titles = [str(table.title) for table in _summary.results_tables(records)]
    assert titles == [
        "Claims of the papers that are reproduced (1)",
        "Claims of the papers with another outcome (1)",
        "Claims of the papers that truly fail (1)",
        "Own checks and explorations, not in the papers (1)",
    ]
    page = (tmp_path / "index.html").read_text()
    assert "<b>it fails</b>: before: none: 7 of 9" in page
    assert '<td class="other">earlier</td>' in page


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "paper", "printed": "not printed"}, "has no printed value; set kind='check'"),
        ({"kind": "guess"}, "kind='guess' must be one of paper, check, exploration"),
        ({"outcome": "earlier", "holds": True}, "holds=False"),
        ({"outcome": "earlier", "kind": "check"}, "needs a claim of a paper"),
    ],
)
def test_contradictory_claims_are_an_error(options, message):
    with pytest.raises(ValueError, match=message):
        Claim(**{"text": "it", "printed": "1", "measured": "2", "holds": False, "criterion": "one"} | options)


def test_finished_results_are_kept_until_something_changes(made_up, tmp_path):
    calls = made_up["one"].calls
    for options, count in [
        ({}, 1),
        ({}, 1),
        ({"seed": 1, "force": True}, 2),
        ({"seed": 1}, 2),
        ({"seed": 1, "quick": True, "force": True}, 3),
        ({"seed": 1, "quick": True, "force": True}, 4),
    ]:
        _runner.run(["one"], out=tmp_path, **options)
        assert len(calls) == count, options
    record = tmp_path / "one.json"
    for damage in (
        lambda: record.write_text(record.read_text()[:300]),
        lambda: (tmp_path / "one.svg").unlink(),
        lambda: (tmp_path / "one.png").write_bytes(b""),
    ):
        damage()
        _runner.run(["one"], out=tmp_path, seed=1, quick=True)
        count += 1
        assert len(calls) == count


def test_results_of_other_data_or_code_are_not_kept(made_up, tmp_path):
    made_up["one"] = _module(data="file")
    calls, data = made_up["one"].calls, tmp_path / "data"
    data.mkdir()
    np.savez(data / "mnist.npz")  # otherwise a warning is issued
    for value, count in [(None, 1), (None, 1), (1, 2), (1, 2), (2, 3)]:
        if value is not None:
            np.savez(data / "table.npz", x=np.full(3, value))
        changed = len(calls) not in (0, count)
        if changed:
            with pytest.raises(FileExistsError, match=r"other data in table\.npz.*--force.*--out"):
                _runner.run(["one"], out=tmp_path, data=data)
        _runner.run(["one"], out=tmp_path, data=data, force=changed)
        assert len(calls) == count
    made_up["one"] = other = _module(data="file")
    _runner.run(["one"], out=tmp_path, data=data)
    assert len(other.calls) == 1


def test_an_interruption_keeps_finished_results(made_up, tmp_path):
    made_up["two"] = _module(error=KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        _runner.run(["one", "two"], out=tmp_path)
    assert (tmp_path / "one.json").exists()
    assert "A title of the experiment" in (tmp_path / "index.html").read_text()
    _runner.run(["one"], out=tmp_path)
    assert len(made_up["one"].calls) == 1


def test_the_page_shows_results_of_earlier_runs(made_up, tmp_path):
    _runner.run(["two"], out=tmp_path)
    _runner.run(["one"], out=tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert page.index('id="one"') < page.index('id="two"')
    assert "2 claims of 2 experiments" in page


def test_a_page_of_the_user_is_not_replaced(made_up, tmp_path):
    (tmp_path / "index.html").write_text("my own")
    with pytest.raises(FileExistsError, match="already exists"):
        _runner.run(["one"], out=tmp_path)
    assert not made_up["one"].calls
    assert (tmp_path / "index.html").read_text() == "my own"


@pytest.mark.parametrize("suffix", [".json", ".png", ".svg"])
def test_files_of_the_user_are_not_replaced(made_up, tmp_path, suffix):
    mine = tmp_path / f"two{suffix}"
    mine.write_text("my own")
    with pytest.raises(FileExistsError, match=r"two\..* was not written by .*--out"):
        _runner.run(["one", "two"], out=tmp_path, force=True)
    assert mine.read_text() == "my own"
    assert not made_up["one"].calls


def test_results_of_another_run_are_replaced_only_with_force(made_up, tmp_path):
    _runner.run(["one"], out=tmp_path)
    with pytest.raises(FileExistsError, match=r"size full, not quick; seed 0, not 3.*--force.*--out"):
        _runner.run(["two", "one"], out=tmp_path, quick=True, seed=3)
    assert not made_up["two"].calls


def test_a_line_is_reported_for_each_experiment(made_up, tmp_path):
    lines: list[str] = []
    _runner.run(["one", "broken"], out=tmp_path, report=lines.append)
    assert lines[0].startswith("one: 1 claim of 1 experiment: 1 reproduced. (")
    assert lines[1] == "broken: failed, ZeroDivisionError: of no use"


def test_blas_has_one_thread_at_the_quick_size(made_up, tmp_path):
    """Two threads that share a core with another program are slower than one."""
    threads, plain = [], made_up["one"].run

    def run(context):
        threads.append({info["num_threads"] for info in threadpool_info() if info["user_api"] == "blas"})
        return plain(context)

    made_up["one"].run = run
    with threadpool_limits(2, user_api="blas"):
        _runner.run(["one"], out=tmp_path / "full")
        _runner.run(["one"], out=tmp_path / "quick", quick=True)
    assert threads == [{2}, {1}]


def test_the_fingerprint_depends_on_all_modules(tmp_path, monkeypatch):
    for name, text in (("_record.py", "a"), ("_shared.py", "b")):
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(_record, "__file__", str(tmp_path / "_record.py"))
    before = _record.code_fingerprint()
    (tmp_path / "_shared.py").write_text("c")
    assert _record.code_fingerprint() != before


def _faces(**changes):
    """Return valid arrays of the file of faces, with changes."""
    return {
        "X": np.zeros((120, 1024)),
        **{key: np.zeros(120) for key in ("pan_z", "tilt_z", "light_z")},
        **changes,
    }


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        (None, "isomap_faces_32x32.npz cannot be read"),
        ({"X": np.zeros((120, 1024))}, "has no array 'pan_z', only X; replace the file"),
        (_faces(X=np.zeros((120, 64))), r"'X' has shape \(120, 64\), not \(120, 1024\)"),
        (_faces(tilt_z=np.zeros(119)), r"'tilt_z' has shape \(119,\), not \(120\)"),
        (_faces(light_z=np.full(120, "dark")), "'light_z' holds <U4, not numbers"),
        ({key: value[:50] for key, value in _faces().items()}, "has 50 rows, needs at least 113"),
    ],
)
def test_wrong_data_are_an_error_before_any_computation(tmp_path, arrays, message):
    file = tmp_path / "isomap_faces_32x32.npz"
    file.write_bytes(b"PK no archive")
    if arrays is not None:
        np.savez(file, **arrays)
    with pytest.raises(InputFileError, match=message):
        _runner.run(["bengio-1", "bengio-3"], data=tmp_path, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    check_folder(tmp_path, ["mnist"])  # only needed files are checked


def test_warning_for_a_folder_without_data(tmp_path):
    with pytest.warns(UserWarning, match=r"contains none of .*mnist\.npz"):
        check_folder(tmp_path, [])


def test_figures_are_the_same_bytes_for_the_same_seed(made_up, tmp_path):
    for folder in ("a", "b"):
        _runner.run(["one"], out=tmp_path / folder)
    for file in ("one.png", "one.svg"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
