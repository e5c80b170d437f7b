"""ARCHITECTURE.md is short and true, decisions name code and tests that exist, and budgets only fall."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import budgets
import numpy as np
import pytest
import walks

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "ARCHITECTURE.md").read_text()
SOURCE = ROOT / "src" / "eigenscape"
DECISIONS = ROOT / "docs" / "decisions"
PAGES = sorted(path for path in DECISIONS.glob("*.md") if path.name != "README.md")
PARTS = ["Context", "Decision", "Consequence", "Test"]


def find(name):
    return next(
        (base / name for base in (SOURCE, ROOT, SOURCE / "estimators") if (base / name).exists()), None
    )


@cache
def figures():
    return budgets.measure()


@pytest.mark.parametrize("page", [ROOT / "ARCHITECTURE.md", *PAGES], ids=lambda page: page.stem)
def test_files_exist(page):
    files = set(re.findall(r"`([\w/]+\.(?:py|js|toml))`", page.read_text()))
    assert len(files) > (20 if page.stem == "ARCHITECTURE" else 0)
    assert sorted(file for file in files if find(file) is None) == []


def test_the_page_is_short():
    assert len(PAGE.splitlines()) <= 155


def test_walks_are_those_traced():
    assert walks.with_walks(PAGE) == PAGE, "the code takes another way; run make walks"


@pytest.mark.parametrize("name", walks.ON_THE_PAGE)
def test_walks_name_every_step_and_are_readable(name):
    text = walks.as_list(walks.walks()[name])
    assert max(map(len, text.splitlines())) <= walks.LINE_LENGTH
    named = re.findall(r"(\.?[\w.]+)(?=[,;.](?:\s|$))", text)
    steps = [step.name for step in walks.walks()[name] if step.is_step()]
    assert len(named) == len(steps) >= 15
    assert all(step.endswith(each) for step, each in zip(steps, named, strict=True))


def test_the_command_on_the_page_writes_its_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    walks.write_flowers()
    walks.embed()
    assert len(Path("map.csv").read_text().splitlines()) == 151


def test_walks_contain_the_mathematics():
    named = {name: {step.name for step in found} for name, found in walks.walks().items()}
    fit, transform, embed = (named[name] for name in walks.ON_THE_PAGE)
    assert {"laplacian_eigenmaps", "divide", "thick_restart_lanczos"} <= fit
    assert {"Eigenfunctions.__call__", "DividedKernel.__call__"} <= transform
    assert {"embed", "classical_mds", "center", "principal", "write_table"} <= embed


def test_functions_are_traced_in_the_order_of_their_first_calls():
    from eigenscape.normalize import inverse_power, row_sums

    found = walks.trace(lambda: [inverse_power(row_sums(matrix)) for matrix in np.ones((2, 3, 3))])
    names = [function.name for function in found if function.file == "normalize.py"]
    assert names == ["row_sums", "inverse_power"]


@pytest.mark.parametrize(
    ("file", "name", "is_step"),
    [
        ("methods/laplacian.py", "laplacian_eigenmaps", True),
        ("eigenfunctions.py", "Eigenfunctions.__call__", True),
        ("_threads.py", "parallel_map", False),  # plumbing
        ("estimators/_rows.py", "validate_rows", False),
        ("operators/gram.py", "check_finite", False),  # a check
        ("eigenfunctions.py", "Embedding.spectrum", False),  # a property
        ("eigenfunctions.py", "Embedding.transform", False),  # two lines
        ("graph/sparse_distances.py", "union.<locals>.tally", False),  # nested
    ],
)
def test_steps_of_a_walk(file, name, is_step):
    assert walks.Function(file, name).is_step() == is_step


def test_no_figure_exceeds_its_budget():
    now = budgets.now(budgets.recorded())
    assert set(now) == set(figures()), "run make budgets"
    assert budgets.problems(figures(), now) == []


@pytest.mark.process
def test_no_recorded_value_exceeds_that_of_an_earlier_commit():
    rows = budgets.recorded()
    earlier = [version for version in budgets.committed() or () if version != rows]
    if not earlier:
        pytest.skip(
            "no checkout of git, or a shallow one: the earlier versions of budgets.toml are not known"
        )
    assert sorted({sentence for before in earlier for sentence in budgets.raised(rows, before)}) == []


def test_budgets_have_the_goals():
    goals = {name: row["goal"] for name, row in budgets.recorded().items() if "goal" in row}
    rooms = {budgets.LINES.format(room) for room in (*budgets.ROOMS, "all")}
    assert rooms <= set(goals)
    assert goals[budgets.LINES.format("all")] == 35_000
    assert goals["constructor parameters"] == 15


def test_lines_of_rooms_add_up():
    rooms = sum(figures()[budgets.LINES.format(room)] for room in budgets.ROOMS)
    assert rooms == figures()[budgets.LINES.format("all")]


def test_what_is_counted():
    text = '"""A module.\n\nIts docstring.\n"""\n\nN = 3  # a number\n# a comment\nRATE: float = -0.5\n'
    text += 'TEXT = "3"\nFLAG = True\nSIZE = 2**20\n\n\ndef f():\n    """Docstring."""\n    return N\n'
    tree = ast.parse(text)
    assert budgets.code_lines(text, tree) == 7
    assert budgets.module_numbers(tree) == 3
    assert budgets.room_of(Path("graph/tree.py")) == budgets.room_of(Path("streams.py")) == "core"
    assert budgets.room_of(Path("app/io/table.py")) == "app"


def sizes(**changed):
    rooms = {budgets.LINES.format(room): 1000 for room in budgets.ROOMS} | {"files": 50}
    rooms |= {budgets.LINES.format(room): size for room, size in changed.items() if room != "files"}
    total = sum(size for name, size in rooms.items() if name != "files")
    return rooms | {budgets.LINES.format("all"): total, "files": changed.get("files", 50)}


def test_a_figure_above_its_record_is_a_problem():
    room, total = budgets.problems(sizes(core=1061), sizes())
    assert room.startswith("lines of code: core: 1061, 61 more than tests/budgets.toml allows; remove code")
    assert total.startswith("lines of code: all: 7061, 61 more")
    assert len(budgets.problems(sizes(files=51), sizes())) == 1
    assert budgets.problems(sizes(core=995), sizes()) == []
    (room,) = budgets.problems(sizes(core=960), sizes())
    assert room.endswith("run make budgets")


def test_recorded_values_fall_and_rise_only_if_another_room_pays():
    assert budgets.lowered(sizes(core=900, files=40), sizes()) == sizes(core=900, files=40)
    assert budgets.lowered(sizes(files=60), sizes()) == sizes()
    assert budgets.lowered(sizes(core=1100), sizes()) == sizes()
    assert budgets.lowered(sizes(core=1100, app=950), sizes())[budgets.LINES.format("core")] == 1000
    assert budgets.lowered(sizes(core=1100, app=900), sizes()) == sizes(core=1100, app=900)


def raised(values, before, **reasons):
    rows = {name: {"now": value, **reasons.get(name, {})} for name, value in values.items()}
    return budgets.raised(rows, {name: {"now": value} for name, value in before.items()})


def test_a_value_raised_by_hand_is_a_problem():
    assert raised(sizes(), sizes()) == raised(sizes(core=900), sizes()) == []
    assert raised(sizes(core=1100, app=900), sizes()) == []  # the room app pays
    room, total = raised(sizes(core=1100), sizes())
    assert room.startswith("lines of code: core: 1100 is recorded, 1000 was")
    assert total.startswith("lines of code: all: 7100 is recorded")
    (files,) = raised(sizes(files=51, app=900), sizes())
    assert files.startswith("files: 51 is recorded, 50 was")
    assert raised(sizes() | {"a new figure": 5}, sizes()) == []
    assert raised(sizes(files=51, app=900), sizes(), files={"why": "a reader of its own"}) == []
    before = {name: {"now": value, "why": "a reader of its own"} for name, value in sizes().items()}
    assert budgets.raised({**before, "files": {**before["files"], "now": 51}}, before) != []


@pytest.mark.process
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_earlier_values_are_read_from_the_history(tmp_path, monkeypatch):
    file = tmp_path / "tests" / "budgets.toml"
    file.parent.mkdir()
    monkeypatch.setattr(budgets, "FILE", file)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert budgets.committed() is None
    git = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run([*git, "init", "--quiet"], check=True)
    for value in (7, 5):
        file.write_text(f'"files" = {{ now = {value}, goal = 3 }}\n')
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "--quiet", "--message", "files"], check=True)
    file.write_text('"files" = { now = 6 }\n')
    assert budgets.committed() == [{"files": {"now": value, "goal": 3}} for value in (5, 7)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_decisions_have_four_parts_and_a_test_and_are_linked(page):
    text = page.read_text()
    assert re.findall(r"^## (.+)$", text, flags=re.MULTILINE) == PARTS
    tests = re.findall(r"`(tests/[\w/]+\.py)`", text.split("## Test\n")[1])
    assert tests
    assert [test for test in tests if not (ROOT / test).exists()] == []
    assert f"]({page.name})" in (DECISIONS / "README.md").read_text()


def test_modules_link_to_decisions_that_exist_and_to_all_of_them():
    links = {
        link
        for path in SOURCE.rglob("*.py")
        for link in re.findall(r"docs/decisions/([\w-]+)\.md", path.read_text())
    }
    assert links == {page.stem for page in PAGES}


def test_decisions_are_named_by_their_room():
    rooms = {path.stem.removeprefix("_") for path in SOURCE.iterdir()}
    assert [page.stem for page in PAGES if page.stem.partition("-")[0] not in rooms] == []


def test_estimators_with_a_transform_of_their_own_are_named():
    page = (DECISIONS / "estimators-own-transform.md").read_text()
    named = page.split("## Decision")[1].split("Ordinal maps")[0]
    own = [
        file.name
        for file in (SOURCE / "estimators").glob("*.py")
        if file.name != "_base.py" and re.search(r"def _?transform\(", file.read_text())
    ]
    assert len(own) >= 6
    assert sorted(own) == sorted(re.findall(r"`(\w+\.py)`", named))


def test_number_of_widths_of_independent_coordinates():
    from eigenscape.methods.independence import WIDTHS

    numbers = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    page = (DECISIONS / "methods-independence.md").read_text()
    word = re.search(r"best of\s+(\w+)\s+widths\s+\(`methods/independence\.py`\)", page)[1]
    assert numbers.index(word) + 1 == len(WIDTHS)


def test_equations_are_cited_on_the_lines_that_implement_them():
    kernel_pca = (SOURCE / "methods" / "kernel_pca.py").read_text()
    assert re.search(r"= centered\(.*# Bengio eq\. 1$", kernel_pca, flags=re.MULTILINE)
    assert re.search(r"= leading_pairs\(.*# Bengio eq\. 3$", kernel_pca, flags=re.MULTILINE)
    inverse = " ".join((SOURCE / "methods" / "inverse_map.py").read_text().split())
    assert "The factor ``v_1' G^+ z^+(y)`` of eq. 19 is dropped" in inverse
