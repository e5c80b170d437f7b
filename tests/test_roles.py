"""Roles of columns are the same for readers, figures, reports and the explorer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from eigenscape import read
from eigenscape._roles import column_role, missing_labels
from eigenscape.app.explore.data import data_column
from eigenscape.app.report._columns import as_column
from eigenscape.plot._categories import find_categories

COLUMNS = {
    "words": (np.array(["a", "b", ""] * 20), "category"),
    "booleans": (np.arange(60) % 2 == 0, "category"),
    "20 integers": (np.arange(60) % 20, "category"),
    "21 integers": (np.arange(63) % 21, "number"),
    "30 integers": (np.arange(60) % 30, "number"),
    "integers with gaps": (np.array([1.0, 2.0, np.nan] * 20), "category"),
    "objects with gaps": (np.array([1, 2, None] * 20, dtype=object), "category"),
    "different integers": (np.arange(15), "number"),
    "fractions": (np.arange(60) / 7, "number"),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_label_has_one_role(name: str) -> None:
    values, role = COLUMNS[name]
    column = as_column("label", values, "label", len(values), "labels")
    assert column_role(column.values) == role
    assert column.is_categorical() == (role == "category")
    assert (find_categories(values) is not None) == (role == "category")
    assert data_column("label", values, "label", len(values)).kind == role


def test_a_label_that_is_missing_in_a_file_is_missing_everywhere(tmp_path: Path) -> None:
    rows = [f"{i}.5,{word}" for i, word in enumerate(["a", "NA", "", "?", "none", "a", "n/a", "none"])]
    (tmp_path / "t.csv").write_text("\n".join(["x,kind", *rows]))
    for stream in (False, True):
        labels = read(tmp_path / "t.csv", stream=stream).labels
        assert labels is not None
        assert labels.tolist() == ["a", "", "", "", "none", "a", "", "none"]
        assert missing_labels(labels).tolist() == [label == "" for label in labels]
        categories = find_categories(labels)
        assert categories is not None
        assert categories.names == ["a", "none", "missing"]


def test_ids_are_never_missing_by_their_name(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,x\nDE,1.5\nNA,2.5\nFR,3.5\n")
    ids = read(tmp_path / "t.csv").ids
    assert ids is not None
    assert ids.tolist() == ["DE", "NA", "FR"]
