"""Measurements, the judgement of peers, and the page from made-up results."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("rich")
pytest.importorskip("matplotlib")

from benchmarks.__main__ import main, with_goals
from benchmarks.cases import Goal, Job, all_cases
from benchmarks.errors import is_right
from benchmarks.errors.peers import scanpy_diffusion
from benchmarks.figures import draw
from benchmarks.goals import behind, checks
from benchmarks.processes import Process
from benchmarks.ratios import points
from benchmarks.report import markdown
from benchmarks.runner import best_peer, is_worth_repeating, ratio, summarize
from benchmarks.worker import answers

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
    names = ("python", "eigenscape", "scikit-learn", "scipy", "numpy")
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
    page = markdown(results(row("kpca", Goal(3), entry("eigenscape", 1.0), made)), [])
    assert f"{len(all_cases(quick=False)) - 1} rows have no results yet (real, search," in page
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


@pytest.mark.long
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


@pytest.mark.long
def test_page_is_written_again_from_stored_results(tmp_path, monkeypatch):
    stored = row("kpca", Goal(2), entry("eigenscape", 1.0), entry("scikit-learn", 3.0))
    (tmp_path / "results.json").write_text(json.dumps(results(stored)))
    monkeypatch.setattr("sys.argv", ["benchmarks", "report", "--out", str(tmp_path)])
    main()
    assert "data kpca: 3x (goal 4x)" in (tmp_path / "README.md").read_text()


def test_slow_peers_are_not_repeated():
    jobs = [JOB, replace(JOB, name="fast"), replace(JOB, name="slow")]
    found = {
        "eigenscape": [{"fit": step(9.0)}],
        "fast": [{"fit": step(1.0)}],
        "slow": [{"fit": step(5.0)}],
    }
    assert [is_worth_repeating(job, jobs, found, shared=True) for job in jobs] == [True, True, False]


@pytest.mark.long
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


@pytest.mark.long
def test_matrix_of_dense_solver_is_kept_from_being_overwritten():
    params = {"n_neighbors": 10, "eigen_solver": "dense"}
    estimator = "sklearn.manifold.LocallyLinearEmbedding"
    job = replace(JOB, name="sk", estimator=estimator, params=params, n=300, measure="alignment")
    *_, answer = answers(json.dumps([vars(job), 60.0]))
    assert answer["fit"]["right"]


@pytest.mark.long
def test_new_sparse_rows_are_measured():
    params = {"n_clusters": 10, "affinity": "cosine", "random_state": 0}
    job = Job("ours", "eigenscape.SpectralClustering", params, "sparse_counts", 300, "clustering", n_new=20)
    *_, answer = answers(json.dumps([vars(job), 60.0]))
    assert answer["transform"]["right"]
    assert answer["fit"]["error"]["agreement"] > 0.9


@pytest.mark.process
def test_stopped_job_leaves_no_busy_process():
    job = replace(JOB, params={"n_neighbors": 10}, n=500, busy=True)
    process = Process()
    answer = process.measure(job, limit=1e-4)
    group = process._process.pid
    process.close()
    assert answer["over"] == 1e-4
    for _ in range(100):  # a killed process remains in the group until it is reaped
        states = [stat for stat in group_states(group) if stat != "Z"]
        if not states:
            break
        time.sleep(0.05)
    assert states == []


def group_states(group: int) -> list[str]:
    """Return the states of the processes of a group."""
    found = []
    for file in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            state, _, member = file.read_text().rpartition(")")[2].split()[:3]
            found += [state] if int(member) == group else []
    return found


def test_scanpy_is_not_judged_by_rounding_in_a_graph_with_two_components():
    W = sparse.block_diag([np.ones((20, 20)), np.ones((30, 30))])
    indicator = np.repeat([1.0, -1.0], [20, 30])[:, None]
    vectors = (indicator + 1e-8 * np.random.default_rng(0).standard_normal((50, 1))).astype(np.float32)
    model = SimpleNamespace(graph_=W, embedding_=vectors)
    assert is_right(scanpy_diffusion(model))
    model.embedding_ = np.random.default_rng(0).standard_normal((50, 1)).astype(np.float32)
    assert not is_right(scanpy_diffusion(model))


def test_recall_counts_missing_neighbors():
    from benchmarks.errors.neighbors import of_lists

    X = np.arange(100.0)[:, None] ** 1.01
    nearest = np.argsort(np.abs(X - X.T), axis=1)[:, :11]
    assert of_lists(nearest, X) == 1.0
    assert of_lists(nearest[:, :6], X) < 0.7


def test_nothing_is_behind_without_goals():
    assert behind([]) == ["No goal was judged in this run.", ""]
