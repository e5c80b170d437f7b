"""The benchmark code: cases for all goals, judgement of peers, the page from made-up results."""

from __future__ import annotations

import json
import subprocess
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rich")
pytest.importorskip("matplotlib")

from benchmarks.__main__ import with_goals
from benchmarks.cases import Case, Goal, Growth, Job, all_cases, is_selected
from benchmarks.data import SETS
from benchmarks.errors import MEASURES, is_right
from benchmarks.figures import draw
from benchmarks.goals import behind, checks
from benchmarks.install import install, package, peers
from benchmarks.ratios import points
from benchmarks.real_data import SOURCES
from benchmarks.report import markdown
from benchmarks.runner import best_peer, is_worth_repeating, ratio, summarize
from benchmarks.worker import answers

#: Rows of the table before real rows were added, none of which may be lost.
OLD = [
    "le-roll",
    "le-search",
    "le-mixture",
    "clustering",
    "le-mnist",
    "isomap",
    "isomap-landmarks",
    "isomap-landmarks-large",
    "lle-roll",
    "lle-mixture",
    "lle-modified",
    "lle-hessian",
    "lle-ltsa",
    "kpca",
    "kpca-default",
    "kpca-blocked",
    "mds",
    "transform-kpca",
    "transform-isomap",
    "transform-lle",
    "greedy",
    "greedy-size",
    "greedy-accuracy",
    "growth-greedy",
    "pca-tall",
    "pca-wide",
    "pca-sparse",
    "ppca-missing",
    "kernel-eigenmap",
    "transform-kernel-eigenmap",
    "growth-le",
    "growth-lle",
    "dask-pca",
    "dask-one",
    "dask-two",
    "growth-dask",
    "dask-clustering",
    "dask-dictionary-one",
    "dask-dictionary-two",
    "dask-memory",
    "growth-dask-dictionary",
    "compilation",
]
METHODS = ("le", "clustering", "lle", "isomap", "kpca2", "kpca10", "mds")
SMALL = ("digits", "faces", "pbmc")
LARGE = ("mnist", "fashion", "glove")


def sized(sizes: tuple[int, ...], few: tuple[int, ...]) -> list[tuple[str, int]]:
    return [(data, n) for data in LARGE for n in sizes] + [(data, n) for data in SMALL for n in few]


def goals() -> dict[str, Goal]:
    """The goals by key, as they were agreed."""
    agreed: dict[str, Goal] = {}
    for data, n in sized((500, 1500, 5000, 10_000), (500, 1500)):
        for method in METHODS:
            is_kernel = method.startswith("kpca")
            agreed[f"real-{data}-{n}-{method}"] = Goal(1 if n == 500 else 2.5 if is_kernel else 3)
            if is_kernel:
                agreed[f"real-{data}-{n}-{method}-double"] = Goal(1 if n == 500 else 1.5)
        for method in ("le", "diffusion", "clustering"):
            agreed[f"search-{data}-{n}-{method}"] = Goal(1 / 1.5)
    for data, n in sized((1500, 5000), (1500,)):
        agreed |= {f"busy-{data}-{n}-{method}": Goal(1) for method in METHODS}
    for kind in ("separate", "touching"):
        for n in (1000, 4000, 16_000, 64_000):
            agreed |= {f"gaussians-{kind}-{n}-{method}": Goal(3) for method in ("le", "clustering")}
    for data in ("glove", "pbmc", "paul15"):
        agreed |= {f"cells-{data}-{method}": Goal(3) for method in ("le", "diffusion", "clustering")}
    agreed["placing-le-fit"] = Goal(5)
    for method in ("le", "diffusion", "clustering", "lle", "isomap"):
        agreed[f"placing-{method}-transform"] = Goal(5, seconds=1.0 if method == "le" else None)
        agreed[f"placing-{method}-single"] = Goal(seconds=2e-3)
    for data in ("positive", "sparse_counts"):
        agreed |= {f"cosine-{data}-{method}": Goal(1 / 2) for method in ("kpca", "clustering")}
    agreed |= {
        "le-roll-small": Goal(3),
        "le-roll": Goal(4, 1),
        "le-search": Goal(1 / 3, peak=2e9),
        "isomap": Goal(12, 1 / 4),
        "transform-isomap": Goal(4),
        "kpca": Goal(4),
        "kpca-blocked": Goal(1, 1 / 15),
        "greedy-size": Goal(0.25, seconds=31.9 / 3),
        "greedy": Goal(0.55, peak=1.5e9),
    }
    return agreed


def test_every_goal_has_a_case():
    cases = {case.key: case for case in all_cases(quick=False)}
    for key, goal in goals().items():
        assert cases[key].goal == goal, key
    for key in ("growth-le", "growth-lle"):
        assert cases[key].time_exponent == 1.10


def test_no_case_is_lost_and_keys_are_unique():
    keys = [case.key for case in all_cases(quick=False)]
    assert set(OLD) <= set(keys)
    assert len(keys) == len(set(keys))


def test_jobs_name_data_and_measures_that_exist():
    for quick in (False, True):
        for case in all_cases(quick):
            steps = case.steps if isinstance(case, Growth) else [case] if isinstance(case, Case) else []
            for job in [job for step in steps for job in (step.ours, *step.peers, *step.references)]:
                assert job.data in SETS
                assert job.measure in MEASURES


def test_eigenscape_runs_with_its_default_number_of_threads():
    cases = [case for case in all_cases(quick=False) if isinstance(case, Case)]
    assert [case.key for case in cases if "n_jobs" in case.ours.params] == []


def test_tapkee_is_a_peer_of_every_row_it_can_do():
    cases = {case.key: case for case in all_cases(quick=False) if isinstance(case, Case)}
    with_tapkee = {key for key, case in cases.items() if "tapkee" in {peer.name for peer in case.peers}}
    assert {f"real-mnist-5000-{method}" for method in ("le", "lle", "isomap", "mds")} <= with_tapkee
    assert {"le-roll-small", "le-roll", "isomap", "lle-hessian", "lle-ltsa", "mds"} <= with_tapkee
    assert "real-mnist-5000-clustering" not in with_tapkee


def test_quick_run_needs_no_other_library_and_no_file():
    for case in all_cases(quick=True):
        if isinstance(case, Case):
            names = {job.name for job in (case.ours, *case.peers, *case.references)}
            assert not names & {"UMAP", "scanpy"}, case.key
            data = case.ours.data
            assert data != "mnist"
            assert data not in SOURCES or not SOURCES[data].file


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (None, True),
        (["real"], True),
        (["real-mnist"], True),
        (["real-mnist-5000-le"], True),
        (["real-mn"], False),
    ],
)
def test_selection_by_key_or_group(names: list[str] | None, chosen: bool):
    assert is_selected("real-mnist-5000-le", names) is chosen


JOB = Job("eigenscape", "eigenscape.LaplacianEigenmaps", {}, "digits", 500, "laplacian")


def step(seconds: float, right: bool = True, **error: Any) -> dict[str, Any]:
    return {
        "time_s": seconds,
        "cpu_s": 2 * seconds,
        "peak_bytes": 10**6,
        "others_cores": 0.0,
        "error": error,
        "right": right,
    }


def entry(name: str, seconds: float, right: bool = True, new: float | None = None) -> dict[str, Any]:
    answer = {"fit": step(seconds, right, residual=1e-9 if right else 0.1), "solver": ""}
    if new is not None:
        answer["transform"] = step(new, recall=1.0)
    return summarize(replace(JOB, name=name, n_new=100), [answer])


def row(key: str, goal: Goal, ours: dict[str, Any], *peers: dict[str, Any], **more: Any) -> dict[str, Any]:
    for peer in (*peers, *more.get("references", ())):
        peer["ratio"] = ratio(ours, peer)
    return {
        "kind": "work",
        "key": key,
        "title": f"Method, data {key}",
        "goal": vars(goal),
        "n": 500,
        "date": "2026-01-01",
        "ours": ours,
        "peers": list(peers),
        "against": best_peer(list(peers)),
        "references": [],
        **more,
    }


def results(*rows: dict[str, Any]) -> dict[str, Any]:
    names = ("python", "eigenscape", "scikit-learn", "scipy", "numpy", "numba")
    machine = {"cores": 2, "memory_GB": 8, **dict.fromkeys(names, "1")}
    return {"machine": machine, "quick": False, "repeats": 1, "limit_s": 60.0, "rows": list(rows)}


def test_inaccurate_peer_does_not_count():
    fast_but_wrong, slow = entry("wrong", 0.1, right=False), entry("right", 4.0)
    made = row("real-digits-500-le", Goal(3), entry("eigenscape", 1.0), fast_but_wrong, slow)
    assert made["against"] == "right"
    assert [check.met for check in checks(made)] == [True]
    alone = row("real-digits-500-le", Goal(3), entry("eigenscape", 1.0), entry("wrong", 9.0, right=False))
    assert [check.met for check in checks(alone)] == [None]


def test_inaccurate_result_of_ours_meets_no_goal():
    made = row("a", Goal(3), entry("eigenscape", 1.0, right=False), entry("peer", 100.0))
    assert [check.met for check in checks(made)] == [False]


@pytest.mark.parametrize(
    ("error", "right"),
    [
        ({"residual": 1e-4}, True),
        ({"residual": 1e-2}, False),
        ({"residual": 1e-2, "excess": 0.5}, True),
        ({"residual": 1e-9, "recall": 0.5}, False),
        ({"residual": 1e-9, "recall": None}, True),
        ({"residual": float("nan")}, False),
        ({}, True),
    ],
)
def test_what_counts_as_right(error: dict[str, Any], right: bool):
    assert is_right(error) is right


def test_absent_library_is_a_result_with_its_reason():
    job = replace(JOB, name="none", estimator="no_such_library.Method", n=100)
    (answer,) = answers(json.dumps([vars(job), 60.0]))
    assert "no_such_library" in answer["absent"]
    made = summarize(job, [answer])
    assert made["status"] == "absent"
    page = markdown(results(row("a", Goal(3), entry("eigenscape", 1.0), made)), [])
    assert "none was not measured: ModuleNotFoundError: No module named 'no_such_library'" in page


def test_failure_of_a_library_is_a_result():
    job = replace(JOB, params={"n_neighbors": -1}, n=50)
    *_, answer = answers(json.dumps([vars(job), 60.0]))
    assert summarize(job, [answer])["status"] == "failed"


def test_page_begins_with_what_is_behind():
    rows = [
        row("real-digits-500-le", Goal(1), entry("eigenscape", 1.0), entry("scikit-learn", 0.5)),
        row("real-digits-1500-le", Goal(3), entry("eigenscape", 1.0), entry("scikit-learn", 2.0)),
        row("real-digits-5000-le", Goal(3), entry("eigenscape", 1.0), entry("scikit-learn", 9.0)),
    ]
    text = markdown(results(*rows), [])
    first, _, rest = text.partition("Below a goal:")
    assert "1 of 3 goals are met" in first
    assert "1 row is slower" in first
    assert "data real-digits-500-le: 0.5x (goal 1x)" in first
    assert "data real-digits-1500-le: 2x (goal 3x)" in rest.partition("##")[0]
    assert "data real-digits-5000-le:" not in text.partition("## Real rows")[0]
    assert "| 3x: met |" in text
    assert "residual" not in first
    assert "1e-09 / 1e-09" in text  # equal residuals beside the ratio


def test_references_are_shown_but_not_compared():
    umap = entry("UMAP", 100.0, new=5.0)
    ours = entry("eigenscape", 1.0, new=0.5)
    made = row("real-digits-500-le", Goal(3), ours, entry("scikit-learn", 2.0), references=[umap])
    assert made["against"] == "scikit-learn"
    assert [check.met for check in checks(made)] == [False]
    assert points([made], "fit", True) == {"le": {500: [100.0]}}
    assert points([made], "transform", True) == {"le": {500: [10.0]}}
    assert points([made], "transform", False) == {}


def test_figure_leaves_out_inaccurate_results(tmp_path):
    wrong = row(
        "real-digits-500-le", Goal(), entry("eigenscape", 1.0, right=False), entry("scikit-learn", 2.0)
    )
    assert points([wrong], "fit", False) == {}
    assert draw([wrong], tmp_path) == []
    right = row("real-digits-500-le", Goal(), entry("eigenscape", 1.0), entry("scikit-learn", 2.0))
    assert [name for name, _ in draw([right], tmp_path)] == ["ratios.png"]
    assert (tmp_path / "ratios.png").stat().st_size > 10_000


def test_stopped_peer_gives_a_lower_bound_only():
    over = summarize(replace(JOB, name="slow"), [{"over": 2.0}])
    made = row("a", Goal(3), entry("eigenscape", 1.0), over)
    assert [check.met for check in checks(made)] == [None]
    over = summarize(replace(JOB, name="slow"), [{"over": 4.0}])
    assert [check.met for check in checks(row("a", Goal(3), entry("eigenscape", 1.0), over))] == [True]


def test_kept_rows_have_the_goals_of_today():
    old = row("kpca", Goal(2), entry("eigenscape", 1.0))
    gone = row("no-such-case", Goal(2), entry("eigenscape", 1.0))
    (kept,) = with_goals([old, gone], all_cases(quick=False))
    assert kept["goal"]["speed"] == 4


def test_slow_peers_are_not_repeated():
    jobs = [JOB, replace(JOB, name="fast"), replace(JOB, name="slow")]
    found = {
        "eigenscape": [{"fit": step(9.0)}],
        "fast": [{"fit": step(1.0)}],
        "slow": [{"fit": step(5.0)}],
    }
    assert [is_worth_repeating(job, jobs, found, shared=True) for job in jobs] == [True, True, False]


def test_worker_measures_fit_transform_and_single_rows():
    job = replace(JOB, params={"n_neighbors": 10}, n=300, n_new=20, n_single=5)
    *_, answer = answers(json.dumps([vars(job), 60.0]))
    assert {"fit", "transform", "single"} <= set(answer)
    for name in ("fit", "transform", "single"):
        assert answer[name]["time_s"] > 0
        assert answer[name]["cpu_s"] >= 0
        assert answer[name]["right"]
    assert answer["fit"]["error"]["recall"] == 1.0
    assert answer["transform"]["error"]["recall"] == 1.0
    assert answer["fit"]["error"]["residual"] < 1e-3


def test_recall_counts_missing_neighbors():
    from benchmarks.neighbors import of_lists

    X = np.arange(100.0)[:, None] ** 1.01
    nearest = np.argsort(np.abs(X - X.T), axis=1)[:, :11]
    assert of_lists(nearest, X) == 1.0
    assert of_lists(nearest[:, :6], X) < 0.7


def test_nothing_is_behind_without_goals():
    assert behind([]) == ["No goal was judged in this run.", ""]


def test_peers_are_a_group_of_their_own():
    names = {package(peer) for peer in peers()}
    assert {"umap-learn", "tapkee", "scanpy", "snapatac2"} <= names
    groups = tomllib.loads(Path("pyproject.toml").read_text())["dependency-groups"]
    assert not names & {package(peer) for peer in (*groups["test"], *groups["lint"])}
    assert {"include-group": "bench"} not in groups["dev"]


def test_installation_that_fails_gives_a_reason(tmp_path, monkeypatch):
    failed = subprocess.CompletedProcess([], 1, "", "note\nERROR: No matching distribution found for x")
    monkeypatch.setattr(subprocess, "run", lambda *args, **kwargs: failed)
    assert install("x>=1", tmp_path) == "ERROR: No matching distribution found for x"
