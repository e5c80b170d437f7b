"""Plots of new rows: training rows keep the colours of their clusters, and the legend explains the rings."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.colors import to_hex
from typer.testing import CliRunner

import eigenscape.plot
from eigenscape.app.cli.app import app


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
    assert legend(drawn[1])[-1] == "4 new points"
    run("cluster", tmp_path / "trees.csv", "-k", "2", "--plot", tmp_path / "c.png", "--save", tmp_path / "k")
    run("transform", tmp_path / "k", new, "--plot", tmp_path / "d.png")
    assert legend(drawn[3]) == [*legend(drawn[2]), "4 new points"]
    assert colours(drawn[3]) == colours(drawn[2])
