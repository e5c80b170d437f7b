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
