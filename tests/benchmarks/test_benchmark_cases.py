"""The benchmark cases: all goals have one, none is lost, other libraries are a group of their own."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("rich")
pytest.importorskip("matplotlib")

from benchmarks.cases import Case, Goal, Growth, all_cases, is_selected
from benchmarks.data import SETS
from benchmarks.errors import MEASURES
from benchmarks.install import install, package, peers
from benchmarks.real_data import SOURCES

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


def test_peers_are_a_group_of_their_own():
    names = {package(peer) for peer in peers()}
    assert {"umap-learn", "tapkee", "scanpy", "snapatac2"} <= names
    groups = tomllib.loads(Path("pyproject.toml").read_text())["dependency-groups"]
    assert not names & {package(peer) for peer in (*groups["test"], *groups["lint"])}
    assert {"include-group": "bench"} not in groups["dev"]


def test_installation_that_fails_gives_a_reason(tmp_path, monkeypatch):
    failed = subprocess.CompletedProcess([], 1, "", "note\nERROR: No matching distribution found for x")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: failed)
    assert install("x>=1", tmp_path) == "ERROR: No matching distribution found for x"
