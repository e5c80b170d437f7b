"""ARCHITECTURE.md names files and functions that exist, and budgets only fall."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import budgets
import numpy as np
import walks

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "ARCHITECTURE.md").read_text()
SOURCE = ROOT / "src" / "eigenscape"


def find(name):
    return next(
        (base / name for base in (SOURCE, ROOT, SOURCE / "estimators") if (base / name).exists()), None
    )


@cache
def figures():
    return budgets.measure()


def test_files_exist():
    files = set(re.findall(r"`([\w/]+\.py)`", PAGE))
    assert len(files) > 30
    assert sorted(file for file in files if find(file) is None) == []


def test_functions_of_the_walks_exist():
    steps = re.findall(r"`([\w/]+\.py)` `(?:\w+\.)?(\w+)`", PAGE)
    assert len(steps) > 35
    missing = [
        (file, name)
        for file, name in steps
        if not re.search(rf"(def|class) {name}\b", find(file).read_text())
    ]
    assert missing == []


def test_walks_are_short():
    walks = PAGE.split("## Two walks")[1].split("## Decisions")[0].split("`eigenscape embed")
    for walk in walks:
        assert 10 < len(re.findall(r"^\d+\. ", walk, flags=re.MULTILINE)) <= 20


def test_estimators_with_a_transform_of_their_own_are_named():
    named = PAGE.split("no `transform` of its own")[1].split("## The tree")[0]
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
    word = re.search(r"best of\s+(\w+) widths \(`methods/independence\.py`\)", PAGE)[1]
    assert numbers.index(word) + 1 == len(WIDTHS)


def test_equations_are_cited_on_the_lines_that_implement_them():
    kernel_pca = (SOURCE / "methods" / "kernel_pca.py").read_text()
    assert re.search(r"= centered\(.*# Bengio eq\. 1$", kernel_pca, flags=re.MULTILINE)
    assert re.search(r"= leading_pairs\(.*# Bengio eq\. 3$", kernel_pca, flags=re.MULTILINE)
    inverse = " ".join((SOURCE / "methods" / "inverse_map.py").read_text().split())
    assert "The factor ``v_1' G^+ z^+(y)`` of eq. 19 is dropped" in inverse


def test_functions_are_traced_in_the_order_of_their_first_calls():
    from eigenscape.normalize.divide import inverse_power, row_sums

    found = walks.trace(lambda: [inverse_power(row_sums(matrix)) for matrix in np.ones((2, 3, 3))])
    names = [function.name for function in found if function.file == "normalize/divide.py"]
    assert names == ["row_sums", "inverse_power"]


def test_no_figure_exceeds_its_budget():
    now = {name: row["now"] for name, row in budgets.recorded().items()}
    assert set(now) == set(figures()), "run make budgets"
    assert budgets.problems(figures(), now) == []


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
