"""Warnings of the command line on columns that dominate a map, and on rows that make up a coordinate."""

from __future__ import annotations

import json

import numpy as np
import pytest
from test_cli import good, write_csv

NAMES = ("bill", "depth", "flipper", "mass")


@pytest.fixture
def birds(tmp_path):
    """A table of which one column is in grams and the others are in millimetres."""
    X = np.random.default_rng(0).standard_normal((60, 4)) * [5.5, 2.0, 14.0, 800.0]
    return write_csv(tmp_path / "birds.csv", X, NAMES), X


def warnings_of(result):
    return [line for line in result.stderr.splitlines() if line.startswith("warning: ")]


def test_embed_warns_of_a_column_that_dominates_before_the_fit(tmp_path, birds):
    table, X = birds
    result = good("embed", table, "-m isomap -o", tmp_path / "map.csv")
    share = X[:, 3].var() / X.var(axis=0).sum()
    (warned,) = warnings_of(result)
    assert f"column 'mass' has {100 * share:.2f} % of the total variance of 4 columns" in warned
    assert "--standardize" in warned
    assert result.stderr.index("warning") < result.stderr.index("wrote")
    said = json.loads(good("embed", table, "-m pca --json -o", tmp_path / "j.csv").stdout)
    assert said["dominant_columns"] == {"mass": pytest.approx(share)}
    assert said["few_rows"] == {}
    assert len(said["participation_ratio"]) == 2


@pytest.mark.parametrize(
    "words",
    ["-m isomap --standardize", "-m isomap --metric cosine", "-m isomap --columns bill,depth,flipper"],
)
def test_maps_without_a_dominating_column_are_not_warned_of(words, tmp_path, birds):
    result = good("embed", birds[0], f"{words} -o", tmp_path / "map.csv")
    assert "total variance" not in result.stderr


def test_distances_and_images_are_not_examined(tmp_path):
    distances = np.abs(np.subtract.outer(np.arange(20.0), np.arange(20.0)) * np.r_[1000.0, np.ones(19)])
    np.save(tmp_path / "d.npy", np.maximum(distances, distances.T))
    result = good("embed", tmp_path / "d.npy", "-m mds --metric precomputed -o", tmp_path / "map.csv")
    assert "total variance" not in result.stderr


@pytest.mark.long
def test_compare_cluster_and_streams_warn_of_a_column_that_dominates(tmp_path, birds):
    table, X = birds
    report = tmp_path / "c.html"
    result = good("compare", table, "-m pca -m isomap --json --report", report)
    assert len([line for line in warnings_of(result) if "column 'mass'" in line]) == 1
    assert list(json.loads(result.stdout)["dominant_columns"]) == ["mass"]
    assert "column 'mass'" in good("cluster", table, "-k 2").stderr
    np.save(tmp_path / "x.npy", X)
    result = good("embed", tmp_path / "x.npy", "-m pca --stream -o", tmp_path / "z.npy")
    assert "column 'x3'" in result.stderr


@pytest.mark.long
def test_rows_that_make_up_a_coordinate_are_named(tmp_path):
    X = np.random.default_rng(1).standard_normal((300, 4))
    X[41] += 5
    table = write_csv(tmp_path / "t.csv", X, NAMES, name=[f"cell{i}" for i in range(300)])
    result = good("embed", table, "-m diffusion-map --affinity rbf --id name --json -o", tmp_path / "map.csv")
    assert "warning: coordinate 1 is carried by 1 point of 300 (cell41)" in result.stderr
    assert json.loads(result.stdout)["few_rows"]["1"] == [42]
    methods = "-m pca -m diffusion-map --affinity rbf --id name --report"
    result = good("compare", table, methods, tmp_path / "c.html")
    assert "warning: diffusion-map: coordinate 1 is carried by 1 point of 300 (cell41)" in result.stderr
