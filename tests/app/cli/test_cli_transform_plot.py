"""Plots of new rows: the training rows keep their colours, and the legend explains the rings."""

from __future__ import annotations

import json

import numpy as np
import pytest
from matplotlib.colors import to_hex
from typer.testing import CliRunner

import eigenscape.plot
from eigenscape.app.cli.app import app
from eigenscape.app.cli.errors import CommandError
from eigenscape.app.cli.output import label_notes, labels_from_notes


@pytest.fixture
def drawn(monkeypatch):
    """Collect the axes that commands draw."""
    made, scatter = [], eigenscape.plot.scatter

    def collect(*arguments, **options):
        made.append(scatter(*arguments, **options))
        return made[-1]

    monkeypatch.setattr(eigenscape.plot, "scatter", collect)
    return made


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    assert result.exit_code == 0, result.stderr
    return result


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def colours(ax):
    """Return the points of each colour."""
    return {
        to_hex(part.get_facecolor()[0]): part.get_offsets().tolist()
        for part in ax.collections
        if len(part.get_facecolor())
    }


@pytest.mark.long
def test_the_plot_of_new_rows_keeps_the_training_colours(tmp_path, drawn):
    rng = np.random.default_rng(0)
    kinds = np.array(["oak", "elm", "ash"])[rng.integers(3, size=40)]
    lines = [f"{a},{b},{c},{kind}" for (a, b, c), kind in zip(rng.random((40, 3)), kinds, strict=True)]
    (tmp_path / "trees.csv").write_text("\n".join(["a,b,c,kind", *lines]) + "\n")
    (tmp_path / "new.csv").write_text("a,b,c\n" + "\n".join("0.5,0.5,0.5" for _ in range(4)) + "\n")
    model, new = tmp_path / "m.model", tmp_path / "new.csv"
    run("embed", tmp_path / "trees.csv", "-m", "pca", "--plot", tmp_path / "a.png", "--save", model)
    run("transform", model, new, "--plot", tmp_path / "b.png")
    assert legend(drawn[0]) == ["ash", "elm", "oak"]
    assert legend(drawn[1]) == ["ash", "elm", "oak", "4 new points"]
    assert colours(drawn[1]) == colours(drawn[0])
    assert "training_labels" not in json.loads(run("info", model, "--json").stdout)["notes"]
    run("cluster", tmp_path / "trees.csv", "-k", "2", "--plot", tmp_path / "c.png", "--save", tmp_path / "k")
    run("transform", tmp_path / "k", new, "--plot", tmp_path / "d.png")
    assert legend(drawn[3]) == [*legend(drawn[2]), "4 new points"]
    assert colours(drawn[3]) == colours(drawn[2])


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, 1, 2]),
        np.array([0.5, np.nan, 2.0]),
        np.array(["b", None, "a"], dtype=object),
        np.array([True, False, True]),
    ],
)
def test_labels_are_kept_in_notes(labels):
    notes = json.loads(json.dumps({"training_labels": label_notes(labels)}))
    again = labels_from_notes(notes, 3)
    if labels.dtype.kind in "if":
        np.testing.assert_array_equal(again, labels)
    else:
        assert list(again) == [None if label is None else str(label) for label in labels]


@pytest.mark.parametrize("stored", ["ab", 3, {}, ["a"], ["a", 1], ["a", []], [1, True], [0] * 1000])
def test_damaged_labels_are_an_error(stored):
    with pytest.raises(CommandError, match="labels of the training rows in the model file are damaged"):
        labels_from_notes({"training_labels": stored}, 2)
    assert labels_from_notes({}, 2) is None
