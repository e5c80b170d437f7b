"""``--weight COLUMN`` and ``cluster -k auto``."""

import json

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from test_cli import bad, good, rows, write_csv

from eigenscape import KernelPCA

X = make_blobs(120, centers=3, cluster_std=1.2, random_state=0)[0].round(3)
WEIGHTS = np.random.default_rng(0).integers(0, 3, 120)


@pytest.fixture
def table(tmp_path):
    columns = np.column_stack([X, WEIGHTS, np.where(np.arange(120) == 6, -2, 1)])
    return write_csv(tmp_path / "t.csv", columns, ["x", "y", "w", "negative"], species=["a", "b"] * 60)


@pytest.mark.long
def test_a_column_of_weights_is_not_a_feature(tmp_path, table):
    options = "-m kernel-pca --gamma 0.3 --exclude negative --weight w -o"
    good("embed", table, options, tmp_path / "map.csv", "--save", tmp_path / "m.model")
    found = [[float(row["kernelpca0"]), float(row["kernelpca1"])] for row in rows(tmp_path / "map.csv")]
    expected = KernelPCA(gamma=0.3).fit(X, sample_weight=WEIGHTS).embedding_
    np.testing.assert_allclose(found, expected, atol=1e-9)
    stderr = good("transform", tmp_path / "m.model", table, "-o", tmp_path / "new.csv").stderr
    assert "are ignored: 'w', 'negative'" in stderr


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("-m kernel-pca --weight height", "has no column 'height'"),
        ("-m kernel-pca --weight negative", "is -2 in row 7"),
        ("-m kernel-pca --weight species", "contains text ('a')"),
        ("-m kernel-pca --weight w --columns x,w", "by --weight and by --columns"),
        ("-m fastmap --weight w", "fastmap has no sample weights"),
    ],
)
def test_columns_that_are_no_weights(options, message, tmp_path, table):
    assert message in bad("embed", table, options, "-o", tmp_path / "map.csv")
    assert not (tmp_path / "map.csv").exists()


@pytest.mark.long
def test_missing_weights_and_weights_of_zero(tmp_path):
    file = tmp_path / "gap.csv"
    file.write_text("x,y,w,none\n" + "\n".join(f"{i},{i * i % 7},{'' if i == 3 else 1},0" for i in range(9)))
    command = "-m kernel-pca --columns x,y -o -"
    assert "missing or infinite in row 4" in bad("embed", file, command, "--weight w")
    assert "got only zeros" in bad("embed", file, command, "--weight none -q")
    file.write_text(file.read_text().replace(",,0", ",few,0"))
    assert "column 'w' of gap.csv contains text ('few')" in bad("embed", file, command, "--weight w").replace(
        str(file), file.name
    )


@pytest.mark.long
def test_the_number_of_clusters(tmp_path, table):
    options = "-k auto --columns x,y --weight w --max-clusters 6"
    assert (
        "chose 1, but no number of clusters from 2 to 6 is stable" in good("cluster", table, options).stderr
    )
    header, *rows = table.read_text().splitlines()
    away = [row.split(",") for row in rows]
    which = header.split(",").index("x")
    for cells in away[::2]:
        cells[which] = str(float(cells[which]) + 100)
    table.write_text("\n".join([header, *map(",".join, away)]) + "\n")
    found = json.loads(good("cluster", table, options, "--json").stdout)
    assert len(found["sizes"]) in found["evidence"]["n_clusters"]
    assert len(found["evidence"]["stability"]) == 5
    assert "clusters chosen from 2 to 6" in good("cluster", table, options).stderr
    assert "-k must be at least 1, got '0'" in bad("cluster", table, "-k 0")
    assert "-k must be an integer, got 'auto'" in bad("cluster", table, "-k auto -m mixture-ppca")
