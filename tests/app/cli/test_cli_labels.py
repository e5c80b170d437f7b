"""Maps fitted to the labels of some rows: ``embed --target-weight``."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from test_cli import bad, good, rows, write_csv

from eigenscape import LaplacianEigenmaps

X, Y = make_blobs(90, centers=3, cluster_std=2.5, random_state=0)
X = X.round(3)
NAMES = ["" if row % 3 else f"kind {code}" for row, code in enumerate(Y)]
OPTIONS = "-m laplacian-eigenmaps --target-weight 0.5"


@pytest.fixture
def table(tmp_path):
    return write_csv(tmp_path / "t.csv", X, ["x", "y"], species=NAMES)


@pytest.mark.long
def test_empty_labels_are_unlabelled(tmp_path, table):
    good("embed", table, OPTIONS, "--label species -o", tmp_path / "map.csv", "--save", tmp_path / "m.model")
    found = [[float(row[f"laplacianeigenmaps{i}"]) for i in (0, 1)] for row in rows(tmp_path / "map.csv")]
    model = LaplacianEigenmaps(target_weight=0.5).fit(X, np.where(np.arange(90) % 3, -1, Y))
    np.testing.assert_allclose(found, model.embedding_, atol=1e-9)
    good("transform", tmp_path / "m.model", table, "-o", tmp_path / "new.csv")
    again = [[float(row[f"laplacianeigenmaps{i}"]) for i in (0, 1)] for row in rows(tmp_path / "new.csv")]
    np.testing.assert_allclose(again, found, atol=1e-9)


@pytest.mark.long
def test_labels_that_are_missing_or_no_classes(tmp_path, table):
    plain = write_csv(tmp_path / "plain.csv", X, ["x", "y"])
    assert "has no column of labels; name it with --label" in bad("embed", plain, OPTIONS, "-o -")
    numbers = write_csv(tmp_path / "n.csv", np.column_stack([X, X[:, 0] / 7]), ["x", "y", "z"])
    assert "which are no classes" in bad("embed", numbers, OPTIONS, "--label z -o -")
    assert "must be at least 0 and below 1" in bad(
        "embed", table, OPTIONS, "--target-weight 2 --label species -q -o -"
    )
