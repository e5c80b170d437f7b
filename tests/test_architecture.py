"""ARCHITECTURE.md names files and functions that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "ARCHITECTURE.md").read_text()
SOURCE = ROOT / "src" / "eigenscape"


def find(name):
    return next(
        (base / name for base in (SOURCE, ROOT, SOURCE / "estimators") if (base / name).exists()), None
    )


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
